"""The two published shapes: every field, every enum, every null as their schemas say, from one snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlib as ctx
from ctxlib.accounting.contract import CATEGORIES, Detail, Snapshot, Warned, compose
from ctxlib.accounting.shapes import schema, stage_context_window, unavailable_stage
from ctxlib.accounting.told import stage_view, told_snapshots
from ctxlib.logs import Logs

jsonschema = pytest.importorskip("jsonschema")
FIXTURES = Path(__file__).parents[1] / "sources"
NAMES = ("session_context", "stage_context_window")
SUMMED = (
    "messages",
    "system_prompt",
    "skills",
    "memory",
    "agents",
    "tools_schema",
    "tools_deferred_catalog",
    "mcp_tools",
    "mcp_tools_deferred",
    "controls",
    "unclassified",
)
ORDER = ["system_prompt", "tools", "mcp_tools", "skills", "memory", "conversation", "other"]


def check(name: str, shape: Any) -> None:
    validator = jsonschema.Draft202012Validator(
        schema(name), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    validator.validate(json.loads(json.dumps(shape)))


def snap(raw: dict[str, float], measured: int | None, **about: Any) -> Snapshot:
    return compose(raw, measured=measured, **{"session": "s1", "model": "claude-sonnet-4-5", "window": 1000, **about})


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["additionalProperties"] is False
    assert schema(name)["required"] == list(schema(name)["properties"])


@given(
    st.dictionaries(st.sampled_from(CATEGORIES), st.integers(0, 10**9), max_size=9),
    st.one_of(st.none(), st.integers(0, 10**9)),
    st.one_of(st.none(), st.integers(1, 10**7)),
    st.sampled_from(["measured", "counted"]),
)
def test_both_shapes_hold_for_any_snapshot(
    raw: dict[str, float], measured: int | None, window: int | None, basis: str
) -> None:
    """A panel breaks on a missing key, a NaN or a null where a number belongs; and its rows must add up."""
    found = snap(raw, measured, window=window, basis=basis, warnings=(Warned("epoch_head", "first"),))
    session, stage = found.to_session_context(), found.to_stage_context_window()
    check("session_context", session)
    check("stage_context_window", stage)
    total = session["input_used"] if found.basis == "estimated" else session["total_used"]
    assert sum(session[key] for key in SUMMED) == total  # type: ignore[misc]
    assert session["classified_used"] == total - session["unclassified"]  # type: ignore[operator]
    assert sum(item["tokens"] for item in stage["breakdown"]) == stage["input_tokens"]  # type: ignore[attr-defined]
    listed = [item["category"] for item in stage["breakdown"]]  # type: ignore[attr-defined]
    assert listed == [name for name in ORDER if name in listed], "Fabro's order"


def test_a_call_of_a_log_in_both_shapes(scanned: Callable[..., Logs], make: Any) -> None:
    session = make.Session()
    session.prompt("x" * 400)
    session.call(5000, make.use("Read", "t1", file_path="/a"))
    session.result("t1", "y" * 4000)
    session.call(7000)
    found = ctx.snapshot(scanned(session))
    check("session_context", found.to_session_context())
    check("stage_context_window", found.to_stage_context_window())
    assert found.to_session_context()["tools"] == [], "what tools returned is messages, not the schemas of tools"


def test_both_systems_in_both_shapes() -> None:
    snaps = told_snapshots(ctx.scan([FIXTURES / "fabro", FIXTURES / "openprogram"], since="all"))
    assert {found.source for found in snaps} == {"fabro", "openprogram"}
    for found in snaps:
        check("session_context", found.to_session_context())
        check("stage_context_window", found.to_stage_context_window())


def test_details_are_unscaled_and_in_their_places() -> None:
    details = (
        Detail("schema", "read", 40),
        Detail("schema", "find", 10, server="docs"),
        Detail("schema", "get", 90, server="docs", deferred=True),
        Detail("skill", "commit", 12, server="project"),
        Detail("memory", "CLAUDE.md", 30),
        Detail("tool", "Bash", 999),
        Detail("file", "/a", 999),
    )
    shape = snap({"tools": 50, "messages": 50}, 50, details=details).to_session_context()
    check("session_context", shape)
    assert shape["tools_schema"] == 25
    assert shape["tools"] == [
        {"name": "read", "tokens": 40, "deferred": False},
        {"name": "find", "tokens": 10, "deferred": False},
        {"name": "get", "tokens": 90, "deferred": True},
    ]
    assert [row["name"] for row in shape["mcp_detail"]] == ["get", "find"]  # type: ignore[attr-defined]
    assert shape["skills_detail"] == [{"name": "commit", "source": "project", "tokens": 12}]
    assert shape["memory_detail"] == [{"path": "CLAUDE.md", "tokens": 30}]


def test_no_calibration_without_a_measurement() -> None:
    assert snap({"messages": 50}, None).to_session_context()["calibration"] is None
    assert snap({"messages": 50}, 100).to_session_context()["calibration"] == 2.0
    assert snap({}, 100).to_session_context()["calibration"] is None


def test_the_plans_own_numbers() -> None:
    """123,456 of 400,000 is 30.86 %, 30,000 of them 7.5 %; what our taxonomy has beside Fabro's goes to its nearest."""
    raw = {"system_prompt": 30_000, "deferred": 1_000, "agents": 2_000, "controls": 456, "messages": 90_000}
    extra = {"stage_id": "implement@1", "staleness": "live", "event_seq": 42, "generated_at": "2026-05-23T12:34:56Z"}
    about = {"window": 400_000, "provider": "openai", "basis": "counted", "extra": extra}
    shape = stage_context_window(snap(raw, 123_456, **about))
    check("stage_context_window", shape)
    assert (shape["usage_percent"], shape["count_method"]) == (30.86, "provider_api_scaled_breakdown")
    assert shape["breakdown"] == [
        {"category": "system_prompt", "tokens": 30_000, "usage_percent": 7.5},
        {"category": "tools", "tokens": 1_000, "usage_percent": 0.25},
        {"category": "memory", "tokens": 2_000, "usage_percent": 0.5},
        {"category": "conversation", "tokens": 90_000, "usage_percent": 22.5},
        {"category": "other", "tokens": 456, "usage_percent": 0.11},
    ]


