"""One request, one call, over all files; the thread where it was made (R-claude-dedup, R-window)."""

from __future__ import annotations

import numpy as np

from ctxlib.arrays import among, ordinal
from ctxlib.logs.corpus import Corpus
from ctxlib.tables import CALL, NO_TIME, NULL, USAGE, Table, ThreadKind, UsageScope

_LATE = np.iinfo("i8").max


class Order:
    """Which of several copies is the one that was made first: main before agents, then the earliest, then the file
    that bears the session's name, then the file that began first, then the one that ended first, then log order."""

    def __init__(self, corpus: Corpus, threads: Table) -> None:
        names, files = corpus.names, corpus.files
        stems = np.array([names.codes.get(_stem(info.path), -2) for info in files], "i4")
        self._rank = (threads["kind"] != ThreadKind.MAIN).astype("i1")
        self._started = np.where(threads["started"] == NO_TIME, _LATE, threads["started"])
        self._ended = threads["ended"]
        self._stem = stems[threads["file"]] if len(files) else np.zeros(0, "i4")

    def first(self, key: Table, thread: Table, ts: Table, session: Table, pos: Table) -> Table:
        """True for the first row of each key (key 0 has no copies: always True).

        `session` is the id in the row's own line: in a fork's copied lines it is the parent's.
        """
        out = np.ones(len(key), bool)
        rows = np.flatnonzero(repeated(key) & (key != 0))
        thread, early = thread[rows], np.where(ts == NO_TIME, _LATE, ts)[rows]
        foreign = session[rows] != self._stem[thread]
        # Of whole copies with equal times, the one that ended first: else a session that was forked at its end is lost.
        last = (pos[rows], self._ended[thread], self._started[thread])
        order = rows[np.lexsort((*last, foreign, early, self._rank[thread], key[rows]))]
        out[order[1:]] = key[order[1:]] != key[order[:-1]]
        return out


def _stem(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".jsonl")


def repeated_lines(lines: Table, thread_of: Table) -> Table:
    """True for lines that stand in their thread a second time: rows that a resume appended again (same uuid)."""
    rows = np.flatnonzero(repeated(lines["uuid"]) & (lines["uuid"] != 0))
    order = rows[np.lexsort((lines["uuid"][rows], thread_of[rows]))]
    uuid, thread = lines["uuid"][order], thread_of[order]
    again = np.zeros(len(lines), bool)
    again[order[1:]] = (uuid[1:] == uuid[:-1]) & (thread[1:] == thread[:-1])
    return again


def repeated(key: Table) -> Table:
    """True where a key stands more than once. Few do: only those need be put in order by all that decides."""
    order = np.argsort(key)
    ranked = key[order]
    same = ranked[1:] == ranked[:-1]
    out = np.zeros(len(key), bool)
    out[order[1:][same]] = out[order[:-1][same]] = True
    return out


def call_keys(corpus: Corpus, thread_of: Table) -> Table:
    """The key of each usage row: requestId, else message.id, else the line's uuid.

    A message seen with and without a request id is one call. A message id that several requests share is a gateway's
    constant and no key; where such an id stands alone, a row with other counts that does not continue the call before
    it (its parent is no line of that call) is another call.
    """
    usage, lines = corpus.tables["usage"], corpus.tables["lines"]
    request, message = usage["request"], usage["message"]
    key = np.where(request != 0, request, message)
    both = (request != 0) & (message != 0)
    pairs = _distinct(message[both], request[both])
    one = pairs[~repeated(pairs[:, 0])]
    lone = (request == 0) & (message != 0)
    if len(one) and lone.any():
        at = np.minimum(np.searchsorted(one[:, 0], message[lone]), len(one) - 1)
        known = one[at, 0] == message[lone]
        key[lone] = np.where(known, one[at, 1], message[lone])
    key = np.where(key != 0, key, lines["uuid"][usage["line"]])
    bare = np.flatnonzero(lone & (key == message))
    if len(bare):
        key[bare] = _split_constant_ids(
            key[bare], usage[bare], lines[usage["line"][bare]], thread_of[usage["line"][bare]]
        )
    return key


def _distinct(first: Table, second: Table) -> Table:
    """The distinct pairs, sorted."""
    order = np.lexsort((second, first))
    a, b = first[order], second[order]
    new = np.ones(len(a), bool)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return np.stack([a[new], b[new]], axis=1)


