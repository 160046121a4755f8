"""X-reread: what was read again unchanged, what it cost, and whether there was a reason."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.rules.rereads import rereads, totals


class Reader:
    """A session that reads, edits and waits, in short words."""

    def __init__(self, make: Any, **options: Any) -> None:
        self.make, self.s, self.n = make, make.Session(**options), 0

    def tool(self, name: str, content: str = "x" * 400, failed: Any = False, **given: Any) -> Reader:
        self.n += 1
        self.s.call(1000 + self.n, self.make.use(name, f"t{self.n}", **given))
        self.s.result(f"t{self.n}", content, failed)
        return self

    def read(self, path: str = "/a.py", content: str = "x" * 400, failed: Any = False, **given: Any) -> Reader:
        return self.tool("Read", content, failed, file_path=path, **given)


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ({}, {}, 1),
        ({}, {"offset": 0}, 1),
        ({"offset": 1}, {"offset": None}, 1),
        ({"offset": "10"}, {"offset": 10}, 1),
        ({"offset": 10, "limit": 5}, {"offset": 10, "limit": "5"}, 1),
        ({"offset": 10}, {"offset": 11}, 0),
        ({}, {"limit": 50}, 0),
        ({"path": "C:\\A\\b.py"}, {"path": "c:/a/B.py"}, 1),
        ({"path": "/A.py"}, {"path": "/a.py"}, 0),
        ({"pages": "1-5"}, {"pages": "6-9"}, 0),
        ({"pages": "1-5"}, {"pages": "1-5"}, 1),
    ],
)
def test_what_is_the_same_range(make: Any, scanned: Any, first: Any, second: Any, count: int) -> None:
    """Missing, 0 and 1 begin at the first line; text is a number; Windows paths have one spelling."""
    logs = scanned(Reader(make).read(**first).read(**second).s)
    assert totals(rereads(logs))[:2] == (count, 100 * count)


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_an_edit_clears_every_range_of_its_path(make: Any, scanned: Any, tool: str) -> None:
    key = "notebook_path" if tool == "NotebookEdit" else "file_path"
    r = Reader(make).read().read(offset=10).tool(tool, **{key: "/a.py"}).read().read(offset=10)
    assert len(rereads(scanned(r.s))) == 0


def test_an_edit_of_another_file_or_thread_clears_nothing(make: Any, scanned: Any) -> None:
    agent = Reader(make, path="-home-u-proj/s1/subagents/agent-1.jsonl", isSidechain=True, agentId="1")
    agent.tool("Edit", file_path="/a.py")
    r = Reader(make).read().tool("Edit", file_path="/b.py").read()
    for i, line in enumerate(agent.s.lines):
        line["uuid"] = f"other{i}"
        for block in line["message"]["content"]:
            block.update({key: "u1" for key in ("id", "tool_use_id") if key in block})
    assert len(rereads(scanned(r.s, agent.s))) == 1


def test_failures_count_on_neither_side(make: Any, scanned: Any) -> None:
    """A read that failed gave nothing; an edit that failed changed nothing."""
    assert len(rereads(scanned(Reader(make).read(failed=True).read().s, root="a"))) == 0
    assert len(rereads(scanned(Reader(make).read().read(failed=True).s, root="b"))) == 0
    assert (
        len(rereads(scanned(Reader(make).read().tool("Edit", failed=True, file_path="/a.py").read().s, root="c"))) == 1
    )


def test_a_read_without_an_answer_is_neither_earlier_nor_waste(make: Any, scanned: Any) -> None:
    r = Reader(make).read().read()
    r.s.lines.pop()
    assert len(rereads(scanned(r.s))) == 0


def test_a_stub_costs_its_own_few_tokens(make: Any, scanned: Any) -> None:
    found = rereads(scanned(Reader(make).read().read(content="File unchanged").s))
    assert found["tokens"].tolist() == [4]


def test_three_reads_are_two_rereads(make: Any, scanned: Any) -> None:
    assert totals(rereads(scanned(Reader(make).read().read().read().s)))[:2] == (2, 200)


def flags(found: Any) -> list[list[bool]]:
    return [[bool(row[name]) for name in ("after_compaction", "after_shell", "after_external")] for row in found]


def test_a_reread_after_a_compaction_has_a_reason_once(make: Any, scanned: Any) -> None:
    r = Reader(make).read()
    r.s.boundary("auto", 150_000)
    r.s.summary()
    r.read().read()
    assert flags(rereads(scanned(r.s))) == [[True, False, False], [False, False, False]]


def test_a_reread_after_a_microcompaction_of_its_result_has_a_reason(make: Any, scanned: Any) -> None:
    r = Reader(make).read()
    r.s.micro("t1")
    r.read()
    assert flags(rereads(scanned(r.s))) == [[True, False, False]]


@pytest.mark.parametrize(
    ("command", "named"),
    [("sed -i s/x/y/ src/a.py", True), ("git checkout -- A.PY", True), ("make test", False), ("cat ba.py", False)],
)
def test_a_shell_command_that_names_the_file_is_a_reason(make: Any, scanned: Any, command: str, named: bool) -> None:
    r = Reader(make).read("/src/a.py").tool("Bash", command=command).read("/src/a.py").read("/src/a.py")
    assert flags(rereads(scanned(r.s))) == [[False, named, False], [False, False, False]]


def test_a_change_outside_the_agent_is_a_reason(make: Any, scanned: Any) -> None:
    r = Reader(make).read()
    r.s.attach("edited_text_file", filename="/a.py", snippet="1 x")
    r.read()
    assert flags(rereads(scanned(r.s))) == [[False, False, True]]


def test_history_copied_into_a_fork_is_earlier_and_no_reread(make: Any, scanned: Any) -> None:
    r = Reader(make, session="a").read().read()
    fork = Reader(make, session="b")
    fork.s.lines = [{**line, "sessionId": "b"} for line in r.s.lines]
    fork.s.head, fork.s.now, fork.n = r.s.head, r.s.now, 10
    fork.read()
    assert len(rereads(scanned(r.s, fork.s))) == 2
