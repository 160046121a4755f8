"""Which blocks a call carries: through compactions, microcompactions and rewinds (accounting.md, Replay)."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.tables import BlockKind


def carried(logs: Any, seq: int, thread: int = 0) -> list[int]:
    """Sizes (characters) of the blocks that a call carries: made-up texts differ in length, so sizes name them."""
    blocks = logs.blocks[logs.blocks["thread"] == thread]
    here = (blocks["born"] <= seq) & (seq < blocks["cleared"])
    return sorted(blocks["chars"][here].tolist())


def test_a_block_is_born_at_the_next_call_and_stays(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 11)
    s.call(1000, make.said("x" * 12))
    s.prompt("x" * 13)
    s.call(1100, make.said("x" * 14))
    logs = scanned(s)
    assert [carried(logs, seq) for seq in (0, 1, 2)] == [[11], [11, 12, 13], [11, 12, 13, 14]]


def compacted(make: Any, *, boundary: bool) -> Any:
    s = make.Session()
    s.prompt("x" * 11)
    s.call(1000, make.said("x" * 12))
    if boundary:
        s.boundary("auto", 150_000)
    s.summary("x" * 15, parentUuid=None)
    s.prompt("x" * 13)
    s.call(500, make.said("x" * 14))
    s.prompt("x" * 16)
    s.call(600)
    return s


def test_a_compaction_leaves_its_summary_and_what_came_since(make: Any, scanned: Any) -> None:
    logs = scanned(compacted(make, boundary=True))
    assert [carried(logs, seq) for seq in (0, 1, 2)] == [[11], [13, 15], [13, 14, 15, 16]]


def test_before_boundaries_the_summary_is_in_the_context_too(make: Any, scanned: Any) -> None:
    """Up to 1.0.90 the summary line alone marks a compaction: its text is what the next call carries."""
    logs = scanned(compacted(make, boundary=False))
    assert [carried(logs, seq) for seq in (0, 1, 2)] == [[11], [13, 15], [13, 14, 15, 16]]


def preserved(make: Any, *, twice: bool) -> Any:
    s = make.Session()
    s.prompt("x" * 11)
    s.call(1000, make.said("x" * 12))
    head = s.prompt("x" * 13)["uuid"]
    tail = s.call(1100, make.said("x" * 14))["uuid"]
    s.boundary("auto", 150_000, preservedSegment={"headUuid": head, "tailUuid": tail, "anchorUuid": "a"})
    s.summary("x" * 15)
    s.call(900, make.said("x" * 16))
    if twice:
        s.boundary("auto", 150_000)
        s.summary("x" * 17)
        s.call(500)
    return s


def test_a_preserved_segment_outlives_its_compaction(make: Any, scanned: Any) -> None:
    assert carried(scanned(preserved(make, twice=False)), 2) == [13, 14, 15]


def test_a_preserved_segment_does_not_outlive_the_next_compaction(make: Any, scanned: Any) -> None:
    """Else messages of the first hour stay in every later snapshot of a long session."""
    assert carried(scanned(preserved(make, twice=True)), 3) == [17]


def test_a_preserved_segment_whose_ends_are_not_there_preserves_nothing(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 11)
    s.call(1000)
    s.boundary("auto", 150_000, preservedSegment={"headUuid": "gone", "tailUuid": "gone"})
    s.summary("x" * 15)
    s.call(900)
    assert carried(scanned(s), 1) == [15]


def micro(make: Any, session: str = "s1") -> Any:
    s = make.Session(session)
    s.prompt("x" * 11)
    s.call(1000, make.use("A", "t1"), make.use("B", "t2"))
    s.result("t1", "x" * 101)
    s.result("t2", "x" * 102)
    s.call(1200, make.said("x" * 12))
    s.micro("t1", "unknown")
    s.call(1100, make.said("x" * 13))
    return s


def test_a_microcompaction_takes_the_results_it_names_and_nothing_else(make: Any, scanned: Any) -> None:
    logs = scanned(micro(make))
    assert [101 in carried(logs, seq) for seq in (0, 1, 2)] == [False, True, False]
    assert [102 in carried(logs, seq) for seq in (0, 1, 2)] == [False, True, True]


def test_a_microcompaction_in_a_fork_takes_its_results_too(make: Any, scanned: Any) -> None:
    a, b = micro(make, "a"), micro(make, "b")
    b.lines = [{**line, "sessionId": "b"} for line in a.lines]
    b.head = b.lines[-1]["uuid"]
    b.prompt()
    b.call(2000)
    logs = scanned(a, b)
    assert [101 in carried(logs, seq, thread) for thread in (0, 1) for seq in (1, 2)] == [True, False] * 2


def test_a_rewind_leaves_its_branch_behind(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 11)
    there = s.call(1000, make.said("x" * 12))["uuid"]
    s.prompt("x" * 13)
    s.call(1100, make.said("x" * 14))
    s.prompt("x" * 15)
    s.call(1200, make.said("x" * 16))
    s.prompt("x" * 17, parentUuid=there)
    s.call(1050)
    logs = scanned(s)
    assert carried(logs, 2) == [11, 12, 13, 14, 15]
    assert carried(logs, 3) == [11, 12, 17]


@pytest.mark.parametrize(
    "between",
    [
        "meta",
        "system",
    ],
)
def test_a_rewind_whose_prompt_follows_other_lines_leaves_its_branch_too(make: Any, scanned: Any, between: str) -> None:
    """After a rewind a command's caveat (isMeta) or a hook's line may stand before the prompt."""
    s = make.Session()
    s.prompt("x" * 11)
    there = s.call(1000, make.said("x" * 12))["uuid"]
    s.prompt("x" * 13)
    s.call(1100, make.said("x" * 14))
    if between == "meta":
        s.prompt("x" * 18, isMeta=True, parentUuid=there)
    else:
        s.add("system", subtype="informational", content="", parentUuid=there)
    s.prompt("x" * 17)
    s.call(1050)
    assert not {13, 14} & set(carried(scanned(s), 2))


def test_a_prompt_on_an_old_line_that_no_call_follows_is_no_rewind(make: Any, scanned: Any) -> None:
    """A command's line may hang on an old one while the next call goes on where the last one ended: nothing has left."""
    s = make.Session()
    s.prompt("x" * 11)
    there = s.call(1000, make.said("x" * 12))["uuid"]
    s.prompt("x" * 13)
    end = s.call(1100, make.said("x" * 14))["uuid"]
    s.prompt("x" * 15, parentUuid=there)
    s.call(1200, make.said("x" * 16), parentUuid=end)
    assert {13, 14} <= set(carried(scanned(s), 2))


