"""The cache over time and what it costs: shares of the tokens, USD by kind, and prefixes that were written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.periods import periods

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRITTEN = ("write_5m", "write_1h", "uncached")
SIDES = ("read", *WRITTEN)
KINDS = (*SIDES, "output")
CAUSES = {
    "model": "model changed",
    "model_changed": "model changed (log)",
    "expired 1h": "pause over 1 h",
    "expired 5m": "pause over 5 min",
    "rewind": "rewind",
    "unknown": "cause unknown",
    "messages_changed": "messages changed (log)",
    "system_changed": "system prompt changed (log)",
    "tools_changed": "tools changed (log)",
    "previous_message_not_found": "message before not found (log)",
}


def cache_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_cache` draws, from spend_df: one row a period with calls: start (UTC), label, tokens (input side), and
    the shares (0-1) read_share, write_5m_share, write_1h_share, uncached_share of them."""
    dated = frame.dropna(subset=["ts"])
    if dated.empty:
        return pd.DataFrame(columns=["start", "label", "tokens", *(f"{side}_share" for side in SIDES)])
    spans = periods(dated["ts"])
    sums = dated.groupby(spans.of.to_numpy())[list(SIDES)].sum()
    total = sums.sum(axis=1)
    sums, total = sums[total > 0], total[total > 0]
    shares = sums.div(total, axis=0).add_suffix("_share")
    out = shares.assign(
        tokens=total.astype("int64"), start=shares.index, label=[spans.label(start) for start in shares.index]
    )
    return out[["start", "label", "tokens", *shares.columns]].reset_index(drop=True)


