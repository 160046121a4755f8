"""X-size, X-tools: what tools put into the context, by the constants; tokens = ceil(characters / CHARS_PER_TOKEN)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ctxlib.logs import Logs
from ctxlib.tables import BlockKind, Table, frame

if TYPE_CHECKING:
    import pandas as pd

CHARS_PER_TOKEN = 4
IMAGE_TOKENS = 1500
TOP_TOOLS = 5
UNKNOWN = "(unknown)"


def constant_tokens(blocks: Table) -> Table:
    """Tokens of each block by the constants: one ceil over the sum of its text, IMAGE_TOKENS an image, a document 0
    (no rule gives it a size; `unsized_documents` counts them)."""
    return -(-blocks["chars"] // CHARS_PER_TOKEN) + IMAGE_TOKENS * blocks["images"].astype("i8")


def unsized_documents(logs: Logs) -> int:
    """Documents (PDFs) of the window that no rule gives a size."""
    blocks = logs.blocks
    return int(blocks["documents"][blocks["inside"] & blocks["origin"]].sum())


@lru_cache(maxsize=2)
def tool_totals(logs: Logs) -> list[tuple[str, str, int, int, int, int]]:
    """(tool, server, calls, results, result tokens, errors), most tokens first, ties by name; `(unknown)` last."""
    blocks, strings = logs.blocks, logs.names.strings
    counted = blocks["inside"] & blocks["origin"]
    done = np.flatnonzero(counted & (blocks["kind"] == BlockKind.TOOL_RESULT))
    asked = np.flatnonzero(counted & (blocks["kind"] == BlockKind.TOOL_INPUT))
    by_result, by_use, size = blocks["tool"][done], blocks["tool"][asked], len(strings)
    by_tool = np.bincount(by_result, constant_tokens(blocks)[done], size).astype("i8")
    count = np.bincount(by_result, minlength=size)
    errors = np.bincount(by_result, blocks["is_error"][done], size).astype("i8")
    calls = np.bincount(by_use, minlength=size)
    server = np.zeros(size, "i4")
    server[by_result] = blocks["server"][done]
    server[by_use] = blocks["server"][asked]
    rows = [
        (
            strings[code],
            strings[server[code]],
            int(calls[code]),
            int(count[code]),
            int(by_tool[code]),
            int(errors[code]),
        )
        for code in np.flatnonzero(count + calls).tolist()
    ]
    return sorted(rows, key=lambda row: rank(row[0], row[4]))


def rank(tool: str, tokens: int) -> tuple[bool, int, str]:
    """Sorts tools: most tokens first, ties by name; `(unknown)` last."""
    return tool == UNKNOWN, -tokens, tool


def tools_df(logs: Logs) -> pd.DataFrame:
    """tool, server (MCP), calls, results, tokens (by the constant), errors; most tokens first (X-tools)."""
    rows = tool_totals(logs)
    names = ("tool", "server", "calls", "results", "tokens", "errors")
    return frame({name: [row[i] for row in rows] for i, name in enumerate(names)})
