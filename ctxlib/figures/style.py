"""One style for all figures: sizes, ink, and one fixed colour and hatch for each category.

Ink is black and paper white, and nothing else is: the report lets both follow the page, light or dark (report/svg.py),
and in JupyterLab a figure is a white card. What is quieter is black with less opacity, so that it stays readable on
both. Categories keep their colour; the hatch, the marker and a label beside it say the same without colour.
"""

from __future__ import annotations

from typing import Any, NamedTuple

INK = "#000000"
PAPER = "#ffffff"
QUIET = 0.62  # opacity of ticks and notes: 5:1 and more against either paper
FAINT = 0.14  # opacity of grid lines

# petroff8; its grey is kept for what is estimated as a rest
BLUE, ORANGE, RED, MAGENTA, OLIVE, CYAN, LIGHT_BLUE, GREY = (
    "#1845fb",
    "#ff5e02",
    "#c91f16",
    "#c849a9",
    "#adad7d",
    "#86c8dd",
    "#578dff",
    "#656364",
)

WIDTH = 8.8  # inches: 845 CSS pixels, the width of an output in JupyterLab at 1280, and less than the report's column
THRESHOLDS = (150_000, 250_000)  # tokens (X-peak)

RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": f"{INK}66",
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.unicode_minus": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.dpi": 96,
    "figure.edgecolor": "none",
    "figure.facecolor": PAPER,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "grid.alpha": FAINT,
    "grid.color": INK,
    "grid.linewidth": 0.8,
    "hatch.color": PAPER,
    "hatch.linewidth": 1.4,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "patch.linewidth": 0.6,
    "path.simplify": True,
    "savefig.facecolor": "auto",
    "svg.fonttype": "none",
    "svg.hashsalt": "ctxlib",
    "svg.image_inline": True,
    "text.color": INK,
    "text.parse_math": False,  # names out of logs are no formulas
    "text.usetex": False,
    "xtick.color": f"{INK}66",
    "xtick.labelcolor": f"{INK}b3",
    "xtick.labelsize": 9.5,
    "ytick.color": f"{INK}66",
    "ytick.labelcolor": f"{INK}b3",
    "ytick.labelsize": 9.5,
}


class Look(NamedTuple):
    """How a category is drawn, everywhere."""

    label: str
    color: str
    hatch: str = ""
    marker: str = "o"


# In the order in which they are stacked and listed: what is fixed first, what grows above it, the rest last.
CATEGORIES: dict[str, Look] = {
    "system_prompt": Look("system prompt", RED, "", "s"),
    "tools": Look("system tools", RED, "///", "D"),
    "mcp_tools": Look("MCP tools", RED, "xxx", "X"),
    "deferred": Look("deferred tools (names)", RED, "---", "P"),
    "memory": Look("memory files", OLIVE, "", "s"),
    "skills": Look("skills", OLIVE, "///", "D"),
    "agents": Look("agents", OLIVE, "xxx", "X"),
    "controls": Look("controls", OLIVE, "---", "P"),
    "messages": Look("messages", LIGHT_BLUE, "", "o"),
    "user_text": Look("your messages", BLUE, "", "o"),
    "assistant_text": Look("answers", CYAN, "", "v"),
    "attached": Look("attachments", CYAN, "///", "d"),
    "summary": Look("compaction summary", BLUE, "---", "h"),
    "thinking": Look("thinking", MAGENTA, "", "^"),
    "tool_input": Look("tool calls", ORANGE, "///", "<"),
    "tool_result": Look("tool results", ORANGE, "", ">"),
    "other": Look("other (estimated)", GREY, "\\\\\\", "*"),
}
CACHE: dict[str, Look] = {
    "read": Look("read from cache", CYAN, "", "o"),
    "write_5m": Look("written for 5 min", ORANGE, "", "s"),
    "write_1h": Look("written for 1 h", ORANGE, "///", "D"),
    "uncached": Look("not cached", RED, "xxx", "X"),
    "output": Look("output", MAGENTA, "", "^"),
}
# Two states side by side (before and after, last week and this week): hollow and filled, so that ink alone tells them.
BEFORE, AFTER = Look("before", GREY, "", "o"), Look("after", ORANGE, "", "o")


def look(category: str) -> Look:
    """The look of a category of any breakdown; one that nobody foresaw is named, and drawn like messages."""
    return CATEGORIES.get(category) or CACHE.get(category) or Look(category.replace("_", " "), LIGHT_BLUE, "++", ".")


def place(category: str) -> int:
    """Where a category stands in stacks and lists."""
    order = list(CATEGORIES)
    return order.index(category) if category in order else len(order) - 1
