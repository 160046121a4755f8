"""Which blocks a call carries: from the call that first sends a block to the one that no longer does.

A block is resident from `born` (the first call after it in its thread) until `cleared` (the first call that follows a
compaction, a microcompaction that names its tool, or a rewind that left its branch): accounting.md, Replay. Both are
seqs of calls, so what is resident at call k is `born <= k < cleared`: one comparison, at any call, over all sessions.
"""

from __future__ import annotations

import numpy as np

from ctxlib.tables import BlockKind, LineKind, MarkKind, Table

NEVER = np.iinfo("i4").max


class Clock:
    """Counts the calls of a thread that began before a place in the log."""

    def __init__(self, calls: Table) -> None:
        # One sorted key for all threads: calls come sorted by (thread, pos), and pos is a row of `lines`.
        self._span = int(calls["pos"].max()) + 2 if len(calls) else 2
        self._keys = calls["thread"].astype("i8") * self._span + calls["pos"]
        threads = int(calls["thread"].max()) + 2 if len(calls) else 1
        self._start = np.searchsorted(self._keys, np.arange(threads) * self._span)

    def calls_before(self, thread: Table, pos: Table) -> Table:
        at = np.searchsorted(self._keys, thread.astype("i8") * self._span + np.minimum(pos, self._span - 1))
        known = np.minimum(thread, len(self._start) - 1)
        return (at - self._start[known]).astype("i4")


def compacted(blocks: Table, marks: Table, mark_thread: Table, kept: list[tuple[int, int, int]], clock: Clock) -> Table:
    """`cleared` by full compactions: the call after the first boundary that follows the block in its thread.

    `kept`: (thread, first row, last row) of the lines that a compaction preserved; their blocks outlive it.
    """
    cleared = np.full(len(blocks), NEVER, "i4")
    full = marks["kind"] != MarkKind.MICRO
    if not full.any() or not len(blocks):
        return cleared
    thread, pos = mark_thread[full].astype("i8"), marks["line"][full].astype("i8")
    span = int(max(pos.max(), blocks["pos"].max())) + 2
    keys = np.sort(thread * span + pos)
    at = np.searchsorted(keys, blocks["thread"].astype("i8") * span + blocks["pos"])
    hit = np.append(keys, -1)[at]
    follows = (hit >= 0) & (hit // span == blocks["thread"])
    cleared[follows] = clock.calls_before(blocks["thread"][follows], hit[follows] % span)
    for held, first, last in kept:
        stays = (blocks["thread"] == held) & (blocks["pos"] >= first) & (blocks["pos"] <= last)
        cleared[stays] = NEVER
    return cleared


def microcompacted(blocks: Table, taken: Table, line_thread: Table, clock: Clock) -> Table:
    """`cleared` by microcompactions: the results whose tool ids a boundary names."""
    cleared = np.full(len(blocks), NEVER, "i4")
    if not len(taken):
        return cleared
    results = np.flatnonzero((blocks["kind"] == BlockKind.TOOL_RESULT) & (blocks["use"] != 0))
    order = np.argsort(taken["use"], kind="stable")
    taken = taken[order]
    at = np.minimum(np.searchsorted(taken["use"], blocks["use"][results]), len(taken) - 1)
    named = (taken["use"][at] == blocks["use"][results]) & (line_thread[taken["line"][at]] == blocks["thread"][results])
    named &= blocks["pos"][results] < taken["line"][at]
    rows = results[named]
    cleared[rows] = clock.calls_before(blocks["thread"][rows], taken["line"][at[named]])
    return cleared


def dead_branches(lines: Table, line_thread: Table, up: Table, call_row: Table) -> list[tuple[int, int, int, int]]:
    """Rewinds: (thread, first dead row, last dead row, row of the prompt that left them), in log order.

    A prompt whose parent lies before other prompts or calls of its branch leaves those behind. Several children of one
    line are mostly parallel tool use (1,950 of 1,964 cases): only a prompt moves the head. `call_row`: for each line,
    True where a call begins.
    """
    prompts = np.flatnonzero((lines["kind"] == LineKind.PROMPT) & (up >= 0))
    if not len(prompts):
        return []
    begins = np.cumsum(call_row | (lines["kind"] == LineKind.PROMPT))
    out: list[tuple[int, int, int, int]] = []
    # Between a parent and its prompt nothing but the parent's own turn may stand; else turns were left behind.
    between = begins[prompts - 1] - begins[up[prompts]]
    for row in prompts[between > 0].tolist():
        parent, thread = int(up[row]), int(line_thread[row])
        kin = _descendants(lines, line_thread, up, parent, row, thread)
        begun = np.flatnonzero((call_row | (lines["kind"] == LineKind.PROMPT))[parent + 1 : row]) + parent + 1
        own_turn = [r for r in begun.tolist() if line_thread[r] == thread and r in kin]
        if own_turn:
            out.append((thread, parent + 1, row - 1, row))
    return out


def _descendants(lines: Table, line_thread: Table, up: Table, parent: int, row: int, thread: int) -> set[int]:
    """Rows between parent and row whose chain leads to parent: the branch that the prompt at `row` left."""
    found = {parent}
    for r in range(parent + 1, row):
        if line_thread[r] == thread and int(up[r]) in found:
            found.add(r)
    return found - {parent}
