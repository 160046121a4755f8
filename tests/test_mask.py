"""A masked report can be shown to others: no project, path or root name of the logs is left in it."""

from __future__ import annotations

import re

import ctxlib as ctx
from ctxlib.bundle import sample_root
from ctxlib.mask import masked
from ctxlib.readout import dumps, readout_of

NAMES = re.compile(r"tidepool|lantern|quarry|/home/dev|\.claude/")


def test_no_name_of_a_project_or_path_is_left() -> None:
    logs = ctx.scan(sample_root(), since="all", use_store=False)
    hidden = masked(logs)
    frames = [
        ctx.sessions_df, ctx.calls_df, ctx.curves_df, ctx.blocks_df, ctx.rereads_df, ctx.compactions_df, ctx.cache_df,
        ctx.rent_df, ctx.notes_df, ctx.snapshots_df, ctx.findings_df, ctx.rebuilds_df,
    ]  # fmt: skip
    said = {frame.__name__: frame(hidden).to_csv() for frame in frames}
    small, held = readout_of(hidden)
    said |= {"readout": dumps(small), "context.json": dumps(held), "snapshot": str(ctx.snapshot(hidden))}
    assert {name for name, text in said.items() if NAMES.search(text)} == set()
    assert NAMES.search(ctx.sessions_df(logs).to_csv()), "the sample does hold such names"


def test_numbers_stay_and_equal_names_stay_equal() -> None:
    logs = ctx.scan(sample_root(), since="all", use_store=False)
    before, after = ctx.sessions_df(logs), ctx.sessions_df(masked(logs))
    assert (before["peak_ctx"] == after["peak_ctx"]).all()
    pairs = set(zip(before["project"], after["project"], strict=True))
    assert len(pairs) == before["project"].nunique() == after["project"].nunique() == 3
