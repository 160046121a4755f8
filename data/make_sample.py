#!/usr/bin/env python3
"""Write the sample logs: ``python data/make_sample.py [--out DIR]``.

All of it is invented and seeded: the same bytes on every run, platform and Python version. ``--list`` prints the table
of planted events for README.md instead.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import re
import shutil
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import sample_copies as copies
import sample_events as ev
import sample_long as long
import sample_parts as parts
from sample_base import Line, Setup, dumps, version_key
from sample_session import Thread
from sample_work import Worker
from sample_world import World

HOME = "/home/dev/src"
OPUS, SONNET5, FABLE = "claude-opus-4-8", "claude-sonnet-5", "claude-fable-5"
SONNET45, HAIKU = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
SERVERS = ("notes", "my__board")
T, L, Q = "tidepool-api", "lantern-web", "quarry-etl"

BRANCHES = {T: "fix/quota-window", L: "feat/preset-drawer", Q: "fix/late-partitions"}

# key, project, version, model, calls, mean hidden thinking, start (UTC), what happens in it
Row = tuple[str, str, str, str, int, int, str, Callable[["Sample", Worker, int], None]]
ROWS: list[Row] = [
    ("first-look", T, "2.1.39", SONNET45, 6, 60, "2026-09-01T08:12:04", ev.plain),
    ("agents-progress", Q, "2.1.39", SONNET45, 25, 80, "2026-09-01T09:40:31", ev.agents_progress),
    ("inline-sidechains", Q, "1.0.90", SONNET45, 25, 70, "2026-09-02T07:55:12", ev.inline_sidechains),
    ("resumed-from", T, "1.0.83", SONNET45, 13, 60, "2026-09-03T13:02:47", ev.plain),
    ("microcompact", Q, "2.1.20", SONNET45, 52, 300, "2026-09-07T08:31:09", ev.microcompact),
    ("small-fix", L, "2.1.39", SONNET45, 5, 60, "2026-09-08T15:20:44", ev.plain),
    ("old-auto-compact", T, "2.1.39", SONNET45, 62, 400, "2026-09-10T07:44:50", long.old_auto_compact),
    ("expiry-5m", T, "2.1.119", SONNET45, 40, 90, "2026-09-14T09:05:18", ev.expiry_5m),
    ("two-auto-compacts", Q, "2.1.119", SONNET45, 68, 400, "2026-09-16T06:58:33", long.two_auto_compacts),
    ("damaged", Q, "2.1.119", SONNET5, 9, 80, "2026-09-17T16:11:27", ev.damaged),
    ("mart-cleanup", Q, "2.1.178", SONNET5, 28, 80, "2026-09-18T08:20:02", ev.pictures),
    ("rewind", L, "2.1.178", FABLE, 29, 120, "2026-09-21T10:33:41", ev.rewind),
    ("api-error", Q, "2.1.178", FABLE, 20, 90, "2026-09-22T12:47:55", ev.api_error),
    ("clear-before", T, "2.1.205", SONNET5, 17, 90, "2026-09-24T08:02:36", ev.plain),
    ("clear-after", T, "2.1.205", SONNET5, 22, 90, "2026-09-24T09:10:12", ev.clear_after),
    ("long-gap-1h", Q, "2.1.205", SONNET5, 58, 150, "2026-09-28T06:49:20", ev.long_gap),
    ("mcp-heavy", L, "2.1.205", SONNET5, 36, 90, "2026-09-30T13:15:08", ev.mcp_heavy),
    ("plain-hooks", L, "2.1.205", SONNET5, 26, 90, "2026-10-02T08:41:59", ev.pictures),
    ("hostile-text", L, "2.1.220", SONNET5, 15, 80, "2026-10-07T09:27:16", ev.hostile),
    ("agents-parallel", T, "2.1.220", OPUS, 34, 110, "2026-10-13T08:08:40", ev.agents_parallel),
    ("tools-changed", L, "2.1.232", FABLE, 31, 100, "2026-10-19T11:21:37", ev.tools_changed),
    ("context-command", L, "2.1.232", SONNET5, 29, 90, "2026-10-20T08:14:58", ev.context_command),
    ("load-rewrite", Q, "2.1.232", SONNET5, 33, 110, "2026-10-21T07:36:49", ev.pictures),
    ("incident", T, "2.1.232", OPUS, 184, 180, "2026-10-22T05:33:06", long.incident),
    ("quick-question", T, "2.1.232", FABLE, 8, 80, "2026-10-23T15:45:33", ev.plain),
    ("manual-compact", L, "2.1.232", OPUS, 60, 340, "2026-10-26T06:52:14", copies.manual_compact),
    ("drift-check", Q, "2.1.232", SONNET5, 26, 90, "2026-10-27T09:00:51", ev.pictures),
    ("redesign", L, "2.1.232", OPUS, 60, 260, "2026-10-28T07:18:22", long.redesign),
    ("reread-clinic", T, "2.1.232", SONNET5, 28, 60, "2026-10-29T12:30:05", ev.reread_clinic),
    ("last-look", T, "2.1.232", OPUS, 11, 90, "2026-10-30T14:22:19", ev.plain),
]
NOTES = {
    "incident": "largest session, peaks above 300k on a 1M window, most of it results (logs, dashboards, a PDF); an Agent "
    "result names `claude-opus-4-8[1m]`",
    "redesign": "peaks above 250k: a PDF of 38 pages in the second prompt, screenshots of known size, pages of `notes` "
    "with six pictures each",
    "manual-compact": "manual compaction above 150k with `postTokens` (without the prefix), a PDF read before it; its "
    "history is forked",
    "fork": "fork of manual-compact: lines from its boundary on with the same uuid, timestamp, requestId; then its own",
    "two-auto-compacts": "two automatic compactions near 167k of a 200k window, re-injected files and listings; two PDFs "
    "are read before the first and again after it",
    "old-auto-compact": "one automatic compaction, metadata of the 2.1.39 form (trigger, preTokens), visible thinking; "
    "what is put back stands in no line",
    "microcompact": "one microcompact_boundary with compactedToolIds: ctx falls, no summary, the chain goes on",
    "inline-sidechains": "two sidechains in the main file, and a compaction without boundary line (1.0.x)",
    "resumed-from": "the history that `resumed-copy` repeats",
    "resumed-copy": "old-style resume: history with timestamps two weeks later, mixed session ids, then own calls",
    "rewind": "a prompt typed again further up: a dead branch, ctx falls without a boundary",
    "clear-before": "ended by /clear",
    "clear-after": "begins with the /clear command lines: a new session, no compaction",
    "expiry-5m": "three pauses over 5 minutes with a 5 minute cache: the whole prefix is written again, cause named",
    "long-gap-1h": "a lunch break over 1 h with a 1 hour cache: everything is written again; peak above 120k, a PDF read",
    "tools-changed": "an MCP server connects late (tools_changed); ToolSearch loads schemas that no line holds",
    "context-command": "real-form `/context` output whose rows add up to the context of that moment; Skill use",
    "mcp-heavy": "two MCP servers, `notes` and `my__board` (the name holds the separator)",
    "agents-parallel": "four sub-agents on Haiku, two of them at once, with .meta.json",
    "agents-progress": "sub-agents whose responses are repeated in progress lines (same request ids, no calls)",
    "reread-clinic": "scripted reads of two files: wasteful, part of an earlier range, after an edit, after a failed "
    "edit, after a failed read, after a Bash command naming it, after an outside change, after a compaction",
    "api-error": "one `<synthetic>` API error line: no call",
    "damaged": "one line behind NUL padding (to be recovered) and a half-written last line (to be counted)",
    "hostile-text": "script tag in a title, markup in a tool name, emoji, CJK, RTL and a lone surrogate in a result",
    "summary-only": "a file of summary lines only: no session",
}


def session_id(key: str) -> str:
    """Session id of a row; it does not move when something else in the session is changed."""
    return str(uuid.UUID(int=random.Random(f"ctxlib session {key}").getrandbits(128), version=4))


class Sample:
    """All sessions while they are made; later ones may copy from earlier ones."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.raw: dict[str, list[bytes]] = {}
        self.ids: dict[str, str] = {}
        self.worlds: dict[str, World] = {}

    def new_id(self, key: str) -> str:
        """Session id for a session that is no row of the table."""
        return session_id(key)

    def start(self, row: Row) -> Worker:
        """A worker for a row of the table, its thread still empty."""
        key, project, version, model, _, think, begin, _ = row
        r = random.Random(f"ctxlib sample {key}")
        cwd = f"{HOME}/{project}"
        lean = project == Q
        prefix = {
            "system_prompt": r.randrange(3600, 4600),
            "system_tools": r.randrange(15_000, 16_600) if lean else r.randrange(16_200, 18_400),
            "memory": {T: 9600, L: 4900, Q: 900}[project] + r.randrange(600),
        }
        # tidepool-api has its rules in a long memory file, lantern-web its servers; quarry-etl is lean.
        mcp: tuple[str, ...] = SERVERS if project == L or key == "incident" else ()
        if mcp:
            prefix["mcp_tools"] = r.randrange(13_400, 14_800) if project == L else r.randrange(5200, 6400)
        if key == "tools-changed":
            mcp = ("notes",)
        slug = (
            ""
            if version.startswith("1.")
            else r.choice(["quiet-amber-heron", "brisk-paper-fox", "mellow-tin-otter", "plain-cedar-wren"])
        )
        setup = Setup(
            project,
            cwd,
            "",
            version,
            model,
            r.choice(["main", "main", BRANCHES[project]]),
            slug,
            prefix,
            version_key(version) >= (2, 1, 178),
            r.choice([0, 0, prefix["system_prompt"]]),
            think,
            mcp,
        )
        start = int(datetime.fromisoformat(begin).replace(tzinfo=UTC).timestamp() * 1000) + r.randrange(1000)
        if key == "clear-after":
            # /clear opens the new file at once.
            start = self.threads["clear-before"].t + 45_000
        world = copy.deepcopy(self.worlds.setdefault(project, World(project, cwd)))
        thread = Thread(setup, world, r, start)
        setup.sid = self.ids[key] = session_id(key)
        return Worker(thread)

    def build(self) -> None:
        """Make every session."""
        for row in ROWS:
            worker = self.start(row)
            self.threads[row[0]] = worker.t
            parts.opening(worker)
            row[7](self, worker, row[4])
            parts.closing(worker)
            if row[0] == "resumed-from":
                copies.resumed_copy(self, worker.t)
            if row[0] == "damaged":
                self.raw["damaged"] = parts.damage([dumps(line) for line in worker.t.lines])

    def files(self) -> dict[str, tuple[bytes, float]]:
        """Relative path -> (bytes, mtime)."""
        out: dict[str, tuple[bytes, float]] = {}
        for key, thread in self.threads.items():
            base = re.sub(r"[^A-Za-z0-9]", "-", thread.setup.cwd) + "/" + self.ids[key]
            raw = self.raw.get(key) or [dumps(line) + b"\n" for line in thread.lines]
            out[base + ".jsonl"] = (b"".join(raw), last_time(thread.lines))
            for agent, sub, meta in thread.agents:
                head = f"{base}/subagents/agent-{agent}"
                out[head + ".jsonl"] = (b"".join(dumps(line) + b"\n" for line in sub.lines), last_time(sub.lines))
                out[head + ".meta.json"] = (dumps(meta), last_time(sub.lines))
        leaf = self.threads["first-look"].lines
        sid = self.ids["summary-only"] = session_id("summary-only")
        titles = ["Resampling of hourly readings", "Quota headers and their tests"]
        lines: list[Line] = [
            {"type": "summary", "summary": t, "leafUuid": leaf[-1 - i].get("uuid", leaf[5]["uuid"])}
            for i, t in enumerate(titles)
        ]
        folder = re.sub(r"[^A-Za-z0-9]", "-", f"{HOME}/{T}")
        out[f"{folder}/{sid}.jsonl"] = (b"".join(dumps(line) + b"\n" for line in lines), last_time(leaf))
        return out


