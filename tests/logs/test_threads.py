"""Which lines are one conversation, whose it is, and in which project (scan.md, Threads and sessions)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxlib import scan
from ctxlib.logs.threads import place
from ctxlib.readout import detail
from ctxlib.tables import ThreadKind

BELOW = "-home-u-proj/s1/subagents"


def kinds(logs: Any) -> list[tuple[str, str, str]]:
    """(kind, session, agent) of each thread."""
    names = logs.names.strings
    held = [(row["kind"], names[row["session"]], names[row["agent"]]) for row in logs.threads]
    return [(ThreadKind(kind).name.lower(), session, agent) for kind, session, agent in held]


def agent(make: Any, name: str, ctx: int, path: str = "", session: str = "s1") -> Any:
    a = make.Session(session, path=path or f"{BELOW}/agent-{name}.jsonl", isSidechain=True, agentId=name)
    a.prompt("do it")
    a.call(ctx)
    return a


def main(make: Any, session: str = "s1", ctx: int = 1000, **options: Any) -> Any:
    s = make.Session(session, **options)
    s.prompt()
    s.call(ctx)
    return s


@pytest.mark.parametrize(
    "path",
    [
        f"{BELOW}/agent-77.jsonl",
        f"{BELOW}/workflows/wf_9/agent-77.jsonl",
        f"{BELOW}/agent-1/subagents/agent-77.jsonl",
        "-home-u-proj/agent-77.jsonl",
    ],
)
def test_a_sub_agent_wherever_it_lies_is_its_sessions(make: Any, scanned: Any, path: str) -> None:
    """Its context is never a point of the session's curve, and it is no session."""
    logs = scanned(main(make), agent(make, "77", 90_000, path))
    assert sorted(kinds(logs)) == [("main", "s1", ""), ("subagent", "s1", "77")]
    got = detail(logs)
    assert (got["sessions"], got["calls"], got["subagent_threads"]) == (1, 2, 1)
    assert (got["curve"], got["peak_ctx"]) == ({"s1": [1000]}, {"s1": 1000})


def test_a_sub_agent_without_ids_in_its_lines_goes_by_its_folder(make: Any, scanned: Any) -> None:
    a = agent(make, "77", 90_000)
    for line in a.lines:
        del line["sessionId"], line["agentId"]
    assert sorted(kinds(scanned(main(make), a))) == [("main", "s1", ""), ("subagent", "s1", "77")]


def test_an_agent_written_inline_and_apart_is_one_thread(make: Any, scanned: Any) -> None:
    s, a = main(make), agent(make, "77", 5000)
    s.lines += [dict(line) for line in a.lines]
    got = detail(scanned(s, a))
    assert (got["calls"], got["subagent_threads"], got["curve"]) == (2, 1, {"s1": [1000]})


def test_interleaved_sidechains_are_threads_of_their_own(make: Any, scanned: Any) -> None:
    """1.0.8x wrote several sub-agents of one turn into the main file, line by line in turns, without an agent id."""
    s = main(make)
    chains = []
    for i in range(3):
        chain = make.Session("s1", path=f"x{i}", isSidechain=True)
        for step in range(3):
            chain.prompt()
            chain.call(10_000 * (i + 1) + step)
        chains.append(chain.lines)
    s.lines += [line for group in zip(*chains, strict=True) for line in group]
    s.prompt()
    s.call(2000)
    logs = scanned(s)
    assert [kind for kind, _, _ in kinds(logs)] == ["main", "sidechain", "sidechain", "sidechain"]
    by_thread = [logs.calls["ctx"][logs.calls["thread"] == i].tolist() for i in range(4)]
    assert by_thread == [[1000, 2000], *([10_000 * i, 10_000 * i + 1, 10_000 * i + 2] for i in (1, 2, 3))]
    assert detail(logs)["subagent_threads"] == 3


def test_a_sub_agents_compaction_is_the_sub_agents(make: Any, scanned: Any) -> None:
    a = agent(make, "77", 160_000)
    a.boundary("auto", 161_000)
    a.summary()
    a.call(20_000)
    (found,) = detail(scanned(main(make), a))["compactions"]
    assert (found["session"], found["thread"], found["ctx_before"], found["ctx_after"]) == ("s1", "77", 160_000, 20_000)


