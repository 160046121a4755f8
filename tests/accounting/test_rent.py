"""Context rent: a block costs its tokens again at every later call that carries it."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.accounting.rent import rent, rent_df

FLAT = {"claude-sonnet-4-5": {"input": 10.0, "output": 15.0}}


def long(make: Any, calls: int) -> Any:
    s, ctx = make.Session(), 20_000
    s.prompt("x" * 27)
    s.call(ctx, make.use("Read", "t", file_path="/a"), output=10)
    s.result("t", "x" * 2700)
    ctx += 1010
    for _ in range(calls):
        s.call(ctx, output=5)
        ctx += 5
    return s


def test_tokens_times_the_calls_that_carry_them(make: Any, scanned: Any) -> None:
    df = rent_df(scanned(long(make, 7), prices=FLAT))
    row = df[df["kind"] == "tool_result"].iloc[0]
    assert row[["tool", "path", "blocks", "tokens", "calls", "rent", "measured"]].tolist() == [
        *("Read", "/a", 1, 1000, 7, 7000, 1.0)
    ]
    assert row["usd"] == pytest.approx(7000 * 1.0 / 1e6)
    assert df["rent"].is_monotonic_decreasing


def test_a_compaction_ends_the_rent(make: Any, scanned: Any) -> None:
    s = long(make, 3)
    s.boundary("auto")
    s.summary("x")
    for _ in range(5):
        s.call(9000)
    df = rent_df(scanned(s, prices=FLAT))
    assert df[df["kind"] == "tool_result"]["calls"].tolist() == [3]


def test_rent_is_paid_within_the_window_only(make: Any, scanned: Any) -> None:
    s = long(make, 2)
    s.wait(days=2)
    s.call(21_500)
    df = rent_df(scanned(s, prices=FLAT, since="2026-07-02"))
    assert df[df["kind"] == "tool_result"]["calls"].tolist() == [1]


def test_copies_in_a_fork_pay_only_for_its_own_calls(make: Any, scanned: Any) -> None:
    a = long(make, 2)
    b = make.Session("z")
    b.lines = [{**line, "sessionId": "z"} for line in a.lines]
    b.head, b.now = a.head, a.now
    b.call(22_000)
    df = rent_df(scanned(a, b, prices=FLAT))
    held = df[df["kind"] == "tool_result"].set_index("session")["calls"].to_dict()
    assert held == {"s1": 2, "z": 1}


def test_a_model_without_a_price_has_rent_and_no_dollars(make: Any, scanned: Any) -> None:
    s = make.Session(model="somebodys-model")
    s.prompt("x" * 270)
    s.call(1000)
    table = rent(scanned(s))
    assert table["rent"].sum() > 0
    assert table["usd"].sum() == 0


def test_nothing_at_all(scanned: Any) -> None:
    assert len(rent_df(scanned())) == 0
