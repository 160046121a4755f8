"""Asking a provider to count: once, by choice, with the log's text going nowhere else, and never fatal."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import ctxlib as ctx
from ctxlib.accounting import counting
from ctxlib.accounting.counting import count
from ctxlib.accounting.dialects import to_google, to_openai
from ctxlib.accounting.request import rebuild
from ctxlib.logs import Logs

MARK = "zebra-secret-4711"
SDKS = {"anthropic": "anthropic", "openai": "openai", "google": "google.genai"}
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")


class Stub(ThreadingHTTPServer):
    """A provider on this machine: what it was asked, and what it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((self.path, json.loads(body)))
        good = {"input_tokens": 321, "object": "response.input_tokens", "totalTokens": 321}
        said = good if self.server.status == 200 else {"error": {"type": "bad", "message": body.decode()}}
        out = json.dumps(said).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Stub]:
    server = Stub()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer of another test, no key of the user's, no proxy between us and the stub."""
    monkeypatch.setattr(counting, "_asked", {})
    for name in (*KEYS, "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def logs(scanned: Callable[..., Logs], make: Any) -> Logs:
    """Two turns with a tool, thinking, an attachment and an image, MARK in each of them."""
    session = make.Session()
    session.prompt(f"look at {MARK}")
    session.attach("nested_memory", path="/CLAUDE.md", content={"content": f"memory {MARK}"})
    session.call(5000, make.thought(MARK), make.use("Grep", "t1", pattern=MARK))
    session.result("t1", [{"type": "text", "text": f"file {MARK}"}, {"type": "tool_reference", "tool_name": "x"}])
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    session.call(6000, make.said(f"it says {MARK}"))
    session.prompt([{"type": "text", "text": "and this?"}, image])
    session.call(7000, make.said("an image"))
    found: Logs = scanned(session)
    return found


@pytest.mark.parametrize("provider", SDKS)
def test_the_provider_counts_what_the_log_holds(logs: Logs, stub: Stub, provider: str) -> None:
    """The count replaces the estimate of the messages; that prompt and tools are missing from it is said."""
    pytest.importorskip(SDKS[provider])
    snap = count(logs, provider=provider, base_url=stub.url, api_key="k")
    assert (snap.basis, snap.total) == ("counted", 321)
    assert sum(part.shown for part in snap.parts) == 321
    assert {part.category for part in snap.parts if part.shown} == {"messages", "memory"}
    assert "messages_only" in [warning.code for warning in snap.warnings]
    assert snap.extra["local_total"] == 7000
    ((path, body),) = stub.asked
    wanted = {"anthropic": "/v1/messages/count_tokens", "openai": "/responses/input_tokens", "google": ":countTokens"}
    assert wanted[provider] in path
    assert json.dumps(body).count(MARK) == 5, "prompt, memory, tool input, tool result and answer, each once"


def test_the_request_is_one_that_the_api_takes(logs: Logs, stub: Stub) -> None:
    """Roles alternate, each result follows its use, thinking stays out: anything else is refused, and nothing counted."""
    pytest.importorskip("anthropic")
    count(logs, base_url=stub.url, api_key="k")
    messages = stub.asked[0][1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [[block["type"] for block in message["content"]] for message in messages] == [
        ["text", "text"],
        ["tool_use"],
        ["tool_result"],
        ["text"],
        ["text", "image"],
    ]
    assert [item["type"] for item in messages[2]["content"][0]["content"]] == ["text"]
    assert "an image" not in json.dumps(messages), "a call does not carry its own answer"


def test_a_turn_sends_what_it_carried(logs: Logs, stub: Stub) -> None:
    pytest.importorskip("anthropic")
    count(logs, turn=1, base_url=stub.url, api_key="k")
    assert len(stub.asked[0][1]["messages"]) == 1


def test_parallel_tools_and_cleared_results(scanned: Callable[..., Logs], make: Any) -> None:
    """Results stand between the lines of one answer in the log; sent so, every such request would be refused."""
    session = make.Session()
    session.prompt()
    session.call(5000, make.use("A", "t1"), id="m1", request="r1")
    session.result("t1", "one")
    session.call(5000, make.use("B", "t2"), id="m1", request="r1")
    session.result("t2", "two")
    session.call(5500, make.use("C", "never"))
    session.call(6000)
    session.micro("t1")
    session.prompt("next")
    session.call(5800)
    request = rebuild(logs := scanned(session), len(logs.calls) - 1)
    assert request is not None
    kinds = [[block["type"] for block in message["content"]] for message in request.messages]
    assert kinds == [["text"], ["tool_use", "tool_use"], ["tool_result", "tool_result"], ["text"], ["text"]]
    assert [block["content"] for block in request.messages[2]["content"]] == ["[cleared]", "two"]


def test_after_a_compaction_only_what_is_left_is_sent(scanned: Callable[..., Logs], make: Any) -> None:
    session = make.Session()
    session.prompt("long ago")
    session.call(9000)
    session.boundary()
    session.summary("the summary")
    session.prompt("now")
    session.call(3000)
    request = rebuild(logs := scanned(session), len(logs.calls) - 1)
    assert request is not None
    assert [block["text"] for block in request.messages[0]["content"]] == ["the summary", "now"]


def test_each_request_is_asked_once(logs: Logs, stub: Stub) -> None:
    """Counts are rate-limited: looking at a session again must not ask again, and a failure is not repeated either."""
    pytest.importorskip("anthropic")
    first = count(logs, base_url=stub.url, api_key="k")
    assert count(logs, base_url=stub.url, api_key="k") == first
    assert len(stub.asked) == 1
    stub.status = 500
    failed = count(logs, turn=1, base_url=stub.url, api_key="k")
    assert count(logs, turn=1, base_url=stub.url, api_key="k") == failed
    assert len(stub.asked) == 2


@pytest.mark.parametrize("provider", SDKS)
@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (500, "failed"),
        (429, "failed"),
        (401, "failed"),
        (404, "failed"),
        ("down", "unavailable"),
        ("no key", "unavailable"),
    ],
)
def test_whatever_fails_keeps_the_local_figure(
    logs: Logs, stub: Stub, provider: str, trouble: int | str, code: str
) -> None:
    """A provider that is down or refuses is a warning; an error would take the local snapshot away as well."""
    pytest.importorskip(SDKS[provider])
    stub.status = trouble if isinstance(trouble, int) else 200
    url = "http://127.0.0.1:9" if trouble == "down" else stub.url
    local = ctx.snapshot(logs)
    snap = count(logs, provider=provider, base_url=url, api_key=None if trouble == "no key" else "k")
    assert (snap.total, snap.basis, snap.parts) == (local.total, local.basis, local.parts)
    assert snap.warnings[-1].code == f"provider_token_count_{code}"
    assert len(stub.asked) == (0 if isinstance(trouble, str) else 1), "no retries"


