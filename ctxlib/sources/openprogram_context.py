"""What an OpenProgram session's context holds at its head, by OpenProgram's own rules (formats.md, section 8).

Only nodes that lie on the branch of `head_id` count. The system prompt and the frozen tools are nodes that hold where
their anchor lies on the branch. The text is sized here and let go: nothing of it is kept.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ctxlib.models import canonical
from ctxlib.sources.base import Rows
from ctxlib.sources.entries import code, label, number, text, told
from ctxlib.sources.openprogram_ledger import Call
from ctxlib.sources.openprogram_nodes import Node, Session, branch, turn_counts
from ctxlib.tables import NO_TIME, NULL, Category

_PROMPT, _TOOLS = "context/system_prompt", "context/tool_snapshot"
_SKILLS = re.compile(r"<available_skills>.*?</available_skills>", re.DOTALL)
_OVERHEAD = 4  # tokens a message
_PARTS = {
    "messages": Category.MESSAGES,
    "system_prompt": Category.SYSTEM_PROMPT,
    "skills": Category.SKILLS,
    "memory": Category.MEMORY,
    "tools_schema": Category.TOOLS,
    "tools_deferred_catalog": Category.DEFERRED,
    "mcp_tools": Category.MCP_TOOLS,
    "mcp_tools_deferred": Category.DEFERRED,
}


class Context(NamedTuple):
    """The contract's raw material, in tokens by OpenProgram's estimator."""

    parts: dict[str, int]
    tools: list[dict[str, Any]]
    tools_source: str
    total: int  # measured; NULL where nothing measured holds for this head
    method: str  # token_source of the total
    provider: str
    model: str
    prompt: Node | None
    warnings: list[tuple[str, int]]  # (code, tokens it is about)


def estimate(content: str) -> int:
    """Tokens of a text: int(n / 3.8), and int(n / 1.3) where at least 4 of some 16 sampled characters are CJK."""
    size = len(content)
    sampled = content[:: max(1, size // 16)]
    return int(size / (1.3 if sum(map(_is_cjk, sampled)) >= 4 else 3.8))


def _is_cjk(character: str) -> bool:
    o = ord(character)
    return 0x3040 <= o <= 0x30FF or 0x3400 <= o <= 0x4DBF or 0x4E00 <= o <= 0x9FFF or 0xAC00 <= o <= 0xD7AF


def context(session: Session, calls: list[Call]) -> Context:
    """What the context holds at the session's head. `calls`: the conversation's own, from the ledger."""
    spoken = [node for node in session.nodes if node.spoken]
    head = text(session.meta.get("head_id")) or (spoken[-1].id if spoken else "")
    path = branch(session, head)
    on_branch = {node.id for node in path}
    warnings: list[tuple[str, int]] = [] if path or not spoken else [("head_not_found", 0)]
    provider, model = session.model
    recorded = _recorded(session, _PROMPT, on_branch)
    prompt = recorded[0] if recorded else None
    tools, source = _tools(_recorded(session, _TOOLS, on_branch), warnings)
    parts = _parts(session, _rendered(session, path, on_branch), text(prompt.output) if prompt else "", tools)
    total, method = _measured(session, path, calls, warnings)
    return Context(parts, tools, source, total, method, provider, model, prompt, warnings)


def _recorded(session: Session, name: str, on_branch: set[str]) -> list[Node]:
    """Recorded nodes of a name that hold on the branch, newest first. Older ones have no anchor: theirs is the nearest
    earlier turn by seq."""
    out, before = [], ""
    for node in session.nodes:
        if node.role in ("user", "llm") and not node.name.startswith("context/"):
            before = node.id
        if node.name == name and (text(node.metadata.get("anchor_head_id")) or before) in on_branch:
            out.append(node)
    return out[::-1]


def _tools(recorded: list[Node], warnings: list[tuple[str, int]]) -> tuple[list[dict[str, Any]], str]:
    """The frozen tool set; an empty one is authoritative. One that cannot be read leaves the one before in force."""
    for node in recorded:
        try:
            rows = json.loads(text(node.output))["tools"]
            return [row for row in rows if isinstance(row, dict)], "recorded_snapshot"
        except (ValueError, TypeError, KeyError, RecursionError):
            warnings.append(("tool_snapshot_unreadable", 0))
    warnings.append(("tools_not_recorded", 0))
    return [], "not_recorded"


def _rendered(session: Session, path: list[Node], on_branch: set[str]) -> list[Node]:
    """The branch as it is sent: the newest summary stands for its segment, if all of that lies on the branch."""
    summaries = [node for node in session.nodes if node.covers]
    if not summaries or not summaries[-1].covers <= on_branch:
        return path
    return [summaries[-1], *(node for node in path if node.id not in summaries[-1].covers)]


def _parts(session: Session, rendered: list[Node], prompt: str, tools: list[dict[str, Any]]) -> dict[str, int]:
    """Tokens by OpenProgram's categories; what lies inside the system prompt is taken out of it."""
    out = dict.fromkeys(_PARTS, 0)
    for row in tools:
        deferred, server = bool(row.get("deferred")), bool(text(row.get("server")))
        name = ("mcp_tools_deferred" if deferred else "mcp_tools") if server else ""
        out[name or ("tools_deferred_catalog" if deferred else "tools_schema")] += number(row.get("tokens"))
    skills = _SKILLS.search(prompt)
    out["skills"] = estimate(skills[0]) if skills else 0
    nested = out["skills"] + out["tools_deferred_catalog"] + out["mcp_tools_deferred"]
    out["system_prompt"] = max(0, estimate(prompt) + _OVERHEAD - nested) if prompt else 0
    uses: dict[str, list[Node]] = {}
    for node in session.nodes:
        if node.tool:
            uses.setdefault(node.caller, []).append(node)
    out["messages"] = sum(estimate(_sent(node, uses.get(node.id, []))) + _OVERHEAD for node in rendered)
    return out


