"""Tables beside figures: escaped, aligned, and honest about what is left out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from ctxlib import figures


def test_a_table_is_escaped_and_says_what_is_left_out(frames: Any) -> None:
    frame = pd.DataFrame({"project": [frames.hostile, "/b", "/c"], "tokens": [1_234_567, 2, 3]})
    grid = figures.table(frame, "project tokens", top="2")
    assert "<script" not in grid.html.replace("&lt;script", "")
    assert "…/script&gt;/$x_1$ [31m{y}" in grid.html
    assert "\x1b" not in grid.html + grid.text
    assert "<td>1.2M</td>" in grid.html
    assert grid.html.endswith("<p>and 1 more row</p>")
    assert grid.text.splitlines()[-1] == "and 1 more row"
    assert grid.html.count("<tr>") == 3
    assert '<th scope="col">tokens</th>' in grid.html


def test_what_is_missing_is_an_empty_cell() -> None:
    frame = pd.DataFrame(
        {
            "ctx_before": pd.array([None, 5], "Int64"),
            "trigger": [None, "auto"],
            "ts": pd.to_datetime([None, "2026-07-01"], utc=True),
        }
    )
    grid = figures.table(frame, "ts trigger ctx_before")
    first, second = grid.html.split("<tbody>\n")[1].splitlines()[:2]
    assert first.count("></td>") == 3
    assert [text in second for text in ("2026-07-01 00:00", "auto", ">5<")] == [True] * 3
    assert "NaT" not in grid.html + grid.text
    assert "<NA>" not in grid.text


def test_an_empty_table_says_so() -> None:
    assert figures.table(pd.DataFrame({"tokens": []}), "tokens").text == "No data in this window."


def test_top_is_checked() -> None:
    with pytest.raises(ValueError, match="parameter top must be a whole number from 1 to 100, not 'ten'"):
        figures.table(pd.DataFrame({"tokens": [1]}), "tokens", top="ten")


def test_another_form_for_one_column() -> None:
    grid = figures.table(pd.DataFrame({"p10": [2.123]}), "p10", p10=figures.ratio)
    assert "<td>2.12</td>" in grid.html
    assert figures.facts({"a<": "1"}).html.count("a&lt;") == 1
