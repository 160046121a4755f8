"""Claude Code's own /context outputs, where logs hold them: real categories, to split the prefix and to check ourselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.tables import NULL, Category, Table, frame

if TYPE_CHECKING:
    import pandas as pd

# Categories of the prefix: a log holds their text in part or not at all, /context names them all.
PREFIX = (
    Category.SYSTEM_PROMPT,
    Category.SKILLS,
    Category.MEMORY,
    Category.AGENTS,
    Category.TOOLS,
    Category.MCP_TOOLS,
    Category.DEFERRED,
)
TRUTH = np.dtype(
    [
        ("thread", "i4"),
        ("line", "i4"),
        ("total", "i8"),
        ("before", "i4"),
        ("after", "i4"),
        ("tokens", "i8", len(Category)),
    ]
)


def truths(logs: Logs) -> Table:
    """One row (TRUTH) a /context output: its total and its tokens by category (NULL where it has no such row), and the
    rows of `calls` measured just before and after it in its thread (NULL for none)."""
    counted, strings = logs.counted, logs.names.strings
    lines = distinct(counted["line"])
    out = np.zeros(len(lines), TRUTH)
    out["line"], out["thread"] = lines, logs.line_thread[lines]
    out["tokens"] = out["total"] = out["before"] = out["after"] = NULL
    used, total = logs.names.codes.get("used", -1), logs.names.codes.get("total", -1)
    for row in out:
        held = counted[counted["line"] == row["line"]]
        row["total"] = held["tokens"][held["kind"] == total].max(initial=NULL)
        for item in held[held["kind"] == used]:
            row["tokens"][item["category"]] = max(0, row["tokens"][item["category"]]) + item["tokens"]
        calls = np.flatnonzero((logs.calls["thread"] == row["thread"]) & (logs.calls["ctx"] != NULL))
        earlier = calls[logs.calls["pos"][calls] < row["line"]]
        later = calls[logs.calls["pos"][calls] > row["line"]]
        row["before"] = earlier[-1] if len(earlier) else NULL
        row["after"] = later[0] if len(later) else NULL
    return out[[bool(strings) and total >= 0 for total in out["total"]]]


def truths_df(logs: Logs) -> pd.DataFrame:
    """session, counted_total, ctx_before, ctx_after (tokens), and each category's tokens as /context gave them."""
    table = truths(logs)
    ctx = np.append(logs.calls["ctx"], NULL)
    columns = {
        "session": logs.names.texts(logs.threads["session"][table["thread"]]),
        "counted_total": table["total"],
        "ctx_before": ctx[table["before"]],
        "ctx_after": ctx[table["after"]],
        **{c.name.lower(): table["tokens"][:, c] for c in Category if c not in (Category.NONE, Category.OTHER)},
    }
    return frame(columns, nullable=tuple(columns)[1:])