def test_parallel_tool_use_is_no_rewind(make: Any, scanned: Any) -> None:
    """Several children of one line are nearly always parallel tools: nothing leaves the context."""
    s = make.Session()
    s.prompt("x" * 11)
    one = s.call(1000, make.use("A", "t1"), id="m", request="r")["uuid"]
    two = s.call(1000, make.use("B", "t2"), id="m", request="r")["uuid"]
    s.result("t2", "x" * 102, parentUuid=two)
    s.result("t1", "x" * 101, parentUuid=one)
    s.call(1200, make.said("x" * 12))
    s.prompt("x" * 13)
    s.call(1300)
    logs = scanned(s)
    assert {101, 102} <= set(carried(logs, 1))
    assert {11, 12, 13, 101, 102} <= set(carried(logs, 2))


def test_a_prompt_that_interrupts_parallel_tools_is_no_rewind(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 11)
    one = s.call(1000, make.use("A", "t1"), id="m", request="r")["uuid"]
    two = s.call(1000, make.use("B", "t2"), id="m", request="r")["uuid"]
    s.result("t1", "x" * 101, parentUuid=one)
    s.result("t2", "x" * 102, parentUuid=two)
    s.prompt("[Request interrupted by user]", parentUuid=one)
    s.prompt("x" * 13)
    s.call(1300)
    assert {11, 13, 101, 102} <= set(carried(scanned(s), 1))


def test_lines_passed_over_do_not_break_the_chain(make: Any, scanned: Any) -> None:
    """A prompt may hang on a progress line, which is no row: that is no rewind."""
    s = make.Session()
    s.prompt("x" * 11)
    s.call(1000, make.said("x" * 12))
    s.add("progress", data={"type": "hook_progress"})
    s.prompt("x" * 13)
    s.call(1100)
    assert carried(scanned(s), 1) == [11, 12, 13]


def test_every_block_of_the_sample_is_born_before_it_is_cleared() -> None:
    from ctxlib import scan
    from ctxlib.bundle import sample_root

    blocks = scan(sample_root(), since="all", use_store=False).blocks
    assert (blocks["cleared"] >= blocks["born"]).all()
    assert (blocks["born"] >= 0).all()
    assert set(blocks["kind"].tolist()) >= {BlockKind.SUMMARY, BlockKind.THINKING, BlockKind.IMAGE}
