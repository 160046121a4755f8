"""Context over turns of many sessions: the median and the band that holds most of them, single curves behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENOUGH = 3  # sessions: with fewer there is no median to speak of, only single curves
MILESTONES = (1, 10, 25, 50, 100, 200)  # turns (CURVE_TURNS)
MOST = 120  # single curves drawn behind the band: the largest ones


def bands(frame: pd.DataFrame, value: str = "ctx") -> pd.DataFrame:
    """What `plot_curves` draws, from curves_df: one row a turn: sessions (that reached it), median, p10, p90 of `value`
    (ctx in tokens, or pct of the window); only turns that ENOUGH sessions reached, or all did."""
    known = frame.dropna(subset=[value])
    values = known.assign(value=known[value].astype("float64")).groupby("turn")["value"]
    out = pd.DataFrame(
        {"sessions": values.size(), "median": values.median(), "p10": values.quantile(0.1), "p90": values.quantile(0.9)}
    )
    enough = min(ENOUGH, int(known["session"].nunique()))
    return out[out["sessions"] >= enough].reset_index()


def plot_curves(frame: pd.DataFrame, *, value: str = "ctx", ax: Axes | None = None) -> Axes:
    """Median and p10-p90 over turns with the number of sessions that got so far (rows: `bands`), each session's own
    curve faint behind; thresholds for tokens, the window for shares."""
    with canvas.styled():
        ax = canvas.axes(ax, height=4.3)
        drawn = bands(frame, value)
        if drawn.empty:
            return canvas.nothing(ax, "Context over turns")
        top = _draw(ax, frame, drawn, value)
        canvas.turn_axis(ax, "turn (call of the main thread); below it: sessions that reached it")
        _reached(ax, drawn)
        _scale(ax, value, top)
        canvas.label_ends(
            ax,
            [
                (float(drawn[name].iloc[-1]), f"{text} {_text(float(drawn[name].iloc[-1]), value)}", color)
                for name, text, color in (("median", "median", style.INK), ("p90", "p90", style.BLUE), ("p10", "p10", style.BLUE))
            ]
            if drawn["turn"].iloc[-1] >= 0.9 * ax.get_xlim()[1]
            else [],
        )
        return canvas.describe(ax, f"Lines over turns: {headline_curves(frame, value=value)}")


def _draw(ax: Axes, frame: pd.DataFrame, drawn: pd.DataFrame, value: str, *, width: float = 2.4) -> float:
    known = frame.dropna(subset=[value])
    peaks = known.groupby("session")[value].max().sort_values(ascending=False, kind="stable")
    alpha = 0.5 if len(peaks) < 12 else 0.22
    for session in peaks.index[:MOST]:
        own = known[known["session"] == session]
        ax.step(
            own["turn"], own[value].astype("float64"), where="post", color=style.INK, alpha=alpha, linewidth=0.7,
            gid=f"session-{words.session(session)}",
        )  # fmt: skip
    ax.fill_between(
        drawn["turn"], drawn["p10"], drawn["p90"], step="post", facecolor=style.LIGHT_BLUE, alpha=0.35, linewidth=0
    )
    for edge in ("p10", "p90"):
        ax.step(drawn["turn"], drawn[edge], where="post", color=style.BLUE, linewidth=1, linestyle=(0, (1, 1.5)))
    ax.step(drawn["turn"], drawn["median"], where="post", color=style.LIGHT_BLUE, linewidth=width, gid="median")
    return float(peaks.iloc[0])


def _scale(ax: Axes, value: str, top: float) -> None:
    if value == "pct":
        ax.set_ylim(0, max(105, top * 1.05) if top > 50 else top * 1.15)
        ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0f} %")
        ax.set_ylabel("share of the window")
        return
    canvas.count_axis(ax, "y", "tokens in the context")
    ax.set_ylim(0, top * 1.06)
    thresholds(ax, "y", top * 1.06)


def thresholds(ax: Axes, which: str, top: float) -> None:
    """The lines at 150k and 250k tokens (X-peak) that fall below `top`."""
    for limit in style.THRESHOLDS:
        if limit > top:
            continue
        draw = ax.axhline if which == "y" else ax.axvline
        draw(limit, color=style.RED, linewidth=1, linestyle=(0, (5, 3)), gid=f"threshold-{limit}")
        at, shift = ((0, limit), (4, 2)) if which == "y" else ((limit, 1), (3, -2))
        ax.annotate(
            words.tokens(limit), at, xycoords=("axes fraction", "data") if which == "y" else ("data", "axes fraction"),
            xytext=shift, textcoords="offset points", va="bottom" if which == "y" else "top", fontsize=8.5,
        )  # fmt: skip


def _reached(ax: Axes, drawn: pd.DataFrame) -> None:
    """The sessions that reached a turn, under its tick."""
    last = int(drawn["turn"].iloc[-1])
    counts = drawn.set_index("turn")["sessions"]
    furthest = ax.get_xlim()[1]
    turns = [turn for turn in (*MILESTONES, 300, 400, 600, 800, 1200, 1600) if turn in counts.index]
    kept: list[int] = []
    for turn in [*turns, last] if last not in turns else turns:
        while kept and turn - kept[-1] < 0.055 * furthest and kept[-1] != 1:
            kept.pop()
        if not kept or turn - kept[-1] >= 0.055 * furthest:
            kept.append(turn)
    ax.set_xticks(kept, [f"{turn}\n{words.count(int(counts[turn]), 'session') if turn == kept[0] else counts[turn]}" for turn in kept])
    ax.set_xlim(1, None)
    for tick in ax.get_xticklabels()[:1]:
        tick.set_ha("left")


def _text(number: float, value: str) -> str:
    return f"{number:.0f} %" if value == "pct" else words.tokens(number)


def plot_curves_by(frame: pd.DataFrame, *, by: str = "project", top: int = 6, value: str = "ctx") -> Figure:
    """`plot_curves` apart for the `top` projects or models with the most sessions, on one scale."""
    names = frame.groupby(by)["session"].nunique().sort_values(ascending=False, kind="stable").index[:top]
    with canvas.styled():
        if not len(names):
            fig = canvas.figure(3.8)
            canvas.nothing(fig.subplots(), f"Context over turns by {by}")
            return fig
        columns = min(3, len(names))
        rows = -(-len(names) // columns)
        fig = canvas.figure(2.2 * rows + 0.5)
        spots = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        high = 0.0
        for spot, ax in enumerate(spots.flat):
            if spot >= len(names):
                ax.set_axis_off()
                continue
            own = frame[frame[by] == names[spot]]
            drawn = bands(own, value)
            if not drawn.empty:
                high = max(high, _draw(ax, own, drawn, value, width=1.8))
            sessions = words.count(own["session"].nunique(), "session")
            ax.set_title(f"{words.label(names[spot], 28)}\n", fontsize=9.5, pad=2)
            ax.annotate(
                sessions, (0, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", va="bottom",
                fontsize=9, alpha=style.QUIET,
            )  # fmt: skip
            text = headline_curves(own, value=value)
            canvas.describe(ax, f"{words.short(names[spot])}: {text}")
        for ax in list(spots.flat)[: len(names)]:
            _scale(ax, value, high)
            ax.set_ylabel("")
            ax.xaxis.set_major_locator(canvas.whole_numbers(5))
        fig.supxlabel("turn", fontsize=10)
        fig.supylabel("share of the window" if value == "pct" else "tokens in the context", fontsize=10)
        return fig


def headline_curves(frame: pd.DataFrame, *, value: str = "ctx") -> str:
    """The median at the first turn and at the last milestone that enough sessions reached."""
    drawn = bands(frame, value)
    if drawn.empty:
        return canvas.sentence()
    unit = " of the window" if value == "pct" else " tokens"
    first = drawn.iloc[0]
    turn = max((turn for turn in MILESTONES if turn in set(drawn["turn"])), default=int(first["turn"]))
    last = drawn[drawn["turn"] == turn].iloc[0] if turn != int(first["turn"]) else drawn.iloc[-1]
    start = f"{_text(float(first['median']), value)}{unit} at turn {int(first['turn'])}"
    if int(last["turn"]) == int(first["turn"]):
        return f"The median session holds {start} ({words.count(int(first['sessions']), 'session')})."
    return (
        f"The median session starts with {start} and holds {_text(float(last['median']), value)} at turn"
        f" {int(last['turn'])}, which {int(last['sessions'])} of {int(first['sessions'])} sessions reached."
    )


def milestones(frame: pd.DataFrame, value: str = "ctx") -> pd.DataFrame:
    """`bands` at the turns that the rule names, for a table."""
    drawn = bands(frame, value)
    return drawn[drawn["turn"].isin(MILESTONES)].reset_index(drop=True)


def explore_curves(frame: pd.DataFrame, *, top: int = 10) -> go.Figure:
    """The curves of the `top` sessions with the largest peaks, to look at closely: hover gives turn and tokens."""
    import plotly.graph_objects as go

    peaks = frame.groupby("session")["ctx"].max().sort_values(ascending=False, kind="stable").index[:top]
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    colors = (style.LIGHT_BLUE, style.ORANGE, style.RED, style.MAGENTA, style.OLIVE, style.CYAN, style.BLUE)
    traces = []
    for i, session in enumerate(peaks):
        own = frame[frame["session"] == session]
        name = f"{words.markup(words.session(session))} {words.markup(own['project'].iloc[0], 22)}"
        traces.append(
            go.Scatter(
                x=own["turn"].tolist(), y=[int(ctx) for ctx in own["ctx"]], mode="lines", name=name,
                line={"shape": "hv", "color": colors[i % len(colors)], "dash": dashes[i % len(dashes)], "width": 2},
                hovertemplate="turn %{x}: %{y:,} tokens",
            )
        )  # fmt: skip
    text = f"The {len(peaks)} sessions with the largest peaks" if traces else canvas.sentence()
    return canvas.explorable(traces, title=text, height=430, xaxis="turn", yaxis="tokens in the context")
