"""Curves: the median that is drawn is the median, with the number of sessions that it is of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ctxlib as ctx
from ctxlib import figures

SIX = {"a": [10, 20, 30], "b": [20, 40], "c": [30, 60], "d": [40, 80], "e": [50, 100], "f": [60, 120, 999_000]}


def test_median_and_band(frames: Any, line: Any, texts: Any) -> None:
    frame = frames.curves(SIX)
    drawn = figures.bands(frame)
    assert drawn["turn"].tolist() == [1, 2, 3]
    assert drawn["sessions"].tolist() == [6, 6, 2]
    ax = figures.plot_curves(frame)
    assert line(ax, "median") == ([1, 2, 3], [35, 70, 499_515])
    assert drawn.loc[0, "p10"] == pytest.approx(np.quantile([10, 20, 30, 40, 50, 60], 0.1))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1\n6", "3\n2"]
    single = {
        line.get_gid(): list(line.get_ydata()) for line in ax.lines if (line.get_gid() or "").startswith("session-")
    }
    assert single == {f"session-{name}": sizes for name, sizes in SIX.items()}
    assert [line.get_ydata()[0] for line in ax.lines if (line.get_gid() or "").startswith("threshold")] == [
        150_000,
        250_000,
    ]
    assert "median" in texts(ax)


def test_the_median_ends_where_too_few_are_left(frames: Any, texts: Any) -> None:
    frame = frames.curves({**{f"s{i}": [10, 20] for i in range(20)}, "long": [10, 20, 30, 40]})
    assert figures.bands(frame)["turn"].tolist() == [1, 2]
    assert "1 session goes on, to turn 4 and 40" in texts(figures.plot_curves(frame))


def test_share_of_the_window(frames: Any, line: Any) -> None:
    frame = frames.curves({"a": [50_000, 100_000], "b": [50_000, 100_000]})
    ax = figures.plot_curves(frame, value="pct")
    assert line(ax, "median")[1] == [25, 50]
    assert figures.headline_curves(frame, value="pct").replace("\u00a0", " ") == (
        "The median session starts with 25 % of the window at turn 1 and holds 50 % at turn 2, which 2 of 2 sessions reached."
    )
    unknown = frame.assign(pct=pd.array([None] * 4, "Float64"))
    assert figures.headline_curves(unknown, value="pct") == "No data in this window."


def test_small_multiples_show_each_session_once(frames: Any) -> None:
    frame = pd.concat([frames.curves({"a": [1, 2, 3], "b": [1, 2]}), frames.curves({"c": [5, 6]}, project="/q")])
    frame.loc[(frame["session"] == "a") & (frame["turn"] == 3), "project"] = "/q"  # cwd changed: still a session of /p
    fig = figures.plot_curves_by(frame)
    titles = {ax.get_title(loc="left"): " ".join(text.get_text() for text in ax.texts) for ax in fig.axes}
    assert "2 sessions" in titles["/p"]
    assert "1 session" in titles["/q"]


def test_small_multiples_without_any_window(frames: Any, texts: Any) -> None:
    unknown = frames.curves({"a": [1, 2]}).assign(pct=pd.array([None] * 2, "Float64"))
    assert texts(figures.plot_curves_by(unknown, value="pct").axes[0]).strip().endswith("no data in this window")


def test_to_look_at_closely(frames: Any) -> None:
    spec = figures.show(figures.explore_curves(frames.curves(SIX), top="2")).spec  # type: ignore[union-attr]
    assert [trace["y"] for trace in spec["data"]] == [SIX["f"], SIX["e"]]
    assert {trace["line"]["shape"] for trace in spec["data"]} == {"hv"}
    assert len({(trace["line"]["color"], trace["line"]["dash"]) for trace in spec["data"]}) == 2


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    frame = ctx.curves_df(sample)
    _, median = line(figures.plot_curves(frame), "median")
    first = frame[frame["turn"] == 1]["ctx"]
    assert median[0] == first.median()
    assert f"of {len(first)} sessions reached" in figures.headline_curves(frame)
    stones = figures.milestones(frame)
    held = {turn: pair for turn, pair in ctx.detail(sample)["curve_median"].items() if int(turn) in set(stones["turn"])}
    drawn = zip(stones["turn"], stones["median"].astype(int), stones["sessions"], strict=True)
    assert {str(turn): (size, count) for turn, size, count in drawn} == {
        turn: (pair["ctx"], pair["sessions"]) for turn, pair in held.items()
    }


def test_advice_names_the_turn(frames: Any) -> None:
    frame = frames.curves({name: [100_000, 140_000, 160_000] for name in "abcde"})
    said = figures.advice_curves(frame)
    assert said[0].startswith("The median session passes 150k at turn 3")
    assert said[1].startswith("Each of the first 3 turns adds 30k tokens")
    assert figures.advice_curves(frames.curves({"a": [10]}))[0].startswith("The median session stays below 150k")


def test_nothing_and_one_call(frames: Any, texts: Any, line: Any) -> None:
    empty = frames.curves({})
    assert texts(figures.plot_curves(empty)).strip().endswith("no data in this window")
    assert texts(figures.plot_curves_by(empty).axes[0]).strip().endswith("no data in this window")
    assert figures.headline_curves(empty) == "No data in this window."
    assert figures.show(figures.explore_curves(empty)).alt == "No data in this window."
    one = frames.curves({"a": [7]})
    assert line(figures.plot_curves(one), "median") == ([1], [7])
    assert figures.headline_curves(one) == "The median session holds 7 tokens at turn 1 (1 session)."
