"""Which logs belong together: those that share an id, directly or through others.

A call, a block or a session that stands in two files is decided on with both in sight (identity.py); logs of different
families never touch each other's numbers. So a history can be taken family by family: in parts that fit in memory, by several
processes, and anew only where something changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs.threads import place
from ctxlib.sources import Extract
from ctxlib.tables import Table, ident, plain

BATCH = 64 << 20  # bytes of logs: what is taken at once, about
_HOMELESS = np.uint64(1)  # the key of agents' files that name no session: they share one


def keys(extract: Extract, path: str, root: str) -> Table:
    """The ids by which a file may be tied to others, sorted (u8): of lines, requests, messages, tools and sessions."""
    tables = extract.tables
    where = place(path, root)
    named = {extract.pool[code] for code in set(tables["lines"]["session"].tolist())} - {""}
    homeless = bool(where.agent) and not named and not where.session
    known = np.array([ident(plain(name)) for name in named | {where.stem, where.session}], "u8")
    found = (
        tables["lines"]["uuid"],
        tables["usage"]["request"],
        tables["usage"]["message"],
        tables["blocks"]["use"],
        known,
        np.array([_HOMELESS] if homeless else [], "u8"),
    )
    every = distinct(np.concatenate(found))
    return every[every != 0]


def families(held: Sequence[Table]) -> list[int]:
    """For each file, the first file of its family; `held`: `keys` of each file."""
    first = list(range(len(held)))
    if not first:
        return first
    # The last bits of a key give way to its file's number, so that numbers alone are sorted: a third of the time. Ids that
    # differ in those bits only (ten million ids in 850 files: one pair in 300 runs) make a family larger, which does no harm.
    bits = np.uint64(len(held).bit_length())
    owner = np.repeat(np.arange(len(held), dtype="u8"), [len(one) for one in held])
    ranked = np.sort(np.concatenate(held) >> bits << bits | owner)
    key, owner = ranked >> bits, ranked & ((np.uint64(1) << bits) - np.uint64(1))
    shared = key[1:] == key[:-1]
    ties = set(zip(owner[:-1][shared].tolist(), owner[1:][shared].tolist(), strict=True))

    def top(file: int) -> int:
        while first[file] != file:
            first[file] = first[first[file]]
            file = first[file]
        return file

    for one, other in sorted(ties):
        a, b = sorted((top(one), top(other)))
        first[b] = a
    return [top(file) for file in range(len(held))]


def batches(first: Sequence[int], paths: Sequence[str], sizes: Sequence[int]) -> list[list[int]]:
    """Files in batches of whole families, about BATCH bytes each. A family stays in its batch while the history grows, until
    it has doubled: what is kept of the other batches then holds."""
    count = 1 << (sum(sizes) // BATCH).bit_length()
    out: list[list[int]] = [[] for _ in range(count)]
    for file, head in enumerate(first):
        out[ident(plain(paths[head])) % count].append(file)
    return [batch for batch in out if batch]
