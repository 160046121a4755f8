"""One context window per model in a report, from what the logs say of it first (models/windows.py)."""

from __future__ import annotations

import numpy as np

from ctxlib.logs import Logs
from ctxlib.models import canonical, decide
from ctxlib.tables import NULL, MarkKind


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
    for row in logs.evidence:
        kind = strings[row["kind"]]
        if kind in ("hint_1m", "context_output"):
            out.setdefault(canonical(strings[row["name"]]), []).append((int(row["value"]), kind))
    auto = (logs.marks["kind"] == MarkKind.FULL) & (logs.marks["trigger"] == logs.names.codes.get("auto", -1))
    for mark, thread in zip(logs.marks[auto], logs.mark_thread[auto], strict=True):
        before = logs.calls[(logs.calls["thread"] == thread) & (logs.calls["pos"] < mark["line"])]
        # Automatic compaction comes near the end of a window; a small one was set up by the user and says nothing.
        if mark["pre"] != NULL and mark["pre"] > 120_000 and len(before):
            model = canonical(strings[before["model"][-1]])
            out.setdefault(model, []).append((int(mark["pre"]), "auto_compact"))
    return out
