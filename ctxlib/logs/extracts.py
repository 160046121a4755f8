"""Log files -> their extracts: from the store where it knows them, else read, and kept for the next time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ctxlib.logs import store
from ctxlib.logs.corpus import FileInfo
from ctxlib.logs.discover import LogFile, Unreadable
from ctxlib.logs.workers import Job, Result, read_all
from ctxlib.sources import Extract
from ctxlib.sources.base import joined, without_tail

Progress = Callable[[int, int], None]  # (bytes read, bytes to read)


class Harvest(NamedTuple):
    """The extracts of a scan, by path, and what could not be read."""

    read: list[tuple[FileInfo, Extract]]
    unreadable: list[Unreadable]
    store_error: str  # why the store was not used, "" if it was or was not to be


def harvest(
    files: Sequence[LogFile],
    roots: Sequence[str],
    *,
    since_ns: int,
    use_store: bool,
    workers: int | None,
    progress: Progress | None,
) -> Harvest:
    """The extract of every file, and with the store those of files below the roots that are no longer there."""
    if not use_store:
        return _sorted(files, _read(files, {}, workers, progress), [], "")
    try:
        with store.connect(store.file()) as connection:
            kept = {path: item for path, item in store.known(connection, roots).items() if item.mtime_ns >= since_ns}
            results = _read(files, kept, workers, progress)
            new = [
                store.Row(file.path, file.source.name, file.size, file.mtime_ns, result)
                for file, result in zip(files, results, strict=True)
                if isinstance(result, Extract) and not _same(file, kept.get(file.path))
            ]
            store.keep(connection, new)
        listed = {file.path for file in files}
        gone = [
            (FileInfo(path, _root_of(path, roots), item.source, 0, archived=True), store.unpack(item.packed))
            for path, item in kept.items()
            if path not in listed and not os.path.lexists(path)
        ]
    except store.ERRORS as error:  # a full disk, a damaged row: the logs are still there
        said = f"the cache was not used: {error} (ctxlib cache clear removes it)"
        return _sorted(files, _read(files, {}, workers, progress), [], said)
    return _sorted(files, results, gone, "")


def _same(file: LogFile, kept: store.Kept | None) -> bool:
    return kept is not None and (file.size, file.mtime_ns) == (kept.size, kept.mtime_ns)


def _read(
    files: Sequence[LogFile], kept: dict[str, store.Kept], workers: int | None, progress: Progress | None
) -> list[Result]:
    out: list[Result | None] = [None] * len(files)
    jobs: list[tuple[int, Job, Extract | None]] = []
    for i, file in enumerate(files):
        held = kept.get(file.path)
        if held is not None and _same(file, held):
            out[i] = store.unpack(held.packed)
        elif held is not None and file.source.grows and store.grew(file.path, held, file.size):
            before = without_tail(store.unpack(held.packed))
            jobs.append((i, Job(file.path, file.source.name, file.size, before.end, before.lines + 1), before))
        else:
            jobs.append((i, Job(file.path, file.source.name, file.size), None))
    total = sum(job.size - job.start for _, job, _ in jobs)
    results = read_all(
        [job for _, job, _ in jobs], workers=workers, progress=lambda seen: progress(seen, total) if progress else None
    )
    for (i, _, known), result in zip(jobs, results, strict=True):
        out[i] = joined(known, result) if known is not None and isinstance(result, Extract) else result
    return [result for result in out if result is not None]


def _sorted(
    files: Sequence[LogFile], results: Sequence[Result], gone: list[tuple[FileInfo, Extract]], error: str
) -> Harvest:
    read, lost = list(gone), []
    for file, result in zip(files, results, strict=True):
        if isinstance(result, OSError):
            lost.append(Unreadable(file.path, result.strerror or type(result).__name__))
        else:
            read.append((FileInfo(file.path, file.root, file.source.name, 0), result))
    # In the order of paths, whether archived or not: the order of files decides ties between copies.
    read.sort(key=lambda item: item[0].path)
    return Harvest(
        [(info._replace(lines=extract.lines + extract.open_tail), extract) for info, extract in read], lost, error
    )


def _root_of(path: str, roots: Sequence[str]) -> str:
    return next((root for root in roots if Path(path).is_relative_to(root)), "")
