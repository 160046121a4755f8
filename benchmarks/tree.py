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
import base64
import math
import os
import struct
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

BEGIN = 1_788_220_800  # 2026-09-01T00:00:00Z, in seconds
DAYS = 80
POOL = 3_000_000  # characters
FILES_A_MB = 0.85
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
MODELS = ("claude-opus-4-6", "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001")
TOOLS = ("Bash", "Read", "Edit", "Grep", "TodoWrite", "Write", "Task", "mcp__tickets__get_ticket")
TOOL_WEIGHTS = (34, 26, 20, 12, 4, 2, 1, 1)
WORDS = (
    "value row column index total merge split token window cache state parse write read offset limit result error table "
    "session thread call block reply header footer branch commit review because while return import class self none "
    "the a of to in and is that for with not be on as are this by it or from"
).split()
USAGE = (
    '{{"input_tokens":{},"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"cache_creation":'
    '{{"ephemeral_5m_input_tokens":{},"ephemeral_1h_input_tokens":{}}},"output_tokens":{},"service_tier":"standard"}}'
)


class Pool:
    """Invented code and prose, JSON-escaped: a piece of it is ready to stand inside quotes."""

    def __init__(self, random: Random) -> None:
        lines: list[str] = []
        size = 0
        while size < POOL:
            words = random.choices(WORDS, k=random.randrange(3, 14))
            form = random.random()
            if form < 0.45:
                line = " " * (4 * random.randrange(5)) + "_".join(words[:2]) + f" = {words[2]}({', '.join(words[3:6])})"
            elif form < 0.6:
                line = f'    "{words[0]}": "{" ".join(words[1:])}",'
            else:
                line = " ".join(words)
            if random.random() < 0.08:
                line += " → ✓"
            lines.append(line)
            size += len(line) + 2
        escaped = [line.replace('"', '\\"') + "\\n" for line in lines]
        self._text = "".join(escaped)
        self._random = random
        self._starts: list[int] = []
        at = 0
        for line in escaped:
            self._starts.append(at)
            at += len(line)

    def cut(self, size: int) -> str:
        """About `size` characters, beginning with a line, not ending inside an escape."""
        latest = len(self._text) - size - 2
        start = self._starts[int(self._random.random() * len(self._starts))]
        if start > latest:
            start = 0
        end = start + size
        if self._text[end - 1 : end] == "\\" and self._text[end - 2 : end - 1] != "\\":
            end += 1
        return self._text[start:end]


class Use(NamedTuple):
    """A tool that a response used."""

    tool: str
    ident: str
    path: str
    old: str  # what an edit takes out
    new: str  # what it, or a new file, puts in


