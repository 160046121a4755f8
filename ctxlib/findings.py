"""Frames -> sentences with a number, and what to do about it. The order is by the tokens at stake."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ctxlib.logs import Logs
from ctxlib.rules import compactions, curves, rebuilds, rereads, tools
from ctxlib.tables import NULL, frame

if TYPE_CHECKING:
    import pandas as pd

MOST = 3  # in the readout


class Finding(NamedTuple):
    """A fact with its number, what to do about it, and the tokens that it is about."""

    text: str
    action: str
    tokens: int


def findings(logs: Logs) -> list[Finding]:
    """All findings of the window, largest first."""
    found = [_peaks(logs), _compactions(logs), _rebuilds(logs), _tool(logs), _reread(logs)]
    return sorted((finding for finding in found if finding), key=lambda finding: -finding.tokens)


def amount(tokens: int) -> str:
    """Tokens in a sentence: whole up to 9999, then 12k or 1.2M."""
    if tokens < 10_000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.1f}M"


def findings_df(logs: Logs) -> pd.DataFrame:
    """text (a sentence with its number), action (what to do about it), tokens (at stake), largest first."""
    found = findings(logs)
    return frame({name: [getattr(finding, name) for finding in found] for name in Finding._fields})


def _peaks(logs: Logs) -> Finding | None:
    table = curves.sessions(logs)
    for threshold in sorted(curves.THRESHOLDS, reverse=True):
        count = curves.over(table, threshold)
        if count:
            return Finding(
                f"{count} of {len(table)} sessions passed {threshold // 1000}k tokens of context",
                "Every call of a large session pays for all of it again: start a new session (/clear) when the task changes,"
                " and hand long searches to sub-agents.",
                int(table["peak_ctx"].max()),
            )
    return None


def _compactions(logs: Logs) -> Finding | None:
    table = compactions.compactions(logs)
    both = table[(table["ctx_before"] != NULL) & (table["ctx_after"] != NULL)]
    if len(both) < 3:
        return None
    before, after = int(np.median(both["ctx_before"])), int(np.median(both["ctx_after"]))
    return Finding(
        f"{len(table)} compactions left {amount(after)} of {amount(before)} tokens (median)",
        "What stays is mostly system prompt, tools and memory: trim those first; compact by hand (/compact with what to keep)"
        " at a natural break rather than at the limit.",
        before - after,
    )


def _rebuilds(logs: Logs) -> Finding | None:
    table = rebuilds.rebuilds(logs)
    table = table[table["cause"] != "compaction"]
    if len(table) < 3:
        return None
    tokens, usd = int(table["tokens"].sum()), float(table["usd"].sum())
    expired = np.char.startswith(table["cause"], "expired")
    late = f", {int(expired.sum())} after a pause" if expired.any() else ""
    return Finding(
        f"{len(table)} calls wrote a cached prefix again{late}: {amount(tokens)} tokens, ${usd:,.0f} more",
        "Pauses longer than the cache lives (5 minutes or 1 hour) and changes of tools or model in mid-session cause it:"
        " finish a task in one go, or start anew after a long pause.",
        tokens,
    )


def _tool(logs: Logs) -> Finding | None:
    rows = [row for row in tools.tool_totals(logs) if row[0] != tools.UNKNOWN and row[4]]
    if not rows:
        return None
    name, _, _, _, tokens, _ = rows[0]
    return Finding(
        f"{name} returned {amount(tokens)} tokens, the most of any tool",
        "Ask for less of it: filter and cut output in the command (head, grep, --quiet), read ranges instead of whole files.",
        tokens,
    )


def _reread(logs: Logs) -> Finding | None:
    table = rereads.rereads(logs)
    plain = table[~(table["after_compaction"] | table["after_shell"] | table["after_external"])]
    if not len(plain):
        return None
    sums = np.bincount(plain["path"], plain["tokens"])
    path = int(sums.argmax())
    times = int((plain["path"] == path).sum())
    often = "" if times == 1 else f" {times} times"
    return Finding(
        f"{logs.names.strings[path]} was read again unchanged{often}: {amount(int(sums[path]))} tokens",
        "The content was still in the context: note in CLAUDE.md what the file holds, or ask for the lines in question only.",
        int(plain["tokens"].sum()),
    )
