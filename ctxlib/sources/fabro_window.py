"""What Fabro says of a context window, and its token counts, in all of their spellings (formats.md, section 7)."""

from __future__ import annotations

from typing import Any

from ctxlib.sources.base import Rows
from ctxlib.sources.claude_code import instant
from ctxlib.sources.entries import Counts, code, held, label, number, text, told
from ctxlib.tables import NO_TIME, NULL, Category

# Fabro's categories in ours; its `other` is what the request's controls take.
CATEGORIES = {
    "system_prompt": Category.SYSTEM_PROMPT,
    "tools": Category.TOOLS,
    "mcp_tools": Category.MCP_TOOLS,
    "skills": Category.SKILLS,
    "memory": Category.MEMORY,
    "conversation": Category.MESSAGES,
    "other": Category.CONTROLS,
}


def snapshot(rows: Rows, row: int, window: dict[str, Any], seq: int) -> bool:
    """Adds what a `context_window` says; False (and no row) where it has neither a total nor a breakdown."""
    parts = window.get("breakdown")
    parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    total = number(window.get("input_tokens"), NULL)
    if total == NULL and not parts:
        reason = code(window.get("unavailable_reason"))
        told(rows, row, "unavailable", reason) if reason else None
        return False
    told(rows, row, "total", code(window.get("count_method"), "local_estimate"), total)
    told(rows, row, "window", value=number(window.get("context_window_tokens"), NULL))
    told(rows, row, "provider", code(window.get("provider")))
    told(rows, row, "model", label(text(window.get("model"))))
    told(rows, row, "seq", value=number(window.get("event_seq"), seq))
    told(rows, row, "staleness", code(window.get("staleness"), "live"))
    told(rows, row, "generated", value=instant(text(window.get("generated_at"))))
    for part in parts:
        name = code(part.get("category"), "other")
        told(rows, row, "part", name, number(part.get("tokens")), category=CATEGORIES.get(name, Category.CONTROLS))
    warnings = window.get("warnings")
    for warning in warnings if isinstance(warnings, list) else ():
        named = code(held({"": warning}, "").get("code"))
        told(rows, row, "warning", named if named.isidentifier() else "token_count_warning")
    return True


def warned(rows: Rows, row: int, details: dict[str, Any], seq: int) -> None:
    """Generation 1 has no snapshot; its warning says how full a context is, not with what."""
    tokens = number(details.get("estimated_tokens"), number(details.get("input_tokens"), NULL))
    size = details.get("context_window_size", details.get("context_window_tokens"))
    if tokens != NULL:
        told(rows, row, "total", "local_estimate", tokens)
        told(rows, row, "window", value=number(size, NULL))
        told(rows, row, "seq", value=seq)
        told(rows, row, "generated", value=NO_TIME)
        told(rows, row, "warning", "local_token_estimate")


def counts(tokens: dict[str, Any]) -> Counts:
    """Fabro's token counts under any of its spellings: input excludes the cache, output excludes reasoning."""
    inner = held(tokens, "tokens")
    tokens = {**tokens, **inner}

    def of(name: str, missing: int = 0) -> int:
        return number(tokens.get(f"{name}_tokens", tokens.get(name)), missing)

    long = min(of("cache_write_1h"), of("cache_write"))
    return Counts(of("input"), of("cache_read"), of("cache_write"), of("output"), of("reasoning", NULL), long)


def model_of(body: dict[str, Any]) -> str:
    model = body.get("model")
    if isinstance(model, str):
        return label(model)
    return label(text(held(body, "model").get("model_id")) or text(held(body, "model").get("id")))
