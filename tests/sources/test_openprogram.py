"""OpenProgram's sessions: the branch of the head, frozen tools, summaries, and a ledger that is never locked."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxlib as ctx
from ctxlib.accounting.contract import Snapshot
from ctxlib.accounting.told import told_snapshots
from ctxlib.logs import Logs
from ctxlib.rules import cache, compactions
from ctxlib.sources import OPENPROGRAM
from ctxlib.sources.openprogram_context import estimate

HERE = Path(__file__).parent / "openprogram"
Node = dict[str, Any]
Tell = Callable[..., Snapshot]


def node(id: str, role: str = "user", output: Any = "", after: str | None = None, **fields: Any) -> Node:
    metadata = fields.pop("metadata", {})
    held = {"id": id, "role": role, "name": "", "caller": "", "predecessor": after, "output": output, "input": None}
    return {**held, "reads": [], "metadata": metadata, **fields}


def answer(id: str, after: str, fresh: int = 0, read: int = 0, write: int = 0, **fields: Any) -> Node:
    tokens = {"input_tokens": fresh, "cache_read_tokens": read, "cache_write_tokens": write, "output_tokens": 3}
    metadata = {**(tokens if fresh else {}), **fields.pop("metadata", {})}
    return node(id, "llm", "ok", after, **{"name": "claude-sonnet-4-5", "metadata": metadata, **fields})


def tools(id: str, *rows: tuple[str, int, bool, str], anchor: str = "") -> Node:
    listed = [{"name": n, "tokens": t, "deferred": d, "server": s} for n, t, d, s in rows]
    held = {"anchor_head_id": anchor} if anchor else {}
    return node(id, "code", json.dumps({"tools": listed}), name="context/tool_snapshot", caller="ROOT", metadata=held)


def prompt(id: str, text: str, anchor: str = "") -> Node:
    held = {"anchor_head_id": anchor} if anchor else {}
    return node(id, "code", text, name="context/system_prompt", caller="ROOT", metadata=held)


def summary(id: str, *covers: str, **metadata: Any) -> Node:
    held = {"covers_ids": [*covers], **metadata}
    return node(id, "llm", "s" * 38, name="context/summary", metadata=held)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """write(nodes..., head=, model=): a session's folder, each node ten seconds after the one before."""

    def run(*nodes: Node, head: str | None = None, model: str = "anthropic:claude-sonnet-4-5", id: str = "s1") -> Path:
        folder = tmp_path / ".openprogram" / "sessions" / id
        (folder / "history").mkdir(parents=True, exist_ok=True)
        for seq, held in enumerate(nodes):
            at = {"seq": seq, "created_at": 1_790_000_000.0 + 10 * seq, **held}
            name = f"{seq:04d}-{held['role'][0]}-{held['id']}.json"
            (folder / "history" / name).write_text(json.dumps(at), encoding="utf-8")
        last = next((held["id"] for held in reversed(nodes) if held["role"] != "code"), "") if head is None else head
        meta = {"id": id, "model": model, "head_id": last, "updated_at": 1_790_009_000.0}
        (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
        return tmp_path / ".openprogram"

    return run


@pytest.fixture
def tell(write: Callable[..., Path]) -> Tell:
    """tell(nodes...): what the session tells of its context."""

    def run(*nodes: Node, **options: Any) -> Snapshot:
        (snap,) = told_snapshots(ctx.scan(write(*nodes, **options), since="all"))
        return snap

    return run


def raw(snap: Snapshot) -> dict[str, int]:
    return {part.name: part.raw for part in snap.parts if part.raw}


def codes(snap: Snapshot) -> set[str]:
    return {warning.code for warning in snap.warnings}


def ledger(root: Path, *rows: tuple[Any, ...]) -> sqlite3.Connection:
    """An open ledger, in WAL mode as OpenProgram keeps it: its rows are still in `-wal`."""
    connection = sqlite3.connect(root / "usage.db")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS usage_events (event_id TEXT PRIMARY KEY, ts REAL, session_id TEXT,"
        " parent_session_id TEXT, call_kind TEXT, model_id TEXT, input_tokens INT, cache_read_tokens INT,"
        " cache_write_tokens INT, output_tokens INT, token_source TEXT)"
    )
    connection.executemany("INSERT INTO usage_events VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
    connection.commit()
    return connection


def event(id: str, at: float, fresh: int, read: int = 0, write: int = 0, **other: Any) -> tuple[Any, ...]:
    kind, session = other.get("kind", "chat"), other.get("session", "s1")
    source, parent = other.get("source", "provider_usage"), other.get("parent")
    return (id, 1_790_000_000 + at, session, parent, kind, "claude-sonnet-4-5", fresh, read, write, 3, source)


def test_the_demo_gives_its_own_numbers() -> None:
    """Category for category what OpenProgram itself answered; the total differs by the 50 tokens of cache writes that its
    `measured` leaves out (900 + 100 there, 900 + 100 + 50 here), and with it what hangs on the total."""
    want = json.loads((HERE / "context_response.json").read_text())["under_estimate"]
    (snap,) = told_snapshots(ctx.scan(HERE, since="all"))
    got = snap.to_session_context()
    assert "cache_writes_added" in codes(snap)
    because_of_writes = {"total_used": 1050, "unclassified": 818, "free_space": 198_950, "calibration": 4.5259}
    ours = {"source": "openprogram"}
    assert {key: got[key] for key in want} == {**want, **because_of_writes, **ours}
    assert (snap.basis, snap.residual_policy) == ("measured", "explicit")


def test_an_estimate_above_the_total_shrinks_by_one_factor(tmp_path: Path) -> None:
    """The second answer on record: total 101 against 232 estimated, cache writes 0, so that both totals agree."""
    want = json.loads((HERE / "context_response.json").read_text())["over_estimate"]
    for file in (HERE / "sessions").rglob("*.json"):
        target = tmp_path / file.relative_to(HERE)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text().replace('"input_tokens": 900', '"input_tokens": 1')
        target.write_text(text.replace('"cache_write_tokens": 50', '"cache_write_tokens": 0'))
    (snap,) = told_snapshots(ctx.scan(tmp_path, since="all"))
    got = snap.to_session_context()
    assert {key: got[key] for key in want} == {**want, "source": "openprogram"}


def test_a_turn_is_shown_with_its_scope_and_is_no_point_of_a_curve() -> None:
    """The tokens on an answer are sums over its turn; as a context a long turn would be a peak that never was."""
    logs = ctx.scan(HERE, since="all")
    calls = ctx.calls_df(logs)
    assert calls[["scope", "input", "cache_read", "cache_write"]].values.tolist() == [["turn", 900, 100, 50]]
    assert calls["ctx"].isna().all()
    assert len(ctx.curves_df(logs)) == 0
    assert ctx.sessions_df(logs)[["session", "calls"]].values.tolist() == [["demo1", 0]]
    assert cache.totals(logs).read == 0


def test_a_branch_switch_drops_the_measurement(tell: Tell) -> None:
    """After checking out another branch the old total belongs to another history: shown, it would be plainly wrong."""
    nodes = [
        node("u1"),
        answer("a1", "u1", 500),
        node("u2", after="a1"),
        answer("a2", "u2", 9000),
        node("u3", after="a1"),
    ]
    there = tell(*nodes, head="a2")
    assert (there.basis, there.total) == ("measured", 9000)
    other = tell(*nodes, head="u3")
    assert (other.basis, other.total) == ("estimated", sum(part.raw for part in other.parts))
    back = tell(*nodes, head="a1")
    assert (back.basis, back.total) == ("measured", 500)


def test_prompt_and_tools_are_those_of_the_branch(tell: Tell) -> None:
    """Each branch froze its own tools; the newest of the session would be the other branch's."""
    nodes = [
        node("root"),
        node("ua", after="root"),
        prompt("spa", "a" * 380, "ua"),
        tools("ta", ("a", 11, False, ""), anchor="ua"),
        answer("ha", "ua"),
        node("ub", after="root"),
        prompt("spb", "b" * 760, "ub"),
        tools("tb", ("b", 22, False, ""), anchor="ub"),
        answer("hb", "ub"),
    ]
    a, b = tell(*nodes, head="ha"), tell(*nodes, head="hb")
    assert (raw(a)["system_prompt"], raw(a)["tools_schema"]) == (104, 11)
    assert (raw(b)["system_prompt"], raw(b)["tools_schema"]) == (204, 22)


def test_older_nodes_without_anchor_belong_to_the_turn_before_them(tell: Tell) -> None:
    """Sessions from before anchors must load, on each of their branches."""
    nodes = [
        node("root"),
        node("ua", after="root"),
        tools("ta", ("a", 11, False, "")),
        answer("ha", "ua"),
        node("ub", after="root"),
        tools("tb", ("b", 22, False, "")),
        answer("hb", "ub"),
    ]
    assert raw(tell(*nodes, head="ha"))["tools_schema"] == 11
    assert raw(tell(*nodes, head="hb"))["tools_schema"] == 22


def test_old_sessions_without_frozen_tools_load(tell: Tell) -> None:
    snap = tell(node("u1", output="x" * 38), answer("a1", "u1", 100))
    assert (snap.tools_source, snap.total, snap.basis) == ("not_recorded", 100, "measured")
    assert "tools_not_recorded" in codes(snap)
    assert raw(snap) == {"messages": 14 + 4}


def test_an_empty_frozen_set_is_authoritative(tell: Tell) -> None:
    """A turn without tools had none, whatever an earlier turn or the registry of today has."""
    snap = tell(
        node("u1"), tools("t1", ("a", 11, False, ""), anchor="u1"), tools("t2", anchor="u1"), answer("a1", "u1")
    )
    assert "tools_schema" not in raw(snap)
    assert snap.tools_source == "recorded_snapshot"
    assert "tools_not_recorded" not in codes(snap)


def test_a_tool_set_that_cannot_be_read_keeps_the_one_before(tell: Tell) -> None:
    """A missing estimate keeps the previous one, with a warning: half a context must not vanish silently."""
    broken = tools("t2", anchor="u1") | {"output": "{half"}
    snap = tell(node("u1"), tools("t1", ("a", 11, False, ""), anchor="u1"), broken, answer("a1", "u1"))
    assert raw(snap)["tools_schema"] == 11
    assert "tool_snapshot_unreadable" in codes(snap)


def test_a_model_switch_takes_the_new_window_at_once(tell: Tell) -> None:
    """The old model's measurement is demoted until the new one's first usage; its window would mislead by a factor 5."""
    nodes = [node("u1"), answer("a1", "u1", 500)]
    before, after = tell(*nodes), tell(*nodes, model="openai:gpt-5.4")
    assert (before.basis, before.window) == ("measured", 200_000)
    assert after.basis == "estimated"
    assert after.model == "gpt-5.4"
    assert after.window not in (None, 200_000)
    assert "model_switched" in codes(after)


def test_a_summary_stands_for_its_segment_only_on_its_branch(tell: Tell) -> None:
    """Compacted turns are no longer sent; on a branch that does not hold all of them, the summary is not either."""
    nodes = [
        node("u1", output="x" * 380),
        answer("a1", "u1"),
        node("u2", after="a1", output="y" * 38),
        answer("a2", "u2", 70),
        summary("summary_1", "u1", "a1"),
        node("u3", after="u1", output="z" * 38),
    ]
    compacted, other = tell(*nodes, head="a2"), tell(*nodes, head="u3")
    assert raw(compacted)["messages"] == (10 + 4) + (10 + 4) + (0 + 4)
    assert raw(other)["messages"] == (100 + 4) + (10 + 4)
    assert compacted.basis == "estimated"
    assert "compacted_since" in codes(compacted)


def test_a_compaction_is_a_mark_with_what_it_said(write: Callable[..., Path]) -> None:
    nodes = [
        node("u1", output="x" * 400),
        answer("a1", "u1"),
        node("u2", after="a1", output="kept"),
        summary("summary_1", "u1", "a1", tokens_before=900, tokens_after=300),
        answer("a2", "u2", 70),
    ]
    root = write(*nodes)
    with closing(ledger(root, event("e1", 11, 800), event("e2", 41, 310))):
        logs = ctx.scan(root, since="all")
    (row,) = compactions.compactions(logs)
    assert (row["before"], row["after"], row["ctx_before"], row["ctx_after"]) == (900, 300, 800, 310)
    kept = logs.blocks[(logs.blocks["chars"] == 4)]
    assert kept["cleared"][0] > kept["born"][0], "the turn that it kept is still there"


def test_child_agents_do_not_advance_the_head(tell: Tell) -> None:
    """What a sub-agent says is not in its parent's context, nor is its usage the parent's."""
    child = [node("c1", output="x" * 4000, caller="a1"), answer("c2", "c1", 9999, caller="a1")]
    snap = tell(node("u1"), answer("a1", "u1", 100), *child, head="a1")
    assert snap.total == 100
    assert raw(snap)["messages"] < 20


def test_tools_and_prefetch_are_messages(tell: Tell) -> None:
    """Tool input and output and what memory prefetched go with every later call: left out, messages read far too low."""
    plain = raw(tell(node("u1"), answer("a1", "u1")))["messages"]
    use = node("t1", "code", "r" * 3800, name="read", caller="a1", input={"path": "p"}, metadata={"tool_call_id": "t1"})
    memory = {"memory_prefetch": "m" * 380}
    full = raw(tell(node("u1", metadata=memory), answer("a1", "u1"), use, head="a1"))["messages"]
    assert full - plain >= 1000 + 100


def test_a_turn_of_several_calls_is_not_taken_for_a_context(tell: Tell) -> None:
    use = node("t1", "code", "r", name="read", caller="a1", metadata={"tool_call_id": "t1"})
    snap = tell(node("u1"), answer("a1", "u1", 50_000), use, head="a1")
    assert snap.basis == "estimated"
    assert "turn_sum_not_used" in codes(snap)


def test_skills_are_taken_out_of_the_prompt(tell: Tell) -> None:
    listing = "<available_skills>" + "k" * 344 + "</available_skills>"
    held = tell(node("u1"), prompt("p", "a" * 380 + listing, "u1"), answer("a1", "u1"))
    assert raw(held)["skills"] == 100
    assert raw(held)["system_prompt"] == 200 + 4 - 100


def test_the_ledger_gives_the_curve_between_the_turns(write: Callable[..., Path]) -> None:
    """Calls of one turn are single contexts; blocks enter between them, and the answer after the last of its turn."""
    root = write(node("u1", output="q" * 8), answer("a1", "u1", 700), node("u2", after="a1", output="r" * 8))
    rows = [event("e1", 1, 100), event("e2", 12, 150, 50, 20), event("e3", 30, 400)]
    with closing(ledger(root, *rows)):
        logs = ctx.scan(root, since="all")
    assert ctx.curves_df(logs)["ctx"].tolist() == [100, 220, 400]
    calls = ctx.calls_df(logs).set_index("call_id")
    assert calls["scope"].to_dict() == {"e1": "call", "e2": "call", "e3": "call", "s1/a1": "turn"}
    blocks = ctx.blocks_df(logs).set_index("chars")
    assert blocks.loc[2, "born"] == 2, "the answer is in the context of the third call"
    assert ctx.sessions_df(logs)[["calls", "agents"]].values.tolist() == [[3, 0]]
    assert cache.totals(logs).uncached == 650, "the turn's sum is not added to its calls"


def test_the_last_call_of_the_turn_is_the_measured_total(write: Callable[..., Path]) -> None:
    nodes = [node("u1"), answer("a1", "u1", 5000), node("u2", after="a1"), answer("a2", "u2", 9000)]
    calls = [event("e1", 2, 100), event("e2", 5, 120, 30, 10), event("e3", 25, 400)]
    for head, total in (("a1", 160), ("a2", 400)):
        root = write(*nodes, head=head)
        (root / "usage.db").unlink(missing_ok=True)
        with closing(ledger(root, *calls)):
            (snap,) = told_snapshots(ctx.scan(root, since="all", use_store=False))
        assert (snap.basis, snap.total) == ("measured", total)


def test_a_ledger_in_use_is_read_without_touching_it(write: Callable[..., Path]) -> None:
    """OpenProgram writes while we read: a lock would stop its turn, and rows in `-wal` must not be missed."""
    root = write(node("u1"), answer("a1", "u1"))
    with closing(ledger(root, event("e1", 1, 100))) as connection:
        assert (root / "usage.db-wal").stat().st_size > 0
        connection.execute("BEGIN IMMEDIATE")
        before = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in root.iterdir())
        logs = ctx.scan(root, since="all")
        assert sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in root.iterdir()) == before
        connection.execute("ROLLBACK")
        assert ctx.curves_df(logs)["ctx"].tolist() == [100]
        connection.execute(
            "INSERT INTO usage_events SELECT 'e2', ts + 1, session_id, NULL, 'chat', model_id, 130, 0, 0, 1,"
            " token_source FROM usage_events"
        )
        connection.commit()
        os.utime(root / "sessions" / "s1" / "meta.json")
        assert ctx.curves_df(ctx.scan(root, since="all"))["ctx"].tolist() == [100, 130]


