"""Log files -> their extracts: from the store where it knows them, else read, and kept for the next time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ctxlib.logs import store
from ctxlib.logs.corpus import FileInfo
from ctxlib.logs.discover import LogFile, Unreadable
from ctxlib.logs.families import keys
from ctxlib.logs.reader import read
from ctxlib.sources import SOURCES
from ctxlib.sources.base import Extract, joined, without_tail
from ctxlib.workers import Crew

Progress = Callable[[int, int], None]  # (bytes read, bytes to read)
_OPENING = 20_000  # opening a file costs as much as reading so many bytes
_STEP = 1 << 30  # bytes: after so many, what was read is kept, and leaves the memory


class Job(NamedTuple):
    """A file to read."""

    path: str
    root: str
    source: str
    size: int  # bytes
    mtime_ns: int
    known: int = 0  # bytes of it that were read before,
    before: bytes = b""  # and what they gave, packed


class Entry(NamedTuple):
    """A file of a scan, and what ties it to others."""

    info: FileInfo
    size: int  # bytes
    mtime_ns: int
    keys: bytes
    packed: bytes  # its extract; b"" while it is in the store only


class Harvest(NamedTuple):
    """The files of a scan, by path, and what could not be read."""

    entries: list[Entry]
    unreadable: list[Unreadable]


def harvest(
    files: Sequence[LogFile],
    roots: Sequence[str],
    *,
    since_ns: int,
    connection: sqlite3.Connection | None,
    crew: Crew,
    progress: Progress | None = None,
) -> Harvest:
    """Every file, read where the store (`connection`; None: there is none) does not know it, and with the store the files
    below the roots that are no longer there."""
    kept = store.known(connection, roots) if connection else {}
    kept = {path: item for path, item in kept.items() if item.mtime_ns >= since_ns}
    jobs = [_job(file, kept.get(file.path), connection) for file in files if not _same(file, kept.get(file.path))]
    weights = [job.size - job.known + _OPENING for job in jobs]
    results: dict[str, store.Row | OSError] = {}
    begin = done = 0
    steps = _steps(weights)
    for end in steps:
        told = partial(_told, progress, done, sum(weights)) if progress else None
        rows = crew.map(read_files, jobs[begin:end], weights[begin:end], told)
        if connection:
            store.keep(connection, [row for row in rows if isinstance(row, store.Row)])
            if len(steps) > 1:
                rows = [_without_extract(row) for row in rows]
        results.update(zip((job.path for job in jobs[begin:end]), rows, strict=True))
        begin, done = end, done + sum(weights[begin:end])
    found, lost = [], []
    for file in files:
        info = FileInfo(file.path, file.root, file.source.name)
        row = results.get(file.path)
        if row is None:
            found.append(Entry(info, file.size, file.mtime_ns, kept[file.path].keys, b""))
        elif isinstance(row, store.Row):
            found.append(Entry(info, file.size, file.mtime_ns, row.keys, row.packed))
        else:
            lost.append(Unreadable(file.path, row.strerror or type(row).__name__))
    listed = {file.path for file in files}
    for path, item in kept.items():
        if path not in listed and not os.path.lexists(path):
            info = FileInfo(path, _root_of(path, roots), item.source, archived=True)
            found.append(Entry(info, item.size, item.mtime_ns, item.keys, b""))
    # In the order of paths, whether archived or not: the order of files decides ties between copies.
    return Harvest(sorted(found, key=lambda entry: entry.info.path), lost)


def loaded(entries: Sequence[Entry], connection: sqlite3.Connection | None) -> list[tuple[FileInfo, bytes]]:
    """The packed extract of each entry. One that another process has replaced meanwhile is read again; raises OSError where
    that cannot be."""
    out = []
    for entry in entries:
        held: bytes | None = entry.packed
        if not held and connection:
            held = store.packed(connection, entry.info.path, entry.size, entry.mtime_ns)
        if not held:
            (row,) = read_files([Job(entry.info.path, entry.info.root, entry.info.source, entry.size, entry.mtime_ns)])
            if isinstance(row, OSError):
                raise row
            held = row.packed
        out.append((entry.info, held))
    return out


def unpacked(held: Sequence[tuple[FileInfo, bytes]]) -> list[tuple[FileInfo, Extract]]:
    """Extracts for `corpus.gather`."""
    out = []
    for info, data in held:
        extract = store.unpack(data)
        out.append((info._replace(lines=extract.lines + extract.open_tail), extract))
    return out


def read_files(jobs: list[Job]) -> list[store.Row | OSError]:
    """Each file read, or the error that kept it from being read (work for a worker)."""
    return [_read(job) for job in jobs]


def _read(job: Job) -> store.Row | OSError:
    source = next(source for source in SOURCES if source.name == job.source)
    try:
        if job.before:
            before = without_tail(store.unpack(job.before))
            extract = joined(before, read(job.path, source, start=before.end, first_line=before.lines + 1))
        else:
            extract = read(job.path, source)
    except OSError as error:
        return error
    try:
        checked = store.fingerprint(job.path, extract.end)
    except OSError:
        checked = None
    found = keys(extract, job.path, job.root).tobytes()
    return store.Row(job.path, job.source, job.size, job.mtime_ns, extract.end, checked, found, store.pack(extract))


def _steps(weights: Sequence[int]) -> list[int]:
    """Ends of the steps in which files are read, each of about _STEP bytes."""
    ends, size = [], 0
    for i, weight in enumerate(weights, 1):
        size += weight
        if size >= _STEP or i == len(weights):
            ends.append(i)
            size = 0
    return ends


def _told(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _without_extract(row: store.Row | OSError) -> store.Row | OSError:
    """It is in the store now, unless it could not be kept."""
    return row._replace(packed=b"") if isinstance(row, store.Row) and store.can_keep(row) else row


def _same(file: LogFile, kept: store.Kept | None) -> bool:
    return kept is not None and (file.size, file.mtime_ns) == (kept.size, kept.mtime_ns)


def _job(file: LogFile, kept: store.Kept | None, connection: sqlite3.Connection | None) -> Job:
    job = Job(file.path, file.root, file.source.name, file.size, file.mtime_ns)
    if connection is None or kept is None or not file.source.grows or not store.grew(file.path, kept, file.size):
        return job
    before = store.packed(connection, file.path, kept.size, kept.mtime_ns)
    return job._replace(known=kept.end, before=before) if before else job


def _root_of(path: str, roots: Sequence[str]) -> str:
    return next((root for root in roots if Path(path).is_relative_to(root)), "")
