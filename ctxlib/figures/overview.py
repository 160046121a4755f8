"""What was read: calls over time, the window in a few numbers, and what was skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.periods import periods

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def activity(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_activity` draws, from spend_df: one row a period with calls: start (UTC), label, calls (of main threads),
    agent_calls (of sub-agents), sessions (with a
    call of their main thread)."""
    dated = frame.dropna(subset=["ts"])
    if dated.empty:
        return pd.DataFrame(columns=["start", "label", "calls", "agent_calls", "sessions"])
    spans = periods(dated["ts"])
    main = dated["thread"] == "main"
    by = dated.assign(start=spans.of, main=main, own=dated["session"].where(main)).groupby("start")
    out = pd.DataFrame({"calls": by["main"].sum().astype("int64"), "all": by.size(), "sessions": by["own"].nunique()})
    out = out.assign(agent_calls=out["all"] - out["calls"], label=[spans.label(start) for start in out.index])
    return out.reset_index()[["start", "label", "calls", "agent_calls", "sessions"]]


def plot_activity(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Calls a day, week or month, those of sub-agents on top (rows: `activity`)."""
    drawn = activity(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=3.2)
        if drawn.empty:
            return canvas.nothing(ax, "Calls over time")
        at = range(len(drawn))
        ax.bar(at, drawn["calls"], width=0.8, color=style.LIGHT_BLUE, edgecolor=style.INK, label="main threads")
        if drawn["agent_calls"].any():
            ax.bar(
                at, drawn["agent_calls"], bottom=drawn["calls"], width=0.8, color=style.CYAN, hatch="///",
                edgecolor=style.INK, label="sub-agents",
            )  # fmt: skip
        if len(drawn) <= 40:
            for spot, sessions in enumerate(drawn["sessions"]):
                top = int(drawn["calls"].iloc[spot] + drawn["agent_calls"].iloc[spot])
                ax.annotate(
                    str(sessions), (spot, top), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8.5,
                    alpha=style.QUIET,
                )  # fmt: skip
        step = max(1, -(-len(drawn) // 12))
        ax.set_xticks(list(at)[::step], list(drawn["label"])[::step])
        canvas.count_axis(ax, "y", "calls")
        name = periods(frame["ts"].dropna()).name
        ax.set_xlabel(f"{name} (UTC), those with calls" + ("; number: sessions" if len(drawn) <= 40 else ""))
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
        return canvas.describe(ax, f"Bars: {headline_activity(frame)}")


def headline_activity(frame: pd.DataFrame) -> str:
    """How many calls and sessions, from when to when."""
    drawn = activity(frame)
    if drawn.empty:
        return canvas.sentence()
    dated = frame.dropna(subset=["ts"])
    calls = int(drawn["calls"].sum() + drawn["agent_calls"].sum())
    first, last = f"{dated['ts'].min():%Y-%m-%d}", f"{dated['ts'].max():%Y-%m-%d}"
    when = f"on {first}" if first == last else f"from {first} to {last}"
    projects = words.count(int(dated["project"].nunique()), "project")
    agents = int(drawn["agent_calls"].sum())
    return (
        f"{words.count(calls, 'call')} in {words.count(int(dated.loc[dated['thread'] == 'main', 'session'].nunique()), 'session')} of {projects}, {when}"
        + (f"; {words.percent(agents / calls)} of the calls are sub-agents'." if agents else ".")
    )


def causes(notes: pd.DataFrame) -> pd.DataFrame:
    """What was skipped by cause, from notes_df: cause, times, files (with it), file (the first of them), line."""
    if notes.empty:
        return pd.DataFrame(columns=["cause", "times", "files", "file", "line"])
    by = notes.groupby("cause")
    out = pd.DataFrame({"times": by.size(), "files": by["file"].nunique(), "file": by["file"].first(), "line": by["line"].first()})
    return out.reset_index().sort_values(["times", "cause"], ascending=[False, True], kind="stable").reset_index(drop=True)
