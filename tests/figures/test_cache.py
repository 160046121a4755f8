"""The cache: shares that sum to one, USD that sum to the total, rebuilds by cause."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import ctxlib as ctx
from ctxlib import figures
from ctxlib.figures import style
from ctxlib.figures.periods import periods


def rows(frames: Any) -> Any:
    days = frames.times(2, step="24h")
    return frames.spend(
        [
            {"ts": days[0], "read": 80, "write_5m": 20, "read_usd": 1.0, "write_5m_usd": 3.0},
            {
                "ts": days[1],
                "read": 90,
                "write_1h": 6,
                "uncached": 4,
                "output": 10,
                "write_1h_usd": 2.0,
                "output_usd": 4.0,
            },
        ]
    )


def rebuilds() -> Any:
    return pd.DataFrame(
        {
            "cause": ["expired 5m", "expired 5m", "unknown", "compaction", "odd_new_reason"],
            "tokens": [100, 200, 50, 10, 5],
            "usd": [1.0, 0.5, 1.0, 9.0, 0.1],
            "gap_min": [10.0, 90.0, 1.0, 1.0, 1.0],
            "logged": [False, False, False, False, True],
        }
    )


def test_shares_are_drawn_from_zero_and_sum_to_one(frames: Any) -> None:
    frame = rows(frames)
    drawn = figures.cache_shares(frame)
    assert drawn["tokens"].tolist() == [100, 100]
    shares = drawn[["read_share", "write_5m_share", "write_1h_share", "uncached_share"]]
    assert shares.sum(axis=1).tolist() == [1, 1]
    above, below = figures.plot_cache(frame).axes
    assert [bar.get_height() for bar in above.patches] == [100, 100]
    heights = [[round(bar.get_height(), 3) for bar in group] for group in below.containers]
    assert heights == [[0.2, 0], [0, 0.06], [0, 0.04]]  # what was not read; the rest to 1 was
    assert [bar.get_y() for bar in below.containers[2]] == [0.2, 0.06]
    assert {group[0].get_hatch() or "" for group in below.containers} == {"", "///", "xxx"}
    assert figures.headline_cache(frame).replace("\u00a0", " ") == (
        "85 % of 200 context tokens were read from the cache. Writing it cost $5.00 of $10.00 at list prices (50 %)."
    )


def test_cost_by_kind_sums_to_the_total(frames: Any, texts: Any) -> None:
    ax = figures.plot_cost(rows(frames))
    assert [bar.get_width() for bar in ax.patches] == [1, 3, 2, 0, 4]
    assert [bar.get_facecolor() for bar in ax.patches][1] == [bar.get_facecolor() for bar in ax.patches][2]
    assert [bar.get_hatch() or "" for bar in ax.patches][1:3] == ["", "///"]  # 5 minutes and 1 hour, without colour
    assert "$4.00  ·  40\u00a0%  ·  10 tokens" in texts(ax)
    assert figures.headline_cost(rows(frames)).endswith("most of it output: $4.00 (40\u00a0%).")
    assert figures.headline_cost(frames.spend([{"read": 5}])) == "No model of this window has a list price."


def test_rebuilds_by_cause(texts: Any) -> None:
    frame = rebuilds()
    ax = figures.plot_rebuilds(frame)
    assert [bar.get_width() for bar in ax.patches] == [1.5, 1.0, 0.1]  # a compaction's prefix is new by intent
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["pause over 5 min", "cause unknown", "odd_new_reason"]
    assert ax.patches[1].get_hatch() == style.look("other").hatch
    assert figures.headline_rebuilds(frame) == (
        "4 calls wrote a cached prefix again: 355 tokens, $2.60 more than reading it; most by cause: pause over 5 min ($1.50)."
    )


def test_five_minutes_against_one_hour(frames: Any) -> None:
    said = figures.advice_cache(rows(frames), rebuilds())
    # 5-minute writes of $3.00 at 2x instead of 1.25x; only the pause of 10 minutes would have been bridged
    assert said[0].startswith("Caching for 1 hour instead of 5 minutes would have been dearer here: $1.80 more")
    assert "against $1.00 of rebuilds after pauses of 5 to 60 minutes (1 rebuild)" in said[0]
    assert said[1].startswith("Pause over 5 min: 2 rebuilds, $1.50. ")


def test_headline_is_true_of_the_sample(sample: Any) -> None:
    frame, told = ctx.spend_df(sample), ctx.detail(sample)
    drawn = figures.cache_shares(frame)
    assert drawn["tokens"].sum() == sum(told["cache"].values())
    above, _ = figures.plot_cache(frame).axes
    assert sum(bar.get_height() for bar in above.patches) == drawn["tokens"].sum()
    assert (
        figures.headline_cache(frame)
        .replace("\u00a0", " ")
        .startswith(f"{100 * told['cache_shares']['read']:.0f} % of ")
    )
    writes = figures.cost(frame).set_index("category")["usd"]
    assert writes[["write_5m", "write_1h"]].sum() == pytest.approx(told["cache_write_usd"], abs=1e-5)


def test_periods_follow_the_span(frames: Any) -> None:
    def name(days: int) -> str:
        return periods(pd.Series(frames.times(2, step=f"{days * 24}h"))).name

    assert [name(days) for days in (1, 45, 46, 400, 401)] == ["day", "day", "week from", "week from", "month"]
    week = periods(pd.Series(frames.times(2, start="2026-07-01", step="2400h")))
    assert [f"{start:%a %d}" for start in week.of] == ["Mon 29", "Mon 05"]
    assert week.label(week.of[0]) == "29 Jun"


def test_nothing(frames: Any, texts: Any) -> None:
    empty, none = frames.spend([]), rebuilds()[:0]
    axes = [figures.plot_cache(empty).axes[0], figures.plot_cost(empty), figures.plot_rebuilds(none)]
    assert all(texts(ax).strip().endswith("no data in this window") for ax in axes)
    assert figures.headline_cache(empty) == figures.headline_cost(empty) == "No data in this window."
    assert figures.headline_rebuilds(none) == "No call wrote a cached prefix again."
    assert figures.advice_cache(empty, none) == []
