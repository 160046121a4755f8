"""Answers that were given before: the same question about logs that have not changed is answered at once.

An answer holds as long as no file below the roots has changed, appeared or gone (name, size, time and permissions of
each), and as long as `since`, which moves with the clock, has not passed the time of a line. Finding that out takes a walk
and a look-up, and none of the packages that computing takes: 0.05 s instead of 0.22 s on 1 GB of logs.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from ctxlib.program import hash_of, program_id
from ctxlib.span import BEGINNING, Span

NAME = "answers.sqlite3"  # in the cache folder
_MOST = 64  # answers kept
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    question TEXT PRIMARY KEY, listing TEXT NOT NULL, low INTEGER NOT NULL, high INTEGER NOT NULL,
    since TEXT NOT NULL, texts TEXT NOT NULL, said TEXT NOT NULL)
"""


class Answer(NamedTuple):
    """What a command printed and wrote, and what it said on stderr."""

    texts: list[str]
    said: str
    earlier: int  # it holds for windows that begin after this time, and up to the next (milliseconds)
    later: int


def question(kind: str, *details: object) -> str:
    """The key of a question: its kind and all that it depends on, this program and its price list included."""
    return hash_of((kind, details, program_id()))


class Listing(NamedTuple):
    """Every file below some roots."""

    id: str  # a hash over their names, sizes, times and permissions
    bytes: int


def listing(roots: Sequence[Path], since: int) -> Listing:
    """The files below the roots that changed at or after `since` (milliseconds)."""
    found: list[tuple[str, int, int, int]] = []
    waiting = [os.path.abspath(root) for root in roots]
    seen: set[tuple[int, int]] = set()
    earliest = since * 1_000_000 if since > BEGINNING else 0
    while waiting:
        folder = waiting.pop()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                try:
                    info = entry.stat()
                    if entry.is_dir():
                        if (info.st_dev, info.st_ino) not in seen:
                            seen.add((info.st_dev, info.st_ino))
                            waiting.append(entry.path)
                    elif info.st_mtime_ns >= earliest:
                        found.append((entry.path, info.st_size, info.st_mtime_ns, info.st_mode))
                except OSError:
                    found.append((entry.path, -1, -1, -1))  # unreadable: counted, as long as it stays so
    return Listing(hash_of(sorted(found)), sum(size for _, size, _, _ in found))


def find(path: Path, asked: str, now: Listing, window: Span) -> Answer | None:
    """The answer given before, with the `since` of now; None where there is none, or it no longer holds."""
    if not path.is_file():
        return None
    try:
        with closing(sqlite3.connect(path, timeout=5.0)) as connection:
            row = connection.execute(
                "SELECT listing, low, high, since, texts, said FROM answers WHERE question = ?", (asked,)
            ).fetchone()
    except sqlite3.Error:
        return None
    if row is None or not row[1] < window.since <= row[2] or row[0] != now.id:
        return None
    begin = json.dumps(window.texts()[0])
    texts = [text.replace(f'"since": {row[3]}', f'"since": {begin}', 1) for text in json.loads(row[4])]
    return Answer(texts, row[5], row[1], row[2])


def keep(path: Path, asked: str, before: Listing, roots: Sequence[Path], window: Span, answer: Answer) -> None:
    """Keeps an answer, unless a file changed while it was computed. `before`: the listing from before the scan."""
    if before != listing(roots, window.since):
        return
    since = json.dumps(window.texts()[0])
    row = (asked, before.id, answer.earlier, answer.later, since, json.dumps(answer.texts), answer.said)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=5.0, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # an answer that a cut of the power costs is computed again
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_SCHEMA)
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute(
                "DELETE FROM answers WHERE rowid NOT IN (SELECT rowid FROM answers ORDER BY rowid DESC LIMIT ?)",
                (_MOST,),
            )
            connection.execute("COMMIT")
    except sqlite3.OperationalError:
        return  # busy, or no place to write: an answer that is not kept is computed again
    except sqlite3.DatabaseError:
        path.unlink()  # damaged: the next one is kept again
    except OSError:
        return
