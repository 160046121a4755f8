"""The contract's arithmetic: shown integers that sum exactly, nothing negative (accounting.md, Arithmetic)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ctxlib.tables import Table


class Settled(NamedTuple):
    """Parts of n snapshots, settled against their totals."""

    shown: Table  # (n, parts + 1) int64, the last column is `other`; each row sums to its total
    factor: Table  # (n,) float64: 1.0, or what the parts shrank by because they exceeded the measured total
    total: Table  # (n,) int64: the provider's where measured, else the classified sum


def settle(parts: Table, measured: Table) -> Settled:
    """`parts`: (n, k) estimates in tokens (>= 0); `measured`: (n,) provider totals, negative = not measured.

    other = max(0, measured - classified). Where the parts exceed the total they shrink by one factor and other is 0.
    Not measured: the total is the classified sum and other is 0. Integers by largest remainder.
    """
    parts = np.maximum(np.asarray(parts, "f8"), 0.0)
    measured = np.asarray(measured, "i8")
    classified = parts.sum(axis=1)
    known = measured >= 0
    total = np.where(known, measured, np.rint(classified).astype("i8"))
    over = classified > total
    factor = np.ones(len(total))
    np.divide(total, classified, out=factor, where=over & known)
    other = np.where(known & ~over, total - classified, 0.0)
    shown = largest_remainder(np.column_stack([parts * factor[:, None], other]), total)
    return Settled(shown, factor, total)


def largest_remainder(values: Table, totals: Table) -> Table:
    """Integers near `values` (n, k) whose rows sum to `totals`: floors, then one more to the largest remainders, ties to
    the earlier column. Values are scaled to their total first: {a:1, b:1, c:1} to 2 gives 1, 1, 0."""
    values = np.maximum(np.asarray(values, "f8"), 0.0)
    totals = np.asarray(totals, "i8")
    sums = values.sum(axis=1)
    scaled = np.zeros_like(values)
    np.divide(values * totals[:, None], sums[:, None], out=scaled, where=sums[:, None] > 0)
    floors = np.floor(scaled + 1e-9).astype("i8")
    missing = totals - floors.sum(axis=1)
    order = np.argsort(-(scaled - floors), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(values.shape[1]), order.shape), axis=1)
    shown = floors + (rank < missing[:, None])
    lost = (sums <= 0) & (totals > 0)  # nothing to share the total by: all of it is the last column, other
    shown[lost] = 0
    shown[lost, -1] = totals[lost]
    return shown
