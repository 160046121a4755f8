"""What some logs say, in numbers that add up: the digest of two sets of logs that share no id is the sum of their digests.

So an answer about a long history is put together from digests that were kept, and only of logs that changed is one made anew
(digests.py). A digest holds counts, ids, names and times, never text, like the tables that it is made from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ctxlib.accounting.calibrate import chars_per_token, ratios
from ctxlib.accounting.snapshot import settled_at
from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.logs.contents import told_servers
from ctxlib.rules import cache, compactions, curves, rebuilds, rereads, tools, windows
from ctxlib.tables import NULL, Table, ThreadKind, plain

QUARTER = 900_000  # milliseconds: time zones differ by quarters of an hour
_EARLY, _LATE = -(2**63), 2**62


class Session(NamedTuple):
    """A session with a main call in the window. Tokens; NULL = not measured."""

    id: str
    project: str
    model: str  # of its last main call, as logged
    started: int  # milliseconds
    calls: int  # main calls, each once
    peak: int
    peak_turn: int  # from 1
    last: int
    curve: list[int]  # ctx of each measured main call (X-ctx)
    parts: list[int]  # tokens by category at its last call, `other` last; [] without a call of its own
    measured: bool  # the total of `parts` is the provider's


class Compaction(NamedTuple):
    """A compaction, once (X-compact). Tokens; NULL = not known."""

    session: str
    thread: str  # "main" or the agent
    ts: int
    kind: str
    trigger: str | None
    before: int
    before_source: str | None
    after: int
    after_source: str | None
    ctx_before: int
    ctx_after: int


class Tool(NamedTuple):
    """What one tool did (X-tools)."""

    calls: int = 0
    results: int = 0
    tokens: int = 0
    errors: int = 0


class Again(NamedTuple):
    """Re-reads of one file without a reason (X-reread)."""

    tokens: int = 0
    times: int = 0


class Rebuilt(NamedTuple):
    """Calls that wrote a cached prefix again, compactions left out (rules/rebuilds.py)."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    late: int = 0  # of the calls: after a pause


class Digest(msgspec.Struct, frozen=True, array_like=True):
    """All that a readout, its detail and the findings are made of. The defaults are those of no logs at all."""

    files: dict[str, int] = {}  # by source
    archived: int = 0  # of them: no longer there
    unreadable: int = 0  # files
    bad_lines: int = 0
    nul_lines: int = 0
    undated: int = 0  # calls without a time
    seen: int = 0  # calls in the window, copies and sums over turns included
    calls: int = 0  # of them: requests, each once
    unmeasured: int = 0  # of those
    agents: int = 0  # sub-agent threads with such a call
    sessions: list[Session] = []
    compactions: list[Compaction] = []
    microcompactions: int = 0
    cache: cache.CacheTotals = cache.CacheTotals()
    rereads: rereads.Totals = rereads.Totals()
    again: dict[str, Again] = {}  # by path
    tools: dict[str, Tool] = {}
    servers: set[str] = set()  # MCP servers that the logs name, as tool names spell them
    documents: int = 0  # without a size
    rebuilt: Rebuilt = Rebuilt()
    quarters: dict[int, int] = {}  # number of a quarter of an hour -> calls
    outputs: list[tuple[str, int]] = []  # (call id, output tokens) of each call, where asked for
    peaks: dict[str, int] = {}  # model as logged -> its largest ctx
    evidence: set[tuple[str, int, str]] = set()  # (canonical model, tokens, kind) of windows
    ratios: dict[str, bytes] = {}  # canonical model -> float64: characters a token of each rise that tells
    fits: dict[str, float] = {}  # characters a token that `parts` were made with
    # Times of lines: the last before `since` and the first from it on, and the same of `until`. Any window between them has
    # this digest.
    before_since: int = _EARLY
    from_since: int = _LATE
    before_until: int = _EARLY
    from_until: int = _LATE


