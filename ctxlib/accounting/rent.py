"""Context rent: a block costs its tokens again at every later call that carries it (accounting.md, Context rent).

It ranks what is worth removing; size alone does not: 500 tokens read at the start of a session of 200 calls cost more
than 20,000 at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.accounting.intervals import intervals
from ctxlib.accounting.replay import Method, attribution
from ctxlib.logs import Logs
from ctxlib.rules.cache import costs
from ctxlib.tables import BlockKind, Category, Table, frame

if TYPE_CHECKING:
    import pandas as pd

RENT = np.dtype([("tokens", "f8"), ("calls", "i4"), ("rent", "f8"), ("usd", "f8")])


def rent(logs: Logs) -> Table:
    """For each block (row of logs.blocks): its tokens, the calls of the window that carry it, tokens x calls, and what
    those calls paid for it at their cache-read price (USD; what was written or not cached cost more)."""
    blocks, calls, shares = logs.blocks, logs.calls, attribution(logs)
    starts = np.append(intervals(logs).call, len(calls))
    first, end = starts[blocks["thread"]], starts[blocks["thread"] + 1]
    begin = np.minimum(first + blocks["born"], end)
    stop = np.maximum(begin, np.minimum(first + shares.cleared.astype("i8"), end))
    counted = calls["inside"] & calls["origin"]
    carried = np.concatenate([[0], np.cumsum(counted)])
    paid = np.concatenate([[0.0], np.cumsum(np.where(counted, _read_price(logs), 0.0))])
    out = np.zeros(len(blocks), RENT)
    out["tokens"] = shares.tokens
    out["calls"] = carried[stop] - carried[begin]
    out["rent"] = out["tokens"] * out["calls"]
    out["usd"] = out["tokens"] * (paid[stop] - paid[begin])
    return out


def _read_price(logs: Logs) -> Table:
    """USD a token read from the cache, of each call; 0 for a model without a price (rent in tokens remains)."""
    probe = logs.calls.copy()
    probe["cache_read"] = 1
    return costs(logs, probe)["cache_read"]


def rent_df(logs: Logs) -> pd.DataFrame:
    """Rent by what it is paid for, largest first: session, project, category, kind, tool, path, blocks, tokens, calls (most
    calls of one of its blocks), rent (tokens x calls), usd, measured (share of its tokens that rises measured, 0-1)."""
    table, blocks, names = rent(logs), logs.blocks, logs.names
    keep = np.flatnonzero(table["calls"] > 0)
    threads = logs.threads[blocks["thread"][keep]]
    delta = attribution(logs).method[keep] == Method.DELTA
    df = frame(
        {
            "session": names.texts(threads["session"]),
            "project": names.texts(threads["project"]),
            "category": [Category(value).name.lower() for value in blocks["category"][keep].tolist()],
            "kind": [BlockKind(value).name.lower() for value in blocks["kind"][keep].tolist()],
            "tool": names.texts(blocks["tool"][keep]),
            "path": names.texts(blocks["path"][keep]),
            "tokens": table["tokens"][keep],
            "calls": table["calls"][keep],
            "rent": table["rent"][keep],
            "usd": table["usd"][keep],
            "measured": table["tokens"][keep] * delta,
        }
    )
    by = ["session", "project", "category", "kind", "tool", "path"]
    grouped = df.groupby(by, sort=False, as_index=False).agg(
        blocks=("tokens", "size"),
        tokens=("tokens", "sum"),
        calls=("calls", "max"),
        rent=("rent", "sum"),
        usd=("usd", "sum"),
        measured=("measured", "sum"),
    )
    grouped["measured"] = (grouped["measured"] / grouped["tokens"]).where(grouped["tokens"] > 0, 0.0)
    grouped = grouped.sort_values(
        ["rent", "session", "kind", "tool", "path"], ascending=[False, True, True, True, True]
    )
    for name in ("tokens", "rent"):
        grouped[name] = grouped[name].round().astype("int64")
    return grouped.reset_index(drop=True)
