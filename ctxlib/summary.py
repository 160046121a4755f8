"""The story of a period: what was read, headline numbers, findings. Plain data for the report's front page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ctxlib.accounting.view import short
from ctxlib.digest import Digest, digest
from ctxlib.findings import findings
from ctxlib.logs import Logs
from ctxlib.rules import cache, curves
from ctxlib.tables import NO_TIME

NOTHING = "nothing was skipped"
MOST = 5  # findings on the front page


def summary(logs: Logs, *, origin: str = "") -> dict[str, Any]:
    """title, period, read, skipped (sentences), tiles (label, value, note), findings (text, action).

    `origin`: how the roots came to be chosen, in words ("the sample logs: ...").
    """
    held = digest(logs)
    return {
        "title": "Where the context went",
        "period": period(logs),
        "read": read(logs, origin),
        "skipped": skipped(held),
        "tiles": _tiles(logs, held),
        "findings": [{"text": found.text, "action": found.action} for found in findings(held)[:MOST]],
    }


def period(logs: Logs) -> str:
    """The days from the first to the last call."""
    times = logs.calls["ts"][logs.calls["inside"] & (logs.calls["ts"] != NO_TIME)]
    if not len(times):
        return "no calls in this window"
    days = [datetime.fromtimestamp(int(ms) / 1000, UTC).date().isoformat() for ms in (times.min(), times.max())]
    return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"


def read(logs: Logs, origin: str = "") -> str:
    """What was read."""
    lines = sum(info.lines for info in logs.files)
    what = f"{len(logs.files)} files, {lines:,} lines" if logs.files else "no log file"
    where = origin or ", ".join(logs.roots)
    return f"{what} from {where}"


def skipped(held: Digest) -> str:
    """What could not be used; nothing is left out silently."""
    counts = (
        (held.bad_lines, "line", "that could not be read"),
        (held.unreadable, "file", "that could not be opened"),
        (held.undated, "call", "without a time"),
        (held.unmeasured, "call", "without a measured context"),
    )
    said = [f"{count:,} {noun}{'s' * (count != 1)} {why}" for count, noun, why in counts if count]
    return ", ".join(said) if said else NOTHING


def _tiles(logs: Logs, held: Digest) -> list[dict[str, str]]:
    peaks, money = [session.peak for session in held.sessions], held.cache
    p50, shares = curves.peak_p50(peaks), money.shares()
    own = logs.own_calls
    cost = cache.costs(logs, own)
    usd = sum(float(cost[side].sum()) for side in ("input", "cache_read", "cache_write", "output"))
    unpriced = f", without {', '.join(sorted(money.unpriced_models))}" if money.unpriced_models else ""
    return [
        {"label": "sessions", "value": f"{len(peaks):,}", "note": f"{held.calls:,} calls, sub-agents included"},
        {"label": "median peak", "value": "-" if p50 is None else short(p50), "note": "tokens of context, measured"},
        {
            "label": "above 150k",
            "value": str(curves.over(peaks, 150_000)),
            "note": f"sessions; {curves.over(peaks, 250_000)} above 250k",
        },
        {"label": "compactions", "value": str(len(held.compactions)), "note": "each counted once"},
        {
            "label": "read from cache",
            "value": "-" if shares is None else f"{100 * shares['read']:.1f} %",
            "note": "of all context tokens",
        },
        {
            "label": "at list prices",
            "value": f"${usd:,.2f}",
            "note": f"${money.write_usd:,.2f} of it cache writes{unpriced}",
        },
    ]
