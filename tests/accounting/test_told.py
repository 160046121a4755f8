"""What sources say of their own contexts: the latest word, marked for what it is, and nothing added up wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctxlib as ctx
from ctxlib.accounting.contract import CATEGORIES, OTHER, Snapshot
from ctxlib.accounting.shapes import NotFound
from ctxlib.accounting.snapshot import snapshots_df
from ctxlib.accounting.told import stage_view, told_snapshots, told_snapshots_df
from ctxlib.logs import Logs
from ctxlib.sources.fabro_window import CATEGORIES as THEIRS

FIXTURES = Path(__file__).parents[1] / "sources"
RUN = "01KSB7GKM0A8P61YYCV7WNYJG9"
Read = Callable[..., Logs]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """read(events...): a scan of a run with one stage, implement@1."""

    def run(*events: dict[str, Any], **options: Any) -> Logs:
        root = tmp_path / "dump"
        root.mkdir(exist_ok=True)
        (root / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        return ctx.scan(root, **{"since": "all", "use_store": False, **options})

    return run


def event(name: str, seq: int, stage: str = "implement@1", **properties: Any) -> dict[str, Any]:
    ts = f"2026-06-10T10:{seq:02d}:00.000Z"
    return {
        "seq": seq,
        "id": f"e{seq}",
        "ts": ts,
        "run_id": "R",
        "stage_id": stage,
        "event": name,
        "properties": properties,
    }


def window(total: int | None, method: str = "response_usage_scaled_breakdown", **parts: int) -> dict[str, Any]:
    items = [{"category": name, "tokens": tokens, "usage_percent": 0} for name, tokens in parts.items()]
    held = {"provider": "openai", "model": "gpt-5.4", "context_window_tokens": 1000, "count_method": method}
    return {**held, **({} if total is None else {"input_tokens": total}), "breakdown": items, "warnings": []}


def message(seq: int, held: Any = None, **more: Any) -> dict[str, Any]:
    billing = {"input_tokens": 10, "output_tokens": 1}
    bodies = {} if held is None else {"context_window": held}
    return event("agent.message", seq, text="ok", billing=billing, **bodies, **more)


def only(logs: Logs) -> Snapshot:
    (snap,) = told_snapshots(logs)
    return snap


def codes(snap: Snapshot) -> list[str]:
    return [warning.code for warning in snap.warnings]


def test_a_later_snapshot_replaces_an_earlier_one(read: Read) -> None:
    """The sidebar shows the context of now; an older one beside or instead of it would be a stage that never moves."""
    first = event("agent.context_window.snapshot", 1, **window(100, "local_estimate", conversation=100))
    logs = read(first, message(2, window(120, tools=20, conversation=100)))
    snap = only(logs)
    assert (snap.total, snap.basis, snap.extra["event_seq"]) == (120, "measured", 2)
    assert (snap.residual_policy, snap.source, snap.window, snap.window_source) == ("absorbed", "fabro", 1000, "fabro")
    assert [(part.category, part.name, part.shown) for part in snap.parts] == [
        ("tools", "tools", 20),
        ("messages", "conversation", 100),
        ("other", "other", 0),
    ]


@pytest.mark.parametrize(
    ("method", "basis"),
    [
        ("provider_api_scaled_breakdown", "counted"),
        ("response_usage_scaled_breakdown", "measured"),
        ("local_estimate", "estimated"),
        ("something_new", "estimated"),
    ],
)
def test_the_basis_is_what_the_source_did(read: Read, method: str, basis: str) -> None:
    snap = only(read(message(1, window(50, method, conversation=50))))
    assert (snap.basis, snap.total) == (basis, 50)
    assert ("local_token_estimate" in codes(snap)) == (basis == "estimated")


def test_warnings_of_the_estimate_go_once_the_total_is_the_providers(read: Read) -> None:
    """A warning about the estimator beside a measured total alarms over a number that is right."""
    told = ["media_token_estimate", "activated_skill_context_counted_as_conversation", "media_token_estimate"]
    held = {"warnings": [{"code": code, "message": "x"} for code in told]}
    measured = only(read(message(1, window(50, conversation=50) | held)))
    assert codes(measured) == ["activated_skill_context_counted_as_conversation"]
    estimated = only(read(message(1, window(50, "local_estimate", conversation=50) | held)))
    assert codes(estimated) == [*told[:2], "local_token_estimate"]


def test_a_message_without_a_snapshot_keeps_the_one_before_with_a_warning(read: Read) -> None:
    """Unmarked, an old total would pass for the present one; dropped, the stage would lose what is known of it."""
    snap = only(read(message(1, window(50, conversation=50)), message(2), message(3, {"breakdown": []})))
    assert snap.total == 50
    assert "estimate_missing" in codes(snap)
    again = only(read(message(1, window(50, conversation=50)), message(2), message(3, window(70, conversation=70))))
    assert again.total == 70
    assert "estimate_missing" not in codes(again)


def test_staleness_follows_the_stage(read: Read) -> None:
    """A stage that has ended is no longer live, whatever its last snapshot said of itself."""
    running = [event("stage.started", 1, handler="agent"), message(2, window(50, conversation=50))]
    assert only(read(*running)).extra["staleness"] == "live"
    for ended in ("stage.completed", "stage.failed"):
        assert only(read(*running, event(ended, 3))).extra["staleness"] == "stored"


def test_a_sub_agent_does_not_replace_its_stage(read: Read) -> None:
    child = message(2, window(900, conversation=900)) | {"session_id": "c", "parent_session_id": "p"}
    logs = read(message(1, window(50, conversation=50)), child)
    assert {snap.thread: snap.total for snap in told_snapshots(logs)} == {"implement@1": 50, "implement@1/c": 900}
    assert stage_view(logs, "R", "implement@1")["input_tokens"] == 50


def test_a_warning_of_generation_1_says_how_full_but_not_with_what(read: Read) -> None:
    details = {"estimated_tokens": 800, "context_window_size": 1000}
    snap = only(read(event("agent.warning", 1, kind="context_window", message="m", details=details)))
    assert (snap.total, snap.window, snap.basis) == (800, 1000, "estimated")
    assert snap.shown() == {"other": 800}


def test_views_of_a_run_that_has_none(read: Read) -> None:
    """Known but without data is an answer with a reason; only what no log names is an error, and it says which."""
    root = FIXTURES / "fabro" / "run.json"
    logs = read()
    (Path(logs.roots[0]) / "run.json").write_bytes(root.read_bytes())
    logs = ctx.scan(logs.roots[0], since="all")
    assert stage_view(logs, RUN, "implement@1")["unavailable_reason"] == "not_observed"
    assert stage_view(logs, RUN, "toolchain@1")["unavailable_reason"] == "not_agent_stage"
    for run, stage, what in (("nope", "implement@1", "run"), (RUN, "implement@2", "stage"), (RUN[:9], "x", "run")):
        with pytest.raises(NotFound) as caught:
            stage_view(logs, run, stage)
        assert caught.value.what == what
        assert what in str(caught.value)
    assert isinstance(caught.value, LookupError)


def test_a_provider_that_is_not_configured_is_the_reason(read: Read) -> None:
    held = {"available": False, "unavailable_reason": "provider_unconfigured", "breakdown": []}
    view = stage_view(read(event("agent.context_window.snapshot", 1, **held)), "R", "implement@1")
    assert (view["available"], view["unavailable_reason"]) == (False, "provider_unconfigured")
    assert [warning["code"] for warning in view["warnings"]] == ["provider_unconfigured"]


def test_a_stage_in_run_json(read: Read) -> None:
    """From June 2026 run.json holds the last snapshot of each stage: read it where the events are gone."""
    document = json.loads((FIXTURES / "fabro" / "run.json").read_text())
    held = window(50, conversation=50) | {"event_seq": 42, "generated_at": "2026-05-23T12:34:56Z", "staleness": "live"}
    document["stages"]["implement@1"]["context_window"] = held
    logs = read()
    (Path(logs.roots[0]) / "run.json").write_text(json.dumps(document))
    view = stage_view(ctx.scan(logs.roots[0], since="all"), RUN, "implement@1")
    assert (view["input_tokens"], view["event_seq"], view["staleness"]) == (50, 42, "stored")
    assert view["generated_at"] == "2026-05-23T12:34:56Z"


def test_the_window_of_time_and_the_project_hold(read: Read) -> None:
    first = message(1, window(50, conversation=50))
    assert told_snapshots(read(first, since="2026-06-11")) == []
    assert told_snapshots(read(first, project="elsewhere")) == []
    assert len(told_snapshots(read(first, project="dump"))) == 1
    late = read(first, since="2026-06-11")
    assert stage_view(late, "R", "implement@1")["available"], "a stage can be looked up whenever it was"


def test_the_frame_has_the_columns_of_snapshots(read: Read) -> None:
    """Notebooks put both under each other; the policy says which shares may be compared."""
    logs = read(message(1, window(120, system_prompt=20, conversation=90, other=10)))
    frame = told_snapshots_df(logs)
    assert frame.columns.tolist() == [*snapshots_df(logs).columns, "residual_policy", "source"]
    assert frame["category"].tolist() == [*CATEGORIES, OTHER]
    assert frame["shown"].sum() == 120
    assert frame.set_index("category")["shown"].loc[["controls", "other"]].tolist() == [10, 0]
    assert frame.dtypes.astype(str).to_dict() == {
        **snapshots_df(logs).dtypes.astype(str).to_dict(),
        **dict.fromkeys(("seq", "turn", "epoch"), "Int64"),
        **{name: str(frame[name].dtype) for name in ("residual_policy", "source")},
    }
    assert len(told_snapshots_df(read())) == 0


def test_claude_code_tells_nothing_of_itself(scanned: Callable[..., Logs], make: Any) -> None:
    session = make.Session()
    session.prompt()
    session.call(100)
    assert told_snapshots(scanned(session)) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*THEIRS, "unheard_of"]), st.integers(0, 10**7)),
    st.one_of(st.none(), st.integers(0, 10**7)),
    st.sampled_from(["provider_api_scaled_breakdown", "response_usage_scaled_breakdown", "local_estimate"]),
)
def test_parts_sum_to_the_total_whatever_is_told(
    read: Read, parts: dict[str, int], total: int | None, method: str
) -> None:
    found = told_snapshots(read(message(1, window(total, method, **parts))))
    if total is None and not parts:
        assert found == []
        return
    (snap,) = found
    assert snap.total == (sum(parts.values()) if total is None else total)
    assert sum(part.shown for part in snap.parts) == snap.total
    assert min(part.shown for part in snap.parts) >= 0
    assert snap.estimated == sum(parts.values())
    assert snap.parts[-1].category == OTHER
    assert np.isfinite(snap.factor)
    assert 0 <= snap.factor <= 1
    view = snap.to_stage_context_window()
    assert sum(item["tokens"] for item in view["breakdown"]) == snap.total  # type: ignore[attr-defined]
