"""Context over turns of many sessions: the median and the band that holds most of them, single curves behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.parameters import count as whole

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes

ENOUGH = 5  # sessions: with fewer the median jumps with whoever is left (a third of them where there are less than 15)
MILESTONES = (1, 10, 25, 50, 100, 200)  # turns (CURVE_TURNS)
MOST = 120  # single curves drawn behind the band: the largest ones


def bands(frame: pd.DataFrame, value: str = "ctx") -> pd.DataFrame:
    """What `plot_curves` draws, from curves_df: one row a turn: sessions (that reached it), median, p10, p90 of `value`
    (ctx in tokens, or pct of the window), up to the last turn that ENOUGH sessions reached."""
    known = frame.dropna(subset=[value])
    values = known.assign(value=known[value].astype("float64")).groupby("turn")["value"]
    out = pd.DataFrame(
        {"sessions": values.size(), "median": values.median(), "p10": values.quantile(0.1), "p90": values.quantile(0.9)}
    )
    enough = min(ENOUGH, max(1, -(-int(known["session"].nunique()) // 3)))
    return out[out["sessions"] >= enough].reset_index()


def plot_curves(frame: pd.DataFrame, *, value: str = "ctx", ax: Axes | None = None) -> Axes:
    """Median and p10-p90 over turns with the number of sessions that got so far (rows: `bands`), each session's own
    curve faint behind; thresholds for tokens, the window for shares."""
    with canvas.styled():
        ax = canvas.axes(ax, height=4.3)
        drawn = bands(frame, value)
        if drawn.empty:
            return canvas.nothing(ax, "Context over turns")
        end = max(2, int(drawn["turn"].iloc[-1]))
        top = draw(ax, frame, drawn, value, end=end)
        canvas.turn_axis(ax, "turn (call of the main thread), and below it how many sessions reached it")
        ax.set_xlim(1, end)
        _reached(ax, drawn, end)
        scale(ax, value, top)
        _beyond(ax, frame, value, end)
        last = drawn.iloc[-1]
        looks = (("median", style.LIGHT_BLUE), ("p90", style.BLUE), ("p10", style.BLUE))
        ends = [(float(last[name]), f"{name} {_text(float(last[name]), value)}", color) for name, color in looks]
        canvas.label_ends(ax, ends)
        return canvas.describe(ax, f"Lines over turns: {headline_curves(frame, value=value)}")


def draw(ax: Axes, frame: pd.DataFrame, drawn: pd.DataFrame, value: str, *, end: int, width: float = 2.4) -> float:
    """Draws what lies up to turn `end`; returns the largest value."""
    known = frame[frame["turn"] <= end].dropna(subset=[value])
    peaks = known.groupby("session")[value].max().sort_values(ascending=False, kind="stable")
    alpha = 0.5 if len(peaks) < 12 else 0.22
    for session in peaks.index[:MOST]:
        own = known[known["session"] == session]
        ax.plot(
            own["turn"], own[value].astype("float64"), drawstyle="steps-post", color=style.INK, alpha=alpha,
            linewidth=0.7, marker="." if len(own) == 1 else "", gid=f"session-{words.session(session)}",
        )  # fmt: skip
    ax.fill_between(
        drawn["turn"], drawn["p10"], drawn["p90"], step="post", facecolor=style.LIGHT_BLUE, alpha=0.35, linewidth=0
    )
    for edge in ("p10", "p90"):
        ax.step(drawn["turn"], drawn[edge], where="post", color=style.BLUE, linewidth=1, linestyle=(0, (1, 1.5)))
    ax.plot(
        drawn["turn"], drawn["median"], drawstyle="steps-post", color=style.LIGHT_BLUE, linewidth=width, gid="median",
        marker="o" if len(drawn) == 1 else "",
    )  # fmt: skip
    return float(peaks.iloc[0])


def _beyond(ax: Axes, frame: pd.DataFrame, value: str, end: int) -> None:
    """Names the sessions that go on to the right of the figure: too few for a median."""
    beyond = frame[frame["turn"] > end]
    if beyond.empty:
        return
    sessions = beyond["session"].nunique()
    largest = _text(float(beyond[value].max()), value)
    ax.annotate(
        f"{words.count(sessions, 'session goes', 'sessions go')} on, to turn {beyond['turn'].max()} and {largest}",
        (1, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", ha="right", va="bottom", fontsize=9,
    )  # fmt: skip


def scale(ax: Axes, value: str, top: float) -> None:
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


def _reached(ax: Axes, drawn: pd.DataFrame, end: int) -> None:
    """The sessions that reached a turn, under its tick."""
    counts = drawn.set_index("turn")["sessions"]
    kept: list[int] = []
    for turn in [turn for turn in (*MILESTONES, 300, 400, 600, 800, 1200, 1600, end) if turn in counts.index]:
        if kept and turn - kept[-1] < 0.06 * end:
            if turn != end or len(kept) == 1:
                continue
            kept.pop()
        kept.append(turn)
    ax.set_xticks(kept, [f"{turn}\n{counts[turn]}" for turn in kept])


def _text(number: float, value: str) -> str:
    return f"{number:.0f} %" if value == "pct" else words.tokens(number)


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


def advice_curves(frame: pd.DataFrame) -> list[str]:
    """When to start anew: the turn at which the median session passes a threshold, and what each turn adds."""
    drawn = bands(frame)
    if drawn.empty:
        return []
    out = []
    for limit in style.THRESHOLDS:
        over = drawn[drawn["median"] >= limit]
        if not over.empty:
            out.append(
                f"The median session passes {words.tokens(limit)} at turn {int(over['turn'].iloc[0])}: from there every call"
                f" pays for more than that. Finish the task or start a new session (/clear) before."
            )
            break
    else:
        most = drawn["median"].max()
        out.append(
            f"The median session stays below {words.tokens(style.THRESHOLDS[0])} tokens (at most {words.tokens(most)})."
        )
    end = drawn[drawn["turn"] <= 50].iloc[-1]
    if end["turn"] > 1:
        rate = (float(end["median"]) - float(drawn["median"].iloc[0])) / (float(end["turn"]) - 1)
        out.append(
            f"Each of the first {int(end['turn'])} turns adds {words.tokens(rate)} tokens (slope of the median): long searches"
            " and noisy commands are cheaper in a sub-agent, whose context ends with it."
        )
    return out


def milestones(frame: pd.DataFrame, value: str = "ctx") -> pd.DataFrame:
    """`bands` at the turns that the rule names, for a table."""
    drawn = bands(frame, value)
    return drawn[drawn["turn"].isin(MILESTONES)].reset_index(drop=True)


def explore_curves(frame: pd.DataFrame, *, top: object = 10) -> go.Figure:
    """The curves of the `top` sessions with the largest peaks, to look at closely: hover gives turn and tokens."""
    import plotly.graph_objects as go

    peaks = frame.groupby("session")["ctx"].max().sort_values(ascending=False, kind="stable").index[: whole(top, "top")]
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
    text = f"{words.count(len(peaks), 'session')} with the largest peaks" if traces else canvas.sentence()
    return canvas.explorable(traces, title=text, height=430, xaxis="turn", yaxis="tokens in the context")
