"""This week against last: seven days up to the end of the data, and the seven before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, columns, style, words
from ctxlib.figures.shown import Grid, say
from ctxlib.parameters import count as whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WEEK = pd.Timedelta(days=7)


def weeks(spend: pd.DataFrame, until: str | None = None) -> tuple[pd.DataFrame, pd.DataFrame, pd.Timestamp]:
    """(rows of spend_df of the last 7 days, of the 7 before, their end). The end is `until` (ISO), else the end of the last
    call's day (UTC): never the present, so that the same logs give the same page."""
    dated = spend.dropna(subset=["ts"])
    if until:
        end = pd.Timestamp(until)
    else:
        last_day = dated["ts"].max().floor("D") if len(dated) else pd.Timestamp(0, unit="ms", tz="UTC")
        end = last_day + pd.Timedelta(days=1)
    this = dated[(dated["ts"] >= end - WEEK) & (dated["ts"] < end)]
    last = dated[(dated["ts"] >= end - 2 * WEEK) & (dated["ts"] < end - WEEK)]
    return this, last, end


def compare(spend: pd.DataFrame, until: str | None = None) -> Grid:
    """Both weeks as a whole, as a table: what, week before, this week, change."""
    this, last, _ = weeks(spend, until)
    if this.empty and last.empty:
        return say(canvas.sentence())
    rows = []
    for what, (of, form) in _MEASURES.items():
        before, now = of(last), of(this)
        moved = (now - before) / before if before else None
        change = "" if moved is None else f"{'+' if moved >= 0 else '-'}{words.percent(abs(moved))}"
        rows.append([what, form(before), form(now), change])
    return columns.grid(["what", "week before", "this week", "change"], rows, [True, False, False, False])


def _sessions(rows: pd.DataFrame) -> int:
    """Sessions with a call of their own main thread (X-peak's), as everywhere."""
    return int(rows.loc[rows["thread"] == "main", "session"].nunique())


def _tokens(rows: pd.DataFrame) -> float:
    return float(rows[["uncached", "read", "write_5m", "write_1h"]].to_numpy().sum())


def _read(rows: pd.DataFrame) -> float:
    return float(rows["read"].sum()) / _tokens(rows) if _tokens(rows) else 0.0


def _largest(rows: pd.DataFrame) -> float:
    main = rows[rows["thread"] == "main"]
    sizes = main["uncached"] + main["read"] + main["write_5m"] + main["write_1h"]
    peaks = sizes.groupby(main["session"]).max()
    return float(peaks.median()) if len(peaks) else 0.0


def _number(value: float) -> str:
    return f"{value:,.0f}"


_MEASURES: dict[str, tuple[Callable[[pd.DataFrame], float], Callable[[float], str]]] = {
    "sessions": (_sessions, _number),
    "calls, sub-agents included": (len, _number),
    "context tokens": (_tokens, words.tokens),
    "USD at list prices": (lambda rows: float(rows["usd"].sum()), words.usd),
    "median peak of a session, tokens": (_largest, words.tokens),
    "read from the cache": (_read, words.percent),
}


def pairs(spend: pd.DataFrame, until: str | None = None, *, by: str = "project", top: object = 10) -> pd.DataFrame:
    """What `plot_trend` draws: one row a project or model, the `top` dearest of both weeks: name, last_usd, this_usd (list
    prices), last_tokens, this_tokens (context tokens), last_sessions, this_sessions, change (of USD; <NA> = new)."""
    this, last, _ = weeks(spend, until)
    parts = {}
    for name, rows in (("last", last), ("this", this)):
        tokens = rows["uncached"] + rows["read"] + rows["write_5m"] + rows["write_1h"]
        parts[f"{name}_usd"] = rows.groupby(by)["usd"].sum()
        parts[f"{name}_tokens"] = tokens.groupby(rows[by]).sum()
        parts[f"{name}_sessions"] = rows[rows["thread"] == "main"].groupby(by)["session"].nunique()
    out = pd.DataFrame(parts).fillna(0)
    out = out.astype({name: "int64" for name in out.columns if not name.endswith("usd")})
    out["most"] = out[["last_usd", "this_usd"]].max(axis=1)
    out["size"] = out["last_tokens"] + out["this_tokens"]
    out = out.sort_values(["most", "size"], ascending=False, kind="stable").head(whole(top, "top"))
    known = out["last_usd"] > 0
    out["change"] = ((out["this_usd"] - out["last_usd"]) / out["last_usd"].where(known)).astype("Float64")
    return out.drop(columns=["most", "size"]).rename_axis("name").reset_index()


