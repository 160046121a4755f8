"""The compiled way of reading gives what the plain one gives, byte for byte, whatever the log holds."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib.bundle import sample_root
from ctxlib.logs import reader
from ctxlib.sources import CLAUDE_CODE, Extract, Rows, claude_code
from ctxlib.tables import RAW

ROOT = Path(__file__).resolve().parents[2]
PURE = CLAUDE_CODE._replace(compiled=None)
LOGS = sorted(
    path
    for folder in (sample_root(), ROOT / "tests" / "cases")
    for path in folder.rglob("*.jsonl")
    if path.is_file() and CLAUDE_CODE.is_log(str(path))
)

built = pytest.mark.skipif(
    claude_code.SCANNER is None,
    reason="the compiled reader is not built: no compiler where ctxlib was installed, or it is of other tables",
)


def told(extract: Extract) -> dict[str, Any]:
    """All that an extract says, fit to be compared and to be read where it differs."""
    tables = {name: (extract.tables[name].dtype, extract.tables[name].tolist()) for name in RAW}
    raw = {name: extract.tables[name].tobytes() for name in RAW}
    rest = {name: getattr(extract, name) for name in ("pool", "call_ids", "lines", "end", "open_tail")}
    return {**tables, "bytes": raw, **rest}


def compiled(data: bytes) -> tuple[Extract, int]:
    """The extract of a log that holds `data`, and how many of its lines were handed on to Python."""
    rows = Rows()
    scanner = claude_code.SCANNER(rows, claude_code.read_line)
    no, begin = scanner(bytearray(data), len(data), 1)
    if data[begin:]:
        claude_code.read_line(rows, no, data[begin:])
    return rows.extract(lines=no - 1, end=begin, open_tail=begin < len(data)), scanner.handed


# --- logs that are there ----------------------------------------------------------------------------------------------


@built
@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-4:]))
def test_a_log_reads_the_same(path: Path) -> None:
    assert told(reader.read(str(path), CLAUDE_CODE)) == told(reader.read(str(path), PURE))


@built
@pytest.mark.parametrize("size", [1, 7, 64, 1000, 4096])
def test_a_chunk_may_end_anywhere(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in LOGS if path.stat().st_size < 40_000 * size]
    assert paths
    for path in paths[:12]:
        whole = told(reader.read(str(path), PURE))
        monkeypatch.setattr(reader, "_BUFFER", size)
        assert told(reader.read(str(path), CLAUDE_CODE)) == whole
        assert told(reader.read(str(path), PURE)) == whole
        monkeypatch.undo()


@built
def test_a_log_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    data = max(LOGS, key=lambda path: path.stat().st_size).read_bytes()
    file = tmp_path / "a.jsonl"
    file.write_bytes(data)
    start = data.index(b"\n", len(data) // 2) + 1
    first = data[:start].count(b"\n") + 1
    parts = [reader.read(str(file), source, start=start, first_line=first) for source in (CLAUDE_CODE, PURE)]
    assert told(parts[0]) == told(parts[1])
    assert parts[0].tables["lines"]["no"][0] >= first


# --- how it is chosen -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not find_spec("ctxlib.sources.claude_scanner"), reason="no compiler where ctxlib was installed")
def test_what_is_built_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of these tables, and takes nearly all lines; pictures, and what is rare, it hands on."""
    assert claude_code.SCANNER is not None
    assert CLAUDE_CODE.compiled is not None
    monkeypatch.delenv("CTXLIB_PURE", raising=False)
    assert isinstance(CLAUDE_CODE.compiled(Rows()), claude_code.SCANNER)
    read, handed = 0, 0
    for path in sample_root().rglob("*.jsonl"):
        extract, odd = compiled(path.read_bytes())
        read, handed = read + extract.lines, handed + odd
    assert read > 1000
    assert handed < read / 10


@built
def test_it_can_be_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CLAUDE_CODE.compiled is not None
    monkeypatch.setenv("CTXLIB_PURE", "1")
    assert CLAUDE_CODE.compiled(Rows()) is None


