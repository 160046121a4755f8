"""Claude Code: ~/.claude/projects/<folder>/<session>.jsonl and what lies below (formats.md, section 1).

Only facts of a line are read here: what a line means together with others (one call over several lines, copies in
forks, threads) is decided in logs/identity.py.
"""

from __future__ import annotations

import itertools
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from ctxlib.models import full_window, million_hint
from ctxlib.roots import claude_code as default_roots
from ctxlib.sources import claude_blocks
from ctxlib.sources import context_output as context
from ctxlib.sources.base import Lines, Rows, Source
from ctxlib.sources.claude_lines import Compaction, Line, Message, ToolOutcome, Usage, decode, typed
from ctxlib.tables import NO_TIME, NULL, LineKind, MarkKind, UsageScope

if TYPE_CHECKING:
    from ctxlib.sources.claude_scanner import Scanner

_minutes: dict[str, int] = {}  # "2026-10-01T09:30:" -> milliseconds: lines of one minute come together
_SECONDS = re.compile(r"[0-5][0-9]\.[0-9]{3}Z", re.ASCII)
_YEARS = (-62_000_000_000_000, 253_000_000_000_000)  # milliseconds: in any zone a year from 1 to 9999
_MOST = 10**15  # tokens: a count beyond is absurd, and no count
_RECORD = re.compile(rb'\{"(?:parentUuid|type|uuid|sessionId|timestamp|isSidechain|cwd)":')
_GLUED = b'}{"'  # quotes cannot stand so inside a string


def is_log(path: str) -> bool:
    """Transcripts only: the desktop app's signed copy and a workflow's journal repeat calls (R-claude-dedup)."""
    return path.endswith(".jsonl") and path.replace("\\", "/").rsplit("/", 1)[-1] not in (
        "audit.jsonl",
        "journal.jsonl",
    )


def read_line(rows: Rows, no: int, line: bytes) -> None:
    """Adds the rows of one line. Never raises: what cannot be read is counted and noted with its line number.

    Every line is decoded whole. Passing over progress lines, state lines and copies of results on their first bytes was
    tried: finding them takes as long as msgspec takes to skip them (0.50 against 0.54 s of 300 MB).
    """
    try:
        _record(rows, no, typed(line))
        return
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    text = line.strip(b" \t\r\n\0\xef\xbb\xbf")
    if not text:
        if b"\0" in line:
            rows.note(no, "nul_line")
        return
    for part in filter(None, map(bytes.strip, text.split(b"\0"))):  # padding after a crash may stand between records
        try:
            records = decode(part)
        except (ValueError, RecursionError):
            rows.note(no, "half_written" if part[:1] == b"{" and part[-1:] != b"}" else "no_json")
            records = _whole_of_broken(part)
        if len(records) > 1:
            rows.note(no, "glued_records")
        for record in records:
            _record(rows, no, record)


