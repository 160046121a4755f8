"""Characters a token, per model, fitted on what the provider measured: rises of ctx made of one tool result."""

from __future__ import annotations

from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ctxlib.accounting.estimate import default_chars_per_token, is_answer
from ctxlib.accounting.intervals import intervals
from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.models import canonical
from ctxlib.tables import NULL, BlockKind, Table, frame

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 12  # rises: with fewer the median moves by more than the spread between models
_SMALLEST = 2_000  # characters: below, the wrapping of a result weighs too much
_STEP = 0.05  # characters a token


class Fit(NamedTuple):
    chars_per_token: float
    source: str  # "fit" or "table"
    n: int  # rises
    p10: float
    p90: float


@lru_cache(maxsize=2)
def ratios(logs: Logs) -> dict[str, Table]:
    """Canonical model -> characters a token of each rise made of one text result: characters / (rise - output). Where the
    output is not final the answer's characters are counted as the result's are."""
    found = intervals(logs)
    blocks, rows = logs.blocks, found.rows
    count = len(rows)
    born = found.of_block
    held = born >= 0
    result = held & (blocks["kind"] == BlockKind.TOOL_RESULT) & (blocks["images"] + blocks["documents"] == 0)
    answer = held & is_answer(blocks)
    other = held & ~result & ~answer

    def per_interval(mask: Table, weight: Table | None = None) -> Table:
        weights = None if weight is None else weight[mask]
        return np.bincount(born[mask], weights, minlength=count)

    chars = per_interval(result, blocks["chars"])
    said = per_interval(answer, blocks["chars"])
    left = np.bincount(found.left[found.left >= 0], minlength=count)
    single = (per_interval(result) == 1) & (per_interval(other) == 0) & (left == 0) & (rows["start"] != NULL)
    final = rows["output"] != NULL
    tokens = np.where(final, rows["rise"] - rows["output"], rows["rise"])
    size = np.where(final, chars, chars + said)
    usable = single & (chars >= _SMALLEST) & (tokens > 200) & (size < 12 * tokens)
    by_model: dict[str, list[Table]] = {}
    for code in distinct(rows["model"]).tolist():
        picked = usable & (rows["model"] == code)
        by_model.setdefault(canonical(logs.names.strings[code]), []).append(size[picked] / tokens[picked])
    return {model: np.concatenate(found) for model, found in by_model.items()}


def fits(logs: Logs) -> dict[str, Fit]:
    """Canonical model -> its fit: the median of its `ratios` where there are ENOUGH, else the shipped table."""
    return {model: fit(model, found) for model, found in ratios(logs).items()}


def fit(model: str, found: Table) -> Fit:
    value = _value(model, found)
    if len(found) < ENOUGH:
        return Fit(value, "table", len(found), value, value)
    low, high = np.percentile(found, (10, 90))
    return Fit(value, "fit", len(found), float(low), float(high))


def _value(model: str, found: Table) -> float:
    return median(found.tolist()) if len(found) >= ENOUGH else default_chars_per_token(model)


def chars_per_token(logs: Logs) -> dict[str, float]:
    """Canonical model -> the characters a token that its estimates are made with: what the scan was told, else the fit in
    steps of 0.05. The spread from p10 to p90 is ten times that, and one more log then hardly ever changes the estimates
    of all others (digests.py keeps those)."""
    return {model: logs.chars_per_token.get(model) or applied(model, found) for model, found in ratios(logs).items()}


def applied(model: str, found: Table) -> float:
    """The fit of these ratios as it is used."""
    return round(round(_value(model, found) / _STEP) * _STEP, 2)


def fits_df(logs: Logs) -> pd.DataFrame:
    """model, chars_per_token, source (fit or table), n (rises), p10, p90."""
    found = fits(logs)
    return frame(
        {"model": list(found), **{name: [getattr(fit, name) for fit in found.values()] for name in Fit._fields}}
    )