@pytest.mark.parametrize(
    "before",
    [
        "sys.modules['ctxlib.sources.claude_scanner'] = None",
        "import ctxlib.tables as t, numpy as np; t.LINE = t.RAW['lines'] = np.dtype([*t.LINE.descr, ('more', 'i4')])",
    ],
    ids=["not built", "of other tables"],
)
def test_python_reads_where_it_cannot(before: str) -> None:
    code = f"import sys; {before}; from ctxlib.sources import CLAUDE_CODE as c, Rows; print(c.compiled(Rows()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("None\n", "")


# --- made-up lines, sound and broken ----------------------------------------------------------------------------------


@built
@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.005, 0.02, 0.1, 0.4]))
def test_any_log_reads_the_same(make: Any, maker: Any, random: Random, oddness: float) -> None:
    data = maker(random, oddness).log()
    assert told(compiled(data)[0]) == told(make.extract(data))


@built
@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_damaged_log_reads_the_same(make: Any, maker: Any, random: Random) -> None:
    """Lines as they are written, hurt."""
    lines = random.choice(LOGS).read_bytes().split(b"\n")
    hurt = maker(random, 0.0).hurt
    data = b"\n".join(hurt(random.choice(lines)[:20_000]) for _ in range(3)) + b"\n"
    assert told(compiled(data)[0]) == told(make.extract(data))


USAGE = {
    "input_tokens": 3,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 9,
    "output_tokens": 7,
    "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 2},
    "iterations": [{"type": "message", "input_tokens": 3}],
    "output_tokens_details": {"thinking_tokens": 6},
    "speed": "fast",
}
COMMON = {
    "type": "user",
    "uuid": "0b9e2b1c-8a0f-4c1e-9d57-1f5a6f0c7d11",
    "parentUuid": "u0",
    "sessionId": "s",
    "timestamp": "2026-07-01T10:00:10.123Z",
    "isSidechain": True,
    "agentId": "a",
    "cwd": "/home/u",
    "version": "2.1.0",
    "requestId": "r",
    "isMeta": True,
    "isCompactSummary": False,
    "isApiErrorMessage": False,
    "content": "c",
    "subtype": "turn_duration",
    "compactMetadata": None,
    "microcompactMetadata": None,
    "toolUseResult": {"stdout": "x", "resolvedModel": None, "n": [1, {"a": None}]},
    "attachment": {
        "type": "edited_text_file",
        "filename": "/a.py",
        "path": "/b.py",
        "snippet": "abc",
        "content": [{"type": "text", "text": "ab", "file": {"content": "abc"}}, "x"],
        "prompt": "p",
        "addedNames": None,
    },
}
BLOCKS = [
    {"type": "text", "text": "said"},
    {"type": "thinking", "thinking": "thought", "signature": "c2ln"},
    {
        "type": "tool_use",
        "id": "toolu_01ABCDEFGHIJKLMNOPQRST",
        "name": "Read",
        "input": {
            "file_path": "/a.py",
            "notebook_path": "/b",
            "offset": 1,
            "limit": 2,
            "pages": "",
            "command": "cat a.py",
        },
    },
    {"type": "tool_use", "id": "t", "name": "Grep", "input": {"pattern": "x", "paths": [{"a": "b"}]}},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "done"}], "is_error": True},
    {"type": "tool_result", "tool_use_id": "t", "content": "done", "source": None, "tool_name": None},
]
IMAGE = {"type": "image", "source": {"data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQ="}}
MESSAGE = {
    "id": "m",
    "model": "claude-opus-4-1",
    "content": BLOCKS,
    "stop_reason": "end_turn",
    "usage": USAGE,
    "diagnostics": {"cache_miss_reason": None},
}
SOUND = [
    {**COMMON, "message": {"content": BLOCKS[-2:]}},
    {**COMMON, "message": {"content": "a prompt"}},
    {**COMMON, "type": "assistant", "message": MESSAGE},
    {**COMMON, "type": "attachment"},
    {**COMMON, "type": "system"},
    {**COMMON, "type": "progress"},
]


