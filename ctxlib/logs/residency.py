"""Which blocks a call carries: from the call that first sends a block to the one that no longer does.

A block is resident from `born` (the first call after it in its thread) until `cleared` (the first call that follows a
compaction, a microcompaction that names its tool, or a rewind that left its branch): accounting.md, Replay. Both are
seqs of calls, so what is resident at call k is `born <= k < cleared`: one comparison, at any call, over all sessions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ctxlib.tables import BlockKind, LineKind, MarkKind, Table

NEVER = np.iinfo("i4").max
_MIX = np.uint64(0x9E3779B97F4A7C15)


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


def compacted(
    blocks: Table, marks: Table, mark_thread: Table, kept: list[tuple[int, int, int, int]], clock: Clock
) -> Table:
    """`cleared` by full compactions: the call after the first boundary that follows the block in its thread.

    `kept`: (thread, first row, last row, row of the boundary) of the lines that a compaction preserved: their blocks
    outlive that boundary, and no later one.
    """
    cleared = np.full(len(blocks), NEVER, "i4")
    full = marks["kind"] != MarkKind.MICRO
    if not full.any() or not len(blocks):
        return cleared
    thread, pos = mark_thread[full].astype("i8"), marks["line"][full].astype("i8")
    span = int(max(pos.max(), blocks["pos"].max())) + 2
    keys = np.sort(thread * span + pos)
    after = blocks["thread"].astype("i8") * span + blocks["pos"]
    for held, first, last, boundary in kept:
        stays = (blocks["thread"] == held) & (blocks["pos"] >= first) & (blocks["pos"] <= last)
        after[stays] = np.maximum(after[stays], held * span + boundary)
    # A summary is no block of what it closes, though its line is the mark where there is no boundary line.
    hit = np.append(keys, -1)[np.searchsorted(keys, after, side="right")]
    follows = (hit >= 0) & (hit // span == blocks["thread"])
    cleared[follows] = clock.calls_before(blocks["thread"][follows], hit[follows] % span)
    return cleared


def microcompacted(blocks: Table, taken: Table, line_thread: Table, clock: Clock) -> Table:
    """`cleared` by microcompactions: the results whose tool ids a boundary of their thread names."""
    cleared = np.full(len(blocks), NEVER, "i4")
    results = np.flatnonzero((blocks["kind"] == BlockKind.TOOL_RESULT) & (blocks["use"] != 0))
    if not len(taken) or not len(results):
        return cleared
    with np.errstate(over="ignore"):
        names = taken["use"] + _MIX * line_thread[taken["line"]].astype("u8")
        wanted = blocks["use"][results] + _MIX * blocks["thread"][results].astype("u8")
    order = np.lexsort((taken["line"], names))
    at = np.minimum(np.searchsorted(names[order], wanted), len(taken) - 1)
    line = taken["line"][order[at]]
    named = (names[order[at]] == wanted) & (blocks["pos"][results] < line)
    rows = results[named]
    cleared[rows] = clock.calls_before(blocks["thread"][rows], line[named])
    return cleared


class Rewind(NamedTuple):
    """A prompt that went back to an earlier place of its thread, and the lines of the branch that it left."""

    thread: int
    prompt: int
    left: list[int]


def dead_branches(lines: Table, line_thread: Table, up: Table, call_row: Table) -> list[Rewind]:
    """Rewinds, in log order.

    A prompt whose turn begins before other prompts or calls of its branch leaves those behind. Several children of one
    line are mostly parallel tool use (1,950 of 1,964 cases): only a prompt moves the head, and only if the next call
    goes on from it. `call_row`: for each line, True where a call begins.
    """
    prompts = np.flatnonzero((lines["kind"] == LineKind.PROMPT) & (up >= 0))
    if not len(prompts):
        return []
    begin = call_row | (lines["kind"] == LineKind.PROMPT)
    begun = np.cumsum(begin)
    turn = np.isin(lines["kind"], _TURNS)
    origin = np.array([_turn_before(turn, up, row) for row in prompts.tolist()])
    out = []
    # Between a turn and the prompt that follows it nothing but that turn may stand; else turns were left behind.
    for row, parent in zip(prompts.tolist(), origin.tolist(), strict=True):
        if parent < 0 or begun[row - 1] == begun[parent]:
            continue
        thread = int(line_thread[row])
        kin = _descendants(line_thread, up, parent, row, thread) - _ancestors(up, row, parent)
        if any(begin[r] for r in kin) and _goes_on(line_thread, up, call_row, row, thread):
            out.append(Rewind(thread, row, sorted(kin)))
    return out


def _goes_on(line_thread: Table, up: Table, call_row: Table, row: int, thread: int) -> bool:
    """True if the thread's next call descends from the prompt: one that is sent late may hang on an old line."""
    later = np.flatnonzero(call_row[row + 1 :] & (line_thread[row + 1 :] == thread))
    return bool(len(later)) and row in _ancestors(up, int(later[0]) + row + 1, row - 1)


_TURNS = (LineKind.PROMPT, LineKind.RESULT, LineKind.SUMMARY, LineKind.ASSISTANT, LineKind.BOUNDARY)


def _turn_before(turn: Table, up: Table, row: int) -> int:
    """Row of the nearest ancestor that is part of a turn: caveats, hooks and attachments may stand before a prompt."""
    at = int(up[row])
    while at >= 0 and not turn[at]:
        above = int(up[at])
        at = above if above < at else -1
    return at


def _ancestors(up: Table, row: int, last: int) -> set[int]:
    found: set[int] = set()
    at = int(up[row])
    while at > last:
        found.add(at)
        above = int(up[at])
        at = above if above < at else -1
    return found


def _descendants(line_thread: Table, up: Table, parent: int, row: int, thread: int) -> set[int]:
    """Rows between parent and row whose chain leads to parent."""
    found = {parent}
    for r in range(parent + 1, row):
        if line_thread[r] == thread and int(up[r]) in found:
            found.add(r)
    return found - {parent}
