"""A wrong window turns every percent of a report wrong; two windows for one model make its sessions incomparable."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib.models import decide, full_window, list_window


def test_one_model_with_a_small_and_a_large_session_has_one_window() -> None:
    peaks = (214_000, 120_000)
    assert {decide("claude-opus-4-8", evidence=[], peak_ctx=max(peaks)) for _ in peaks} == {
        decide("claude-opus-4-8[1m]", evidence=[], peak_ctx=120_000)
    }
    for peak in peaks:
        found = decide("claude-opus-4-8", evidence=[], peak_ctx=peak)
        assert found is not None
        assert found[0] == 1_000_000


def test_the_source_of_a_listed_window_is_named() -> None:
    listed = list_window("claude-sonnet-4-5-20250929")
    assert listed is not None
    assert listed[0] == 200_000
    assert listed[1].startswith("genai-prices ")
    assert list_window("models/gemini-2.5-pro") == (1_048_576, "ctxlib table")
    assert list_window("nobody") is None


def test_the_users_file_is_asked_before_the_list() -> None:
    overrides = {"claude-sonnet-4-5": {"window": 500_000}}
    assert list_window("anthropic/claude-4.5-sonnet", overrides) == (500_000, "user file")


EVIDENCE = [(200_000, "auto_compact"), (1_000_000, "hint_1m"), (258_400, "stated"), (967_000, "context_output")]


@pytest.mark.parametrize(
    ("kinds", "window"),
    [
        (4, (1_000_000, "/context output")),
        (3, (258_400, "stated in the log")),
        (2, (1_000_000, "[1m] in the model name")),
        (1, (200_000, "auto-compaction")),
    ],
)
def test_the_best_evidence_wins_whatever_its_order(kinds: int, window: tuple[int, str]) -> None:
    for evidence in (EVIDENCE[:kinds], EVIDENCE[:kinds][::-1]):
        assert decide("claude-opus-4-6", evidence=evidence, peak_ctx=1000) == window
    own = {"claude-opus-4-6": {"window": 300_000}}
    assert decide("claude-opus-4-6", evidence=EVIDENCE, peak_ctx=1, overrides=own) == (300_000, "user file")


@pytest.mark.parametrize(("before", "window"), [(155_000, 200_000), (167_500, 200_000), (998_659, 1_000_000)])
def test_tokens_before_an_automatic_compaction_mean_the_window_that_held_them(before: int, window: int) -> None:
    assert decide("nobody", evidence=[(before, "auto_compact")], peak_ctx=0) == (window, "auto-compaction")


def test_a_peak_above_the_window_proves_a_larger_one() -> None:
    assert decide("claude-sonnet-4", evidence=[], peak_ctx=535_000) == (1_000_000, "peak above 200k")
    assert decide("claude-sonnet-4", evidence=[], peak_ctx=1_200_000) == (2_000_000, "peak above 200k")
    assert decide("claude-opus-5", evidence=[], peak_ctx=1_000_001) == (2_000_000, "peak above 1000k")
    own = {"claude-sonnet-4": {"window": 150_000}}
    assert decide("claude-sonnet-4", evidence=[], peak_ctx=160_000, overrides=own) == (200_000, "peak above 150k")


def test_a_full_window_is_no_larger_window() -> None:
    assert decide("claude-sonnet-4", evidence=[], peak_ctx=200_000) == list_window("claude-sonnet-4")


def test_nothing_is_claimed_of_an_unknown_model() -> None:
    assert decide("nobody", evidence=[], peak_ctx=350_000) is None
    assert decide("nobody", evidence=[(5, "mcp_server"), (0, "context_output")], peak_ctx=350_000) is None


@pytest.mark.parametrize(
    ("shown", "buffer", "window"),
    [
        (967_000, 0, 1_000_000),
        (967_000, 33_000, 1_000_000),
        (167_000, 33_000, 200_000),
        (155_000, 45_000, 200_000),
        (155_000, 0, 155_000),
        (200_000, 45_000, 200_000),
        (1_000_000, 33_000, 1_000_000),
        (960_000, 33_000, 960_000),
    ],
)
def test_a_window_shown_less_its_buffer_gets_it_back(shown: int, buffer: int, window: int) -> None:
    assert full_window(shown, buffer) == window


KINDS = st.sampled_from(["context_output", "stated", "hint_1m", "auto_compact", "else"])
MODELS = st.sampled_from(["claude-opus-4-8", "claude-sonnet-4-5", "gpt-5.4", "nobody"])


@settings(deadline=None)
@given(MODELS, st.lists(st.tuples(st.integers(-10, 10**7), KINDS)), st.integers(0, 10**8))
def test_no_window_is_smaller_than_what_it_held(model: str, evidence: list[tuple[int, str]], peak: int) -> None:
    found = decide(model, evidence=evidence, peak_ctx=peak)
    assert found is None or found[0] >= max(peak, 1)
    assert found == decide(model, evidence=reversed(evidence), peak_ctx=peak)
