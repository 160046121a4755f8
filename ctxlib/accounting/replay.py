"""Delta attribution: what each block really took, from the rises between calls (accounting.md, Delta attribution)."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ctxlib.accounting.calibrate import chars_per_token
from ctxlib.accounting.estimate import default_chars_per_token, fitted, is_answer
from ctxlib.accounting.intervals import Intervals, intervals
from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.models import canonical
from ctxlib.tables import NULL, BlockKind, Table

FAR = 3.0  # a rise beyond so many times its blocks' estimate ...
LEAST = 1_000  # ... and beyond so many tokens is not theirs


class Method(IntEnum):
    """How the tokens of a block are known."""

    ESTIMATE = 0
    DELTA = 1


class Attribution(NamedTuple):
    tokens: Table  # (blocks,) float64: what each block takes while it is resident
    method: Table  # (blocks,) Method
    cleared: Table  # (blocks,) like blocks.cleared, and earlier for thinking that was stripped
    injected: Table  # (intervals,) tokens that arrived with no block in the log


@lru_cache(maxsize=2)
def attribution(logs: Logs) -> Attribution:
    """Shares each rise over the blocks that came with it, so that per call everything adds up exactly.

    The answer takes its output tokens where they are final; its thinking takes what the visible blocks do not explain.
    What else came shares the rest in proportion to its fitted estimates. A rest beyond FAR times the estimate and LEAST
    tokens is injected: the blocks keep their estimate; or it is a document's, which nothing else sizes. Blocks at the
    head of an epoch have no rise: they are estimates.
    A fall without a boundary takes earlier thinking away first; what it cannot name comes off `other`.
    """
    found = intervals(logs)
    blocks, rows, born = logs.blocks, found.rows, found.of_block
    estimate = fitted(blocks, _chars_per_token(logs, found))
    count = len(rows)
    if not count:  # nothing is measured: all are estimates
        return Attribution(estimate, np.zeros(len(blocks), "u1"), blocks["cleared"].copy(), np.zeros(0))
    inner = rows["start"] != NULL
    member = (born >= 0) & inner[born]
    answer = member & is_answer(blocks)
    thinking = answer & (blocks["kind"] == BlockKind.THINKING)
    came = member & ~answer
    unsized = came & (blocks["documents"] > 0)  # only the rise knows what a document takes
    with_document = np.bincount(born[unsized], minlength=count) > 0

    def total(mask: Table, weight: Table) -> Table:
        return np.bincount(born[mask], weight[mask], minlength=count)

    visible, asked = total(answer & ~thinking, estimate), total(came, estimate)
    seen_thinking = total(thinking, estimate)
    tokens = estimate.copy()
    method = np.zeros(len(blocks), "u1")
    cleared = blocks["cleared"].copy()
    injected: Table = np.zeros(count)
    left: Table = np.zeros(count)
    for _ in range(2):  # what leaves depends on what it took when it came; chains of it are rare and short
        gone = (found.left >= 0) & (born >= 0)
        left = np.bincount(found.left[gone], tokens[gone], minlength=count)
        grown = np.where(inner, rows["rise"] + left, 0.0)
        said, rest = _split(rows, grown, visible + seen_thinking, asked)
        far = (rest > FAR * asked) & (rest > LEAST) & (asked + visible > 0)
        empty = inner & (asked == 0)
        excess = np.where(far | empty | with_document, np.maximum(0.0, rest - asked), 0.0) * inner
        injected = np.where(with_document, 0.0, excess)
        _share(tokens, came, born, estimate, rest - excess)
        _share(tokens, unsized, born, blocks["documents"].astype("f8"), np.where(with_document, excess, 0.0))
        _share(tokens, answer & ~thinking, born, estimate, np.minimum(said, visible))
        hidden = np.maximum(0.0, said - visible)
        _share(tokens, thinking, born, blocks["hidden"] + blocks["chars"] + 1.0, hidden)
        unheard = (np.bincount(born[thinking], minlength=count) == 0) & (hidden > 0)
        _share(tokens, answer & unheard[born], born, estimate, np.where(unheard, said, 0.0))
    method[member] = Method.DELTA
    fell = inner & (rows["rise"] + left < 0)  # such a difference measures no block: what came keeps its estimate
    late = member & fell[born]
    tokens[late], method[late] = estimate[late], Method.ESTIMATE
    fallen = np.where(fell, total(late, estimate) - rows["rise"] - left, 0.0)
    _strip(logs, found, tokens, thinking, cleared, fallen)
    return Attribution(tokens, method, cleared, injected)


def _chars_per_token(logs: Logs, found: Intervals) -> Table:
    """Characters a token of each block: its model's, which is that of the first measured call that carries it."""
    known = chars_per_token(logs)
    ratio = np.full(len(logs.names.strings), default_chars_per_token(""))
    for code in distinct(logs.calls["model"]).tolist():
        ratio[code] = known.get(canonical(logs.names.strings[code]), ratio[code])
    model = np.where(found.of_block >= 0, found.rows["model"][found.of_block], 0) if len(found.rows) else 0
    return ratio[model] if len(found.rows) else np.full(len(logs.blocks), ratio[0])


def _split(rows: Table, grown: Table, visible: Table, asked: Table) -> tuple[Table, Table]:
    """(tokens of the answer, tokens of what else came) of each interval, together `grown` and none below zero.

    Final output counts whole unless too little is left for the rest: then thinking was not sent back, and the answer is
    what remains beside the estimate of the rest, but at least what is visible of it.
    """
    final = rows["output"] != NULL
    output = rows["output"].astype("f8")
    whole = final & (grown - output >= 0.5 * asked)
    beside = np.clip(grown - asked, np.minimum(visible, output), output)
    both = visible + asked
    even = np.divide(grown * visible, both, out=np.zeros(len(rows)), where=both > 0)
    kept = np.where(~final & (grown > FAR * both) & (grown > LEAST), visible, even)
    said = np.where(whole, output, np.where(final, beside, kept))
    said = np.clip(said, 0.0, np.maximum(grown, 0.0))
    return said, np.maximum(grown, 0.0) - said


def _share(tokens: Table, members: Table, born: Table, weight: Table, amount: Table) -> None:
    """Shares `amount` of each interval over its members in proportion to weight."""
    rows = np.flatnonzero(members)
    if not len(rows):
        return
    at = born[rows]
    share = np.maximum(weight[rows], 1e-9)
    sums = np.bincount(at, share, minlength=len(amount))
    tokens[rows] = share * amount[at] / sums[at]


def _strip(logs: Logs, found: Intervals, tokens: Table, thinking: Table, cleared: Table, fallen: Table) -> None:
    """At each fall that nothing named explains, thinking of earlier calls goes, the oldest first, as far as it fell."""
    rows = found.rows
    candidates = np.flatnonzero(thinking)
    of_thread = logs.blocks["thread"][candidates]
    for interval in np.flatnonzero(fallen).tolist():
        row = rows[interval]
        seq = int(logs.calls["seq"][row["end"]])
        own = candidates[(of_thread == row["thread"]) & (found.of_block[candidates] < interval)]
        own = own[(cleared[own] > seq) & (rows["epoch"][found.of_block[own]] == row["epoch"])]
        going = own[np.cumsum(tokens[own]) <= fallen[interval] + LEAST / 10]
        cleared[going] = seq
