"""The incremental on-disk store: any question is answered from what was read before.

One SQLite file (safe under several processes and a kill at any moment). One row a log file: its extract packed by msgspec
and zstd, about 1.1 % of the log's bytes, and the ids that tie it to others (families.py). One row a digest of a batch of
families (digests.py). It holds counts, ids, names and times, like the extracts themselves.

Reuse is decided per file on (size, mtime_ns). A file that only grew is read from where it ended, after checking the
bytes before. Anything else is read anew. What its agent has deleted stays, as archived, until the user clears it: else
deleting the store loses nothing but time.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import xxhash
import zstandard

from ctxlib.roots import STORE, cache_folder
from ctxlib.sources.base import Extract
from ctxlib.span import Span
from ctxlib.tables import RAW

VERSION = 2  # of what the sources read; raise it when a line comes to be read otherwise
_CHECKED = 4096  # bytes at the beginning, and before the end, by which a grown file is known again
ERRORS = (OSError, sqlite3.Error, zstandard.ZstdError, msgspec.DecodeError, ValueError)  # a store that cannot be used
_WAIT = 60.0  # seconds for another process's write
# Digests kept, the newest: a question has 16 a gigabyte, of about 25 kB each.
_LEAST_DIGESTS, _QUESTIONS = 512, 4

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE extracts (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    read_end INTEGER NOT NULL,
    checked INTEGER NOT NULL,
    keys BLOB NOT NULL,
    packed BLOB NOT NULL
);
CREATE TABLE digests (
    name TEXT NOT NULL,
    before_since INTEGER NOT NULL,
    from_since INTEGER NOT NULL,
    before_until INTEGER NOT NULL,
    from_until INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (name, before_since, before_until)
);
"""
# The layout of the tables is part of the format: a store of another layout is rebuilt.
_LAYOUT = repr((_SCHEMA, [(name, dtype.descr) for name, dtype in RAW.items()]))
FORMAT = f"{VERSION}-{xxhash.xxh3_64_hexdigest(_LAYOUT.encode())}"


class Kept(NamedTuple):
    """What the store knows of a file."""

    source: str
    size: int  # bytes, when it was read
    mtime_ns: int
    end: int  # bytes read: where the next line begins
    checked: int  # hash of the bytes by which the file is known again
    keys: bytes  # families.keys


class Row(NamedTuple):
    """A file that was read."""

    path: str
    source: str
    size: int
    mtime_ns: int
    end: int
    checked: int | None  # None: it is gone again, or another
    keys: bytes
    packed: bytes  # its extract


def file() -> Path:
    return cache_folder() / STORE


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """The store, made or rebuilt where it is missing, of another format, or no database at all. Raises OSError where
    its folder cannot be written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        connection = _opened(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise OSError(f"the store cannot be used: {path}: {error} (try --no-cache)") from error
        path.unlink()  # a damaged file: the logs are still there
        connection = _opened(path)
    with closing(connection):
        yield connection


@contextmanager
def opened(use: bool = True) -> Iterator[sqlite3.Connection | None]:
    """The store in its place, or none."""
    if not use:
        yield None
        return
    with connect(file()) as connection:
        yield connection


def unusable(error: Exception) -> str:
    """A sentence for one of ERRORS."""
    return f"the cache was not used: {error} (ctxlib cache clear removes it)"


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if _format(connection) != FORMAT:
            connection.execute("BEGIN IMMEDIATE")  # of several processes that find it old, one rebuilds it
            if _format(connection) != FORMAT:
                names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for (name,) in names:
                    connection.execute(f'DROP TABLE "{name}"')
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
            connection.execute("COMMIT")
            # It holds nothing yet that the logs do not: a cut of the power may cost it, and waiting for the disk costs more.
            connection.execute("PRAGMA synchronous = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _format(connection: sqlite3.Connection) -> str | None:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return None
    row = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return row[0] if row else None


def known(connection: sqlite3.Connection, roots: Sequence[str]) -> dict[str, Kept]:
    """What is kept of all files below the roots, by path, without their extracts."""
    out: dict[str, Kept] = {}
    for root in roots:
        begin = os.path.join(root, "").encode("utf-8", "replace").decode()
        rows = connection.execute(
            "SELECT path, source, size, mtime_ns, read_end, checked, keys FROM extracts WHERE path >= ? AND path < ?",
            (begin, begin[:-1] + chr(ord(begin[-1]) + 1)),
        )
        out.update((row[0], Kept(*row[1:])) for row in rows)
    return out


def packed(connection: sqlite3.Connection, path: str, size: int, mtime_ns: int) -> bytes | None:
    """The extract of a file, packed; None where another process has replaced or removed it since `known`."""
    row = connection.execute(
        "SELECT packed FROM extracts WHERE path = ? AND size = ? AND mtime_ns = ?", (path, size, mtime_ns)
    ).fetchone()
    return row[0] if row else None


def keep(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Writes what was read, all of it or nothing."""
    values = [row for row in rows if can_keep(row)]
    if not values:
        return
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT OR REPLACE INTO extracts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    connection.execute("COMMIT")