def _whole_of_broken(text: bytes) -> list[Line]:
    """The whole record beside a broken one on the same line: before a half-written second, or after a half-written first."""
    at = text.find(_GLUED)
    pieces = [text[: at + 1]] if at >= 0 else []
    pieces += [text[found.start() :] for found in itertools.islice(_RECORD.finditer(text, 1), 40)]
    for piece in pieces:
        try:
            return [typed(piece)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return []


def _record(rows: Rows, no: int, line: Line) -> None:
    if line.type not in ("user", "assistant", "system", "attachment"):
        return
    if not line.uuid and not line.sessionId:
        return  # no transcript row: another program's copy
    row = len(rows.lines)
    if line.type == "assistant":
        kind = _assistant(rows, row, line)
    elif line.type == "user":
        kind = _user(rows, row, line)
    elif line.type == "attachment":
        kind = LineKind.ATTACHMENT
        claude_blocks.attachment(rows, row, line.attachment)
    else:
        kind = _system(rows, row, line)
    where = rows.place(line.agentId, line.sessionId, line.cwd, line.version)
    uuid, parent = rows.ident(line.uuid), rows.ident(line.parentUuid)
    rows.lines.append((no, instant(line.timestamp), uuid, parent, int(kind), bool(line.isSidechain), *where))


def _assistant(rows: Rows, row: int, line: Line) -> LineKind:
    message = line.message or Message()
    usage = message.usage or Usage()
    if rows.last_usage[0] != usage:  # a response repeats it on each of its lines
        rows.last_usage = (usage, read_usage(usage))
    counts = rows.last_usage[1]
    made_up = message.model == "<synthetic>" or (line.isApiErrorMessage and counts[-1] == NULL)
    if made_up:
        return LineKind.OTHER
    miss = message.diagnostics.cache_miss_reason if message.diagnostics else None
    known = (
        row,
        rows.ident(line.requestId),
        rows.ident(message.id),
        rows.code(message.model),
        *counts,
        message.stop_reason is not None,
        usage.speed == "fast",
        rows.code(miss.type if miss else None),
        _first(miss.cache_missed_input_tokens) if miss else NULL,
        UsageScope.CALL,
    )
    rows.usage.append(known)
    rows.call_ids.append((line.requestId or message.id or line.uuid or "")[:128])
    claude_blocks.message(rows, row, message.content, by_user=False, summary=False)
    return LineKind.ASSISTANT


def _user(rows: Rows, row: int, line: Line) -> LineKind:
    result = line.toolUseResult
    if isinstance(result, ToolOutcome) and result.resolvedModel and million_hint(result.resolvedModel):
        rows.add("evidence", row, rows.code("hint_1m"), rows.code(result.resolvedModel, 200), 1_000_000)
    content = line.message.content if line.message else None
    summary = bool(line.isCompactSummary)
    results = claude_blocks.message(rows, row, content, by_user=True, summary=summary)
    if isinstance(content, str) and "<local-command-stdout>" in content:
        _command_output(rows, row, content)
    if summary:
        rows.add("marks", row, MarkKind.INFERRED, 0, NULL, NULL, 0, 0)
        return LineKind.SUMMARY
    if results:
        return LineKind.RESULT
    return LineKind.META if line.isMeta else LineKind.PROMPT


def _system(rows: Rows, row: int, line: Line) -> LineKind:
    if line.subtype == "compact_boundary":
        _mark(rows, row, MarkKind.FULL, line.compactMetadata or line.compact_metadata or Compaction())
        return LineKind.BOUNDARY
    if line.subtype == "microcompact_boundary":
        meta = line.microcompactMetadata or line.microcompact_metadata or Compaction()
        _mark(rows, row, MarkKind.MICRO, meta)
        for use in meta.compactedToolIds or meta.compacted_tool_ids or ():
            rows.add("cleared", row, rows.ident(use))
        return LineKind.MICRO
    if line.subtype == "local_command" and line.content:
        _command_output(rows, row, line.content)
    return LineKind.OTHER


def _mark(rows: Rows, row: int, kind: MarkKind, meta: Compaction) -> None:
    kept = meta.preservedSegment
    rows.add(
        "marks",
        row,
        kind,
        rows.code(meta.trigger),
        _first(meta.preTokens, meta.pre_tokens),
        _first(meta.postTokens, meta.post_tokens),
        rows.ident(kept.headUuid if kept else None),
        rows.ident(kept.tailUuid if kept else None),
    )


def _command_output(rows: Rows, row: int, content: str) -> None:
    """Ground truth that a log holds: a /context output, and the window that `/model` or it names (formats.md, 1.9)."""
    if not context.looks_like(content):
        return
    found = context.parse(content)
    if found is None:
        return
    if found.model and found.window:
        window = full_window(found.window, found.buffer)
        rows.add("evidence", row, rows.code("context_output"), rows.code(found.model), window)
    for category, name, tokens, kind in found.rows:
        number = claude_blocks.CATEGORIES.get(category, 0)
        # A row of no category that /context has may be somebody's text: it counts, its words stay out.
        known = name if category not in ("", "other") else ""
        rows.add("counted", row, number, rows.code(known, 80), rows.code(kind), tokens)
    rows.add("counted", row, 0, 0, rows.code("total"), found.used)


def read_usage(usage: Usage) -> tuple[int, ...]:
    """input, cache_read, cache_write, its 5m and 1h parts, the part no split covers, output, reasoning... and ctx.

    All in tokens. X-ctx: the input side; the last iteration of type message or fallback_message where there are
    several (the top level is then a sum over a server-side loop). NULL ctx: nothing measured. X-cache: a split larger
    than the flat figure wins, what it does not cover counts as 5m. Negative counts (some gateways' "none") are 0.
    """
    fresh, read = _count(usage.input_tokens), _count(usage.cache_read_input_tokens)
    split = usage.cache_creation
    short = _count(split.ephemeral_5m_input_tokens) if split else 0
    long = _count(split.ephemeral_1h_input_tokens) if split else 0
    flat = _count(usage.cache_creation_input_tokens)
    written = max(flat, short + long)
    ctx = fresh + read + written
    if usage.iterations and len(usage.iterations) > 1:
        for step in reversed(usage.iterations):
            if step.type in ("message", "fallback_message"):
                held = step.cache_creation
                halves = (held.ephemeral_5m_input_tokens, held.ephemeral_1h_input_tokens) if held else ()
                wrote = max(_count(step.cache_creation_input_tokens), sum(map(_count, halves)))
                ctx = _count(step.input_tokens) + _count(step.cache_read_input_tokens) + wrote or ctx
                break
    details = usage.output_tokens_details
    reasoning = _first(details.thinking_tokens) if details else NULL
    output = _count(usage.output_tokens)
    return (fresh, read, written, written - long, long, written - short - long, output, reasoning, ctx or NULL)


def instant(text: str | None) -> int:
    """Milliseconds since the epoch of an ISO time with any offset (none: UTC); NO_TIME for what is none (R-window)."""
    if not text:
        return NO_TIME
    minute = _minutes.get(text[:17])
    if minute is not None and _SECONDS.fullmatch(text, 17):
        return minute + 1000 * int(text[17:19]) + int(text[20:23])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return NO_TIME
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    at = round(moment.timestamp() * 1000)
    if not _YEARS[0] < at < _YEARS[1]:
        return NO_TIME
    if _SECONDS.fullmatch(text, 17):  # as all 210,270 times of real logs are written
        if len(_minutes) > 50_000:
            _minutes.clear()
        _minutes[text[:17]] = at - at % 60_000
    return at


def _count(value: Any) -> int:
    return value if value and 0 < value < _MOST else 0


def _first(*values: int | None) -> int:
    return next((value for value in values if value is not None and 0 <= value < _MOST), NULL)


def _built() -> type[Scanner] | None:
    """The compiled reader, if there was a compiler, and if it was made for these tables."""
    try:
        from ctxlib.sources import claude_scanner
    except (ImportError, AttributeError):  # not built; built when what it asks for had other names
        return None
    return claude_scanner.Scanner if claude_scanner.fits() else None


SCANNER = _built()


def compiled(rows: Rows) -> Lines | None:
    """What reads the lines of a file in compiled code; None where that is not built, or CTXLIB_PURE says not to."""
    return None if SCANNER is None or os.environ.get("CTXLIB_PURE") else SCANNER(rows, read_line)


SOURCE = Source("claude_code", default_roots, is_log, read_line, compiled=compiled)