@pytest.mark.parametrize("reason", ["not_agent_stage", "not_observed", "provider_unconfigured"])
def test_a_known_stage_without_data_is_no_error(reason: str) -> None:
    """An empty state to draw: nulls, no breakdown, and the reason as the warning's code."""
    shape = unavailable_stage("implement@1", reason, "why")
    check("stage_context_window", shape)
    assert (shape["available"], shape["breakdown"], shape["warnings"]) == (
        False,
        [],
        [{"code": reason, "message": "why"}],
    )
    with pytest.raises(ValueError, match="no such reason"):
        unavailable_stage("implement@1", "because", "why")


def test_stage_views_keep_to_the_schema() -> None:
    logs = ctx.scan(FIXTURES / "fabro", since="all")
    check("stage_context_window", stage_view(logs, "01JDEMO0000000000000000000", "implement@1"))
    for stage in ("implement@1", "toolchain@1", "start@1"):
        check("stage_context_window", stage_view(logs, "01KSB7GKM0A8P61YYCV7WNYJG9", stage))


@pytest.mark.parametrize(
    "change",
    [
        {"available": False},
        {"unavailable_reason": "not_observed"},
        {"count_method": "guess"},
        {"input_tokens": None},
        {"staleness": "unavailable"},
        {"breakdown": [{"category": "messages", "tokens": 1, "usage_percent": 1}]},
        {"breakdown": [{"category": "tools", "tokens": 0, "usage_percent": 0}]},
        {"breakdown": [{"category": "tools", "tokens": -1, "usage_percent": 0}]},
        {"warnings": [{"code": "x"}]},
        {"more": 1},
    ],
)
def test_the_schema_refuses_what_the_contract_does(change: dict[str, Any]) -> None:
    shape = snap({"messages": 50}, 100).to_stage_context_window()
    check("stage_context_window", shape)
    with pytest.raises(jsonschema.ValidationError):
        check("stage_context_window", shape | change)
