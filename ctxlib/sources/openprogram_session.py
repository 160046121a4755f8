"""A session folder of OpenProgram, or the ledger of its calls, `usage.db` (formats.md, section 8).

A session is a folder (`meta.json`, `history/NNNN-{u|l|c}-<id>.json`), read whole. The tokens on an answer are sums over
its turn (usage_scope `turn`); single calls stand in `usage.db` beside the sessions and are put between the nodes by their
time, so that curve, blocks and compactions lie in one thread. The ledger as a log of its own gives the calls of sessions
whose folder is not beside it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from ctxlib.sources import openprogram_context, openprogram_ledger, openprogram_nodes
from ctxlib.sources.base import Extract, Rows
from ctxlib.sources.entries import block, characters, code, label, line, number, text, usage
from ctxlib.sources.openprogram import LEDGER, META
from ctxlib.sources.openprogram_ledger import Call
from ctxlib.sources.openprogram_nodes import Node, Session
from ctxlib.tables import NO_TIME, NULL, BlockKind, Category, LineKind, MarkKind, UsageScope, ident

_TURNS = "turns"  # the agent under which sums stand where the calls themselves are known


def read_file(path: str) -> Extract:
    """The rows of a session or of the ledger. Raises OSError where it cannot be read."""
    rows = Rows()
    size = os.stat(path).st_size
    if os.path.basename(path) == LEDGER:
        calls = openprogram_ledger.read(path)
        if calls is None:
            rows.note(0, "no_usage_events")
        _ledger(rows, calls or [], Path(path).parent / "sessions")
        return rows.extract(lines=len(calls or []), end=size, open_tail=False)
    session = _session(rows, Path(path))
    ledger = session.folder.parent.parent / LEDGER
    calls = openprogram_ledger.read(str(ledger), session.id) if ledger.is_file() else []
    _write(rows, session, calls or [])
    return rows.extract(lines=len(session.nodes), end=size, open_tail=False)


def _session(rows: Rows, path: Path) -> Session:
    meta = _decoded(rows, 0, path.read_bytes())
    nodes = []
    for no, file in enumerate(sorted((path.parent / "history").glob("*.json")), 1):
        try:
            found = _decoded(rows, no, file.read_bytes())
        except OSError:
            rows.note(no, "unreadable_node")
            continue
        if text(found.get("id")):
            nodes.append(openprogram_nodes.node(no, found))
    nodes.sort(key=lambda node: (node.seq, node.no))
    return Session(path.parent, label(text(meta.get("id"))) or path.parent.name, meta, nodes)


def _decoded(rows: Rows, no: int, data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        rows.note(no, "no_json")
        return {}
    return found if isinstance(found, dict) else {}


def _write(rows: Rows, session: Session, calls: list[Call]) -> None:
    """All lines of a session in the order in which things entered the context."""
    main = [call for call in calls if call.kind == "chat"]
    context = openprogram_context.context(session, main)
    writer = _Writer(rows, session, bool(main), context.prompt)
    for _, _, item in sorted(_timeline(session, main), key=lambda entry: entry[:2]):
        writer.node(item) if isinstance(item, Node) else writer.call(item)
    for call in calls:
        if call.kind != "chat":
            _call(rows, call, session.id)
    openprogram_context.write(rows, writer.facts(), context)


def _timeline(session: Session, calls: list[Call]) -> list[tuple[int, int, Node | Call]]:
    """(time, place, node or call). Nodes keep their order by seq; an answer stands after the last call of its turn, and
    a summary, which bears the time of what it covers, where it was appended."""
    out: list[tuple[int, int, Node | Call]] = [(call.ts, -1, call) for call in calls]
    prompts = [node.ts for node in session.nodes if node.role == "user" and not node.caller]
    at = NO_TIME
    for place, node in enumerate(session.nodes):
        at = at if node.covers else max(at, node.ts)
        ends = min((ts for ts in prompts if ts > at), default=2**62)
        answer = node.spoken and node.role == "llm"
        last = max((call.ts for call in calls if call.ts < ends), default=at) if answer else at
        out.append((max(at, last), place, node))
    return out


class _Writer:
    """Writes a session's lines; knows the line before, which is the parent of a call's."""

    def __init__(self, rows: Rows, session: Session, with_calls: bool, prompt: Node | None) -> None:
        self.rows, self.session, self.with_calls, self.prompt = rows, session, with_calls, prompt
        self.before = ""
        self.talk = {node.id for node in session.nodes if node.spoken}
        self.coded = {text(node.metadata.get("tool_call_id")) or node.id for node in session.nodes if node.tool}

    def facts(self) -> int:
        return self._line(LineKind.OTHER, self.session.changed, "", "")

    def call(self, call: Call) -> None:
        row = self._line(LineKind.ASSISTANT, call.ts, call.id, self.before)
        usage(self.rows, row, call.id, call.counts, model=call.model, scope=UsageScope.CALL, measured=call.measured)
        self.before = call.id

    def node(self, node: Node) -> None:
        if node.covers:
            self._summary(node)
        elif node.spoken:
            self._spoken(node)
        elif node.tool:
            own = node.caller in self.talk
            row = self._line(LineKind.RESULT, node.ts, node.id, self.before, "" if own else node.caller)
            self._tool(row, node.name, node.input, node.output, text(node.metadata.get("tool_call_id")) or node.id)
            self.before = node.id if own else self.before
        elif node is self.prompt:
            self._prompt(self._line(LineKind.OTHER, node.ts, node.id, self.before))
        elif node.role in ("user", "llm"):  # another agent's, which does not advance this one's head
            row = self._line(LineKind.OTHER, node.ts, node.id, node.predecessor, node.caller)
            kind = BlockKind.USER_TEXT if node.role == "user" else BlockKind.ASSISTANT_TEXT
            block(self.rows, row, kind, characters(node.output))

    def _line(self, kind: LineKind, ts: int, id: str, parent: str, agent: str = "") -> int:
        return line(
            self.rows,
            len(self.rows.lines) + 1,
            kind,
            session=self.session.id,
            agent=label(agent),
            ts=ts,
            id=id,
            parent=parent,
            side=bool(agent),
            cwd=self.session.project,
        )

    def _spoken(self, node: Node) -> None:
        rows, asked = self.rows, node.role == "user"
        row = self._line(LineKind.PROMPT if asked else LineKind.OTHER, node.ts, node.id, node.predecessor)
        self.before = node.id
        block(rows, row, BlockKind.PREFETCH, characters(node.metadata.get("memory_prefetch")))
        block(rows, row, BlockKind.USER_TEXT if asked else BlockKind.ASSISTANT_TEXT, characters(node.output))
        items = node.metadata.get("blocks")
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue
            use = text(item.get("tool_call_id")) or text(item.get("id"))
            if item.get("type") == "thinking":
                block(rows, row, BlockKind.THINKING, characters(item.get("text")))
            elif item.get("type") in ("tool", "tool_result") and use not in self.coded:
                result = item.get("result", item.get("content"))
                self._tool(row, label(text(item.get("tool") or item.get("name"))), item.get("input"), result, use)
        spent = openprogram_nodes.turn_counts(node)
        if spent.ctx > 0 or spent.output > 0:
            at = row if not self.with_calls else self._line(LineKind.OTHER, node.ts, "", "", _TURNS)
            usage(rows, at, f"{self.session.id}/{node.id}", spent, model=node.name, scope=UsageScope.TURN)

    def _tool(self, row: int, name: str, given: Any, result: Any, use: str) -> None:
        block(self.rows, row, BlockKind.TOOL_INPUT, len(name) + characters(given), tool=name, use=use)
        block(self.rows, row, BlockKind.TOOL_RESULT, characters(result), tool=name, use=use)

    def _prompt(self, row: int) -> None:
        if self.prompt is not None:
            size = characters(self.prompt.output)
            block(self.rows, row, BlockKind.PROMPT, size, category=Category.SYSTEM_PROMPT)

    def _summary(self, node: Node) -> None:
        """A compaction: its mark, what it kept (the turns after those it covers), its summary, the prompt once more."""
        rows, metadata = self.rows, node.metadata
        kept = [other.id for other in self.session.nodes if other.spoken and other.seq < node.seq]
        kept = kept[max((i for i, id in enumerate(kept) if id in node.covers), default=-1) + 1 :]
        row = self._line(LineKind.BOUNDARY, NO_TIME, f"{node.id}/mark", "")
        sizes = (number(metadata.get("tokens_before"), NULL), number(metadata.get("tokens_after"), NULL))
        ends = (ident(kept[0]), ident(kept[-1])) if kept else (0, 0)
        ts = openprogram_nodes.milliseconds(metadata.get("compacted_at"))
        rows.lines[row] = (*rows.lines[row][:1], node.ts if ts == NO_TIME else ts, *rows.lines[row][2:])
        rows.add("marks", row, MarkKind.FULL, rows.code(code(metadata.get("reason"))), *sizes, *ends)
        at = self._line(LineKind.SUMMARY, node.ts, node.id, "")
        block(rows, at, BlockKind.SUMMARY, characters(node.output))
        self._prompt(at)


def _call(rows: Rows, call: Call, session: str) -> None:
    """A call beside the conversation: a compaction's own request, a title, a function, a sub-agent."""
    agent = f"acompact-{call.kind}" if call.kind in ("compaction", "summarize") else call.kind
    row = line(rows, len(rows.lines) + 1, LineKind.ASSISTANT, session=session, agent=agent, ts=call.ts, side=True)
    usage(rows, row, call.id, call.counts, model=call.model, scope=UsageScope.CALL, measured=call.measured)


def _ledger(rows: Rows, calls: list[Call], beside: Path) -> None:
    """The calls of sessions that have no folder beside the ledger (there they are read with the session)."""
    here = {path.name for path in beside.iterdir() if (path / META).is_file()} if beside.is_dir() else set()
    for call in calls:
        if call.session in here:
            continue
        if call.kind != "chat" or call.parent:
            _call(rows, call._replace(kind=call.session if call.parent else call.kind), call.parent or call.session)
            continue
        row = line(rows, len(rows.lines) + 1, LineKind.ASSISTANT, session=call.session, ts=call.ts)
        usage(rows, row, call.id, call.counts, model=call.model, scope=UsageScope.CALL, measured=call.measured)
