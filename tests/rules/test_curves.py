"""X-ctx and X-peak: the curve of a session, its peak, and the median over sessions."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxlib.readout import detail
from ctxlib.rules.curves import curve_median, curves, curves_df, peak_p50, sessions, sessions_df, thinned


def session(make: Any, *sizes: int, name: str = "s1") -> Any:
    s = make.Session(name)
    for size in sizes:
        s.prompt()
        s.call(size)
    return s


def test_the_peak_is_of_the_whole_curve_and_at_its_first_place(make: Any, scanned: Any) -> None:
    got = detail(scanned(session(make, 5, 9, 7, 9, 3)), points=2)
    assert (got["curve"], got["peak_ctx"], got["peak_turn"], got["last_ctx"]) == (
        {"s1": [5, 3]},
        {"s1": 9},
        {"s1": 2},
        {"s1": 3},
    )


def test_an_unmeasured_call_is_no_point_and_shifts_no_turn(make: Any, scanned: Any) -> None:
    s = session(make, 5)
    s.call(usage={"input_tokens": 0})
    s.call(9)
    got = detail(scanned(s))
    assert (got["curve"], got["peak_turn"], got["unmeasured_calls"], got["calls"]) == ({"s1": [5, 9]}, {"s1": 2}, 1, 3)


def test_a_session_without_a_measured_call_has_no_peak(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(usage={"output_tokens": 3})
    logs = scanned(s)
    got = detail(logs)
    assert (got["sessions"], got["peak_ctx"], got["peak_turn"], got["peak_pct"], got["peak_p50"]) == (
        1,
        {"s1": None},
        {"s1": None},
        {"s1": None},
        None,
    )
    assert sessions_df(logs)["peak_pct"].isna().all()


def test_a_session_without_a_measured_call_still_has_its_model(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(usage={"output_tokens": 3})
    assert sessions_df(scanned(s))["model"].tolist() == ["claude-sonnet-4-5"]


def test_log_order_not_time_order(make: Any, scanned: Any) -> None:
    s = session(make, 5, 9, 7)
    s.lines[3]["timestamp"] = "2026-06-01T00:00:00Z"
    assert detail(scanned(s))["curve"] == {"s1": [5, 9, 7]}


def test_thresholds_include_their_number(make: Any, scanned: Any) -> None:
    sizes = (149_999, 150_000, 249_999, 250_000)
    got = detail(scanned(*(session(make, size, name=str(size)) for size in sizes)))
    assert (got["over_150k"], got["over_250k"], got["peak_p50"]) == (3, 1, 199_999)


def test_medians_over_the_sessions_that_reached_a_turn() -> None:
    assert curve_median([[*range(1, 12)], [100], [7] * 10, []]) == {
        1: (7, 3),
        10: (8, 2),
        25: (None, 0),
        50: (None, 0),
        100: (None, 0),
        200: (None, 0),
    }


def test_nothing_at_all(scanned: Any) -> None:
    logs = scanned()
    assert (len(curves(logs)), len(sessions(logs)), peak_p50([])) == (0, 0, None)
    assert (len(curves_df(logs)), len(sessions_df(logs))) == (0, 0)


@given(st.lists(st.integers(1, 10**6), max_size=200), st.integers(2, 60))
def test_thinning_keeps_the_ends_and_the_order(points: list[int], count: int) -> None:
    got = thinned(points, count)
    assert len(got) == min(len(points), count)
    if points:
        assert (got[0], got[-1]) == (points[0], points[-1])
    rest = iter(points)
    assert all(point in rest for point in got)


def test_shares_of_the_window(make: Any, scanned: Any) -> None:
    df = curves_df(scanned(session(make, 50_000)))
    assert df["pct"].tolist() == [100 * 50_000 / df["window"][0]]
