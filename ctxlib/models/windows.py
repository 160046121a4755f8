"""The context window of a model: no log line states it (formats.md, 1.9), so it is decided from what hints at it."""

from __future__ import annotations

from collections.abc import Iterable

from ctxlib.models.listed import listed
from ctxlib.models.names import canonical
from ctxlib.models.prices import Overrides

_MILLION = 1_000_000
_SIZES = (200_000, _MILLION)
_BUFFERS = (32_500, 45_500)  # autocompact buffers seen: 33k and 45.0k tokens, as rounded in the output
_USUAL_BUFFER = 33_000
_ROUNDING = 1_000
# Makers' own figures, for models that logs name and genai-prices 0.2.3 gives no window.
_SHIPPED = {
    "codex-mini-latest": 200_000,
    "gemini-2.5-pro": 1_048_576,
    "gemini-3-pro": 1_048_576,
    "gemini-3-pro-preview": 1_048_576,
    "gemini-3.1-pro-preview": 1_048_576,
    "glm-4.6": 200_000,
    "qwen3-coder": 262_144,
}
_EVIDENCE = {
    "context_output": "/context output",
    "stated": "stated in the log",
    "hint_1m": "[1m] in the model name",
    "auto_compact": "auto-compaction",
}


def list_window(model: str, overrides: Overrides | None = None) -> tuple[int, str] | None:
    """(tokens, source) of a model in any spelling: the user's file, then genai-prices, then the shipped table.

    None where none of them knows it. Never raises on a name.
    """
    name = canonical(model)
    own = (overrides or {}).get(name, {}).get("window")
    if own:
        return int(own), "user file"
    found = listed(name)
    if found is not None and found.window:
        return found.window, found.source
    return (_SHIPPED[name], "ctxlib table") if name in _SHIPPED else None


def full_window(shown: int, buffer: int = 0) -> int:
    """The whole window, in tokens, of one that /context shows less its autocompact buffer (formats.md, 1.10).

    967k with a buffer of 33k is a window of 1M. `buffer` is the size in the output's own buffer row, 0 where it has
    none: then only the usual 33k is taken for a buffer, so that a window of another size stays what it is.
    """
    missing = buffer if _BUFFERS[0] <= buffer <= _BUFFERS[1] else _USUAL_BUFFER
    for size in _SIZES:
        if shown < size and abs(size - shown - missing) <= _ROUNDING:
            return size
    return shown


def decide(
    model: str, *, evidence: Iterable[tuple[int, str]], peak_ctx: int, overrides: Overrides | None = None
) -> tuple[int, str] | None:
    """(tokens, source): the one window of a model in a report; None where nothing is known: then no percent is shown.

    Tokens come first, and a share of the window is only ever shown beside them: the provider measured the tokens, while
    the window is an inference. Two sessions of one model with two windows would make 120k read as 60 % here and 214k as
    21 % there; so all evidence of the model in the report is weighed at once, and every session gets the same window.

    `evidence` is (tokens, kind). In order: the user's file; `context_output` (/context, buffer put back); `stated` (a
    log that says it, as Codex does); `hint_1m`; `auto_compact` (tokens before an automatic compaction, or the window
    they mean: the smallest usual size that holds them); the list. Of several of one kind the largest counts. Other
    kinds are no evidence of a window and are passed over. `peak_ctx` is the largest context of the model in the report
    (X-peak), tokens: no window is smaller, so one that is gives way to the smallest of 200k, 1M, 2M, ... that holds
    the peak, whatever said otherwise.
    """
    chosen = _stated(model, list(evidence), overrides)
    if chosen is None or peak_ctx <= chosen[0]:
        return chosen
    return _holding(peak_ctx), f"peak above {chosen[0] // 1000}k"


def _stated(model: str, evidence: list[tuple[int, str]], overrides: Overrides | None) -> tuple[int, str] | None:
    own = (overrides or {}).get(canonical(model), {}).get("window")
    if own:
        return int(own), "user file"
    for kind, source in _EVIDENCE.items():
        values = [_window_of(tokens, kind) for tokens, other in evidence if other == kind and tokens > 0]
        if values:
            return max(values), source
    return list_window(model)


def _window_of(tokens: int, kind: str) -> int:
    if kind == "context_output":
        return full_window(tokens)
    if kind == "hint_1m":
        return _MILLION
    return _holding(tokens) if kind == "auto_compact" else tokens


def _holding(tokens: int) -> int:
    size = _SIZES[0]
    while size < tokens:
        size = _MILLION if size < _MILLION else size * 2
    return size
