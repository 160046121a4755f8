"""One request, one call: copies, forks and resumes must not count twice, and no call may vanish in another's copy."""

from __future__ import annotations

import contextlib
import copy
import gc
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxlib import scan
from ctxlib.bundle import sample_root
from ctxlib.readout import detail
from ctxlib.tables import ThreadKind

Json = dict[str, Any]
CACHES = ("cache_read_input_tokens", "cache_creation_input_tokens")


def forked(make: Any, parent: Any, session: str, *, upto: int | None = None, since: int = 0, **rewritten: Any) -> Any:
    """A copy of a session's lines as a fork writes them: same uuids and requests, its own session id."""
    child = make.Session(session)
    child.lines = [{**copy.deepcopy(line), "sessionId": session, **rewritten} for line in parent.lines[since:upto]]
    child.head, child.now = child.lines[-1]["uuid"], parent.now
    return child


def chat(make: Any, session: str = "s1", calls: int = 3, **options: Any) -> Any:
    s = make.Session(session, **options)
    for i in range(calls):
        s.prompt(f"turn {i}")
        s.call(1000 * (i + 1), make.said("one"), make.said("two"), output=10)
    return s


# --- the key of a call -----------------------------------------------------------------------------------------------


def test_a_call_of_several_lines_takes_its_last_usage_and_its_first_place(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(1000, output=1, id="m", request="r", stop=None)
    s.result("t")
    s.call(1000, output=700, id="m", request="r")
    (call,) = scanned(s).calls
    assert (call["output"], call["pos"], call["final"]) == (700, 0, True)


@pytest.mark.parametrize("output", [0, None])
def test_a_placeholder_never_replaces_a_number(make: Any, scanned: Any, output: int | None) -> None:
    """The last line of a call may say null or 0 output: the 700 tokens of the line before were still written."""
    s = make.Session()
    s.call(1000, output=700, id="m", request="r")
    s.call(1000, id="m", request="r", usage={"input_tokens": 1000, "output_tokens": output})
    (call,) = scanned(s).calls
    assert call["output"] == 700


@pytest.mark.parametrize("side", ["first", "second"])
def test_a_request_id_on_one_copy_only_is_one_call(make: Any, scanned: Any, counted: Any, side: str) -> None:
    a, b = make.Session("a"), make.Session("b")
    a.call(1000, id="m", request="r" if side == "first" else None)
    b.call(1000, id="m", request=None if side == "first" else "r")
    assert counted(scanned(a, b)) == 1


def test_a_constant_message_id_beside_request_ids_is_no_key(make: Any, scanned: Any, counted: Any) -> None:
    s = make.Session()
    for i in range(4):
        s.call(1000 + i, id="chatcmpl", request=f"r{i}")
    assert counted(scanned(s)) == 4


def test_a_constant_message_id_without_request_ids_is_no_key(make: Any, scanned: Any, counted: Any) -> None:
    s = make.Session()
    for i in range(4):
        s.prompt()
        s.call(1000 + i, id="chatcmpl", request=None)
    assert counted(scanned(s)) == 4


def test_a_constant_message_id_does_not_join_the_calls_of_two_sessions(make: Any, scanned: Any, counted: Any) -> None:
    """Users of such a gateway would see the calls of one session only, all others taken for its copies."""
    a, b = make.Session("a"), make.Session("b")
    for s, size in ((a, 1000), (b, 5000)):
        for i in range(3):
            s.prompt()
            s.call(size + i, id="chatcmpl", request=None)
    assert counted(scanned(a, b)) == 6


def test_a_fork_of_the_end_of_a_session_with_a_constant_message_id(make: Any, scanned: Any, counted: Any) -> None:
    """The fork copies the last two of three calls and adds one: four calls."""
    a = make.Session("a")
    for i in range(3):
        a.prompt()
        a.call(1000 + i, id="chatcmpl", request=None)
    b = forked(make, a, "b", since=2)
    b.prompt()
    b.call(5000, id="chatcmpl", request=None)
    logs = scanned(a, b)
    assert counted(logs) == 4
    assert sorted(logs.calls["ctx"][logs.calls["origin"]].tolist()) == [1000, 1001, 1002, 5000]


def test_calls_without_any_id_go_by_their_line(make: Any, scanned: Any, counted: Any) -> None:
    s = make.Session()
    for i in range(3):
        s.call(1000 + i, id=None, request=None)
    assert counted(scanned(s)) == 3


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")],
)
def test_forks_of_forks_count_each_call_once_whatever_the_files_are_called(
    make: Any, scanned: Any, names: tuple[str, str, str]
) -> None:
    """Totals, sessions and curves must not depend on the names of files, by which a fork may come first."""
    one, two, three = names
    a = chat(make, one)
    b = forked(make, a, two)
    b.prompt()
    b.call(9000)
    c = forked(make, b, three)
    c.prompt()
    c.call(9500)
    a.wait(hours=1).prompt()
    a.call(4000)
    got = detail(scanned(a, b, c))
    assert (got["calls"], got["sessions"]) == (6, 3)
    assert got["curve"] == {
        one: [1000, 2000, 3000, 4000],
        two: [1000, 2000, 3000, 9000],
        three: [1000, 2000, 3000, 9000, 9500],
    }


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_session_is_not_lost_to_its_fork(make: Any, scanned: Any, names: tuple[str, str]) -> None:
    """A session that ended where it was forked made its calls; the fork, which went on, only its own."""
    a = chat(make, names[0])
    b = forked(make, a, names[1])
    b.prompt()
    b.call(9000)
    got = detail(scanned(a, b))
    assert (got["calls"], got["sessions"]) == (4, 2)


