"""Lines -> threads and sessions (scan.md, Threads and sessions).

One file is one thread, except inline sidechains. A thread is main unless its file lies below `subagents/`, is named
`agent-*.jsonl`, or its lines are marked as sidechain. In files that hold many sessions (`Source.many`) the lines say
which: a thread is a (file, session, agent), and an agent that is no sidechain is a stage.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ctxlib.arrays import ordinal
from ctxlib.logs.corpus import Corpus
from ctxlib.sources import SOURCES
from ctxlib.tables import NO_TIME, THREAD, Table, ThreadKind

_AGENT_FILE = re.compile(r"agent-(.+)\.jsonl$")


class Place(NamedTuple):
    """What a file's path says."""

    stem: str
    folder: str  # the project's folder, as Claude Code encoded it
    agent: str  # "" in a main file
    session: str  # of an agent's file below a session's folder


def place(path: str, root: str = "") -> Place:
    """`root`: folders down to it say nothing of what a file is."""
    parts = _parts(path)
    above = len(_parts(root))
    agent = _AGENT_FILE.match(parts[-1])
    stem = parts[-1].removesuffix(".jsonl")
    if "subagents" in parts[above:-1]:
        at = len(parts) - 2 - parts[:-1][::-1].index("subagents")
        folder = parts[at - 2] if at >= 2 else ""
        return Place(stem, folder, agent[1] if agent else stem, parts[at - 1] if at else "")
    return Place(stem, parts[-2] if len(parts) > 1 else "", agent[1] if agent else "", "")


def _parts(path: str) -> list[str]:
    """The names along a path, whichever way its slashes lean (pathlib takes ten times as long)."""
    return [part for part in path.replace("\\", "/").split("/") if part and part != "."]


def split(corpus: Corpus) -> tuple[Table, Table]:
    """(threads, thread of each line). Lines of a thread may lie in two files: a sub-agent written inline and apart."""
    lines, file_of, names = corpus.tables["lines"], corpus.file_of["lines"], corpus.names
    places = [place(info.path, info.root) for info in corpus.files]
    sessions = _sessions(corpus, places)
    projects = _projects(corpus, places)

    agent_of_file = np.array([names.code(p.agent) for p in places], "i4")
    in_agent_file = agent_of_file[file_of] != 0 if len(places) else np.zeros(0, bool)
    agent = np.where(lines["agent"] != 0, lines["agent"], agent_of_file[file_of] if len(places) else 0)
    side = lines["side"] | in_agent_file
    session = np.array(sessions, "i4")[file_of] if len(places) else np.zeros(0, "i4")
    shared = {source.name for source in SOURCES if source.many}
    many = np.array([info.source in shared for info in corpus.files], bool)[file_of] if len(places) else in_agent_file
    session = np.where(many, lines["session"], session)

    # A thread's key: main threads by file, agents by session and agent, other sidechains by file and root line.
    root = np.zeros(len(lines), "i8")
    loose = side & (agent == 0) & ~many
    if loose.any():
        root[loose] = _roots(lines, file_of)[loose]
    key = (
        np.where(side & ~loose & ~many, session, -1 - file_of.astype("i8")),
        np.where(side | many, agent, -1),
        np.where(many, session, root),
    )
    # Lines of a thread mostly follow each other: only the first line of each run is sorted.
    begins = np.ones(len(lines), bool)
    begins[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in key]) if len(lines) else False
    at = np.flatnonzero(begins)
    runs = np.zeros(len(at), [("a", "i8"), ("b", "i8"), ("c", "i8")])
    for name, column in zip("abc", key, strict=True):
        runs[name] = column[at]
    distinct, first, run_of = np.unique(runs, return_index=True, return_inverse=True)
    order = np.argsort(first)  # threads in log order
    rank = np.empty(len(order), "i4")
    rank[order] = np.arange(len(order))
    first = at[first[order]]
    thread_of = np.repeat(rank[run_of.reshape(-1)], np.diff(np.append(at, len(lines))))

    threads = np.zeros(len(distinct), THREAD)
    threads["file"] = file_of[first]
    threads["session"] = session[first]
    threads["agent"] = np.where(side[first] | many[first], agent[first], 0)
    unnamed = np.flatnonzero(loose[first])
    for row, number in zip(unnamed.tolist(), ordinal(threads["file"][unnamed]).tolist(), strict=True):
        threads["agent"][row] = names.code(f"sidechain-{number + 1}")
    compacting = np.array([text.startswith("acompact") for text in names.strings], bool)[threads["agent"]]
    threads["kind"] = np.select(
        [many[first] & ~side[first] & (agent[first] != 0), ~side[first], compacting, loose[first]],
        [ThreadKind.STAGE, ThreadKind.MAIN, ThreadKind.COMPACTION, ThreadKind.SIDECHAIN],
        ThreadKind.SUBAGENT,
    )
    threads["project"] = np.array(projects, "i4")[threads["file"]] if len(projects) else 0
    threads["version"] = lines["version"][first]
    dated = lines["ts"] != NO_TIME
    started, ended = np.full(len(threads), np.iinfo("i8").max), np.full(len(threads), NO_TIME)
    owner, times = thread_of[dated], np.ascontiguousarray(lines["ts"][dated])
    np.minimum.at(started, owner, times)
    np.maximum.at(ended, owner, times)
    threads["started"] = np.where(started == np.iinfo("i8").max, NO_TIME, started)
    threads["ended"] = ended
    return threads, thread_of


