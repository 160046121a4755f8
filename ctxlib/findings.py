"""Frames -> sentences with a number, and what to do about it. The order is by the tokens at stake."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ctxlib.rules import cache, compactions, curves, rereads, tools
from ctxlib.scan import Logs
from ctxlib.tables import NULL

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
        f"{len(table)} compactions left {after / 1000:.0f}k of {before / 1000:.0f}k tokens (median)",
        "What stays is mostly system prompt, tools and memory: trim those first; compact by hand (/compact with what to keep)"
        " at a natural break rather than at the limit.",
        before - after,
    )


def _rebuilds(logs: Logs) -> Finding | None:
    """Cache prefixes written again: a call that read little and wrote most of a context that was already there."""
    calls = logs.calls[logs.calls["inside"] & logs.calls["origin"]]
    again = (calls["seq"] > 0) & (calls["cache_write"] > 20_000) & (calls["cache_write"] > 2 * calls["cache_read"])
    if int(again.sum()) < 3:
        return None
    tokens = int(calls["cache_write"][again].sum())
    usd = float(cache.costs(logs, calls[again])["cache_write"].sum())
    return Finding(
        f"{int(again.sum())} calls wrote their cached prefix again: {tokens / 1000:.0f}k tokens, ${usd:.2f}",
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
        f"{name} returned {tokens} tokens, the most of any tool",
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
        f"{logs.names.strings[path]} was read again unchanged{often}: {int(sums[path])} tokens",
        "The content was still in the context: note in CLAUDE.md what the file holds, or ask for the lines in question only.",
        int(plain["tokens"].sum()),
    )
