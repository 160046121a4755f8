"""What follows a compaction: how fast the context grows back, what it cost, and what had to be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.logs import Logs
from ctxlib.rules.cache import costs
from ctxlib.rules.compactions import about, compactions
from ctxlib.rules.rereads import rereads
from ctxlib.tables import NULL, MarkKind, Table, frame

if TYPE_CHECKING:
    import pandas as pd

BACK = 0.8  # of ctx_before: from there the next compaction is near

REGROWTH = np.dtype(
    [
        ("row", "i4"),  # of `compactions`
        ("first", "i4"),  # row of calls: the first measured call after it
        ("calls", "i4"),  # measured calls from there to the next compaction or the end of the thread
        ("back", "i4"),  # how many of them it took to reach BACK of ctx_before; NULL = it never did
        ("reread", "i8"),  # tokens read again there because the content had been compacted away (X-reread)
    ]
)


def regrowth(logs: Logs) -> tuple[Table, Table]:
    """(compactions, REGROWTH): one row each a compaction with a measured call on both sides (X-compact), in log order.

    A turn is a measured call of its thread; turn 1 after a compaction is the first call that carries the summary.
    """
    table, calls = compactions(logs), logs.calls
    table = table[(table["ctx_before"] != NULL) & (table["ctx_after"] != NULL)]
    out = np.zeros(len(table), REGROWTH)
    again = rereads(logs)
    again = again[again["after_compaction"]]
    full = logs.marks["kind"] != MarkKind.MICRO
    for i, row in enumerate(table):
        bounds = logs.marks["line"][full & (logs.mark_thread == row["thread"])]
        end = min((int(pos) for pos in bounds if pos > row["pos"]), default=2**62)
        own = np.flatnonzero((calls["thread"] == row["thread"]) & (calls["pos"] > row["pos"]) & (calls["pos"] < end))
        own = own[calls["ctx"][own] != NULL]
        reached = np.flatnonzero(calls["ctx"][own] >= BACK * row["ctx_before"])
        read = (again["thread"] == row["thread"]) & (again["pos"] > row["pos"]) & (again["pos"] < end)
        back = int(reached[0]) + 1 if len(reached) else NULL
        out[i] = (i, own[0], len(own), back, int(again["tokens"][read].sum()))
    return table, out


def regrowth_df(logs: Logs) -> pd.DataFrame:
    """session, thread ("main" or the agent), project, ts, kind, trigger, turn (of the first call after it, from 1),
    ctx_before, ctx_after (tokens), calls (until the next compaction or the end), back (turns until the context was at
    80 % of ctx_before again; <NA> = never), reread (tokens read again since), written (tokens of the first call after
    it that went to the cache anew), usd (of that writing, list price)."""
    table, after = regrowth(logs)
    first = logs.calls[after["first"]]
    columns = {
        **about(logs, table),
        "turn": first["seq"] + 1,
        "ctx_before": table["ctx_before"],
        "ctx_after": table["ctx_after"],
        "calls": after["calls"],
        "back": after["back"],
        "reread": after["reread"],
        "written": first["cache_write"],
        "usd": costs(logs, first)["cache_write"],
    }
    return frame(columns, nullable=("back",), times=("ts",))


def regrowth_curves_df(logs: Logs) -> pd.DataFrame:
    """The context after each compaction, long form: compaction (row of `regrowth_df`), turn (from 1), ctx (tokens),
    share (of ctx_before; 1 = as large as before)."""
    table, after = regrowth(logs)
    calls = logs.calls
    rows, numbers, turns = [], [], []
    for i, item in enumerate(after):
        own = np.arange(item["first"], len(calls))
        own = own[(calls["thread"][own] == table["thread"][i]) & (calls["ctx"][own] != NULL)][: item["calls"]]
        rows.append(own)
        numbers.append(np.full(len(own), i))
        turns.append(np.arange(1, len(own) + 1))
    row = np.concatenate([*rows, np.zeros(0, "i8")]).astype("i8")
    number = np.concatenate([*numbers, np.zeros(0, "i8")]).astype("i8")
    ctx = calls["ctx"][row]
    return frame(
        {
            "compaction": number,
            "turn": np.concatenate([*turns, np.zeros(0, "i8")]).astype("i8"),
            "ctx": ctx,
            "share": ctx / np.where(len(table), table["ctx_before"][number], 1) if len(row) else ctx.astype("f8"),
        }
    )
