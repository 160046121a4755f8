"""Bars of one call and of many sessions: what is drawn sums to the total, and the headline is true of it."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures
from ctxlib.figures import style

CALL = {"other": 40, "tool_result": 50, "skills": 10, "thinking": 0}


def test_bars_sum_to_the_total_and_keep_their_look(frames: Any, texts: Any) -> None:
    ax = figures.plot_breakdown(frames.parts([CALL]))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [50, 10, 40]  # largest first, other last, what is empty not at all
    assert sum(widths) == 100
    assert [bar.get_hatch() or "" for bar in ax.patches] == [
        style.look(c).hatch for c in ("tool_result", "skills", "other")
    ]
    assert "50\u00a0%  ·  50" in texts(ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["tool results", "skills", "other (estimated)"]
    assert figures.headline_breakdown(frames.parts([CALL])) == (
        "Tool results: 50\u00a0% of this call's 100 tokens (50). 40\u00a0% is held by nothing in the log (other, estimated)."
    )


def test_a_snapshot_is_drawn_as_it_is(sample: Any) -> None:
    snap = ctx.snapshot(sample)
    ax = ctx.plot_breakdown(snap)
    assert sum(bar.get_width() for bar in ax.patches) == snap.total
    drawn = figures.breakdown(snap)
    assert drawn["shown"].sum() == snap.total
    assert dict(zip(drawn["category"], drawn["shown"], strict=True)) == {k: v for k, v in snap.shown().items() if v}


def test_shares_are_over_the_last_calls_of_main_threads(frames: Any) -> None:
    frame = pd.concat(
        [
            frames.parts([{"tool_result": 999, "other": 1}, {"tool_result": 30, "other": 70}]),
            frames.parts([{"tool_result": 90, "other": 10}], session="s2"),
            frames.parts([{"tool_result": 500}], session="s2").assign(thread_id="agent-1"),
        ]
    )
    drawn = figures.shares(frame).set_index("category")
    assert drawn["shown"].to_dict() == {"tool_result": 120, "other": 80}
    assert drawn.loc["tool_result", "share"] == 0.6
    assert drawn["sessions"].to_dict() == {"tool_result": 2, "other": 2}
    ax = figures.plot_shares(frame)
    assert [bar.get_width() for bar in ax.patches] == [120, 80]
    head = figures.headline_shares(frame).replace("\u00a0", " ")
    assert head.startswith(
        "Tool results fill 60 % of the context, the most of all that the logs hold: 120 of 200 tokens"
    )
    assert "2 sessions. 40 % is held by nothing in the log" in head
    assert figures.advice_shares(frame)[0].replace("\u00a0", " ").startswith("Tool results, 60 % (120): ")


def test_what_other_holds_adds_up(frames: Any) -> None:
    frame = frames.parts([{"tool_result": 60, "other": 40}])
    frame.loc[frame["category"] == "other", "injected"] = 10
    held = figures.unexplained(frame).iloc[0]
    assert held[["other", "at_start", "arrived", "total"]].tolist() == [40, 30, 10, 100]
    assert (
        figures.headline_unexplained(frame).replace("\u00a0", " ").startswith("75 % of other was there from the first")
    )


def test_headline_of_the_sample_is_true_of_the_bars(sample: Any) -> None:
    frame = ctx.kinds_df(sample)
    drawn, ax = figures.shares(frame), figures.plot_shares(frame)
    assert [bar.get_width() for bar in ax.patches] == drawn["shown"].tolist()
    last = (
        frame[frame["thread_id"] == "main"].drop_duplicates(["session_id", "seq"]).groupby("session_id")["total"].last()
    )
    assert sum(bar.get_width() for bar in ax.patches) == last.sum()
    assert f"last calls of {len(last)} sessions" in figures.headline_shares(frame)
    assert len(last) == len(ctx.sessions_df(sample))


def test_nothing(frames: Any, texts: Any) -> None:
    empty = frames.parts([CALL])[:0]
    for ax in (figures.plot_breakdown(empty), figures.plot_shares(empty)):
        assert texts(ax).strip().endswith("no data in this window")
        assert not ax.patches
    assert figures.headline_shares(empty) == figures.headline_breakdown(empty) == "No data in this window."
    assert figures.advice_shares(empty) == []
