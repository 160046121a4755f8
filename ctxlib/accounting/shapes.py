"""The two published shapes, as views of one snapshot (accounting.md, The two published shapes)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxlib.accounting.contract import Snapshot

# Fabro's categories, in its order; what it has no name for is other (its controls are).
_STAGE = {
    "system_prompt": ("system_prompt",),
    "tools": ("tools", "deferred"),
    "mcp_tools": ("mcp_tools",),
    "skills": ("skills",),
    "memory": ("memory", "agents"),
    "conversation": ("messages",),
    "other": ("controls", "other"),
}
_METHODS = {
    "measured": "response_usage_scaled_breakdown",
    "counted": "provider_api_scaled_breakdown",
    "estimated": "local_estimate",
}
# The session contract's names for ours.
_SESSION = {
    "messages": "messages",
    "system_prompt": "system_prompt",
    "skills": "skills",
    "memory": "memory",
    "agents": "agents",
    "tools_schema": "tools",
    "tools_deferred_catalog": "deferred",
    "mcp_tools": "mcp_tools",
    "controls": "controls",
    "unclassified": "other",
}


class NotFound(LookupError):
    """A run or stage that does not exist: the API's 404. `what`: run or stage; `name`: the id that was asked for."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"no such {what}: {name}")
        self.what, self.name = what, name


def session_context(snap: Snapshot) -> dict[str, Any]:
    """GET /api/sessions/{id}/context (schemas/session_context.json). Categories are shown tokens and sum to total_used
    where the total is the provider's, else to input_used; detail rows are unscaled."""
    shown = snap.shown()
    mcp_deferred = sum(part.shown for part in snap.parts if part.name == "mcp_tools_deferred")
    schemas = [row for row in snap.details if row.of == "schema"]
    classified = sum(tokens for name, tokens in shown.items() if name != "other")
    estimated = snap.estimated
    window = snap.window
    return {
        "session_id": snap.session,
        "model": snap.model,
        "context_window": window,
        "window": window,
        "basis": snap.basis,
        "total_used": snap.total,
        "estimated": estimated,
        "calibration": round(snap.total / estimated, 4) if estimated and snap.basis != "estimated" else None,
        "input_used": estimated if snap.basis != "estimated" else snap.total,
        "input_used_pct": round(estimated / window, 4) if window else None,
        "free_space": snap.free,
        "classified_estimate": estimated,
        "classified_used": classified,
        "classification_scale": round(snap.factor, 6),
        "tools_source": snap.tools_source,
        "source": snap.source,
        **{key: shown.get(name, 0) for key, name in _SESSION.items()},
        "tools_deferred_catalog": shown.get("deferred", 0) - mcp_deferred,
        "mcp_tools_deferred": mcp_deferred,
        "tools": [{"name": row.label, "tokens": row.tokens, "deferred": row.deferred} for row in schemas],
        "skills_detail": [
            {"name": row.label, "source": row.server, "tokens": row.tokens} for row in snap.details if row.of == "skill"
        ],
        "memory_detail": [{"path": row.label, "tokens": row.tokens} for row in snap.details if row.of == "memory"],
        "mcp_detail": [
            {"server": row.server, "name": row.label, "tokens": row.tokens, "deferred": row.deferred}
            for row in sorted(schemas, key=lambda row: -row.tokens)
            if row.server
        ],
    }


@lru_cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a shape: `session_context` or `stage_context_window`."""
    found: dict[str, Any] = json.loads(files("ctxlib.accounting").joinpath("schemas", f"{name}.json").read_bytes())
    return found


def stage_context_window(snap: Snapshot) -> dict[str, Any]:
    """GET /api/v1/runs/{id}/stages/{stageId}/context-window of a stage that has data (schemas/stage_context_window.json);
    categories in Fabro's order, zeros left out."""
    shown = snap.shown()
    extra = snap.extra
    breakdown = []
    for category, ours in _STAGE.items():
        tokens = sum(shown.get(name, 0) for name in ours)
        if tokens:
            breakdown.append({"category": category, "tokens": tokens, "usage_percent": _percent(tokens, snap.window)})
    when = None if snap.ts is None else iso(snap.ts)
    return {
        "stage_id": extra.get("stage_id", snap.session),
        "available": True,
        "unavailable_reason": None,
        "provider": snap.provider or None,
        "model": snap.model or None,
        "context_window_tokens": snap.window,
        "input_tokens": snap.total,
        "usage_percent": _percent(snap.total, snap.window),
        "count_method": extra.get("count_method", _METHODS[snap.basis]),
        "staleness": extra.get("staleness", "stored"),
        "generated_at": extra.get("generated_at", when),
        "event_seq": extra.get("event_seq"),
        "breakdown": breakdown,
        "warnings": [warning._asdict() for warning in snap.warnings],
    }


def unavailable_stage(stage_id: str, reason: str, message: str) -> dict[str, Any]:
    """A known stage without data: a 200 with available false. reason: not_agent_stage, not_observed,
    provider_unconfigured; it is the warning's code too."""
    if reason not in ("not_agent_stage", "not_observed", "provider_unconfigured"):
        raise ValueError(f"no such reason: {reason}")
    empty = ("provider", "model", "context_window_tokens", "input_tokens", "usage_percent", "count_method")
    return {
        "stage_id": stage_id,
        "available": False,
        "unavailable_reason": reason,
        **dict.fromkeys(empty),
        "staleness": "unavailable",
        "generated_at": None,
        "event_seq": None,
        "breakdown": [],
        "warnings": [{"code": reason, "message": message}],
    }


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat().replace("+00:00", "Z")


def _percent(tokens: int, window: int | None) -> float | None:
    return round(100 * tokens / window, 2) if window else None
