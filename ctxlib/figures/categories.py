"""Category over turns of one session: a stack from zero, and beside it each category alone, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEAR = 0.5  # of the window: below, its line would squash the curve, and a note says the share instead
LABELLED = 0.025  # of the height: narrower bands are named by the small multiples only
MOST = 12  # small multiples


def categories(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_categories` draws: one row a turn of one thread, one column a category (tokens) in stacking order, from
    the bottom: what is held by nothing in the log, what is fixed, what grows. Categories that never occur are left out.

    frame: rows of snapshots_df or kinds_df of one thread.
    """
    wide = frame.pivot_table(index="turn", columns="category", values="shown", aggfunc="sum", fill_value=0, sort=True)
    present = [name for name in wide.columns if wide[name].max() > 0]
    present.sort(key=lambda name: (name != "other", style.place(name)))
    return wide[present]


def plot_categories(
    frame: pd.DataFrame, *, compactions: pd.DataFrame | None = None, ax: Axes | None = None, labels: bool = True
) -> Axes:
    """The stack (rows: `categories`): steps, because a straight line would invent values at a compaction.

    compactions: rows of regrowth_df or anything with session, thread and turn (of the first call after it).
    """
    drawn = categories(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=4.4)
        if drawn.empty:
            return canvas.nothing(ax, "Context by category over turns")
        turns, heights = _steps(drawn)
        bands = ax.stackplot(turns, heights.T, step="post")
        for band, name in zip(bands, drawn.columns, strict=True):
            look = style.look(name)
            band.set(facecolor=look.color, hatch=look.hatch, edgecolor=style.PAPER, linewidth=0.5)
        total = heights.sum(axis=1)
        ax.step(turns, total, where="post", color=style.INK, linewidth=1.1, gid="total")
        ax.set_xlim(turns[0], turns[-1])
        canvas.turn_axis(ax)
        canvas.count_axis(ax, "y", "tokens in the context")
        ax.set_ylim(0, total.max() * 1.12)
        _window(ax, frame, float(total.max()))
        _marks(ax, marks(frame, compactions))
        if labels:
            _label_bands(ax, drawn)
        return canvas.describe(ax, f"Stacked areas over {len(drawn)} turns: {headline_categories(frame)}")


