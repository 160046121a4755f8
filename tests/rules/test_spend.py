"""What each call paid: sides that sum to its price, 5-minute writes apart from 1-hour ones."""

from __future__ import annotations

from typing import Any

import pytest

import ctxlib as ctx
from ctxlib.rules.spend import machines, spend_df


def test_sides_at_list_prices(make: Any, scanned: Any) -> None:
    s = make.Session(model="claude-sonnet-4-5")
    split = {"ephemeral_5m_input_tokens": 1_000_000, "ephemeral_1h_input_tokens": 0}
    usage = {
        "input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "output_tokens": 100_000,
    }
    s.call(
        usage={
            **usage,
            "cache_creation_input_tokens": 100_000,
            "cache_creation": {**split, "ephemeral_5m_input_tokens": 60_000, "ephemeral_1h_input_tokens": 40_000},
        }
    )
    row = spend_df(scanned(s)).iloc[0]
    # $3 a million of input: 5m at 1.25x, 1h at 2x; output $15
    assert row["write_5m_usd"] == pytest.approx(0.06 * 3.75)
    assert row["write_1h_usd"] == pytest.approx(0.04 * 6)
    assert row["output_usd"] == pytest.approx(1.5)
    assert row["usd"] == pytest.approx(0.06 * 3.75 + 0.04 * 6 + 1.5)
    assert row[["thread", "turn", "write_5m", "write_1h"]].tolist() == ["main", 1, 60_000, 40_000]


def test_an_unknown_model_is_not_free(make: Any, scanned: Any) -> None:
    s = make.Session(model="nobody-knows-1")
    s.call(5_000)
    row = spend_df(scanned(s)).iloc[0]
    assert not row["priced"]
    assert row["usd"] == 0


def test_sums_are_those_of_the_cache_rule() -> None:
    logs = ctx.open_logs("")
    ours, theirs = spend_df(logs), ctx.cache_df(logs)
    assert ours["usd"].sum() == pytest.approx(theirs["usd"].sum())
    assert (ours["write_5m_usd"] + ours["write_1h_usd"]).sum() == pytest.approx(theirs["write_usd"].sum())
    assert ours["read_usd"].sum() == pytest.approx(theirs["read_usd"].sum())


def test_each_root_stands_for_a_machine() -> None:
    """A team that collects logs in folders sees who spent what; the agent's own folder names say nothing."""
    assert machines(["/home/dev/.claude/projects"]) == {"/home/dev/.claude/projects": "dev"}
    assert machines(["/x/logs/alice", "/x/logs/bob"]) == {"/x/logs/alice": "alice", "/x/logs/bob": "bob"}
    two = ["/x/alice/.claude/projects", "/x/alice/.config/claude/projects", "/y/alice/.claude"]
    assert machines(two[::2]) == {two[0]: "x/alice", two[2]: "y/alice"}
    assert machines([]) == {}
    assert machines(["C:\\Users\\dev\\.claude\\projects"]) == {"C:\\Users\\dev\\.claude\\projects": "dev"}


def test_calls_of_two_machines_are_told_apart(make: Any, tmp_path: Any) -> None:
    for name, size in (("alice", 1000), ("bob", 2000)):
        s = make.Session(name)
        s.call(size)
        s.write(tmp_path / name)
    logs = ctx.scan([tmp_path / "alice", tmp_path / "bob"], since="all")
    assert spend_df(logs).groupby("machine")["uncached"].sum().to_dict() == {"alice": 1000, "bob": 2000}
