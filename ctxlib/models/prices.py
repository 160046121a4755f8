"""List prices, from genai-prices as installed (no network) and from a file of the user's own on top (X-cache)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ctxlib.models.names import canonical

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

Overrides: TypeAlias = Mapping[str, Mapping[str, float]]
"""Canonical model name -> `input`, `cache_read`, ... in USD per million tokens, and `window` in tokens."""

_BY_RULE = {"cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2.0}  # X-cache: multiples of the input price
_LISTED = {
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}
_USER_PRICES = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
_USER_SOURCE = "user file"
_ABSURD = 1e12  # no price and no window is as large; nan and inf fail the same comparison


@dataclass(frozen=True)
class Price:
    """List prices of one model, in USD per million tokens.

    `derived` names the prices that the list lacks and that X-cache gives instead (5m write 1.25 x, 1h write 2 x, read
    0.1 x input). `tiers` holds (threshold, prices) in rising order: a call whose whole input side is above the
    threshold, in tokens, is priced by them altogether, output included; `rates_at` picks the right ones.
    """

    input: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    output: float
    source: str
    derived: tuple[str, ...] = ()
    tiers: tuple[tuple[int, Price], ...] = ()


def price(model: str, *, when: datetime | None = None, overrides: Overrides | None = None) -> Price | None:
    """The prices of a model, in any spelling, at a time (default now; a naive time is UTC), in USD per million tokens.

    None is an unknown model: its tokens are reported as unpriced, never as $0 (X-cache). A user's entry wins whole: it
    is never mixed with the list. The list's own cache prices win over X-cache's multiples. `-fast` Claude models are
    priced by the list's fast variant, and None where it has none. Never raises on a name.
    """
    name = canonical(model)
    own = (overrides or {}).get(name, {})
    if "input" in own and "output" in own:
        return _filled(own, _USER_SOURCE)
    return _from_list(name, when or datetime.now(UTC))


@lru_cache(maxsize=4096)
def _from_list(name: str, when: datetime) -> Price | None:
    found = find_listed(name)
    if found is None:
        return None
    context = None
    if name.startswith("claude-") and name.endswith("-fast"):
        context = {"speed": "fast"}
        if not any(variant.when == context for variant in found.price_variants or ()):
            return None
    rates = vars(found.get_prices(when, context))
    source = list_source()
    base = _listed(rates, 0, source)
    if base is None:
        return None
    starts = sorted({tier.start for rate in rates.values() for tier in getattr(rate, "tiers", ())})
    tiers = ((start, _listed(rates, start, source)) for start in starts)
    return replace(base, tiers=tuple((start, tier) for start, tier in tiers if tier is not None))


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


@lru_cache(maxsize=256)
def find_listed(name: str) -> ModelInfo | None:
    """The list's entry for a canonical name, by the maker's own prices; None where it has none."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(name, None, None, None)[1]
    except LookupError:
        return None


def list_source() -> str:
    """What the list is called in a report: `genai-prices` and its version."""
    from genai_prices import __version__

    return f"genai-prices {__version__}"


def _listed(rates: Mapping[str, Any], start: int, source: str) -> Price | None:
    """The list's rates above `start` tokens; None where the list prices no input or no output."""
    known = {key: _rate(rates.get(listed), start) for key, listed in _LISTED.items()}
    known |= {"input": _rate(rates.get("input_mtok"), start), "output": _rate(rates.get("output_mtok"), start)}
    if known["input"] is None or known["output"] is None:
        return None
    return _filled({key: value for key, value in known.items() if value is not None}, source)


def _rate(rate: Any, start: int) -> float | None:
    if rate is None:
        return None
    chosen = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", ()):
        if tier.start <= start:
            chosen = tier.price
    return float(chosen)


def _filled(known: Mapping[str, float], source: str) -> Price:
    full = {key: known["input"] * factor for key, factor in _BY_RULE.items()} | dict(known)
    return Price(
        input=full["input"],
        cache_read=full["cache_read"],
        cache_write_5m=full["cache_write_5m"],
        cache_write_1h=full["cache_write_1h"],
        output=full["output"],
        source=source,
        derived=tuple(key for key in _BY_RULE if key not in known),
    )


def _checked(where: str, key: str, value: object) -> float:
    if key not in (*_USER_PRICES, "window"):
        raise ValueError(f"{where}: unknown key {key!r}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _ABSURD:
        raise ValueError(f"{where}: {key} must be a number >= 0, not {value!r}")
    if key == "window" and not (isinstance(value, int) and value > 0):
        raise ValueError(f"{where}: window must be a whole number of tokens > 0, not {value!r}")
    return value