def _sessions(corpus: Corpus, places: list[Place]) -> list[int]:
    """Session code of each file: the one in the lines; a copy that keeps its parent's ids goes by its file name."""
    names = corpus.names
    held = _per_file(corpus, "session")
    out = [0] * len(places)
    taken: set[int] = set()
    nameless = []
    for i, p in enumerate(places):
        ids = held[i]
        if p.agent:
            out[i] = ids[-1] if ids else names.code(p.session)
        elif names.codes.get(p.stem, -1) in ids:
            out[i] = names.code(p.stem)
            taken.add(out[i])
        else:
            nameless.append(i)
    for i in nameless:  # the file is named otherwise than its lines: its last id, unless another file has that
        ids = held[i]
        own = ids[-1] if ids else 0
        out[i] = own if own and own not in taken else names.code(places[i].stem)
        taken.add(out[i])
    return out


def _projects(corpus: Corpus, places: list[Place]) -> list[int]:
    """Project label of each file: the cwd that encodes to the folder's name, else the first, else the folder."""
    names = corpus.names
    out = []
    for p, folders in zip(places, _per_file(corpus, "cwd"), strict=True):
        fitting = [code for code in folders if re.sub(r"[^A-Za-z0-9]", "-", names.strings[code]) == p.folder]
        out.append((fitting or folders or [names.code(p.folder)])[0])
    return out


def _per_file(corpus: Corpus, column: str) -> list[list[int]]:
    """The distinct codes of a column in each file, in the order in which they come."""
    lines, file_of = corpus.tables["lines"], corpus.file_of["lines"]
    out: list[list[int]] = [[] for _ in corpus.files]
    used = lines[column] != 0
    pairs = (file_of[used].astype("i8") << 32) | lines[column][used]
    if len(pairs):
        begins = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1]))
        distinct, first = np.unique(pairs[begins], return_index=True)
        for pair in distinct[np.argsort(first)].tolist():
            out[pair >> 32].append(pair & 0xFFFFFFFF)
    return out


def parents(lines: Table, file_of: Table) -> Table:
    """Row of each line's parent in the same file; -1 for none (a root, or a parent that was passed over)."""
    mix = np.uint64(0x9E3779B97F4A7C15) * file_of.astype("u8")
    with np.errstate(over="ignore"):
        own, wanted = lines["uuid"] + mix, lines["parent"] + mix
    order = np.argsort(own, kind="stable")
    at = np.searchsorted(own[order], wanted)
    at[at == len(own)] = 0
    row = order[at] if len(order) else at
    found = (lines["parent"] != 0) & (own[row] == wanted) if len(order) else np.zeros(0, bool)
    return np.where(found, row, -1)


def _roots(lines: Table, file_of: Table) -> Table:
    """Row of the root of each line's parent chain. A chain through a line that was passed over goes on at the sidechain
    line before it."""
    up = parents(lines, file_of)
    rows = np.arange(len(lines))
    side = lines["side"]
    before = np.maximum.accumulate(np.where(side, rows, -1))
    before = np.concatenate([[-1], before[:-1]]) if len(before) else before
    lost = (up < 0) & (lines["parent"] != 0) & side & (before >= 0)
    same_file = file_of[np.maximum(before, 0)] == file_of if len(before) else lost
    up = np.where(lost & same_file, before, up)
    up = np.where(up < 0, rows, up)
    for _ in range(64):  # pointer doubling
        further = up[up]
        if np.array_equal(further, up):
            break
        up = further
    return up + 1
