"""Dumbbells end at what was measured, and growth after a compaction is what the calls say."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures

PAIRS = [(100_000, 40_000, None), (160_000, 50_000, 13_000), (None, 40_000, None)]


def test_the_ends_are_what_was_measured(frames: Any, line: Any, texts: Any) -> None:
    frame = frames.compactions(PAIRS)
    ax = figures.plot_compactions(frame)
    assert line(ax, "before") == ([160_000, 100_000], [0, 1])  # by size before; without a call before there is no end
    assert line(ax, "after") == ([50_000, 40_000], [0, 1])
    assert line(ax, "told") == ([13_000], [0])  # the metadata is a mark beside, never an end
    assert "31\u00a0% left" in texts(ax)
    assert figures.headline_compactions(frame).replace("\u00a0", " ") == (
        "2 compactions took the context from 130k to 45k tokens (medians): 36 % stays."
    )


def test_microcompactions_are_no_dumbbells(frames: Any) -> None:
    frame = frames.compactions(PAIRS).assign(kind=["micro", "full", "full"])
    assert figures.dumbbells(frame)["ctx_before"].tolist() == [160_000]
    assert figures.headline_compactions(frame) == "The one compaction left 50k of 160k tokens."


def test_growth_back_to_80_percent(line: Any) -> None:
    frame = pd.DataFrame(
        {"compaction": [0, 0, 0, 1, 1], "turn": [1, 2, 3, 1, 2], "ctx": 0, "share": [0.3, 0.8, 0.9, 0.4, 0.5]}
    )
    ax = figures.plot_regrowth(frame)
    assert line(ax, "after-0") == ([1, 2, 3], [0.3, 0.8, 0.9])
    assert line(ax, "back") == ([2], [0.8])
    assert line(ax, "back-line")[1] == [0.8, 0.8]
    assert line(ax, "median")[1] == [0.35, 0.65]
    assert (
        figures.headline_regrowth(frame)
        == "1 of 2 compactions was back at 80 % of the size before, after 2 turns (median)."
    )
    none = figures.headline_regrowth(frame[frame["compaction"] == 1])
    assert none.startswith("None of 1 compaction was back at 80 %")


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    frame = ctx.compactions_df(sample)
    ax = figures.plot_compactions(frame)
    before, after = line(ax, "before")[0], line(ax, "after")[0]
    known = frame.dropna(subset=["ctx_before", "ctx_after"])
    known = known[known["kind"] != "micro"]
    assert sorted(before) == sorted(known["ctx_before"])
    assert sorted(after) == sorted(known["ctx_after"])
    assert figures.headline_compactions(frame).startswith(f"{len(before)} compactions took")
    growth, rows = ctx.regrowth_curves_df(sample), ctx.regrowth_df(sample)
    back = figures.plot_regrowth(growth)
    assert len(line(back, "back")[0]) == rows["back"].notna().sum()
    assert sorted(line(back, "back")[0]) == sorted(rows["back"].dropna())
    assert figures.headline_regrowth(growth).startswith(f"{rows['back'].notna().sum()} of {len(rows)} compactions")


def test_what_to_do(frames: Any) -> None:
    after = pd.DataFrame({"usd": [0.5, 0.25], "written": [20_000, 30_000], "reread": [0, 1_500]})
    said = figures.advice_compactions(frames.compactions(PAIRS), after)
    assert said[0].startswith("45k tokens are there again")
    assert said[1].startswith("2 compactions came automatically")
    assert said[2].startswith("The first call after each wrote 25k tokens to the cache anew (median; $0.75 in all")
    assert said[2].endswith("and 1.5k tokens were read again because they had been compacted away.")


def test_nothing(frames: Any, texts: Any) -> None:
    empty = frames.compactions([])
    assert texts(figures.plot_compactions(empty)).strip().endswith("no data in this window")
    growth = pd.DataFrame({"compaction": [], "turn": [], "ctx": [], "share": []})
    assert texts(figures.plot_regrowth(growth)).strip().endswith("no data in this window")
    assert figures.headline_compactions(empty).startswith("No data in this window")
    assert figures.headline_regrowth(growth).startswith("No data in this window")
    assert figures.advice_compactions(empty, pd.DataFrame()) == []
