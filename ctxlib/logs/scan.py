"""Roots -> Logs: one scan, the tables that every rule reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from ctxlib.logs import contents, identity, threads
from ctxlib.logs.corpus import FileInfo, Names, gather
from ctxlib.logs.discover import Unreadable, find
from ctxlib.logs.extracts import Progress, harvest
from ctxlib.models.prices import Overrides
from ctxlib.roots import roots_of
from ctxlib.sources import Extract
from ctxlib.span import BEGINNING, Span, span
from ctxlib.tables import Table

_BAD = ("half_written", "no_json")


@dataclass(frozen=True, eq=False)
class Logs:
    """What a scan found: tables (columns: tables.py), names, and what could not be used."""

    roots: tuple[str, ...]
    span: Span
    files: tuple[FileInfo, ...]
    unreadable: tuple[Unreadable, ...]
    names: Names
    threads: Table
    calls: Table
    blocks: Table
    marks: Table
    mark_thread: Table
    lines: Table  # the rows that `pos` of the other tables points to
    notes: Table
    note_file: Table
    evidence: Table
    counted: Table
    told: Table
    named: Table
    line_thread: Table
    mark_origin: Table
    call_ids: tuple[str, ...]
    undated_calls: int
    prices: Overrides
    project: str = ""
    store_error: str = ""  # why the store was not used

    def count_notes(self, *codes: str) -> int:
        wanted = [self.names.codes[code] for code in codes if code in self.names.codes]
        return int(np.isin(self.notes["code"], wanted).sum())

    @property
    def bad_lines(self) -> int:
        """Lines that are no JSON: half-written, or broken. Each is a row of notes_df."""
        return self.count_notes(*_BAD)

    @property
    def nul_lines(self) -> int:
        return self.count_notes("nul_line")


def scan(
    roots: str | Path | Iterable[str | Path] = (),
    *,
    since: str = "",
    until: str = "",
    project: str = "",
    prices: Overrides | None = None,
    use_store: bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    now: datetime | None = None,
) -> Logs:
    """Reads all logs below the roots (default: each agent's own folders that exist) that changed since `since`.

    `since`, `until`: 30d, 12h, a date, an ISO time or `all`; default the last 30 days. `project`: only sessions whose
    project label contains it (case-insensitive). `use_store`: keep what was read for the next time (logs/store.py), and
    show logs that their agent has deleted since; it makes no other difference. Raises FileNotFoundError for a root that
    is no folder, ValueError for a bad time. Files and lines that cannot be read are counted and listed (`notes_df`),
    never fatal.
    """
    named = [roots] if isinstance(roots, (str, Path)) else list(roots)
    folders = roots_of([root for root in named if str(root)])
    window = span(since, until, now=now)
    files, lost = find(folders, since_ms=window.since if window.since > BEGINNING else 0)
    found = harvest(
        files,
        [os.path.abspath(folder) for folder in folders],
        since_ns=window.since * 1_000_000 if window.since > BEGINNING else 0,
        use_store=use_store,
        workers=workers,
        progress=progress,
    )
    logs = _assemble(folders, window, found.read, [*lost, *found.unreadable], prices or {}, project)
    return replace(logs, store_error=found.store_error)


def _assemble(
    folders: list[Path],
    window: Span,
    read_files: list[tuple[FileInfo, Extract]],
    lost: list[Unreadable],
    prices: Overrides,
    project: str,
) -> Logs:
    corpus = gather(read_files)
    thread_table, thread_of = threads.split(corpus)
    lines = corpus.tables["lines"]
    again = identity.repeated_lines(lines, thread_of)
    order = identity.Order(corpus, thread_table)
    calls, undated = identity.calls(corpus, thread_table, thread_of, order, window.since, window.until)
    blocks = contents.blocks(corpus, thread_of, again, calls, order, window.since, window.until)
    marks = contents.usable_marks(corpus, thread_of, again)
    mark_thread = thread_of[marks["line"]]
    made = order.first(
        lines["uuid"][marks["line"]],
        mark_thread,
        lines["ts"][marks["line"]],
        lines["session"][marks["line"]],
        marks["line"].astype("i8"),
    )
    if project:
        wanted = np.array([project.casefold() in text.casefold() for text in corpus.names.strings], bool)
        chosen = wanted[thread_table["project"]]
        calls["inside"] &= chosen[calls["thread"]]
        blocks["inside"] &= chosen[blocks["thread"]]
        made &= chosen[mark_thread]
    return Logs(
        roots=tuple(str(folder) for folder in folders),
        span=window,
        files=tuple(corpus.files),
        unreadable=tuple(lost),
        names=corpus.names,
        threads=thread_table,
        calls=calls,
        blocks=blocks,
        marks=marks,
        mark_thread=mark_thread,
        mark_origin=made,
        lines=lines,
        line_thread=thread_of,
        notes=corpus.tables["notes"],
        note_file=corpus.file_of["notes"],
        evidence=corpus.tables["evidence"],
        counted=corpus.tables["counted"],
        told=corpus.tables["told"],
        named=corpus.tables["named"],
        call_ids=tuple(corpus.call_ids),
        undated_calls=undated,
        prices=prices,
        project=project,
    )