def test_calls_beside_the_conversation_are_no_points_of_its_curve(write: Callable[..., Path]) -> None:
    """Titles, memory and compactions are calls of the session and cost tokens, but none is its context."""
    root = write(node("u1"), answer("a1", "u1"))
    rows = [
        event("e1", 1, 100),
        event("e2", 2, 9, kind="title"),
        event("e3", 3, 900, kind="compaction"),
        event("e4", 4, 77, source="estimate"),
    ]
    with closing(ledger(root, *rows)):
        logs = ctx.scan(root, since="all")
    assert ctx.curves_df(logs)["ctx"].tolist() == [100]
    assert cache.totals(logs).uncached == 1086
    kinds = ctx.calls_df(logs).set_index("call_id")["thread_kind"].to_dict()
    assert kinds == {"e1": "main", "e2": "subagent", "e3": "compaction", "e4": "main"}


def test_the_ledger_alone_gives_sessions_whose_folder_is_elsewhere(write: Callable[..., Path]) -> None:
    """Sessions kept in a project, or deleted, have only their calls here; those beside it are not counted twice."""
    root = write(node("u1"), answer("a1", "u1"))
    child = event("e3", 3, 40, session="child", parent="far")
    with closing(ledger(root, event("e1", 1, 100), event("e2", 2, 300, session="far"), child)):
        logs = ctx.scan(root, since="all")
    curve = ctx.curves_df(logs)
    assert dict(zip(curve["session"], curve["ctx"], strict=True)) == {"s1": 100, "far": 300}
    far = ctx.sessions_df(logs).set_index("session").loc["far"]
    assert (far["agents"], far["agent_calls"]) == (1, 1)


