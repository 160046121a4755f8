"""Roots -> the digest of all logs below them, family by family: kept ones where nothing changed, the others made anew.

A batch is some whole families of logs (logs/families.py): it is all that is in memory at once, what a worker takes, and what
is kept. Only one thing goes from batch to batch: the characters a token of each model, which are fitted over all logs
(accounting/calibrate.py). So every new batch is assembled, and waits in the process that did it, until all have said what
they measured.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO, NamedTuple

import msgspec
import numpy as np

from ctxlib.accounting.calibrate import applied
from ctxlib.accounting.calibrate import ratios as measured
from ctxlib.digest import Digest, digest, merged
from ctxlib.logs import Asked, Logs, Progress, assembled, gathered, store
from ctxlib.logs.extracts import Entry, loaded, unpacked
from ctxlib.logs.families import batches, families
from ctxlib.models import remember
from ctxlib.program import hash_of, program_id
from ctxlib.span import Span
from ctxlib.workers import Crew

_DECODER = msgspec.msgpack.Decoder(Digest)


class Found(NamedTuple):
    """The digest of a question's logs."""

    digest: Digest
    store_error: str = ""  # why the store was not used


class _Batch(NamedTuple):
    """Whole families of logs."""

    name: str
    asked: Asked
    entries: list[Entry]
    use_store: bool  # their extracts are there
    size: int  # bytes of logs


class _Work(NamedTuple):
    """A batch to make a digest of."""

    batch: _Batch
    chars_per_token: Mapping[str, float]
    with_outputs: bool


class _Waiting(NamedTuple):
    """A batch that this process has assembled: in memory, or in a file without a name, which ends with it."""

    size: int  # bytes of logs
    logs: Logs | IO[bytes]


# Bytes of logs whose tables wait in memory (45 MB a gigabyte); the others wait in files, which a cold run feels (2 to 6 %).
_IN_MEMORY = 512 << 20
_waiting: dict[str, _Waiting] = {}


def find(
    asked: Asked,
    *,
    with_outputs: bool = False,
    use_store: bool = True,
    crew: Crew | None = None,
    progress: Progress | None = None,
) -> Found:
    """The digest of all logs that a question is about: that of `digest(scan(...))`, made in parts. `with_outputs`: with the
    output tokens of each call. `use_store`: keep what was read and made for the next time. Raises what `scan` raises."""
    with crew or Crew() as crew:
        try:
            with store.opened(use_store) as connection:
                return Found(_found(asked, with_outputs, connection, crew, progress))
        except store.ERRORS as error:  # a full disk, a damaged row: the logs are still there
            if not use_store:
                raise
            return Found(_found(asked, with_outputs, None, crew, progress), store.unusable(error))


def _found(
    asked: Asked, with_outputs: bool, connection: sqlite3.Connection | None, crew: Crew, progress: Progress | None
) -> Digest:
    harvest = gathered(asked, connection, crew, progress)
    held = _batches(asked, with_outputs, harvest.entries, connection is not None)
    kept = _kept(connection, held, asked.span)
    made = _made(held, kept, with_outputs, crew)
    known = kept | {name: _DECODER.decode(data) for name, data in made.items()}
    if connection:
        store.keep_digests(connection, [_row(name, known[name], data) for name, data in made.items()], len(held))
    return merged([*(known[name] for name in held), Digest(unreadable=len(harvest.unreadable))])


def _batches(asked: Asked, with_outputs: bool, entries: list[Entry], use_store: bool) -> dict[str, _Batch]:
    """All batches, by the keys of their digests."""
    heads = families([np.frombuffer(entry.keys, "u8") for entry in entries])
    out = {}
    for part in batches(heads, [entry.info.path for entry in entries], [entry.size for entry in entries]):
        mine = [entries[i] for i in part]
        name = _name(asked, with_outputs, mine)
        out[name] = _Batch(name, asked, mine, use_store, sum(entry.size for entry in mine))
    return out


