"""What the price list (genai-prices as installed, no network) says of a model: prices from day to day, and its window.

Importing the list takes 0.13 s, more than all else of a small question. So what it said is remembered in the cache folder,
model by model, for as long as the very same list is installed; and of Claude's models it comes with this package
(price-list.json), for the version of the list that it was made with: `make prices` makes it anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ctxlib.models.names import canonical
from ctxlib.program import price_list_id
from ctxlib.roots import cache_folder

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

_BY_RULE = {"cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2.0}  # X-cache: multiples of the input price
_LISTED = {
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}
NAME = "price-list.json"  # in this package, and in the cache folder


@dataclass(frozen=True)
class Price:
    """List prices of one model, in USD per million tokens.

    `derived` names the prices that the list lacks and that X-cache gives instead (5m write 1.25 x, 1h write 2 x, read
    0.1 x input). `tiers` holds (threshold, prices) in rising order: a call whose whole input side is above the
    threshold, in tokens, is priced by them altogether, output included; `prices.rates_at` picks the right ones.
    """

    input: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    output: float
    source: str
    derived: tuple[str, ...] = ()
    tiers: tuple[tuple[int, Price], ...] = ()


class Listed(msgspec.Struct, frozen=True):
    """One model as the list has it."""

    source: str
    window: int | None
    schedule: tuple[tuple[date, Price | None], ...]  # from which day on, UTC, in rising order; () = by the hour


class _Memory(msgspec.Struct):
    list: str  # which list it was
    models: dict[str, Listed | None] = {}


_looked_up: dict[str, Listed | None] = {}  # by this process, and not yet remembered


def listed(name: str) -> Listed | None:
    """The list's entry for a canonical name, by the maker's own prices; None where it has none."""
    known = _memory().models
    if name not in known:
        known[name] = _looked_up[name] = _look_up(name)
    return known[name]


def listed_price(name: str, when: datetime) -> Price | None:
    """Its prices at a time; None where the list does not price it."""
    entry = listed(name)
    if entry is None:
        return None
    if not entry.schedule:
        found = _found(name)
        return _price(found, name, when) if found is not None else None
    day = (when if when.tzinfo is None else when.astimezone(UTC)).date()
    return next((price for start, price in reversed(entry.schedule) if start <= day), None)


def remember() -> None:
    """Keeps what the list said for the next time. Writes where there is something new; never raises."""
    if not _looked_up:
        return
    which = _memory().list
    memory = _Memory(which, _kept(cache_folder(), which) | _looked_up)  # another process may have asked for others
    _looked_up.clear()
    file = cache_folder() / NAME
    beside = file.with_name(f"{NAME}.{os.getpid()}")
    with suppress(OSError, UnicodeEncodeError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_bytes(msgspec.json.encode(memory))
        beside.replace(file)


def filled(known: Mapping[str, float], source: str) -> Price:
    """A price with X-cache's multiples for what is not known."""
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


@lru_cache(maxsize=1)
def _memory() -> _Memory:
    memory = _Memory(price_list_id())
    for folder in (Path(__file__).parent, cache_folder()):
        memory.models |= _kept(folder, memory.list)
    return memory


def _kept(folder: Path, which: str) -> dict[str, Listed | None]:
    """What was remembered there of this list."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        kept = msgspec.json.decode((folder / NAME).read_bytes(), type=_Memory)
        if which and kept.list == which:
            return kept.models
    return {}


def shipped() -> bytes:
    """What price-list.json of this package should hold: Claude's models, as the list that is installed has them."""
    from genai_prices.data_snapshot import get_snapshot

    named = {canonical(model.id) for provider in get_snapshot().providers for model in provider.models}
    names = sorted(name for name in named if name.startswith("claude-") and "/" not in name)
    models = {name: _look_up(name) for name in names}
    return msgspec.json.format(msgspec.json.encode(_Memory(price_list_id(), models)), indent=1) + b"\n"


def _look_up(name: str) -> Listed | None:
    from genai_prices.types import StartDateConstraint

    found = _found(name)
    if found is None:
        return None
    dated = found.prices if isinstance(found.prices, list) else []
    constraints = [one.constraint for one in (*dated, *(found.price_variants or ())) if one.constraint is not None]
    starts: list[date] = []
    for one in constraints:
        if not isinstance(one, StartDateConstraint):
            return Listed(_source(), found.context_window, ())
        starts.append(one.start_date)
    days = [date.min, *sorted(set(starts))]
    schedule = tuple((day, _price(found, name, datetime(day.year, day.month, day.day, tzinfo=UTC))) for day in days)
    return Listed(_source(), found.context_window, schedule)


def _found(name: str) -> ModelInfo | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(name, None, None, None)[1]
    except LookupError:
        return None


def _source() -> str:
    """What the list is called in a report: `genai-prices` and its version."""
    from genai_prices import __version__

    return f"genai-prices {__version__}"


def _price(found: ModelInfo, name: str, when: datetime) -> Price | None:
    context = None
    if name.startswith("claude-") and name.endswith("-fast"):
        context = {"speed": "fast"}
        if not any(variant.when == context for variant in found.price_variants or ()):
            return None
    rates = vars(found.get_prices(when, context))
    source = _source()
    base = _rates(rates, 0, source)
    if base is None:
        return None
    starts = sorted({tier.start for rate in rates.values() for tier in getattr(rate, "tiers", ())})
    tiers = ((start, _rates(rates, start, source)) for start in starts)
    return replace(base, tiers=tuple((start, tier) for start, tier in tiers if tier is not None))


def _rates(rates: Mapping[str, Any], start: int, source: str) -> Price | None:
    """The list's rates above `start` tokens; None where the list prices no input or no output."""
    known = {key: _rate(rates.get(name), start) for key, name in _LISTED.items()}
    known |= {"input": _rate(rates.get("input_mtok"), start), "output": _rate(rates.get("output_mtok"), start)}
    if known["input"] is None or known["output"] is None:
        return None
    return filled({key: value for key, value in known.items() if value is not None}, source)


def _rate(rate: Any, start: int) -> float | None:
    if rate is None:
        return None
    chosen = getattr(rate, "base", rate)
    for tier in getattr(rate, "tiers", ()):
        if tier.start <= start:
            chosen = tier.price
    return float(chosen)
