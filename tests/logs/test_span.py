"""The window of a question: since is in, until is not, and a bad time is a sentence (R-window)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ctxlib.logs import span
from ctxlib.readout import detail

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)


def texts(since: str = "", until: str = "") -> tuple[str | None, str | None]:
    return span(since, until, now=NOW).texts()


@pytest.mark.parametrize(
    ("since", "until", "want"),
    [
        ("", "", ("2026-06-20T12:00:00Z", None)),
        ("12h", "", ("2026-07-20T00:00:00Z", None)),
        ("2w", "all", ("2026-07-06T12:00:00Z", None)),
        ("all", "", (None, None)),
        ("2026-07-01", "2026-07-01", ("2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z")),
        ("20260701", "20260702", ("2026-07-01T00:00:00Z", "2026-07-03T00:00:00Z")),
        ("2026-07-01T02:00:00+02:00", "", ("2026-07-01T00:00:00Z", None)),
        ("2026-07-01T00:00:00.5", "", ("2026-07-01T00:00:00.500Z", None)),
        ("0d", "", ("2026-07-20T12:00:00Z", None)),
    ],
)
def test_what_a_time_means(since: str, until: str, want: tuple[str | None, str | None]) -> None:
    assert texts(since, until) == want


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        ("soon", "", "since is no time: 'soon'"),
        ("2026-13-01", "", "since is no time"),
        ("99999999d", "", "since is no time"),
        ("30 d ago", "", "since is no time"),
        ("", "yesterday", "until is no time"),
        ("2026-07-21", "", "since lies in the future"),
        ("2026-07-10", "2026-07-01", "is not before until"),
        ("7d", "30d", "is not before until"),
    ],
)
def test_a_bad_time_is_a_sentence(since: str, until: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        texts(since, until)


@pytest.mark.parametrize(
    ("written", "inside"),
    [
        ("2026-07-01T00:00:00.000Z", True),
        ("2026-06-30T23:59:59.999Z", False),
        ("2026-07-01T01:59:59.999+02:00", False),
        ("2026-07-01T02:00:00.000+02:00", True),
        ("2026-06-30T17:00:00.000-07:00", True),
        ("2026-07-01T23:59:59.999Z", True),
        ("2026-07-02T00:00:00.000Z", False),
        ("2026-07-02T01:00:00.000+02:00", True),
    ],
)
def test_edges_of_the_window_in_any_offset(make: Any, scanned: Any, written: str, inside: bool) -> None:
    s = make.Session()
    s.call(1000, timestamp=written)
    got = detail(scanned(s, since="2026-07-01", until="2026-07-01"))
    assert (got["calls"], got["undated_calls"]) == (int(inside), 0)


def test_a_call_that_began_before_the_window_is_in_once(make: Any, scanned: Any) -> None:
    """Filter first, then deduplicate: one line inside suffices, and the day is that line's."""
    s = make.Session()
    s.call(1000, id="m", request="r", timestamp="2026-06-30T23:59:58Z", output=1)
    s.call(1000, id="m", request="r", timestamp="2026-07-01T00:00:02Z", output=80)
    got = detail(scanned(s, since="2026-07-01"), with_calls=True)
    assert (got["calls"], got["output_tokens"], got["calls_by_day"]) == (1, {"r": 80}, {"2026-07-01": 1})


def test_what_lies_before_the_window_is_invisible_to_the_rules(make: Any, scanned: Any) -> None:
    """A file read before `since` is no earlier read; the name of its tool is still known."""
    s = make.Session(start="2026-06-30T12:00:00Z")
    s.call(1000, make.use("Read", "t1", file_path="/a"))
    s.result("t1", "x" * 40)
    s.call(1100, make.use("Grep", "t2", pattern="y"))
    s.wait(days=1)
    s.result("t2", "y" * 40)
    s.call(1200, make.use("Read", "t3", file_path="/a"))
    s.result("t3", "x" * 40)
    got = detail(scanned(s, since="2026-07-01"))
    assert got["rereads"]["count"] == 0
    assert got["tool_tokens"] == {"Grep": 10, "Read": 10}
    assert got["curve"] == {"s1": [1200]}


@pytest.mark.parametrize(
    "written",
    [
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+14:00",
        "1600-01-01T00:00:00Z",
    ],
)
def test_a_time_at_the_end_of_the_calendar_does_not_stop_the_report(make: Any, scanned: Any, written: str) -> None:
    """One absurd clock must not cost the answer over all other calls."""
    import ctxlib

    s = make.Session()
    s.call(1000)
    s.call(1100, timestamp=written)
    logs = scanned(s)
    got = detail(logs)
    assert got["calls"] + got["undated_calls"] == 2, "an instant beyond the calendar is no time, and is counted"
    assert len(ctxlib.calls_df(logs)) == got["calls"]
