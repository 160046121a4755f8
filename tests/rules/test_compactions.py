"""X-compact: each compaction once, what it said of itself, and what the calls around it measured."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.readout import detail
from ctxlib.rules.compactions import compactions_df


def start(make: Any, ctx: int = 150_000) -> Any:
    s = make.Session()
    s.prompt()
    s.call(ctx)
    return s


def told(logs: Any) -> list[tuple[Any, ...]]:
    keys = ("kind", "before", "before_source", "after", "after_source", "ctx_before", "ctx_after")
    return [tuple(row[key] for key in keys) for row in detail(logs)["compactions"]]


def test_a_boundary_and_its_summary_are_one(make: Any, scanned: Any) -> None:
    s = start(make)
    s.boundary("auto", 155_000, 12_000)
    s.summary()
    s.call(58_000)
    assert told(scanned(s)) == [("full", 155_000, "metadata", 12_000, "metadata", 150_000, 58_000)]


@pytest.mark.parametrize(("pre", "post"), [(155_000, None), (None, 12_000), (None, None)])
def test_each_side_falls_back_alone(make: Any, scanned: Any, pre: int | None, post: int | None) -> None:
    s = start(make)
    s.boundary("manual", pre, post)
    s.summary()
    s.call(58_000)
    (row,) = told(scanned(s))
    assert row[1:5] == (
        pre or 150_000,
        "metadata" if pre else "call",
        post or 58_000,
        "metadata" if post else "call",
    )


def test_a_summary_alone_is_a_compaction_inferred(make: Any, scanned: Any) -> None:
    s = start(make)
    s.summary(parentUuid=None)
    s.call(30_000)
    assert told(scanned(s)) == [("inferred", 150_000, "call", 30_000, "call", 150_000, 30_000)]


def test_an_old_session_resumed_by_a_newer_version_keeps_its_first_compaction(make: Any, scanned: Any) -> None:
    """Before 2.0 only the summary is written, since then a boundary too; one file may hold both."""
    s = start(make)
    s.summary(parentUuid=None, version="1.0.90")
    s.call(30_000)
    s.prompt()
    s.call(160_000)
    s.boundary("auto", 161_000)
    s.summary()
    s.call(40_000)
    assert [row[0] for row in told(scanned(s))] == ["inferred", "full"]


def test_two_boundaries_in_a_row(make: Any, scanned: Any) -> None:
    """The first has no `after` of its own; the second no `before`."""
    s = start(make)
    s.boundary("auto")
    s.boundary("auto")
    s.summary()
    s.call(40_000)
    assert [(row[1], row[3]) for row in told(scanned(s))] == [(150_000, None), (None, 40_000)]


def test_a_fall_without_a_boundary_is_none(make: Any, scanned: Any) -> None:
    s = start(make)
    s.call(30_000)
    assert told(scanned(s)) == []


def test_the_sides_are_measured_calls_of_the_same_thread(make: Any, scanned: Any) -> None:
    """A sub-agent's small call between them, or one without usage, is neither side."""
    s = start(make)
    agent = make.Session(path="x", isSidechain=True)
    agent.prompt()
    agent.call(900)
    s.lines += agent.lines
    s.call(usage={"input_tokens": 0})
    s.boundary("auto")
    s.summary()
    agent.call(950)
    s.lines.append(agent.lines[-1])
    s.call(40_000)
    assert [row[5:] for row in told(scanned(s))] == [(150_000, 40_000)]


def test_microcompactions_are_apart(make: Any, scanned: Any) -> None:
    s = start(make)
    s.micro("t")
    s.call(90_000)
    logs = scanned(s)
    got = detail(logs)
    assert (got["compactions"], got["microcompactions"]) == ([], 1)
    assert compactions_df(logs)["kind"].tolist() == ["micro"]


def test_only_compactions_of_the_window_count(make: Any, scanned: Any) -> None:
    s = start(make)
    s.boundary("auto")
    s.summary()
    s.call(40_000)
    s.wait(days=1)
    s.boundary("manual")
    s.summary()
    s.call(30_000)
    (found,) = detail(scanned(s, since="2026-07-02"))["compactions"]
    assert (found["trigger"], found["ctx_before"], found["ctx_after"]) == ("manual", 40_000, 30_000)


def test_snake_case_metadata_reads_alike(make: Any, scanned: Any) -> None:
    s = start(make)
    line = s.boundary("auto", 155_000, 12_000)
    line["compact_metadata"] = {"trigger": "auto", "pre_tokens": 155_000, "post_tokens": 12_000}
    del line["compactMetadata"]
    assert [row[1:5] for row in told(scanned(s))] == [(155_000, "metadata", 12_000, "metadata")]


@pytest.mark.parametrize("pre", [-5, -(10**6)])
def test_a_negative_count_is_none(make: Any, scanned: Any, pre: int) -> None:
    s = start(make)
    s.boundary("auto", pre)
    assert [row[1:3] for row in told(scanned(s))] == [(150_000, "call")]
