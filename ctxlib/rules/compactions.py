"""X-compact: each compaction once, what it said of itself, and what the calls around it measured."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ctxlib.logs import Logs
from ctxlib.tables import COMPACTION, NULL, MarkKind, Table, ThreadKind, frame

if TYPE_CHECKING:
    import pandas as pd


@lru_cache(maxsize=2)
def compactions(logs: Logs) -> Table:
    """One row (COMPACTION) a compaction made in the window, in log order; microcompactions apart (`microcompactions`).

    before, after: preTokens and postTokens, each side falling back alone to the ctx of the measured call of the same
    thread just before or after; NULL where another boundary stands between. ctx_before, ctx_after: always those calls,
    for postTokens leaves out system prompt and tools (12,994 against a next call of 58,460).
    """
    return _measured(logs, logs.marks["kind"] != MarkKind.MICRO)


def microcompactions(logs: Logs) -> Table:
    """The same of microcompactions; their `before` is a figure of messages only, not of the context."""
    return _measured(logs, logs.marks["kind"] == MarkKind.MICRO)


def _measured(logs: Logs, chosen: Table) -> Table:
    marks, thread = logs.marks[chosen], logs.mark_thread[chosen]
    out = np.zeros(len(marks), COMPACTION)
    out["thread"], out["pos"], out["kind"], out["trigger"] = thread, marks["line"], marks["kind"], marks["trigger"]
    out["ts"] = logs.lines["ts"][marks["line"]]
    out["origin"] = logs.mark_origin[chosen]
    out["inside"] = (out["ts"] >= logs.span.since) & (out["ts"] < logs.span.until)
    full = logs.marks["kind"] != MarkKind.MICRO
    measured = np.flatnonzero(logs.calls["ctx"] != NULL)
    span = int(max(logs.calls["pos"].max(initial=0), logs.marks["line"].max(initial=0))) + 2

    def places(thread: Table, pos: Table) -> Table:
        return thread.astype("i8") * span + pos

    here = places(thread, marks["line"])
    calls = places(logs.calls["thread"], logs.calls["pos"])
    out["next_call"] = np.searchsorted(calls, here) - np.searchsorted(calls, thread.astype("i8") * span)
    bounds = np.sort(places(logs.mark_thread[full], logs.marks["line"][full]))
    earlier = np.append(-1, bounds)[np.searchsorted(bounds, here)]  # the boundary before, over all threads
    later = np.append(bounds, np.iinfo("i8").max)[np.searchsorted(bounds, here, side="right")]
    at, place = np.searchsorted(calls[measured], here), calls[measured]
    ctx = logs.calls["ctx"][measured]
    first = thread.astype("i8") * span
    before, after = np.append(place, -1)[at - 1], np.append(place, -1)[at]
    known = (at > 0) & (before > earlier) & (before >= first)
    out["ctx_before"] = np.where(known, np.append(ctx, NULL)[at - 1], NULL)
    known = (after >= here) & (after < later) & (after < first + span)
    out["ctx_after"] = np.where(known, np.append(ctx, NULL)[at], NULL)
    out["before_meta"], out["after_meta"] = marks["pre"] != NULL, marks["post"] != NULL
    out["before"] = np.where(out["before_meta"], marks["pre"], out["ctx_before"])
    out["after"] = np.where(out["after_meta"], marks["post"], out["ctx_after"])
    made: Table = out[out["origin"] & out["inside"]]
    return made


def compactions_df(logs: Logs) -> pd.DataFrame:
    """session, thread ("main" or the agent), project, ts, kind, trigger, before, before_source, after, after_source,
    ctx_before, ctx_after (tokens, <NA> = never measured)."""
    columns = told(logs, np.concatenate([compactions(logs), microcompactions(logs)]))
    return frame(columns, nullable=("before", "after", "ctx_before", "ctx_after"), times=("ts",))


def about(logs: Logs, table: Table) -> dict[str, Any]:
    """The columns that say which compaction each row of COMPACTION is: session, thread, project, ts, kind, trigger."""
    threads, names = logs.threads[table["thread"]], logs.names
    main = threads["kind"] == ThreadKind.MAIN
    return {
        "session": names.texts(threads["session"]),
        "thread": ["main" if flag else name for flag, name in zip(main, names.texts(threads["agent"]), strict=True)],
        "project": names.texts(threads["project"]),
        "ts": table["ts"],
        "kind": [MarkKind(kind).name.lower() for kind in table["kind"].tolist()],
        "trigger": [name or None for name in names.texts(table["trigger"])],
    }


def told(logs: Logs, table: Table) -> dict[str, Any]:
    """`about`, and what was measured: before, before_source, after, after_source, ctx_before, ctx_after."""
    return {
        **about(logs, table),
        "before": table["before"],
        "before_source": _sources(table, "before"),
        "after": table["after"],
        "after_source": _sources(table, "after"),
        "ctx_before": table["ctx_before"],
        "ctx_after": table["ctx_after"],
    }


def _sources(table: Table, side: str) -> list[str | None]:
    """Where each number of a side comes from: `metadata`, `call`, or None where there is no number."""
    return [
        None if value == NULL else "metadata" if meta else "call"
        for value, meta in zip(table[side].tolist(), table[f"{side}_meta"].tolist(), strict=True)
    ]