class Session:
    """One thread of one session, as the lines of its file."""

    def __init__(self, random: Random, pool: Pool, session: str, project: str, agent: str = "", start: float = 0) -> None:
        self.random, self.pool, self.agent = random, pool, agent
        self.lines: list[str] = []
        self.size = 0  # characters so far
        self.now = start or BEGIN + random.uniform(0, DAYS * 86_400)
        self.model = random.choices(MODELS, (40, 30, 20, 10))[0]
        self.context, self.cached = random.randrange(14_000, 24_000), 0
        self.parent = ""
        self.cwd = f"/home/dev/src/{project}"
        self.paths = [f"{self.cwd}/pkg{i}/part_{random.randrange(40)}.py" for i in range(12)]
        self._place = (
            f'"isSidechain":{"true" if agent else "false"},"userType":"external","cwd":"{self.cwd}","sessionId":"{session}",'
            f'"version":"2.1.39","gitBranch":"main","slug":"calm-quick-heron"' + (f',"agentId":"{agent}"' if agent else "")
        )
        self._session = session
        self.prompt(random.randrange(60, 3000))

    def uuid(self) -> str:
        digits = f"{self.random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def ident(self, prefix: str, size: int = 24) -> str:
        return prefix + "".join(self.random.choices(LETTERS, k=size))

    def stamp(self, least: float = 0.2, most: float = 6) -> str:
        self.now += self.random.uniform(least, most)
        whole = int(self.now)
        moment = time.gmtime(whole)
        return time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{int((self.now - whole) * 1000):03d}Z"

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def chained(self, rest: str, least: float = 0.2, most: float = 6, *, root: bool = False) -> None:
        """A line in the parent chain; `rest`: its own fields."""
        own = self.uuid()
        parent = f'"{self.parent}"' if self.parent and not root else "null"
        self.add(f'{{"parentUuid":{parent},{self._place},{rest},"uuid":"{own}","timestamp":"{self.stamp(least, most)}"}}')
        self.parent = own

    def prompt(self, size: int, more: str = "") -> None:
        text = self.pool.cut(size)
        self.chained(f'"type":"user","message":{{"role":"user","content":"{text}"}}{more}', 5, 90)
        self.context += size // 4

    def usage(self, output: int) -> tuple[str, str]:
        """(usage of the last line, usage of the lines before it)."""
        random = self.random
        fresh = random.randrange(1, 12)
        written = max(0, self.context - self.cached - fresh)
        if random.random() < 0.02:  # the cache has expired
            written = self.context - fresh
        read = self.context - fresh - written
        long = written if random.random() < 0.3 else 0
        self.cached = self.context - fresh
        early = random.randrange(1, 8) if random.random() < 0.21 else output
        parts = (fresh, written, read, written - long, long)
        return USAGE.format(*parts, output), USAGE.format(*parts, early)

    def respond(self) -> list[Use]:
        """A response over one to five lines: thinking, text, and the tools that it uses."""
        random, pool = self.random, self.pool
        output = random.randrange(30, 900)
        last, early = self.usage(output)
        count = random.choices((1, 2, 3, 4, 5), (24, 52, 18, 4, 2))[0]
        blocks: list[str] = []
        uses: list[Use] = []
        if count > 1 and random.random() < 0.6:
            thought = pool.cut(random.randrange(40, 900)) if random.random() < 0.5 else ""
            signature = base64.b64encode(random.randbytes(random.randrange(200, 1500))).decode()
            blocks.append(f'{{"type":"thinking","thinking":"{thought}","signature":"{signature}"}}')
        if count > 1 or random.random() < 0.25:
            blocks.append(f'{{"type":"text","text":"{pool.cut(random.randrange(30, 900))}"}}')
        while not uses or len(blocks) < count:
            use, given = self._use()
            uses.append(use)
            blocks.append(f'{{"type":"tool_use","id":"{use.ident}","name":"{use.tool}","input":{{{given}}}}}')
        request, message = self.ident("req_011"), self.ident("msg_01")
        for i, block in enumerate(blocks):
            ends = i == len(blocks) - 1
            stop = '"tool_use"' if ends and random.random() < 0.2 else "null"
            self.chained(
                f'"message":{{"model":"{self.model}","id":"{message}","type":"message","role":"assistant","content":[{block}],'
                f'"stop_reason":{stop},"stop_sequence":null,"usage":{last if ends else early}}},"requestId":"{request}",'
                '"type":"assistant"',
                0.1,
                2,
            )
        self.context += output
        return uses

    def _use(self) -> tuple[Use, str]:
        random, cut = self.random, self.pool.cut
        tool = random.choices(TOOLS, TOOL_WEIGHTS)[0]
        path = random.choice(self.paths)
        old = new = ""
        if tool == "Read":
            part = f',"offset":{random.randrange(1, 900)},"limit":100' if random.random() < 0.4 else ""
            given = f'"file_path":"{path}"{part}'
        elif tool == "Edit":
            old, new = cut(random.randrange(40, 700)), cut(random.randrange(40, 900))
            given = f'"replace_all":false,"file_path":"{path}","old_string":"{old}","new_string":"{new}"'
        elif tool == "Write":
            new = cut(random.randrange(500, 9000))
            given = f'"file_path":"{path}","content":"{new}"'
        elif tool == "Grep":
            given = f'"pattern":"{cut(20)}","path":"{self.cwd}","output_mode":"content","-n":true'
        elif tool == "Task":
            given = f'"description":"look around","prompt":"{cut(random.randrange(300, 2000))}","subagent_type":"Explore"'
        else:
            given = f'"command":"{cut(random.randrange(20, 300))}","description":"run it"'
        return Use(tool, self.ident("toolu_01"), path, old, new), given

    def result(self, use: Use) -> None:
        """What a tool gave back, and the copy of it that is never sent."""
        random, cut = self.random, self.pool.cut
        size = max(1, min(200_000, int(random.lognormvariate(math.log(344), 1.85))))
        if use.tool == "Edit":
            size = random.randrange(200, 900)
        elif use.tool in ("Write", "TodoWrite"):
            size = random.randrange(40, 220)
        elif use.tool == "Read":
            size = max(200, min(200_000, 3 * size))
        text = cut(size)
        content = f'"{text}"' if random.random() < 0.9 else f'[{{"type":"text","text":"{text}"}}]'
        tokens = int(size / 2.4)
        if use.tool == "Read" and random.random() < 0.006:
            image = _png(random)
            tokens = 1500
            content = (
                '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"' + image + '"}}]'
            )
            copy = f'{{"type":"image","file":{{"base64":"{image}","type":"image/png"}}}}'
        elif use.tool == "Read":
            copy = f'{{"type":"text","file":{{"filePath":"{use.path}","content":"{text}","numLines":90,"totalLines":900}}}}'
        elif use.tool == "Edit":
            before = cut(int(min(120_000, random.lognormvariate(math.log(9_500), 0.9))))
            copy = (
                f'{{"filePath":"{use.path}","oldString":"{use.old}","newString":"{use.new}","originalFile":"{before}",'
                f'"structuredPatch":[{{"oldStart":10,"oldLines":8,"lines":["{cut(random.randrange(300, 1500))}"]}}]}}'
            )
        elif use.tool == "Write":
            copy = f'{{"type":"create","filePath":"{use.path}","content":"{use.new}","originalFile":null}}'
        elif use.tool in ("Bash", "Grep"):
            copy = f'{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}}'
        else:
            copy = '{"success":true,"updatedFields":["status"]}'
        failed = ',"is_error":true' if random.random() < 0.02 else ""
        self.chained(
            '"type":"user","message":{"role":"user","content":[{"tool_use_id":"' + use.ident + '","type":"tool_result",'
            f'"content":{content}{failed}}}]}},"toolUseResult":{copy}',
            0.05,
            20,
        )
        self.context += tokens + 12

    def progress(self, use: Use) -> None:
        """What a running tool tells the screen: never sent."""
        random, cut = self.random, self.pool.cut
        form = random.random()
        if form < 0.5:
            data = '{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:Edit","command":"check"}'
        elif form < 0.86:
            text = cut(random.randrange(1, 700))
            data = f'{{"type":"bash_progress","output":"{text[:200]}","fullOutput":"{text}","elapsedTimeSeconds":9}}'
            data = data if not text[:200].endswith("\\") else data.replace('\\","fullOutput"', '","fullOutput"')
        else:
            text = cut(int(min(60_000, random.lognormvariate(math.log(5_500), 1.15))))
            message = (
                f'{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{use.ident}","type":"tool_result",'
                f'"content":"{text}"}}]}},"uuid":"{self.uuid()}"}}'
            )
            again = message if random.random() < 0.5 else ""
            data = f'{{"type":"agent_progress","message":{message},"normalizedMessages":[{again}],"agentId":"a1b2c3"}}'
        self.chained(f'"type":"progress","data":{data},"parentToolUseID":"{use.ident}","toolUseID":"p1"', 0.05, 1)

    def turn(self) -> None:
        """One response and its results, and now and then what Claude Code writes besides."""
        random, cut = self.random, self.pool.cut
        for use in self.respond():
            if not self.agent:
                for _ in range(random.choices((0, 1, 2, 5, 14), (26, 33, 22, 14, 5))[0]):
                    self.progress(use)
            self.result(use)
        if random.random() < 0.06:
            backups = ",".join(f'"{path}":{{"version":2,"backupFileName":"{self.ident("")}"}}' for path in self.paths[:6])
            self.add(
                f'{{"type":"file-history-snapshot","messageId":"{self.uuid()}","isSnapshotUpdate":true,'
                f'"snapshot":{{"messageId":"{self.uuid()}","trackedFileBackups":{{{backups}}}}}}}'
            )
        if random.random() < 0.1 and not self.agent:
            self.chained('"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookErrors":[],"level":"suggestion"')
            self.prompt(random.randrange(40, 900))
        if random.random() < 0.07:
            text = cut(random.randrange(200, 3500))
            self.chained(f'"attachment":{{"type":"todo_reminder","content":"{text}","itemCount":3}},"type":"attachment"')
        if self.context > 150_000:
            self.compact()

    def compact(self) -> None:
        self.chained(
            f'"logicalParentUuid":"{self.parent}","type":"system","subtype":"compact_boundary","content":"Conversation '
            f'compacted","isMeta":false,"compactMetadata":{{"trigger":"auto","preTokens":{self.context}}}',
            root=True,
        )
        self.context, self.cached = self.random.randrange(24_000, 42_000), 12_000
        self.prompt(self.random.randrange(4_000, 14_000), ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true')

    def grow(self, size: int) -> None:
        """Turns until the file has `size` characters."""
        while self.size < size:
            self.turn()


def _png(random: Random) -> str:
    """The base64 text of what begins like a PNG of some size."""
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", random.randrange(200, 2000), random.randrange(200, 1500))
    return base64.b64encode(head + b"\x08\x02\x00\x00\x00" + random.randbytes(random.randrange(20_000, 140_000))).decode()


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
    written, made = 0, 0
    parent: tuple[str, str, float] | None = None  # session, project and start of the last main thread
    before: list[str] = []
    for weight in weights:
        kind = random.random()
        if parent and kind < 0.35:  # a sub-agent of the session before
            agent = f"{random.getrandbits(64):016x}"
            thread = Session(random, pool, parent[0], parent[1], agent, parent[2])
            path = out / "projects" / f"-home-dev-src-{parent[1]}" / parent[0] / "subagents" / f"agent-{agent}.jsonl"
            thread.grow(int(weight * scale))
        else:
            project = random.choice(projects)
            thread = Session(random, pool, "", project)
            session = thread.uuid()
            start = thread.now
            thread = Session(random, pool, session, project, start=start)
            path = out / "projects" / f"-home-dev-src-{project}" / f"{session}.jsonl"
            if before and kind > 0.98:  # resumed: its first half is the other's, ids and all
                thread.lines = before[: len(before) // 2]
                thread.size = sum(map(len, thread.lines))
            thread.grow(int(weight * scale))
            parent, before = (session, project, start), thread.lines
        written += _write(path, thread.lines, thread.now)
        made += 1
    return made, written


def append(path: Path, kilobytes: float, seed: int) -> None:
    """Lets a log grow, as a session that goes on does."""
    random = Random(seed)
    thread = Session(random, Pool(random), path.stem, path.parent.name.removeprefix("-home-dev-src-"))
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
    begun = datetime.now(UTC)
    files, size = generate(given.out, given.mb, given.files, given.seed)
    print(f"{files} files, {size / 1e6:.1f} MB, {(datetime.now(UTC) - begun).total_seconds():.1f} s")


if __name__ == "__main__":
    main()
