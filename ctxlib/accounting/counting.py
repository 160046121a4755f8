"""A provider's own count of a request, through its SDK (extra `count`): opt-in, each request at most once a process.

The request is put together from the log (request.py), sent to the count endpoint, and let go. Whatever fails becomes a
warning's code, and the local figure is kept. No exception and no log message carries anything of the request.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from ctxlib.accounting.arithmetic import largest_remainder
from ctxlib.accounting.contract import OTHER, Part, Snapshot, Warned, deduplicated
from ctxlib.accounting.moment import snapshot, thread_of
from ctxlib.accounting.request import Request, rebuild
from ctxlib.accounting.told_words import warned
from ctxlib.logs import Logs
from ctxlib.models import canonical

UNAVAILABLE, UNSUPPORTED, FAILED = (
    f"provider_token_count_{cause}" for cause in ("unavailable", "unsupported", "failed")
)
PROVIDERS = {"claude": "anthropic", "gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "codex": "openai"}
PROVIDERS |= {"chatgpt": "openai", "gemini": "google"}
_SECONDS = 30.0
_LOUD = ("anthropic", "openai", "google_genai", "httpx", "httpx2", "httpcore", "httpcore2", "urllib3")
_asked: dict[str, int | str] = {}  # fingerprint of a request -> its tokens, or the code of what failed
_asking = Lock()


class _Failed(Exception):
    """Carries a warning's code and nothing else."""


def count(
    logs: Logs,
    session: str = "",
    turn: int | None = None,
    *,
    thread: str = "main",
    provider: str = "",
    base_url: str | None = None,
    api_key: str | None = None,
) -> Snapshot:
    """The snapshot of a call, its messages counted by the provider (basis `counted`, tokens); where that fails, the local
    snapshot with a warning that says why.

    System prompt and tool schemas are in no log, so the count is of the messages alone. `provider`: anthropic, openai or
    google; default by the model's name. `base_url`, `api_key`: else the SDK's own environment variables. Raises
    ImportError, with the line that installs it, where the provider's SDK is missing; ValueError as `snapshot` does.
    """
    local = snapshot(logs, session, turn, thread=thread)
    row = thread_of(logs, local.session, thread)
    call = int(np.flatnonzero(logs.calls["thread"] == row)[(local.turn or 1) - 1])
    named = provider or _provider(local.model)
    ask = _ASK.get(named)
    if ask is None:
        return _kept(local, UNSUPPORTED)
    try:
        request = rebuild(logs, call)
    except OSError:
        return _kept(local, FAILED)
    if request is None:
        return _kept(local, FAILED if local.source == "claude_code" else UNSUPPORTED)
    found = _once(named, request, lambda: ask(request, base_url, api_key))
    return _kept(local, found) if isinstance(found, str) else _counted(local, found, request.categories)


def _provider(model: str) -> str:
    name = canonical(model)
    return next((provider for prefix, provider in PROVIDERS.items() if name.startswith(prefix)), "")


def _once(provider: str, request: Request, ask: Callable[[], int]) -> int | str:
    """The answer to a request, asked for at most once; a failure is an answer too."""
    body = json.dumps([provider, request.model, request.messages], sort_keys=True, default=str)
    fingerprint = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    with _asking:
        if fingerprint not in _asked:
            try:
                with _silent():
                    _asked[fingerprint] = ask()
            except ImportError:
                raise
            except _Failed as failure:
                _asked[fingerprint] = str(failure)
            except Exception:  # an SDK may raise anything, with the request in it: only the fact goes on
                _asked[fingerprint] = FAILED
        return _asked[fingerprint]