def digests(connection: sqlite3.Connection, names: Iterable[str], window: Span) -> dict[str, bytes]:
    """The digests kept under these names that hold for a window, as msgpack."""
    out = {}
    for name in names:
        row = connection.execute(
            "SELECT packed FROM digests WHERE name = ? AND before_since < ? AND from_since >= ? AND before_until < ?"
            " AND from_until >= ?",
            (name, window.since, window.since, window.until, window.until),
        ).fetchone()
        if row:
            out[name] = _zstd.unpacker.decompress(row[0])
    return out


def keep_digests(
    connection: sqlite3.Connection, rows: Sequence[tuple[str, int, int, int, int, bytes]], batches: int
) -> None:
    """Writes (name, before_since, from_since, before_until, from_until, digest as msgpack): it holds for windows that begin
    after `before_since` and up to `from_since`, and end so too (milliseconds). `batches`: of the whole question."""
    if not rows:
        return
    connection.execute("BEGIN IMMEDIATE")
    values = [(*row[:-1], _zstd.packer.compress(row[-1])) for row in rows]
    connection.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.execute(
        "DELETE FROM digests WHERE rowid NOT IN (SELECT rowid FROM digests ORDER BY rowid DESC LIMIT ?)",
        (max(_LEAST_DIGESTS, _QUESTIONS * batches),),
    )
    connection.execute("COMMIT")


def can_keep(row: Row) -> bool:
    """False for a file that is gone again, or whose name is no text: it is read each time."""
    try:
        row.path.encode()
    except UnicodeEncodeError:
        return False
    return row.checked is not None


def fingerprint(path: str, end: int) -> int:
    """Hash of the first bytes of a file and of those before `end` (signed, as SQLite keeps integers)."""
    with open(path, "rb") as log:
        head = log.read(min(_CHECKED, end))
        log.seek(max(0, end - _CHECKED))
        tail = log.read(min(_CHECKED, end))
    return xxhash.xxh3_64_intdigest(head + tail) - 2**63


def grew(path: str, kept: Kept, size: int) -> bool:
    """True if the file is the kept one with more at its end."""
    if size <= kept.size or size < kept.end:
        return False
    try:
        return fingerprint(path, kept.end) == kept.checked
    except OSError:
        return False


class _Zstd(threading.local):
    """Used again, since setting one up takes as long as packing 20 kB; one a thread, since two threads in one crash."""

    def __init__(self) -> None:
        self.packer, self.unpacker = zstandard.ZstdCompressor(1), zstandard.ZstdDecompressor()


_zstd = _Zstd()


def pack(extract: Extract) -> bytes:
    tables = {name: table.tobytes() for name, table in extract.tables.items()}
    fields = (extract.pool, tables, extract.call_ids, extract.lines, extract.end, extract.open_tail)
    return _zstd.packer.compress(msgspec.msgpack.encode(fields))


def unpack(packed: bytes) -> Extract:
    """The extract of a row. Its arrays are read-only views."""
    pool, tables, ids, lines, end, open_tail = msgspec.msgpack.decode(_zstd.unpacker.decompress(packed))
    arrays = {name: np.frombuffer(tables[name], dtype) for name, dtype in RAW.items()}
    return Extract(pool, arrays, ids, lines, end, open_tail)


def clear(path: Path) -> int:
    """Removes the store; the number of bytes that it took."""
    size = 0
    for suffix in ("", "-wal", "-shm"):
        part = Path(f"{path}{suffix}")
        if part.is_file():
            size += part.stat().st_size
            part.unlink()
    return size


class Facts(NamedTuple):
    """What `ctxlib cache info` tells."""

    path: Path
    bytes: int
    files: int
    archived: int  # kept of logs that are no longer there
    log_bytes: int  # of the logs that were read


def facts(path: Path) -> Facts:
    if not path.is_file():
        return Facts(path, 0, 0, 0, 0)
    with connect(path) as connection:
        rows = connection.execute("SELECT path, size FROM extracts").fetchall()
    gone = sum(not os.path.exists(name) for name, _ in rows)
    return Facts(path, path.stat().st_size, len(rows), gone, sum(size for _, size in rows))
