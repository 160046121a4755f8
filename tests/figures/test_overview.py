"""What was read: bars that sum to all calls, and every skipped line with its cause."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures


def test_bars_are_calls(frames: Any, texts: Any) -> None:
    days = frames.times(2, step="24h")
    frame = frames.spend([{"ts": days[0]}, {"ts": days[0], "session": "s2"}, {"ts": days[1], "thread": "agent-1"}])
    ax = figures.plot_activity(frame)
    assert [[bar.get_height() for bar in group] for group in ax.containers] == [[2, 0], [0, 1]]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1 Jul", "2 Jul"]
    assert figures.activity(frame)["sessions"].tolist() == [2, 0]
    assert figures.headline_activity(frame).replace("\u00a0", " ") == (
        "3 calls in 2 sessions of 1 project, from 1 Jul 2026 to 2 Jul 2026; 33 % of the calls are sub-agents'."
    )


def test_causes_name_a_file_wherever_the_root_lies() -> None:
    notes = pd.DataFrame(
        {
            "file": ["/root/x/-home-p/a.jsonl", "C:\\logs\\-p\\b.jsonl", "/root/x/-home-p/a.jsonl"],
            "line": [3, 1, 9],
            "cause": ["k", "j", "k"],
        }
    )
    drawn = figures.causes(notes)
    assert drawn.to_numpy().tolist() == [["k", 2, 1, "-home-p/a.jsonl", 3], ["j", 1, 1, "-p/b.jsonl", 1]]
    assert figures.causes(notes[:0]).empty


def test_headline_and_numbers_are_those_of_the_sample(sample: Any) -> None:
    frame, told = ctx.spend_df(sample), ctx.detail(sample)
    ax = figures.plot_activity(frame)
    assert sum(bar.get_height() for group in ax.containers for bar in group) == told["calls"]
    head = figures.headline_activity(frame)
    assert f"{told['calls']:,} calls in {told['sessions']} sessions" in head
    numbers = figures.numbers(told)
    assert numbers["sessions"] == str(told["sessions"])
    assert numbers["compactions"] == str(len(told["compactions"]))
    assert figures.reading(told)["lines that could not be read"] == str(told["bad_lines"])
    assert all(text.count(". ") >= 1 for text in figures.advice(ctx.findings_df(sample)))


def test_nothing(frames: Any, texts: Any, nothing: Any) -> None:
    assert texts(figures.plot_activity(frames.spend([]))).strip().endswith("no data in this window")
    assert figures.headline_activity(frames.spend([])) == "No data in this window."
    assert figures.numbers(ctx.detail(nothing))["largest context of the median session"] == ""
