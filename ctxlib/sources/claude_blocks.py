"""What one line puts into the context: its blocks, sized in characters and images, never kept as text (X-size)."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import msgspec
from msgspec import Raw

from ctxlib.sources import images
from ctxlib.sources.base import Rows
from ctxlib.sources.claude_lines import Block, ToolInput, decode_any, decode_input
from ctxlib.tables import NULL, BlockKind, Category, ident

READS = ("Read",)
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
SHELLS = ("Bash", "PowerShell")
CATEGORIES = {category.name.lower(): category for category in Category}
FILE_NAME = re.compile(r"[^\s'\"`;|&<>()=:,/\\]+\.[A-Za-z0-9_]{1,12}(?![^\s'\"`;|&<>()=:,/\\])")
LONGEST_COMMAND = 20_000  # characters: what comes behind is not looked at
_MOST = 2**53  # an offset beyond is none
_MESSAGES = int(Category.MESSAGES)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")

# The attachments that carry a category of their own; all others are messages (formats.md, 1.8).
_ATTACHED = {
    "skill_listing": Category.SKILLS,
    "invoked_skills": Category.SKILLS,
    "agent_listing_delta": Category.AGENTS,
    "mcp_instructions_delta": Category.MCP_TOOLS,
    "deferred_tools_delta": Category.DEFERRED,
    "nested_memory": Category.MEMORY,
}
# Where an attachment keeps the text that is sent. stdout of a hook is not: only what the hook hands on is.
_TEXT_KEYS = (
    "content",
    "text",
    "prompt",
    "snippet",
    "addedLines",
    "addedBlocks",
    "skills",
    "banner",
    "blockingError",
    "planContent",
)
# Written for the user's eyes or the program's own use: not sent.
_NOT_SENT = ("hook_success", "hook_system_message", "command_permissions", "hook_cancelled", "hook_non_blocking_error")


def message(rows: Rows, row: int, content: Any, *, by_user: bool, summary: bool) -> bool:
    """Adds the blocks of a message; True if it holds a tool result."""
    said = BlockKind.SUMMARY if summary else BlockKind.USER_TEXT if by_user else BlockKind.ASSISTANT_TEXT
    if isinstance(content, str):
        if content:
            _text(rows, row, said, len(content))
        return False
    results = False
    for block in content if isinstance(content, list) else ():
        match block.type:
            case "text":
                _text(rows, row, said, len(block.text or ""))
            case "thinking" | "redacted_thinking":
                _text(rows, row, BlockKind.THINKING, len(block.thinking or ""), len(block.signature or ""))
            case "tool_use" | "server_tool_use":
                _tool_use(rows, row, block)
            case "tool_result":
                results = True
                _tool_result(rows, row, block)
            case "image":
                _add(rows, row, BlockKind.IMAGE, **_image(block))
            case "document":
                _add(rows, row, BlockKind.DOCUMENT, documents=1)
            case _:
                _text(rows, row, BlockKind.USER_TEXT if by_user else BlockKind.ASSISTANT_TEXT, _compact(block))
    return results


def attachment(rows: Rows, row: int, raw: Raw) -> None:
    """Adds the block of an attachment: text that Claude Code puts into the context outside of messages."""
    held = decode_any(raw)
    name = held.get("type")
    if not isinstance(name, str):
        return
    size = 0 if name in _NOT_SENT else sum(_text_size(held[key]) for key in _TEXT_KEYS if held.get(key))
    if name == "mcp_instructions_delta" and isinstance(held.get("addedNames"), list):
        for server in held["addedNames"]:
            if isinstance(server, str):
                rows.add("evidence", row, rows.code("mcp_server"), rows.code(server, 200), 0)
    path = held.get("filename") or held.get("path")
    category = _ATTACHED.get(name, Category.MESSAGES)
    images_in = held.get("prompt") if name == "queued_command" else None
    sized: dict[str, Any] = _images_of(images_in) if isinstance(images_in, list) else {}
    if size or sized or path:
        _add(
            rows,
            row,
            BlockKind.ATTACHMENT,
            category=category,
            tool=rows.code(name, 80),
            path=rows.code(normal_path(path)) if isinstance(path, str) else 0,
            chars=size,
            **sized,
        )


def normal_path(path: str) -> str:
    """One spelling a file: Windows paths with slashes unified and case folded (X-reread)."""
    return path.replace("\\", "/").casefold() if _WINDOWS.match(path) or "\\" in path else path


def file_name(path: str) -> int:
    """The hash under which a shell command is found to name this file."""
    return ident(path.rsplit("/", 1)[-1].casefold())


def whole_number(value: Any) -> int:
    """ "10" = 10, missing = NULL."""
    try:
        number = NULL if value is None else int(float(value))
    except (ValueError, OverflowError):
        return NULL
    return number if abs(number) < _MOST else NULL


def _tool_use(rows: Rows, row: int, block: Block) -> None:
    name = block.name or ""
    given = decode_input(block.input) if name in READS + EDITS + SHELLS else ToolInput()
    path = given.file_path or given.notebook_path
    offset, limit = whole_number(given.offset), whole_number(given.limit)
    if given.pages:  # of a PDF: other pages are another range
        numbers = re.findall(r"\d+", given.pages)[:2]
        offset, limit = (whole_number(numbers[0]), whole_number(numbers[-1])) if numbers else (offset, limit)
    tool, at = rows.code(name, 200), rows.code(normal_path(path)) if path else 0
    size = len(name) + characters(block.input)
    kind, use = int(BlockKind.TOOL_INPUT), rows.ident(block.id)
    rows.blocks.append((row, _MESSAGES, int(kind), tool, use, at, offset, limit, False, size, 0, 0, 0, 0, 0))
    if given.command:
        commanded(rows, row, given.command)


def commanded(rows: Rows, row: int, command: str) -> None:
    """Adds the names of files that a shell command mentions."""
    mentioned(rows, row, FILE_NAME.findall(command[:LONGEST_COMMAND]))


def mentioned(rows: Rows, row: int, found: list[str]) -> None:
    for name in sorted({name.casefold() for name in found})[:32]:
        rows.add("named", row, ident(name))


def _tool_result(rows: Rows, row: int, block: Block) -> None:
    content, use, failed = block.content, rows.ident(block.tool_use_id), bool(block.is_error)
    if isinstance(content, str) or not content:
        size = len(content or "")
        kind = BlockKind.TOOL_RESULT
        rows.blocks.append((row, _MESSAGES, int(kind), 0, use, 0, NULL, NULL, failed, size, 0, 0, 0, 0, 0))
        return
    sized: dict[str, Any] = {"chars": 0}
    for item in content:
        if item.type == "text":
            sized["chars"] += len(item.text or "")
        elif item.type == "image":
            for key, value in _image(item).items():
                sized[key] = sized.get(key, 0) + value
        elif item.type == "document":
            sized["documents"] = sized.get("documents", 0) + 1
        else:
            sized["chars"] += _compact(item)
    _add(rows, row, BlockKind.TOOL_RESULT, use=use, is_error=failed, **sized)


def _text(rows: Rows, row: int, kind: BlockKind, chars: int, hidden: int = 0) -> None:
    rows.blocks.append((row, _MESSAGES, int(kind), 0, 0, 0, NULL, NULL, False, chars, hidden, 0, 0, 0, 0))


def _image(block: Block) -> dict[str, Any]:
    data = block.source.data if block.source else None
    return _image_of(data or "")


def _image_of(data: str) -> dict[str, int]:
    size = images.size_of(data) if data else None
    if size is None:
        return {"images": 1, "unsized_images": 1}
    return {"images": 1, "image_tokens": images.tokens(*size)}


def _images_of(items: list[Any]) -> dict[str, int]:
    total: dict[str, int] = {}
    for item in items:
        source = item.get("source") if isinstance(item, dict) and item.get("type") == "image" else None
        if isinstance(source, dict):
            data = source.get("data")
            for key, value in _image_of(data if isinstance(data, str) else "").items():
                total[key] = total.get(key, 0) + value
    return total


def _text_size(value: Any) -> int:
    """Characters of the text in an attachment's value: strings, lists of lines, and the content inside a dict."""
    size, waiting = 0, [value]
    while waiting:  # a log may nest values more deeply than functions can
        item = waiting.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list):
            size += max(0, len(item) - 1)
            waiting += item
        elif isinstance(item, dict) and item.get("type") != "image":
            waiting += [item[key] for key in ("content", "text", "file", "blockingError", "prompt") if item.get(key)]
    return size


def _compact(block: Block) -> int:
    """Characters of a block that is no text, as compact JSON."""
    return characters(Raw(msgspec.json.encode({k: v for k, v in msgspec.structs.asdict(block).items() if v})))


def characters(raw: Raw | bytes) -> int:
    """Characters as compact JSON, however the log spells it."""
    text = bytes(raw)
    if b'": ' in text or b"\\u" in text:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            text = msgspec.json.encode(msgspec.json.decode(text))
    return len(text) if text.isascii() else len(text.decode("utf-8", "replace"))


def _add(
    rows: Rows,
    row: int,
    kind: BlockKind,
    *,
    category: Category = Category.MESSAGES,
    tool: int = 0,
    use: int = 0,
    path: int = 0,
    offset: int = NULL,
    limit: int = NULL,
    is_error: bool = False,
    chars: int = 0,
    hidden: int = 0,
    images: int = 0,
    image_tokens: int = 0,
    unsized_images: int = 0,
    documents: int = 0,
) -> None:
    rows.add(
        "blocks",
        row,
        category,
        kind,
        tool,
        use,
        path,
        offset,
        limit,
        is_error,
        chars,
        hidden,
        images,
        image_tokens,
        unsized_images,
        documents,
    )