def test_a_fork_without_a_call_of_its_own_is_no_session(make: Any, scanned: Any) -> None:
    a = chat(make, "a")
    b = forked(make, a, "b")
    b.prompt()
    got = detail(scanned(a, b))
    assert (got["calls"], got["sessions"]) == (3, 1)


def test_resumed_copies_with_rewritten_times_keep_the_first_time(make: Any, scanned: Any, counted: Any) -> None:
    """Old calls must not turn up on the day of the resume."""
    a = chat(make, "a", start="2026-06-01T10:00:00Z")
    b = forked(make, a, "b", timestamp="2026-07-20T10:00:00.000Z", version="1.0.90")
    b.now = b.now.replace(month=7, day=20)
    b.prompt()
    b.call(9000)
    logs = scanned(a, b)
    assert detail(logs)["calls_by_day"] == {"2026-06-01": 3, "2026-07-20": 1}
    since = scan(Path(logs.roots[0]), since="2026-07-01")
    assert counted(since) == 1


def test_a_copy_that_keeps_its_parents_ids_is_a_session_of_its_own(make: Any, scanned: Any) -> None:
    a = chat(make, "a")
    b = make.Session("a", path="-home-u-proj/b.jsonl")
    b.lines = copy.deepcopy(a.lines)
    b.head, b.now = a.head, a.now
    b.prompt()
    b.call(9000)
    got = detail(scanned(a, b))
    assert (got["calls"], got["sessions"]) == (4, 2)
    assert got["curve"] == {"a": [1000, 2000, 3000], "b": [1000, 2000, 3000, 9000]}


@pytest.mark.parametrize("longer", [0, 1])
def test_one_session_in_two_folders_is_one_session_with_its_longer_curve(make: Any, scanned: Any, longer: int) -> None:
    """A project that was moved leaves half of a session behind."""
    a = chat(make, "a")
    halves = [copy.deepcopy(a), copy.deepcopy(a)]
    halves[1 - longer].lines = halves[1 - longer].lines[:3]
    halves[0].path, halves[1].path = "-home-u-old/a.jsonl", "-home-u-proj/a.jsonl"
    got = detail(scanned(*halves))
    assert (got["calls"], got["sessions"], got["curve"]) == (3, 1, {"a": [1000, 2000, 3000]})


def test_copies_in_two_roots_count_once(make: Any, tmp_path: Path, counted: Any) -> None:
    """A backup beside the original, both given as roots, in any order."""
    a = chat(make)
    roots = [tmp_path / "x" / "projects", tmp_path / "backup"]
    for root in roots:
        a.write(root)
    found = [scan(order, since="all") for order in (roots, roots[::-1], [tmp_path, *roots])]
    assert [counted(logs) for logs in found] == [3, 3, 3]
    assert [len(logs.files) for logs in found] == [2, 2, 2]


