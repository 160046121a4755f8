"""The snapshot: how full the context is at a call, and with what. For all calls at once, or for one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ctxlib.accounting import estimate
from ctxlib.accounting.arithmetic import Settled, settle
from ctxlib.accounting.ground_truth import PREFIX, truths
from ctxlib.accounting.intervals import intervals
from ctxlib.accounting.replay import attribution
from ctxlib.logs import Logs
from ctxlib.rules.curves import main_threads
from ctxlib.rules.windows import windows
from ctxlib.tables import NULL, Category, Table, ThreadKind, UsageScope, frame

if TYPE_CHECKING:
    import pandas as pd

PARTS = tuple(category for category in Category if category not in (Category.NONE, Category.OTHER))


class Snapshots(NamedTuple):
    """All calls of all threads, in the order of `logs.calls`; n calls, k = len(PARTS) categories."""

    raw: Table  # (n, k) tokens by the constants, resident blocks
    parts: Table  # (n, k) tokens as attributed, before they are settled against the total
    delta: Table  # (n, k) the part of `parts` that a rise measured
    counted: Table  # (k,)-wide (n, k) bool: the part was told by a /context output
    settled: Settled  # shown (n, k + 1): the last column is other
    injected: Table  # (n,) tokens within other that arrived in this epoch with no block in the log
    measured: Table  # (n,) bool


@lru_cache(maxsize=2)
def snapshots(logs: Logs) -> Snapshots:
    """A snapshot at every call. Parts sum exactly to the provider's total where there is one, else to the estimate."""
    shares, calls = attribution(logs), logs.calls
    measured = np.where(shares.method == 1, shares.tokens, 0.0)
    raw, parts, delta = _resident(logs, estimate.raw(logs.blocks).astype("f8"), shares.tokens, measured)
    parts, counted = _with_truth(logs, parts)
    settled = settle(np.round(parts, 6), calls["ctx"])
    return Snapshots(raw, parts, delta, counted, settled, _injected(logs), calls["ctx"] != NULL)


def settled_at(logs: Logs, rows: Table) -> Settled:
    """`snapshots(logs).settled` of some calls only (rows of `logs.calls`)."""
    (parts,) = _resident(logs, attribution(logs).tokens)
    parts, _ = _with_truth(logs, parts)
    return settle(np.round(parts[rows], 6), logs.calls["ctx"][rows])


def _resident(logs: Logs, *tokens: Table) -> list[Table]:
    """For each column of the blocks' tokens, (calls, k): its sums over the blocks that each call carries, by category."""
    blocks, wide = logs.blocks, len(PARTS)
    column = np.searchsorted([int(c) for c in PARTS], blocks["category"])
    starts = np.append(intervals(logs).call, len(logs.calls))
    first, end = starts[blocks["thread"]], starts[blocks["thread"] + 1]
    begin = np.minimum(first + blocks["born"], end)
    stop = np.minimum(first + attribution(logs).cleared.astype("i8"), end)
    kept = begin < stop
    born, gone = (ends[kept].astype("i8") * wide + column[kept] for ends in (begin, stop))
    out = []
    for each in tokens:
        change = np.bincount(born, each[kept], minlength=(len(logs.calls) + 1) * wide)
        np.subtract.at(change, gone, each[kept])
        out.append(np.maximum(np.cumsum(change.reshape(-1, wide)[:-1], axis=0), 0.0))
    return out


def _with_truth(logs: Logs, parts: Table) -> tuple[Table, Table]:
    """Puts what a /context output says of the prefix in place of our estimate, in the epochs of that thread and model."""
    counted = np.zeros(parts.shape, bool)
    table = truths(logs)
    if not len(table):
        return parts, counted
    parts = parts.copy()
    calls = logs.calls
    columns = [PARTS.index(category) for category in PREFIX]
    for row in table:
        near = row["before"] if row["before"] != NULL else row["after"]
        if near == NULL:
            continue
        same = (calls["thread"] == row["thread"]) & (calls["model"] == calls["model"][near])
        for at, category in zip(columns, PREFIX, strict=True):
            if row["tokens"][category] != NULL:
                parts[same, at] = row["tokens"][category]
                counted[same, at] = True
    return parts, counted


