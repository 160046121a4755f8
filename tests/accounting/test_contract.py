"""The snapshot object: parts that sum to its total, nested parts counted once, nothing invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlib.accounting.contract import CATEGORIES, OTHER, Part, Snapshot, Warned, compose, deduplicated, unnested

RAW = st.dictionaries(st.sampled_from(CATEGORIES), st.one_of(st.integers(0, 10**9), st.floats(0, 1e6)), max_size=9)
MEASURED = st.one_of(st.none(), st.integers(0, 10**9))


@given(RAW, MEASURED)
def test_a_composed_snapshot_adds_up(raw: dict[str, float], measured: int | None) -> None:
    snap = compose(raw, measured=measured, session="s", model="m", window=200_000)
    assert sum(part.shown for part in snap.parts) == snap.total
    assert min(part.shown for part in snap.parts) >= 0
    assert snap.estimated == sum(part.raw for part in snap.parts)
    assert snap.total == (measured if measured is not None else snap.estimated)
    assert snap.basis == ("estimated" if measured is None else "measured")
    assert snap.parts[-1].category == OTHER
    assert len({part.category for part in snap.parts}) == len(snap.parts)
    if measured is not None and snap.estimated > measured:
        assert snap.factor == pytest.approx(measured / snap.estimated)
        assert snap.shown()[OTHER] == 0
    else:
        assert snap.factor == 1.0
        assert all(part.shown == part.raw for part in snap.parts[:-1])
    assert snap.free == max(0, 200_000 - snap.total)


def test_nested_parts_are_taken_out_of_the_system_prompt(cases: Path) -> None:
    """Case G2: skills, memory and deferred names inside the prompt count once; the rest is other, not messages."""
    folder = cases / "G2-nested-parts-and-other"
    given, case = (json.loads((folder / f"{name}.json").read_text()) for name in ("estimates", "expected"))
    inside = {key.removesuffix("_chars"): chars / 4 for key, chars in given["inside_system_prompt"].items()}
    told = {key.removesuffix("_tokens"): tokens for key, tokens in given.items() if key.endswith("_tokens")}
    raw = unnested({"system_prompt": given["system_prompt_chars"] / 4, **inside, **told})
    snap = compose(raw, measured=given["provider_total"], session="s", model="m", window=given["window"])
    want = dict(case["shown"])
    want["system_prompt"] = want.pop("system_other")
    assert snap.shown() == want
    assert (sum(snap.shown().values()), snap.factor, snap.free) == (case["sum"], case["factor"], case["free"])


def test_a_prompt_smaller_than_its_parts_is_nothing_and_not_negative() -> None:
    assert unnested({"system_prompt": 5, "skills": 9})["system_prompt"] == 0


def test_an_unknown_category_is_named() -> None:
    with pytest.raises(ValueError, match="no such category: other, prompt"):
        compose({"prompt": 1, "other": 2}, measured=5, session="s", model="m")


@pytest.mark.parametrize(("window", "free", "percent"), [(None, None, None), (100, 0, 150.0), (300, 150, 50.0)])
def test_free_space_is_never_negative_and_never_guessed(
    window: int | None, free: int | None, percent: float | None
) -> None:
    snap = compose({}, measured=150, session="s", model="m", window=window)
    assert (snap.free, snap.percent) == (free, percent)


def test_one_warning_a_code_the_first() -> None:
    given = [Warned("a", "1"), Warned("b", "2"), Warned("a", "3")]
    assert deduplicated(given) == (Warned("a", "1"), Warned("b", "2"))


def test_text_and_html_show_the_same_numbers_and_escape_names() -> None:
    snap = Snapshot("<s>", "<m>", "measured", 30, (Part("messages", 20, 20, "delta"), Part(OTHER, 0, 10, "residual")))
    assert "66.7%" in str(snap)
    assert "<s>" not in snap._repr_html_()
    assert "66.7&nbsp;%" in snap._repr_html_()
