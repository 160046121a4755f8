"""Messages taken apart, residents of a call, and the drift of other: all sum to what the provider measured."""

from __future__ import annotations

from typing import Any

import pytest

import ctxlib as ctx
from ctxlib.accounting.drift import drift_df
from ctxlib.accounting.kinds import KINDS, kinds_df
from ctxlib.accounting.residents import residents_df


@pytest.fixture(scope="module")
def sample() -> Any:
    return ctx.open_logs("")


def test_kinds_sum_to_messages_at_every_call(sample: Any) -> None:
    parts, kinds = ctx.snapshots_df(sample), kinds_df(sample)
    call = ["session_id", "thread_id", "seq"]
    messages = parts[parts["category"] == "messages"].set_index(call)["shown"]
    sums = kinds[kinds["category"].isin(KINDS)].groupby(call)["shown"].sum()
    assert (sums == messages.loc[sums.index]).all()
    assert (kinds.groupby(call)["shown"].sum() == kinds.groupby(call)["total"].first()).all()
    assert (kinds["shown"] >= 0).all()
    assert not kinds.duplicated([*call, "category"]).any()


def test_copies_of_a_session_are_left_out(sample: Any) -> None:
    kinds, sessions = kinds_df(sample), ctx.sessions_df(sample)
    assert set(kinds["session_id"]) == set(sessions["session"])


def test_each_kind_is_what_the_log_holds(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 400)
    s.call(10_000, make.use("Read", "t1", file_path="/a"), output=20)
    s.result("t1", "y" * 40_000)
    s.call(20_000)
    kinds = kinds_df(scanned(s))
    last = kinds[kinds["turn"] == 2].set_index("category")["shown"]
    assert last["tool_result"] > 9_000
    assert last["tool_input"] == 20  # the answer's own tokens
    assert last["user_text"] > 0
    assert last[["thinking", "assistant_text", "summary"]].sum() == 0
    assert last.sum() == 20_000


def test_residents_sum_to_the_call(sample: Any) -> None:
    for session in ctx.sessions_df(sample)["session"].head(8):
        held = residents_df(sample, session)
        assert held["tokens"].sum() == ctx.snapshot(sample, session).total
        assert held["tokens"].is_monotonic_decreasing
        assert held["measured"].between(0, 1).all()


def test_residents_of_a_turn(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(10_000, make.use("Read", "t1", file_path="/a"), output=20)
    s.result("t1", "y" * 40_000)
    s.call(20_000)
    s.boundary("auto", 20_000)
    s.summary()
    s.call(9_000)
    logs = scanned(s)
    second = residents_df(logs, "s1", 2)
    results = second[second["kind"] == "tool_result"]
    assert results[["tool", "path", "since"]].to_numpy().tolist() == [["Read", "/a", 2]]
    third = residents_df(logs, "s1", 3)
    assert "/a" not in set(third["path"])  # compacted away
    with pytest.raises(ValueError, match="turn 9 is not there"):
        residents_df(logs, "s1", 9)
    assert residents_df(scanned(root="none")).empty


def test_drift_of_the_rises_is_none_where_nothing_falls(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(10_000, make.use("Read", "t1", file_path="/a"), output=20)
    s.result("t1", "y" * 40_000)
    s.call(30_000)
    logs = scanned(s)
    row = drift_df(logs).iloc[0]
    assert row[["growth", "delta", "calls"]].tolist() == [20_000, 0, 2]
    blocks = ctx.blocks_df(logs)
    appended = blocks[(blocks["born"] == 1) & blocks["cleared"].isna()]["tokens"].sum()
    assert row["constant"] == 20_000 - appended
    assert drift_df(scanned(root="none")).empty
