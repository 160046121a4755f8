"""X-readout: the small JSON for a status line, and context.json, the detail behind it (context_json.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

import numpy as np

from ctxlib.accounting.contract import CATEGORIES
from ctxlib.accounting.snapshot import snapshots
from ctxlib.findings import MOST, findings
from ctxlib.logs import Logs
from ctxlib.rules import cache, compactions, curves, rereads, tools
from ctxlib.rules.windows import windows
from ctxlib.tables import NULL, MarkKind, Table, ThreadKind, UsageScope

MAX_READOUT_BYTES = 400
_QUARTER = 900_000  # milliseconds


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
    held = detail(logs)
    return readout(held, [finding.text for finding in findings(logs)]), held


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON with a final newline; NaN raises ValueError instead of being written."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode("utf-8", "replace").decode() + "\n"


def detail(logs: Logs, *, points: int = 0, with_calls: bool = False, zone: tzinfo = UTC) -> dict[str, Any]:
    """context.json. `points`: thin each curve to so many (0: all). `with_calls`: output tokens of each call.
    `zone`: of calls_by_day. All keys are always there; null is "not known"."""
    curve, table = curves.curves(logs), curves.sessions(logs)
    own = logs.calls[logs.calls["inside"] & logs.calls["origin"] & (logs.calls["scope"] == UsageScope.CALL)]
    names, money = logs.names, cache.totals(logs)
    again = rereads.totals(rereads.rereads(logs))
    by_tool = tools.tool_totals(logs)
    sizes = windows(logs)
    since, until = logs.span.texts()
    ids = names.texts(table["session"])
    peaks = {key: none(value) for key, value in zip(ids, table["peak_ctx"].tolist(), strict=True)}
    model_window = {name: found[0] if found else None for name, found in sizes.items()}
    session_window = dict(zip(ids, (model_window.get(m) for m in names.texts(table["model"])), strict=True))
    sub = own["thread"][np.isin(logs.threads["kind"][own["thread"]], (ThreadKind.SIDECHAIN, ThreadKind.SUBAGENT))]
    out: dict[str, Any] = {
        "since": since,
        "until": until,
        "roots": list(logs.roots),
        "sources": _count([info.source for info in logs.files]),
        "sessions": len(table),
        "calls": len(own),
        "subagent_threads": len(np.unique(sub)),
        "curve": _curves(names.texts(curve["session"]), curve, points),
        "peak_ctx": peaks,
        "peak_turn": {key: value or None for key, value in zip(ids, table["peak_turn"].tolist(), strict=True)},
        "last_ctx": {key: none(value) for key, value in zip(ids, table["last_ctx"].tolist(), strict=True)},
        "window": session_window,
        "peak_pct": {key: _percent(peaks[key], session_window[key]) for key in ids},
        "windows": model_window,
        "window_source": {name: found[1] if found else None for name, found in sizes.items()},
        "peak_p50": curves.peak_p50(table),
        "over_150k": curves.over(table, 150_000),
        "over_250k": curves.over(table, 250_000),
        "curve_median": {
            str(turn): {"ctx": ctx, "sessions": count} for turn, (ctx, count) in curves.curve_median(curve).items()
        },
        "compactions": _compactions(logs),
        "microcompactions": len(compactions.microcompactions(logs)),
        "cache": {"read": money.read, "write": money.write, "uncached": money.uncached},
        "cache_shares": money.shares(),
        "cache_write_5m": money.write_5m,
        "cache_write_1h": money.write_1h,
        "cache_write_unsplit": money.unsplit,
        "cache_write_usd": round(money.write_usd, 6),
        "unpriced_models": list(money.unpriced_models),
        "unpriced_write_tokens": money.unpriced_write,
        "rereads": {"count": again.rereads, **{name: getattr(again, name) for name in again._fields[1:]}},
        "tool_tokens": {row[0]: row[4] for row in by_tool if row[3]},
        "tool_calls": {row[0]: row[2] for row in by_tool if row[2]},
        "top_tools": [[row[0], row[4]] for row in by_tool if row[3] and row[0] != tools.UNKNOWN][: tools.TOP_TOOLS],
        "mcp_by_server": _by_server(by_tool),
        "unsized_documents": tools.unsized_documents(logs),
        "output_tokens": _outputs(logs, own) if with_calls else None,
        "categories": _categories(logs, table),
        "labels": dict(zip(ids, names.texts(table["project"]), strict=True)),
        "unmeasured_calls": int((own["ctx"] == NULL).sum()),
        "undated_calls": logs.undated_calls,
        "bad_lines": logs.bad_lines,
        "nul_lines": logs.nul_lines,
        "unreadable_files": len(logs.unreadable),
        "files_read": len(logs.files),
        "calls_by_day": _by_day(own, zone),
        "suspicious_calls": money.suspicious,
    }
    return out


def none(value: int) -> int | None:
    """NULL becomes None."""
    return None if value == NULL else value


def _curves(sessions: list[str], curve: Table, points: int) -> dict[str, list[int]]:
    out: dict[str, list[int]] = {}
    for session, ctx in zip(sessions, curve["ctx"].tolist(), strict=True):
        out.setdefault(session, []).append(ctx)
    return {session: curves.thinned(ctx, points) if points else ctx for session, ctx in out.items()}


def _percent(peak: int | None, window: int | None) -> float | None:
    return round(100 * peak / window, 1) if peak is not None and window else None


def _compactions(logs: Logs) -> list[dict[str, Any]]:
    table = compactions.compactions(logs)
    threads, names = logs.threads[table["thread"]], logs.names
    before, after = compactions.sources(table, "before"), compactions.sources(table, "after")
    return [
        {
            "session": names.strings[thread["session"]],
            "thread": "main" if thread["kind"] == ThreadKind.MAIN else names.strings[thread["agent"]],
            "ts": datetime.fromtimestamp(int(row["ts"]) / 1000, UTC).isoformat().replace("+00:00", "Z"),
            "kind": MarkKind(row["kind"]).name.lower(),
            "trigger": names.strings[row["trigger"]] or None,
            "before": none(int(row["before"])),
            "before_source": before[i],
            "after": none(int(row["after"])),
            "after_source": after[i],
            "ctx_before": none(int(row["ctx_before"])),
            "ctx_after": none(int(row["ctx_after"])),
        }
        for i, (row, thread) in enumerate(zip(table, threads, strict=True))
    ]


def _by_server(rows: list[tuple[str, str, int, int, int, int]]) -> dict[str, int]:
    out: dict[str, int] = {}
    for row in rows:
        if row[1]:
            out[row[1]] = out.get(row[1], 0) + row[4]
    return out


def _categories(logs: Logs, table: Table) -> dict[str, dict[str, Any]]:
    """Session -> tokens by category at its last call in the window, and the basis of their total."""
    inside, table = np.flatnonzero(logs.calls["inside"]), table[table["calls"] > 0]
    ends = np.searchsorted(logs.calls["thread"][inside], table["thread"], side="right") - 1
    last, snaps = inside[ends], snapshots(logs)
    shown = snaps.settled.shown[last].tolist()
    return {
        session: dict(zip((*CATEGORIES, "other"), row, strict=True))
        | {"basis": "measured" if measured else "estimated"}
        for session, row, measured in zip(
            logs.names.texts(table["session"]), shown, snaps.measured[last].tolist(), strict=True
        )
    }


def _outputs(logs: Logs, calls: Table) -> dict[str, int]:
    """call id -> output tokens; a gateway's constant id is numbered: `id`, `id#2`, ..."""
    out: dict[str, int] = {}
    seen: dict[str, int] = {}
    for row, output in zip(calls["id"].tolist(), calls["output"].tolist(), strict=True):
        name = logs.call_ids[row]
        seen[name] = seen.get(name, 0) + 1
        out[name if seen[name] == 1 else f"{name}#{seen[name]}"] = output
    return out


def _by_day(calls: Table, zone: tzinfo) -> dict[str, int]:
    """Day in the zone -> calls. Zones differ by quarters of an hour, so the clock is asked once for each of those."""
    quarters, counts = np.unique(calls["ts"] // _QUARTER, return_counts=True)
    out: dict[str, int] = {}
    for quarter, count in zip(quarters.tolist(), counts.tolist(), strict=True):
        day = datetime.fromtimestamp(quarter * _QUARTER / 1000, UTC).astimezone(zone).date().isoformat()
        out[day] = out.get(day, 0) + count
    return dict(sorted(out.items()))


def _count(items: list[str]) -> dict[str, int]:
    out: dict[str, int] = {}
    for item in items:
        out[item] = out.get(item, 0) + 1
    return out
