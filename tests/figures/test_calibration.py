"""Is the accounting right: drifts as they are, checks that count, fits with their spread."""

from __future__ import annotations

from typing import Any

import pandas as pd

import ctxlib as ctx
from ctxlib import figures

DRIFT = pd.DataFrame({"growth": [1_000, 2_000], "constant": [400, -1_000], "fit": [100, 200], "delta": [0, 4_000]})
FITS = pd.DataFrame(
    {
        "model": ["b", "a"],
        "chars_per_token": [2.5, 2.7],
        "source": ["fit", "table"],
        "n": [40, 2],
        "p10": [2.0, 2.7],
        "p90": [3.0, 2.7],
    }
)


def test_every_epoch_is_a_dot(line: Any, texts: Any) -> None:
    ax = figures.plot_drift(DRIFT)
    assert line(ax, "epochs-constant")[0] == [0.4, 0.5]  # absolute
    assert line(ax, "epochs-delta")[0] == [0, 1]  # what drifts by more than all of the growth stands at the edge
    assert line(ax, "median-constant")[0] == [0.45]
    assert "median 45\u00a0%, p90 49\u00a0%" in texts(ax)
    assert figures.headline_drift(DRIFT).replace("\u00a0", " ") == (
        "Over 2 epochs, other drifts by 100 % of the growth (median; p90 180 %); with four characters a token it would be"
        " 45 % (p90 49 %)."
    )


def test_fits_with_their_spread(line: Any, texts: Any) -> None:
    ax = figures.plot_fits(FITS)
    assert line(ax, "fit-0")[0] == [2.5]
    assert line(ax, "fit-1")[0] == [2.7]
    own, table = (next(item for item in ax.lines if item.get_gid() == f"fit-{row}") for row in (0, 1))
    assert own.get_markerfacecolor() != table.get_markerfacecolor()  # hollow: not fitted
    spread = ax.collections[0].get_segments()[0]
    assert [point[0] for point in spread] == [2.0, 3.0]
    assert "2.70  (2 rises, too few: from the table)" in texts(ax)
    assert (
        figures.headline_fits(FITS)
        == "A token of a tool result is 2.5 characters by 40 measured rises of 1 model, not 4."
    )
    assert figures.headline_fits(FITS[1:]).startswith("No model has enough")
    assert figures.advice_calibration(FITS, pd.DataFrame())[0].startswith("a: too few results to fit")


def test_checks_count_the_calls_that_break_them(frames: Any) -> None:
    frame = frames.parts([{"other": 5, "messages": 10}, {"other": 5, "messages": 20}])
    assert figures.headline_checks(frame) == "The parts sum exactly to the total at 2 of 2 calls."
    frame.loc[1, "shown"] = -1
    frame.loc[2, "injected"] = 99
    counted = figures.checks(frame).set_index("what")["times"]
    assert counted.tolist() == [1, 1, 2, 1, 2]


def test_distance_to_context() -> None:
    frame = pd.DataFrame(
        {
            "session": ["s"],
            "counted_total": pd.array([430], "Int64"),
            "ctx_before": pd.array([400], "Int64"),
            "ctx_after": pd.array([440], "Int64"),
        }
    )
    assert figures.distances(frame)["off"].tolist() == [0.075]
    assert (
        figures.headline_truths(frame)
        .replace("\u00a0", " ")
        .startswith("1 /context output in the logs: its total is 8 % off")
    )
    assert figures.headline_truths(frame[:0]).startswith("No log of this window holds an output of /context")


def test_headline_is_true_of_the_sample(sample: Any, line: Any) -> None:
    frame = ctx.drift_df(sample)
    ax = figures.plot_drift(frame)
    share = (frame["constant"].abs() / frame["growth"]).clip(upper=1)
    assert sorted(line(ax, "epochs-constant")[0]) == sorted(share)
    assert figures.headline_drift(frame).startswith(f"Over {len(frame)} epochs")
    counted = figures.checks(ctx.snapshots_df(sample))
    assert (counted["times"] == counted["calls"]).all()


def test_nothing(texts: Any) -> None:
    for ax in (figures.plot_drift(DRIFT[:0]), figures.plot_fits(FITS[:0])):
        assert texts(ax).strip().endswith("no data in this window")
    assert figures.headline_drift(DRIFT[:0]) == figures.headline_fits(FITS[:0]) == "No data in this window."
    assert figures.advice_calibration(FITS[:0], pd.DataFrame()) == []
