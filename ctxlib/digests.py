"""Roots -> the digest of all logs below them, family by family: kept ones where nothing changed, the others made anew.

A batch is some whole families of logs (logs/families.py): it is all that is in memory at once, what a worker takes, and what
is kept. Only one thing goes from batch to batch: the characters a token of each model, which are fitted over all logs
(accounting/calibrate.py). So every new batch is assembled, and waits in a file, until all have said what they measured.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import numpy as np
import zstandard

from ctxlib.accounting.calibrate import applied, ratios
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


class _Parts(NamedTuple):
    """A batch to assemble, and where to put its logs."""

    asked: Asked
    entries: list[Entry]
    use_store: bool  # their extracts are there
    place: Path


class _Waiting(NamedTuple):
    """A batch to make a digest of."""

    place: Path
    chars_per_token: Mapping[str, float]
    with_outputs: bool


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
                found = Found(_found(asked, with_outputs, connection, crew, progress))
                if use_store:
                    remember()
                return found
        except store.ERRORS as error:  # a full disk, a damaged row: the logs are still there
            if not use_store:
                raise
            return Found(_found(asked, with_outputs, None, crew, progress), store.unusable(error))


def _found(
    asked: Asked, with_outputs: bool, connection: sqlite3.Connection | None, crew: Crew, progress: Progress | None
) -> Digest:
    harvest = gathered(asked, connection, crew, progress)
    entries = harvest.entries
    heads = families([np.frombuffer(entry.keys, "u8") for entry in entries])
    parts = batches(heads, [entry.info.path for entry in entries], [entry.size for entry in entries])
    held = {_name(asked, with_outputs, part): part for part in ([entries[i] for i in part] for part in parts)}
    kept = _kept(connection, held, asked.span)
    with TemporaryDirectory(prefix="ctxlib-") as folder:

        def assemble(names: Sequence[str]) -> list[dict[str, bytes]]:
            work = [_Parts(asked, held[name], connection is not None, Path(folder) / name) for name in names]
            return crew.map(_assembled, work, [weight[name] for name in names])

        weight = {name: sum(entry.size for entry in part) for name, part in held.items()}
        missing = [name for name in held if name not in kept]
        told = _chars_per_token([*(one.ratios for one in kept.values()), *assemble(missing)])
        stale = [name for name, one in kept.items() if one.fits != {model: told[model] for model in one.fits}]
        assemble(stale)
        missing += stale
        work = [_Waiting(Path(folder) / name, told, with_outputs) for name in missing]
        made = dict(zip(missing, crew.map(_digested, work, [weight[name] for name in missing]), strict=True))
    known = kept | {name: _DECODER.decode(data) for name, data in made.items()}
    if connection:
        store.keep_digests(connection, [_row(name, known[name], data) for name, data in made.items()])
    return merged([*(known[name] for name in held), Digest(unreadable=len(harvest.unreadable))])


def _chars_per_token(found: Sequence[Mapping[str, bytes]]) -> dict[str, float]:
    """Canonical model -> what all these logs together say."""
    models = {model for ratios in found for model in ratios}
    together = {model: b"".join(ratios.get(model, b"") for ratios in found) for model in models}
    return {model: applied(model, np.frombuffer(data, "f8")) for model, data in together.items()}


def _kept(
    connection: sqlite3.Connection | None, held: Mapping[str, list[Entry]], window: Span
) -> dict[str, Digest]:
    if connection is None:
        return {}
    found = store.digests(connection, held, window)
    return {name: _DECODER.decode(zstandard.decompress(data)) for name, data in found.items()}


def _row(name: str, made: Digest, data: bytes) -> tuple[str, int, int, int, int, bytes]:
    ends = (made.before_since, made.from_since, made.before_until, made.from_until)
    return name, *ends, zstandard.compress(data, 1)


def _name(asked: Asked, with_outputs: bool, part: Sequence[Entry]) -> str:
    """The key of a batch's digest: all that it depends on but the window."""
    files = [(entry.info, entry.size, entry.mtime_ns) for entry in part]
    prices = sorted((model, sorted(price.items())) for model, price in asked.prices.items())
    return hash_of((program_id(), asked.project, prices, with_outputs, files))


def _assembled(work: list[_Parts]) -> list[dict[str, bytes]]:
    """What each batch says of the characters a token; its logs are put in their place (work for a worker)."""
    out = []
    for asked, entries, use_store, place in work:
        with store.opened(use_store) as connection:
            logs = assembled(asked, unpacked(loaded(entries, connection)))
        place.write_bytes(pickle.dumps(logs, pickle.HIGHEST_PROTOCOL))
        out.append({model: found.astype("<f8").tobytes() for model, found in ratios(logs).items()})
    return out


def _digested(work: list[_Waiting]) -> list[bytes]:
    """The digest of each batch, as msgpack (work for a worker)."""
    out = []
    for place, told, with_outputs in work:
        logs: Logs = replace(pickle.loads(place.read_bytes()), chars_per_token=told)
        place.unlink()
        out.append(msgspec.msgpack.encode(digest(logs, with_outputs=with_outputs)))
    return out
