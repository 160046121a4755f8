"""Pieces of the planted events: openings, documents, damage, the /context output."""

from __future__ import annotations

from sample_base import AUTOCOMPACT_BUFFER, stamp, version_key
from sample_session import Thread
from sample_words import MCP_LOADED, SKILLS
from sample_work import Worker


def opening(w: Worker) -> None:
    """State lines and listings at the start of a file."""
    t = w.t
    if version_key(t.setup.version) >= (2, 0, 5):
        own = t.uuid()
        t.lines.append(
            {
                "type": "file-history-snapshot",
                "messageId": own,
                "snapshot": {"messageId": own, "trackedFileBackups": {}, "timestamp": stamp(t.t)},
                "isSnapshotUpdate": False,
            }
        )
    if not t.setup.new_style:
        return
    t.state("mode", mode="normal")
    t.state("permission-mode", permissionMode="default")
    note = t.text.prose(320)
    t.attach(
        "hook_success",
        note,
        hookName="SessionStart:startup",
        toolUseID=t.uuid(),
        hookEvent="SessionStart",
        content=note,
        stdout=note,
        stderr="",
        exitCode=0,
        command="cat .claude/today.md",
        durationMs=41,
    )
    t.listings()
    memory = t.text.prose(800 if t.setup.prefix["memory"] < 2000 else 5200)
    path = f"{t.setup.cwd}/docs/CLAUDE.md"
    t.attach(
        "nested_memory",
        memory,
        path=path,
        content={"path": path, "type": "Project", "content": memory},
        displayPath="docs/CLAUDE.md",
    )


def closing(w: Worker) -> None:
    """State lines at the end of a file."""
    t = w.t
    if t.setup.new_style:
        t.state("ai-title", aiTitle=t.text.fill("{verb} {noun} of {adj} {noun2}").capitalize())
        t.state("last-prompt", lastPrompt=t.text.prompt()[:200], leafUuid=t.parent)


def damage(lines: list[bytes]) -> list[bytes]:
    """NUL padding before one assistant record, and a last line cut in the middle."""
    out = [line + b"\n" for line in lines]
    at = max(i for i, line in enumerate(lines[:-8]) if b'"type":"assistant"' in line)
    out[at] = b"\x00" * 96 + out[at]
    last = max(i for i, line in enumerate(lines) if b'"type":"tool_result"' in line or b'"turn_duration"' in line)
    return [*out[:last], out[last][: len(out[last]) * 2 // 3]]


def kilo(n: int) -> str:
    """A token count as /context prints it."""
    return str(n) if n < 1000 else f"{n / 1000:.1f}".removesuffix(".0") + "k"


def context_report(t: Thread) -> str:
    """The /context output of this moment; its rows add up to the thread's true context."""
    window = 967_000
    skills, agents = t.attached["skill_listing"], t.attached["agent_listing_delta"]
    memory = t.setup.prefix["memory"] + t.attached["nested_memory"]
    p = t.setup.prefix
    messages = t.ctx - p["system_prompt"] - p["system_tools"] - p["mcp_tools"] - agents - memory - skills
    used = [
        ("System prompt", p["system_prompt"]),
        ("System tools", p["system_tools"]),
        ("MCP tools", p["mcp_tools"]),
        ("System tools (deferred)", 7900),
        ("Custom agents", agents),
        ("Memory files", memory),
        ("Skills", skills),
        ("Messages", messages),
    ]
    rows = [*used, ("Free space", window - t.ctx - AUTOCOMPACT_BUFFER), ("Autocompact buffer", AUTOCOMPACT_BUFFER)]
    out = [
        "## Context Usage",
        "",
        f"**Model:** {t.setup.model}  ",
        f"**Tokens:** {kilo(t.ctx)} / 967k ({t.ctx * 100 // window}%)",
        "",
        "### Estimated usage by category",
        "",
        "| Category | Tokens | Percentage |",
        "|----------|--------|------------|",
    ]
    out += [f"| {name} | {kilo(n)} | {n * 100 / window:.1f}% |" for name, n in rows]
    part = p["mcp_tools"] // (len(MCP_LOADED) * len(t.setup.mcp))
    out += ["", "### MCP Tools", "", "| Tool | Server | Tokens |", "|------|--------|--------|"]
    out += [f"| mcp__{server}__{tool} | {server} | {kilo(part)} |" for server in t.setup.mcp for tool in MCP_LOADED]
    out += [
        "",
        "### Custom Agents",
        "",
        "| Agent Type | Source | Tokens |",
        "|------------|--------|--------|",
        f"| {t.setup.project}-reviewer | Project | {kilo(agents)} |",
    ]
    out += [
        "",
        "### Memory Files",
        "",
        "| Type | Path | Tokens |",
        "|------|------|--------|",
        f"| Project | CLAUDE.md | {kilo(p['memory'])} |",
        f"| Project | docs/CLAUDE.md | {kilo(t.attached['nested_memory'])} |",
    ]
    out += ["", "### Skills", "", "| Skill | Source | Tokens |", "|-------|--------|--------|"]
    out += [f"| {name} | Project | ~{skills // len(SKILLS)} |" for name in SKILLS]
    return "\n".join(out)
