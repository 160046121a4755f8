"""Messages in Anthropic's form, as OpenAI and Google want them for a count."""

from __future__ import annotations

import json
from typing import Any


def to_openai(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of the Responses API."""
    out: list[dict[str, Any]] = []
    for message in messages:
        kind = "output_text" if message["role"] == "assistant" else "input_text"
        said: list[dict[str, Any]] = []
        for block in message["content"]:
            match block["type"]:
                case "text":
                    said.append({"type": kind, "text": block["text"]})
                case "image":
                    said.append({"type": "input_image", "detail": "auto", "image_url": _data_url(block)})
                case "document":
                    said.append({"type": "input_file", "filename": "document", "file_data": _data_url(block)})
                case "tool_use":
                    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
                    name, id = block.get("name") or "tool", block["id"]
                    out.append({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
                case "tool_result":
                    result = text_of(block.get("content"))
                    out.append({"type": "function_call_output", "call_id": block["tool_use_id"], "output": result})
        if said:
            out.append({"type": "message", "role": message["role"], "content": said})
    return out


def to_google(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Contents of Gemini's API. A result names its function, which the use of the same id says."""
    names: dict[str, str] = {}
    out = []
    for message in messages:
        parts: list[dict[str, Any]] = []
        for block in message["content"]:
            match block["type"]:
                case "text":
                    parts.append({"text": block["text"]})
                case "image" | "document":
                    source = block.get("source") or {}
                    parts.append({"inline_data": {"mime_type": source.get("media_type"), "data": source.get("data")}})
                case "tool_use":
                    names[block["id"]] = block.get("name") or "tool"
                    parts.append({"function_call": {"name": names[block["id"]], "args": block.get("input") or {}}})
                case "tool_result":
                    given = {"result": text_of(block.get("content"))}
                    name = names.get(block["tool_use_id"], "tool")
                    parts.append({"function_response": {"name": name, "response": given}})
        if parts:
            out.append({"role": "model" if message["role"] == "assistant" else "user", "parts": parts})
    return out


def text_of(content: Any) -> str:
    """The text of a tool's result."""
    if isinstance(content, str):
        return content
    items = content if isinstance(content, list) else ()
    return "\n".join(str(item.get("text") or "") for item in items if isinstance(item, dict))


def _data_url(block: dict[str, Any]) -> str:
    source = block.get("source") or {}
    return f"data:{source.get('media_type')};base64,{source.get('data')}"
