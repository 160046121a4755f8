"""Is the accounting right? What holds at every call, characters a token by model, how far `other` drifts, /context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAYS = {
    "constant": "4 characters a token",
    "fit": "fitted characters a token",
    "delta": "rises between calls",
}
MOST = 1.0  # drifts beyond the whole growth are drawn at the edge


def drifts(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_drift` draws, from drift_df: one row a way: way, epochs, median_share, p90_share (of the epoch's
    growth, 0-1, of the absolute drift)."""
    growth = frame["growth"].astype("float64")
    rows = []
    for way in WAYS if len(frame) else ():
        share = (frame[way].abs() / growth).astype("float64")
        middle, high = float(share.median()), float(share.quantile(0.9))
        rows.append({"way": way, "epochs": len(share), "median_share": middle, "p90_share": high})
    return pd.DataFrame(rows, columns=["way", "epochs", "median_share", "p90_share"])


def plot_drift(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Each epoch's drift of `other` as a share of its growth, by three ways of sizing what was appended; median and p90
    as marks (rows: `drifts`)."""
    drawn = drifts(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=2.9)
        if drawn.empty:
            return canvas.nothing(ax, "Drift of other")
        growth = frame["growth"].astype("float64")
        for row, item in enumerate(canvas.each(drawn)):
            share = np.minimum((frame[item.way].abs() / growth).to_numpy("float64"), MOST)
            spread = row + 0.27 * np.sin(np.arange(len(share)) * 2.399)  # apart by a fixed pattern, never by chance
            ax.plot(
                share, spread, "o", markersize=4.5, markerfacecolor=style.LIGHT_BLUE, markeredgecolor=style.INK,
                markeredgewidth=0.3, alpha=0.45, gid=f"epochs-{item.way}",
            )  # fmt: skip
            median, p90 = item.median_share, item.p90_share
            ax.plot(
                min(median, MOST),
                row,
                "|",
                color=style.INK,
                markersize=26,
                markeredgewidth=2.6,
                gid=f"median-{item.way}",
            )
            ax.plot(min(p90, MOST), row, "|", color=style.RED, markersize=26, markeredgewidth=2, gid=f"p90-{item.way}")
            ax.annotate(
                f"median {words.percent(median)}, p90 {words.percent(p90)}", (1, row), xycoords=("axes fraction", "data"),
                xytext=(6, 0), textcoords="offset points", va="center",
            )  # fmt: skip
        canvas.rows(ax, [WAYS[way] for way in drawn["way"]])
        ax.set_xlim(-0.01, MOST * 1.02)
        ax.xaxis.set_major_formatter(lambda share, _: words.percent(share) + (" +" if share >= MOST else ""))
        ax.set_xlabel("drift of other over an epoch, as a share of its growth; black: median, red: p90")
        return canvas.describe(ax, f"Dots, one an epoch: {headline_drift(frame)}")


def headline_drift(frame: pd.DataFrame) -> str:
    """How far other drifts, against the constant."""
    drawn = {item.way: item for item in canvas.each(drifts(frame))}
    if not drawn:
        return canvas.sentence()
    own, constant = drawn["delta"], drawn["constant"]
    middle, high = words.percent(own.median_share), words.percent(own.p90_share)
    return (
        f"Over {words.count(own.epochs, 'epoch')}, other drifts by {middle} of the growth (median; p90 {high}); with four"
        f" characters a token it would be {words.percent(constant.median_share)} (p90 {words.percent(constant.p90_share)})."
    )


def plot_fits(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Characters a token by model, from fits_df: median with p10 to p90 of its rises; hollow where the shipped table
    stands in for too few rises; the constant 4 as a line."""
    drawn = frame.sort_values(["chars_per_token", "model"], kind="stable").reset_index(drop=True)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.0 + 0.3 * max(4, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Characters a token by model")
        for row, item in enumerate(canvas.each(drawn)):
            own, middle = item.source == "fit", item.chars_per_token
            if own:
                ax.hlines(row, item.p10, item.p90, color=style.INK, linewidth=1.6, alpha=0.6)
            ax.plot(
                middle, row, "o", markersize=8, markerfacecolor=style.ORANGE if own else style.PAPER,
                markeredgecolor=style.INK, gid=f"fit-{row}",
            )  # fmt: skip
            text = f"{middle:.2f}  ({words.count(item.n, 'rise')}{'' if own else ', too few: from the table'})"
            ax.annotate(
                text, (1, row), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points", va="center",
                fontsize=9,
            )  # fmt: skip
        canvas.rows(ax, [str(name) for name in drawn["model"]])
        ax.axvline(4, color=style.RED, linewidth=1.2, linestyle=(0, (5, 3)))
        ax.annotate(
            "the constant, 4", (4, 1), xycoords=("data", "axes fraction"), xytext=(-4, 3), textcoords="offset points",
            ha="right", fontsize=9,
        )  # fmt: skip
        ax.set_xlim(1, max(4.2, float(drawn["p90"].max()) * 1.05))
        ax.set_xlabel("characters a token of tool results; line: p10 to p90")
        return canvas.describe(ax, f"Dots: {headline_fits(frame)}")


def headline_fits(frame: pd.DataFrame) -> str:
    """The range of the fits."""
    own = frame[frame["source"] == "fit"]
    if frame.empty:
        return canvas.sentence()
    if own.empty:
        return f"No model has enough single results to fit; {words.count(len(frame), 'model')} use the shipped table."
    low, high = float(own["chars_per_token"].min()), float(own["chars_per_token"].max())
    span = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
    return (
        f"A token of a tool result is {span} characters by {words.count(int(own['n'].sum()), 'measured rise')} of"
        f" {words.count(len(own), 'model')}, not 4."
    )


def checks(frame: pd.DataFrame) -> pd.DataFrame:
    """What must hold at every call, counted from snapshots_df: what, times (calls at which it holds), calls."""
    if frame.empty:
        return pd.DataFrame(columns=["what", "times", "calls"])
    call = ["session_id", "thread_id", "seq"]
    sums = frame.groupby(call, sort=False).agg(
        shown=("shown", "sum"), least=("shown", "min"), total=("total", "first"), parts=("category", "size"),
        distinct=("category", "nunique"), basis=("basis", "first"),
    )  # fmt: skip
    other = frame[frame["category"] == "other"]
    rows = [
        ("the parts sum to the total", sums["shown"] == sums["total"]),
        ("no part is negative", sums["least"] >= 0),
        ("each category is there once", sums["parts"] == sums["distinct"]),
        ("injected lies within other", other["injected"] <= other["shown"]),
        ("the total is measured by the provider", sums["basis"] == "measured"),
    ]
    return pd.DataFrame([{"what": what, "times": int(held.sum()), "calls": len(held)} for what, held in rows])


def headline_checks(frame: pd.DataFrame) -> str:
    """At how many calls the parts sum to the total."""
    if frame.empty:
        return canvas.sentence()
    first = checks(frame).iloc[0]
    return (
        f"The parts sum exactly to the total at {int(first['times']):,} of {words.count(int(first['calls']), 'call')}."
    )


def distances(frame: pd.DataFrame) -> pd.DataFrame:
    """How far /context lies from the provider's own totals, from truths_df: session, counted_total, ctx_before, ctx_after
    (tokens), off (share of the nearer of the two calls, signed)."""
    near = frame["ctx_before"].fillna(frame["ctx_after"])
    off = (frame["counted_total"].astype("Float64") - near.astype("Float64")) / near.astype("Float64")
    return frame[["session", "counted_total", "ctx_before", "ctx_after"]].assign(off=off).reset_index(drop=True)


def headline_truths(frame: pd.DataFrame) -> str:
    """How far /context is off, where logs hold its output."""
    known = distances(frame).dropna(subset=["off"])
    if known.empty:
        return "No log of this window holds an output of /context: run it once in a session, and this page compares."
    off = float(known["off"].abs().median())
    return (
        f"{words.count(len(known), '/context output')} in the logs: {'its total is' if len(known) == 1 else 'their totals are'}"
        f" {words.percent(off)} off the call before (/context rounds and estimates)."
    )


def advice_calibration(fits: pd.DataFrame, truths: pd.DataFrame) -> list[str]:
    """What would make the figures surer."""
    out: list[str] = []
    if fits.empty:
        return out
    few = fits[fits["source"] != "fit"]
    if len(few):
        names = ", ".join(words.short(name) for name in few["model"].head(3)) + (" and others" if len(few) > 3 else "")
        out.append(
            f"{names}: too few results to fit, so the shipped table sizes what no rise measures; more sessions settle it."
        )
    if truths.empty:
        out.append(
            "Run /context once in a session of each project: it names system prompt, tools and memory, now in other."
        )
    return out
