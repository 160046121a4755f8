"""How a snapshot shows itself: as text in a terminal, as a small table with bars in Lab. Everything is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxlib.accounting.contract import Part, Snapshot

LABELS = {
    "system_prompt": "System prompt",
    "skills": "Skills",
    "memory": "Memory files",
    "agents": "Custom agents",
    "tools": "System tools",
    "mcp_tools": "MCP tools",
    "deferred": "Deferred tools",
    "messages": "Messages",
    "controls": "Controls",
    "other": "Other (estimated)",
}


def short(tokens: int) -> str:
    """900, 12.3k, 1.2M."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k" if tokens < 999_950 else f"{tokens / 1e6:.1f}M"


def headline(snap: Snapshot) -> str:
    """One sentence: the session, the call, how full."""
    where = f"turn {snap.turn}" if snap.turn else "now"
    full = f"{short(snap.total)} tokens ({snap.basis})"
    if snap.window:
        full += f", {snap.percent:.1f} % of {short(snap.window)} ({snap.window_source})"
    agent = "" if snap.thread == "main" else f" agent {snap.thread}"
    return f"{snap.session}{agent}, {where}, {snap.model}: {full}"


def ordered(snap: Snapshot) -> list[Part]:
    """Largest first, other last, empty ones left out."""
    held = [part for part in snap.parts if part.shown]
    return sorted(held, key=lambda part: (part.category == "other", -part.shown))


def text(snap: Snapshot, width: int = 24) -> str:
    lines = [headline(snap), ""]
    for part in ordered(snap):
        share = part.shown / snap.total if snap.total else 0.0
        bar = "#" * max(1, round(width * share))
        lines.append(
            f"  {LABELS[part.category]:<18} {short(part.shown):>8} {share:>6.1%}  {bar:<{width}} {part.method}"
        )
    if snap.free is not None:
        lines.append(f"  {'Free':<18} {short(snap.free):>8}")
    if snap.injected:
        lines.append(f"  of other, {short(snap.injected)} arrived with no block in the log (schemas, reminders, hooks)")
    for of, title in (("tool", "By tool"), ("file", "By file")):
        rows = [detail for detail in snap.details if detail.of == of][:5]
        if rows:
            lines += ["", f"  {title}"]
            lines += [f"    {short(row.tokens):>8}  {printable(row.label)}" for row in rows]
    lines += [f"  note: {warning.message}" for warning in snap.warnings]
    return "\n".join(lines)


def printable(label: str) -> str:
    """A name from a log without control characters: a terminal obeys them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in label)


def html(snap: Snapshot) -> str:
    rows = []
    for part in ordered(snap):
        share = 100 * part.shown / snap.total if snap.total else 0.0
        bar = f'<div style="background:currentColor;opacity:.45;height:.7em;width:{share:.1f}%"></div>'
        rows.append(
            f"<tr><td>{escape(LABELS[part.category])}</td><td style='text-align:right'>{part.shown:,}</td>"
            f"<td style='text-align:right'>{share:.1f}&nbsp;%</td><td style='min-width:12em'>{bar}</td>"
            f"<td>{escape(part.method)}</td></tr>"
        )
    free = "" if snap.free is None else f"<p>Free: {snap.free:,} tokens</p>"
    head = "<tr><th>category</th><th>tokens</th><th>share</th><th></th><th>how known</th></tr>"
    return f"<div><p><b>{escape(headline(snap))}</b></p><table>{head}{''.join(rows)}</table>{free}</div>"
