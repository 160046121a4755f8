"""Fabro's event stream, five generations of it (formats.md, section 7): messages, snapshots, compactions."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from ctxlib.sources.base import Rows
from ctxlib.sources.claude_code import instant
from ctxlib.sources.entries import block, characters, code, held, label, line, number, text, told, usage
from ctxlib.sources.fabro_window import counts, model_of, snapshot, warned
from ctxlib.tables import NULL, BlockKind, LineKind, MarkKind, UsageScope

# Families of events that say nothing of a context: passed over without a note.
_SILENT = re.compile(
    r"(?:agents|artifact|checkpoint|cli|command|devcontainer|edge|git|hook|interview|mcp|metadata|parallel|pull_request"
    r"|retro|runs?|sandbox|setup|skill|snapshot|stage|todo|watchdog|workflow"
    r"|agent\.(?:acp|cli|error|input|interrupt|llm|loop|mcp|memory|output|pair|processing|reasoning|session|skills?|steer"
    r"|steering|sub|text|tools?|turn|warning))\b"
)
_VARIANTS = {  # generation 4: the agent's own event inside the run's
    "AssistantMessage": "agent.message",
    "CompactionStarted": "agent.compaction.started",
    "CompactionCompleted": "agent.compaction.completed",
    "CompactionFailed": "agent.compaction.failed",
}


class Event(NamedTuple):
    no: int
    seq: int
    id: str
    ts: int
    run: str
    stage: str
    child: str  # session id of a sub-agent, "" for the stage's own agent
    name: str
    body: dict[str, Any]


def read(rows: Rows, data: bytes) -> int:
    """Adds the rows of all events; the number of lines. Broken lines and unknown events are noted, never fatal."""
    state = _State(rows)
    no = 0
    for no, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            record = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            rows.note(no, "half_written" if raw[:1] == b"{" and raw.rstrip()[-1:] != b"}" else "no_json")
            continue
        event = _event(no, record) if isinstance(record, dict) else None
        if event is None:
            rows.note(no, "unknown_event")
        elif not state.again(record):
            state.take(event)
    return no - (1 if data.endswith(b"\n") else 0)


def _event(no: int, record: dict[str, Any]) -> Event | None:
    """One shape of the five generations'; None for what is no event of a run."""
    item = held(record, "item")
    inner = held(item, "record") or held(item, "derived") or record
    body = held(inner, "body") or inner
    name = code(body.get("event")) or code(held(item, "derived").get("event"))
    properties = held(body, "properties") or (held(inner, "properties") if item else {})
    variant = properties.get("event")
    if isinstance(variant, dict) and variant:
        kind, inside = next(iter(variant.items()))
        name = name or _VARIANTS.get(kind, f"agent.{label(kind)}")
        properties = {**properties, **(inside if isinstance(inside, dict) else {})}

    def first(*keys: str) -> str:
        return next((text(part[key]) for part in (inner, record) for key in keys if text(part.get(key))), "")

    run = label(first("run_id"))
    if not run or not name:
        return None
    node, visit = first("node_id"), number(properties.get("visit"), 1)
    stage = first("stage_id") or text(properties.get("stage_id")) or (f"{node}@{visit}" if node else "")
    parent = first("parent_session_id") or text(properties.get("parent_session_id"))
    child = label(first("session_id") or text(properties.get("session_id"))) if parent else ""
    ts = instant(first("ts", "recorded_at") or text(properties.get("timestamp")))
    seq = number(record.get("seq"), number(record.get("stream_seq"), NULL))
    return Event(no, seq, first("id"), ts, run, label(stage), child, name, properties)


