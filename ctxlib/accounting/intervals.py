"""Measured calls in a row: the rise of ctx between them, and the blocks that it is made of (accounting.md, Replay)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.models import canonical
from ctxlib.tables import NULL, MarkKind, Table

INTERVAL = np.dtype(
    [
        ("thread", "i4"),
        ("start", "i4"),  # rows of calls: the measured call before, and this one; start NULL at the head of an epoch
        ("end", "i4"),
        ("epoch", "i4"),  # number of the epoch, over all threads
        ("rise", "i8"),  # tokens; at the head of an epoch the whole ctx
        ("output", "i8"),  # tokens of the calls between, the first included; NULL where one is not final
        ("model", "i4"),
    ]
)


class Intervals(NamedTuple):
    rows: Table  # INTERVAL, in log order
    of_block: Table  # interval in which each block was born (-1: no measured call carries it)
    left: Table  # interval in which each block was cleared; -1 for never
    call: Table  # row of `calls` of each thread's first call: thread -> row


@lru_cache(maxsize=2)
def intervals(logs: Logs) -> Intervals:
    """All intervals of all threads. An epoch begins with a thread, after a compaction and at a change of model (another
    tokenizer counts the same text anew)."""
    calls = logs.calls
    starts = np.searchsorted(calls["thread"], np.arange(len(logs.threads)))
    measured = np.flatnonzero(calls["ctx"] != NULL)
    model = _model_numbers(logs)[calls["model"][measured]]
    thread = calls["thread"][measured]
    epoch = _compactions_before(logs, measured)
    head = np.ones(len(measured), bool)
    if len(measured):
        head[1:] = (thread[1:] != thread[:-1]) | (epoch[1:] != epoch[:-1]) | (model[1:] != model[:-1])
    rows = np.zeros(len(measured), INTERVAL)
    rows["thread"], rows["end"], rows["model"] = thread, measured, calls["model"][measured]
    rows["epoch"] = np.cumsum(head)
    ctx = calls["ctx"][measured]
    rows["start"], rows["rise"], rows["output"] = NULL, ctx, NULL
    inner = np.flatnonzero(~head)
    rows["start"][inner] = measured[inner - 1]
    rows["rise"][inner] = ctx[inner] - ctx[inner - 1]
    lone = inner[measured[inner] - measured[inner - 1] == 1]
    final = calls["final"][measured[lone - 1]]
    rows["output"][lone[final]] = calls["output"][measured[lone[final] - 1]]

    def at(seq: Table) -> Table:
        """Interval whose end is the first measured call of a block's thread at or after `seq`; -1 for none."""
        first = starts[logs.blocks["thread"]]
        ends = np.append(starts[1:], len(calls))[logs.blocks["thread"]]
        row = first + np.minimum(seq, ends - first)
        found = np.searchsorted(measured, row)
        ok = (found < len(measured)) & (row < ends)
        found = np.minimum(found, max(0, len(measured) - 1))
        return np.where(ok & (thread[found] == logs.blocks["thread"]), found, -1) if len(measured) else ok - 1

    return Intervals(rows, at(logs.blocks["born"]), at(logs.blocks["cleared"]), starts)


def _model_numbers(logs: Logs) -> Table:
    numbers: dict[str, int] = {}
    out = np.zeros(len(logs.names.strings), "i4")
    for code in distinct(logs.calls["model"]).tolist():
        out[code] = numbers.setdefault(canonical(logs.names.strings[code]), len(numbers))
    return out


def _compactions_before(logs: Logs, rows: Table) -> Table:
    """Full compactions of its thread that lie before each call."""
    full = logs.marks["kind"] != MarkKind.MICRO
    span = int(max(logs.calls["pos"].max(initial=0), logs.marks["line"].max(initial=0))) + 2
    keys = np.sort(logs.mark_thread[full].astype("i8") * span + logs.marks["line"][full])
    thread = logs.calls["thread"][rows].astype("i8")
    upto = np.searchsorted(keys, thread * span + logs.calls["pos"][rows])
    before: Table = upto - np.searchsorted(keys, thread * span)
    return before