def _sent(node: Node, uses: list[Node]) -> str:
    """A turn as it is sent again: its text, what was prefetched for it, the tools that it called and what they gave."""
    prefetch = text(node.metadata.get("memory_prefetch")).rstrip()
    said = [f"{prefetch}\n\n{_text(node.output)}" if prefetch else _text(node.output)]
    for use in uses:
        said += [json.dumps({"tool": use.name, "input": use.input}, ensure_ascii=False), _text(use.output)]
    return "\n".join(part for part in said if part)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _measured(
    session: Session, path: list[Node], calls: list[Call], warnings: list[tuple[str, int]]
) -> tuple[int, str]:
    """(total, token_source): of the last call of the turn that ends at the head, cache reads and writes included.

    A measurement holds only for the head that it was made on: after a new prompt, a switch of branch or model, or a
    compaction there is none until the next call. A turn's own sum is the size of its context only if it was one call.
    """
    answer = path[-1] if path else None
    if answer is None or answer.role != "llm":
        return NULL, ""
    summaries = [node for node in session.nodes if node.covers]
    if summaries and summaries[-1].seq > answer.seq:
        warnings.append(("compacted_since", 0))
        return NULL, ""
    model = session.model[1]
    if model and answer.name and canonical(model) != canonical(answer.name):
        warnings.append(("model_switched", 0))
        return NULL, ""
    begin = max((node.ts for node in path if node.role == "user"), default=NO_TIME)
    later = (node.ts for node in session.nodes if node.role == "user" and node.spoken and node.seq > answer.seq)
    end = min(later, default=2**62)
    own = [call for call in calls if begin <= call.ts < end and call.measured and call.counts.ctx != NULL]
    spent, method = (own[-1].counts, "provider_usage") if own else (turn_counts(answer), _source(answer))
    several = any(node.tool and node.caller == answer.id for node in session.nodes)
    several = several or bool(answer.metadata.get("tool_calls"))
    if not own and (several or spent.ctx == NULL or method == "estimate"):
        warnings.extend([("turn_sum_not_used", 0)] if several and spent.ctx != NULL else [])
        return NULL, ""
    if spent.cache_write:
        warnings.append(("cache_writes_added", spent.cache_write))
    return spent.ctx, method


def _source(answer: Node) -> str:
    return code(answer.metadata.get("token_source"), "provider_usage")


def write(rows: Rows, row: int, found: Context) -> None:
    """Adds the facts to the `told` table: counts and names."""
    told(rows, row, "total", found.method or "estimate", found.total)
    told(rows, row, "provider", found.provider)
    told(rows, row, "model", found.model)
    told(rows, row, "tools_source", found.tools_source)
    told(rows, row, "staleness", "stored")
    for name, tokens in found.parts.items():
        if tokens:
            told(rows, row, "part", name, tokens, category=_PARTS[name])
    for tool in found.tools:
        category = Category.DEFERRED if tool.get("deferred") else Category.TOOLS
        named, server = label(text(tool.get("name"))), label(text(tool.get("server")))
        told(rows, row, "tool", named, number(tool.get("tokens")), category=category, server=server)
    for warning, tokens in found.warnings:
        told(rows, row, "warning", warning, tokens)
