"""One window per model, from what the logs say of it: a wrong one makes every percent wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.rules.windows import windows

OPUS = "claude-opus-4-6"


def session(make: Any, ctx: int, name: str = "s1", model: str = OPUS) -> Any:
    s = make.Session(name, model=model)
    s.prompt()
    s.call(ctx)
    return s


def test_a_context_above_the_list_is_a_million(make: Any, scanned: Any) -> None:
    found = windows(
        scanned(session(make, 90_000, model="claude-haiku-4-5"), session(make, 201_000, "b", "claude-haiku-4-5"))
    )
    assert found["claude-haiku-4-5"] == (1_000_000, "peak above 200k")


def test_the_resolved_model_of_a_sub_agent_tells(make: Any, scanned: Any) -> None:
    s = session(make, 1000, model="claude-haiku-4-5")
    s.result("t", toolUseResult={"status": "completed", "resolvedModel": "claude-haiku-4-5[1m]"})
    assert windows(scanned(s))["claude-haiku-4-5"] == (1_000_000, "[1m] in the model name")


def test_the_words_in_a_prompt_tell_nothing(make: Any, scanned: Any) -> None:
    s = session(make, 1000, model="claude-haiku-4-5")
    s.prompt('"resolvedModel":"claude-haiku-4-5[1m]"')
    s.result("t", '{"toolUseResult":{"resolvedModel":"claude-haiku-4-5[1m]"}}')
    assert windows(scanned(s))["claude-haiku-4-5"] == (200_000, windows(scanned(s))["claude-haiku-4-5"][1])


@pytest.mark.parametrize(
    ("trigger", "pre", "source"),
    [("auto", 167_000, "auto-compaction"), ("manual", 167_000, "genai-prices"), ("auto", 50_000, "genai-prices")],
)
def test_an_automatic_compaction_near_the_end_tells(
    make: Any, scanned: Any, trigger: str, pre: int, source: str
) -> None:
    """A manual one says nothing of the window; nor does one that the user set to come early."""
    s = session(make, 40_000)
    s.boundary(trigger, pre)
    s.summary()
    s.call(30_000)
    assert windows(scanned(s))[OPUS][1].startswith(source)


def test_what_context_printed_wins(make: Any, scanned: Any) -> None:
    s = session(make, 1000)
    s.prompt(
        "<local-command-stdout>## Context Usage\n\n**Model:** claude-opus-4-6\n**Tokens:** 56.2k / 967k (6%)\n\n"
        "| Category | Tokens | Percentage |\n|---|---|---|\n| System prompt | 3k | 1% |\n| System tools | 12k | 1% |\n"
    )
    assert windows(scanned(s))[OPUS] == (1_000_000, "/context output")


def test_spellings_of_a_model_share_one_window(make: Any, scanned: Any) -> None:
    names = ["claude-haiku-4-5-20251001", "us.anthropic.claude-haiku-4-5-20251001-v1:0"]
    found = windows(scanned(*(session(make, 1000 + 300_000 * i, str(i), name) for i, name in enumerate(names))))
    assert [found[name] for name in names] == [(1_000_000, "peak above 200k")] * 2


def test_a_users_own_window(make: Any, scanned: Any) -> None:
    found = windows(scanned(session(make, 1000), prices={OPUS: {"window": 150_000}}))
    assert found[OPUS] == (150_000, "user file")


def test_an_unknown_model_has_none(make: Any, scanned: Any) -> None:
    from ctxlib.readout import detail

    got = detail(scanned(session(make, 1000, model="somebodys-model")))
    assert (got["windows"], got["peak_pct"]) == ({"somebodys-model": None}, {"s1": None})
