"""Which session and which call: a prefix, the largest by default, a sentence for a wrong one."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from ctxlib import figures

SESSIONS = pd.DataFrame({"session": ["aa1", "aa2", "b"], "peak_ctx": pd.array([10, 30, None], "Int64")})


def test_the_largest_or_a_unique_prefix() -> None:
    assert figures.pick(SESSIONS) == "aa2"
    assert figures.pick(SESSIONS, "b") == "b"
    assert figures.pick(SESSIONS, "aa1") == "aa1"
    assert figures.pick(SESSIONS[:0], "x") == ""
    assert figures.largest(SESSIONS)["session"].tolist() == ["aa2", "aa1", "b"]


@pytest.mark.parametrize(
    ("session", "sentence"),
    [("x", "no session begins with 'x'"), ("aa", "2 sessions begin with 'aa'"), (3, "must be text, not 3")],
)
def test_a_wrong_one_is_a_sentence(session: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        figures.pick(SESSIONS, session)


def test_the_turn_with_the_largest_context_or_the_one_named(frames: Any) -> None:
    frame = frames.parts([{"other": 5}, {"other": 9}, {"other": 7}])
    assert figures.chosen_turn(figures.at_turn(frame)) == 2
    assert figures.chosen_turn(figures.at_turn(frame, "3")) == 3
    with pytest.raises(ValueError, match="parameter turn must be a whole number from 1 to 3, not '4'"):
        figures.at_turn(frame, "4")
    assert figures.at_turn(frame[:0], "4").empty
    assert figures.thread(frame, "s1").shape == frame.shape
    assert figures.thread(frame, "s2").empty
