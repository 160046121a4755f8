"""Frames -> sentences with a number, and what to do about it. The order is by the tokens at stake."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ctxlib.digest import Digest, digest, ranked_tools
from ctxlib.logs import Logs
from ctxlib.rules import curves, tools
from ctxlib.tables import NULL, frame

if TYPE_CHECKING:
    import pandas as pd

MOST = 3  # in the readout


class Finding(NamedTuple):
    """A fact with its number, what to do about it, and the tokens that it is about."""

    text: str
    action: str
    tokens: int


def findings(held: Digest) -> list[Finding]:
    """All findings of the window, largest first."""
    found = [_peaks(held), _compactions(held), _rebuilds(held), _tool(held), _reread(held)]
    return sorted((finding for finding in found if finding), key=lambda finding: -finding.tokens)


def amount(tokens: int) -> str:
    """Tokens in a sentence: whole up to 9999, then 12k or 1.2M."""
    if tokens < 10_000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.1f}M"


def findings_df(logs: Logs) -> pd.DataFrame:
    """text (a sentence with its number), action (what to do about it), tokens (at stake), largest first."""
    found = findings(digest(logs))
    return frame({name: [getattr(finding, name) for finding in found] for name in Finding._fields})


def _peaks(held: Digest) -> Finding | None:
    peaks = [session.peak for session in held.sessions]
    for threshold in sorted(curves.THRESHOLDS, reverse=True):
        count = curves.over(peaks, threshold)
        if count:
            return Finding(
                f"{count} of {len(peaks)} sessions passed {threshold // 1000}k tokens of context",
                "Every call of a large session pays for all of it again: start a new session (/clear) when the task changes,"
                " and hand long searches to sub-agents.",
                max(peaks),
            )
    return None


def _compactions(held: Digest) -> Finding | None:
    both = [found for found in held.compactions if NULL not in (found.ctx_before, found.ctx_after)]
    if len(both) < 3:
        return None
    before, after = int(median(item.ctx_before for item in both)), int(median(item.ctx_after for item in both))
    return Finding(
        f"{len(held.compactions)} compactions left {amount(after)} of {amount(before)} tokens (median)",
        "What stays is mostly system prompt, tools and memory: trim those first; compact by hand (/compact with what to keep)"
        " at a natural break rather than at the limit.",
        before - after,
    )


def _rebuilds(held: Digest) -> Finding | None:
    found = held.rebuilt
    if found.calls < 3:
        return None
    late = f", {found.late} after a pause" if found.late else ""
    return Finding(
        f"{found.calls} calls wrote a cached prefix again{late}: {amount(found.tokens)} tokens, ${found.usd:,.0f} more",
        "Pauses longer than the cache lives (5 minutes or 1 hour) and changes of tools or model in mid-session cause it:"
        " finish a task in one go, or start anew after a long pause.",
        found.tokens,
    )


def _tool(held: Digest) -> Finding | None:
    found = [(name, done.tokens) for name, done in ranked_tools(held) if name != tools.UNKNOWN and done.tokens]
    if not found:
        return None
    name, tokens = found[0]
    return Finding(
        f"{name} returned {amount(tokens)} tokens, the most of any tool",
        "Ask for less of it: filter and cut output in the command (head, grep, --quiet), read ranges instead of whole files.",
        tokens,
    )


def _reread(held: Digest) -> Finding | None:
    if not held.again:
        return None
    path, most = max(held.again.items(), key=lambda item: (item[1].tokens, item[0]))
    often = "" if most.times == 1 else f" {most.times} times"
    return Finding(
        f"{path} was read again unchanged{often}: {amount(most.tokens)} tokens",
        "The content was still in the context: note in CLAUDE.md what the file holds, or ask for the lines in question only.",
        sum(item.tokens for item in held.again.values()),
    )
