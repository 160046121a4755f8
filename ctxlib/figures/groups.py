"""Context over turns, apart for each project or model: small multiples on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.curves import bands, draw, headline_curves, scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curves_by(frame: pd.DataFrame, *, by: str = "project", top: int = 6, value: str = "ctx") -> Figure:
    """`plot_curves` apart for the `top` projects or models with the most sessions, on one scale."""
    frame = frame.assign(**{by: mostly(frame, by)})
    counts = frame.groupby(by)["session"].nunique().sort_values(ascending=False, kind="stable")
    held = {str(name): bands(frame[frame[by] == name], value) for name in counts.index[:top]}
    names = [name for name, drawn in held.items() if not drawn.empty]
    with canvas.styled():
        if not names:
            fig = canvas.figure(3.8)
            canvas.nothing(fig.subplots(), f"Context over turns by {by}")
            return fig
        columns = min(3, len(names))
        rows = -(-len(names) // columns)
        fig = canvas.figure(2.2 * rows + 0.5)
        spots = fig.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        ends = sorted((int(held[name]["turn"].max()) for name in names), reverse=True)
        second = ends[min(1, len(ends) - 1)]
        end = max(2, min(ends[0], round(1.5 * second)))  # one long session must not squash the rest
        high = 0.0
        for spot, ax in enumerate(spots.flat):
            if spot >= len(names):
                ax.set_axis_off()
                continue
            own = frame[frame[by] == names[spot]]
            high = max(high, draw(ax, own, held[names[spot]], value, end=end, width=1.8))
            sessions = words.count(int(own["session"].nunique()), "session")
            ax.set_title(words.short(names[spot], 28), fontsize=9.5, pad=17, parse_math=False)
            ax.annotate(
                sessions, (0, 1), xycoords="axes fraction", xytext=(0, 4), textcoords="offset points", va="bottom",
                fontsize=9, alpha=style.QUIET,
            )  # fmt: skip
            text = headline_curves(own, value=value)
            canvas.describe(ax, f"{words.short(names[spot])}: {text}")
        for ax in list(spots.flat)[: len(names)]:
            scale(ax, value, high)
            ax.set_ylabel("")
            ax.set_xlim(1, end)
            ax.xaxis.set_major_locator(canvas.whole_numbers(5))
        fig.supxlabel("turn", fontsize=10)
        fig.supylabel("share of the window" if value == "pct" else "tokens in the context", fontsize=10)
        return fig


def mostly(frame: pd.DataFrame, by: str) -> pd.Series[str]:
    """For each row the value of `by` that most calls of its session have: a session is shown once, under one name."""
    counts = frame.groupby(["session", by]).size().reset_index(name="calls")
    most = counts.sort_values(["calls", by], ascending=[False, True], kind="stable").drop_duplicates("session")
    return frame["session"].map(most.set_index("session")[by])