def test_a_database_that_is_no_ledger_is_noted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "usage.db")) as connection:
        connection.execute("CREATE TABLE usage_events (id TEXT)")
        connection.commit()
    assert ctx.notes_df(ctx.scan(tmp_path, since="all"))["cause"].tolist() == ["no_usage_events"]
    (tmp_path / "usage.db").write_bytes(b"SQLite format 3\0" + b"x" * 200)
    assert ctx.notes_df(ctx.scan(tmp_path, since="all"))["cause"].tolist() == ["no_usage_events"]


def test_a_broken_node_loses_only_itself(write: Callable[..., Path]) -> None:
    root = write(node("u1"), answer("a1", "u1", 100))
    (root / "sessions" / "s1" / "history" / "0009-u-x.json").write_text("{half")
    logs = ctx.scan(root, since="all")
    assert ctx.notes_df(logs)[["line", "cause"]].values.tolist() == [[3, "no_json"]]
    assert told_snapshots(logs)[0].total == 100


def test_a_head_that_is_no_node_is_said(tell: Tell) -> None:
    snap = tell(node("u1"), answer("a1", "u1", 100), head="gone")
    assert (snap.basis, snap.total) == ("estimated", 0)
    assert "head_not_found" in codes(snap)


def test_a_loop_of_predecessors_ends(tell: Tell) -> None:
    assert tell(node("u1", after="a1"), answer("a1", "u1", 100)).total == 100