def last_time(lines: list[Line]) -> float:
    """Time of the last line, in seconds, as the file's mtime."""
    newest = max(str(line["timestamp"]) for line in lines if "timestamp" in line)
    return datetime.fromisoformat(newest.replace("Z", "+00:00")).timestamp()


def write(out: Path) -> Sample:
    """Write the tree below ``out`` (its old ``projects`` folder goes away)."""
    sample = Sample()
    sample.build()
    files = sample.files()
    shutil.rmtree(out / "projects", ignore_errors=True)
    for name, (data, mtime) in files.items():
        path = out / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (mtime, mtime))
    return sample


def measure(data: bytes) -> tuple[int, int]:
    """Calls and largest context of a main thread, from the bytes of its file."""
    found: dict[str, int] = {}
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw.strip(b"\x00") or b"{}")
        except ValueError:
            continue
        if "requestId" in line and not line["isSidechain"]:
            use = line["message"]["usage"]
            names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            found[line["requestId"]] = sum(use[name] for name in names)
    return len(found), max(found.values(), default=0)


def table(sample: Sample) -> str:
    """The planted events as a Markdown table."""
    data = {path.removesuffix(".jsonl")[-36:]: content for path, (content, _) in sample.files().items()}
    rows = []
    for key, note in NOTES.items():
        calls, top = measure(data[sample.ids[key]])
        rows.append(f"| {key} | `{sample.ids[key]}` | {calls} | {top:,} | {note} |")
    return "\n".join(["| name | session | calls | peak | what is in it |", "|---|---|---|---|---|", *rows])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "sample")
    parser.add_argument("--list", action="store_true", help="print the table of planted events, write nothing")
    args = parser.parse_args()
    if args.list:
        sample = Sample()
        sample.build()
        print(table(sample))
        return
    write(args.out)


if __name__ == "__main__":
    main()