def test_a_root_below_a_folder_named_subagents_holds_main_sessions(make: Any, tmp_path: Path) -> None:
    """Where the logs are kept must not decide what they are: all sessions would vanish."""
    root = tmp_path / "subagents" / "projects"
    main(make).write(root)
    assert detail(scan(root, since="all"))["sessions"] == 1


def test_files_that_hold_no_session(make: Any, scanned: Any, tmp_path: Path) -> None:
    """Summary-only and empty files are read, and are neither sessions nor faults."""
    folder = tmp_path / "projects" / "-home-u-proj"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text('{"type":"summary","summary":"x","leafUuid":"y"}\n' * 3)
    (folder / "b.jsonl").write_text("")
    got = detail(scanned(main(make)))
    assert [got[key] for key in ("sessions", "files_read", "bad_lines", "unreadable_files")] == [1, 3, 0, 0]


def test_a_resumed_file_with_mixed_session_ids_is_the_session_it_is_named_after(make: Any, scanned: Any) -> None:
    s = main(make, "new")
    s.lines[0]["sessionId"] = "old"
    assert detail(scanned(s))["curve"] == {"new": [1000]}


def test_a_renamed_file_keeps_its_session(make: Any, scanned: Any) -> None:
    got = detail(scanned(main(make, "s1", path="-home-u-proj/export (1).jsonl")))
    assert got["curve"] == {"s1": [1000]}


def test_clear_begins_a_session_and_is_no_compaction(make: Any, scanned: Any) -> None:
    a, b = main(make, "a", 90_000), make.Session("b")
    b.prompt("<command-name>/clear</command-name>")
    b.prompt()
    b.call(1000)
    got = detail(scanned(a, b))
    assert (got["sessions"], got["compactions"]) == (2, [])


@pytest.mark.parametrize(
    ("cwds", "folder", "label"),
    [
        (["/home/u/my-proj"], "-home-u-my-proj", "/home/u/my-proj"),
        (["/tmp/x", "/home/u/my.proj"], "-home-u-my-proj", "/home/u/my.proj"),
        (["/tmp/x", "/tmp/y"], "-home-u-my-proj", "/tmp/x"),
        ([None, None], "-home-u-my-proj", "-home-u-my-proj"),
        (["D:\\oh-my-posh"], "D--oh-my-posh", "D:\\oh-my-posh"),
    ],
)
def test_labels_of_projects(make: Any, scanned: Any, cwds: list[Any], folder: str, label: str) -> None:
    """The cwd that the folder's lossy name stands for; where none fits, the first; else the folder."""
    s = make.Session(path=f"{folder}/s1.jsonl")
    for cwd in cwds:
        s.prompt(cwd=cwd)
        s.call(1000, cwd=cwd)
    assert detail(scanned(s))["labels"] == {"s1": label}


def test_a_project_filter_leaves_all_else_out(make: Any, scanned: Any) -> None:
    """Totals, tools, compactions and curves of the chosen project only; letter case is no matter."""
    one, two = main(make, "a", cwd="/home/u/One"), main(make, "b", cwd="/home/u/Two")
    two.call(2000, make.use("Read", "t", file_path="/f"))
    two.result("t", "x" * 40)
    two.boundary("manual")
    two.call(1000)
    got = detail(scanned(one, two, project="one"))
    assert (got["sessions"], got["calls"], got["compactions"], got["tool_tokens"]) == (1, 1, [], {})
    got = detail(scanned(one, two, project="TWO"))
    assert (got["sessions"], got["calls"], len(got["compactions"]), got["tool_tokens"]) == (1, 3, 1, {"Read": 10})
    assert detail(scanned(one, two, project="three"))["sessions"] == 0


def test_what_a_path_says() -> None:
    found = place("C:\\p\\-home-u\\s1\\subagents\\workflows\\wf_1\\agent-9.jsonl")
    assert (found.agent, found.session, found.folder) == ("9", "s1", "-home-u")
    assert place("s1.jsonl") == ("s1", "", "", "")
