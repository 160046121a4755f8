"""Where figures are drawn, and how a notebook shows them: deterministic SVG with an alt text, escaped tables."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ctxlib.figures import style, words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

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


def sentence() -> str:
    """The headline of an empty frame."""
    return f"{NO_DATA[0].upper()}{NO_DATA[1:]}."


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
        line = {"transform": ax.transAxes, "clip_on": False, "linewidth": 1.2}
        ax.plot([1.0, 1.012, 1.024], [at, spot, spot], color=color, **line)
        ax.text(1.03, spot, text, transform=ax.transAxes, va="center", fontsize=size)


class Picture(NamedTuple):
    """A figure as a notebook stores it."""

    svg: str
    alt: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, str], dict[str, Any]]:
        return (
            {"image/svg+xml": self.svg, "text/plain": self.alt},
            {"image/svg+xml": {"alt": self.alt}},
        )


class Plot(NamedTuple):
    """A plotly figure as a notebook stores it: its JSON alone, which the report draws (report/plots.py)."""

    spec: dict[str, Any]
    alt: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, Any], dict[str, Any]]:
        mime = "application/vnd.plotly.v1+json"
        return {mime: self.spec, "text/plain": self.alt}, {mime: {"alt": self.alt}}


class Grid(NamedTuple):
    """A table as a notebook stores it."""

    html: str
    text: str

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict[str, str], dict[str, Any]]:
        return {"text/html": self.html, "text/plain": self.text}, {}


def show(drawn: Axes | Figure | go.Figure) -> Picture | Plot:
    """What a cell ends with: the figure as SVG (the same bytes every time) or plotly JSON, with its alt text; closed."""
    if not isinstance(drawn, (Axes, Figure)):
        spec = json.loads(drawn.to_json())
        title = spec.get("layout", {}).get("title", {}).get("text", "Interactive figure")
        return Plot({"data": spec["data"], "layout": spec["layout"]}, str(spec["layout"].get("meta", title)))
    import matplotlib.pyplot as plt

    whole, alt = figure_of(drawn), alt_text(drawn)
    file = io.StringIO()
    with styled():
        whole.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Title": alt or None})
    plt.close(whole)
    return Picture(file.getvalue(), alt)


def explorable(traces: list[Any], *, title: str, height: int, xaxis: str = "", yaxis: str = "", **layout: Any) -> go.Figure:
    """A plotly figure of fixed layout and without a template: its JSON holds what it shows, and nothing else."""
    import plotly.graph_objects as go

    axis = {"zeroline": False, "gridcolor": "rgba(128,128,128,0.25)", "rangemode": "tozero"}
    base = {
        "template": None,
        "title": {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper"},
        "height": height,
        "margin": {"l": 64, "r": 16, "t": 48, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "#767676"},
        "legend": {"orientation": "h", "y": -0.16, "yanchor": "top"},
        "hovermode": "closest",
    }
    axes = {"xaxis": {**axis, "title": {"text": xaxis}}, "yaxis": {**axis, "title": {"text": yaxis}}} if xaxis else {}
    return go.Figure(data=traces, layout={**base, **axes, **layout})


def table(
    frame: pd.DataFrame, columns: Mapping[str, str] | None = None, *, top: object = 100, formats: Mapping[str, Any] = {}
) -> Grid:
    """The first `top` rows as a table; `columns` picks and names, `formats` gives a function for a column's values.

    Everything is escaped: names come out of logs. What is missing is an empty cell.
    """
    picked = frame[list(columns)] if columns else frame
    most = int(str(top))
    rows = [
        {name: _cell(value, formats.get(name)) for name, value in zip(picked.columns, row, strict=True)}
        for row in picked.head(most).itertuples(index=False, name=None)
    ]
    names = [columns[name] if columns else str(name) for name in picked.columns]
    return grid(names, [list(row.values()) for row in rows], rest=max(0, len(picked) - most))


def grid(names: Sequence[str], rows: Sequence[Sequence[str]], *, rest: int = 0) -> Grid:
    """A table of texts, already formatted; `rest` rows were left out."""
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in rows], columns=list(names), dtype=object)
    if frame.empty:
        return Grid(f"<p>{NO_DATA}</p>", NO_DATA)
    with pd.option_context("display.max_colwidth", None, "display.width", 200, "display.max_rows", None):
        html = frame.to_html(index=False, escape=True, border=0, na_rep="", max_rows=None, max_cols=None)
        text = frame.to_string(index=False, na_rep="", max_rows=None, max_cols=None)
    note = f"and {words.count(rest, 'more row')}" if rest else ""
    return Grid(html + (f"\n<p>{note}</p>" if note else ""), text + (f"\n{note}" if note else ""))


def _cell(value: Any, form: Any) -> str:
    import pandas as pd

    if value is None or value is pd.NaT or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return ""
    if form is not None:
        return str(form(value))
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:,.2f}"
    if isinstance(value, int) or hasattr(value, "__index__"):
        return f"{int(value):,}"
    return words.short(value, 60)
