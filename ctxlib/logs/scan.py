"""Roots -> Logs: one scan, the tables that every rule reads."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ctxlib.arrays import among
from ctxlib.logs import contents, identity, store, threads
from ctxlib.logs.corpus import FileInfo, Names, gather
from ctxlib.logs.discover import Unreadable, find
from ctxlib.logs.extracts import Harvest, Progress, harvest, loaded, unpacked
from ctxlib.models.prices import Overrides
from ctxlib.roots import roots_of
from ctxlib.sources import Extract
from ctxlib.span import BEGINNING, Span, span
from ctxlib.tables import Table, UsageScope
from ctxlib.workers import Crew

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
    # Characters a token by canonical model, known from more logs than these; {}: what these themselves say.
    chars_per_token: Mapping[str, float] = field(default_factory=dict)

    def count_notes(self, *codes: str) -> int:
        wanted = [self.names.codes[code] for code in codes if code in self.names.codes]
        return int(among(self.notes["code"], wanted).sum())

    @property
    def own_calls(self) -> Table:
        """Requests made in the window, each once (X-cache's pool): no copies, no sums over turns."""
        calls = self.calls
        return calls[calls["inside"] & calls["origin"] & (calls["scope"] == UsageScope.CALL)]

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
    question = asked(roots, since=since, until=until, project=project, prices=prices, now=now)
    error = ""
    try:
        read, lost = _read(question, use_store, workers, progress)
    except store.ERRORS as cause:  # a full disk, a damaged row: the logs are still there
        if not use_store:
            raise
        error = store.unusable(cause)
        read, lost = _read(question, False, workers, progress)
    return replace(assembled(question, read, lost), store_error=error)


class Asked(NamedTuple):
    """A question: which logs, from when to when, of which project, at which prices."""

    roots: tuple[str, ...]  # folders
    span: Span
    project: str
    prices: Overrides

    @property
    def since_ms(self) -> int:
        """Logs that changed before are of no concern."""
        return self.span.since if self.span.since > BEGINNING else 0


def asked(
    roots: str | Path | Iterable[str | Path] = (),
    *,
    since: str = "",
    until: str = "",
    project: str = "",
    prices: Overrides | None = None,
    now: datetime | None = None,
) -> Asked:
    """The question in `scan`'s words; raises what `scan` raises for wrong ones."""
    named = [roots] if isinstance(roots, (str, Path)) else list(roots)
    folders = roots_of([root for root in named if str(root)])
    return Asked(tuple(map(str, folders)), span(since, until, now=now), project, prices or {})


def _read(
    question: Asked, use_store: bool, workers: int | None, progress: Progress | None
) -> tuple[list[tuple[FileInfo, Extract]], list[Unreadable]]:
    with store.opened(use_store) as connection, Crew(workers) as crew:
        found = gathered(question, connection, crew, progress)
        return unpacked(loaded(found.entries, connection)), found.unreadable


def gathered(
    question: Asked, connection: sqlite3.Connection | None, crew: Crew, progress: Progress | None = None
) -> Harvest:
    """The files that a question is about, each read or known to the store."""
    files, lost = find(question.roots, since_ms=question.since_ms)
    folders = [os.path.abspath(root) for root in question.roots]
    since_ns = question.since_ms * 1_000_000
    found = harvest(files, folders, since_ns=since_ns, connection=connection, crew=crew, progress=progress)
    return found._replace(unreadable=[*lost, *found.unreadable])


def assembled(
    question: Asked,
    read: list[tuple[FileInfo, Extract]],
    lost: Sequence[Unreadable] = (),
) -> Logs:
    """The logs of these extracts, which must be in the order of their paths, with all others of their families among them."""
    corpus = gather(read)
    thread_table, thread_of = threads.split(corpus)
    lines = corpus.tables["lines"]
    again = identity.repeated_lines(lines, thread_of)
    order = identity.Order(corpus, thread_table)
    calls, undated = identity.calls(corpus, thread_table, thread_of, order, question.span.since, question.span.until)
    blocks = contents.blocks(corpus, thread_of, again, calls, order, question.span.since, question.span.until)
    marks = contents.usable_marks(corpus, thread_of, again)
    mark_thread = thread_of[marks["line"]]
    made = order.first(
        lines["uuid"][marks["line"]],
        mark_thread,
        lines["ts"][marks["line"]],
        lines["session"][marks["line"]],
        marks["line"].astype("i8"),
    )
    if question.project:
        wanted = np.array([question.project.casefold() in text.casefold() for text in corpus.names.strings], bool)
        chosen = wanted[thread_table["project"]]
        calls["inside"] &= chosen[calls["thread"]]
        blocks["inside"] &= chosen[blocks["thread"]]
        made &= chosen[mark_thread]
    return Logs(
        roots=question.roots,
        span=question.span,
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
        prices=question.prices,
        project=question.project,
    )
