"""What was read: calls over time, the window in a few numbers, and what was skipped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.periods import periods
from ctxlib.parameters import count as whole

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
        ax.set_ylim(0, float((drawn["calls"] + drawn["agent_calls"]).max()) * 1.1)
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
    first, last = words.day(dated["ts"].min()), words.day(dated["ts"].max())
    when = f"on {first}" if first == last else f"from {first} to {last}"
    projects = words.count(int(dated["project"].nunique()), "project")
    sessions = words.count(int(dated.loc[dated["thread"] == "main", "session"].nunique()), "session")
    agents = int(drawn["agent_calls"].sum())
    rest = f"; {words.percent(agents / calls)} of the calls are sub-agents'." if agents else "."
    return f"{words.count(calls, 'call')} in {sessions} of {projects}, {when}{rest}"


def causes(notes: pd.DataFrame) -> pd.DataFrame:
    """What was skipped by cause, from notes_df: cause, times, files (with it), file (the first of them, with its folder;
    the same wherever the root lies), line."""
    if notes.empty:
        return pd.DataFrame(columns=["cause", "times", "files", "file", "line"])
    by = notes.groupby("cause")
    first = by[["file", "line"]].first()
    out = pd.DataFrame(
        {"times": by.size(), "files": by["file"].nunique(), "file": first["file"], "line": first["line"]}
    )
    out["file"] = ["/".join(str(path).replace("\\", "/").split("/")[-2:]) for path in out["file"]]
    return (
        out.reset_index().sort_values(["times", "cause"], ascending=[False, True], kind="stable").reset_index(drop=True)
    )


def reading(detail: Mapping[str, Any]) -> dict[str, str]:
    """What was read and what was left out, for `facts`; detail: context.json."""
    rows = {
        "files read": f"{detail['files_read']:,}",
        "files that could not be opened": f"{detail['unreadable_files']:,}",
        "lines that could not be read": f"{detail['bad_lines']:,}",
        "calls without a measured context": f"{detail['unmeasured_calls']:,}",
        "calls without a time, left out": f"{detail['undated_calls']:,}",
        "calls whose numbers contradict themselves": f"{detail['suspicious_calls']:,}",
        "documents (PDF) that no rule gives a size": f"{detail['unsized_documents']:,}",
    }
    models = [words.short(name) for name in detail["unpriced_models"]]
    return rows | ({"models without a list price": ", ".join(models)} if models else {})


def numbers(detail: Mapping[str, Any]) -> dict[str, str]:
    """The window in a few numbers, for `facts`; detail: context.json."""
    peak, shares, again = detail["peak_p50"], detail["cache_shares"], detail["rereads"]
    return {
        "sessions": f"{detail['sessions']:,}",
        "calls, sub-agents included": f"{detail['calls']:,}",
        "sub-agents": f"{detail['subagent_threads']:,}",
        "largest context of the median session": "" if peak is None else f"{words.tokens(peak)} tokens",
        "sessions that pass 150k tokens": f"{detail['over_150k']:,}",
        "sessions that pass 250k tokens": f"{detail['over_250k']:,}",
        "compactions": f"{len(detail['compactions']):,}",
        "read from the cache": "" if shares is None else words.percent(shares["read"]),
        "cache writes at list prices": words.usd(detail["cache_write_usd"]),
        "read again unchanged": f"{words.tokens(again['tokens'])} tokens, {words.count(again['count'], 'time')}",
    }


def advice(findings: pd.DataFrame, top: object = 5) -> list[str]:
    """findings_df as sentences with what to do about each."""
    rows = findings.head(whole(top, "top"))
    return [f"{text}. {action}" for text, action in zip(rows["text"], rows["action"], strict=True)]
