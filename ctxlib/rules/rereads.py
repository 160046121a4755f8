"""X-reread: a Read of what the thread has read before and not edited since, and whether there was a reason."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.rules.tools import constant_tokens
from ctxlib.sources.claude_blocks import file_name
from ctxlib.tables import BlockKind, Table, frame

if TYPE_CHECKING:
    import pandas as pd

REREAD = np.dtype(
    [
        ("thread", "i4"),
        ("pos", "i8"),
        ("ts", "i8"),
        ("path", "i4"),
        ("tokens", "i8"),  # of its result, by the constant
        ("after_compaction", "?"),  # the content had left the window
        ("after_shell", "?"),  # a shell command named the file in between
        ("after_external", "?"),  # the log says that it changed outside the agent
    ]
)


class Totals(NamedTuple):
    rereads: int = 0
    tokens: int = 0
    after_compaction: int = 0
    after_shell: int = 0
    after_external: int = 0


@lru_cache(maxsize=2)
def rereads(logs: Logs) -> Table:
    """One row (REREAD) a re-read made in the window, in log order.

    Same path, offset and limit as an earlier Read of the thread that gave content, with no successful Edit, Write,
    MultiEdit or NotebookEdit of the path in between. Copied history counts as earlier but is no re-read. Reads and
    edits before `since` are invisible. The flags tell of reasons; the count stays the rule's literal one.
    """
    blocks = logs.blocks[logs.blocks["inside"]]
    outcome = _outcomes(blocks)
    ok = (outcome >= 0) & ~blocks["is_error"][outcome]
    reads = np.flatnonzero(blocks["is_read"] & (blocks["path"] != 0) & ok)
    edits = np.flatnonzero(blocks["is_edit"] & (blocks["path"] != 0) & ok)
    last = _last_same(blocks, reads)
    rows, earlier = reads[last >= 0], reads[last[last >= 0]]

    edited = _between(blocks, edits, rows, earlier)
    again = ~edited & blocks["origin"][rows]
    rows, earlier = rows[again], earlier[again]
    out = np.zeros(len(rows), REREAD)
    for name in ("thread", "pos", "ts", "path"):
        out[name] = blocks[name][rows]
    out["tokens"] = constant_tokens(blocks)[outcome[rows]]
    out["after_external"] = _between(blocks, _external(blocks, logs), rows, earlier)
    out["after_shell"] = _after_shell(logs, blocks, rows, earlier)
    out["after_compaction"] = _gone(blocks, rows, earlier, outcome)
    return out


def totals(table: Table) -> Totals:
    flags = (int(table[name].sum()) for name in ("after_compaction", "after_shell", "after_external"))
    return Totals(len(table), int(table["tokens"].sum()), *flags)


def _outcomes(blocks: Table) -> Table:
    """Row of the result of each tool use in the same thread; -1 for none (it gave no content)."""
    out = np.full(len(blocks), -1, "i8")
    uses = np.flatnonzero((blocks["kind"] == BlockKind.TOOL_INPUT) & (blocks["use"] != 0))
    results = np.flatnonzero((blocks["kind"] == BlockKind.TOOL_RESULT) & (blocks["use"] != 0))
    if not len(uses) or not len(results):
        return out
    key = blocks["use"] ^ (blocks["thread"].astype("u8") * np.uint64(0x9E3779B97F4A7C15))
    results = results[np.argsort(key[results], kind="stable")]
    at = np.minimum(np.searchsorted(key[results], key[uses]), len(results) - 1)
    found = key[results[at]] == key[uses]
    out[uses[found]] = results[at[found]]
    return out


def _last_same(blocks: Table, reads: Table) -> Table:
    """For each read, the index in `reads` of the last earlier one of the same thread, path and range; -1 for none."""
    held = blocks[reads]
    offset = np.where(held["offset"] <= 1, 1, held["offset"])  # none, 0 and 1 all begin at the first line
    order = np.lexsort((held["pos"], held["limit"], offset, held["path"], held["thread"]))
    out = np.full(len(reads), -1, "i8")
    same = np.ones(max(0, len(reads) - 1), bool)
    for column in (held["thread"], held["path"], offset, held["limit"]):
        same &= column[order[1:]] == column[order[:-1]]
    out[order[1:][same]] = order[:-1][same]
    return out


def _between(blocks: Table, events: Table, rows: Table, earlier: Table) -> Table:
    """True where one of `events` (of the same thread and path) stands between `earlier` and `rows` in the log."""
    if not len(events):
        return np.zeros(len(rows), bool)
    # Rank events and both ends in one order of (thread, path, place, row); then count the events before each end.
    at = np.concatenate([events, rows, earlier])
    rank = np.empty(len(at), "i8")
    rank[np.lexsort((at, blocks["pos"][at], blocks["path"][at], blocks["thread"][at]))] = np.arange(len(at))
    before = np.searchsorted(np.sort(rank[: len(events)]), rank[len(events) :])
    return before[: len(rows)] > before[len(rows) :]


def _external(blocks: Table, logs: Logs) -> Table:
    told = logs.names.codes.get("edited_text_file", -1)
    return np.flatnonzero((blocks["kind"] == BlockKind.ATTACHMENT) & (blocks["tool"] == told) & (blocks["path"] != 0))


def _after_shell(logs: Logs, blocks: Table, rows: Table, earlier: Table) -> Table:
    """A shell command in between named the file (by its last part)."""
    if not len(rows) or not len(logs.named):
        return np.zeros(len(rows), bool)
    hashes = np.zeros(len(logs.names.strings), "u8")
    for code in distinct(blocks["path"][rows]).tolist():
        hashes[code] = file_name(logs.names.strings[code])
    wanted = hashes[blocks["path"][rows]]
    out = np.zeros(len(rows), bool)
    named = logs.named[np.argsort(logs.named["name"], kind="stable")]
    begin, end = (np.searchsorted(named["name"], wanted, side=side) for side in ("left", "right"))
    for i in np.flatnonzero(end > begin).tolist():
        lines = named["line"][begin[i] : end[i]]
        lines = lines[logs.line_thread[lines] == blocks["thread"][rows[i]]]
        out[i] = bool(((lines > blocks["pos"][earlier[i]]) & (lines <= blocks["pos"][rows[i]])).any())
    return out


def _gone(blocks: Table, rows: Table, earlier: Table, outcome: Table) -> Table:
    """The call that read again no longer carried what the earlier Read had given: it was compacted away."""
    reader = blocks["born"][rows] - 1
    return blocks["cleared"][outcome[earlier]] <= reader


def rereads_df(logs: Logs) -> pd.DataFrame:
    """session, agent, project, ts, path, tokens (by the constant), after_compaction, after_shell, after_external."""
    table, names = rereads(logs), logs.names
    threads = logs.threads[table["thread"]]
    return frame(
        {
            "session": names.texts(threads["session"]),
            "agent": names.texts(threads["agent"]),
            "project": names.texts(threads["project"]),
            "ts": table["ts"],
            "path": names.texts(table["path"]),
            **{name: table[name] for name in ("tokens", "after_compaction", "after_shell", "after_external")},
        },
        times=("ts",),
    )
