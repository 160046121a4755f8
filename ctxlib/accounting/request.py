"""The request of a call, put together again from its log: the one place where text is read (accounting.md, Privacy).

A request lives as long as it takes to have it counted. It is never stored, and shows nothing of itself when printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ctxlib.accounting.moment import residents
from ctxlib.logs import Logs
from ctxlib.sources import claude_blocks
from ctxlib.sources.entries import held
from ctxlib.tables import BlockKind, Category, ident

CLEARED = "[cleared]"  # stands for a result that was edited out
_IN_RESULTS = ("text", "image", "document")
_INNER = ("content", "text", "file", "blockingError", "prompt")
_SENT = {  # the fields of a block that the API takes back
    "text": ("text",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id", "content", "is_error"),
    "image": ("source",),
    "document": ("source",),
}


class Request:
    """Messages in the form of Anthropic's API, for any provider to be translated from."""

    __slots__ = ("categories", "messages", "model")

    def __init__(self, model: str, messages: list[dict[str, Any]], categories: tuple[str, ...]) -> None:
        self.model, self.messages = model, messages
        self.categories = categories  # what of the context the messages hold; system prompt and tools are in no log

    def __repr__(self) -> str:
        return f"<request of {len(self.messages)} messages to {self.model}>"


def rebuild(logs: Logs, call: int) -> Request | None:
    """The request of a call (a row of `logs.calls`); None where its log holds no messages that can be sent again.

    Raises OSError where the log cannot be read.
    """
    row = logs.calls[call]
    file = logs.files[logs.threads["file"][row["thread"]]]
    rows = residents(logs, call)
    if file.source != "claude_code" or not len(rows):
        return None
    blocks = logs.blocks[rows]
    asked = blocks["use"][blocks["kind"] == BlockKind.TOOL_INPUT]
    stubs = (logs.blocks["thread"] == row["thread"]) & (logs.blocks["kind"] == BlockKind.TOOL_RESULT)
    stubs &= np.isin(logs.blocks["use"], asked[asked != 0]) & (logs.blocks["pos"] < row["pos"])
    places = np.union1d(blocks["pos"], logs.blocks["pos"][stubs])
    wanted = {int(no): int(uuid) for no, uuid in zip(logs.lines["no"][places], logs.lines["uuid"][places], strict=True)}
    uses = {int(use) for use in blocks["use"][blocks["kind"] == BlockKind.TOOL_RESULT]}
    messages = _paired(_merged(_records(file.path, wanted)), uses)
    categories = tuple(c.name.lower() for c in Category if c and (blocks["category"] == c).any())
    return Request(logs.names.strings[row["model"]], messages, categories) if messages else None


def _records(path: str, wanted: dict[int, int]) -> Iterator[dict[str, Any]]:
    """The records on the wanted lines, each known again by its uuid."""
    with open(path, "rb") as file:
        for no, raw in enumerate(file, 1):
            if no not in wanted:
                continue
            text, decoder, at = raw.decode("utf-8", "replace").strip("\ufeff \r\n\0"), json.JSONDecoder(), 0
            while at < len(text):
                try:
                    record, at = decoder.raw_decode(text, at)
                except (ValueError, RecursionError):
                    break
                if isinstance(record, dict) and ident(str(record.get("uuid") or "")) == wanted[no]:
                    yield record


def _merged(records: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages that alternate. Lines of one response are one message, though results stand between them in the log."""
    out: list[dict[str, Any]] = []
    answered = ""  # message id of the last answer
    for record in records:
        message = held(record, "message")
        role = "assistant" if record.get("type") == "assistant" else "user"
        attached = record.get("attachment")
        content = _attached(attached) if isinstance(attached, dict) else _content(message.get("content"))
        if not content:
            continue
        same = role == "assistant" and message.get("id") and message.get("id") == answered
        last = next((one for one in reversed(out) if one["role"] == "assistant"), None) if same else None
        if last is not None:
            last["content"] += content
        elif out and out[-1]["role"] == role:
            out[-1]["content"] += content
        else:
            out.append({"role": role, "content": content})
        answered = str(message.get("id") or "") if role == "assistant" else answered
    return out


def _content(content: Any) -> list[dict[str, Any]]:
    """The blocks that are sent back. Thinking of earlier turns is not counted by any provider."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    out = []
    for block in content if isinstance(content, list) else ():
        fields = _SENT.get(str(block.get("type"))) if isinstance(block, dict) else None
        if fields and (block["type"] != "text" or str(block.get("text") or "").strip()):
            out.append({"type": block["type"], **{name: block[name] for name in fields if block.get(name) is not None}})
            if isinstance(block.get("content"), list):  # what else a result refers to, only its own API takes back
                out[-1]["content"] = [item for item in _content(block["content"]) if item["type"] in _IN_RESULTS]
    return out


def _attached(attached: dict[str, Any]) -> list[dict[str, Any]]:
    if attached.get("type") in claude_blocks._NOT_SENT:
        return []
    text = "\n".join(part for key in claude_blocks._TEXT_KEYS for part in _texts(attached.get(key)))
    return [{"type": "text", "text": text}] if text.strip() else []


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict) and value.get("type") != "image":
        for key in _INNER:
            yield from _texts(value.get(key))


def _paired(messages: list[dict[str, Any]], resident: set[int]) -> list[dict[str, Any]]:
    """Every use of a tool followed at once by its result and none without the other, as the APIs want it; a user speaks
    first. What a microcompaction cleared stays as a stub."""
    results: dict[str, dict[str, Any]] = {}
    for block in (block for message in messages for block in message["content"]):
        if block["type"] == "tool_result" and isinstance(block.get("tool_use_id"), str):
            gone = ident(block["tool_use_id"]) not in resident
            results[block["tool_use_id"]] = {**block, "content": CLEARED} if gone else block
    out: list[dict[str, Any]] = []

    def say(role: str, content: list[dict[str, Any]]) -> None:
        if content and out and out[-1]["role"] == role:
            out[-1]["content"] += content
        elif content:
            out.append({"role": role, "content": content})

    if messages and messages[0]["role"] == "assistant":
        say("user", [{"type": "text", "text": "."}])
    for message in messages:
        answers, kept = [], []
        for block in message["content"]:
            if block["type"] == "tool_use":
                answer = results.pop(str(block.get("id")), None)
                answers += [answer] if answer else []
                kept += [block] if answer else []
            elif block["type"] != "tool_result":
                kept.append(block)
        say(message["role"], kept)
        say("user", answers)
    return out
