"""Roots -> the log files below them, each once, with what could not be entered or read (scan.md, Reading files)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ctxlib.sources import SOURCES
from ctxlib.sources.base import Source


class LogFile(NamedTuple):
    path: str
    root: str
    source: Source
    size: int  # bytes
    mtime_ns: int


class Unreadable(NamedTuple):
    path: str
    cause: str


def find(roots: Iterable[str | Path], *, since_ms: int) -> tuple[list[LogFile], list[Unreadable]]:
    """All logs below the roots changed at or after `since_ms` (R-window), sorted by path, and what could not be read.

    Hidden folders are walked, links followed, loops end, a file reached twice (links, nested roots) counts once.
    """
    files: dict[tuple[int, int], LogFile] = {}
    lost: list[Unreadable] = []
    folders: set[tuple[int, int]] = set()
    for root in roots:
        top = os.path.abspath(root)
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            try:
                key = _identity(os.stat(folder))
                if key in folders:
                    continue
                folders.add(key)
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                lost.append(Unreadable(folder, error.strerror or type(error).__name__))
                continue
            for entry in reversed(found):
                _visit(entry, top, waiting, files, lost, since_ms)
    return sorted(files.values(), key=lambda file: file.path), lost


def _visit(
    entry: os.DirEntry[str],
    root: str,
    waiting: list[str],
    files: dict[tuple[int, int], LogFile],
    lost: list[Unreadable],
    since_ms: int,
) -> None:
    try:
        if entry.is_dir():
            waiting.append(entry.path)
            return
    except OSError as error:
        lost.append(Unreadable(entry.path, error.strerror or type(error).__name__))
        return
    source = next((source for source in SOURCES if source.is_log(entry.path)), None)
    if source is None:
        return
    try:
        info = entry.stat()
    except OSError as error:  # a dead link
        lost.append(Unreadable(entry.path, error.strerror or type(error).__name__))
        return
    size, changed = info.st_size, info.st_mtime_ns
    for other in filter(os.path.exists, source.also(entry.path)):
        beside = os.stat(other)
        size, changed = size + beside.st_size, max(changed, beside.st_mtime_ns)
    if stat.S_ISREG(info.st_mode) and changed >= since_ms * 1_000_000:
        files.setdefault(_identity(info), LogFile(entry.path, root, source, size, changed))


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino
