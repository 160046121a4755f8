"""How large sessions get: the share of sessions whose peak stays below a size, and each project's and model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.curves import thresholds
from ctxlib.parameters import count as whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def peaks(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_sizes` draws, from sessions_df: session, peak_ctx (tokens), share (0-1, of sessions with a peak of at
    most that), ascending. Sessions without a measured call are left out."""
    known = frame.dropna(subset=["peak_ctx"]).sort_values(["peak_ctx", "session"])
    out = known[["session", "peak_ctx"]].astype({"peak_ctx": "int64"}).reset_index(drop=True)
    out["share"] = (out.index + 1) / max(1, len(out))
    return out


def plot_sizes(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The distribution of peaks (rows: `peaks`): every session is a step; the thresholds with how many pass them."""
    drawn = peaks(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=3.8)
        if drawn.empty:
            return canvas.nothing(ax, "Peaks of sessions")
        sizes = [0, *drawn["peak_ctx"]]
        ax.step(sizes, [0.0, *drawn["share"]], where="post", color=style.LIGHT_BLUE, linewidth=2.2, gid="peaks")
        if len(drawn) <= 200:
            ax.plot(drawn["peak_ctx"], drawn["share"], ".", color=style.LIGHT_BLUE, markersize=5)
        top = float(drawn["peak_ctx"].iloc[-1]) * 1.06
        canvas.count_axis(ax, "x", "largest context of the session, tokens")
        ax.set_xlim(0, top)
        ax.set_ylim(0, 1.03)
        ax.yaxis.set_major_formatter(lambda share, _: words.percent(share))
        ax.set_ylabel("sessions that stay at or below")
        thresholds(ax, "x", top)
        for limit, count in over(drawn).items():
            if limit <= top:
                ax.annotate(
                    f"{count} of {len(drawn)}\npass {words.tokens(limit)}", (limit, 0.04), xytext=(5, 0),
                    textcoords="offset points", fontsize=9.5,
                )  # fmt: skip
        half = float(drawn["peak_ctx"].median())
        ax.plot([0, half, half], [0.5, 0.5, 0], color=style.INK, linewidth=0.9, linestyle=(0, (2, 2)), gid="half")
        ax.annotate(
            f"half: {words.tokens(half)}", (half, 0.5), xytext=(5, -12), textcoords="offset points", fontsize=9.5
        )
        return canvas.describe(ax, f"Steps: {headline_sizes(frame)}")


def over(drawn: pd.DataFrame) -> dict[int, int]:
    """Threshold (tokens) -> sessions of `peaks` that reach it (X-peak)."""
    return {limit: int((drawn["peak_ctx"] >= limit).sum()) for limit in style.THRESHOLDS}


def peaks_by(frame: pd.DataFrame, by: str, top: object = 10) -> pd.DataFrame:
    """What `plot_sizes_by` draws: one row a project or model, those with the most sessions: sessions, median, p90,
    peak_ctx (the largest), over_150k, over_250k (sessions)."""
    known = frame.dropna(subset=["peak_ctx"]).astype({"peak_ctx": "int64"})
    sizes = known.groupby(by)["peak_ctx"]
    out = pd.DataFrame(
        {
            "sessions": sizes.size(),
            "median": sizes.median(),
            "p90": sizes.quantile(0.9),
            "peak_ctx": sizes.max(),
            **{
                f"over_{limit // 1000}k": known["peak_ctx"].ge(limit).groupby(known[by]).sum().astype("int64")
                for limit in style.THRESHOLDS
            },
        }
    )
    out = out.sort_values("sessions", ascending=False, kind="stable").head(whole(top, "top"))
    return out.sort_values("median", ascending=False, kind="stable").reset_index()


def plot_sizes_by(frame: pd.DataFrame, *, by: str = "project", top: object = 10, ax: Axes | None = None) -> Axes:
    """Every session's peak as a dot on its project's or model's line, with the median (rows: `peaks_by`)."""
    drawn = peaks_by(frame, by, top)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.0 + 0.36 * max(3, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, f"Peaks by {by}")
        known = frame.dropna(subset=["peak_ctx"])
        high = float(drawn["peak_ctx"].max())
        for row, item in enumerate(canvas.each(drawn)):
            sizes = known.loc[known[by] == getattr(item, by), "peak_ctx"].astype("float64")
            ax.plot(
                sizes, [row] * len(sizes), "o", markersize=6, markerfacecolor=style.LIGHT_BLUE, markeredgecolor=style.INK,
                markeredgewidth=0.5, alpha=0.55, gid=f"peaks-{row}",
            )  # fmt: skip
            ax.plot(item.median, row, "|", color=style.INK, markersize=15, markeredgewidth=2.4, gid=f"median-{row}")
            passed = item.over_150k
            text = f"median {words.tokens(item.median)} of {item.sessions}"
            text += f", {passed} pass 150k" if passed else ""
            ax.annotate(
                text, (1, row), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
                va="center", fontsize=9,
            )  # fmt: skip
        canvas.rows(ax, [words.short(name, 30) for name in drawn[by]])
        ax.grid(axis="both", visible=True)
        canvas.count_axis(ax, "x", "largest context of the session, tokens; bar: median")
        ax.set_xlim(0, high * 1.04)
        thresholds(ax, "x", high * 1.04)
        first = drawn.iloc[0]
        return canvas.describe(
            ax,
            f"Dots: peaks of {int(drawn['sessions'].sum())} sessions by {by}; the largest median is that of"
            f" {words.short(first[by])}, {words.tokens(float(first['median']))} tokens.",
        )


def headline_sizes(frame: pd.DataFrame) -> str:
    """The median peak, and how many sessions pass the thresholds."""
    drawn = peaks(frame)
    if drawn.empty:
        return canvas.sentence()
    passed = over(drawn)
    low, high = style.THRESHOLDS
    share = words.percent(passed[low] / len(drawn))
    return (
        f"Half of {words.count(len(drawn), 'session')} stay below {words.tokens(float(drawn['peak_ctx'].median()))} tokens;"
        f" {passed[low]} ({share}) pass {words.tokens(low)} and {passed[high]} pass {words.tokens(high)}."
    )


def weight(curves: pd.DataFrame) -> pd.DataFrame:
    """What large contexts weigh, from curves_df: one row a threshold: what, calls, share (of all main calls), tokens,
    tokens_share (of all tokens that main calls processed)."""
    ctx = curves["ctx"].astype("int64")
    rows = []
    for limit in style.THRESHOLDS:
        large = ctx >= limit
        rows.append(
            {
                "what": f"calls at {words.tokens(limit)} and more",
                "calls": int(large.sum()),
                "share": float(large.mean()) if len(ctx) else 0.0,
                "tokens": int(ctx[large].sum()),
                "tokens_share": float(ctx[large].sum() / ctx.sum()) if ctx.sum() else 0.0,
            }
        )
    return pd.DataFrame(rows)


def advice_sizes(sessions: pd.DataFrame, curves: pd.DataFrame) -> list[str]:
    """What the large sessions weigh, and what would make them smaller."""
    drawn = peaks(sessions)
    if drawn.empty:
        return []
    large = weight(curves).iloc[0]
    out = []
    if large["calls"]:
        out.append(
            f"{words.percent(large['share'])} of the calls have {words.tokens(style.THRESHOLDS[0])} tokens or more, and carry"
            f" {words.percent(large['tokens_share'])} of all tokens: start a new session (/clear) when the task changes, and"
            " leave a note of what matters in a file."
        )
    else:
        out.append(
            "No call reaches 150k tokens: sessions are short enough; look at what they hold (01) and at the cache (05)."
        )
    first = curves[curves["turn"] == 1]["ctx"].astype("float64")
    if len(first):
        start = float(first.median())
        share = start / float(drawn["peak_ctx"].median())
        out.append(
            f"A session starts with {words.tokens(start)} tokens (median), {words.percent(share)} of the median peak: MCP"
            " servers, skills, agents and CLAUDE.md are sent with every call, whether used or not."
        )
    return out