@contextmanager
def _silent() -> Iterator[None]:
    """SDKs and HTTP libraries log requests when asked to (ANTHROPIC_LOG=debug): not these."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _LOUD]
    loggers = [logging.getLogger(name) for name in {*names, *_LOUD}]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def _kept(local: Snapshot, code: str) -> Snapshot:
    return replace(local, warnings=deduplicated([*local.warnings, warned(code)]))


def _counted(local: Snapshot, tokens: int, categories: tuple[str, ...]) -> Snapshot:
    """The count, shared over the categories that the request holds in proportion to their estimates."""
    held = [part for part in local.parts if part.category in categories] or [
        Part("messages", 0, 0, "counted", "messages")
    ]
    raw = np.array([[max(part.raw, 1e-9) for part in held]])
    shares = largest_remainder(raw, np.array([tokens]))[0].tolist()
    parts = [part._replace(shown=shown, method="counted") for part, shown in zip(held, shares, strict=True)]
    warning = Warned(
        "messages_only", "System prompt and tool schemas are in no log: the count is of the messages alone."
    )
    return replace(
        local,
        basis="counted",
        total=tokens,
        parts=(*parts, Part(OTHER, 0, 0, "residual", OTHER)),
        factor=min(1.0, tokens / float(raw.sum())),
        injected=0,
        residual_policy="absorbed",
        warnings=deduplicated([*local.warnings, warning]),
        extra={**local.extra, "local_total": local.total, "local_basis": local.basis},
    )


def _sdk(name: str, package: str, maker: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            f"counting with {maker} needs its SDK: pip install 'ctxlib[count]' (or: pip install {package})"
        ) from None


def _anthropic(request: Request, base_url: str | None, api_key: str | None) -> int:
    sdk = _sdk("anthropic", "anthropic", "Anthropic")
    _key(api_key, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    with (
        _answers(sdk.APIConnectionError),
        sdk.Anthropic(base_url=base_url, api_key=api_key, max_retries=0, timeout=_SECONDS) as client,
    ):
        return int(client.messages.count_tokens(model=canonical(request.model), messages=request.messages).input_tokens)


def _openai(request: Request, base_url: str | None, api_key: str | None) -> int:
    from ctxlib.accounting.dialects import to_openai

    sdk = _sdk("openai", "openai", "OpenAI")
    _key(api_key, "OPENAI_API_KEY")
    with (
        _answers(sdk.APIConnectionError),
        sdk.OpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=_SECONDS) as client,
    ):
        found = client.responses.input_tokens.count(model=request.model, input=to_openai(request.messages))
        return int(found.input_tokens)


def _google(request: Request, base_url: str | None, api_key: str | None) -> int:
    from ctxlib.accounting.dialects import to_google

    sdk = _sdk("google.genai", "google-genai", "Google")
    _key(api_key, "GOOGLE_API_KEY", "GEMINI_API_KEY")
    options = {"timeout": int(1000 * _SECONDS), **({"base_url": base_url} if base_url else {})}
    with _answers(*_connection_errors()), sdk.Client(api_key=api_key, http_options=options) as client:
        return int(client.models.count_tokens(model=request.model, contents=to_google(request.messages)).total_tokens)


_ASK: dict[str, Callable[[Request, str | None, str | None], int]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "google": _google,
}


def _key(given: str | None, *names: str) -> None:
    if not given and not any(os.environ.get(name) for name in names):
        raise _Failed(UNAVAILABLE)


def _connection_errors() -> tuple[type[Exception], ...]:
    """What Google's SDK lets through of the HTTP library that it uses."""
    found: list[type[Exception]] = [ConnectionError, TimeoutError]
    for name in ("httpx", "httpx2"):
        try:
            found.append(__import__(name).TransportError)
        except ImportError:
            continue
    return tuple(found)


@contextmanager
def _answers(*unreachable: type[Exception]) -> Iterator[None]:
    """Makes a code of whatever the SDK raises; the exception itself, which may hold the request, is dropped."""
    try:
        yield
    except _Failed:
        raise
    except unreachable:
        raise _Failed(UNAVAILABLE) from None
    except Exception:
        raise _Failed(FAILED) from None
