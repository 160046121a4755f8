"""Category over turns: steps that hold the frame's values, a stack that ends at the total, marks where they belong."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures
from ctxlib.figures import style

TURNS = [
    {"other": 20, "skills": 5, "tool_result": 5},
    {"other": 20, "skills": 5, "tool_result": 105},
    {"other": 20, "skills": 5, "tool_result": 15, "summary": 10},
]


def test_the_stack_ends_at_the_total(frames: Any, line: Any) -> None:
    frame = frames.parts(TURNS)
    ax = figures.plot_categories(frame)
    turns, total = line(ax, "total")
    assert turns == [1, 2, 3, 4]
    assert total == [30, 130, 50, 50]  # the last turn is held for one turn more
    drawn = figures.categories(frame)
    assert drawn.sum(axis=1).tolist() == frame.groupby("turn")["shown"].sum().tolist()
    assert list(drawn.columns) == ["other", "skills", "summary", "tool_result"]  # other at the bottom, results on top
    bands = [band for band in ax.collections if len(band.get_paths())]
    assert [band.get_hatch() or "" for band in bands[:4]] == [style.look(name).hatch for name in drawn.columns]
    top = max(point[1] for point in bands[3].get_paths()[0].vertices)
    assert top == 130


def test_steps_and_not_slopes(frames: Any) -> None:
    """A straight line would invent values at a compaction: between two turns there is none but theirs."""
    ax = figures.plot_categories(frames.parts(TURNS))
    heights = {float(y) for _, y in ax.collections[-1].get_paths()[0].vertices}
    assert heights <= {25.0, 35.0, 30.0, 130.0, 50.0, 0.0}


def test_window_and_compactions(frames: Any, texts: Any) -> None:
    marks = pd.DataFrame({"session": ["s1", "s2"], "thread": ["main", "main"], "turn": [3, 2]})
    ax = figures.plot_categories(frames.parts(TURNS, window=200), compactions=marks)
    assert [line.get_xdata()[0] for line in ax.lines if line.get_gid() == "compaction"] == [3]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_gid() == "window"] == [200]
    assert ax.get_ylim()[1] >= 200
    far = figures.plot_categories(frames.parts(TURNS, window=1_000_000))
    assert not [line for line in far.lines if line.get_gid() == "window"]
    assert "of the window (1M)" in texts(far)
    assert "window" not in texts(figures.plot_categories(frames.parts(TURNS, window=None)))


def test_each_category_alone_on_one_scale(frames: Any) -> None:
    fig = figures.plot_categories_each(frames.parts(TURNS))
    small = [ax for ax in fig.axes[1:] if ax.get_title(loc="left")]
    assert [ax.get_title(loc="left") for ax in small] == [
        "other (estimated)",
        "skills",
        "compaction summary",
        "tool results",
    ]
    assert len({ax.get_ylim() for ax in small}) == 1
    steps = [[float(y) for y in ax.lines[0].get_ydata()] for ax in small]
    assert steps == [[20, 20], [5, 5], [0, 10, 10], [5, 105, 15, 15]]


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    parts = ctx.kinds_df(sample)
    chosen = figures.pick(ctx.sessions_df(sample))
    frame = figures.thread(parts, chosen)
    ax = figures.plot_categories(frame, compactions=ctx.regrowth_df(sample))
    _, total = line(ax, "total")
    peak = ctx.sessions_df(sample).set_index("session").loc[chosen]
    assert max(total) == peak["peak_ctx"]
    assert f"in turn {total.index(max(total)) + 1} of {len(total) - 1}" in figures.headline_categories(frame)
    assert total.index(max(total)) + 1 == peak["peak_turn"]


def test_nothing_and_one_turn(frames: Any, texts: Any, line: Any) -> None:
    empty = frames.parts(TURNS)[:0]
    assert texts(figures.plot_categories(empty)).strip().endswith("no data in this window")
    assert texts(figures.plot_categories_each(empty).axes[0]).strip().endswith("no data in this window")
    assert figures.headline_categories(empty) == "No data in this window."
    one = figures.plot_categories(frames.parts(TURNS[:1]))
    assert line(one, "total") == ([1, 2], [30, 30])


def test_labels_on_the_axes_that_were_given(frames: Any) -> None:
    import matplotlib.pyplot as plt

    _, given = plt.subplots()
    assert ctx.plot_categories(frames.parts(TURNS), ax=given) is given