def plot_cache(frame: pd.DataFrame) -> Figure:
    """Tokens a period above; below, the shares that were written or not cached (rows: `cache_shares`): the rest, mostly
    nine tenths and more, was read from the cache."""
    drawn = cache_shares(frame)
    with canvas.styled():
        fig = canvas.figure(4.6)
        if drawn.empty:
            canvas.nothing(fig.subplots(), "Cache shares over time")
            return fig
        above, below = fig.subplots(2, 1, sharex=True, height_ratios=(1, 2))
        at = range(len(drawn))
        above.bar(at, drawn["tokens"], width=0.8, color=style.LIGHT_BLUE, edgecolor=style.INK)
        canvas.count_axis(above, "y", "tokens", most=3)
        base = pd.Series(0.0, index=drawn.index)
        for side in WRITTEN:
            look = style.look(side)
            below.bar(
                at, drawn[f"{side}_share"], bottom=base, width=0.8, color=look.color, hatch=look.hatch, edgecolor=style.INK,
                linewidth=0.4, label=look.label,
            )  # fmt: skip
            base = base + drawn[f"{side}_share"]
        below.set_ylim(0, max(0.05, float(base.max()) * 1.08))
        below.yaxis.set_major_formatter(lambda share, _: words.percent(share))
        below.set_ylabel("not read from the cache")
        step = max(1, -(-len(drawn) // 12))
        below.set_xticks(list(at)[::step], list(drawn["label"])[::step])
        below.set_xlabel(f"{periods(frame['ts'].dropna()).name} (UTC), those with calls")
        handles, labels = below.get_legend_handles_labels()
        present = [i for i, side in enumerate(WRITTEN) if drawn[f"{side}_share"].max() > 0]
        above.legend(
            [handles[i] for i in present], [labels[i] for i in present], loc="lower left", bbox_to_anchor=(0, 1.0),
            ncols=4, borderaxespad=0.2,
        )  # fmt: skip
        total = words.tokens(drawn["tokens"].sum())
        canvas.describe(above, f"Bars: context tokens of {len(drawn)} periods, {total} in all.")
        canvas.describe(below, f"Stacked bars: {headline_cache(frame)}")
        return fig


def cost(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_cost` draws, from spend_df: one row a kind (read, write_5m, write_1h, uncached, output): tokens, usd (list
    prices), share (0-1, of all USD)."""
    total = float(frame["usd"].sum())
    rows = [
        {
            "category": kind,
            "tokens": int(frame[kind].sum()),
            "usd": float(frame[f"{kind}_usd"].sum()),
            "share": float(frame[f"{kind}_usd"].sum()) / total if total else 0.0,
        }
        for kind in KINDS
    ]
    out = pd.DataFrame(rows)
    return out[(out["tokens"] > 0) | (out["usd"] > 0)].reset_index(drop=True)


def plot_cost(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """USD by kind (rows: `cost`)."""
    drawn = cost(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.0 + 0.38 * max(3, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Cost by kind")
        for row, item in enumerate(canvas.each(drawn)):
            look = style.look(item.category)
            usd, share = item.usd, item.share
            ax.barh(row, usd, height=0.66, color=look.color, hatch=look.hatch, edgecolor=style.INK)
            text = f"{words.usd(usd)}  ·  {words.percent(share)}  ·  {words.tokens(item.tokens)} tokens"
            ax.annotate(text, (usd, row), xytext=(7, 0), textcoords="offset points", va="center")
        canvas.rows(ax, [style.look(name).label for name in drawn["category"]])
        ax.set_xlim(0, max(0.01, float(drawn["usd"].max()) * 1.45))
        ax.xaxis.set_major_formatter(words.dollars)
        ax.set_xlabel("USD at list prices")
        return canvas.describe(ax, f"Bars: {headline_cost(frame)}")


def headline_cache(frame: pd.DataFrame) -> str:
    """What was read from the cache, and what writing to it costs."""
    drawn = cache_shares(frame)
    if drawn.empty:
        return canvas.sentence()
    tokens = drawn["tokens"].astype("float64")
    read = float((drawn["read_share"] * tokens).sum() / tokens.sum())
    total = words.tokens(tokens.sum())
    return f"{words.percent(read)} of {total} context tokens were read from the cache.{_writes(frame)}"


def _writes(frame: pd.DataFrame) -> str:
    held = cost(frame).set_index("category")
    total = float(held["usd"].sum())
    if not total:
        return ""
    writes = [kind for kind in ("write_5m", "write_1h") if kind in held.index]
    usd = float(held.loc[writes, "usd"].sum())
    return f" Writing it cost {words.usd(usd)} of {words.usd(total)} at list prices ({words.percent(usd / total)})."


def headline_cost(frame: pd.DataFrame) -> str:
    """Which kind costs most."""
    drawn = cost(frame)
    total = float(drawn["usd"].sum())
    if not total:
        return canvas.sentence() if drawn.empty else "No model of this window has a list price."
    first = drawn.iloc[int(drawn["usd"].to_numpy().argmax())]
    return (
        f"The window cost {words.usd(total)} at list prices, most of it {style.look(first['category']).label}:"
        f" {words.usd(float(first['usd']))} ({words.percent(float(first['share']))})."
    )


def rebuilt(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_rebuilds` draws, from rebuilds_df: one row a cause: cause, rebuilds, tokens (written again), usd (more
    than reading them would have cost), logged (rebuilds whose cause the log names); most USD first. After a compaction
    the prefix is new by intent: those are left out.
    """
    by = frame[frame["cause"] != "compaction"].groupby("cause")
    out = pd.DataFrame(
        {"rebuilds": by.size(), "tokens": by["tokens"].sum(), "usd": by["usd"].sum(), "logged": by["logged"].sum()}
    ).reset_index()
    return out.sort_values(["usd", "tokens"], ascending=False, kind="stable").reset_index(drop=True)


def plot_rebuilds(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """USD by cause (rows: `rebuilt`)."""
    drawn = rebuilt(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.0 + 0.38 * max(3, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Rebuilds of the cache by cause")
        for row, item in enumerate(canvas.each(drawn)):
            usd = item.usd
            hatch, color = ("\\\\\\", style.GREY) if item.cause == "unknown" else ("", style.ORANGE)
            ax.barh(row, usd, height=0.66, color=color, hatch=hatch, edgecolor=style.INK)
            times = words.count(item.rebuilds, "rebuild")
            text = f"{words.usd(usd)}  ·  {times}, {words.tokens(item.tokens)} tokens"
            ax.annotate(text, (usd, row), xytext=(7, 0), textcoords="offset points", va="center")
        canvas.rows(ax, [_cause(cause) for cause in drawn["cause"]])
        ax.set_xlim(0, max(0.01, float(drawn["usd"].max()) * 1.65))
        ax.xaxis.set_major_formatter(words.dollars)
        ax.set_xlabel("USD at list prices, more than reading the same tokens")
        return canvas.describe(ax, f"Bars: {headline_rebuilds(frame)}")


def headline_rebuilds(frame: pd.DataFrame) -> str:
    """How often a cached prefix was written again, and why most."""
    drawn = rebuilt(frame)
    if drawn.empty:
        return "No call wrote a cached prefix again."
    first = canvas.each(drawn)[0]
    calls, total = words.count(int(drawn["rebuilds"].sum()), "call"), words.tokens(drawn["tokens"].sum())
    return (
        f"{calls} wrote a cached prefix again: {total} tokens, {words.usd(drawn['usd'].sum())} more than reading it; most by"
        f" cause: {_cause(first.cause)} ({words.usd(first.usd)})."
    )


def _cause(name: str) -> str:
    return CAUSES.get(name, words.short(name))


def advice_cache(frame: pd.DataFrame, rebuilds: pd.DataFrame) -> list[str]:
    """5 minutes against 1 hour, and what causes rebuilds. frame: spend_df, rebuilds: rebuilds_df."""
    out = []
    short = float(frame["write_5m_usd"].sum())
    lapsed = rebuilds[rebuilds["cause"] == "expired 5m"]
    saved = lapsed[lapsed["gap_min"] <= 60]
    if short > 0:
        more, less = short * (2.0 / 1.25 - 1), float(saved["usd"].sum())
        verdict = "dearer" if more > less else "cheaper"
        out.append(
            f"Caching for 1 hour instead of 5 minutes would have been {verdict} here: {words.usd(more)} more for writing (2x"
            f" instead of 1.25x the input price), against {words.usd(less)} of rebuilds after pauses of 5 to 60 minutes"
            f" ({words.count(len(saved), 'rebuild')})."
        )
    drawn = rebuilt(rebuilds[rebuilds["cause"] != "unknown"])
    for item in canvas.each(drawn.head(2)):
        what = {
            "expired 5m": "Pauses longer than the cache lives: finish a task in one go, or start anew after a break.",
            "expired 1h": "Long pauses: a new session (/clear) starts from a small prefix, the old one is written again.",
            "model": "A change of model writes everything anew: change it at the start of a task, or in a sub-agent.",
            "rewind": "A rewind leaves the cache of the branch behind: rewind early rather than late.",
        }.get(item.cause, "Something at the start of the request changed: tools, system prompt or earlier messages.")
        out.append(
            f"{_cause(item.cause)[:1].upper()}{_cause(item.cause)[1:]}: {words.count(item.rebuilds, 'rebuild')},"
            f" {words.usd(item.usd)}. {what}"
        )
    return out
