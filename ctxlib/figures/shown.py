"""How a notebook stores what it shows: deterministic SVG or plotly JSON with an alt text, and escaped HTML."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ctxlib.figures.canvas import alt_text, figure_of, styled

if TYPE_CHECKING:
    import plotly.graph_objects as go

_GEOMETRY = re.compile(r'\s(?:d|x|y|transform|points)="[^"]*"')
_LONG = re.compile(r"(\d\.\d\d)\d+")


def _rounded(svg: str) -> str:
    """Coordinates with two digits instead of six: a hundredth of a point is finer than any screen, and halves the file."""
    return _GEOMETRY.sub(lambda found: _LONG.sub(r"\1", found[0]), svg)


@dataclass(frozen=True, repr=False)
class Picture:
    """A figure as a notebook stores it. (No tuple: IPython has a text of its own for those, and it would be stored.)"""

    svg: str
    alt: str

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        return (
            {"image/svg+xml": self.svg, "text/plain": self.alt},
            {"image/svg+xml": {"alt": self.alt}},
        )


@dataclass(frozen=True, repr=False)
class Plot:
    """A plotly figure as a notebook stores it: its JSON alone, which the report draws (report/plots.py)."""

    spec: dict[str, Any]
    alt: str

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        mime = "application/vnd.plotly.v1+json"
        return {mime: self.spec, "text/plain": self.alt}, {mime: {"alt": self.alt}}


@dataclass(frozen=True, repr=False)
class Grid:
    """A table as a notebook stores it."""

    html: str
    text: str

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        return {"text/html": self.html, "text/plain": self.text}, {}


def show(drawn: Axes | Figure | go.Figure) -> Picture | Plot:
    """What a cell ends with: the figure as SVG (the same bytes every time) or plotly JSON, with its alt text; closed."""
    if not isinstance(drawn, (Axes, Figure)):
        spec = json.loads(drawn.to_json())
        spec["layout"].pop("template", None)  # plotly's own style, 6 kB a figure, all of which is overruled
        title = spec.get("layout", {}).get("title", {}).get("text", "Interactive figure")
        return Plot({"data": spec["data"], "layout": spec["layout"]}, str(title))
    import matplotlib.pyplot as plt

    whole, alt = figure_of(drawn), alt_text(drawn)
    file = io.StringIO()
    with styled():
        whole.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Title": alt or None})
    plt.close(whole)
    return Picture(_rounded(file.getvalue()), alt)


def say(text: str) -> Grid:
    """A sentence beside a figure, as text in the page."""
    return Grid(f"<p>{html.escape(text)}</p>", text)


def points(texts: Sequence[str]) -> Grid:
    """Sentences as a list: what to do about it."""
    if not texts:
        return say("Nothing stands out in this window.")
    items = "\n".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return Grid(f"<ul>\n{items}\n</ul>", "\n".join(f"- {text}" for text in texts))
