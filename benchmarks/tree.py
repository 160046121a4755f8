#!/usr/bin/env python3
"""Writes a large, invented Claude Code history: ``python benchmarks/tree.py DIR --mb 1000 [--files N] [--seed N]``.

The same seed, size and number of files give the same bytes. Shares of the bytes, and what real logs are like: user
lines 60 %, progress 19 %, assistant 18 %, attachments 1 %, file-history snapshots and system lines half a percent each;
two lines to a response, each with the same usage but for an output count that grows; a result's text again, and more,
in ``toolUseResult``; sub-agents in files of their own; a compaction about every two hundred responses; now and then a
resumed session that repeats the first half of another under the same ids. Text is cut from one pool that is already
escaped, so a gigabyte takes seconds and no encoder.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from random import Random

from tree_session import Session
from tree_text import Pool, uuid

FILES_A_MB = 0.85


def _write(path: Path, lines: list[str], now: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(data)
    os.utime(path, (now, now))
    return len(data)


def generate(out: Path, megabytes: float, files: int = 0, seed: int = 1) -> tuple[int, int]:
    """Writes the tree below `out`/projects; (files, bytes) written. `files` 0: as many as real logs of this size are."""
    random = Random(seed)
    pool = Pool(random)
    count = files or max(2, round(megabytes * FILES_A_MB))
    weights = [random.lognormvariate(0, 0.95) for _ in range(count)]
    scale = megabytes * 1e6 / sum(weights)
    projects = [f"proj{i:02d}" for i in range(max(3, min(40, count // 10)))]
    written, made, owed = 0, 0, 0.0  # owed: what the files so far lack, or have too much, since a turn is never cut
    parent: tuple[str, str, float] | None = None  # session, project and start of the last main thread
    before: list[str] = []
    for weight in weights:
        size = int(weight * scale + owed)
        kind = random.random()
        if parent and kind < 0.35:  # a sub-agent of the session before
            agent = f"{random.getrandbits(64):016x}"
            thread = Session(random, pool, parent[0], parent[1], agent, parent[2])
            path = out / "projects" / f"-home-dev-src-{parent[1]}" / parent[0] / "subagents" / f"agent-{agent}.jsonl"
            thread.grow(size)
        else:
            project = random.choice(projects)
            session = uuid(random)
            thread = Session(random, pool, session, project)
            start = thread.now
            path = out / "projects" / f"-home-dev-src-{project}" / f"{session}.jsonl"
            if before and kind > 0.98:  # resumed: its first half is the other's, ids and all
                thread.lines = before[: len(before) // 2]
                thread.size = sum(map(len, thread.lines))
            thread.grow(size)
            parent, before = (session, project, start), thread.lines
        written += (length := _write(path, thread.lines, thread.now))
        owed += weight * scale - length
        made += 1
    return made, written


def append(path: Path, kilobytes: float, seed: int) -> None:
    """Lets a log grow, as a session that goes on does."""
    random = Random(seed)
    thread = Session(random, Pool(random, 200_000), path.stem, path.parent.name.removeprefix("-home-dev-src-"))
    thread.grow(int(kilobytes * 1000))
    with path.open("ab") as log:
        log.write(("\n".join(thread.lines) + "\n").encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--mb", type=float, default=1000)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.perf_counter()
    files, size = generate(given.out, given.mb, given.files, given.seed)
    print(f"{files} files, {size / 1e6:.1f} MB, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
