"""One name per model, whatever the gateway calls it (X-cache: model names in every spelling)."""

from __future__ import annotations

import re
from functools import lru_cache

_GATEWAY = re.compile(
    r"~?(?:anthropic|azure(?:_ai)?|bedrock|copilot|deepseek|gemini|github[-_]copilot|google|litellm|minimax(?:ai)?"
    r"|mistral(?:ai)?|models|moonshotai|openai|opencode|openrouter|qwen|vercel|vertex_ai|x-?ai|z-?ai|zai-org|zhipuai)/(?=.)"
)
# Bedrock puts a dot, an ARN a colon or a slash, Databricks a hyphen before the name.
_CLAUDE = re.compile(r"(?:^|[/.:~]|databricks-)(claude-[^/]*)\Z")
_DECORATION = re.compile(
    r"(?:(?<=[0-9])-v[0-9]{1,2}(?::[0-9]{1,2})?(?::[0-9]{1,4}k)?"  # Bedrock's revision
    r"|@[a-z0-9-]{1,20}"  # Vertex's date, or @default
    r"|:(?:thinking|beta|extended|nitro|floor|online|exacto)"  # OpenRouter's variants
    r"|-20[0-9]{6}|-20[0-9]{2}-[0-9]{2}-[0-9]{2}|-latest|-thinking)\Z"
)
_FAMILY_FIRST = re.compile(r"claude-([a-z]+)-([0-9]{1,2})(?:[.-]([0-9]{1,2}))?(-[a-z].*)?", re.DOTALL)
_VERSION_FIRST = re.compile(r"claude-([0-9]{1,2})(?:[.-]([0-9]{1,2}))?-([a-z]+)(-[a-z].*)?", re.DOTALL)
_MILLION = "[1m]"
_LONGEST = 200  # characters; what is longer is no model's name


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """The one id of a model, lower case: `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is `claude-sonnet-4-5`.

    Gateway prefixes, dates, revisions, `[1m]`, `:thinking`, `-latest` and the order of family and version are spelling;
    `-fast` is not (another price). Claude names follow Anthropic's own order: `claude-3-7-sonnet` up to 3.x,
    `claude-opus-4-8` from 4 on, and a minor 0 is left out. Other makers' names lose a known gateway's prefix and
    `[1m]`, and keep the rest: dots and dates tell their models apart. Never raises; canonical of canonical is itself.
    """
    name = name.lower().strip()
    if len(name) > _LONGEST:
        return name
    found = _CLAUDE.search(name)
    if found is None:
        return _without_gateway(name)
    name, before = found[1], ""
    while name != before:
        before = name
        name = _DECORATION.sub("", name.strip().removesuffix(_MILLION))
    return _in_order(name)


def million_hint(name: str) -> bool:
    """Whether the spelling asks for the window of a million tokens (`claude-opus-4-6[1m]`)."""
    return name.lower().strip().endswith(_MILLION)


def _without_gateway(name: str) -> str:
    before = ""
    while name != before:
        before = name
        name = name.strip().removesuffix(_MILLION)
        if found := _GATEWAY.match(name):
            name = name[found.end() :]
    return name


def _in_order(name: str) -> str:
    if found := _FAMILY_FIRST.fullmatch(name):
        family, major, minor, rest = found.groups()
    elif found := _VERSION_FIRST.fullmatch(name):
        major, minor, family, rest = found.groups()
    else:
        return name
    if family in ("v", "instant"):
        return name
    version = f"{int(major)}-{int(minor)}" if int(minor or 0) else str(int(major))
    return f"claude-{version}-{family}{rest or ''}" if int(major) < 4 else f"claude-{family}-{version}{rest or ''}"
