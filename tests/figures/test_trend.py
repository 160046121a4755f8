"""This week against last: seven whole days up to the end of the data, never up to now."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures


def two_weeks(frames: Any) -> Any:
    day = {number: pd.Timestamp(f"2026-07-{number:02d}T10:00Z") for number in range(1, 32)}
    return frames.spend(
        [
            {"ts": day[30], "session": "a", "read": 100, "read_usd": 3.0},
            {"ts": day[24], "session": "b", "project": "/q", "read": 50, "uncached": 50, "read_usd": 1.0},
            {"ts": day[23], "session": "b", "project": "/q", "read_usd": 2.0},
            {"ts": day[17], "session": "c", "thread": "agent-1", "read_usd": 0.5},
            {"ts": day[16], "session": "c", "read_usd": 99.0},
        ]
    )


def test_weeks_are_whole_days_up_to_the_last_call(frames: Any) -> None:
    this, last, end = figures.weeks(two_weeks(frames))
    assert end == pd.Timestamp("2026-07-31", tz="UTC")
    assert this["usd"].tolist() == [3.0, 1.0]
    assert last["usd"].tolist() == [2.0, 0.5]
    this, _, _ = figures.weeks(two_weeks(frames), "2026-07-24T00:00:00Z")
    assert this["usd"].tolist() == [2.0, 0.5]


def test_the_ends_are_both_weeks(frames: Any, line: Any, texts: Any) -> None:
    frame = two_weeks(frames)
    ax = figures.plot_trend(frame)
    assert line(ax, "this") == ([3.0, 1.0], [0, 1])
    assert line(ax, "last") == ([0.5, 2.0], [0, 1])
    assert "$0.50 → $3.00" in texts(ax)  # dollars are no formula
    assert figures.headline_trend(frame).replace("\u00a0", " ") == (
        "24 Jul 2026 to 30 Jul 2026: 2 sessions and $4.00 at list prices, against 1 session and $2.50 in the seven days before"
        " (+60 %)."
    )
    assert figures.pairs(frame)["change"].tolist() == [5.0, -0.5]
    assert figures.advice_trend(frame)[0].startswith(
        "The project that moved most is /p: $2.50 more than the week before"
    )


def test_both_weeks_in_numbers(frames: Any) -> None:
    lines = figures.compare(two_weeks(frames)).text.replace("\u00a0", " ").splitlines()
    assert lines[0].split() == ["what", "week", "before", "this", "week", "change"]
    assert lines[1].split() == ["sessions", "1", "2", "+100", "%"]
    assert lines[3].split() == ["context", "tokens", "0", "200"]  # nothing to compare with: no change


def test_without_a_week_before(frames: Any) -> None:
    frame = two_weeks(frames).head(1)
    assert figures.headline_trend(frame).endswith("against 0 sessions and $0.00 in the seven days before.")
    assert figures.advice_trend(frame)[-1].startswith("The week before holds no calls")
    assert figures.pairs(frame)["change"].isna().all()


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    frame = ctx.spend_df(sample)
    ax = figures.plot_trend(frame, top=100)
    this, last, _ = figures.weeks(frame)
    assert abs(sum(line(ax, "this")[0]) - this["usd"].sum()) < 1e-9
    assert abs(sum(line(ax, "last")[0]) - last["usd"].sum()) < 1e-9
    assert this["ts"].max() == frame["ts"].max()


def test_nothing(frames: Any, texts: Any) -> None:
    empty = frames.spend([])
    assert texts(figures.plot_trend(empty)).strip().endswith("no data in this window")
    assert figures.headline_trend(empty) == figures.compare(empty).text == "No data in this window."
    assert figures.advice_trend(empty) == []