def test_an_unknown_provider_is_unsupported(scanned: Callable[..., Logs], make: Any, stub: Stub) -> None:
    session = make.Session(model="glm-5.1")
    session.prompt()
    session.call(100)
    snap = count(scanned(session), base_url=stub.url, api_key="k")
    assert (snap.total, snap.warnings[-1].code) == (100, "provider_token_count_unsupported")


def test_a_log_that_is_gone_is_a_warning(logs: Logs, stub: Stub) -> None:
    from pathlib import Path

    Path(logs.files[0].path).unlink()
    assert count(logs, base_url=stub.url, api_key="k").warnings[-1].code == "provider_token_count_failed"
    assert stub.asked == []


@pytest.mark.parametrize("provider", SDKS)
def test_a_missing_sdk_says_how_to_get_it(logs: Logs, monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    """An ImportError of a package that nobody has heard of helps no one."""
    monkeypatch.setitem(sys.modules, SDKS[provider], None)
    with pytest.raises(ImportError, match=r"pip install 'ctxlib\[count\]'") as caught:
        count(logs, provider=provider, api_key="k")
    assert MARK not in str(caught.value)


def test_the_sdks_own_environment_variables_hold(logs: Logs, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users behind a gateway set these already."""
    pytest.importorskip("anthropic")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert count(logs).total == 321


@pytest.mark.parametrize("provider", SDKS)
@pytest.mark.parametrize("status", [200, 500])
def test_the_text_of_the_log_goes_nowhere_else(
    logs: Logs,
    stub: Stub,
    provider: str,
    status: int,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not in a snapshot, a warning, a repr, an exception, a log message, nor in what is remembered; even where the SDK is
    told to log its requests and the provider's error repeats them."""
    pytest.importorskip(SDKS[provider])
    for name in ("ANTHROPIC_LOG", "OPENAI_LOG"):
        monkeypatch.setenv(name, "debug")
    caplog.set_level(logging.DEBUG)
    stub.status = status
    snap = count(logs, provider=provider, base_url=stub.url, api_key="k")
    request = rebuild(logs, len(logs.calls) - 1)
    shown = [repr(snap), str(snap), snap._repr_html_(), repr(snap.to_session_context()), repr(request), str(request)]
    shown += [repr(logs), repr(counting._asked), caplog.text, *capfd.readouterr()]
    assert MARK in json.dumps(stub.asked)
    assert not [text for text in shown if MARK in text]


def test_messages_in_other_dialects() -> None:
    """What each provider calls a tool's use, its result and an image."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    given = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}, picture]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {"p": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]},
    ]
    openai = to_openai(given)
    assert [item["type"] for item in openai] == ["message", "function_call", "function_call_output"]
    assert openai[0]["content"][1]["image_url"] == "data:image/png;base64,AA=="
    assert json.loads(openai[1]["arguments"]) == {"p": 1}
    google = to_google(given)
    assert [content["role"] for content in google] == ["user", "model", "user"]
    assert google[2]["parts"][0]["function_response"] == {"name": "read", "response": {"result": "done"}}
