"""Snapshots with `messages` taken apart: what was said, thought, asked of tools and returned by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.accounting.arithmetic import largest_remainder
from ctxlib.accounting.intervals import intervals
from ctxlib.accounting.replay import Method, attribution
from ctxlib.accounting.snapshot import snapshots_df
from ctxlib.logs import Logs
from ctxlib.rules.curves import main_threads
from ctxlib.tables import BlockKind, Category, Table, ThreadKind, UsageScope

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("user_text", "assistant_text", "thinking", "tool_input", "tool_result", "summary", "attached")
_OF_KIND = {
    BlockKind.USER_TEXT: "user_text",
    BlockKind.ASSISTANT_TEXT: "assistant_text",
    BlockKind.THINKING: "thinking",
    BlockKind.TOOL_INPUT: "tool_input",
    BlockKind.TOOL_RESULT: "tool_result",
    BlockKind.SUMMARY: "summary",
}


def kinds_df(logs: Logs) -> pd.DataFrame:
    """`snapshots_df` (same columns, tokens) with a row for each kind of message in place of `messages`: user_text,
    assistant_text, thinking, tool_input, tool_result, summary (of a compaction) and attached (images, documents,
    reminders). Per call they sum exactly to what `messages` showed; `injected` stays with `other`.

    Only sessions of sessions_df, and of each main thread the one that is its curve: copies in other files are left out.
    """
    import pandas as pd

    calls = np.flatnonzero(logs.calls["inside"] & (logs.calls["scope"] != UsageScope.STAGE))
    own = _of_sessions(logs, calls)
    parts = snapshots_df(logs)
    parts = parts[np.repeat(own, len(parts) // max(1, len(calls)))].reset_index(drop=True)
    calls = calls[own]
    at = np.flatnonzero((parts["category"] == Category.MESSAGES.name.lower()).to_numpy())
    resident, measured = _resident(logs)
    whole = parts.iloc[np.repeat(at, len(KINDS))].reset_index(drop=True)
    whole["category"] = np.tile(np.array(KINDS, object), len(at))
    shown = largest_remainder(resident[calls], parts["shown"].to_numpy("i8")[at])
    share = np.divide(measured[calls], resident[calls], out=np.zeros(shown.shape), where=resident[calls] > 0)
    whole["shown"] = shown.ravel()
    whole["raw"] = largest_remainder(resident[calls], parts["raw"].to_numpy("i8")[at]).ravel()
    whole["method"] = np.where(share.ravel() >= 0.5, "delta", "estimate")
    order = np.concatenate([np.delete(np.arange(len(parts)), at), np.repeat(at, len(KINDS))])
    both = pd.concat([parts[parts["category"] != Category.MESSAGES.name.lower()], whole], ignore_index=True)
    return both.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _of_sessions(logs: Logs, calls: Table) -> Table:
    """True for the calls (rows) that belong to a session's curve or to one of its sub-agents."""
    session, thread = main_threads(logs)
    of_call = logs.calls["thread"][calls]
    main = logs.threads["kind"][of_call] == ThreadKind.MAIN
    known: Table = np.where(main, np.isin(of_call, thread), np.isin(logs.threads["session"][of_call], session))
    return known


def _resident(logs: Logs) -> tuple[Table, Table]:
    """(calls, KINDS) tokens of the messages that each call carries, and the part of them that a rise measured."""
    blocks, calls, shares = logs.blocks, logs.calls, attribution(logs)
    names = [_OF_KIND.get(BlockKind(kind), "attached") if kind else "attached" for kind in range(max(BlockKind) + 1)]
    column = np.array([KINDS.index(name) for name in names])[blocks["kind"]]
    starts = np.append(intervals(logs).call, len(calls))
    first, end = starts[blocks["thread"]], starts[blocks["thread"] + 1]
    begin = np.minimum(first + blocks["born"], end)
    stop = np.minimum(first + shares.cleared.astype("i8"), end)
    kept = (begin < stop) & (blocks["category"] == Category.MESSAGES)
    out = []
    for weight in (shares.tokens, np.where(shares.method == Method.DELTA, shares.tokens, 0.0)):
        change = np.zeros((len(calls) + 1, len(KINDS)))
        np.add.at(change, (begin[kept], column[kept]), weight[kept])
        np.subtract.at(change, (stop[kept], column[kept]), weight[kept])
        out.append(np.maximum(np.cumsum(change[:-1], axis=0), 0.0).round(6))
    return out[0], out[1]
