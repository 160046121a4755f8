"""Tools and re-reads: bars that sum to all result tokens, errors beside them, reasons apart."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures

TOOLS = pd.DataFrame(
    {
        "tool": ["Read", "Bash", "Grep", "$x_1$"],
        "server": "",
        "calls": [10, 20, 5, 1],
        "results": [10, 20, 5, 0],
        "tokens": [700, 200, 100, 0],
        "errors": [0, 5, 1, 0],
    }
)


def again() -> Any:
    return pd.DataFrame(
        {
            "path": ["/a", "/a", "/b", "/c"],
            "tokens": [100, 50, 400, 10],
            "after_compaction": [False, True, False, False],
            "after_shell": [False, True, False, True],
            "after_external": [False, False, False, True],
        }
    )


def test_bars_are_tokens_and_errors(texts: Any) -> None:
    left, right = figures.plot_tools(TOOLS, top="2").axes
    assert [bar.get_width() for bar in left.patches] == [700, 200, 100]
    assert [bar.get_width() for bar in right.patches] == [0, 0.25, 0.2]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["Read", "Bash", "2 other tools"]
    assert "70\u00a0%  ·  700" in texts(left)
    assert "5 of 20" in texts(right)
    assert figures.headline_tools(TOOLS).replace("\u00a0", " ") == (
        "Read returned 70 % of all result tokens (700 of 1k); 17 % of 35 results were errors."
    )


def test_all_names_stay_text() -> None:
    picture = figures.show(figures.plot_tools(TOOLS))
    assert "$x_1$" in picture.svg  # type: ignore[union-attr]


def test_rereads_by_file_and_reason(texts: Any) -> None:
    frame = again()
    ax = figures.plot_rereads(frame)
    groups = {group.get_label(): [bar.get_width() for bar in group] for group in ax.containers}
    assert groups == {
        "no reason in the log": [400, 100, 0],
        "compacted away": [0, 50, 0],  # the strongest reason that holds
        "changed outside": [0, 0, 10],
    }
    assert [bar.get_x() for bar in ax.containers[1]][1] == 100
    assert "150  ·  2 times" in texts(ax)
    assert figures.by_reason(frame)["tokens"].tolist() == [500, 50, 10]
    assert figures.headline_rereads(frame) == (
        "4 re-reads of unchanged files put 560 tokens into the context again; 2 of them (500 tokens) for no reason that the"
        " log shows."
    )


def test_what_to_do() -> None:
    said = [text.replace("\u00a0", " ") for text in figures.advice_tools(TOOLS, again())]
    assert said[0].startswith("Read: 70 tokens a result; read ranges")
    assert said[2].startswith("Bash fails in 25 % of its results")
    assert said[3].startswith("/b was read again unchanged for 400 tokens")


def test_headline_is_true_of_the_sample(sample: Any) -> None:
    frame, told = ctx.tools_df(sample), ctx.detail(sample)
    left, _ = figures.plot_tools(frame).axes
    assert sum(bar.get_width() for bar in left.patches) == sum(told["tool_tokens"].values())
    assert left.patches[0].get_width() == told["top_tools"][0][1]
    assert figures.headline_tools(frame).startswith(f"{told['top_tools'][0][0]} returned ")
    again = ctx.rereads_df(sample)
    ax = figures.plot_rereads(again, top=100)
    drawn = sum(bar.get_width() for group in ax.containers for bar in group)
    assert drawn == told["rereads"]["tokens"]
    assert figures.headline_rereads(again).startswith(f"{told['rereads']['count']} re-reads")


def test_nothing(texts: Any) -> None:
    assert texts(figures.plot_tools(TOOLS[:0]).axes[0]).strip().endswith("no data in this window")
    assert texts(figures.plot_rereads(again()[:0])).strip().endswith("no data in this window")
    assert figures.headline_tools(TOOLS[:0]) == "No data in this window."
    assert figures.advice_tools(TOOLS[:0], again()[:0]) == []