def _split_constant_ids(key: Table, usage: Table, line: Table, thread: Table) -> Table:
    order = np.lexsort((usage["line"], thread, key))
    k, u, row, t = key[order], usage[order], line[order], thread[order]
    same_id = np.concatenate([[False], (k[1:] == k[:-1]) & (t[1:] == t[:-1])])
    before_u, before = np.roll(u, 1), np.roll(row, 1)
    counted = (u["ctx"] != NULL) & (before_u["ctx"] != NULL)
    other = counted & np.any([u[name] != before_u[name] for name in ("input", "cache_read", "cache_write")], axis=0)
    placed = (row["uuid"] != 0) & (before["uuid"] != 0)
    goes_on = (row["parent"] == before["uuid"]) | (row["parent"] == before["parent"]) | (row["uuid"] == before["uuid"])
    new = ~same_id | (other & placed & ~goes_on)
    first = np.maximum.accumulate(np.where(new, np.arange(len(k)), 0))  # the row that begins each call
    by_line = row["uuid"][first]
    # A constant: its calls begin with other lines and count otherwise, here or in another session.
    begins = np.flatnonzero(new)
    ids = k[begins]
    told = [_distinct(ids, column)[:, 0] for column in _told(u[begins], by_line[begins])]
    constant = [found[repeated(found)] for found in told]
    shared = among(k, constant[0]) & among(k, constant[1]) & (by_line != 0)
    out = key.copy()
    out[order] = np.where(shared, by_line, k)
    return out


def _told(usage: Table, uuid: Table) -> tuple[Table, Table]:
    """What tells calls apart: the line that they begin with, and what they counted."""
    mixed = np.zeros(len(usage), "u8")
    with np.errstate(over="ignore"):
        for name in ("input", "cache_read", "cache_write"):
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + usage[name].astype("u8")
    return uuid, mixed


def calls(corpus: Corpus, threads: Table, thread_of: Table, order: Order, since: int, until: int) -> tuple[Table, int]:
    """(calls, undated calls). One row a call and thread, in log order; `origin` where it was made.

    Place and time: the first line. Usage: the last line that has any (output grows, the input side is equal on all).
    `inside`: any of its lines, in the thread where it was made, lies in since <= t < until.
    """
    usage, lines = corpus.tables["usage"], corpus.tables["lines"]
    key = call_keys(corpus, thread_of)
    thread, ts = thread_of[usage["line"]], lines["ts"][usage["line"]]
    rows = np.arange(len(usage))
    ranked = np.lexsort((key, thread))
    k, t = key[ranked], thread[ranked]
    begins = np.flatnonzero(np.concatenate([[True], (k[1:] != k[:-1]) | (t[1:] != t[:-1])])) if len(usage) else rows
    measured = np.where(usage["ctx"][ranked] != NULL, np.arange(len(ranked)), -1)
    dated = np.where(ts[ranked] == NO_TIME, _LATE, ts[ranked])
    within = np.where((ts[ranked] >= since) & (ts[ranked] < until), ts[ranked], _LATE)
    ends = np.append(begins[1:], len(ranked))
    last = np.maximum.reduceat(measured, begins) if len(begins) else measured
    last = np.where(last < 0, ends - 1, last) if len(begins) else last
    earliest = np.minimum.reduceat(dated, begins) if len(begins) else dated
    entered = np.minimum.reduceat(within, begins) if len(begins) else within

    out = np.zeros(len(begins), CALL)
    first = ranked[begins]
    out["thread"], out["key"], out["pos"] = thread[first], key[first], usage["line"][first]
    out["id"] = first
    source = usage[ranked[last]]
    for name in USAGE.names or ():
        if name not in ("line", "request", "message"):
            out[name] = source[name]
    out["ctx"][out["scope"] != UsageScope.CALL] = NULL  # a sum over several requests is no size of any context
    if len(begins):  # a placeholder never replaces a number: output only grows
        for name in ("output", "reasoning"):
            out[name] = np.maximum.reduceat(usage[name][ranked], begins)
        out["final"] = np.logical_or.reduceat(usage["final"][ranked], begins)
    out["ts"] = np.where(earliest == _LATE, NO_TIME, earliest)
    entered = np.where(entered == _LATE, NO_TIME, entered)
    out["origin"] = order.first(out["key"], out["thread"], out["ts"], lines["session"][out["pos"]], out["pos"])

    # What holds of the call holds of its copies: its time, and whether it lies in the window.
    made = np.flatnonzero(out["origin"])
    made = made[np.argsort(out["key"][made], kind="stable")]
    at = made[np.searchsorted(out["key"][made], out["key"])] if len(made) else made
    undated = int((out["origin"] & (out["ts"] == NO_TIME)).sum())
    out["inside"] = entered[at] != NO_TIME
    out["ts"] = np.where(entered[at] != NO_TIME, entered[at], out["ts"][at])
    out = out[np.lexsort((out["pos"], out["thread"]))]
    out["seq"] = ordinal(out["thread"])
    return out, undated