class _State:
    """What one event means depends on those before it: what was seen, what is being compacted."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.seen: set[tuple[str, int]] = set()
        self.runs: set[str] = set()
        self.stages: set[tuple[str, str]] = set()
        self.compacting: dict[tuple[str, str, str], int] = {}
        self.carried: set[tuple[str, str, str]] = set()  # agents whose messages bring snapshots

    def again(self, record: dict[str, Any]) -> bool:
        """True for an event that its agent's stream has brought before: (stream_id, seq), generation 4."""
        properties = held(record, "properties") or held(record, "item", "record", "body", "properties")
        stream, seq = text(properties.get("stream_id")), number(properties.get("seq"), NULL)
        key = (stream, seq)
        known = bool(stream) and seq != NULL and key in self.seen
        self.seen.add(key)
        return known

    def take(self, event: Event) -> None:
        if event.run not in self.runs:
            self.runs.add(event.run)
            told(self.rows, line(self.rows, event.no, LineKind.OTHER, session=event.run, ts=event.ts), "run", event.run)
        match event.name:
            case "agent.message":
                self._message(event)
            case "agent.context_window.snapshot":
                snapshot(self.rows, self._line(event, LineKind.OTHER), event.body, event.seq)
            case "agent.warning" if event.body.get("kind") == "context_window":
                warned(self.rows, self._line(event, LineKind.OTHER), held(event.body, "details"), event.seq)
            case "agent.compaction.started":
                self.compacting[_agent(event)] = number(event.body.get("estimated_tokens"), NULL)
            case "agent.compaction.completed":
                self._compacted(event)
            case "agent.compaction.failed" | "agent.compaction.cancelled":
                self.compacting.pop(_agent(event), None)
            case "agent.tool.started" | "agent.tool.completed":
                self._tool(event)
            case "stage.prompt":
                row = self._line(event, LineKind.PROMPT)
                block(self.rows, row, BlockKind.USER_TEXT, characters(event.body.get("text")))
            case name if name.startswith("stage.") and event.stage:
                self._stage(event, name.removeprefix("stage."))
            case name if not _SILENT.match(name):
                self.rows.note(event.no, "unknown_event")

    def _line(self, event: Event, kind: LineKind) -> int:
        own = f"{event.stage}/{event.child}" if event.child else event.stage
        row = line(
            self.rows,
            event.no,
            kind,
            session=f"{event.run}/{event.stage}",
            agent=own,
            ts=event.ts,
            id=event.id,
            side=bool(event.child),
        )
        if (event.run, event.stage) not in self.stages:
            self.stages.add((event.run, event.stage))
            told(self.rows, row, "stage", "agent" if event.name.startswith("agent.") else "")
        return row

    def _stage(self, event: Event, what: str) -> None:
        row = self._line(event, LineKind.OTHER)
        if code(event.body.get("handler")):
            told(self.rows, row, "stage", code(event.body.get("handler")))
        states = {"started": "running", "completed": code(event.body.get("outcome"), "succeeded")}
        told(self.rows, row, "state", states.get(what, code(what)))

    def _message(self, event: Event) -> None:
        """One request and its answer, and from generation 3 on the context it was sent with."""
        rows, agent = self.rows, _agent(event)
        if self.compacting.pop(agent, None) is not None:
            rows.note(event.no, "compaction_unfinished")  # it failed: the context is what it was
        row = self._line(event, LineKind.ASSISTANT)
        tokens = counts(held(event.body, "billing") or held(event.body, "usage"))
        usage(
            rows,
            row,
            event.id or f"{event.run}/{event.stage}/{event.seq}",
            tokens,
            model=model_of(event.body),
            scope=UsageScope.CALL,
        )
        block(rows, row, BlockKind.ASSISTANT_TEXT, characters(event.body.get("text")))
        window = event.body.get("context_window")
        if isinstance(window, dict) and snapshot(rows, row, window, event.seq):
            self.carried.add(agent)
        elif agent in self.carried:
            told(rows, row, "missing")

    def _compacted(self, event: Event) -> None:
        """A mark; what it left is the next message's context. Its own request is a call of a thread of its own."""
        rows = self.rows
        row = self._line(event, LineKind.BOUNDARY)
        before = self.compacting.pop(_agent(event), NULL)
        rows.add("marks", row, MarkKind.FULL, rows.code(code(event.body.get("reason"))), before, NULL, 0, 0)
        spent = counts(held(event.body, "usage"))
        if spent.ctx > 0:
            session, name = f"{event.run}/{event.stage}", f"acompact-{event.stage}"
            at = line(rows, event.no, LineKind.ASSISTANT, session=session, agent=name, ts=event.ts, side=True)
            usage(rows, at, f"{event.id}/compaction", spent, model=model_of(event.body), scope=UsageScope.CALL)

    def _tool(self, event: Event) -> None:
        rows, body = self.rows, event.body
        started = event.name.endswith("started")
        tool = label(text(body.get("tool_name")) or text(body.get("name")))
        kind, given = (BlockKind.TOOL_INPUT, "arguments") if started else (BlockKind.TOOL_RESULT, "output")
        row = self._line(event, LineKind.OTHER if started else LineKind.RESULT)
        size = characters(body.get(given)) + (len(tool) if started else 0)
        failed = body.get("is_error") is True
        block(rows, row, kind, size, tool=tool, use=text(body.get("tool_call_id")), is_error=failed)


def _agent(event: Event) -> tuple[str, str, str]:
    return event.run, event.stage, event.child
