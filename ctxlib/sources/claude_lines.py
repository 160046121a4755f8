"""How one line of a Claude Code log decodes: typed where it is well-formed, piece by piece where it is not.

Typed decoding is several times faster than json.loads and skips what nobody asked for; but real lines have odd shapes
(null where a list belongs, a number as text, lone surrogates, two records glued together), and one odd field must not
lose a call. So a line that the typed decoder refuses is read untyped and every field that fits is kept.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

_T = TypeVar("_T", bound=Struct)
NO_RAW = Raw(b"")


class CacheCreation(Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class Iteration(Struct, gc=False):
    type: str | None = None
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class OutputDetails(Struct, gc=False):
    thinking_tokens: int | None = None


class Usage(Struct, gc=False):
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    iterations: list[Iteration] | None = None
    output_tokens_details: OutputDetails | None = None
    speed: str | None = None


class ImageData(Struct, gc=False):
    data: str | None = None


class Block(Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    id: str | None = None
    name: str | None = None
    tool_name: str | None = None
    input: Raw = NO_RAW
    tool_use_id: str | None = None
    content: str | list[Block] | None = None
    is_error: bool | None = None
    source: ImageData | None = None


class CacheMiss(Struct, gc=False):
    type: str | None = None
    cache_missed_input_tokens: int | None = None


class Diagnostics(Struct, gc=False):
    cache_miss_reason: CacheMiss | None = None


class Message(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    diagnostics: Diagnostics | None = None


class Segment(Struct, gc=False):
    headUuid: str | None = None
    tailUuid: str | None = None


class Compaction(Struct, gc=False):
    """compactMetadata and microcompactMetadata; camelCase in logs, snake_case in stream output."""

    trigger: str | None = None
    preTokens: int | None = None
    pre_tokens: int | None = None
    postTokens: int | None = None
    post_tokens: int | None = None
    preservedSegment: Segment | None = None
    compactedToolIds: list[str] | None = None
    compacted_tool_ids: list[str] | None = None


class ToolOutcome(Struct, gc=False):
    """toolUseResult: a copy of the result, 34 % of all bytes, never sent. Only what nothing else says is read."""

    resolvedModel: str | None = None


class Line(Struct, gc=False):
    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    isSidechain: bool | None = None
    agentId: str | None = None
    cwd: str | None = None
    version: str | None = None
    requestId: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    message: Message | None = None
    content: str | None = None
    attachment: Raw = NO_RAW
    toolUseResult: ToolOutcome | str | list[Raw] | None = None
    compactMetadata: Compaction | None = None
    compact_metadata: Compaction | None = None
    microcompactMetadata: Compaction | None = None
    microcompact_metadata: Compaction | None = None


class ToolInput(Struct, gc=False):
    """What re-reads need of a tool's arguments (X-reread)."""

    file_path: str | None = None
    notebook_path: str | None = None
    offset: int | str | float | None = None
    limit: int | str | float | None = None
    pages: str | None = None
    command: str | None = None


_LINE = msgspec.json.Decoder(Line)
_INPUT = msgspec.json.Decoder(ToolInput)
_RAW_DECODER = json.JSONDecoder()


typed = _LINE.decode
"""One well-formed record; raises msgspec's errors or UnicodeDecodeError for anything else."""


def decode(line: bytes) -> list[Line]:
    """The records of a line (two may be glued together); [] for JSON that is no object.

    Raises ValueError where the line is no JSON, or not to its end.
    """
    try:
        return [typed(line)]
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return [fit(Line, record) for record in _untyped(line) if isinstance(record, dict)]


def decode_input(raw: Raw) -> ToolInput:
    """The arguments of a tool; none of them where they cannot be read."""
    if not raw:
        return ToolInput()
    try:
        return _INPUT.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return fit(ToolInput, decode_any(raw))


def decode_any(raw: Raw) -> dict[str, Any]:
    """An attachment, untyped: its shapes are many and rare. {} for what is no object, or nested beyond reading."""
    try:
        value = _untyped(bytes(raw))[0] if raw else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


def _untyped(data: bytes) -> list[Any]:
    """All JSON values of `data`, one after the other; bad UTF-8 and lone surrogates become U+FFFD."""
    text = data.decode("utf-8", "replace").strip()
    values, at = [], 0
    while at < len(text):
        value, at = _RAW_DECODER.raw_decode(text, at)
        values.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return [_encodable(value) for value in values]


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value


def fit(kind: type[_T], record: dict[str, Any]) -> _T:
    """A `kind` from what of `record` fits it; what does not fit stays at its default."""
    out = kind()
    for field in msgspec.structs.fields(kind):
        if field.name not in record:
            continue
        value = record[field.name]
        if field.type is Raw:
            setattr(out, field.name, Raw(msgspec.json.encode(value)))
            continue
        try:
            setattr(out, field.name, msgspec.convert(value, field.type, strict=False))
        except (msgspec.MsgspecError, ValueError, OverflowError):
            _fit_inner(out, field.name, field.type, value)
    return out


def _fit_inner(out: Struct, name: str, annotation: Any, value: Any) -> None:
    """Sets a nested record, or a list of records, to what of it fits its kind."""
    members = get_args(annotation) or (annotation,)
    for member in members:
        if isinstance(value, dict) and isinstance(member, type) and issubclass(member, Struct):
            setattr(out, name, fit(member, value))
        elif isinstance(value, list) and get_origin(member) is list:
            (inner,) = get_args(member)
            if isinstance(inner, type) and issubclass(inner, Struct):
                setattr(out, name, [fit(inner, item) for item in value if isinstance(item, dict)])