def _made(held: Mapping[str, _Batch], kept: Mapping[str, Digest], with_outputs: bool, crew: Crew) -> dict[str, bytes]:
    """The digests that are not kept, and those whose characters a token have changed by them, as msgpack."""
    new = [batch for name, batch in held.items() if name not in kept]

    def make(batches: Sequence[_Batch]) -> dict[str, bytes]:
        work = [_Work(batch, told, with_outputs) for batch in batches]
        found = crew.map(_digested, work, [batch.size for batch in batches])
        return {batch.name: data for batch, data in zip(batches, found, strict=True)}

    try:
        ratios = crew.map(_assembled, new, [batch.size for batch in new])
        told = _chars_per_token([*(one.ratios for one in kept.values()), *ratios])
        made = make(new)
        stale = [name for name, one in kept.items() if one.fits != {model: told[model] for model in one.fits}]
        return made | make([held[name] for name in stale])
    finally:
        for left in _waiting.values():
            if not isinstance(left.logs, Logs):
                left.logs.close()
        _waiting.clear()


def _chars_per_token(found: Sequence[Mapping[str, bytes]]) -> dict[str, float]:
    """Canonical model -> what all these logs together say."""
    models = {model for ratios in found for model in ratios}
    together = {model: b"".join(ratios.get(model, b"") for ratios in found) for model in models}
    return {model: applied(model, np.frombuffer(data, "f8")) for model, data in together.items()}


def _kept(connection: sqlite3.Connection | None, held: Mapping[str, _Batch], window: Span) -> dict[str, Digest]:
    if connection is None:
        return {}
    return {name: _DECODER.decode(data) for name, data in store.digests(connection, held, window).items()}


def _row(name: str, made: Digest, data: bytes) -> tuple[str, int, int, int, int, bytes]:
    ends = (made.before_since, made.from_since, made.before_until, made.from_until)
    return name, *ends, data


def _name(asked: Asked, with_outputs: bool, part: Sequence[Entry]) -> str:
    """The key of a batch's digest: all that it depends on but the window."""
    files = [(entry.info, entry.size, entry.mtime_ns) for entry in part]
    prices = sorted((model, sorted(price.items())) for model, price in asked.prices.items())
    return hash_of((program_id(), asked.project, prices, with_outputs, files))


def _assembled(work: list[_Batch]) -> list[dict[str, bytes]]:
    """What each batch says of the characters a token (Digest.ratios); its logs wait here (work for a worker)."""
    out = []
    for batch in work:
        logs = _logs(batch)
        out.append({model: found.astype("<f8").tobytes() for model, found in measured(logs).items()})
        held = sum(one.size for one in _waiting.values() if isinstance(one.logs, Logs))
        if held + batch.size <= _IN_MEMORY:
            _waiting[batch.name] = _Waiting(batch.size, logs)
        else:
            file = TemporaryFile()  # noqa: SIM115  (`_digested` or `_made` closes it)
            _waiting[batch.name] = _Waiting(batch.size, file)
            pickle.dump(logs, file, pickle.HIGHEST_PROTOCOL)
    return out


def _logs(batch: _Batch) -> Logs:
    with store.opened(batch.use_store) as connection:
        return assembled(batch.asked, unpacked(loaded(batch.entries, connection)))


def _digested(work: list[_Work]) -> list[bytes]:
    """The digest of each batch, as msgpack (work for a worker)."""
    out = []
    for batch, told, with_outputs in work:
        waiting = _waiting.pop(batch.name, None)
        if waiting is None:  # it was kept, or the worker that had it is gone
            logs = _logs(batch)
        elif isinstance(waiting.logs, Logs):
            logs = waiting.logs
        else:
            with waiting.logs as file:
                file.seek(0)
                logs = pickle.load(file)
        made = digest(replace(logs, chars_per_token=told), with_outputs=with_outputs)
        out.append(msgspec.msgpack.encode(made))
    if any(one.batch.use_store for one in work):
        remember()  # prices that were looked up: here, since another process may have done it
    return out
