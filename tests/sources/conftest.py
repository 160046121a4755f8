"""Made-up logs of Claude Code, from sound to broken, for whatever must read any of them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

TEXT = ["", "a", "hello: world", 'say "x": 1', "C:\\users\\u", "line\nline\ttab\x7f", "naïve — 日本 😀", "x" * 40]
ID = ["", "u1", "0b9e2b1c-8a0f-4c1e-9d57-1f5a6f0c7d11", "toolu_01ABCDEFGHIJKLMNOPQRST", "é" * 12, "a\\b" * 9, "i" * 300]
TIME = ["2026-07-01T10:00:10.123Z", "2024-02-29T23:59:59.999Z", "2000-12-31T00:00:00.000Z", "1970-01-01T00:00:00.000Z"]
ODD_TIME = [
    *("2023-02-29T00:00:00.000Z", "2100-02-29T00:00:00.000Z", "2026-04-31T00:00:00.000Z", "2026-00-01T00:00:00.000Z"),
    *("2026-13-01T00:00:00.000Z", "2026-07-01T24:00:00.000Z", "2026-07-01T10:00:60.000Z", "2026-07-00T10:00:00.000Z"),
    *("2026-07-01T10:00:10+02:00", "2026-07-01T10:00:10Z", "2026-07-01 10:00:10.123Z", "2026-07-01T10:00:1é.00Z"),
    *("1969-12-31T23:59:59.999Z", "2200-01-01T00:00:00.000Z", "2026-07-01T10:00:10.12aZ", "yesterday", ""),
]
COUNT = [0, 1, 1234, 10**15 - 1, 10**15, 10**17, -1]
FLAG = [True, False]
SHELLS = ["ls", "cat A.py b/README.md && echo 'x.y'", "less Ä.txt\tb.c", "a.b.c .bashrc x.", "m.toolongsuffixes", ""]
FILES = ["/a/b.py", "C:\\Users\\u\\A.py", "/ä.md", "", "x/: y"]
TOOLS = ["Read", "Edit", "Bash", "PowerShell", "NotebookEdit", "Grep", "mcp__a__b", "", "Wörk"]
ATTACHED = ["todo", "skill_listing", "nested_memory", "hook_success", "mcp_instructions_delta", "queued_command"]
SENT = ["content", "text", "prompt", "snippet", "addedLines", "addedBlocks", "skills", "blockingError", "addedNames"]
ODD = [
    None,
    True,
    False,
    0,
    -3,
    1.0,
    1e3,
    1e16,
    10**19,
    2**64 + 5,
    "",
    "x",
    "1-3",
    "<synthetic>",
    "\ud800",
    "é\udc80",
    [],
    [1],
]
ODD_JSON = [
    *(
        b"-0",
        b"1e5",
        b"1e999",
        b"1E+10",
        b"-1.5e-3",
        b'"\\u00e9"',
        b'"\\ud83d\\ude00"',
        b'"\\u0000"',
        b'"\\u001f\\u0022"',
        b'"\\/"',
    ),
    *(b'{"a":1,"a":2}', b'{"a": 1,"a": 22}', b'{"\\u0061":1,"a":2}', b"{}", b'{"a": 1.50,"b":[ -0 ]}'),
    *(b'{"type":"image","text":"abc"}', b'["a",["b",""],{"file":"c"}]', b'{"a":' * 30 + b"1" + b"}" * 30),
]
BROKEN = [
    *(
        b"01",
        b"-",
        b"1.",
        b".5",
        b"+1",
        b"NaN",
        b"Infinity",
        b"nul",
        b"truex",
        b"[1,]",
        b'{"a":1,}',
        b"[1 2]",
        b'{"a" 1}',
    ),
    *(
        b'"\\ud83d"',
        b'"\\ude00"',
        b'"\\ud83d\\u0041"',
        b'"\\q"',
        b'"\\u12g4"',
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xed\xa0\x80"',
    ),
    *(b'"\xf4\x90\x80\x80"', b'"\xe2\x82"', b'"a\x01b"', b'"a\0b"', b'"open', b"{a:1}", b"[", b"]", b"{}{}", b""),
    *(b"[" * 70 + b"]" * 70, b"[" * 1200 + b"]" * 1200),
]
HURTS = [b"", *(bytes([c]) for c in b'"\\,:{}[]\0\n\r \t\xff\xc30-'), b"null", b"\\u", b'": ']


class Pairs(list[tuple[str, Any]]):
    """A record: its keys may stand twice."""


class Maker:
    """Logs of about the right shape: the odder, the more values, keys and bytes of them are not what they should be.

    All choices are `random`'s, so that hypothesis can make a log that it found smaller.
    """

    def __init__(self, random: Random, oddness: float) -> None:
        self.random, self.pick, self.oddness = random, random.choice, oddness

    def odd(self, much: float = 1.0) -> bool:
        return self.random.random() < self.oddness * much

    def some(self, sound: list[Any], odd: list[Any] = ODD) -> Any:
        return self.pick(odd if self.odd() else sound)

    def few(self, fields: dict[str, Any], most: int) -> dict[str, Any]:
        return dict(self.random.sample(sorted(fields.items()), self.random.randrange(most + 1)))

    def record(self, **fields: Any) -> Pairs:
        """Keys in any order; some are left out, some stand there twice, some are of nobody."""
        pairs = [pair for pair in fields.items() if not self.odd(0.5)]
        if pairs and self.odd(0.3):
            pairs.append((self.pick(pairs)[0], self.pick(ODD)))
        if self.odd(0.5):
            self.random.shuffle(pairs)
        if self.odd(0.5):
            pairs.insert(self.random.randrange(len(pairs) + 1), ("unheardOf", self.pick(ODD)))
        return Pairs((key, self.pick(ODD) if self.odd(0.3) else value) for key, value in pairs)

    def given(self) -> Pairs:
        """What a tool is called with."""
        number = self.some([1, 200, 0, None], ["10", 2.5, 10**15, 10**17, -5])
        given: dict[str, Any] = {"file_path": self.pick(FILES), "notebook_path": self.pick(FILES)}
        given |= {
            "offset": number,
            "limit": number,
            "command": self.pick(SHELLS),
            "pages": self.some([None, ""], ["1-3"]),
        }
        given |= {"old_string": self.some(TEXT), "todos": [self.record(a=1, b=self.some(TEXT))]}
        return self.record(**self.few(given, len(given)))

    def image(self) -> Pairs:
        source = self.record(type="base64", data=self.pick(["iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB", "", None]))
        return self.record(
            type=self.pick(["image", "document", "tool_reference", "x", None]), source=source, tool_name="Grep"
        )

    def block(self, depth: int = 0) -> Pairs:
        kind = self.some(
            ["text", "thinking", "redacted_thinking", "tool_use", "tool_result"], ["server_tool_use", "image"]
        )
        if kind == "text":
            return self.record(type=kind, text=self.some(TEXT))
        if kind in ("thinking", "redacted_thinking"):
            return self.record(type=kind, thinking=self.some(TEXT), signature=self.some(TEXT))
        if kind in ("tool_use", "server_tool_use"):
            return self.record(type=kind, id=self.some(ID), name=self.some(TOOLS, ["a\\b", None]), input=self.given())
        if kind == "image":
            return self.image()
        content: Any = self.some(TEXT)
        if depth < 3 and self.random.random() < 0.4:
            count = self.random.randrange(3)
            texts = [self.record(type="text", text=self.some(TEXT)) for _ in range(count)]
            content = [self.block(depth + 1) if self.odd(3) else text for text in texts]
        return self.record(type=kind, tool_use_id=self.some(ID), content=content, is_error=self.some(FLAG))

    def usage(self) -> Pairs:
        short, long = self.some(COUNT), self.some(COUNT)
        split = self.record(ephemeral_5m_input_tokens=short, ephemeral_1h_input_tokens=long)
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        counts = {name: self.some(COUNT) for name in names}
        step = self.record(type=self.pick(["message", "fallback_message", "x"]), **counts, cache_creation=split)
        return self.record(
            **counts,
            cache_creation=split,
            iterations=self.some([None, [], [step]], [[step, step], step]),
            output_tokens_details=self.pick([None, self.record(thinking_tokens=self.some(COUNT))]),
            speed=self.pick([None, "fast", "standard"]),
            service_tier="standard",
        )

    def attachment(self) -> Pairs:
        kind, text = self.some(["text", "file"], ["image"]), self.some(TEXT)
        inner = self.record(content=self.some(TEXT), text=text, type=kind, file=self.record(content=text))
        held: dict[str, Any] = {key: self.pick([text, inner, [text, inner], [text, text], []]) for key in SENT}
        held |= {"filename": text, "path": self.some(TEXT), "count": self.some(COUNT)}
        return self.record(type=self.some(ATTACHED), **self.few(held, 3))

    def message(self, kind: str) -> Pairs:
        content: Any = [self.block() for _ in range(self.pick([1, 1, 1, 0, 2, 3]))]
        if self.random.random() < 0.2:
            content = self.some([*TEXT, "a < b <local"], ["<local-command-stdout>x</local-command-stdout>"])
        if kind != "assistant":
            return self.record(role=kind, content=content)
        miss = {"type": "x", "cache_missed_input_tokens": 7} if self.odd(3) else None
        return self.record(
            role=kind,
            id=self.some(ID),
            model=self.some(["claude-opus-4-1", "m", "mö", None]),
            content=content,
            stop_reason=self.pick([None, "end_turn"]),
            usage=self.usage(),
            diagnostics=self.pick([None, {"cache_miss_reason": miss}]),
        )

    def line(self) -> Pairs:
        kind = self.pick(
            ["user", "assistant", "user", "assistant", "user", "assistant", "progress", "system", "attachment"]
        )
        segment = self.record(headUuid=self.some(ID), tailUuid="b")
        outcomes: list[Any] = [
            "text",
            [1, "a"],
            {"stdout": "a\nb", "x": [None, 1.5, {}]},
            {"resolvedModel": None},
            None,
        ]
        subtypes = ["compact_boundary", "microcompact_boundary", "local_command"]
        rare: dict[str, Any] = {
            "agentId": self.some(ID),
            "requestId": self.some(ID),
            "isMeta": self.some(FLAG),
            "isCompactSummary": self.some(FLAG),
            "isApiErrorMessage": self.some(FLAG),
            "content": self.some(TEXT),
            "subtype": self.some(["turn_duration", None], subtypes),
            "toolUseResult": self.some(outcomes, [1, {"resolvedModel": "claude-sonnet-4-5[1m]"}]),
            "attachment": self.attachment(),
            "compactMetadata": {"trigger": "auto", "preTokens": self.some(COUNT), "preservedSegment": segment},
            "microcompactMetadata": {"compactedToolIds": self.some([["a"], []])},
        }
        usual = {
            "assistant": ["requestId"],
            "user": ["toolUseResult", "isMeta"],
            "attachment": ["attachment"],
            "system": ["subtype", "content"],
        }
        return self.record(
            parentUuid=self.some(ID),
            isSidechain=self.some(FLAG),
            userType="external",
            cwd=self.pick(["/home/u", "C:\\Users\\u", "/ü"]),
            sessionId=self.some(ID),
            version=self.pick(["2.1.0", "2.1.1"]),
            message=self.message(kind),
            type=kind,
            uuid=self.some(ID),
            timestamp=self.some(TIME, ODD_TIME),
            **{name: value for name, value in rare.items() if name in usual.get(kind, []) or self.odd(0.4)},
        )

    def written(self, value: Any) -> bytes:
        """JSON, compact and not ASCII as Claude Code writes it, or otherwise, or none."""
        if self.odd(0.02):
            return self.pick([*ODD_JSON, *BROKEN])
        space = b" " if self.odd(0.1) else b""
        if isinstance(value, dict):
            value = Pairs(value.items())
        if isinstance(value, Pairs):
            pairs = [self.written(key) + space + b":" + space * 2 + self.written(held) for key, held in value]
            return b"{" + space + (b"," + space).join(pairs) + b"}"
        if isinstance(value, list):
            return b"[" + space + (b"," + space).join(map(self.written, value)) + b"]"
        return json.dumps(value, ensure_ascii=self.odd(0.1)).encode("utf-8", "surrogatepass")

    def hurt(self, line: bytes) -> bytes:
        """Bytes taken out, put in, changed, doubled; a second record after the first."""
        for _ in range(self.pick([0, 0, 0, 1, 1, 2, 5])):
            at = self.random.randrange(len(line) + 1)
            to = min(len(line), at + self.pick([1, 1, 2, 8, 100]))
            bit = self.pick([*HURTS, line[at:to] * 2, line[:at]])
            line = line[:at] + bit + line[self.pick([at, to]) :]
        return line

    def log(self) -> bytes:
        lines = [self.written(self.line()) for _ in range(self.pick([1, 1, 2, 4]))]
        if self.odd(0.5):
            lines = [self.hurt(line) for line in lines]
        if self.odd(0.3):
            lines.append(lines[-1])
        end = self.pick([b"\n", b"\r\n", b"\n\n"]) if self.odd() else b"\n"
        return end.join(lines) + (b"" if self.odd(0.2) else end)


@pytest.fixture(scope="session")
def maker() -> type[Maker]:
    """Makes up logs: maker(random, oddness).log()."""
    return Maker


@pytest.fixture(scope="session")
def odd_values() -> list[bytes]:
    """Values that are not what they should be."""
    return [json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") for value in ODD] + ODD_JSON


@pytest.fixture(scope="session")
def broken_values() -> list[bytes]:
    """What stands for a value and is none, or one that no reader follows."""
    return BROKEN


@pytest.fixture(scope="session")
def odd_times() -> list[str]:
    return ODD_TIME
