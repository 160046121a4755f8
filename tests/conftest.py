"""What several tests share: the worked cases, and a builder of made-up sessions."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
Json = dict[str, Any]


@pytest.fixture
def cases() -> Path:
    """The worked cases: made-up logs, each with the right values beside it."""
    return HERE / "cases"


class Session:
    """A made-up session, line by line. Each method adds lines and returns the last, to be changed at will.

    `common` goes into every line (isSidechain, agentId, version, ...). Lines are ten seconds apart and chained.
    """

    def __init__(
        self,
        session: str = "s1",
        *,
        path: str = "",
        start: str = "2026-07-01T10:00:00+00:00",
        model: str = "claude-sonnet-4-5",
        **common: Any,
    ) -> None:
        self.session, self.model, self.common = session, model, common
        self.path = path or f"-home-u-proj/{session}.jsonl"
        self.now = datetime.fromisoformat(start)
        self.lines: list[Json] = []
        self.head: str | None = None
        self.calls = 0

    def wait(self, **length: float) -> Session:
        self.now += timedelta(**length)
        return self

    def add(self, kind: str, **fields: Any) -> Json:
        self.now += timedelta(seconds=10)
        line = {
            "parentUuid": self.head,
            "isSidechain": False,
            "cwd": "/home/u/proj",
            "sessionId": self.session,
            "version": "2.1.200",
            "type": kind,
            "uuid": f"{self.path}-{len(self.lines)}",
            "timestamp": self.now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **self.common,
            **fields,
        }
        self.lines.append(line)
        self.head = line["uuid"]
        return line

    def prompt(self, text: Any = "hello", **fields: Any) -> Json:
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def call(
        self,
        ctx: int = 1000,
        *blocks: Json,
        read: int = 0,
        write: int = 0,
        output: int = 50,
        id: str | None = "",
        request: str | None = "",
        stop: str | None = "end_turn",
        usage: Any = None,
        model: str | None = "",
        **fields: Any,
    ) -> Json:
        """One API call, one line a block; `ctx` is the whole input side. Ids: "" makes one, None leaves it out."""
        self.calls += 1
        number = f"{self.path}-{self.calls}"
        counts = {
            "input_tokens": ctx - read - write,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write,
            "output_tokens": output,
        }
        message: Json = {"model": model or self.model, "role": "assistant", "type": "message", "stop_reason": stop}
        if id is not None:
            message["id"] = id or f"msg_{number}"
        if request is not None:
            fields["requestId"] = request or f"req_{number}"
        for block in blocks or (said("ok"),):
            line = self.add("assistant", message={**message, "content": [block], "usage": usage or counts}, **fields)
        return line

    def result(self, use: str, content: Any = "done", is_error: Any = False, **fields: Any) -> Json:
        block = {"type": "tool_result", "tool_use_id": use, "content": content, "is_error": is_error}
        return self.add("user", message={"role": "user", "content": [block]}, **fields)

    def attach(self, kind: str, **held: Any) -> Json:
        return self.add("attachment", attachment={"type": kind, **held})

    def boundary(self, trigger: str = "auto", pre: int | None = None, post: int | None = None, **meta: Any) -> Json:
        held = {"trigger": trigger, "preTokens": pre, "postTokens": post, **meta}
        held = {key: value for key, value in held.items() if value is not None}
        return self.add("system", subtype="compact_boundary", parentUuid=None, compactMetadata=held)

    def summary(self, text: str = "This session is being continued.", **fields: Any) -> Json:
        return self.prompt(text, isCompactSummary=True, **fields)

    def micro(self, *uses: str) -> Json:
        return self.add("system", subtype="microcompact_boundary", microcompactMetadata={"compactedToolIds": [*uses]})

    def text(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)

    def write(self, root: Path) -> Path:
        file = root / self.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.text())
        return file


def said(text: str) -> Json:
    return {"type": "text", "text": text}


def thought(text: str = "", signature: str = "c2ln") -> Json:
    return {"type": "thinking", "thinking": text, "signature": signature}


def use(name: str, id: str, **given: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


class Make:
    """The words in which made-up logs are written: `make.Session(...)`, `make.said(...)`."""

    Session = Session
    said = staticmethod(said)
    thought = staticmethod(thought)
    use = staticmethod(use)

    @staticmethod
    def dumps(line: Json) -> bytes:
        """A line as Claude Code writes it: compact, not ASCII."""
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    @staticmethod
    def told(extract: Any) -> dict[str, list[dict[str, Any]]]:
        """An extract's rows with names in place of codes, so that two extracts can be compared."""
        from ctxlib.tables import CODES, RAW

        out: dict[str, list[dict[str, Any]]] = {"call_ids": list(extract.call_ids)}
        for name in RAW:
            table, coded = extract.tables[name], CODES.get(name, ())
            columns = table.dtype.names or ()
            rows = []
            for row in table.tolist():
                held = dict(zip(columns, row, strict=True))
                rows.append({key: extract.pool[held[key]] if key in coded else held[key] for key in columns})
            out[name] = rows
        return out

    @staticmethod
    def extract(data: bytes) -> Any:
        """The extract of a Claude Code log that holds `data`, without a file."""
        from ctxlib.sources import CLAUDE_CODE, Rows

        rows = Rows()
        parts = data.split(b"\n")
        for no, line in enumerate(parts if parts[-1] else parts[:-1], 1):
            CLAUDE_CODE.read_line(rows, no, line)
        return rows.extract(lines=len(parts) - 1, end=len(data) - len(parts[-1]), open_tail=bool(parts[-1]))


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """Builds made-up logs."""
    return Make


@pytest.fixture
def scanned(tmp_path: Path) -> Callable[..., Any]:
    """scanned(*sessions, **options): writes them below one root and scans it (everything, unless told otherwise)."""
    from ctxlib import scan

    def run(*sessions: Session, root: str = "projects", **options: Any) -> Any:
        top = tmp_path / root
        top.mkdir(parents=True, exist_ok=True)
        for session in sessions:
            session.write(top)
        return scan(top, **{"since": "all", **options})

    return run


@pytest.fixture(scope="session")
def counted() -> Callable[..., int]:
    """counted(logs): calls made in the window, each once."""

    def run(logs: Any) -> int:
        return int(np.count_nonzero(logs.calls["inside"] & logs.calls["origin"]))

    return run


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own cache."""
    monkeypatch.setenv("CTXLIB_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def spoil() -> Callable[..., None]:
    """Runs SQL in the store, behind its back."""
    from ctxlib.logs import store

    def run(*statements: str) -> None:
        with closing(sqlite3.connect(store.file())) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, or a skip that says what is missing.

    One a module: while it is open, its thread has a running event loop, in which other tests could not start theirs.
    """
    driver = pytest.importorskip("playwright.sync_api", reason="no browser driver: pip install 'ctxlib[browser]'")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("Chromium is not installed")
    flags = [
        *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update"),
    ]
    with driver.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=flags)
        yield opened
        opened.close()
