"""One context window per model in a report, from what the logs say of it first (models/windows.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from ctxlib.arrays import among, distinct
from ctxlib.logs import Logs
from ctxlib.models import Overrides, canonical, decide
from ctxlib.tables import NULL, MarkKind

LEAST_AUTO = 120_000  # tokens


@lru_cache(maxsize=2)
def windows(logs: Logs) -> dict[str, tuple[int, str] | None]:
    """Model id as logged -> (window in tokens, where that comes from); None for a model nothing is known of."""
    return decided(peaks(logs), evidence(logs), logs.prices)


def decided(
    peaks: Mapping[str, int], evidence: Iterable[tuple[str, int, str]], overrides: Overrides
) -> dict[str, tuple[int, str] | None]:
    """The same from `peaks` and `evidence`. Model ids that are spellings of one model share it."""
    told: dict[str, list[tuple[int, str]]] = {}
    for model, tokens, kind in evidence:
        told.setdefault(model, []).append((tokens, kind))
    highest: dict[str, int] = {}
    for name, peak in peaks.items():
        highest[canonical(name)] = max(highest.get(canonical(name), 0), peak)
    found = {
        model: decide(model, evidence=told.get(model, []), peak_ctx=peak, overrides=overrides)
        for model, peak in highest.items()
    }
    return {name: found[canonical(name)] for name in peaks}


def peaks(logs: Logs) -> dict[str, int]:
    """Model id as logged -> its largest ctx in the window, in tokens; NULL where none was measured."""
    used = logs.calls[logs.calls["inside"] & logs.calls["origin"]]
    largest = np.full(len(logs.names.strings), NULL, "i8")
    np.maximum.at(largest, used["model"], used["ctx"])
    return {logs.names.strings[code]: int(largest[code]) for code in distinct(used["model"]).tolist()}


def evidence(logs: Logs) -> set[tuple[str, int, str]]:
    """(canonical model, tokens, kind) of what the logs say of windows: /context outputs, `[1m]` hints, the size before
    automatic compactions."""
    out: set[tuple[str, int, str]] = set()
    strings = logs.names.strings
    wanted = [logs.names.codes.get(kind, -1) for kind in ("hint_1m", "context_output")]
    told = logs.evidence[among(logs.evidence["kind"], wanted)]
    for kind, name, window in distinct(told[["kind", "name", "value"]]).tolist():
        out.add((canonical(strings[name]), window, strings[kind]))
    auto = (logs.marks["kind"] == MarkKind.FULL) & (logs.marks["trigger"] == logs.names.codes.get("auto", -1))
    # Automatic compaction comes near the end of a window; a small one was set up by the user and says nothing.
    auto &= logs.marks["pre"] > LEAST_AUTO
    marks, thread = logs.marks[auto], logs.mark_thread[auto]
    if len(marks):
        span = int(max(logs.calls["pos"].max(initial=0), marks["line"].max())) + 2
        places = logs.calls["thread"].astype("i8") * span + logs.calls["pos"]
        before = np.searchsorted(places, thread.astype("i8") * span + marks["line"]) - 1
        for mark, row, held in zip(marks, before.tolist(), thread.tolist(), strict=True):
            if row >= 0 and logs.calls["thread"][row] == held:
                out.add((canonical(strings[logs.calls["model"][row]]), int(mark["pre"]), "auto_compact"))
    return out
