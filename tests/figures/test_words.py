"""Numbers and labels as figures print them."""

from __future__ import annotations

import math

import pytest

from ctxlib.figures import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (950, "950"), (999.4, "999"), (999.6, "1k"), (1_000, "1k"), (4_230, "4.2k"), (9_960, "10k"),
        (150_000, "150k"), (999_499, "999k"), (999_500, "1M"), (1_240_000, "1.2M"), (48e6, "48M"), (2.1e9, "2.1G"),
        (-4_230, "-4.2k"), (-0.2, "0"),
    ],
)  # fmt: skip
def test_tokens(value: float, text: str) -> None:
    assert words.tokens(value) == text


def test_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="nan"):
        words.tokens(math.nan)


def test_percent_never_hides_what_is_there() -> None:
    shown = [words.percent(share) for share in (0, 0.0001, 0.004, 0.0096, 0.384, 1)]
    assert [text.replace("\u00a0", " ") for text in shown] == ["0 %", "< 0.1 %", "0.4 %", "1 %", "38 %", "100 %"]


def test_money_times_and_counts() -> None:
    assert [words.usd(value) for value in (0, 0.042, 99.99, 137.6, 1_240)] == [
        "$0.00",
        "$0.04",
        "$99.99",
        "$138",
        "$1.2k",
    ]
    assert [words.dollars(value) for value in (0, 0.5, 5, 150)] == ["$0", "$0.50", "$5", "$150"]
    assert [words.duration(s) for s in (40, 420, 9_000, 7_200, 200_000)] == ["40 s", "7 min", "2.5 h", "2 h", "2 days"]
    assert [words.count(1, "re-read"), words.count(1_200, "call")] == ["1 re-read", "1,200 calls"]


def test_names_are_shortened_at_the_left_by_whole_folders() -> None:
    assert words.short("/home/u/src/app.py", 40) == "/home/u/src/app.py"
    assert words.short("/home/someone/src/app/main.py", 16) == "…/app/main.py"
    assert words.short("D:\\work\\some\\deep\\folder\\x.py", 14) == "…/folder\\x.py"
    assert words.short("a" * 50, 10) == "…" + "a" * 9
    assert len(words.short("/x" * 400, 34)) <= 34


def test_names_are_one_line_of_plain_text() -> None:
    assert words.short("a\x1b[31m\nb\u202ec\u0000d", 40) == "a [31m b c d"
    assert words.markup("<b>$x_1$</b>") == "&lt;b&gt;$x_1$&lt;/b&gt;"
    assert words.session("3ee1c0de-aaaa") == "3ee1c0de"