def plot_trend(
    spend: pd.DataFrame, until: str | None = None, *, by: str = "project", top: object = 10, ax: Axes | None = None
) -> Axes:
    """USD of the week before (hollow) and of this week (filled) by project or model (rows: `pairs`)."""
    drawn = pairs(spend, until, by=by, top=top)
    with canvas.styled():
        ax = canvas.axes(ax, height=1.35 + 0.34 * max(3, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, f"This week against last by {by}")
        at = range(len(drawn))
        ax.hlines(at, drawn["last_usd"], drawn["this_usd"], color=style.INK, alpha=0.45, linewidth=1.6)
        dot: dict[str, Any] = {
            "markeredgecolor": style.INK,
            "markeredgewidth": 1.1,
            "linestyle": "none",
            "markersize": 9,
            "zorder": 3,
        }
        ax.plot(drawn["last_usd"], at, "o", markerfacecolor=style.PAPER, label="week before", gid="last", **dot)
        ax.plot(drawn["this_usd"], at, "o", markerfacecolor=style.ORANGE, label="this week", gid="this", **dot)
        for row, item in enumerate(canvas.each(drawn)):
            before, now = item.last_usd, item.this_usd
            text = f"{words.usd(before)} → {words.usd(now)}"
            ax.annotate(
                text, (max(before, now), row), xytext=(9, 0), textcoords="offset points", va="center", fontsize=9.5
            )
        canvas.rows(ax, [str(name) for name in drawn["name"]])
        ax.set_xlim(left=-0.015 * max(0.01, float(drawn[["last_usd", "this_usd"]].to_numpy().max())))
        ax.set_xlim(right=max(0.01, float(drawn[["last_usd", "this_usd"]].to_numpy().max()) * 1.3))
        ax.xaxis.set_major_formatter(words.dollars)
        ax.set_xlabel("USD at list prices, seven days")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2)
        return canvas.describe(ax, f"Dumbbells by {by}: {headline_trend(spend, until)}")


def headline_trend(spend: pd.DataFrame, until: str | None = None) -> str:
    """What this week cost against the week before."""
    this, last, end = weeks(spend, until)
    if this.empty and last.empty:
        return canvas.sentence()
    day = end - pd.Timedelta(milliseconds=1)
    start = end - WEEK
    period = f"{words.day(start)} to {words.day(day)}"
    now, before = float(this["usd"].sum()), float(last["usd"].sum())
    change = "" if not before else f" ({'+' if now >= before else '-'}{words.percent(abs(now - before) / before)})"
    return (
        f"{period}: {words.count(_sessions(this), 'session')} and {words.usd(now)} at list prices, against"
        f" {words.count(_sessions(last), 'session')} and {words.usd(before)} in the seven days before{change}."
    )


def advice_trend(spend: pd.DataFrame, until: str | None = None) -> list[str]:
    """Which project and which model moved most."""
    out = []
    for by in ("project", "model"):
        drawn = pairs(spend, until, by=by, top=100)
        if drawn.empty:
            continue
        moved = (drawn["this_usd"] - drawn["last_usd"]).astype("float64")
        first = drawn.iloc[int(moved.abs().to_numpy().argmax())]
        way = "more" if first["this_usd"] >= first["last_usd"] else "less"
        size = abs(float(first["this_usd"]) - float(first["last_usd"]))
        out.append(
            f"The {by} that moved most is {words.short(first['name'])}: {words.usd(size)} {way} than the week before, over"
            f" {words.count(int(first['this_sessions']), 'session')} (before: {int(first['last_sessions'])})."
        )
    _, last, _ = weeks(spend, until)
    if last.empty and out:
        out.append("The week before holds no calls: a longer window (since) gives something to compare with.")
    return out
