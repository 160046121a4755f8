"""A model under two names would get two windows, two prices and two lines in every table of a report."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxlib.models import canonical, million_hint

SPELLINGS = {
    "claude-sonnet-4-5": [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "Claude-Sonnet-4-5",
        "anthropic/claude-sonnet-4.5",
        "anthropic/claude-4.5-sonnet",
        "claude-4-5-sonnet",
        "openrouter/anthropic/claude-sonnet-4.5:thinking",
        "openrouter/anthropic/claude-4.5-sonnet:beta",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "eu.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
        "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "vertex_ai/claude-sonnet-4-5@20250929",
        "projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@default",
        "claude-sonnet-4-5-latest",
        "claude-sonnet-4-5-thinking",
        "claude-sonnet-4-5[1m]",
        "databricks-claude-sonnet-4-5",
        " claude-sonnet-4-5-2025-09-29 ",
    ],
    "claude-sonnet-4": [
        "claude-sonnet-4-20250514[1m]",
        "claude-4-sonnet",
        "claude-sonnet-4-0",
        "claude-sonnet-4@20250514",
    ],
    "claude-opus-4-6": ["claude-opus-4-6-v1", "us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4.6"],
    "claude-opus-5": ["claude-opus-5", "claude-opus-5.0", "claude-opus-5-latest"],
    "claude-opus-5-5": ["claude-opus-5.5", "claude-5-5-opus"],
    "claude-3-7-sonnet": ["claude-3-7-sonnet-20250219", "claude-3.7-sonnet:thinking", "claude-sonnet-3.7"],
    "claude-3-opus": ["claude-3-opus-20240229", "anthropic.claude-3-opus-20240229-v1:0:200k"],
}
PAIRS = [(spelling, name) for name, spellings in SPELLINGS.items() for spelling in spellings]


@pytest.mark.parametrize(("spelling", "name"), PAIRS)
def test_every_gateway_spelling_is_one_model(spelling: str, name: str) -> None:
    assert canonical(spelling) == name


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5.3-codex",
        "gpt-5.3-codex-spark",
        "gpt-5.6-sol",
        "gemini-2.5-pro",
        "gemini-2.5-flash-lite",
        "glm-5.1",
        "kimi-k2.5",
        "qwen3-coder",
        "qwen3-coder:free",
        "gpt-4o-2024-08-06",
        "deepseek-v3.2",
        "muse-spark-1.2-contributor",
        "<synthetic>",
        "sonnet",
        "claude",
        "claude-",
        "claude-2.1",
        "claude-v2:1",
        "claude-instant-1.2",
        "accounts/fireworks/models/kimi-k2p5",
    ],
)
def test_other_makers_names_keep_their_dots_and_dates(name: str) -> None:
    assert canonical(name) == canonical(name.upper()) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("openai/GPT-5.3-codex", "gpt-5.3-codex"),
        ("openrouter/moonshotai/kimi-k2.5", "kimi-k2.5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("z-ai/glm-5.1[1m]", "glm-5.1"),
    ],
)
def test_a_known_gateway_is_no_part_of_another_makers_name(spelling: str, name: str) -> None:
    assert canonical(spelling) == name


def test_fast_is_another_price_and_stays() -> None:
    assert canonical("anthropic/claude-opus-4.8-fast") == "claude-opus-4-8-fast"


def test_the_million_is_seen_in_any_spelling() -> None:
    assert million_hint("claude-opus-4-8[1m]")
    assert million_hint("us.anthropic.claude-sonnet-4-20250514-v1:0[1M] ")
    assert not million_hint("claude-opus-4-8")
    assert not million_hint("gpt-4.1")


PIECES = st.sampled_from(
    [
        "claude-",
        "anthropic/",
        "us.anthropic.",
        "sonnet",
        "-4",
        "-5",
        ".5",
        "-3",
        "-0",
        "-v1:0",
        "@",
        "[1m]",
        ":thinking",
        "-20250929",
        "-latest",
        "openai/",
        "gpt",
        "/",
        " ",
        "İ",
        "\n",
        "~",
        "databricks-",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=8).map("".join)))
@example("claude-sonnet-4-0-0")
@example("claude-4-sonnet-4-5")
@example("x" * 400)
def test_the_canonical_name_of_a_canonical_name_is_itself(name: str) -> None:
    assert canonical(canonical(name)) == canonical(name)


@given(st.sampled_from(PAIRS), st.sampled_from(["anthropic/", "eu.anthropic.", "vertex_ai/", "some-gateway/"]))
def test_one_more_prefix_changes_nothing(pair: tuple[str, str], prefix: str) -> None:
    assert canonical(prefix + pair[0].strip()) == pair[1]
