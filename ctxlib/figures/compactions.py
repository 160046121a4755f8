"""What compaction does: before and after as a dumbbell, and how the context grows back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BACK = 0.8  # of the size before: where a compaction's effect is used up (rules/regrowth.py)
MOST = 40  # dumbbells in one figure: the largest


def dumbbells(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_compactions` draws, from compactions_df: compactions with a measured call on both sides, by size
    before, the largest first: session, project, trigger, ctx_before, ctx_after (tokens), after (tokens as the log's own
    metadata says, <NA> where it does not), left (ctx_after / ctx_before)."""
    both = frame.dropna(subset=["ctx_before", "ctx_after"])
    both = both[both["kind"] != "micro"].sort_values(["ctx_before", "ctx_after"], ascending=False, kind="stable")
    told = both["after"].where(both["after_source"] == "metadata")
    out = both.assign(after=told, left=both["ctx_after"].astype("float64") / both["ctx_before"].astype("float64"))
    columns = ["session", "thread", "project", "ts", "kind", "trigger", "ctx_before", "ctx_after", "after", "left"]
    return out[columns].reset_index(drop=True)


def plot_compactions(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """One line a compaction from the context before to the context after, both measured (rows: `dumbbells`)."""
    drawn = dumbbells(frame)
    shown = drawn.head(MOST)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.35 + 0.25 * max(5, len(shown)))
        if drawn.empty:
            return canvas.nothing(ax, "Compactions before and after")
        rows = range(len(shown))
        before, after = shown["ctx_before"].astype("float64"), shown["ctx_after"].astype("float64")
        ax.hlines(rows, after, before, color=style.INK, alpha=0.45, linewidth=1.6)
        dot: dict[str, Any] = {"markeredgecolor": style.INK, "markeredgewidth": 1.1, "linestyle": "none", "zorder": 3}
        ax.plot(before, rows, "o", markersize=8, markerfacecolor=style.PAPER, label="before", gid="before", **dot)
        ax.plot(
            after, rows, "o", markersize=8, markerfacecolor=style.ORANGE, label="after (next call)", gid="after", **dot
        )
        told = shown["after"].notna()
        if told.any():
            at = [row for row in rows if told.iloc[row]]
            ax.plot(
                shown["after"][told].astype("float64"), at, "|", markersize=10, markeredgewidth=2, color=style.BLUE,
                label="after, in the log's own words", gid="told", linestyle="none",
            )  # fmt: skip
        canvas.rows(ax, [_name(row) for row in canvas.each(shown)], length=46)
        ax.tick_params(axis="y", labelsize=9)
        canvas.count_axis(ax, "x", "tokens in the context")
        ax.set_xlim(0, float(before.max()) * 1.14)
        for row, (end, left) in enumerate(zip(before, shown["left"], strict=True)):
            ax.annotate(
                f"{words.percent(left)} left", (end, row), xytext=(8, 0), textcoords="offset points", va="center",
                fontsize=9,
            )  # fmt: skip
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0, fontsize=9.5, handletextpad=0.3)
        rest = f" The {MOST} largest are drawn." if len(drawn) > MOST else ""
        return canvas.describe(ax, f"Dumbbells: {headline_compactions(frame)}{rest}")


def _name(row: Any) -> str:
    trigger, thread = getattr(row, "trigger", None), getattr(row, "thread", "main")
    notes = [trigger] if isinstance(trigger, str) and trigger else []
    notes += [] if thread == "main" else ["sub-agent"]
    said = ", ".join(words.short(note) for note in notes)
    return words.short(getattr(row, "project", ""), 28) + (f"  ({said})" if said else "")


def headline_compactions(frame: pd.DataFrame) -> str:
    """How many, and what they leave (medians)."""
    drawn = dumbbells(frame)
    if drawn.empty:
        return "No data in this window: no compaction has a measured call on both sides."
    before, after = float(drawn["ctx_before"].median()), float(drawn["ctx_after"].median())
    what = words.count(len(drawn), "compaction")
    if len(drawn) == 1:
        return f"The one compaction left {words.tokens(after)} of {words.tokens(before)} tokens."
    return (
        f"{what} took the context from {words.tokens(before)} to {words.tokens(after)} tokens (medians):"
        f" {words.percent(float(drawn['left'].median()))} stays."
    )


