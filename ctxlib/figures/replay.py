"""One session replayed: what each turn carried and paid, and what is in the context at a chosen turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.categories import categories, plot_categories
from ctxlib.parameters import count as whole

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure

PAID = ("read", "write_5m", "write_1h", "uncached", "output")
LONG = 5.0  # minutes: a pause after which a 5-minute cache is gone


def turns_paid(spend: pd.DataFrame, session: str) -> pd.DataFrame:
    """What the lower half of `plot_replay` draws, from spend_df: one row a call of the session's main thread: turn, ts,
    gap_min (minutes since the call before), usd and its kinds (read_usd, ...)."""
    own = spend[(spend["session"] == session) & (spend["thread"] == "main")].sort_values("turn", kind="stable")
    gaps = own["ts"].diff().dt.total_seconds() / 60
    columns = ["turn", "ts", *(f"{kind}_usd" for kind in PAID), "usd"]
    return own[columns].assign(gap_min=gaps).reset_index(drop=True)


def plot_replay(
    frame: pd.DataFrame, spend: pd.DataFrame, *, compactions: pd.DataFrame | None = None, turn: int = 0
) -> Figure:
    """Context by part over turns, and below it what each turn paid (list prices), with pauses beyond 5 minutes marked.

    frame: rows of kinds_df of one thread; spend: spend_df; turn: a turn to mark (0: none).
    """
    with canvas.styled():
        fig = canvas.figure(6.0)
        if frame.empty:
            canvas.nothing(fig.subplots(), "One session over turns")
            return fig
        above, below = fig.subplots(2, 1, sharex=True, height_ratios=(2.1, 1))
        plot_categories(frame, compactions=compactions, ax=above)
        above.set_xlabel("")
        if turn:
            above.axvline(turn, color=style.INK, linewidth=1.6, gid="chosen")
            above.annotate(
                f"turn {turn}", (turn, 1), xycoords=("data", "axes fraction"), xytext=(-4, -16), textcoords="offset points",
                ha="right", va="top", fontsize=9, bbox=canvas.CARD,
            )  # fmt: skip
        paid = turns_paid(spend, str(frame["session_id"].iloc[0]))
        base = pd.Series(0.0, index=paid.index)
        for kind in PAID:
            look, usd = style.look(kind), paid[f"{kind}_usd"]
            if usd.sum() > 0:
                below.bar(
                    paid["turn"], usd, bottom=base, width=1.0, align="edge", color=look.color, hatch=look.hatch,
                    label=look.label, linewidth=0,
                )  # fmt: skip
            base = base + usd
        high = float(base.max()) if len(base) else 0.0
        pauses = paid[paid["gap_min"] > LONG]
        below.plot(
            pauses["turn"] + 0.5, [high * 1.1] * len(pauses), "v", color=style.INK, markersize=5, linestyle="none",
            gid="pauses", label=f"pause over {LONG:.0f} min",
        )  # fmt: skip
        below.set_ylim(0, max(high * 1.18, 0.001))
        elsewhere = int((frame["turn"].min() < paid["turn"].min()) if len(paid) else 1)
        if elsewhere:  # a fork or a resume repeats history; a call is paid once, where it was made
            below.annotate(
                "earlier turns: paid in the session they were copied from", (0, 1), xycoords="axes fraction", xytext=(5, -4),
                textcoords="offset points", va="top", fontsize=9,
            )  # fmt: skip
        below.yaxis.set_major_formatter(words.dollars)
        below.set_ylabel("USD a turn")
        canvas.turn_axis(below)
        below.legend(loc="upper left", bbox_to_anchor=(1.005, 1), fontsize=9, borderaxespad=0)
        canvas.describe(
            below, f"Stacked bars of what each turn paid: {headline_paid(spend, str(frame['session_id'].iloc[0]))}"
        )
        return fig


def headline_paid(spend: pd.DataFrame, session: str) -> str:
    """What a session paid, and its dearest turn."""
    paid = turns_paid(spend, session)
    if paid.empty:
        return canvas.sentence()
    total = float(paid["usd"].sum())
    if not total:
        return f"{words.count(len(paid), 'turn')} of a model without a list price."
    first = canvas.each(paid)[int(paid["usd"].to_numpy().argmax())]
    pauses = words.count(int((paid["gap_min"] > LONG).sum()), "pause")
    return (
        f"{words.count(len(paid), 'turn')} cost {words.usd(total)} at list prices; the dearest was turn {first.turn} with"
        f" {words.usd(first.usd)}; {pauses} of more than {LONG:.0f} minutes."
    )


def held(frame: pd.DataFrame, by: str, top: object = 10) -> pd.DataFrame:
    """What `plot_residents` draws, from residents_df: `by` tool or path, the `top` largest and the rest as one row: name,
    blocks, tokens, share (of the call's total, 0-1). Only what tools were asked and returned has a tool or a path."""
    own = frame[frame["kind"].isin(["tool_input", "tool_result", "image", "document"]) & (frame[by] != "")]
    sums = (
        own.groupby(by)
        .agg(blocks=("blocks", "sum"), tokens=("tokens", "sum"))
        .reset_index()
        .rename(columns={by: "name"})
    )
    sums = sums.sort_values(["tokens", "name"], ascending=[False, True], kind="stable")
    most = whole(top, "top")
    out, tail = sums.head(most), sums.iloc[most:]
    if len(tail):
        noun = {"path": "other file", "tool": "other tool"}[by]
        rest = {
            "name": words.count(len(tail), noun),
            "blocks": int(tail["blocks"].sum()),
            "tokens": int(tail["tokens"].sum()),
        }
        out = pd.concat([out, pd.DataFrame([rest])], ignore_index=True)
    return out.assign(share=out["tokens"] / max(1, int(frame["tokens"].sum()))).reset_index(drop=True)


def plot_residents(frame: pd.DataFrame, *, top: object = 10) -> Figure:
    """What a call carries, by tool and by file (rows: `held`)."""
    tools, files = held(frame, "tool", top), held(frame, "path", top)
    with canvas.styled():
        fig = canvas.figure(1.0 + 0.31 * max(4, len(tools), len(files)))
        if tools.empty and files.empty:
            canvas.nothing(fig.subplots(), "What the context holds by tool and file")
            return fig
        left, right = fig.subplots(1, 2)
        look = style.look("tool_result")
        for ax, drawn, title in ((left, tools, "by tool"), (right, files, "by file")):
            ax.set_title(title)
            if drawn.empty:
                canvas.nothing(ax, f"What the context holds {title}")
                continue
            ax.barh(range(len(drawn)), drawn["tokens"], height=0.66, color=look.color, edgecolor=style.INK)
            for row, (tokens, share) in enumerate(zip(drawn["tokens"], drawn["share"], strict=True)):
                text = f"{words.tokens(tokens)}  ·  {words.percent(share)}"
                ax.annotate(text, (tokens, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
            canvas.rows(ax, [words.short(name, 26) for name in drawn["name"]])
            ax.set_ylim(max(len(tools), len(files)) - 0.5, -0.6)  # bars of one width on both sides
            ax.tick_params(axis="y", labelsize=9)
            canvas.count_axis(ax, "x", "tokens", most=4)
            ax.set_xlim(0, max(1.0, float(drawn["tokens"].max()) * 1.5))
            first = canvas.each(drawn)[0]
            canvas.describe(
                ax, f"Bars {title}: {words.short(first.name)} is largest, {words.tokens(first.tokens)} tokens."
            )
        return fig


def headline_residents(frame: pd.DataFrame) -> str:
    """What a call carries most of."""
    tools, files, total = held(frame, "tool"), held(frame, "path"), int(frame["tokens"].sum())
    if not total:
        return canvas.sentence()
    said = [f"The call carries {words.tokens(total)} tokens"]
    if len(tools):
        first = tools.iloc[0]
        said.append(f"{words.tokens(float(first['tokens']))} of them to and from {words.short(first['name'])}")
    if len(files):
        first = files.iloc[0]
        said.append(f"{words.tokens(float(first['tokens']))} about {words.short(first['name'])}")
    return ", ".join(said) + "."


def explore_replay(frame: pd.DataFrame) -> go.Figure:
    """The stack of one thread, to look at closely: hover gives a turn's tokens by part."""
    import plotly.graph_objects as go

    drawn = categories(frame) if not frame.empty else pd.DataFrame()
    shapes = {"///": "/", "\\\\\\": "\\", "xxx": "x", "---": "-", "++": "+", "": ""}
    traces = []
    for name in drawn.columns:
        look = style.look(str(name))
        pattern: dict[str, Any] = {"shape": shapes[look.hatch], "fgcolor": "#ffffff", "size": 6, "fillmode": "overlay"}
        traces.append(
            go.Scatter(
                x=[int(turn) for turn in drawn.index], y=[int(tokens) for tokens in drawn[name]], name=words.markup(look.label),
                mode="lines", stackgroup="context", fillcolor=look.color, fillpattern=pattern,
                line={"shape": "hv", "width": 0.5, "color": look.color}, hovertemplate="%{y:,} tokens",
            )
        )  # fmt: skip
    title = "Context by part over turns" if traces else canvas.sentence()
    return canvas.explorable(
        traces, title=title, height=460, xaxis="turn", yaxis="tokens in the context", hovermode="x unified"
    )


def explore_residents(frame: pd.DataFrame, *, top: object = 40) -> go.Figure:
    """What a call carries as a treemap: part, tool, file; the `top` largest leaves of each, by tokens."""
    import plotly.graph_objects as go

    ids, labels, parents, values, colors = [], [], [], [], []

    def leaf(name: str, label: str, parent: str, tokens: int, color: str) -> None:
        ids.append(name)
        labels.append(words.markup(label, 40))
        parents.append(parent)
        values.append(tokens)
        colors.append(color)

    total = int(frame["tokens"].sum())
    if total:
        leaf("all", f"{words.tokens(total)} tokens", "", total, "#8a8a8a")
    part = frame["category"].where((frame["category"] != "messages") | (frame["kind"] == ""), frame["kind"])
    part = part.where(part.isin(style.CATEGORIES), "attached")
    for name, rows in frame.assign(part=part).groupby("part", sort=False):
        look = style.look(str(name))
        leaf(str(name), look.label, "all", int(rows["tokens"].sum()), look.color)
        if name not in ("tool_input", "tool_result"):
            continue
        for tool, own in rows.groupby("tool", sort=False):
            branch = f"{name!s}/{tool!s}"
            leaf(branch, str(tool) or "(unknown)", str(name), int(own["tokens"].sum()), look.color)
            for item in canvas.each(own[own["path"] != ""].head(whole(top, "top"))):
                leaf(f"{branch}/{item.path}", item.path, branch, item.tokens, look.color)
    tree = go.Treemap(
        textfont={"color": [canvas.on(color) for color in colors]},
        texttemplate="%{label}<br>%{value:.3s} · %{percentRoot:.0%}",
        ids=[words.markup(name, 400) for name in ids], labels=labels, parents=[words.markup(name, 400) for name in parents],
        values=values, branchvalues="total", hovertemplate="%{label}: %{value:,} tokens<extra></extra>",
        marker={"colors": colors, "line": {"width": 1, "color": style.PAPER}},
    )  # fmt: skip
    title = "What the call carries: part, tool, file" if total else canvas.sentence()
    return canvas.explorable(
        [tree] if total else [],
        title=title,
        height=520,
        margin={"l": 0, "r": 0, "t": 48, "b": 0},
        uniformtext={"minsize": 10, "mode": "hide"},
    )


def chosen_turn(frame: pd.DataFrame) -> int:
    """The turn of the rows of one call; 0 for none."""
    return int(frame["turn"].iloc[0]) if len(frame) else 0
