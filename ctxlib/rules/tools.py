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


def results(logs: Logs) -> Table:
    """Tool results of the window, each once."""
    blocks = logs.blocks
    return blocks[blocks["inside"] & blocks["origin"] & (blocks["kind"] == BlockKind.TOOL_RESULT)]


def uses(logs: Logs) -> Table:
    """Tool uses of the window, each once."""
    blocks = logs.blocks
    return blocks[blocks["inside"] & blocks["origin"] & (blocks["kind"] == BlockKind.TOOL_INPUT)]


def unsized_documents(logs: Logs) -> int:
    """Documents (PDFs) of the window that no rule gives a size."""
    blocks = logs.blocks
    return int(blocks["documents"][blocks["inside"] & blocks["origin"]].sum())


@lru_cache(maxsize=2)
def tool_totals(logs: Logs) -> list[tuple[str, str, int, int, int, int]]:
    """(tool, server, calls, results, result tokens, errors), most tokens first, ties by name; `(unknown)` last."""
    done, asked, strings = results(logs), uses(logs), logs.names.strings
    tokens = constant_tokens(done)
    size = len(strings)
    by_tool = np.bincount(done["tool"], tokens, size).astype("i8")
    count = np.bincount(done["tool"], minlength=size)
    errors = np.bincount(done["tool"], done["is_error"], size).astype("i8")
    calls = np.bincount(asked["tool"], minlength=size)
    server = np.zeros(size, "i4")
    server[done["tool"]] = done["server"]
    server[asked["tool"]] = asked["server"]
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
    return sorted(rows, key=lambda row: (row[0] == UNKNOWN, -row[4], row[0]))


def tools_df(logs: Logs) -> pd.DataFrame:
    """tool, server (MCP), calls, results, tokens (by the constant), errors; most tokens first (X-tools)."""
    rows = tool_totals(logs)
    names = ("tool", "server", "calls", "results", "tokens", "errors")
    return frame({name: [row[i] for row in rows] for i, name in enumerate(names)})
