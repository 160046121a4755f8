"""One call's context as bars, and the same over many sessions: where the context goes, in tokens and shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = {
    "counted": "counted by /context",
    "delta": "measured by rises",
    "estimate": "estimated",
    "residual": "total less the rest",
}


def breakdown(source: Any) -> pd.DataFrame:
    """What `plot_breakdown` draws: category, shown (tokens), share (of the total, 0-1), method; largest first, `other`
    last; empty categories are left out.

    source: the rows of one call of snapshots_df or kinds_df, or an object with `.parts`.
    """
    rows = _rows(source)
    rows = rows[rows["shown"] > 0]
    rows = rows.assign(rest=rows["category"] == "other", place=rows["category"].map(style.place))
    rows = rows.sort_values(["rest", "shown", "place"], ascending=[True, False, True])
    total = max(1, int(rows["shown"].sum()))
    out = rows.assign(share=rows["shown"] / total)[["category", "shown", "share", "method"]]
    return out.reset_index(drop=True)


def _rows(source: Any) -> pd.DataFrame:
    parts = source if isinstance(source, pd.DataFrame) else source.parts
    if isinstance(parts, pd.DataFrame):
        return parts.assign(method=parts["method"] if "method" in parts else "estimate")
    if isinstance(parts, Mapping):
        items = [(name, getattr(part, "shown", part), getattr(part, "method", "estimate")) for name, part in parts.items()]
    else:
        items = [(part.category, part.shown, getattr(part, "method", "estimate")) for part in parts]
    table = [(str(getattr(name, "name", name)).lower(), int(shown), str(method)) for name, shown, method in items]
    return pd.DataFrame(table, columns=["category", "shown", "method"])


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    """What `plot_shares` draws, from snapshots_df or kinds_df of any number of sessions: the last call of each session's
    main thread, summed: category, shown (tokens), share (0-1, of all of them), p10, p90 (of the sessions' own shares),
    sessions (in which it is there at all)."""
    last = last_calls(frame)
    own = last.assign(share=last["shown"] / last["total"].where(last["total"] > 0))
    by = own.groupby("category", sort=False)
    out = pd.DataFrame(
        {
            "shown": by["shown"].sum(),
            "p10": by["share"].quantile(0.1),
            "p90": by["share"].quantile(0.9),
            "sessions": by["shown"].apply(lambda shown: int((shown > 0).sum())),
        }
    ).reset_index()
    out = out[out["shown"] > 0]
    out = out.assign(share=out["shown"] / max(1, int(out["shown"].sum())), rest=out["category"] == "other")
    out = out.sort_values(["rest", "shown"], ascending=[True, False])
    return out[["category", "shown", "share", "p10", "p90", "sessions"]].reset_index(drop=True)


def last_calls(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of each session's last call of the main thread."""
    main = frame[frame["thread_id"] == "main"]
    return main[main["seq"] == main.groupby("session_id")["seq"].transform("max")]


def plot_breakdown(source: Any, *, ax: Axes | None = None) -> Axes:
    """Bars of one call's context: tokens and share of each category (rows: `breakdown`)."""
    drawn = breakdown(source)
    with canvas.styled():
        ax = canvas.axes(ax, height=0.9 + 0.36 * max(4, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "One call's context by category")
        _bars(ax, drawn)
        return canvas.describe(ax, f"Bars: {headline_breakdown(source)} {_listed(drawn)}")


def plot_shares(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Bars of all sessions' last calls together, with a line from p10 to p90 of the sessions (rows: `shares`)."""
    drawn = shares(frame)
    with canvas.styled():
        ax = canvas.axes(ax, height=0.9 + 0.36 * max(4, len(drawn)))
        if drawn.empty:
            return canvas.nothing(ax, "Context by category over all sessions")
        total = drawn["shown"].sum()
        low, high = drawn["p10"] * total, drawn["p90"] * total
        _bars(ax, drawn, note_at=[max(a, b) for a, b in zip(drawn["shown"], high, strict=True)])
        ax.hlines(range(len(drawn)), low, high, color=style.INK, linewidth=1.2, alpha=0.75)
        ax.plot(low, range(len(drawn)), "|", high, range(len(drawn)), "|", color=style.INK, markersize=7, alpha=0.75)
        ax.set_xlabel("share of the tokens at the last calls; line: p10 to p90 of the sessions' own shares")
        return canvas.describe(ax, f"Bars: {headline_shares(frame)} {_listed(drawn)}")


def _bars(ax: Axes, drawn: pd.DataFrame, *, note_at: list[float] | None = None) -> None:
    total = float(drawn["shown"].sum())
    for row, (category, shown) in enumerate(zip(drawn["category"], drawn["shown"], strict=True)):
        look = style.look(category)
        ax.barh(row, shown, height=0.66, color=look.color, hatch=look.hatch, edgecolor=style.INK, linewidth=0.6)
    ends = note_at or list(drawn["shown"])
    for row, (end, shown, share) in enumerate(zip(ends, drawn["shown"], drawn["share"], strict=True)):
        text = f"{words.percent(share)}  ·  {words.tokens(shown)}"
        ax.annotate(text, (end, row), xytext=(7, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(drawn)), [words.label(style.look(name).label) for name in drawn["category"]])
    ax.tick_params(axis="y", length=0, labelsize=10, labelcolor=style.INK)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0, max(ends) * 1.22)
    step = 0.05 if max(ends) < 0.3 * total else 0.1 if max(ends) < 0.65 * total else 0.2
    ticks = [i * step for i in range(round(1 / step) + 1) if i * step * total <= max(ends) * 1.05]
    ax.set_xticks([share * total for share in ticks], [words.percent(share) for share in ticks])
    ax.set_xlabel("share of the call's tokens")


def headline_breakdown(source: Any) -> str:
    """What fills the call most, in words."""
    drawn = breakdown(source)
    if drawn.empty:
        return canvas.sentence()
    first, total = drawn.iloc[0], int(drawn["shown"].sum())
    name = style.look(first["category"]).label
    return (
        f"{name[:1].upper()}{name[1:]}: {words.percent(first['share'])} of this call's {words.tokens(total)} tokens"
        f" ({words.tokens(first['shown'])}).{_rest(drawn, first)}"
    )


def headline_shares(frame: pd.DataFrame) -> str:
    """What fills the context most over all sessions, in words."""
    drawn = shares(frame)
    if drawn.empty:
        return canvas.sentence()
    first, total = drawn.iloc[0], int(drawn["shown"].sum())
    sessions = words.count(last_calls(frame)["session_id"].nunique(), "session")
    name = style.look(first["category"]).label
    return (
        f"{name[:1].upper()}{name[1:]} fill{'' if name.endswith('s') else 's'} {words.percent(first['share'])} of the"
        f" context: {words.tokens(first['shown'])} of {words.tokens(total)} tokens at the last calls of"
        f" {sessions}.{_rest(drawn, first)}"
    )


def _rest(drawn: pd.DataFrame, first: pd.Series[Any]) -> str:
    rest = drawn[drawn["category"] == "other"]
    if rest.empty or first["category"] == "other":
        return ""
    return f" {words.percent(float(rest['share'].iloc[0]))} is held by nothing in the log (other, estimated)."


def _listed(drawn: pd.DataFrame) -> str:
    pairs = zip(drawn["category"], drawn["share"], strict=True)
    return "; ".join(f"{style.look(name).label} {words.percent(share)}" for name, share in pairs) + "."
