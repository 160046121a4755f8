"""OpenProgram's history: the nodes of a session, and the branch that ends at its head (formats.md, section 8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ctxlib.sources.entries import Counts, held, label, number, text
from ctxlib.tables import NO_TIME

SUMMARY = "context/summary"


class Node(NamedTuple):
    """A node of the history, with its text: it lives no longer than the reading of its session."""

    no: int
    id: str
    seq: int
    ts: int
    role: str  # user, llm, code
    name: str
    caller: str
    predecessor: str
    input: Any
    output: Any
    metadata: dict[str, Any]
    covers: frozenset[str]  # of a summary: the nodes that it stands for

    @property
    def spoken(self) -> bool:
        """A turn of the conversation itself: not a sub-agent's, no bookkeeping."""
        return self.role in ("user", "llm") and not self.caller and not self.name.startswith("context/")

    @property
    def tool(self) -> bool:
        return self.role == "code" and self.caller not in ("", "ROOT") and not self.name.startswith("context/")


class Session(NamedTuple):
    folder: Path
    id: str
    meta: dict[str, Any]
    nodes: list[Node]  # by seq

    @property
    def project(self) -> str:
        return label(text(self.meta.get("project_id")))

    @property
    def changed(self) -> int:
        return milliseconds(self.meta.get("updated_at"))

    @property
    def model(self) -> tuple[str, str]:
        """(provider, model) that the next call will use."""
        provider, found, model = text(self.meta.get("model")).partition(":")
        return (
            (label(provider), label(model)) if found else (label(text(self.meta.get("provider_name"))), label(provider))
        )


def node(no: int, found: dict[str, Any]) -> Node:
    metadata = held(found, "metadata")
    role, name = text(found.get("role")), text(found.get("name"))
    covers = metadata.get("covers_ids")
    summary = name == SUMMARY or text(found.get("id")).startswith("summary_")
    return Node(
        no,
        text(found.get("id")),
        number(found.get("seq"), no),
        milliseconds(found.get("created_at")),
        {"assistant": "llm", "tool": "code"}.get(role, role),
        label(name),
        text(found.get("caller")),
        text(found.get("predecessor")) or text(metadata.get("predecessor")),
        found.get("input"),
        found.get("output"),
        metadata,
        frozenset(map(str, covers)) if summary and isinstance(covers, list) else frozenset(),
    )


def milliseconds(seconds: Any) -> int:
    return round(seconds * 1000) if isinstance(seconds, (int, float)) and 0 < seconds < 2**40 else NO_TIME


def turn_counts(answer: Node) -> Counts:
    """Sums over the calls of an answer's turn."""
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    return Counts(*(number(answer.metadata.get(name)) for name in names))


def branch(session: Session, head: str) -> list[Node]:
    """The conversation that ends at `head`, oldest first; empty where there is no such node."""
    known = {node.id: node for node in session.nodes if not node.covers}
    out: list[Node] = []
    while head in known and len(out) <= len(known):
        out.append(known[head])
        head = known[head].predecessor
    return out[::-1]