def test_a_repeat_of_history_within_one_file_counts_once(make: Any, scanned: Any, counted: Any) -> None:
    s = chat(make)
    s.lines += copy.deepcopy(s.lines)
    logs = scanned(s)
    assert (counted(logs), len(logs.calls), len(logs.blocks)) == (3, 3, 9)


def test_boundaries_in_two_files_are_one_compaction(make: Any, scanned: Any) -> None:
    """A fork starts at the last boundary, which then stands in both files."""
    a = chat(make, "a")
    a.boundary("auto", 150_000)
    a.summary()
    a.prompt()
    a.call(500)
    b = forked(make, a, "b", since=-4)
    b.prompt()
    b.call(800)
    assert len(detail(scanned(a, b))["compactions"]) == 1


def test_a_compactions_own_request_repeats_history_and_adds_one_call(make: Any, scanned: Any) -> None:
    """agent-acompact-*: a call like any other, never a point of the session's curve, no sub-agent."""
    a = chat(make, "a")
    own = make.Session(
        "a", path="-home-u-proj/a/subagents/agent-acompact-12ab.jsonl", isSidechain=True, agentId="acompact-12ab"
    )
    own.lines = [{**line, "isSidechain": True, "agentId": "acompact-12ab"} for line in copy.deepcopy(a.lines)]
    own.now = a.now
    own.prompt("Your task is to create a detailed summary")
    own.call(150_000)
    got = detail(scanned(a, own))
    assert (got["calls"], got["sessions"], got["subagent_threads"]) == (4, 1, 0)
    assert got["curve"] == {"a": [1000, 2000, 3000]}


def test_tool_uses_and_results_in_copies_count_once(make: Any, scanned: Any) -> None:
    a = make.Session("a")
    a.call(1000, make.use("Read", "t1", file_path="/a"))
    a.result("t1", "x" * 400)
    a.call(1200)
    b = forked(make, a, "b")
    b.prompt()
    b.call(1300)
    got = detail(scanned(a, b))
    assert (got["tool_calls"], got["tool_tokens"]) == ({"Read": 1}, {"Read": 100})


def test_a_call_without_a_time_is_left_out_and_counted(make: Any, scanned: Any) -> None:
    s = chat(make)
    for line in s.lines[-2:]:
        del line["timestamp"]
    got = detail(scanned(s))
    assert (got["calls"], got["undated_calls"]) == (2, 1)


def test_a_call_of_which_one_line_has_a_time_is_in(make: Any, scanned: Any) -> None:
    s = chat(make)
    del s.lines[-2]["timestamp"]
    got = detail(scanned(s))
    assert (got["calls"], got["undated_calls"]) == (3, 0)


# --- nothing but the logs decides ------------------------------------------------------------------------------------


def plain(root: Path) -> Json:
    """The same totals by nothing but json.loads: last usage per request, over all files."""
    calls: dict[str, Json] = {}
    threads: set[Path] = set()
    for file in sorted(root.rglob("*.jsonl")):
        for line in records(file):
            message = line.get("message")
            if line.get("type") != "assistant" or not isinstance(message, dict) or not line.get("timestamp"):
                continue
            usage = message.get("usage")
            if message.get("model") == "<synthetic>" or not isinstance(usage, dict):
                continue
            split = usage.get("cache_creation") or {}
            numbers = {name: max(0, usage.get(name) or 0) for name in ("input_tokens", "output_tokens", *CACHES)}
            numbers["1h"] = split.get("ephemeral_1h_input_tokens") or 0
            if line.get("isApiErrorMessage") and not any(numbers.values()):
                continue
            threads.add(file)
            # (formats.md, 1.3: message id and request id are one to one, and the message id is always there)
            calls[message.get("id") or line.get("requestId") or line["uuid"]] = numbers
    total = {
        name: sum(call[name] for call in calls.values()) for name in ("input_tokens", "output_tokens", "1h", *CACHES)
    }
    return {"calls": len(calls), **total}


