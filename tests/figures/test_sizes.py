"""How large sessions get: every session is a step of the curve, and the counts beside the thresholds are theirs."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures

PEAKS = [10_000, 150_000, 260_000, None]
SESSIONS = pd.DataFrame(
    {
        "session": list("abcd"),
        "project": ["/p", "/p", "/q", "/q"],
        "model": "m",
        "peak_ctx": pd.array(PEAKS, "Int64"),
    }
)


def test_every_session_is_a_step(line: Any, texts: Any) -> None:
    ax = figures.plot_sizes(SESSIONS)
    sizes, shares = line(ax, "peaks")
    assert sizes == [0, 10_000, 150_000, 260_000]
    assert [round(share, 3) for share in shares] == [0, 0.333, 0.667, 1]
    assert "2 of 3\npass 150k" in texts(ax)  # a session passes a threshold that it reaches (X-peak)
    assert "1 of 3\npass 250k" in texts(ax)
    assert line(ax, "half") == ([0, 150_000, 150_000], [0.5, 0.5, 0])
    assert figures.headline_sizes(SESSIONS).replace("\u00a0", " ") == (
        "Half of 3 sessions stay below 150k tokens; 2 (67 %) pass 150k and 1 pass 250k."
    )


def test_dots_by_project(line: Any, texts: Any) -> None:
    ax = figures.plot_sizes_by(SESSIONS, by="project")
    assert line(ax, "peaks-0") == ([260_000], [0])  # the largest median first
    assert line(ax, "median-1") == ([80_000], [1])
    assert "median 80k of 2, 1 pass 150k" in texts(ax)
    assert figures.peaks_by(SESSIONS, "project")["over_250k"].tolist() == [1, 0]


def test_what_the_large_ones_weigh(frames: Any) -> None:
    curves = frames.curves({"a": [50_000, 150_000, 200_000]})
    large = figures.weight(curves).iloc[0]
    assert large[["calls", "tokens"]].tolist() == [2, 350_000]
    assert large["tokens_share"] == 350 / 400
    said = figures.advice_sizes(SESSIONS, curves)
    assert (
        said[0].replace("\u00a0", " ").startswith("67 % of the calls have 150k tokens or more, and carry 88 % of all")
    )
    assert figures.advice_sizes(SESSIONS, curves.head(1))[0].startswith("No call reaches 150k tokens")


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    frame, told = ctx.sessions_df(sample), ctx.detail(sample)
    sizes, _ = line(figures.plot_sizes(frame), "peaks")
    assert len(sizes) - 1 == told["sessions"]
    head = figures.headline_sizes(frame)
    assert f"Half of {told['sessions']} sessions" in head
    assert f"; {told['over_150k']} (" in head
    assert f"and {told['over_250k']} pass 250k" in head


def test_nothing(texts: Any, frames: Any) -> None:
    empty = SESSIONS[:0]
    for ax in (figures.plot_sizes(empty), figures.plot_sizes_by(empty)):
        assert texts(ax).strip().endswith("no data in this window")
    assert figures.headline_sizes(empty) == "No data in this window."
    assert figures.advice_sizes(empty, frames.curves({})) == []
    assert figures.weight(frames.curves({}))["calls"].tolist() == [0, 0]
