"""Frames -> figures, and the sentence that each one proves. Needs the extra ``report``.

`plot_noun(frame, *, ax=None)` draws with matplotlib and returns the Axes (a Figure where it takes several);
`explore_noun(frame)` returns a plotly Figure; `headline_noun(frame)` is a sentence computed from what is drawn. `show`
ends a notebook's cell with any of them.
"""

from ctxlib.figures.breakdown import (
    advice_shares,
    breakdown,
    headline_breakdown,
    headline_shares,
    headline_unexplained,
    plot_breakdown,
    plot_shares,
    shares,
    unexplained,
)
from ctxlib.figures.canvas import points, say, show
from ctxlib.figures.categories import categories, headline_categories, plot_categories, plot_categories_each
from ctxlib.figures.choice import at_turn, largest, pick, thread
from ctxlib.figures.columns import facts, table
from ctxlib.figures.compactions import (
    advice_compactions,
    dumbbells,
    headline_compactions,
    headline_regrowth,
    plot_compactions,
    plot_regrowth,
)
from ctxlib.figures.curves import (
    advice_curves,
    bands,
    explore_curves,
    headline_curves,
    milestones,
    plot_curves,
    plot_curves_by,
)

__all__ = [
    "advice_compactions",
    "advice_curves",
    "advice_shares",
    "at_turn",
    "bands",
    "breakdown",
    "categories",
    "dumbbells",
    "explore_curves",
    "facts",
    "headline_breakdown",
    "headline_categories",
    "headline_compactions",
    "headline_curves",
    "headline_regrowth",
    "headline_shares",
    "headline_unexplained",
    "largest",
    "milestones",
    "pick",
    "plot_breakdown",
    "plot_categories",
    "plot_categories_each",
    "plot_compactions",
    "plot_curves",
    "plot_curves_by",
    "plot_regrowth",
    "plot_shares",
    "points",
    "say",
    "shares",
    "show",
    "table",
    "thread",
    "unexplained",
]
