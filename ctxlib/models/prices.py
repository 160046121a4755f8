"""List prices, from genai-prices as installed (no network) and from a file of the user's own on top (X-cache)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from ctxlib.models.listed import Price, filled, listed_price
from ctxlib.models.names import canonical

Overrides: TypeAlias = Mapping[str, Mapping[str, float]]
"""Canonical model name -> `input`, `cache_read`, ... in USD per million tokens, and `window` in tokens."""

_USER_PRICES = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
_USER_SOURCE = "user file"
_ABSURD = 1e12  # no price and no window is as large; nan and inf fail the same comparison


def price(model: str, *, when: datetime | None = None, overrides: Overrides | None = None) -> Price | None:
    """The prices of a model, in any spelling, at a time (default now; a naive time is UTC), in USD per million tokens.

    None is an unknown model: its tokens are reported as unpriced, never as $0 (X-cache). A user's entry wins whole: it
    is never mixed with the list. The list's own cache prices win over X-cache's multiples. `-fast` Claude models are
    priced by the list's fast variant, and None where it has none. Never raises on a name.
    """
    name = canonical(model)
    own = (overrides or {}).get(name, {})
    if "input" in own and "output" in own:
        return filled(own, _USER_SOURCE)
    return listed_price(name, when or datetime.now(UTC))


def price_table(
    models: Iterable[str], *, when: datetime | None = None, overrides: Overrides | None = None
) -> dict[str, Price | None]:
    """`price` of each name as given; None marks the models whose tokens stay unpriced (X-cache)."""
    return {model: price(model, when=when, overrides=overrides) for model in models}


def rates_at(prices: Price, ctx: int) -> Price:
    """The prices of a call whose input side (X-ctx) is `ctx` tokens: the premium tier where one applies (X-cache)."""
    chosen = prices
    for start, tier in prices.tiers:
        if ctx > start:
            chosen = tier
    return chosen


def read_overrides(path: Path) -> dict[str, dict[str, float]]:
    """A user's own prices (USD per million tokens) and windows (tokens), by canonical model name.

    TOML: `[models."name"]` with `input`, `cache_read`, `cache_write_5m`, `cache_write_1h`, `output`, `window`, each
    optional; but input and output come together, and cache prices not given follow X-cache. Raises ValueError naming
    the file and the key for whatever does not read, and OSError where the file cannot be opened.
    """
    import tomllib  # here, since few have such a file

    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from error
    if stray := sorted(document.keys() - {"models"}):
        raise ValueError(f'{path}: unknown key {stray[0]!r}; models are given as [models."name"]')
    models = document.get("models", {})
    if not isinstance(models, dict):
        raise ValueError(f"{path}: models must be a table, not {models!r}")
    out: dict[str, dict[str, float]] = {}
    for name, entry in models.items():
        where = f'{path}: models."{name}"'
        if not isinstance(entry, dict):
            raise ValueError(f"{where} must be a table, not {entry!r}")
        if canonical(name) in out:
            raise ValueError(f"{where}: {canonical(name)} is given twice")
        out[canonical(name)] = {key: _checked(where, key, value) for key, value in entry.items()}
        if any(key in entry for key in _USER_PRICES) and not {"input", "output"} <= entry.keys():
            raise ValueError(f"{where}: {'output' if 'input' in entry else 'input'} is missing")
    return out


def _checked(where: str, key: str, value: object) -> float:
    if key not in (*_USER_PRICES, "window"):
        raise ValueError(f"{where}: unknown key {key!r}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _ABSURD:
        raise ValueError(f"{where}: {key} must be a number >= 0, not {value!r}")
    if key == "window" and not (isinstance(value, int) and value > 0):
        raise ValueError(f"{where}: window must be a whole number of tokens > 0, not {value!r}")
    return value