@lru_cache(maxsize=2)
def digest(logs: Logs, *, with_outputs: bool = False) -> Digest:
    """The digest of a scan; `with_outputs`: with the output tokens of each call."""
    own = logs.own_calls
    sub = own["thread"][np.isin(logs.threads["kind"][own["thread"]], (ThreadKind.SIDECHAIN, ThreadKind.SUBAGENT))]
    quarters, counts = np.unique(own["ts"] // QUARTER, return_counts=True)
    times = logs.lines["ts"]
    again = rereads.rereads(logs)
    return Digest(
        files=dict(Counter(info.source for info in logs.files)),
        archived=sum(info.archived for info in logs.files),
        unreadable=len(logs.unreadable),
        bad_lines=logs.bad_lines,
        nul_lines=logs.nul_lines,
        undated=logs.undated_calls,
        seen=int(logs.calls["inside"].sum()),
        calls=len(own),
        unmeasured=int((own["ctx"] == NULL).sum()),
        agents=len(distinct(sub)),
        sessions=_sessions(logs),
        compactions=_compactions(logs),
        microcompactions=len(compactions.microcompactions(logs)),
        cache=cache.totals(logs),
        rereads=rereads.totals(again),
        again=_again(logs, again),
        tools={plain(row[0]): Tool(*row[2:]) for row in tools.tool_totals(logs)},
        servers=told_servers(logs.names, logs.evidence),
        documents=tools.unsized_documents(logs),
        rebuilt=_rebuilt(rebuilds.rebuilds(logs)),
        quarters=dict(zip(quarters.tolist(), counts.tolist(), strict=True)),
        outputs=[(logs.call_ids[row], out) for row, out in own[["id", "output"]].tolist()] if with_outputs else [],
        peaks=windows.peaks(logs),
        evidence=windows.evidence(logs),
        ratios={model: found.astype("<f8").tobytes() for model, found in ratios(logs).items()},
        fits=chars_per_token(logs),
        before_since=int(times[times < logs.span.since].max(initial=_EARLY)),
        from_since=int(times[times >= logs.span.since].min(initial=_LATE)),
        before_until=int(times[times < logs.span.until].max(initial=_EARLY)),
        from_until=int(times[times >= logs.span.until].min(initial=_LATE)),
    )


def _sessions(logs: Logs) -> list[Session]:
    table, curve, names = curves.sessions(logs), curves.curves(logs), logs.names
    first = np.ones(len(curve), bool)  # a session's points stand together: they are of one thread
    first[1:] = curve["session"][1:] != curve["session"][:-1]
    begins = np.flatnonzero(first)
    points = dict(zip(curve["session"][begins].tolist(), np.split(curve["ctx"], begins[1:]), strict=False))
    inside = np.flatnonzero(logs.calls["inside"])
    last = inside[np.searchsorted(logs.calls["thread"][inside], table["thread"], side="right") - 1]
    parts, measured = settled_at(logs, last).shown.tolist(), (logs.calls["ctx"][last] != NULL).tolist()
    found = [
        Session(
            id=plain(names.strings[row["session"]]),
            project=plain(names.strings[row["project"]]),
            model=names.strings[row["model"]],
            started=int(row["started"]),
            calls=int(row["calls"]),
            peak=int(row["peak_ctx"]),
            peak_turn=int(row["peak_turn"]),
            last=int(row["last_ctx"]),
            curve=points[session].tolist() if (session := int(row["session"])) in points else [],
            parts=parts[i] if row["calls"] else [],
            measured=measured[i],
        )
        for i, row in enumerate(table)
    ]
    return sorted(found, key=_start)


def _compactions(logs: Logs) -> list[Compaction]:
    told = compactions.told(logs, compactions.compactions(logs))
    columns = [
        column.tolist() if isinstance(column, np.ndarray) else column for column in map(told.get, Compaction._fields)
    ]
    found = (Compaction(*row) for row in zip(*columns, strict=True))
    return sorted((one._replace(session=plain(one.session), thread=plain(one.thread)) for one in found), key=_when)


def _again(logs: Logs, table: Table) -> dict[str, Again]:
    bare = table[~(table["after_compaction"] | table["after_shell"] | table["after_external"])]
    tokens, times = np.bincount(bare["path"], bare["tokens"]), np.bincount(bare["path"])
    return {
        plain(logs.names.strings[code]): Again(int(tokens[code]), int(times[code]))
        for code in distinct(bare["path"]).tolist()
    }


def _rebuilt(table: Table) -> Rebuilt:
    table = table[table["cause"] != "compaction"]
    late = np.char.startswith(table["cause"], "expired")
    return Rebuilt(len(table), int(table["tokens"].sum()), float(table["usd"].sum()), int(late.sum()))


def merged(parts: Sequence[Digest]) -> Digest:
    """The digest of all logs together, from those of sets of logs that share no id."""
    parts = parts or [Digest()]
    columns = {name: [getattr(part, name) for part in parts] for name in Digest.__struct_fields__}
    return Digest(**{name: _OTHERWISE.get(name, _sum)(column) for name, column in columns.items()})


def ranked_tools(held: Digest) -> list[tuple[str, Tool]]:
    """Tools in their order (X-tools)."""
    return sorted(held.tools.items(), key=lambda item: tools.rank(item[0], item[1].tokens))


def _sum(values: Sequence[Any]) -> Any:
    """Numbers added, sets united, lists and bytes one after the other, records by field, mappings by key."""
    first = values[0]
    match first:
        case float():
            return math.fsum(values)
        case int():
            return sum(values)
        case bytes():
            return b"".join(values)
        case list():
            return [item for value in values for item in value]
        case set() | frozenset():
            return first.union(*values[1:])
        case dict():
            return _by_key(values, _sum)
        case _:
            return type(first)(*map(_sum, zip(*values, strict=True)))


def _by_key(values: Sequence[Mapping[Any, Any]], how: Callable[[Sequence[Any]], Any]) -> dict[Any, Any]:
    held: dict[Any, list[Any]] = {}
    for value in values:
        for key, item in value.items():
            held.setdefault(key, []).append(item)
    return {key: how(items) for key, items in held.items()}


def _start(item: Session) -> tuple[int, str]:
    return item.started, item.id


def _when(item: Compaction) -> tuple[int, str, str]:
    return item.ts, item.session, item.thread


_OTHERWISE: dict[str, Callable[[Sequence[Any]], Any]] = {
    "sessions": lambda columns: sorted(_sum(columns), key=_start),
    "compactions": lambda columns: sorted(_sum(columns), key=_when),
    "peaks": lambda columns: _by_key(columns, max),
    "fits": lambda columns: _by_key(columns, max),
    "before_since": max,
    "from_since": min,
    "before_until": max,
    "from_until": min,
}