def _steps(drawn: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Turns and heights with the last turn held for one turn more: a step has no width at its end."""
    turns, heights = drawn.index.to_numpy("f8"), drawn.to_numpy("f8")
    return np.append(turns, turns[-1] + 1), np.vstack([heights, heights[-1:]])


def marks(frame: pd.DataFrame, compactions: pd.DataFrame | None) -> list[int]:
    """Turns of the thread of `frame` at which a compaction has just happened."""
    if compactions is None or compactions.empty or frame.empty:
        return []
    own = (compactions["session"] == frame["session_id"].iloc[0]) & (
        compactions["thread"] == frame["thread_id"].iloc[0]
    )
    return [int(turn) for turn in compactions.loc[own, "turn"]]


def _marks(ax: Axes, turns: list[int]) -> None:
    for turn in turns:
        ax.axvline(turn, color=style.INK, linewidth=1, linestyle=(0, (2, 2)), gid="compaction")
    if turns:
        ax.annotate(
            "compaction", (turns[0], 1), xycoords=("data", "axes fraction"), xytext=(4, -3), textcoords="offset points",
            va="top", fontsize=9, bbox=canvas.CARD,
        )  # fmt: skip


def _window(ax: Axes, frame: pd.DataFrame, peak: float) -> None:
    known = frame["window"].dropna()
    if known.empty:
        return
    window = float(known.iloc[-1])
    if peak >= NEAR * window:
        ax.set_ylim(0, max(window, peak) * 1.08)
        ax.axhline(window, color=style.RED, linewidth=1.4, linestyle=(0, (6, 3)), gid="window")
        ax.annotate(
            f"window {words.tokens(window)}", (0, window), xycoords=("axes fraction", "data"), xytext=(5, 3),
            textcoords="offset points", va="bottom", fontsize=9,
        )  # fmt: skip
    else:
        ax.annotate(
            f"peak {words.percent(peak / window)} of the window ({words.tokens(window)})", (1, 1),
            xycoords="axes fraction", xytext=(0, 3), textcoords="offset points", ha="right", va="bottom", fontsize=9,
        )  # fmt: skip


def _label_bands(ax: Axes, drawn: pd.DataFrame) -> None:
    last, ends, base = drawn.iloc[-1], [], 0.0
    tall = ax.get_ylim()[1]
    for name, height in last.items():
        if height >= LABELLED * tall:
            look = style.look(str(name))
            ends.append((base + height / 2, f"{words.short(look.label)} {words.tokens(height)}", look.color))
        base += height
    canvas.label_ends(ax, ends)


def plot_categories_each(frame: pd.DataFrame, *, compactions: pd.DataFrame | None = None) -> Figure:
    """The stack and, beside it, each category alone from zero, all on one scale: only there its course can be judged."""
    drawn = categories(frame)
    with canvas.styled():
        if drawn.empty:
            fig = canvas.figure(3.8)
            canvas.nothing(fig.subplots(), "Context by category over turns")
            return fig
        names = list(drawn.max().sort_values(ascending=False, kind="stable").index[:MOST])
        names.sort(key=lambda name: list(drawn.columns).index(name))
        rows = max(2, -(-len(names) // 2))
        fig = canvas.figure(max(4.4, 0.95 * rows + 0.4))
        left, right = np.ravel(np.asarray(fig.subfigures(1, 2, width_ratios=(1.45, 1))))
        plot_categories(frame, compactions=compactions, ax=left.subplots(), labels=False)
        small = right.subplots(rows, 2, sharex=True, sharey=True)
        turns, heights = _steps(drawn)
        top = float(drawn[names].to_numpy().max()) * 1.25
        for spot, ax in enumerate(small.flat):
            if spot >= len(names):
                ax.set_axis_off()
                continue
            _one(ax, str(names[spot]), turns, heights[:, list(drawn.columns).index(names[spot])], top)
        return fig


def _one(ax: Axes, name: str, turns: np.ndarray, heights: np.ndarray, top: float) -> None:
    look = style.look(name)
    kept = np.append(True, heights[1:] != heights[:-1])
    kept[-1] = True  # a step that does not change is no point: the same picture in a fraction of the bytes
    turns, heights = turns[kept], heights[kept]
    ax.fill_between(
        turns, heights, step="post", facecolor=look.color, hatch=look.hatch, edgecolor=style.PAPER, linewidth=0
    )
    ax.step(turns, heights, where="post", color=style.INK, linewidth=0.8)
    ax.set_xlim(turns[0], turns[-1])
    canvas.count_axis(ax, most=2)
    ax.set_ylim(0, top)
    ax.tick_params(labelsize=8)
    ax.set_title(words.short(look.label, 24), fontsize=9, pad=3, fontweight="normal", parse_math=False)
    ax.annotate(
        words.tokens(heights[-1]), (1, 1), xycoords="axes fraction", xytext=(-2, 0), textcoords="offset points",
        ha="right", va="top", fontsize=8.5,
    )  # fmt: skip
    canvas.describe(
        ax, f"{look.label}: {words.tokens(heights[0])} at the first turn, {words.tokens(heights[-1])} at the last."
    )


def headline_categories(frame: pd.DataFrame) -> str:
    """From what to what the context grew, and what grew most."""
    drawn = categories(frame)
    if drawn.empty:
        return canvas.sentence()
    total = drawn.sum(axis=1)
    peak = int(total.max())
    at = total.index[int(total.to_numpy().argmax())]
    largest = drawn.loc[at].idxmax()
    tokens = int(drawn.loc[at].max())
    share = tokens / max(1, peak)
    name = style.look(str(largest)).label
    return (
        f"Session {words.session(str(frame['session_id'].iloc[0]))} peaked at {words.tokens(peak)} tokens in turn {at} of"
        f" {drawn.index[-1]}; the largest part then was {name}, {words.percent(share)} ({words.tokens(tokens)})."
    )
