"""Fabro's runs: five generations of events, sums that are no context, and nothing that ends a scan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ctxlib as ctx
from ctxlib.accounting.intervals import intervals
from ctxlib.logs import Logs
from ctxlib.rules import cache, compactions, curves
from ctxlib.sources import SOURCES

HERE = Path(__file__).parent / "fabro"
RUN, DEMO = "01KSB7GKM0A8P61YYCV7WNYJG9", "01JDEMO0000000000000000000"
Read = Callable[..., Logs]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """read(events or a file's name): a scan of a run's files."""

    def run(*files: str, events: list[dict[str, Any]] | bytes | None = None) -> Logs:
        root = tmp_path / "dump"
        root.mkdir(exist_ok=True)
        for name in files:
            (root / name).write_bytes((HERE / name).read_bytes())
        if events is not None:
            data = events if isinstance(events, bytes) else b"".join(json.dumps(e).encode() + b"\n" for e in events)
            (root / "events.jsonl").write_bytes(data)
        return ctx.scan(root, since="all")

    return run


def event(name: str, seq: int = 1, **properties: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "id": f"evt_{seq}",
        "ts": f"2026-06-10T10:{seq:02d}:00.000Z",
        "run_id": "R1",
        "node_id": "implement",
        "stage_id": "implement@1",
        "event": name,
        "properties": {"visit": 1, **properties},
    }


def message(seq: int, fresh: int, read: int = 0, write: int = 0, **properties: Any) -> dict[str, Any]:
    billing = {"input_tokens": fresh, "cache_read_tokens": read, "cache_write_tokens": write, "output_tokens": 7}
    model = {"provider": "anthropic", "model_id": "claude-opus-4-7"}
    return event("agent.message", seq, text="ok", model=model, billing=billing, **properties)


def test_a_stage_sum_is_no_occupancy(read: Read) -> None:
    """84.8 M tokens are a stage's sum: as a context they would be the peak of every report, and its cache bill twice."""
    logs = read("run.json")
    calls = ctx.calls_df(logs).set_index("agent")
    implement = calls.loc["implement@1"]
    assert implement["scope"] == "stage"
    sides = ["input", "cache_read", "cache_write", "output", "reasoning"]
    assert int(sum(implement[side] for side in sides)) == 84_797_402
    assert calls["ctx"].isna().all()
    assert len(calls) == 2, "stages without usage are no calls"
    assert len(ctx.curves_df(logs)) == 0
    assert len(intervals(logs).rows) == 0
    assert cache.totals(logs).read == cache.totals(logs).write == 0
    assert len(ctx.cache_df(logs)) == 0
    sessions = ctx.sessions_df(logs)
    assert sorted(sessions["session"]) == [f"{RUN}/implement@1", f"{RUN}/simplify_opus@1"]
    assert sessions["peak_ctx"].isna().all()
    assert sessions["calls"].tolist() == [0, 0]
    held = ctx.detail(logs)
    assert (held["calls"], held["peak_p50"], held["over_150k"], held["categories"]) == (0, None, 0, {})
    assert len(ctx.snapshots_df(logs)) == 0


def test_an_older_run_keeps_its_sums_in_the_checkpoint(read: Read) -> None:
    """Runs to May 2026 have no usage on their stages: unread, a 175 M token run would show nothing at all."""
    calls = ctx.calls_df(read("run_older.json"))
    assert len(calls) == 3
    sides = ["input", "cache_read", "cache_write", "output", "reasoning"]
    assert int(calls[sides].to_numpy().sum()) == 175_370_101
    assert set(calls["scope"]) == {"stage"}
    assert set(calls["agent"]) == {"implement@1", "simplify_opus@1", "simplify_gpt@1"}


def test_messages_make_the_curve_of_their_stage(read: Read) -> None:
    """Each answer is a call: its input side, cache reads and writes included, is a point of the stage's curve."""
    logs = read(events=[message(1, 100), message(2, 10, 100, 40), message(3, 5, 150)])
    assert ctx.curves_df(logs)["ctx"].tolist() == [100, 150, 155]
    calls = ctx.calls_df(logs)
    assert set(calls["scope"]) == {"call"}
    assert set(calls["thread_kind"]) == {"stage"}
    assert ctx.sessions_df(logs)["session"].tolist() == ["R1/implement@1"]


def test_run_and_events_of_one_run_are_not_added_up(read: Read) -> None:
    """A dump holds the sum and the calls that it is of: counted together the run would cost twice."""
    document = json.loads((HERE / "run.json").read_text())
    document["spec"]["run_id"] = "R1"
    logs = read(events=[message(1, 100), message(2, 300)])
    root = Path(logs.roots[0])
    (root / "run.json").write_text(json.dumps(document))
    logs = ctx.scan(root, since="all")
    row = ctx.sessions_df(logs).set_index("session").loc["R1/implement@1"]
    assert (row["calls"], row["peak_ctx"]) == (2, 300)
    assert cache.totals(logs).uncached == 400


def test_all_generations_are_read(read: Read) -> None:
    """One message, two compactions, one compaction request; snapshots of generations 2 and 3 are facts, not calls."""
    logs = read("events.jsonl")
    calls = ctx.calls_df(logs).set_index("call_id")
    assert calls.loc["evt_g3", "ctx"] == 120_000
    assert calls.loc["evt_g4/compaction", "thread_kind"] == "compaction"
    assert len(calls) == 2
    found = ctx.compactions_df(logs)
    assert found["before"].tolist()[0] == 321_000
    assert found["trigger"].tolist()[1] == "threshold"
    assert len(ctx.notes_df(logs)) == 0
    assert ctx.curves_df(logs)["ctx"].tolist() == [120_000]


def test_generation_5_reads_the_name_in_the_record_or_derived(read: Read) -> None:
    """The proposed envelope puts the event two levels down; unread, newer runs would be empty."""
    inner = message(4, 60)
    record = {**inner, "body": {"event": inner.pop("event"), "properties": inner.pop("properties")}}
    line = {"run_id": "R1", "stream_seq": 9, "kind": "event", "id": "x", "recorded_at": inner["ts"]}
    derived = {"event": "stage.completed", "node_id": "implement", "properties": {"visit": 1}}
    logs = read(events=[{**line, "item": {"record": record}}, {**line, "id": "y", "item": {"derived": derived}}])
    assert ctx.curves_df(logs)["ctx"].tolist() == [60]
    assert len(ctx.notes_df(logs)) == 0


def test_a_repeated_event_of_a_stream_counts_once(read: Read) -> None:
    """Generation 4 stores the agent's own stream: the same (stream_id, seq) under another id is the same event."""
    events = [message(1, 100), message(2, 100), message(3, 200)]
    for held, seq in zip(events, (5, 5, 6), strict=True):
        held["properties"] |= {"stream_id": "ses", "seq": seq}
    assert ctx.curves_df(read(events=events))["ctx"].tolist() == [100, 200]


def test_an_event_inside_an_event(read: Read) -> None:
    """Generation 4's `AssistantMessage` carries usage and context window of the message."""
    window = {"input_tokens": 50, "breakdown": [{"category": "conversation", "tokens": 50}]}
    inside = {"model": "gpt-5.4", "usage": {"tokens": {"input": 20, "cache_read": 30}}, "context_window": window}
    logs = read(
        events=[event("agent.message", stream_id="s", seq=1) | {"properties": {"event": {"AssistantMessage": inside}}}]
    )
    assert ctx.curves_df(logs)[["ctx", "model"]].values.tolist() == [[50, "gpt-5.4"]]
    assert len(logs.told[logs.told["kind"] == logs.names.codes["part"]]) == 1


def test_a_compaction_without_its_end_is_none(read: Read) -> None:
    """A failed compaction leaves the context as it was: counted, a report would show compactions that changed nothing."""
    begun = event("agent.compaction.started", 2, estimated_tokens=90, context_window_size=100)
    logs = read(events=[message(1, 80), begun, message(3, 95)])
    assert len(compactions.compactions(logs)) == 0
    assert ctx.notes_df(logs)["cause"].tolist() == ["compaction_unfinished"]


def test_a_compaction_has_the_calls_around_it(read: Read) -> None:
    """Its own estimate is the `before`; what it left is the next message, for its summary alone is no context."""
    begun = event("agent.compaction.started", 2, estimated_tokens=90, context_window_size=100)
    ended = event("agent.compaction.completed", 3, summary_token_estimate=5)
    row = compactions.compactions(read(events=[message(1, 80), begun, ended, message(4, 30)]))[0]
    assert (row["before"], row["ctx_before"], row["ctx_after"], row["after"]) == (90, 80, 30, 30)


def test_stages_and_sub_agents_do_not_share_a_curve(read: Read) -> None:
    """Two stages of one file and a sub-agent interleave; in one curve they would look like compactions."""
    other = {**message(2, 500), "node_id": "review", "stage_id": "review@1"}
    child = {**message(3, 9), "session_id": "ses_child", "parent_session_id": "ses_root"}
    logs = read(events=[message(1, 100), other, child, message(4, 110)])
    curve = ctx.curves_df(logs)
    assert {key: list(rows["ctx"]) for key, rows in curve.groupby("session")} == {
        "R1/implement@1": [100, 110],
        "R1/review@1": [500],
    }
    row = ctx.sessions_df(logs).set_index("session").loc["R1/implement@1"]
    assert (row["agents"], row["agent_calls"]) == (1, 1)
    assert len(curves.sessions(logs)) == 2


def test_unknown_events_and_broken_lines_are_noted_and_passed_over(read: Read) -> None:
    """A newer Fabro, a cut dump or a foreign line must not lose the rest of a run, nor go unsaid."""
    good = json.dumps(message(1, 100)).encode()
    strange = json.dumps(event("agent.telepathy.received", 2)).encode()
    known = json.dumps(event("checkpoint.completed", 3)).encode()
    lines = [good, strange, known, b"[1]", b"nonsense", json.dumps(message(6, 120)).encode(), good[:50]]
    logs = read(events=b"\n".join(lines))
    assert ctx.curves_df(logs)["ctx"].tolist() == [100, 120]
    notes = ctx.notes_df(logs)
    assert notes[["line", "cause"]].values.tolist() == [
        [2, "unknown_event"],
        [4, "unknown_event"],
        [5, "no_json"],
        [7, "half_written"],
    ]
    assert logs.bad_lines == 2


@pytest.mark.parametrize("value", [None, [], "x", -5, 1.5, True, 2**80, {"a": 1}])
def test_odd_values_lose_no_call(read: Read, value: Any) -> None:
    odd = message(1, 100)
    odd["properties"] |= {"context_window": value, "text": value, "visit": value}
    odd["properties"]["billing"]["cache_read_tokens"] = value
    odd["node_label"] = value
    curve = ctx.curves_df(read(events=[odd, message(2, 7)]))["ctx"].tolist()
    assert len(curve) == 2
    assert curve[1] == 7


def test_tools_of_a_stage_are_counted(read: Read) -> None:
    given = {"tool_name": "shell", "tool_call_id": "t1"}
    started = event("agent.tool.started", 1, arguments={"command": "ls"}, **given)
    ended = event("agent.tool.completed", 2, output="x" * 40, is_error=True, **given)
    rows = ctx.tools_df(read(events=[started, ended, message(3, 100)]))
    assert rows[["tool", "calls", "results", "tokens", "errors"]].values.tolist() == [["shell", 1, 1, 10, 1]]


def test_no_text_of_a_run_is_kept(read: Read) -> None:
    """Prompts, answers and tool output are sized and let go; a warning's words are dropped for its code."""
    mark = "zebra-secret"
    window = {"input_tokens": 5, "breakdown": [], "warnings": [{"code": mark + " words", "message": mark}]}
    events = [
        event("stage.prompt", 1, text=mark),
        message(2, 5, context_window=window) | {"node_label": mark},
        event("agent.tool.completed", 3, tool_name="t", output=mark),
        event("agent.warning", 4, kind="context_window", message=mark, details={"estimated_tokens": 9}),
    ]
    events[1]["properties"]["text"] = mark
    logs = read(events=events)
    assert mark not in " ".join(logs.names.strings)
    assert mark not in repr(logs)


def test_files_of_other_agents_are_left_to_them(tmp_path: Path) -> None:
    """Copilot writes an events.jsonl too, and anything may be called run.json."""
    (tmp_path / "events.jsonl").write_text('{"type":"session.start","data":{}}\n')
    (tmp_path / "run.json").write_text('{"run_id": "x"}')
    fabro = next(source for source in SOURCES if source.name == "fabro")
    assert not fabro.is_log(str(tmp_path / "events.jsonl"))
    assert not fabro.is_log(str(tmp_path / "run.json"))
    assert not fabro.is_log(str(tmp_path / "nowhere" / "events.jsonl"))
    assert fabro.is_log(str(HERE / "run.json"))
    assert fabro.is_log(str(HERE / "events.jsonl"))


def test_the_default_root(tmp_path: Path) -> None:
    fabro = next(source for source in SOURCES if source.name == "fabro")
    assert fabro.default_roots({}, tmp_path) == []
    (tmp_path / ".fabro").mkdir()
    assert fabro.default_roots({}, tmp_path) == [tmp_path / ".fabro"]
    assert fabro.default_roots({"FABRO_HOME": str(tmp_path)}, tmp_path) == [tmp_path]


def test_a_run_that_is_no_json_is_noted(read: Read, tmp_path: Path) -> None:
    logs = read("run.json")
    cut = (HERE / "run.json").read_bytes()[:1990]
    (Path(logs.roots[0]) / "run.json").write_bytes(cut)
    logs = ctx.scan(logs.roots[0], since="all")
    assert ctx.notes_df(logs)["cause"].tolist() == ["half_written"]


def test_the_store_gives_the_same(read: Read) -> None:
    """A second scan reads from the store: the facts must be there as well."""
    first, second = read("run.json", "events.jsonl"), read()
    assert second.told.tolist() == first.told.tolist()
    assert ctx.calls_df(second).equals(ctx.calls_df(first))
