"""OpenProgram's ledger, `usage.db`: one row a call. Read without touching it: no lock, no file beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ctxlib.sources.entries import Counts, code, label, number, text
from ctxlib.tables import NO_TIME

_COLUMNS = (
    "event_id",
    "ts",
    "session_id",
    "parent_session_id",
    "call_kind",
    "model_id",
    "token_source",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
)
_NEEDED = ("event_id", "ts", "session_id", "call_kind", "model_id", "input_tokens")
_TRIES = 3


class Call(NamedTuple):
    id: str
    ts: int  # milliseconds: when it had ended
    session: str
    parent: str  # the session that called this one's agent
    kind: str  # chat, exec, compaction, summarize, memory, subagent, tool, title, ...
    model: str
    measured: bool  # False where its tokens are an estimate
    counts: Counts


def read(path: str, session: str = "") -> list[Call] | None:
    """All calls, or those of a session, in the order of time; None where the file has no such table.

    A ledger that is being written has its newest rows in `-wal`: then both are copied and the copy is read, again if they
    changed meanwhile. Else it is opened as immutable, which takes no lock.
    """
    found: list[Call] | None = None
    for _ in range(_TRIES):
        before = _stamps(path)
        try:
            found = _read(path, session, copied=before[1][1] > 0)
        except sqlite3.DatabaseError:
            found = None
        if _stamps(path) == before:
            break
    return found


def _stamps(path: str) -> list[tuple[int, int]]:
    out = []
    for name in (path, path + "-wal"):
        info = os.stat(name) if os.path.exists(name) else None
        out.append((info.st_mtime_ns, info.st_size) if info else (0, 0))
    return out


def _read(path: str, session: str, *, copied: bool) -> list[Call] | None:
    with tempfile.TemporaryDirectory(prefix="ctxlib-") as folder:
        address = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"
        if copied:
            own = Path(folder) / "usage.db"
            shutil.copyfile(path, own)
            shutil.copyfile(path + "-wal", f"{own}-wal")
            address = f"file:{quote(str(own))}?mode=rw"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            columns = {row[1] for row in connection.execute("PRAGMA table_info(usage_events)")}
            if not columns.issuperset(_NEEDED):
                return None
            picked = ", ".join(name if name in columns else f"NULL AS {name}" for name in _COLUMNS)
            query = f"SELECT {picked} FROM usage_events"
            query += " WHERE session_id = ?" if session else ""
            rows = connection.execute(query + " ORDER BY ts, rowid", (session,) if session else ()).fetchall()
    return [_call(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _call(row: dict[str, Any]) -> Call:
    ts = row["ts"]
    sides = (number(row[f"{name}_tokens"]) for name in ("input", "cache_read", "cache_write", "output"))
    return Call(
        label(text(row["event_id"]), 128),
        round(ts * 1000) if isinstance(ts, (int, float)) and 0 < ts < 2**40 else NO_TIME,
        label(text(row["session_id"])),
        label(text(row["parent_session_id"])),
        code(row["call_kind"], "unknown"),
        label(text(row["model_id"])),
        text(row["token_source"]) in ("provider_usage", "anthropic_count_api", ""),
        Counts(*sides),
    )
