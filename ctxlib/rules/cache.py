"""X-cache: shares of ctx tokens over all calls, and what cache writes cost at list prices."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.models import Price, canonical, price, rates_at
from ctxlib.tables import NULL, Table, frame

if TYPE_CHECKING:
    import pandas as pd

_DAY = 86_400_000  # milliseconds
_RATES = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
USD = np.dtype([("input", "f8"), ("cache_read", "f8"), ("cache_write", "f8"), ("output", "f8"), ("priced", "?")])


class CacheTotals(NamedTuple):
    """Over all calls of the window, main and sub-agents, each once. Tokens; USD at list prices."""

    read: int = 0
    write: int = 0
    uncached: int = 0
    write_5m: int = 0
    write_1h: int = 0
    unsplit: int = 0  # part of write_5m that no split covered: priced as 5m
    write_usd: float = 0.0
    unpriced_models: frozenset[str] = frozenset()
    unpriced_write: int = 0
    suspicious: int = 0  # calls whose numbers contradict themselves

    def shares(self) -> dict[str, float] | None:
        """read, write, uncached as shares of ctx tokens; None when there is nothing to share."""
        total = self.read + self.write + self.uncached
        if not total:
            return None
        return {"read": self.read / total, "write": self.write / total, "uncached": self.uncached / total}


@lru_cache(maxsize=2)
def totals(logs: Logs) -> CacheTotals:
    calls = logs.own_calls
    cost = costs(logs, calls)
    unpriced = calls[~cost["priced"]]
    used = unpriced[(unpriced["ctx"] != NULL) | (unpriced["output"] > 0)]
    return CacheTotals(
        read=int(calls["cache_read"].sum()),
        write=int(calls["cache_write"].sum()),
        uncached=int(calls["input"].sum()),
        write_5m=int(calls["cache_write_5m"].sum()),
        write_1h=int(calls["cache_write_1h"].sum()),
        unsplit=int(calls["unsplit"].sum()),
        write_usd=float(cost["cache_write"].sum()),
        unpriced_models=frozenset(logs.names.texts(distinct(used["model"]))),
        unpriced_write=int(unpriced["cache_write"].sum()),
        suspicious=int(suspicious(calls).sum()),
    )


def suspicious(calls: Table) -> Table:
    """Calls where a badly translating proxy added the cached tokens to the input: input = read + write exactly."""
    cached = calls["cache_read"] + calls["cache_write"]
    doubled: Table = (cached > 0) & (calls["input"] == cached)
    return doubled


def costs(logs: Logs, calls: Table) -> Table:
    """USD of each call (columns of USD) at the list prices of its day and, above 200k, of its size; 0 and priced=False
    for a model without a price, which is reported and never counted as free."""
    out = np.zeros(len(calls), USD)
    kinds = (calls["model"].astype("i8") << 32) + (np.maximum(calls["ts"] // _DAY, 0) << 1) + calls["fast"]
    order = np.argsort(kinds, kind="stable")
    ordered = kinds[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(calls) else order
    ctx, rate = calls["ctx"], np.zeros((len(_RATES), len(calls)))
    for rows, kind in zip(np.split(order, begins[1:]), ordered[begins].tolist(), strict=False):
        name, day, fast = logs.names.strings[kind >> 32], kind >> 1 & 0x7FFFFFFF, kind & 1
        moment = datetime.fromtimestamp(day * 86_400, UTC) if day else None
        found = price(canonical(name) + ("-fast" if fast else ""), when=moment, overrides=logs.prices)
        if found is None:
            continue
        out["priced"][rows] = True
        for low, high, rates in _tiers(found):
            at = rows[(ctx[rows] > low) & (ctx[rows] <= high)] if found.tiers else rows
            rate[:, at] = np.array([[getattr(rates, side)] for side in _RATES])
    out["input"] = calls["input"] * rate[0] / 1e6
    out["cache_read"] = calls["cache_read"] * rate[1] / 1e6
    out["cache_write"] = (calls["cache_write_5m"] * rate[2] + calls["cache_write_1h"] * rate[3]) / 1e6
    out["output"] = calls["output"] * rate[4] / 1e6
    return out


def _tiers(found: Price) -> list[tuple[int, int, Price]]:
    """(above, up to, prices), over all context sizes in tokens."""
    starts = [-2, *(start for start, _ in found.tiers)]
    ends = [*starts[1:], 2**62]
    return [(low, high, rates_at(found, low + 1)) for low, high in zip(starts, ends, strict=True)]


def cache_df(logs: Logs) -> pd.DataFrame:
    """One row a call, in time order: session, project, model, ts, uncached, read, write, write_5m, write_1h (tokens),
    read_usd, write_usd, usd (all sides), priced, miss, missed."""
    calls = logs.own_calls
    calls = calls[np.lexsort((calls["pos"], calls["ts"]))]
    cost, names, threads = costs(logs, calls), logs.names, logs.threads[calls["thread"]]
    return frame(
        {
            "session": names.texts(threads["session"]),
            "project": names.texts(threads["project"]),
            "model": names.texts(calls["model"]),
            "ts": calls["ts"],
            "uncached": calls["input"],
            "read": calls["cache_read"],
            "write": calls["cache_write"],
            "write_5m": calls["cache_write_5m"],
            "write_1h": calls["cache_write_1h"],
            "read_usd": cost["cache_read"],
            "write_usd": cost["cache_write"],
            "usd": cost["input"] + cost["cache_read"] + cost["cache_write"] + cost["output"],
            "priced": cost["priced"],
            "miss": names.texts(calls["miss"]),
            "missed": calls["missed"],
        },
        nullable=("missed",),
        times=("ts",),
    )
