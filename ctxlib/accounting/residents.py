"""What the context of one call holds, block by block: by kind, tool and file, and since which turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.accounting.arithmetic import largest_remainder
from ctxlib.accounting.moment import residents, thread_of
from ctxlib.accounting.replay import Method, attribution
from ctxlib.accounting.snapshot import PARTS, snapshots
from ctxlib.logs import Logs
from ctxlib.tables import BlockKind, frame

if TYPE_CHECKING:
    import pandas as pd

_KEYS = ("category", "kind", "tool", "server", "path")


def residents_df(logs: Logs, session: str = "", turn: int | None = None, *, thread: str = "main") -> pd.DataFrame:
    """What one call carries, largest first: category, kind, tool, server, path, blocks, tokens, since (turn of the first of
    them), measured (share of the tokens that rises measured, 0-1). Tokens sum exactly to the call's total: what no block
    explains is a row `other`, what /context counted a row of its category, both with no kind.

    `session`, `turn`, `thread` as in `snapshot`; without any session in the window the frame is empty.
    """
    names = logs.names.strings
    if not len(logs.calls) or not logs.calls["inside"].any():
        return _frame([], [])
    row = thread_of(logs, session, thread)
    calls = np.flatnonzero(logs.calls["thread"] == row)
    at = len(calls) if turn is None else turn
    if not 1 <= at <= len(calls):
        raise ValueError(f"turn {turn} is not there: the thread has {len(calls)} calls, 1 to {len(calls)}")
    call = int(calls[at - 1])
    shown = snapshots(logs).settled.shown[call]
    rows = residents(logs, call)
    blocks, shares = logs.blocks[rows], attribution(logs)
    tokens, delta = shares.tokens[rows], shares.method[rows] == Method.DELTA
    keys: list[tuple[str, ...]] = []
    values: list[tuple[int, int, int, float]] = []
    for place, category in enumerate(PARTS):
        own = np.flatnonzero(blocks["category"] == category)
        groups: dict[tuple[str, ...], list[int]] = {}
        for i in own.tolist():
            block = blocks[i]
            key: tuple[str, ...] = (
                category.name.lower(),
                BlockKind(block["kind"]).name.lower(),
                names[block["tool"]],
                names[block["server"]],
                names[block["path"]],
            )
            groups.setdefault(key, []).append(i)
        sums = np.array([[tokens[held].sum() for held in groups.values()]])
        if not groups or not sums.sum():
            if shown[place]:
                keys.append((category.name.lower(), "", "", "", ""))
                values.append((0, int(shown[place]), 1, 0.0))
            continue
        settled = largest_remainder(sums, shown[place : place + 1])[0]
        for (key, held), size in zip(groups.items(), settled.tolist(), strict=True):
            weight = float(tokens[held].sum())
            measured = float(tokens[held][delta[held]].sum()) / weight if weight else 0.0
            keys.append(key)
            values.append((len(held), int(size), int(blocks["born"][held].min()) + 1, measured))
    if shown[-1]:
        keys.append(("other", "", "", "", ""))
        values.append((0, int(shown[-1]), 1, 0.0))
    order = sorted(range(len(keys)), key=lambda i: (-values[i][1], keys[i]))
    return _frame([keys[i] for i in order], [values[i] for i in order])


def _frame(keys: list[tuple[str, ...]], values: list[tuple[int, int, int, float]]) -> pd.DataFrame:
    out = frame(
        {
            **{name: [key[i] for key in keys] for i, name in enumerate(_KEYS)},
            **{
                name: [value[i] for value in values] for i, name in enumerate(("blocks", "tokens", "since", "measured"))
            },
        }
    )
    return out.astype({"blocks": "int64", "tokens": "int64", "since": "int64", "measured": "float64"})
