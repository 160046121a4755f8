"""Rows of the raw tables by name, for sources that read a file or a folder whole (Fabro, OpenProgram).

Claude Code's reader writes its tuples itself, line by line and a hundred thousand times; here a call a row is cheap.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from ctxlib.sources.base import Rows
from ctxlib.tables import NO_TIME, NULL, BlockKind, Category, LineKind, UsageScope, ident

_CODE = re.compile(r"[A-Za-z0-9_.:@/+-]{1,100}")


class Counts(NamedTuple):
    """Tokens of one request, or of several."""

    input: int = 0  # neither read from nor written to the cache
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = NULL
    cache_write_1h: int = 0  # part of cache_write

    @property
    def ctx(self) -> int:
        """X-ctx: the input side; NULL where nothing was counted."""
        return self.input + self.cache_read + self.cache_write or NULL


def line(
    rows: Rows,
    no: int,
    kind: LineKind,
    *,
    session: str,
    agent: str = "",
    ts: int = NO_TIME,
    id: str = "",
    parent: str = "",
    side: bool = False,
    cwd: str = "",
    version: str = "",
) -> int:
    """Adds a line; its row. `id` and `parent` are the log's own ids, hashed."""
    where = rows.place(agent, session, cwd, version)
    rows.lines.append((no, ts, ident(id), ident(parent), kind, side, *where))
    return len(rows.lines) - 1


def usage(
    rows: Rows, row: int, id: str, counts: Counts, *, model: str, scope: UsageScope, measured: bool = True
) -> None:
    """Adds a usage row; `measured` False and sums have no ctx. `id`: the call's own, the same in every copy."""
    written_5m = max(0, counts.cache_write - counts.cache_write_1h)
    ctx = counts.ctx if measured and scope == UsageScope.CALL else NULL
    sides = (counts.input, counts.cache_read, counts.cache_write, written_5m, counts.cache_write_1h)
    rest = (0, counts.output, counts.reasoning, ctx, True, False, 0, NULL, scope)
    rows.usage.append((row, 0, ident(id), rows.code(model, 200), *sides, *rest))
    rows.call_ids.append(label(id, 128))


def block(
    rows: Rows,
    row: int,
    kind: BlockKind,
    chars: int,
    *,
    category: Category = Category.MESSAGES,
    tool: str = "",
    use: str = "",
    is_error: bool = False,
) -> None:
    """Adds a block by its size in characters; an empty one is none."""
    if chars > 0 or kind in (BlockKind.TOOL_INPUT, BlockKind.TOOL_RESULT):
        named = (row, category, kind, rows.code(tool, 200), ident(use), 0, NULL, NULL, is_error)
        rows.blocks.append((*named, chars, 0, 0, 0, 0, 0))


def told(
    rows: Rows, row: int, kind: str, name: str = "", value: int = 0, *, category: int = 0, server: str = ""
) -> None:
    """Adds a fact that the source tells of its own context (tables.TOLD)."""
    rows.add("told", row, rows.code(kind), category, rows.code(name, 200), rows.code(server, 200), value)


def number(value: Any, missing: int = 0) -> int:
    """A count: whole and not negative; `missing` for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return missing
    return min(int(value), 2**53) if 0 <= value < float("inf") else missing


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def held(value: Any, *keys: str) -> dict[str, Any]:
    """The dict under the keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def code(value: Any, other: str = "") -> str:
    """A word of a fixed vocabulary; `other` for anything that may be prose."""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else other


def label(value: str, most: int = 200) -> str:
    """An id or a name on one line."""
    return " ".join(value.split())[:most]


def characters(value: Any) -> int:
    """Characters of a text; of anything else, those of its compact JSON."""
    if value is None:
        return 0
    if isinstance(value, str):
        return len(value)
    packed = msgspec.json.encode(value)
    return len(packed) if packed.isascii() else len(packed.decode("utf-8", "replace"))