def regrown(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_regrowth` draws behind its curves, from regrowth_curves_df: one row a turn after compaction: compactions
    (still followed then), median (share of the context before, 0-1)."""
    by = frame.groupby("turn")["share"]
    out = pd.DataFrame({"compactions": by.size(), "median": by.median()})
    enough = min(3, int(frame["compaction"].nunique()))
    return out[out["compactions"] >= enough].reset_index()


def plot_regrowth(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The context after each compaction as a share of what it was before, until the next one or the end of the session
    (rows: regrowth_curves_df), with the median; a mark where a curve first reaches 80 %."""
    with canvas.styled():
        ax = canvas.axes(ax, height=3.6)
        if frame.empty:
            return canvas.nothing(ax, "Growth after compaction")
        for number, own in frame.groupby("compaction"):
            ax.step(
                own["turn"],
                own["share"],
                where="post",
                color=style.INK,
                alpha=0.4,
                linewidth=0.9,
                gid=f"after-{number}",
            )
        first = first_back(frame)
        ax.plot(
            first["turn"], first["share"], "o", markersize=7, markerfacecolor=style.ORANGE, markeredgecolor=style.INK,
            linestyle="none", gid="back", zorder=4,
        )  # fmt: skip
        drawn = regrown(frame)
        ax.step(drawn["turn"], drawn["median"], where="post", color=style.LIGHT_BLUE, linewidth=2.4, gid="median")
        end = drawn.iloc[-1]
        ax.annotate("median", (end["turn"], end["median"]), xytext=(4, 6), textcoords="offset points", fontsize=9.5)
        ax.axhline(BACK, color=style.RED, linewidth=1.2, linestyle=(0, (5, 3)), gid="back-line")
        ax.annotate(
            "80 % of the size before", (1, BACK), xycoords=("axes fraction", "data"), xytext=(0, 4),
            textcoords="offset points", ha="right", fontsize=9,
        )  # fmt: skip
        ax.set_ylim(0, max(1.0, float(frame["share"].max())) * 1.05)
        ax.yaxis.set_major_formatter(lambda share, _: words.percent(share))
        ax.set_ylabel("share of the context before")
        canvas.turn_axis(ax, "turns after the compaction")
        ax.set_xlim(1, None)
        return canvas.describe(ax, f"Lines: {headline_regrowth(frame)}")


def first_back(frame: pd.DataFrame) -> pd.DataFrame:
    """The first row of each compaction of regrowth_curves_df whose context is at 80 % of what it was before."""
    return frame[frame["share"] >= BACK].groupby("compaction", as_index=False).first()


def headline_regrowth(frame: pd.DataFrame) -> str:
    """How many grew back, and how fast."""
    if frame.empty:
        return "No data in this window: no compaction has a measured call on both sides."
    back, total = first_back(frame), int(frame["compaction"].nunique())
    if back.empty:
        longest = int(frame.groupby("compaction")["turn"].max().median())
        of = words.count(total, "compaction")
        return f"None of {of} was back at 80 % of its size within what followed (median {longest} turns)."
    turns, were = float(back["turn"].median()), "was" if len(back) == 1 else "were"
    of = words.count(total, "compaction")
    return f"{len(back)} of {of} {were} back at 80 % of the size before, after {turns:.0f} turns (median)."


def advice_compactions(frame: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """What compaction buys and what it costs; frame: compactions_df, after: regrowth_df."""
    drawn = dumbbells(frame)
    if drawn.empty:
        return []
    left = float(drawn["ctx_after"].median())
    out = [
        f"{words.tokens(left)} tokens are there again in the call after a compaction (median): system prompt, tools and memory"
        " do not shrink, so trim those; a new session (/clear) with a note of what matters starts lower still."
    ]
    asked = drawn["trigger"].fillna("")
    auto = int((asked == "auto").sum())
    if auto:
        out.append(
            f"{words.count(auto, 'compaction')} came automatically, in the middle of a task: /compact at"
            " a natural break, with a word on what to keep, loses less."
        )
    if len(after):
        spent = float(after["usd"].sum())
        again = int(after["reread"].sum())
        written = words.tokens(after["written"].median())
        out.append(
            f"The first call after each wrote {written} tokens to the cache anew (median; {words.usd(spent)} in all at list"
            " prices)"
            + (
                f", and {words.tokens(again)} tokens were read again because they had been compacted away."
                if again
                else "."
            )
        )
    return out
