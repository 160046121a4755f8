"""The two published shapes, as views of one snapshot (accounting.md, The two published shapes)."""

from __future__ import annotations

from datetime import UTC, datetime
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
    """A run, stage or session that does not exist: the API's 404."""


def session_context(snap: Snapshot) -> dict[str, Any]:
    """GET /api/sessions/{id}/context. Categories are shown tokens; detail rows are unscaled."""
    shown = snap.shown()
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
        "calibration": round(snap.total / estimated, 4) if estimated else None,
        "input_used": estimated if snap.basis != "estimated" else snap.total,
        "input_used_pct": round(estimated / window, 4) if window else None,
        "free_space": snap.free,
        "classified_estimate": estimated,
        "classified_used": classified,
        "classification_scale": round(snap.factor, 6),
        "tools_source": snap.tools_source,
        "source": snap.source,
        **{key: shown.get(name, 0) for key, name in _SESSION.items()},
        "tools": _rows(snap, "tool"),
        "skills_detail": _rows(snap, "skill"),
        "memory_detail": _rows(snap, "memory"),
        "mcp_detail": [
            {"server": row.server, "name": row.label, "tokens": row.tokens, "deferred": row.deferred}
            for row in snap.details
            if row.of in ("tool", "mcp") and row.server
        ],
    }


def _rows(snap: Snapshot, of: str) -> list[dict[str, Any]]:
    return [{"name": row.label, "tokens": row.tokens, "deferred": row.deferred} for row in snap.details if row.of == of]


def stage_context_window(snap: Snapshot) -> dict[str, Any]:
    """GET /api/v1/runs/{id}/stages/{stageId}/context-window of a stage that has data; zeros are left out."""
    shown = snap.shown()
    extra = snap.extra
    breakdown = []
    for category, ours in _STAGE.items():
        tokens = sum(shown.get(name, 0) for name in ours)
        if tokens:
            breakdown.append({"category": category, "tokens": tokens, "usage_percent": _percent(tokens, snap.window)})
    when = None if snap.ts is None else datetime.fromtimestamp(snap.ts / 1000, UTC).isoformat().replace("+00:00", "Z")
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


def _percent(tokens: int, window: int | None) -> float | None:
    return round(100 * tokens / window, 2) if window else None