OUTPUT = (ROOT / "tests" / "sources" / "context_outputs" / "07_markdown_opus48_1m_862k_2026-07-08.md").read_text(
    encoding="utf-8"
)
HANDED_ON = [
    {**COMMON, "message": {"content": f"<local-command-stdout>{OUTPUT}</local-command-stdout>"}},
    {
        **COMMON,
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": [IMAGE, {"type": "text", "text": "a"}]},
    },
    {
        **COMMON,
        "type": "attachment",
        "attachment": {"type": "mcp_instructions_delta", "addedNames": ["a", "b"], "path": "a"},
    },
    {**COMMON, "type": "assistant", "message": {**MESSAGE, "content": [IMAGE], "model": "<synthetic>"}},
    {
        **COMMON,
        "type": "assistant",
        "message": {**MESSAGE, "usage": {**USAGE, "iterations": [{"type": "message"}, {}]}},
    },
    {**COMMON, "type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 7}},
    {**COMMON, "isCompactSummary": True, "message": {"content": "summary"}},
]


def changed(value: Any, others: Callable[[], list[bytes]]) -> Iterator[bytes]:
    """The JSON of `value` with one value in it changed, one key left out, spelled otherwise or standing there twice."""
    yield from others()
    if isinstance(value, list):
        held = [written(item) for item in value]
        for i, item in enumerate(value):
            for other in (*changed(item, others), held[i] + b"," + held[i]):
                yield b"[" + b",".join([*held[:i], other, *held[i + 1 :]]) + b"]"
    elif isinstance(value, dict):
        pairs = [written(key) + b":" + written(item) for key, item in value.items()]
        for i, (key, item) in enumerate(value.items()):
            rest, name = pairs[:i] + pairs[i + 1 :], written(key) + b":"
            yield b"{" + b",".join(rest) + b"}"
            yield b"{" + b",".join([*rest, b'"\\u00%02x' % ord(key[0]) + pairs[i][2:]]) + b"}"
            yield from (b"{" + b",".join([*pairs, name + other]) + b"}" for other in (b"null", b'"x"', *others()[:3]))
            for other in changed(item, others):
                yield b"{" + b",".join([*pairs[:i], name + other, *pairs[i + 1 :]]) + b"}"


def written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def same(make: Any, lines: list[bytes]) -> None:
    """Holds them together, for it is quick; where they differ, names the line that does."""
    data = b"".join(line + b"\n" for line in lines)
    if told(compiled(data)[0]) != told(make.extract(data)):
        for line in lines:
            assert told(compiled(line + b"\n")[0]) == told(make.extract(line + b"\n")), line
        raise AssertionError("each line reads the same, but not all together")


@built
@pytest.mark.parametrize("line", SOUND, ids=lambda line: line["type"])
def test_a_line_reads_the_same_whatever_one_value_is(
    make: Any, odd_values: list[bytes], broken_values: list[bytes], line: dict[str, Any]
) -> None:
    """What is no JSON is slow to read, and as bad in any place: each place gets a few of it in turn."""
    turn = itertools.count()

    def others() -> list[bytes]:
        return odd_values + broken_values[next(turn) % 16 :: 16]

    assert compiled(written(line) + b"\n")[1] == 0
    same(make, list(changed(line, others)))


@built
@pytest.mark.parametrize("line", HANDED_ON, ids=lambda line: line["type"])
def test_a_line_out_of_the_common_reads_the_same(make: Any, line: dict[str, Any]) -> None:
    assert compiled(written(line) + b"\n")[1] == 1
    same(make, [written(line)])


@built
def test_a_command_output_is_seen_however_it_is_spelled(make: Any) -> None:
    line = written(HANDED_ON[0])
    for old, new in ((b"<local", b"\\u003clocal"), (b"-command", b"\\u002dcommand"), (b"stdout>", b"stdout\\u003e")):
        assert make.extract(line.replace(old, new)).tables["counted"].size
        same(make, [line.replace(old, new)])


@built
@pytest.mark.parametrize("depth", [1, 7, 8, 9, 63, 64, 65, 300, 1200, 100_000])
def test_nesting_reads_the_same(make: Any, depth: int) -> None:
    """Beyond some depth nobody follows, and both say so."""
    block = b'{"type":"tool_result","tool_use_id":"t","content":['
    values = [b"[" * depth + b"]" * depth, b'{"content":' * depth + b'"a"' + b"}" * depth]
    places = [
        b'"odd":%b',
        b'"toolUseResult":[%b]',
        b'"attachment":{"type":"x","content":%b}',
        b'"message":{"content":[%b]}',
    ]
    places += [b'"message":{"content":[{"type":"tool_use","id":"t","name":"Grep","input":%b}]}']
    lines = [b'{"type":"%b","uuid":"u",%b}' % (kind, place % value) for kind in (b"user", b"attachment") for place in places
             for value in values]  # fmt: skip
    lines.append(b'{"type":"user","uuid":"u","message":{"content":[' + block * depth + b"]}" * depth + b"]}}")
    same(make, lines)


@built
def test_times_read_the_same(make: Any, odd_times: list[str]) -> None:
    """Every day there is, and some there are not: around leap years, and around the years that are taken."""
    days = [
        f"{year:04}-{month:02}-{day:02}T{hour:02}:59:09.{hour * 43:03}Z"
        for year in (1, 1969, 1970, 1999, 2000, 2023, 2024, 2100, 2199, 2200, 9999)
        for month in range(14)
        for day in (0, 1, 9, *range(27, 34))
        for hour in (0, 9, 23, 24)
    ]
    lines = [{"type": "user", "uuid": "u", "timestamp": time} for time in (*days, *odd_times)]
    same(make, [written(line) for line in lines])


PIECES = ["\n", '"', "\\", "\\u", '": ', ": ", "é", "日", "😀", "\x7f", "/", "\u2028", "\x01"]


@built
@pytest.mark.parametrize("separators", [(", ", ": "), (", ", ":")], ids=["spaced", "half spaced"])
@pytest.mark.parametrize("ascii_only", [False, True], ids=["utf8", "ascii"])
def test_text_is_measured_wherever_its_odd_letters_stand(
    make: Any, ascii_only: bool, separators: tuple[str, str]
) -> None:
    """Text is looked at in steps of 16 and 64 bytes: no letter may be lost between two.

    What shows by a space or an escape that it is not compact counts as if it were: so here something else is not, too.
    """
    session = make.Session()
    for piece in PIECES:
        for before in (*range(36), *range(56, 72), *range(120, 132)):
            for after in (0, 40, 100):
                text = "a" * before + piece + "b" * after + piece * (before % 3)
                session.call(1000, make.said(text), make.use("Write", "toolu_1", file_path="/a", content=text))
    dumps = partial(json.dumps, ensure_ascii=ascii_only, separators=separators)
    data = b"".join(dumps(line).encode() + b"\n" for line in session.lines)
    found, handed = compiled(data)
    assert handed == 0
    assert told(found) == told(make.extract(data))


@built
@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="aZ9_.-/\\ \t\n\x1c'\"`;|&<>()=:,é\u3000\x85ß", max_size=40), min_size=1, max_size=5))
def test_commands_name_the_same_files(make: Any, commands: list[str]) -> None:
    session = make.Session()
    session.call(1000, *(make.use("Bash", f"t{i}", command=command) for i, command in enumerate(commands)))
    data = session.text()
    assert told(compiled(data)[0]) == told(make.extract(data))


@built
@pytest.mark.parametrize("length", [0, 1, 16, 17, 31, 32, 33, 64, 65, 96, 97, 128, 129, 240, 241, 1000])
def test_ids_of_any_length_hash_the_same(make: Any, length: int) -> None:
    data = (
        make.dumps({"type": "user", "uuid": "u" * length, "sessionId": "s", "parentUuid": "é" * (length // 2)}) + b"\n"
    )
    found, handed = compiled(data)
    assert handed == 0
    assert told(found) == told(make.extract(data))


@built
def test_it_reads_no_more_than_it_was_given() -> None:
    scanner = claude_code.SCANNER(Rows(), claude_code.read_line)
    with pytest.raises(ValueError, match="fewer"):
        scanner(bytearray(b"{}\n"), 4, 1)
    assert scanner(bytearray(b"{}\n{}"), 5, 7) == (8, 3)
    assert scanner(bytearray(), 0, 7) == (7, 0)
