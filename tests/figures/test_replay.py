"""One session replayed: what each turn paid, and what the context holds at a turn, which sums to the call's total."""

from __future__ import annotations

from typing import Any

import ctxlib as ctx
from ctxlib import figures


def paid(frames: Any) -> Any:
    at = frames.times(3, step="4min")
    return frames.spend(
        [
            {"ts": at[0], "turn": 1, "write_1h_usd": 2.0},
            {"ts": at[2], "turn": 2, "read_usd": 0.25, "output_usd": 0.5},
            {"ts": at[2], "turn": 1, "thread": "agent-1", "read_usd": 9.0},
            {"ts": at[2], "turn": 1, "session": "s2", "read_usd": 9.0},
        ]
    )


def test_bars_are_what_the_main_thread_paid(frames: Any) -> None:
    frame = frames.parts([{"other": 10}, {"other": 10, "tool_result": 5}])
    above, below = figures.plot_replay(frame, paid(frames), turn=2).axes
    sums: dict[float, float] = {}
    for group in below.containers:
        for bar in group:
            sums[bar.get_x()] = sums.get(bar.get_x(), 0.0) + bar.get_height()
    assert sums == {1: 2.0, 2: 0.75}
    pauses = next(line for line in below.lines if line.get_gid() == "pauses")
    assert list(pauses.get_xdata()) == [2.5]  # 8 minutes
    assert [line.get_xdata()[0] for line in above.lines if line.get_gid() == "chosen"] == [2]
    assert figures.headline_paid(paid(frames), "s1") == (
        "2 turns cost $2.75 at list prices; the dearest was turn 1 with $2.00; 1 pause of more than 5 minutes."
    )


def test_copied_history_is_said_to_be_paid_elsewhere(frames: Any, texts: Any) -> None:
    frame = frames.parts([{"other": 10}, {"other": 12}])
    own = paid(frames)
    _, below = figures.plot_replay(frame, own[own["turn"] == 2]).axes
    assert "paid in the session they were copied from" in texts(below)
    assert "paid in" not in texts(figures.plot_replay(frame, own).axes[1])


def test_residents_by_tool_and_file(sample: Any) -> None:
    chosen = figures.pick(ctx.sessions_df(sample))
    held = ctx.residents_df(sample, chosen)
    left, right = figures.plot_residents(held, top=3).axes
    for ax, by in ((left, "tool"), (right, "path")):
        own = held[held["kind"].isin(["tool_input", "tool_result", "image", "document"]) & (held[by] != "")]
        assert sum(bar.get_width() for bar in ax.patches) == own["tokens"].sum()
        assert len(ax.patches) <= 4
        assert ax.patches[0].get_width() == own.groupby(by)["tokens"].sum().max()
    assert left.get_ylim() == right.get_ylim()
    total = ctx.snapshot(sample, chosen).total
    assert held["tokens"].sum() == total


def test_treemap_sums_to_the_call(sample: Any) -> None:
    held = ctx.residents_df(sample, figures.pick(ctx.sessions_df(sample)))
    tree = figures.show(figures.explore_residents(held)).spec["data"][0]  # type: ignore[union-attr]
    value = dict(zip(tree["ids"], tree["values"], strict=True))
    children: dict[str, int] = {}
    for parent, size in zip(tree["parents"], tree["values"], strict=True):
        children[parent] = children.get(parent, 0) + size
    assert value["all"] == children["all"] == held["tokens"].sum()
    assert len(set(tree["ids"])) == len(tree["ids"])
    assert all(children[parent] <= value[parent] for parent in children if parent)


def test_hostile_names_in_the_treemap(frames: Any) -> None:
    held = ctx.residents_df  # the frame's own shape, without a log
    frame = frames.parts([{"other": 1}]).iloc[:1]
    frame = frame.assign(category="messages", kind="tool_result", tool="<img src=x>", server="", path=frames.hostile)
    frame = frame.assign(blocks=1, tokens=10, since=1, measured=1.0)
    spec = str(figures.show(figures.explore_residents(frame)).spec)  # type: ignore[union-attr]
    assert callable(held)
    assert "<img" not in spec
    assert "<script" not in spec
    assert "&lt;img src=x&gt;" in spec


def test_the_stack_to_look_at_closely_holds_the_same(frames: Any) -> None:
    frame = frames.parts([{"other": 10, "skills": 1}, {"other": 10, "tool_result": 5}])
    spec = figures.show(figures.explore_replay(frame)).spec  # type: ignore[union-attr]
    assert {trace["name"]: trace["y"] for trace in spec["data"]} == {
        "other (estimated)": [10, 10],
        "skills": [1, 0],
        "tool results": [0, 5],
    }
    assert [trace["fillpattern"]["shape"] for trace in spec["data"]] == ["\\", "/", ""]


def test_headline_is_true_of_the_sample(sample: Any) -> None:
    chosen = figures.pick(ctx.sessions_df(sample))
    spend = ctx.spend_df(sample)
    _, below = figures.plot_replay(figures.thread(ctx.kinds_df(sample), chosen), spend).axes
    drawn = sum(bar.get_height() for group in below.containers for bar in group)
    own = spend[(spend["session"] == chosen) & (spend["thread"] == "main")]
    assert abs(drawn - own["usd"].sum()) < 1e-9
    assert figures.headline_paid(spend, chosen).startswith(f"{len(own)} turns cost $")


def test_nothing(frames: Any, texts: Any, nothing: Any) -> None:
    empty = frames.parts([{"other": 1}])[:0]
    assert texts(figures.plot_replay(empty, paid(frames)).axes[0]).strip().endswith("no data in this window")
    held = ctx.residents_df(nothing)
    assert texts(figures.plot_residents(held).axes[0]).strip().endswith("no data in this window")
    assert (
        figures.headline_residents(held) == figures.headline_paid(paid(frames)[:0], "s1") == "No data in this window."
    )
    for plot in (figures.explore_replay(empty), figures.explore_residents(held)):
        assert figures.show(plot).alt == "No data in this window."
