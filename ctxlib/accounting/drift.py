"""How far `other` drifts over an epoch, by three ways of sizing what was appended: the constant, the fit, the rises.

What opens an epoch (system prompt, tools) stays as it is, so a way that sizes everything right leaves `other` constant;
what it drifts by is the error of the way (accounting.md, Delta attribution).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.accounting.calibrate import fits
from ctxlib.accounting.estimate import default_chars_per_token, fitted, raw
from ctxlib.accounting.intervals import intervals
from ctxlib.accounting.replay import attribution
from ctxlib.accounting.snapshot import snapshots
from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.models import canonical
from ctxlib.tables import NULL, Table, ThreadKind, frame

if TYPE_CHECKING:
    import pandas as pd

LEAST = 2_000  # tokens of growth: below, a share of it says nothing


def drift_df(logs: Logs) -> pd.DataFrame:
    """One row an epoch that grew by LEAST tokens or more: session, thread, model, epoch (of its thread, from 0), calls,
    growth (tokens, first to last measured call), and the drift of `other` over it in tokens, signed: constant, fit, delta
    (what was injected counts as known), injected."""
    rows, names = intervals(logs).rows, logs.names.strings
    heads = np.flatnonzero(rows["start"] == NULL)
    lasts = np.append(heads[1:], len(rows)) - 1
    grown = logs.calls["ctx"][rows["end"][lasts]] - logs.calls["ctx"][rows["end"][heads]] if len(rows) else heads
    kept = (grown >= LEAST) & (logs.calls["inside"][rows["end"][lasts]] if len(rows) else grown > 0)
    head, last = rows["end"][heads[kept]], rows["end"][lasts[kept]]
    snaps = snapshots(logs)
    by_constant, by_fit = (
        _resident(logs, raw(logs.blocks).astype("f8")),
        _resident(logs, fitted(logs.blocks, _ratios(logs))),
    )
    other, injected = snaps.settled.shown[:, -1], snaps.injected
    grown = grown[kept]
    threads = logs.threads[logs.calls["thread"][head]]
    first_of_thread = np.searchsorted(rows["thread"][heads], logs.calls["thread"][head])
    main = threads["kind"] == ThreadKind.MAIN
    agents = logs.names.texts(threads["agent"])
    return frame(
        {
            "session": logs.names.texts(threads["session"]),
            "thread": ["main" if flag else agent for flag, agent in zip(main, agents, strict=True)],
            "model": [canonical(names[code]) for code in logs.calls["model"][head].tolist()],
            "epoch": np.flatnonzero(kept) - first_of_thread,
            "calls": lasts[kept] - heads[kept] + 1,
            "growth": grown,
            "constant": grown - np.rint(by_constant[last] - by_constant[head]).astype("i8"),
            "fit": grown - np.rint(by_fit[last] - by_fit[head]).astype("i8"),
            "delta": other[last] - other[head] - np.rint(injected[last] - injected[head]).astype("i8"),
            "injected": np.rint(injected[last] - injected[head]).astype("i8"),
        }
    )


def _ratios(logs: Logs) -> Table:
    """Characters a token of each block's model: that of the first measured call that carries it."""
    found, known = intervals(logs), fits(logs)
    ratio = np.full(len(logs.names.strings), default_chars_per_token(""))
    for code in distinct(logs.calls["model"]).tolist():
        fit = known.get(canonical(logs.names.strings[code]))
        if fit:
            ratio[code] = fit.chars_per_token
    if not len(found.rows):
        return np.full(len(logs.blocks), ratio[0])
    return ratio[np.where(found.of_block >= 0, found.rows["model"][found.of_block], 0)]


def _resident(logs: Logs, tokens: Table) -> Table:
    """Sums of `tokens` over the blocks that each call carries."""
    blocks, calls = logs.blocks, logs.calls
    starts = np.append(intervals(logs).call, len(calls))
    first, end = starts[blocks["thread"]], starts[blocks["thread"] + 1]
    begin = np.minimum(first + blocks["born"], end)
    stop = np.minimum(first + attribution(logs).cleared.astype("i8"), end)
    kept = begin < stop
    change = np.zeros(len(calls) + 1)
    np.add.at(change, begin[kept], tokens[kept])
    np.subtract.at(change, stop[kept], tokens[kept])
    out: Table = np.cumsum(change[:-1])
    return out
