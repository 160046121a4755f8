"""Rebuilds (ours): a call that wrote again a prefix which the call before had in the cache, why, and what it cost."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ctxlib.logs import Logs
from ctxlib.rules.cache import costs
from ctxlib.tables import NULL, MarkKind, Table, frame

if TYPE_CHECKING:
    import pandas as pd

LEAST = 5_000  # tokens written again: below, it is the tail that every call writes
SHARE = 0.5  # of what was cached before
_MINUTE = 60_000  # milliseconds

REBUILD = np.dtype(
    [
        ("call", "i4"),  # row of logs.calls
        ("tokens", "i8"),  # written again
        ("gap", "i8"),  # milliseconds since the call before
        ("usd", "f8"),  # what writing cost more than reading them would have
        ("cause", "U32"),
        ("logged", "?"),  # the log itself names the cause
    ]
)


@lru_cache(maxsize=2)
def rebuilds(logs: Logs) -> Table:
    """One row (REBUILD) a call of the window, made here, that lost at least LEAST tokens and SHARE of the prefix that the
    call before it in its thread had cached, and wrote them again.

    Causes, first that holds: `compaction` (a boundary between: the prefix is new by intent), `model` (changed), the log's
    own cache_miss_reason, `expired 1h` and `expired 5m` (the gap is longer than the cache lived, by what was written
    last), `rewind` (the context fell), else `unknown`.
    """
    calls = logs.calls
    same = np.zeros(len(calls), bool)
    if len(calls) < 2:
        return np.zeros(0, REBUILD)
    same[1:] = calls["thread"][1:] == calls["thread"][:-1]
    before = np.roll(calls, 1)
    cached = before["cache_read"] + before["cache_write"]
    lost = np.minimum(cached - calls["cache_read"], calls["cache_write"])
    measured = (calls["ctx"] != NULL) & (before["ctx"] != NULL)
    hit = same & measured & calls["inside"] & calls["origin"] & (lost >= LEAST) & (lost >= SHARE * cached)
    rows = np.flatnonzero(hit)
    out = np.zeros(len(rows), REBUILD)
    out["call"], out["tokens"] = rows, lost[rows]
    out["gap"] = calls["ts"][rows] - before["ts"][rows]
    told = logs.names.codes.get("unavailable", -1)
    out["logged"] = (calls["miss"][rows] != 0) & (calls["miss"][rows] != told)
    out["cause"] = _causes(logs, calls[rows], before[rows], out["gap"])
    out["usd"] = _extra(logs, calls[rows], out["tokens"])
    return out


def _causes(logs: Logs, calls: Table, before: Table, gap: Table) -> Table:
    full = logs.marks["kind"] != MarkKind.MICRO
    span = int(max(logs.calls["pos"].max(initial=0), logs.marks["line"].max(initial=0))) + 2
    marks = np.sort(logs.mark_thread[full].astype("i8") * span + logs.marks["line"][full])
    thread = calls["thread"].astype("i8") * span
    compacted = np.searchsorted(marks, thread + calls["pos"]) > np.searchsorted(marks, thread + before["pos"])
    logged = np.array(logs.names.strings, "U32")[calls["miss"]]
    long = before["cache_write_1h"] > before["cache_write_5m"]
    return np.select(
        [
            compacted,
            calls["model"] != before["model"],
            (calls["miss"] != 0) & (logged != "unavailable"),
            gap > 60 * _MINUTE,
            (gap > 5 * _MINUTE) & ~long,
            calls["ctx"] < before["ctx"],
        ],
        ["compaction", "model", logged, "expired 1h", "expired 5m", "rewind"],
        "unknown",
    )


def _extra(logs: Logs, calls: Table, tokens: Table) -> Table:
    """USD of writing the tokens, at the call's own mix of 5m and 1h, less that of reading them."""
    written = costs(logs, calls)["cache_write"] * tokens / np.maximum(1, calls["cache_write"])
    read = calls.copy()
    read["cache_read"] = tokens
    extra: Table = written - costs(logs, read)["cache_read"]
    return extra


def rebuilds_df(logs: Logs) -> pd.DataFrame:
    """session, project, model, ts, turn (of its thread, from 1), tokens (written again), gap_min (minutes since the call
    before), usd (what that cost more than reading), cause, logged (the log itself names the cause); in log order."""
    table, names = rebuilds(logs), logs.names
    calls = logs.calls[table["call"]]
    threads = logs.threads[calls["thread"]]
    return frame(
        {
            "session": names.texts(threads["session"]),
            "project": names.texts(threads["project"]),
            "model": names.texts(calls["model"]),
            "ts": calls["ts"],
            "turn": calls["seq"] + 1,
            "tokens": table["tokens"],
            "gap_min": table["gap"] / _MINUTE,
            "usd": table["usd"],
            "cause": table["cause"].tolist(),
            "logged": table["logged"],
        },
        times=("ts",),
    )