def records(file: Path) -> Iterator[Json]:
    decoder = json.JSONDecoder()
    for raw in file.read_bytes().split(b"\n"):
        text, at = raw.strip(b" \r\0").decode("utf-8", "replace"), 0
        while at < len(text):
            try:
                value, at = decoder.raw_decode(text, at)
            except ValueError:
                break
            if isinstance(value, dict):
                yield value


def totals(logs: Any) -> Json:
    own = logs.calls[logs.calls["inside"] & logs.calls["origin"]]
    names = {"input_tokens": "input", "output_tokens": "output", "1h": "cache_write_1h"}
    names |= dict(zip(CACHES, ("cache_read", "cache_write"), strict=True))
    return {"calls": len(own), **{name: int(own[column].sum()) for name, column in names.items()}}


def test_the_sample_adds_up_as_a_plain_reading_does() -> None:
    assert totals(scan(sample_root(), since="all")) == plain(sample_root())


def test_real_logs_add_up_as_a_plain_reading_does() -> None:
    """On logs of your own: CTXLIB_REAL_LOGS=~/.claude/projects. (Not on logs with several iterations a call.)"""
    root = os.environ.get("CTXLIB_REAL_LOGS")
    if not root:
        pytest.skip("CTXLIB_REAL_LOGS names no folder of real logs")
    assert totals(scan(root, since="all")) == plain(Path(root))


@pytest.fixture(scope="module")
def whole() -> Json:
    held = detail(scan(sample_root(), since="all", use_store=False))
    held.pop("roots")
    return held


def test_totals_do_not_depend_on_the_number_of_workers(whole: Json) -> None:
    """Real subprocesses: each reads a part of the files."""
    got = detail(scan(sample_root(), since="all", workers=2))
    assert {**got, "roots": 0} == {**whole, "roots": 0}


def test_more_workers_than_files(make: Any, scanned: Any, counted: Any) -> None:
    assert counted(scanned(chat(make, "a"), chat(make, "b"), workers=5)) == 6


def test_a_worker_that_dies_at_once_costs_time_and_no_call(
    make: Any, scanned: Any, counted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its share is read here instead. (On the command line a BrokenPipeError even passes for `nobody reads on`.)"""

    class Ended(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__([sys.executable, "-c", "raise SystemExit(1)"], **options)
            self.wait()

    monkeypatch.setattr("ctxlib.workers.subprocess.Popen", Ended)
    logs = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        with contextlib.suppress(BrokenPipeError):
            logs = scanned(chat(make, "a"), chat(make, "b"), workers=2, use_store=False)
        gc.collect()  # what a failure leaves open
    assert logs is not None
    assert counted(logs) == 6


def test_totals_do_not_depend_on_the_order_of_files_and_roots(tmp_path: Path, whole: Json) -> None:
    """Folders that sort the other way round give the same answer, key by key."""
    root, moved = sample_root() / "projects", []
    for i, folder in enumerate(sorted(root.iterdir(), reverse=True)):
        top = tmp_path / f"{i}"
        shutil.copytree(folder, top / folder.name)
        moved.append(top)
    for order in (moved, moved[::-1]):
        got = detail(scan(order, since="all"))
        got.pop("roots")
        assert got == whole | {"cache_write_usd": pytest.approx(whole["cache_write_usd"], abs=1e-5)}  # floats


def test_one_place_for_each_call_in_every_thread() -> None:
    """seq counts 0, 1, 2, ... in every thread, and each key has one origin."""
    logs = scan(sample_root(), since="all")
    calls = logs.calls
    assert (np.diff(calls["thread"]) >= 0).all()
    for thread in range(len(logs.threads)):
        own = calls[calls["thread"] == thread]
        assert own["seq"].tolist() == list(range(len(own)))
        assert len(np.unique(own["key"])) == len(own)
    assert len(np.unique(calls["key"])) == int(calls["origin"].sum())
    assert set(logs.threads["kind"].tolist()) >= {ThreadKind.MAIN, ThreadKind.SUBAGENT}
