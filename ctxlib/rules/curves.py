"""X-ctx and X-peak: the context of each call of a session's main thread, its peak, and medians over sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from ctxlib.arrays import among, distinct, ordinal
from ctxlib.logs import Logs
from ctxlib.rules.windows import windows
from ctxlib.tables import NO_TIME, NULL, Table, ThreadKind, UsageScope, frame

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = (150_000, 250_000)  # tokens
CURVE_TURNS = (1, 10, 25, 50, 100, 200)
CURVE_POINTS = 20
OWN = (ThreadKind.MAIN, ThreadKind.STAGE)  # threads with a context of their own; a stage is a session

CURVE = np.dtype([("session", "i4"), ("thread", "i4"), ("turn", "i4"), ("call", "i4"), ("ctx", "i8")])
SESSION = np.dtype(
    [
        ("session", "i4"),
        ("thread", "i4"),
        ("project", "i4"),
        ("model", "i4"),  # of the last main call
        ("calls", "i4"),  # main calls in the window, each once
        ("measured", "i4"),
        ("agents", "i4"),  # sub-agent threads with a call of their own
        ("agent_calls", "i4"),
        ("started", "i8"),
        ("ended", "i8"),
        ("peak_ctx", "i8"),
        ("peak_turn", "i4"),  # from 1
        ("last_ctx", "i8"),
    ]
)


@lru_cache(maxsize=2)
def main_threads(logs: Logs) -> tuple[Table, Table]:
    """(session, thread): each session with a main call made in the window, and the thread that holds its curve.

    Where several files hold one session (a copy in another folder), the thread with the most calls is its curve.
    """
    calls, threads = logs.calls, logs.threads
    main = calls["inside"] & np.isin(threads["kind"][calls["thread"]], OWN)
    of_session = threads["session"][calls["thread"]]
    sessions = distinct(of_session[main & calls["origin"]])
    chosen = distinct(calls["thread"][main & among(of_session, sessions)])
    counts = np.bincount(calls["thread"][main & (calls["scope"] == UsageScope.CALL)], minlength=len(threads))[chosen]
    order = np.lexsort((chosen, -counts, threads["session"][chosen]))
    session = threads["session"][chosen[order]]
    first = np.concatenate([[True], session[1:] != session[:-1]]) if len(session) else np.zeros(0, bool)
    return session[first], chosen[order][first]


@lru_cache(maxsize=2)
def curves(logs: Logs) -> Table:
    """One row (CURVE) a measured main call in the window, in log order, never thinned; `turn` counts from 1 (X-ctx)."""
    session, thread = main_threads(logs)
    calls = logs.calls
    of_thread = np.full(len(logs.threads), -1, "i4")
    of_thread[thread] = session
    rows = np.flatnonzero(calls["inside"] & (calls["ctx"] != NULL) & (of_thread[calls["thread"]] >= 0))
    out = np.zeros(len(rows), CURVE)
    out["thread"], out["call"], out["ctx"] = calls["thread"][rows], rows, calls["ctx"][rows]
    out["session"] = of_thread[out["thread"]]
    out["turn"] = ordinal(out["thread"]) + 1
    return out


@lru_cache(maxsize=2)
def sessions(logs: Logs) -> Table:
    """One row (SESSION) a session with a main call in the window, by its start. Peaks are of the full curve (X-peak)."""
    session, thread = main_threads(logs)
    calls, threads = logs.calls, logs.threads
    out = np.zeros(len(session), SESSION)
    out["session"], out["thread"], out["project"] = session, thread, threads["project"][thread]
    own = logs.own_calls
    kind, of_session = threads["kind"][own["thread"]], threads["session"][own["thread"]]
    at = _rank(session, of_session)
    main = np.isin(kind, OWN) & (at >= 0)
    out["calls"] = np.bincount(at[main], minlength=len(out))
    out["agent_calls"] = np.bincount(at[(at >= 0) & ~main], minlength=len(out))
    agents = distinct(own["thread"][~np.isin(kind, (*OWN, ThreadKind.COMPACTION)) & (at >= 0)])
    out["agents"] = np.bincount(_rank(session, threads["session"][agents]), minlength=len(out)) if len(agents) else 0

    curve = curves(logs)
    rank = _rank(session, curve["session"])
    out["measured"] = np.bincount(rank, minlength=len(out)) if len(rank) else 0
    out["peak_ctx"] = out["last_ctx"] = NULL
    order = np.lexsort((curve["turn"], rank))
    rank, ctx, turn = rank[order], curve["ctx"][order], curve["turn"][order]
    ends = np.flatnonzero(np.append(rank[1:] != rank[:-1], True)) if len(rank) else rank
    out["last_ctx"][rank[ends]] = ctx[ends]
    highest = np.lexsort((-turn, ctx, rank))  # the last of each rank: highest, and its first turn
    out["peak_ctx"][rank[highest]] = ctx[highest]
    out["peak_turn"][rank[highest]] = turn[highest]
    every = np.flatnonzero(calls["inside"])
    last_call = every[np.searchsorted(calls["thread"][every], thread, side="right") - 1] if len(every) else every
    out["model"] = calls["model"][last_call]
    first, last = _ends(calls[calls["inside"]], thread)
    out["started"], out["ended"] = first, last
    return out[np.lexsort((out["session"], out["started"]))]


def _rank(sorted_sessions: Table, of: Table) -> Table:
    at = np.minimum(np.searchsorted(sorted_sessions, of), max(0, len(sorted_sessions) - 1))
    return np.where(sorted_sessions[at] == of, at, -1) if len(sorted_sessions) else np.full(len(of), -1)


def _ends(calls: Table, thread: Table) -> tuple[Table, Table]:
    """First and last time of the calls of each thread."""
    first = np.full(len(thread), np.iinfo("i8").max)
    last = np.full(len(thread), NO_TIME)
    order = np.argsort(thread)
    at = _rank(thread[order], calls["thread"])
    known = at >= 0
    np.minimum.at(first, order[at[known]], calls["ts"][known])
    np.maximum.at(last, order[at[known]], calls["ts"][known])
    return first, last


def over(peaks: Iterable[int], threshold: int) -> int:
    """Sessions whose peak reaches the threshold (X-peak)."""
    return sum(peak >= threshold for peak in peaks)


def peak_p50(peaks: Iterable[int]) -> int | None:
    """Median peak over sessions with a measured call, in tokens (mean of the middle two, truncated)."""
    known = [peak for peak in peaks if peak != NULL]
    return int(median(known)) if known else None


def curve_median(found: Sequence[Sequence[int]]) -> dict[int, tuple[int | None, int]]:
    """Turn -> (median ctx in tokens, sessions that reached it); None where none did. `found`: the curve of each session."""
    out: dict[int, tuple[int | None, int]] = {}
    for turn in CURVE_TURNS:
        ctx = [curve[turn - 1] for curve in found if len(curve) >= turn]
        out[turn] = (int(median(ctx)) if ctx else None, len(ctx))
    return out


def thinned(points: list[int], count: int = CURVE_POINTS) -> list[int]:
    """`count` evenly spaced points, first and last kept."""
    if len(points) <= count or count < 2:
        return points
    return [points[round(i * (len(points) - 1) / (count - 1))] for i in range(count)]


def curves_df(logs: Logs) -> pd.DataFrame:
    """session, project, model, turn (from 1), ts, ctx (tokens), window (tokens), pct (of the window, 0-100)."""
    curve, calls, names = curves(logs), logs.calls, logs.names
    call = calls[curve["call"]]
    size = {name: found[0] if found else NULL for name, found in windows(logs).items()}
    model = names.texts(call["model"])
    df = frame(
        {
            "session": names.texts(curve["session"]),
            "project": names.texts(logs.threads["project"][curve["thread"]]),
            "model": model,
            "turn": curve["turn"],
            "ts": call["ts"],
            "ctx": curve["ctx"],
            "window": [size.get(name, NULL) for name in model],
        },
        nullable=("window",),
        times=("ts",),
    )
    df["pct"] = (100 * df["ctx"] / df["window"]).astype("Float64")
    return df


def sessions_df(logs: Logs) -> pd.DataFrame:
    """session, project, model, calls, agents, agent_calls, started, ended, peak_ctx, peak_turn, last_ctx, window, peak_pct."""
    table, names = sessions(logs), logs.names
    size = windows(logs)
    model = names.texts(table["model"])
    found = [size.get(name) for name in model]
    columns = {
        "session": names.texts(table["session"]),
        "project": names.texts(table["project"]),
        "model": model,
        **{name: table[name] for name in (SESSION.names or ())[4:]},
        "window": [item[0] if item else NULL for item in found],
        "window_source": [item[1] if item else None for item in found],
    }
    df = frame(columns, nullable=("peak_ctx", "last_ctx", "window"), times=("started", "ended"))
    df["peak_pct"] = (100 * df["peak_ctx"] / df["window"]).astype("Float64").round(1)
    return df


def calls_df(logs: Logs) -> pd.DataFrame:
    """Every call once (X-cache's pool): call_id, session, agent, thread_kind, project, seq, ts, model, tokens by kind,
    ctx (tokens, <NA> = unmeasured), scope (call; turn and stage are sums over several calls), miss (why a cache prefix
    was not found, where the log says so), missed (tokens)."""
    calls = logs.calls[logs.calls["inside"] & logs.calls["origin"]]
    threads, names = logs.threads[calls["thread"]], logs.names
    columns = {
        "call_id": [logs.call_ids[row] for row in calls["id"].tolist()],
        "session": names.texts(threads["session"]),
        "agent": names.texts(threads["agent"]),
        "thread_kind": [ThreadKind(kind).name.lower() for kind in threads["kind"].tolist()],
        "project": names.texts(threads["project"]),
        "model": names.texts(calls["model"]),
        **{
            name: calls[name]
            for name in (
                "seq",
                "ts",
                "input",
                "cache_read",
                "cache_write",
                "cache_write_5m",
                "cache_write_1h",
                "output",
                "reasoning",
                "ctx",
                "final",
                "missed",
            )
        },
        "scope": [UsageScope(scope).name.lower() for scope in calls["scope"].tolist()],
        "miss": names.texts(calls["miss"]),
    }
    return frame(columns, nullable=("reasoning", "ctx", "missed"), times=("ts",))
