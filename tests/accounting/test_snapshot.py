"""A snapshot at every call of every session adds up to what the provider measured."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from ctxlib import scan, snapshot, snapshots_df
from ctxlib.accounting.calibrate import fits
from ctxlib.accounting.ground_truth import truths_df
from ctxlib.accounting.kinds import KINDS, kinds_df
from ctxlib.accounting.moment import counted_snapshots, thread_of
from ctxlib.accounting.snapshot import PARTS, snapshots
from ctxlib.bundle import sample_root
from ctxlib.tables import NULL

OUTPUT = (
    "<local-command-stdout>## Context Usage\n\n**Model:** claude-sonnet-4-5\n**Tokens:** 21k / 200k (11%)\n\n"
    "### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|---|---|---|\n"
    "| System prompt | 3k | 1% |\n| System tools | 12k | 6% |\n| Memory files | 1k | 0% |\n| Messages | 5k | 2% |\n"
    "| Free space | 179k | 89% |\n"
)


@pytest.fixture(scope="module")
def logs() -> Any:
    return scan(sample_root(), since="all", use_store=False)


def adds_up(logs: Any) -> None:
    found, ctx = snapshots(logs), logs.calls["ctx"]
    measured = ctx != NULL
    assert (found.settled.shown.sum(axis=1) == found.settled.total).all()
    assert (found.settled.total[measured] == ctx[measured]).all()
    assert (found.settled.shown >= 0).all()
    assert np.isfinite(found.parts).all()
    assert ((found.settled.factor > 0) & (found.settled.factor <= 1)).all() or not len(ctx)


def test_every_call_of_the_sample_adds_up(logs: Any) -> None:
    adds_up(logs)


def test_every_call_of_real_logs_adds_up_and_other_does_not_drift() -> None:
    """On logs of your own: CTXLIB_REAL_LOGS=~/.claude/projects. Drift of other within an epoch: median 3 %, p90 10 %."""
    root = os.environ.get("CTXLIB_REAL_LOGS")
    if not root:
        pytest.skip("CTXLIB_REAL_LOGS names no folder of real logs")
    found = scan(root, since="all", use_store=False)
    adds_up(found)
    median, high = np.percentile(drifts(found), [50, 90])
    assert median <= 0.03
    assert high <= 0.10


def test_other_does_not_drift_over_an_epoch_of_the_sample(logs: Any) -> None:
    median, high = np.percentile(drifts(logs), [50, 90])
    assert median <= 0.03
    assert high <= 0.10


def drifts(logs: Any) -> list[float]:
    """Drift of other, less what is flagged injected, over each epoch of some length, as a share of its growth."""
    df = snapshots_df(logs)
    df = df[(df["category"] == "other") & (df["basis"] == "measured")]
    out = []
    for _, rows in df.groupby(["session_id", "thread_id", "epoch"]):
        rise = rows["total"].iloc[-1] - rows["total"].iloc[0]
        if len(rows) >= 5 and rise > 5000:
            rest = rows["shown"] - rows["injected"]
            out.append(abs(rest.iloc[-1] - rest.iloc[0]) / rise)
    return out


def test_the_frame_is_the_snapshot_call_by_call(logs: Any) -> None:
    """One number, one answer: the frame, the object and the published shape agree at every tenth call."""
    df = snapshots_df(logs)
    df = df[df["thread_id"] == "main"]
    for (session, turn), rows in list(df.groupby(["session_id", "turn"]))[::10]:
        snap = snapshot(logs, session, turn)
        shown = dict(zip(rows["category"], rows["shown"], strict=True))
        assert {name: tokens for name, tokens in snap.shown().items() if tokens} == {
            n: t for n, t in shown.items() if t
        }
        assert (snap.total, snap.injected) == (rows["total"].iloc[0], min(rows["injected"].sum(), shown["other"]))
        shape = snap.to_session_context()
        assert shape["total_used"] == snap.total == sum(part.shown for part in snap.parts)
        assert snap.estimated == sum(part.raw for part in snap.parts) == shape["classified_estimate"]


def test_kinds_of_messages_sum_to_the_messages(logs: Any) -> None:
    df, parts = kinds_df(logs), snapshots_df(logs)
    key = ["session_id", "thread_id", "turn"]
    sums = df[df["category"].isin(KINDS)].groupby(key)["shown"].sum()
    whole = parts[parts["category"] == "messages"].groupby(key)["shown"].sum()
    assert (sums == whole).all()
    assert df.groupby(key)["shown"].sum().equals(df.groupby(key)["total"].first())


def test_details_are_what_is_resident(logs: Any) -> None:
    """Kinds in full are all blocks of the call: their sum is what was classified."""
    snap = snapshot(logs)
    kinds = sum(row.tokens for row in snap.details if row.of == "kind")
    assert kinds == pytest.approx(snap.estimated, abs=12)


def session(make: Any) -> Any:
    s = make.Session()
    s.prompt("x" * 270)
    s.call(20_100, make.said("x" * 100), output=37)
    return s


def test_what_context_printed_splits_the_prefix(make: Any, scanned: Any) -> None:
    s = session(make)
    s.prompt(OUTPUT)
    s.call(20_400)
    found = scanned(s)
    shown = snapshot(found, turn=2).shown()
    assert (shown["system_prompt"], shown["tools"], shown["memory"]) == (3000, 12_000, 1000)
    assert sum(shown.values()) == 20_400
    (told,) = counted_snapshots(found)
    assert (told.basis, told.total, told.shown()["messages"], told.shown()["other"]) == ("counted", 21_000, 5000, 0)
    assert truths_df(found)[["counted_total", "ctx_before", "ctx_after"]].to_numpy().tolist() == [
        [21_000, 20_100, 20_400]
    ]


def test_an_unmeasured_call_is_an_estimate_and_says_so(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 270)
    s.call(usage={"output_tokens": 3})
    snap = snapshot(scanned(s))
    assert (snap.basis, snap.total, snap.shown()) == ("estimated", 100, {"messages": 100, "other": 0})
    assert "local_token_estimate" in [warning.code for warning in snap.warnings]


def test_a_rise_is_fitted_per_model_where_there_are_enough(make: Any, scanned: Any) -> None:
    """Twenty results of 3.1 characters a token: the fit finds them; twelve are the least that count."""
    s, ctx = make.Session(), 20_000
    for i in range(21):
        s.call(ctx, make.use("Bash", f"t{i}", command="x"), output=20)
        s.result(f"t{i}", "x" * 9300)
        ctx += 3020
    fit = fits(scanned(s))["claude-sonnet-4-5"]
    assert (fit.source, fit.n, round(fit.chars_per_token, 2)) == ("fit", 20, 3.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"session": "zz"}, "no session begins with 'zz'"),
        ({"session": "s"}, "2 sessions begin with 's': s1, s2"),
        ({"session": "s1", "turn": 9}, "turn 9 is not there: the thread has 1 calls"),
        ({"session": "s1", "turn": 0}, "turn 0 is not there"),
        ({"session": "s1", "turn": -2}, "turn -2 is not there"),
        ({"session": "s1", "thread": "x"}, "0 sub-agents of session s1 begin with 'x'"),
    ],
)
def test_a_question_that_has_no_answer_is_a_sentence(make: Any, scanned: Any, options: Any, said: str) -> None:
    one, two = session(make), make.Session("s2")
    two.call(5)
    with pytest.raises(ValueError, match=said):
        snapshot(scanned(one, two), **options)


def test_an_agent_without_a_session_is_a_sentence(make: Any, scanned: Any) -> None:
    """No answer about a thread that nobody asked for."""
    with pytest.raises(ValueError, match="agent"):
        snapshot(scanned(session(make)), thread="a7")


def test_a_whole_id_wins_over_those_that_begin_with_it(make: Any, scanned: Any) -> None:
    one, two = session(make), make.Session("s11")
    two.call(5)
    assert snapshot(scanned(one, two), "s1").total == 20_100


def test_turns_count_from_the_end_too(make: Any, scanned: Any) -> None:
    s = session(make)
    s.call(20_200)
    found = scanned(s)
    totals = [snapshot(found, turn=turn).total for turn in (1, 2, -1, -2, None)]
    assert totals == [20_100, 20_200, 20_200, 20_100, 20_200]


def test_without_sessions_there_is_no_thread(scanned: Any) -> None:
    found = scanned()
    with pytest.raises(ValueError, match="no session"):
        thread_of(found, "")
    assert len(snapshots_df(found)) == 0
    assert snapshots(found).settled.shown.shape == (0, len(PARTS) + 1)