def _injected(logs: Logs) -> Table:
    """Injected tokens that each call carries: their sum since the head of its epoch."""
    rows, amount = intervals(logs).rows, attribution(logs).injected
    out = np.zeros(len(logs.calls))
    if not len(rows):
        return out
    running = np.cumsum(amount)
    head = np.searchsorted(rows["epoch"], rows["epoch"])
    out[rows["end"]] = running - (running[head] - amount[head])
    return out


def epochs(logs: Logs) -> Table:
    """Number of each call's epoch within its thread, from 0; that of the measured call before it where unmeasured."""
    rows = intervals(logs).rows
    out = np.zeros(len(logs.calls), "i4")
    mark = np.zeros(len(logs.calls), "i4")
    mark[rows["end"]] = rows["start"] == NULL
    total = np.cumsum(mark)
    starts = intervals(logs).call
    first = total[np.minimum(starts, max(0, len(total) - 1))] if len(total) else starts
    out[:] = np.maximum(0, total - first[logs.calls["thread"]]) if len(total) else 0
    return out


def snapshots_df(logs: Logs) -> pd.DataFrame:
    """The parts of every call in the window, long form: session_id, thread_id (main or the agent), project, seq (call of
    its thread, from 0), turn (from 1), epoch, ts, model, category, raw (tokens by the constant), shown (integers that sum
    to total), injected (within other), method, total, basis, window (tokens)."""
    snaps, calls, names = snapshots(logs), logs.calls, logs.names
    main = logs.threads["kind"] == ThreadKind.MAIN
    shown = ~main
    shown[main_threads(logs)[1]] = True  # one thread a session, and none of a fork without a call of its own
    keep = np.flatnonzero(calls["inside"] & (calls["scope"] != UsageScope.STAGE) & shown[calls["thread"]])
    wide = len(PARTS) + 1
    call = np.repeat(keep, wide)
    which = np.tile(np.arange(wide), len(keep))
    threads = logs.threads[calls["thread"][call]]
    size = {name: found[0] if found else NULL for name, found in windows(logs).items()}
    window = np.full(len(names.strings), NULL)
    for name, value in size.items():
        window[names.codes[name]] = value
    labels = np.array([*(c.name.lower() for c in PARTS), "other"], object)
    strings = np.array(names.strings, object)
    other = snaps.settled.shown[call, wide - 1]
    raw = np.column_stack([snaps.raw, np.zeros(len(calls))])
    out = frame(
        {
            "session_id": strings[threads["session"]],
            "thread_id": np.where(threads["kind"] == ThreadKind.MAIN, "main", strings[threads["agent"]]),
            "project": strings[threads["project"]],
            "seq": calls["seq"][call],
            "turn": calls["seq"][call] + 1,
            "epoch": epochs(logs)[call],
            "ts": calls["ts"][call],
            "model": strings[calls["model"][call]],
            "category": labels[which],
            "raw": np.rint(raw[call, which]).astype("i8"),
            "shown": snaps.settled.shown[call, which],
            "injected": np.where(which == wide - 1, np.minimum(np.rint(snaps.injected[call]).astype("i8"), other), 0),
            "method": methods(snaps)[call, which],
            "total": snaps.settled.total[call],
            "basis": np.where(snaps.measured[call], "measured", "estimated"),
            "window": window[calls["model"][call]],
        },
        nullable=("window",),
        times=("ts",),
    )
    return out


def methods(snaps: Snapshots, rows: slice = slice(None)) -> Table:
    """(n, k + 1), of the chosen rows: where each part's tokens come from: counted, delta (mostly measured by rises),
    estimate, or residual."""
    parts = snaps.parts[rows]
    share = np.divide(snaps.delta[rows], parts, out=np.zeros_like(parts), where=parts > 0)
    out = np.where(snaps.counted[rows], "counted", np.where(share >= 0.5, "delta", "estimate")).astype(object)
    return np.column_stack([out, np.full(len(out), "residual", object)])