def test_a_changed_history_is_read_again(write: Callable[..., Path]) -> None:
    """The folder is the log: a new node must be seen though meta.json is as it was."""
    root = write(node("u1"), answer("a1", "u1"), head="a1")
    meta = root / "sessions" / "s1" / "meta.json"
    stamp = meta.stat()
    assert len(ctx.blocks_df(ctx.scan(root, since="all"))) == 1
    write(node("u1"), answer("a1", "u1"), node("u2", after="a1", output="new"), head="a1")
    os.utime(meta, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert len(ctx.blocks_df(ctx.scan(root, since="all"))) == 2


def test_no_text_of_a_session_is_kept(write: Callable[..., Path]) -> None:
    mark = "zebra-secret"
    thinking = {"type": "thinking", "text": mark}
    tool = {"type": "tool", "tool": "read", "tool_call_id": "t", "input": {"p": mark}, "result": mark}
    nodes = [
        node("u1", output=mark, metadata={"memory_prefetch": mark}),
        prompt("p", mark, "u1"),
        answer("a1", "u1", 10, metadata={"blocks": [thinking, tool], "tool_calls": []}),
        summary("summary_1", "u1") | {"output": mark},
    ]
    logs: Logs = ctx.scan(write(*nodes), since="all")
    assert mark not in " ".join(logs.names.strings) + repr(logs) + repr(told_snapshots(logs))


def test_where_it_looks(tmp_path: Path) -> None:
    assert OPENPROGRAM.default_roots({}, tmp_path) == []
    for name in (".openprogram", ".openprogram-work"):
        (tmp_path / name).mkdir()
    assert OPENPROGRAM.default_roots({}, tmp_path) == [tmp_path / ".openprogram", tmp_path / ".openprogram-work"]
    assert not OPENPROGRAM.is_log(str(tmp_path / "sessions" / "x" / "meta.json"))
    assert not OPENPROGRAM.is_log(str(tmp_path / "usage.db"))


@given(st.text(alphabet="abc def", max_size=300), st.text(alphabet="日本語中文", min_size=16, max_size=300))
def test_the_estimator(plain: str, cjk: str) -> None:
    assert estimate(plain) == int(len(plain) / 3.8)
    assert estimate(cjk) == int(len(cjk) / 1.3)
    assert estimate("") == 0
