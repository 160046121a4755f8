"""X-readout: the small JSON for a status line, and context.json, the detail behind it (context_json.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import msgspec

from ctxlib.accounting.contract import CATEGORIES
from ctxlib.digest import QUARTER, Compaction, Digest, digest, ranked_tools
from ctxlib.findings import MOST, findings
from ctxlib.logs import Asked, Logs
from ctxlib.logs.contents import longest_first, mcp_server
from ctxlib.rules import curves, tools
from ctxlib.rules.windows import decided
from ctxlib.tables import NULL

MAX_READOUT_BYTES = 400


def readout(detail: dict[str, Any], sentences: Sequence[str]) -> dict[str, Any]:
    """The readout of a detail; findings are dropped from the end until its compact JSON, newline included, is below
    MAX_READOUT_BYTES. Numbers are never dropped."""
    shares = detail["cache_shares"]
    small = {
        "sessions": detail["sessions"],
        "peak_p50": detail["peak_p50"],
        "over_150k": detail["over_150k"],
        "over_250k": detail["over_250k"],
        "compactions": len(detail["compactions"]),
        "cache_read_share": None if shares is None else round(shares["read"], 3),
        "cache_write_usd": round(detail["cache_write_usd"], 2),
        "reread_tok": detail["rereads"]["tokens"],
        "findings": list(sentences[:MOST]),
        "detail": "context.json",
    }
    while small["findings"] and len(dumps(small).encode()) >= MAX_READOUT_BYTES:
        small["findings"].pop()
    return small


def readout_of(logs: Logs) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the readout, its detail)."""
    held = digest(logs)
    whole = detail_of(held, asked_of(logs))
    return readout(whole, [finding.text for finding in findings(held)]), whole


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON with a final newline; NaN raises ValueError instead of being written."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = text.encode("utf-8", "replace")
    return (data if indent is None else msgspec.json.format(data, indent=indent)).decode() + "\n"


def detail(logs: Logs, *, points: int = 0, with_calls: bool = False, zone: tzinfo = UTC) -> dict[str, Any]:
    """context.json. `points`: thin each curve to so many (0: all). `with_calls`: output tokens of each call.
    `zone`: of calls_by_day. All keys are always there; null is "not known"."""
    held = digest(logs, with_outputs=with_calls)
    return detail_of(held, asked_of(logs), points=points, with_calls=with_calls, zone=zone)


def asked_of(logs: Logs) -> Asked:
    """The question that these logs answer."""
    return Asked(logs.roots, logs.span, logs.project, logs.prices)


def detail_of(
    held: Digest, asked: Asked, *, points: int = 0, with_calls: bool = False, zone: tzinfo = UTC
) -> dict[str, Any]:
    """`detail` of a question's digest."""
    sizes = decided(held.peaks, held.evidence, asked.prices)
    window = {name: found[0] if found else None for name, found in sorted(sizes.items())}
    by_tool = ranked_tools(held)
    since, until = asked.span.texts()
    table, money, again = held.sessions, held.cache, held.rereads
    points_of = {session.id: session.curve for session in table if session.curve}
    return {
        "since": since,
        "until": until,
        "roots": list(asked.roots),
        "sources": dict(sorted(held.files.items())),
        "sessions": len(table),
        "calls": held.calls,
        "subagent_threads": held.agents,
        "curve": {name: curves.thinned(curve, points) if points else curve for name, curve in points_of.items()},
        "peak_ctx": {session.id: none(session.peak) for session in table},
        "peak_turn": {session.id: session.peak_turn or None for session in table},
        "last_ctx": {session.id: none(session.last) for session in table},
        "window": {session.id: window.get(session.model) for session in table},
        "peak_pct": {session.id: _percent(session.peak, window.get(session.model)) for session in table},
        "windows": window,
        "window_source": {name: found[1] if found else None for name, found in sorted(sizes.items())},
        "peak_p50": curves.peak_p50([session.peak for session in table]),
        "over_150k": curves.over([session.peak for session in table], 150_000),
        "over_250k": curves.over([session.peak for session in table], 250_000),
        "curve_median": {
            str(turn): {"ctx": ctx, "sessions": count}
            for turn, (ctx, count) in curves.curve_median([session.curve for session in table]).items()
        },
        "compactions": [_compaction(item) for item in held.compactions],
        "microcompactions": held.microcompactions,
        "cache": {"read": money.read, "write": money.write, "uncached": money.uncached},
        "cache_shares": money.shares(),
        "cache_write_5m": money.write_5m,
        "cache_write_1h": money.write_1h,
        "cache_write_unsplit": money.unsplit,
        "cache_write_usd": round(money.write_usd, 6),
        "unpriced_models": sorted(money.unpriced_models),
        "unpriced_write_tokens": money.unpriced_write,
        "rereads": {"count": again.rereads, **{name: getattr(again, name) for name in again._fields[1:]}},
        "tool_tokens": {name: done.tokens for name, done in by_tool if done.results},
        "tool_calls": {name: done.calls for name, done in by_tool if done.calls},
        "top_tools": [[name, done.tokens] for name, done in by_tool if done.results and name != tools.UNKNOWN][
            : tools.TOP_TOOLS
        ],
        "mcp_by_server": _by_server(held),
        "unsized_documents": held.documents,
        "output_tokens": _outputs(held) if with_calls else None,
        "categories": {
            session.id: dict(zip((*CATEGORIES, "other"), session.parts, strict=True))
            | {"basis": "measured" if session.measured else "estimated"}
            for session in table
            if session.parts
        },
        "labels": {session.id: session.project for session in table},
        "unmeasured_calls": held.unmeasured,
        "undated_calls": held.undated,
        "bad_lines": held.bad_lines,
        "nul_lines": held.nul_lines,
        "unreadable_files": held.unreadable,
        "files_read": sum(held.files.values()),
        "calls_by_day": _by_day(held, zone),
        "suspicious_calls": money.suspicious,
    }


def none(value: int) -> int | None:
    """NULL becomes None."""
    return None if value == NULL else value


def _percent(peak: int, window: int | None) -> float | None:
    return round(100 * peak / window, 1) if peak != NULL and window else None


def _compaction(item: Compaction) -> dict[str, Any]:
    counts = {name: none(getattr(item, name)) for name in ("before", "after", "ctx_before", "ctx_after")}
    return item._asdict() | {"ts": _instant(item.ts)} | counts


def _instant(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat().replace("+00:00", "Z")


def _by_server(held: Digest) -> dict[str, int]:
    known = longest_first(held.servers)
    out: dict[str, int] = {}
    for name, done in ranked_tools(held):
        server = mcp_server(name, known)
        if server:
            out[server] = out.get(server, 0) + done.tokens
    return out


def _outputs(held: Digest) -> dict[str, int]:
    """call id -> output tokens; a gateway's constant id is numbered: `id`, `id#2`, ..."""
    out: dict[str, int] = {}
    seen: dict[str, int] = {}
    for name, output in held.outputs:
        seen[name] = seen.get(name, 0) + 1
        out[name if seen[name] == 1 else f"{name}#{seen[name]}"] = output
    return out


def _by_day(held: Digest, zone: tzinfo) -> dict[str, int]:
    """Day in the zone -> calls."""
    out: dict[str, int] = {}
    for quarter, count in held.quarters.items():
        day = datetime.fromtimestamp(quarter * QUARTER / 1000, UTC).astimezone(zone).date().isoformat()
        out[day] = out.get(day, 0) + count
    return dict(sorted(out.items()))
