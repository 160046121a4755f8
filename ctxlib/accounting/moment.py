"""One call of one session as a snapshot, with what its context holds: by tool, by file, by kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ctxlib.accounting.contract import OTHER, Detail, Part, Snapshot, Warned
from ctxlib.accounting.ground_truth import truths
from ctxlib.accounting.intervals import intervals
from ctxlib.accounting.replay import attribution
from ctxlib.accounting.snapshot import PARTS, methods, snapshots
from ctxlib.logs import Logs
from ctxlib.rules.curves import main_threads
from ctxlib.rules.windows import windows
from ctxlib.tables import NO_TIME, NULL, BlockKind, Category, Table, ThreadKind

MOST_DETAILS = 15  # of each sort, largest first


def snapshot(logs: Logs, session: str = "", turn: int | None = None, *, thread: str = "main") -> Snapshot:
    """The snapshot of a call: `turn` counts the thread's calls from 1, negative from the end; default the last.

    `session`: a unique prefix of its id; "" is the session that ended last. Raises ValueError for a session, thread or
    turn that is not there, or a prefix of several.
    """
    row = thread_of(logs, session, thread)
    calls = np.flatnonzero(logs.calls["thread"] == row)
    chosen = len(calls) if turn is None else turn if turn > 0 else len(calls) + 1 + turn
    if not 1 <= chosen <= len(calls):
        raise ValueError(f"turn {turn} is not there: the thread has {len(calls)} calls, 1 to {len(calls)}")
    return at_call(logs, int(calls[chosen - 1]))


def thread_of(logs: Logs, session: str, thread: str = "main") -> int:
    """Row of a thread, by a unique prefix of its session's id and the agent's (`main`: the session's own)."""
    sessions, mains = main_threads(logs)
    if not len(sessions):
        raise ValueError("no session with a call in this window")
    names = logs.names.strings
    held = {names[code]: int(row) for code, row in zip(sessions, mains, strict=True)}
    if not session and thread != "main":
        raise ValueError(f"name the session of agent {thread!r}")
    if not session:
        return max(held.values(), key=lambda row: int(logs.threads["ended"][row]))
    fitting = [session] if session in held else sorted(name for name in held if name.startswith(session))
    if len(fitting) != 1:
        said = "no session begins with" if not fitting else f"{len(fitting)} sessions begin with"
        raise ValueError(f"{said} {session!r}" + (f": {', '.join(fitting[:5])}" if fitting else ""))
    if thread == "main":
        return held[fitting[0]]
    own = logs.threads["session"] == logs.names.codes[fitting[0]]
    agents = [int(i) for i in np.flatnonzero(own & (logs.threads["kind"] != ThreadKind.MAIN))]
    found = [i for i in agents if names[logs.threads["agent"][i]].startswith(thread)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} sub-agents of session {fitting[0]} begin with {thread!r}")
    return found[0]


def at_call(logs: Logs, call: int) -> Snapshot:
    """The snapshot at a row of `logs.calls`."""
    snaps, row = snapshots(logs), logs.calls[call]
    method = methods(snaps, slice(call, call + 1))[0]
    shown = snaps.settled.shown[call].tolist()
    held = np.rint(snaps.parts[call]).astype("i8").tolist()
    parts = [
        Part(category.name.lower(), held[i], shown[i], str(method[i]), category.name.lower())
        for i, category in enumerate(PARTS)
        if held[i] or shown[i]
    ]
    parts.append(Part(OTHER, 0, shown[-1], "residual", OTHER))
    thread = logs.threads[row["thread"]]
    model = logs.names.strings[row["model"]]
    window = windows(logs).get(model)
    measured = bool(snaps.measured[call])
    return Snapshot(
        session=logs.names.strings[thread["session"]],
        model=model,
        basis="measured" if measured else "estimated",
        total=int(snaps.settled.total[call]),
        parts=tuple(parts),
        factor=float(snaps.settled.factor[call]),
        window=window[0] if window else None,
        window_source=window[1] if window else "",
        thread="main" if thread["kind"] == ThreadKind.MAIN else logs.names.strings[thread["agent"]],
        turn=int(row["seq"]) + 1,
        ts=None if row["ts"] == NO_TIME else int(row["ts"]),
        provider="anthropic" if model.startswith("claude") else "",
        source=logs.files[thread["file"]].source,
        injected=min(round(float(snaps.injected[call])), shown[-1]),
        details=tuple(_details(logs, call)),
        warnings=tuple(_warnings(logs, call, measured)),
    )


def residents(logs: Logs, call: int) -> Table:
    """Rows of `logs.blocks` that the context of a call holds."""
    row, blocks = logs.calls[call], logs.blocks
    here = (blocks["thread"] == row["thread"]) & (blocks["born"] <= row["seq"])
    return np.flatnonzero(here & (attribution(logs).cleared > row["seq"]))


def _details(logs: Logs, call: int) -> list[Detail]:
    rows = residents(logs, call)
    blocks, tokens, strings = logs.blocks[rows], attribution(logs).tokens[rows], logs.names.strings
    tool = np.isin(blocks["kind"], (BlockKind.TOOL_INPUT, BlockKind.TOOL_RESULT))

    def sums(of: str, keep: Table, code: Table, label: Callable[[int], str], servers: bool = False) -> list[Detail]:
        size = int(code.max(initial=0)) + 1
        total = np.bincount(code[keep], tokens[keep], size)
        count = np.bincount(code[keep], minlength=size)
        server = np.zeros(size, "i4")
        if servers:
            server[code[keep]] = blocks["server"][keep]
        best = sorted(np.flatnonzero(count).tolist(), key=lambda c: (-total[c], label(c)))[:MOST_DETAILS]
        return [Detail(of, label(c), round(float(total[c])), int(count[c]), strings[server[c]]) for c in best]

    kind = blocks["kind"].astype("i8")
    return [
        *sums("kind", np.ones(len(rows), bool), kind, lambda c: BlockKind(c).name.lower()),
        *sums("tool", tool, blocks["tool"], strings.__getitem__, servers=True),
        *sums("file", tool & (blocks["path"] != 0), blocks["path"], strings.__getitem__),
    ]


def _warnings(logs: Logs, call: int, measured: bool) -> list[Warned]:
    rows = residents(logs, call)
    blocks, out = logs.blocks[rows], []
    if not measured:
        out.append(Warned("local_token_estimate", "The log holds no usage for this call: the total is an estimate."))
    if blocks["images"].any() or blocks["documents"].any():
        count = int(blocks["images"].sum() + blocks["documents"].sum())
        out.append(Warned("media_token_estimate", f"{count} images or documents are sized by estimate or by the rise."))
    if not (blocks["category"] == Category.SYSTEM_PROMPT).any() and not len(truths(logs)):
        out.append(
            Warned("opaque_context_estimate", "The log holds no system prompt and no tool schemas: they are in other.")
        )
    head = intervals(logs).rows
    first = head[(head["end"] == call) & (head["start"] == NULL)]
    if len(first):
        out.append(Warned("epoch_head", "First call of its epoch: no rise measured its blocks, they are estimates."))
    return out


def counted_snapshots(logs: Logs) -> list[Snapshot]:
    """What /context itself said, as snapshots with basis `counted`, in log order."""
    out = []
    for row in truths(logs):
        thread = logs.threads[row["thread"]]
        near = row["before"] if row["before"] != NULL else row["after"]
        model = logs.names.strings[logs.calls["model"][near]] if near != NULL else ""
        window = windows(logs).get(model)
        told = [(c, int(row["tokens"][c])) for c in Category if row["tokens"][c] != NULL and c != Category.OTHER]
        parts = [Part(c.name.lower(), tokens, tokens, "counted", c.name.lower()) for c, tokens in told]
        rest = max(0, int(row["total"]) - sum(tokens for _, tokens in told))
        out.append(
            Snapshot(
                session=logs.names.strings[thread["session"]],
                model=model,
                basis="counted",
                total=sum(tokens for _, tokens in told) + rest,
                parts=(*parts, Part(OTHER, 0, rest, "residual", OTHER)),
                window=window[0] if window else None,
                window_source=window[1] if window else "",
                turn=int(logs.calls["seq"][near]) + 1 if near != NULL else None,
                source="claude_code /context",
            )
        )
    return out
