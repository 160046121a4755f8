"""Block rows -> the blocks table: which tool, which server, where made, from which call to which resident."""

from __future__ import annotations

import numpy as np

from ctxlib.arrays import among, distinct
from ctxlib.logs import residency
from ctxlib.logs.corpus import Corpus, Names
from ctxlib.logs.identity import Order, repeated
from ctxlib.logs.threads import parents
from ctxlib.sources.claude_blocks import EDITS, READS
from ctxlib.tables import BLOCK, BLOCKS, NULL, BlockKind, MarkKind, Table


def blocks(
    corpus: Corpus,
    thread_of: Table,
    again: Table,
    calls: Table,
    order: Order,
    since: int,
    until: int,
) -> Table:
    """The blocks table in log order. A block that a thread's log repeats (same uuid or tool id) stands once."""
    raw, lines = corpus.tables["blocks"], corpus.tables["lines"]
    keep = ~again[raw["line"]]
    key = _keys(raw, lines)
    keep &= _first_in_thread(key, thread_of[raw["line"]], keep)
    raw, key = raw[keep], key[keep]

    out = np.zeros(len(raw), BLOCKS)
    for name in BLOCK.names or ():
        if name != "line":
            out[name] = raw[name]
    out["pos"], out["key"] = raw["line"], key
    out["thread"], out["ts"] = thread_of[raw["line"]], lines["ts"][raw["line"]]
    out["inside"] = (out["ts"] >= since) & (out["ts"] < until)
    out["origin"] = order.first(key, out["thread"], out["ts"], lines["session"][raw["line"]], out["pos"])
    _name_tools(out, corpus.names)
    _name_servers(out, corpus)
    out["is_read"] = (out["kind"] == BlockKind.TOOL_INPUT) & _is_one_of(out["tool"], READS, corpus.names)
    out["is_edit"] = (out["kind"] == BlockKind.TOOL_INPUT) & _is_one_of(out["tool"], EDITS, corpus.names)
    _place(out, corpus, thread_of, again, calls)
    return out


def _keys(raw: Table, lines: Table) -> Table:
    """Same key, same block: the tool_use id (use and result apart), else the line's uuid and the place in it."""
    with np.errstate(over="ignore"):
        by_tool = raw["use"] * np.uint64(4) + raw["kind"].astype("u8") + np.uint64(1)
        place = np.arange(len(raw)) - np.searchsorted(raw["line"], raw["line"])
        by_line = lines["uuid"][raw["line"]] * np.uint64(31) + place.astype("u8") + np.uint64(1)
    tool = (raw["use"] != 0) & np.isin(raw["kind"], (BlockKind.TOOL_INPUT, BlockKind.TOOL_RESULT))
    return np.where(tool, by_tool, np.where(lines["uuid"][raw["line"]] != 0, by_line, 0))


def _first_in_thread(key: Table, thread: Table, keep: Table) -> Table:
    rows = np.flatnonzero(repeated(key) & (key != 0))
    order = rows[np.lexsort((~keep[rows], key[rows], thread[rows]))]
    first = np.ones(len(key), bool)
    first[order[1:]] = (key[order[1:]] != key[order[:-1]]) | (thread[order[1:]] != thread[order[:-1]])
    return first


def _name_tools(out: Table, names: Names) -> None:
    """A result's tool, from the tool_use with its id in any file; `(unknown)` where there is none (X-tools)."""
    used = np.flatnonzero((out["kind"] == BlockKind.TOOL_INPUT) & (out["use"] != 0))
    results = np.flatnonzero(out["kind"] == BlockKind.TOOL_RESULT)
    out["tool"][results] = names.code("(unknown)")
    if not len(used) or not len(results):
        return
    used = used[np.argsort(out["use"][used], kind="stable")]
    at = np.minimum(np.searchsorted(out["use"][used], out["use"][results]), len(used) - 1)
    found = out["use"][used[at]] == out["use"][results]
    hit, rows = used[at[found]], results[found]
    for column in ("tool", "path", "offset", "limit"):
        out[column][rows] = out[column][hit]


def _name_servers(out: Table, corpus: Corpus) -> None:
    """MCP server of each tool `mcp__<server>__<tool>`: the longest known server that fits, else up to the next `__`."""
    names = corpus.names
    known = longest_first(told_servers(names, corpus.tables["evidence"]))
    server = np.zeros(len(names.strings), "i4")
    for code in distinct(out["tool"]).tolist():
        found = mcp_server(names.strings[code], known)
        if found:
            server_code = names.code(found)
            server[code] = server_code
    out["server"] = server[out["tool"]]


