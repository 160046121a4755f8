"""X-cache: what was read, written and neither, and what writing cost, call by call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctxlib.rules.cache import cache_df, costs, totals

FLAT = {"claude-sonnet-4-5": {"input": 3.0, "output": 15.0}}


def usage(fresh: int = 0, read: int = 0, short: int = 0, long: int = 0, flat: int | None = None, **more: Any) -> Any:
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": short + long if flat is None else flat,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
        "output_tokens": 10,
        **more,
    }


def logged(make: Any, *usages: Any, model: str = "claude-sonnet-4-5", start: str = "2026-07-01T10:00:00Z") -> Any:
    s = make.Session(model=model, start=start)
    for held in usages:
        s.prompt()
        s.call(usage=held)
    return s


def usd(logs: Any) -> list[float]:
    return [round(float(row["cache_write"]), 9) for row in costs(logs, logs.calls)]


def test_five_minutes_cost_a_quarter_more_and_an_hour_twice_the_input(make: Any, scanned: Any) -> None:
    logs = scanned(logged(make, usage(1, 0, 1_000_000), usage(1, 0, 0, 1_000_000)), prices=FLAT)
    assert usd(logs) == [3.75, 6.0]


def test_what_no_split_covers_is_priced_at_five_minutes_and_reported(make: Any, scanned: Any) -> None:
    found = totals(scanned(logged(make, usage(0, 0, 100, 200, flat=1_000_300)), prices=FLAT))
    assert (found.write, found.write_5m, found.write_1h, found.unsplit) == (1_000_300, 1_000_100, 200, 1_000_000)
    assert found.write_usd == pytest.approx((1_000_100 * 3.75 + 200 * 6) / 1e6)


def test_a_split_larger_than_the_flat_figure_wins(make: Any, scanned: Any) -> None:
    logs = scanned(logged(make, usage(5, 0, 100, 200, flat=0)), prices=FLAT)
    assert (totals(logs).write, int(logs.calls["ctx"][0])) == (300, 305)


def test_shares_are_of_all_calls_and_null_of_none(make: Any, scanned: Any) -> None:
    assert totals(scanned(logged(make, usage(10, 80, 10)))).shares() == {"read": 0.8, "write": 0.1, "uncached": 0.1}
    assert totals(scanned(logged(make, {"output_tokens": 3}), root="none")).shares() is None


def test_an_unknown_model_is_reported_and_never_free(make: Any, scanned: Any) -> None:
    found = totals(scanned(logged(make, usage(1, 0, 500), model="somebodys-model")))
    assert (found.write_usd, found.unpriced_models, found.unpriced_write) == (0.0, {"somebodys-model"}, 500)


@pytest.mark.parametrize(("ctx", "dollars"), [(200_000, 0.375), (200_001, 0.75)])
def test_a_premium_begins_above_its_threshold_and_holds_for_the_whole_call(
    make: Any, scanned: Any, ctx: int, dollars: float
) -> None:
    """The list of June 2025: above 200k of context a token of Sonnet 4.5 costs twice as much."""
    s = logged(make, usage(ctx - 100_000, 0, 100_000), start="2025-11-01T10:00:00Z")
    assert usd(scanned(s)) == [dollars]


def test_each_day_has_the_price_of_its_day(make: Any, scanned: Any) -> None:
    """A fall of the list price does not make last month cheaper."""
    from datetime import UTC, datetime

    from ctxlib.models import price, rates_at

    model, ctx = "claude-opus-4-6", 300_000
    days = [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)]
    sessions = []
    for i, day in enumerate(days):
        s = make.Session(f"s{i}", model=model, start=day.isoformat())
        s.call(usage=usage(ctx - 100_000, 0, 100_000))
        sessions.append(s)
    logs = scanned(*sessions)
    want = []
    for day in days:
        found = price(model, when=day)
        assert found is not None
        want.append(round(rates_at(found, ctx).cache_write_5m * 0.1, 9))
    assert usd(logs) == want
    assert want[0] != want[1]


SPELLINGS = ["claude-opus-4-8", "claude-opus-4-8-20260505", "us.anthropic.claude-opus-4-8-v1:0"]


@pytest.mark.parametrize("model", SPELLINGS)
def test_the_fast_variant_has_its_own_price_in_every_spelling(make: Any, scanned: Any, model: str) -> None:
    """A fast call costs several times as much; priced as unknown it would be missing from the sum."""
    logs = scanned(logged(make, usage(1, 0, 1_000_000, speed="fast"), usage(1, 0, 1_000_000), model=model))
    fast, plain = usd(logs)
    assert fast > plain > 0


@pytest.mark.parametrize("model", SPELLINGS)
def test_a_users_own_price_of_a_fast_variant_holds_in_every_spelling(make: Any, scanned: Any, model: str) -> None:
    own = {"claude-opus-4-8-fast": {"input": 100.0, "output": 1.0}}
    logs = scanned(logged(make, usage(1, 0, 1_000_000, speed="fast"), model=model), prices=own)
    assert usd(logs) == [125.0]


def test_a_models_spelling_does_not_change_its_price(make: Any, scanned: Any) -> None:
    names = ["claude-opus-4-8", "anthropic/claude-opus-4.8", "claude-opus-4-8[1m]", "us.anthropic.claude-opus-4-8-v1:0"]
    sessions = []
    for i, name in enumerate(names):
        s = make.Session(f"s{i}", model=name)
        s.call(usage=usage(1, 0, 1_000_000))
        sessions.append(s)
    assert len(set(usd(scanned(*sessions)))) == 1


def test_cached_tokens_added_twice_are_flagged_and_not_corrected(make: Any, scanned: Any) -> None:
    logs = scanned(logged(make, usage(110, 100, 10), usage(111, 100, 10), usage(0, 0, 0)))
    assert totals(logs).suspicious == 1
    assert logs.calls["ctx"].tolist()[:2] == [220, 221]


def test_the_frame_adds_up_to_the_totals(make: Any, scanned: Any) -> None:
    logs = scanned(logged(make, usage(5, 100, 20, 30), usage(1, 0, 0, 900)))
    df, found = cache_df(logs), totals(logs)
    assert df[["read", "write", "uncached"]].sum().tolist() == [found.read, found.write, found.uncached]
    assert df["write_usd"].sum() == pytest.approx(found.write_usd)
    cost = costs(logs, logs.calls)
    total = sum(float(np.sum(cost[name])) for name in ("input", "cache_read", "cache_write", "output"))
    assert df["usd"].sum() == pytest.approx(total)
