"""One context window per model in a report, from what the logs say of it first (models/windows.py)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ctxlib.logs import Logs
from ctxlib.models import canonical, decide
from ctxlib.tables import MarkKind

LEAST_AUTO = 120_000  # tokens


@lru_cache(maxsize=2)
def windows(logs: Logs) -> dict[str, tuple[int, str] | None]:
    """Model id as logged -> (window in tokens, where that comes from); None for a model nothing is known of.

    Evidence: /context outputs, `[1m]` hints, the size before automatic compactions, the largest ctx of any call. Model
    ids that are spellings of one model share it.
    """
    calls, names = logs.calls, logs.names
    used = calls[calls["inside"] & calls["origin"]]
    evidence = _evidence(logs)
    by_canonical: dict[str, tuple[int, str] | None] = {}
    peaks: dict[str, int] = {}
    models = np.unique(used["model"]).tolist()
    for code in models:
        name = canonical(names.strings[code])
        peaks[name] = max(peaks.get(name, 0), int(used["ctx"][used["model"] == code].max()))
    for name, peak in peaks.items():
        by_canonical[name] = decide(name, evidence=evidence.get(name, []), peak_ctx=max(0, peak), overrides=logs.prices)
    return {names.strings[code]: by_canonical[canonical(names.strings[code])] for code in models}


def _evidence(logs: Logs) -> dict[str, list[tuple[int, str]]]:
    out: dict[str, list[tuple[int, str]]] = {}
    strings = logs.names.strings
    wanted = [logs.names.codes.get(kind, -1) for kind in ("hint_1m", "context_output")]
    told = logs.evidence[np.isin(logs.evidence["kind"], wanted)]
    for kind, name, window in np.unique(told[["kind", "name", "value"]]).tolist():
        out.setdefault(canonical(strings[name]), []).append((window, strings[kind]))
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
                model = canonical(strings[logs.calls["model"][row]])
                out.setdefault(model, []).append((int(mark["pre"]), "auto_compact"))
    return out
