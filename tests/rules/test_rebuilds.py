"""Rebuilds: calls that wrote again what had been cached, why, and what that cost."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.rules.rebuilds import rebuilds, rebuilds_df

FLAT = {name: {"input": 4.0, "output": 15.0} for name in ("claude-sonnet-4-5", "claude-opus-4-6")}


def usage(read: int, short: int = 0, long: int = 0) -> Any:
    split = {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}
    return {
        "input_tokens": 1,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": short + long,
        "cache_creation": split,
        "output_tokens": 1,
    }


def pair(make: Any, *, minutes: float = 1, long: bool = False, after: Any = None, between: Any = None) -> Any:
    s = make.Session()
    s.prompt()
    s.call(usage=usage(10_000, 0, 40_000) if long else usage(10_000, 40_000))
    if between:
        between(s)
    s.wait(minutes=minutes)
    s.prompt()
    s.call(usage=after or usage(0, 52_000))
    return s


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({}, "unknown"),
        ({"minutes": 6}, "expired 5m"),
        ({"minutes": 6, "long": True}, "unknown"),
        ({"minutes": 61, "long": True}, "expired 1h"),
        ({"after": usage(0, 30_000)}, "rewind"),
        ({"between": lambda s: (s.boundary("auto"), s.summary())}, "compaction"),
        ({"between": lambda s: setattr(s, "model", "claude-opus-4-6"), "minutes": 90}, "model"),
    ],
    ids=["unknown", "5m", "within 1h", "1h", "rewind", "compaction", "model"],
)
def test_causes(make: Any, scanned: Any, options: Any, cause: str) -> None:
    (found,) = rebuilds(scanned(pair(make, **options), prices=FLAT))
    assert str(found["cause"]) == cause


@pytest.mark.parametrize(("told", "cause"), [("tools_changed", "tools_changed"), ("unavailable", "expired 5m")])
def test_the_logs_own_word_comes_first_where_it_says_something(make: Any, scanned: Any, told: str, cause: str) -> None:
    s = pair(make, minutes=6)
    s.lines[-1]["message"]["diagnostics"] = {"cache_miss_reason": {"type": told}}
    (found,) = rebuilds(scanned(s, prices=FLAT))
    assert (str(found["cause"]), bool(found["logged"])) == (cause, cause == told)


def test_what_it_cost_more_than_reading(make: Any, scanned: Any) -> None:
    (found,) = rebuilds(scanned(pair(make), prices=FLAT))
    assert found["tokens"] == 50_000
    assert found["usd"] == pytest.approx(50_000 * (5.0 - 0.4) / 1e6)


@pytest.mark.parametrize("after", [usage(50_000, 3_000), usage(46_000, 6_000), usage(30_000, 22_000), usage(0, 4_000)])
def test_a_written_tail_or_a_small_loss_is_none(make: Any, scanned: Any, after: Any) -> None:
    assert len(rebuilds(scanned(pair(make, after=after), prices=FLAT))) == 0


def test_the_first_call_of_another_session_is_none(make: Any, scanned: Any) -> None:
    s = make.Session("a")
    s.call(usage=usage(50_000, 0))
    t = make.Session("b")
    t.call(usage=usage(0, 50_000))
    assert len(rebuilds(scanned(s, t, prices=FLAT))) == 0


def test_a_sub_agents_compaction_is_not_the_cause_in_the_main_thread(make: Any, scanned: Any) -> None:
    def inline(s: Any) -> None:
        chain = make.Session(path="x", isSidechain=True)
        chain.prompt()
        chain.call(100)
        chain.summary()
        s.lines += chain.lines

    (found,) = rebuilds(scanned(pair(make, minutes=6, between=inline), prices=FLAT))
    assert str(found["cause"]) == "expired 5m"


def test_the_frame(make: Any, scanned: Any) -> None:
    df = rebuilds_df(scanned(pair(make, minutes=6), prices=FLAT))
    assert df[["turn", "tokens", "cause"]].to_numpy().tolist() == [[2, 50_000, "expired 5m"]]
    assert len(rebuilds_df(scanned(root="none"))) == 0