def told_servers(names: Names, evidence: Table) -> set[str]:
    """The MCP servers that logs name, spelled as in tool names: every character outside [A-Za-z0-9_-] as `_`."""
    told = evidence["name"][evidence["kind"] == names.codes.get("mcp_server", -1)]
    return {_spelled(names.strings[code]) for code in distinct(told)}


def longest_first(servers: set[str]) -> list[str]:
    return sorted(servers, key=lambda name: (-len(name), name))


def _spelled(server: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in server)


def mcp_server(tool: str, known: list[str]) -> str:
    """The server of an MCP tool's name; "" for any other tool. `known`: longest first."""
    if not tool.startswith("mcp__") or "__" not in tool[5:]:
        return ""
    rest = tool[5:]
    fitting = (name for name in known if rest.startswith(name + "__"))
    return next(fitting, rest.split("__", 1)[0])


def _is_one_of(codes: Table, wanted: tuple[str, ...], names: Names) -> Table:
    return among(codes, [names.codes[name] for name in wanted if name in names.codes])


def _place(out: Table, corpus: Corpus, thread_of: Table, again: Table, calls: Table) -> None:
    lines, usage, marks = corpus.tables["lines"], corpus.tables["usage"], corpus.tables["marks"]
    clock = residency.Clock(calls)
    out["born"] = clock.calls_before(out["thread"], out["pos"] + 1)
    is_call_line = np.zeros(len(lines), bool)
    is_call_line[usage["line"]] = True
    wrote = is_call_line[out["pos"]]
    out["call"] = np.where(wrote, out["born"] - 1, NULL)

    marks = usable_marks(corpus, thread_of, again)
    mark_thread = thread_of[marks["line"]]
    kept = _preserved(marks, mark_thread, lines, thread_of)
    cleared = residency.compacted(out, marks, mark_thread, kept, clock)
    cleared = np.minimum(cleared, residency.microcompacted(out, corpus.tables["cleared"], thread_of, clock))

    up = repaired_parents(lines, corpus.file_of["lines"], thread_of)
    begins = np.zeros(len(lines), bool)
    begins[calls["pos"]] = True
    for rewind in residency.dead_branches(lines, thread_of, up, begins):
        left = (out["thread"] == rewind.thread) & np.isin(out["pos"], rewind.left)
        at = clock.calls_before(np.array([rewind.thread]), np.array([rewind.prompt]))[0]
        cleared[left] = np.minimum(cleared[left], at)
    out["cleared"] = cleared


def usable_marks(corpus: Corpus, thread_of: Table, again: Table) -> Table:
    """Boundaries, once each, and summary lines without one: a summary belongs to the boundary that the log has written
    since the last call (X-compact; before 2.0 there are only summaries, and a resumed file may hold both)."""
    marks = corpus.tables["marks"]
    marks = marks[~again[marks["line"]]]
    full = marks["kind"] == MarkKind.FULL
    span = len(thread_of) + 1
    here = thread_of[marks["line"]].astype("i8") * span + marks["line"]
    lines = corpus.tables["usage"]["line"]
    called = np.sort(thread_of[lines].astype("i8") * span + lines)
    bounds = np.sort(here[full])
    boundary = np.append(-1, bounds)[np.searchsorted(bounds, here)]
    own = boundary >= thread_of[marks["line"]].astype("i8") * span
    said = np.searchsorted(called, here) > np.searchsorted(called, np.maximum(boundary, 0))
    return marks[(marks["kind"] != MarkKind.INFERRED) | ~own | said]


def repaired_parents(lines: Table, file_of: Table, thread_of: Table) -> Table:
    """Row of each line's parent; where that was passed over (progress lines), the thread's line before it."""
    up = parents(lines, file_of)
    order = np.argsort(thread_of, kind="stable")
    before = np.full(len(lines), -1)
    if len(lines):
        same = thread_of[order[1:]] == thread_of[order[:-1]]
        before[order[1:]] = np.where(same, order[:-1], -1)
    return np.where((up < 0) & (lines["parent"] != 0), before, up)


def _preserved(marks: Table, mark_thread: Table, lines: Table, thread_of: Table) -> list[tuple[int, int, int, int]]:
    """(thread, first row, last row, row of the boundary) of what each compaction kept, where its metadata says so."""
    out = []
    for mark, thread in zip(marks, mark_thread.tolist(), strict=True):
        if not mark["head"] or not mark["tail"]:
            continue
        ends = [np.flatnonzero((lines["uuid"] == mark[end]) & (thread_of == thread)) for end in ("head", "tail")]
        if len(ends[0]) and len(ends[1]) and ends[0][0] <= ends[1][0] < mark["line"]:
            out.append((thread, int(ends[0][0]), int(ends[1][0]), int(mark["line"])))
    return out
