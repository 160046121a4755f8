"""Where figures are drawn: axes in one style, with scales and labels that need no legend, and alt texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ctxlib.figures import style, words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

CARD = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5, "alpha": 0.85}  # behind a text on top of lines
NO_DATA = "no data in this window"


@contextmanager
def styled() -> Iterator[None]:
    """The style, for as long as a figure is made or saved; the user's own settings stay as they are."""
    with mpl.rc_context(style.RC):
        yield


def axes(ax: Axes | None, *, height: float = 3.8, width: float = style.WIDTH) -> Axes:
    """`ax`, or a new figure's (inches). Call it inside `styled`."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # so that Lab shows the figure by itself where `show` is not called

    return plt.subplots(figsize=(width, height))[1]


def figure(height: float, *, width: float = style.WIDTH) -> Figure:
    """A new figure (inches) for several axes. Call it inside `styled`."""
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height))


def nothing(ax: Axes, what: str) -> Axes:
    """The axes of an empty frame: a sentence, and no scale that would mean nothing."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, NO_DATA, ha="center", va="center", transform=ax.transAxes, alpha=style.QUIET, fontsize=12)
    return describe(ax, f"{what}: {NO_DATA}.")


def describe(ax: Axes, text: str) -> Axes:
    """Sets the alt text of an axes: what it shows, with its numbers. `show` hands it to screen readers."""
    ax.set_label(" ".join(text.split()))
    return ax


def alt_text(drawn: Axes | Figure) -> str:
    """The alt texts of all axes of a figure, in order."""
    parts = [str(ax.get_label()) for ax in figure_of(drawn).axes]
    return " ".join(part for part in parts if part and not part.startswith("<"))


def figure_of(drawn: Axes | Figure) -> Figure:
    """The whole figure that something drawn belongs to."""
    found = drawn if isinstance(drawn, Figure) else drawn.get_figure(root=True)
    if not isinstance(found, Figure):
        raise ValueError("these axes belong to no figure")
    return found


def count_axis(ax: Axes, which: str = "y", name: str = "", *, most: int = 6) -> None:
    """An axis of tokens from zero, in k and M."""
    axis = ax.yaxis if which == "y" else ax.xaxis
    axis.set_major_formatter(FuncFormatter(words.tick))
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_label_text(name)
    (ax.set_ylim if which == "y" else ax.set_xlim)(0, None)


def whole_numbers(most: int) -> MaxNLocator:
    """Ticks at whole numbers."""
    return MaxNLocator(most, integer=True)


def few(most: int) -> MaxNLocator:
    """At most so many ticks, at round numbers."""
    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


def sentence() -> str:
    """The headline of an empty frame."""
    return f"{NO_DATA[0].upper()}{NO_DATA[1:]}."


def each(frame: pd.DataFrame) -> list[Any]:
    """The rows, with a column as an attribute."""
    return list(frame.itertuples())


def rows(ax: Axes, names: Sequence[str], *, length: int = 34) -> None:
    """The look of horizontal bars: a name for each row, from the top, and a grid for the values only."""
    # ticks are made when they are drawn, maybe outside of `styled`: so here they say it themselves
    ax.set_yticks(range(len(names)), [words.short(name, length) for name in names], parse_math=False)
    ax.tick_params(axis="y", length=0, labelsize=10, labelcolor=style.INK)
    ax.set_ylim(len(names) - 0.5, -0.6)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)
    ax.spines["left"].set_visible(False)


def turn_axis(ax: Axes, name: str = "turn (call of the main thread)") -> None:
    """An axis of whole turns."""
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlabel(name)


def apart(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """The places (ascending) moved so that neighbours are at least `least` apart, within low..high: for labels."""
    out: list[float] = []
    for at in places:
        out.append(max(at, out[-1] + least if out else low))
    ceiling = high
    for i in range(len(out) - 1, -1, -1):
        out[i] = min(out[i], ceiling)
        ceiling = out[i] - least
    return out


def label_ends(ax: Axes, ends: Sequence[tuple[float, str, str]], *, size: float = 9.5, gap: float = 1.35) -> None:
    """Direct labels right of the axes: (height in data, text, colour of its tick), moved apart, each with a thin leader.

    Call it last, when the limits of the axes are final.
    """
    if not ends:
        return
    low, high = ax.get_ylim()
    tall = figure_of(ax).get_size_inches()[1] * ax.get_position().height * 72
    least = gap * size / max(tall, 1.0)
    ordered = sorted(ends, key=lambda end: end[0])
    spots = apart([(end[0] - low) / (high - low) for end in ordered], least, 0.0, 1.0)
    for (height, text, color), spot in zip(ordered, spots, strict=True):
        at = (height - low) / (high - low)
        bend = [1.0, 1.012, 1.024], [at, spot, spot]
        ax.plot(*bend, color=color, transform=ax.transAxes, clip_on=False, linewidth=1.2)
        ax.text(1.03, spot, text, transform=ax.transAxes, va="center", fontsize=size)


def on(color: str) -> str:
    """Black or white, whichever is read better on a colour (#rrggbb)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return style.INK if (light + 0.05) ** 2 > 1.05 * 0.05 else style.PAPER


def explorable(
    traces: list[Any], *, title: str, height: int, xaxis: str = "", yaxis: str = "", **layout: Any
) -> go.Figure:
    """A plotly figure of fixed layout and without a template: its JSON holds what it shows, and nothing else."""
    import plotly.graph_objects as go

    axis = {"zeroline": False, "gridcolor": "rgba(128,128,128,0.25)", "rangemode": "tozero"}
    base = {
        "template": {},
        "title": {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper"},
        "height": height,
        "margin": {"l": 64, "r": 16, "t": 48, "b": 64},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "#767676"},
        "legend": {"orientation": "h", "y": -0.22, "yanchor": "top"},
        "hovermode": "closest",
    }
    axes = (
        {
            "xaxis": {**axis, "rangemode": "normal", "title": {"text": xaxis}},
            "yaxis": {**axis, "title": {"text": yaxis}},
        }
        if xaxis
        else {}
    )
    return go.Figure(data=traces, layout={**base, **axes, **layout})
