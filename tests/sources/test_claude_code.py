"""How a line reads: whatever its shape, no call is lost, no run stops, and no number is made up."""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib.sources.claude_code import instant, is_log
from ctxlib.tables import NO_TIME, NULL, BlockKind, LineKind

Json = dict[str, Any]


@pytest.fixture(scope="module")
def shaped(make: Any) -> list[Json]:
    """One line of every shape that real logs hold."""
    s = make.Session()
    s.prompt("Grüße, bitte «lesen» 🙂")
    s.prompt([{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "data": png(640, 360)}}])
    s.call(
        12_345,
        make.thought("hm", "c2ln" * 50),
        make.said("I read."),
        make.use("Read", "t1", file_path="/home/u/proj/a.py", offset="10", limit=20),
        make.use("Bash", "t2", command="cat b.txt | head"),
        usage={
            "input_tokens": 5,
            "cache_read_input_tokens": 12_000,
            "cache_creation_input_tokens": 340,
            "cache_creation": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 300},
            "output_tokens": 77,
            "output_tokens_details": {"thinking_tokens": 11},
            "speed": "fast",
            "iterations": [{"type": "message", "input_tokens": 1}, {"type": "message", "input_tokens": 12_345}],
        },
    )
    s.lines[-1]["message"]["diagnostics"] = {
        "cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 900}
    }
    s.result("t1", "line one\nzwei\n", toolUseResult={"file": {"content": "line one\nzwei\n"}})
    s.result("t2", [{"type": "text", "text": "b"}, {"type": "tool_reference", "tool_name": "X"}], is_error=True)
    s.attach("skill_listing", content="- a skill")
    s.attach("mcp_instructions_delta", addedNames=["git_hub"], addedBlocks=["use it"])
    s.attach("queued_command", prompt=[{"type": "text", "text": "and?"}])
    s.micro("t1", "t2")
    s.boundary("manual", 150_000, 12_000, preservedSegment={"headUuid": "h", "tailUuid": "t"})
    s.summary()
    s.add("system", subtype="turn_duration", durationMs=5)
    s.call(900, id=None, request=None, stop=None)
    return s.lines


def png(width: int, height: int) -> str:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(head)) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk + b"\0" * 40).decode()


def rows(make: Any, *lines: bytes) -> dict[str, list[Json]]:
    return make.told(make.extract(b"".join(line + b"\n" for line in lines)))


def counts(make: Any, usage: Any) -> Json:
    """The usage row of a call that logged `usage`."""
    s = make.Session()
    s.call(usage=usage)
    (row,) = rows(make, make.dumps(s.lines[0]))["usage"]
    return row


# --- typed and untyped reading agree ---------------------------------------------------------------------------------


def test_the_untyped_reading_gives_the_rows_of_the_typed_one(make: Any, shaped: list[Json]) -> None:
    """A line that the fast decoder refuses must not count otherwise. (A glued `{}` makes it refuse.)"""
    for line in shaped:
        whole = make.dumps(line)
        typed, untyped = rows(make, whole), rows(make, whole + b"{}")
        assert [note["code"] for note in untyped.pop("notes")] == ["glued_records"]
        assert typed.pop("notes") == []
        assert typed == untyped, line["type"]


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.sampled_from([10**15, 1.5, 1e9, -1, "", "10", "true", "x" * 2000, "\ud83d", "\u2028", "NaN"]),
    st.just([]),
    st.just({}),
    st.lists(st.sampled_from([None, 1, "t", {}, {"type": "text", "text": "t"}]), max_size=3),
    st.dictionaries(st.sampled_from(["type", "input_tokens", "content", "data", "trigger"]), st.just("v"), max_size=2),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a line."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in ((*at, key), *places(item, (*at, key)))]


def mutated(line: Json, path: tuple[Any, ...], odd: Any) -> Json:
    copy: Any = json.loads(json.dumps(line))
    held = copy
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = odd
    return copy


@settings(max_examples=150, deadline=None)
@given(data=st.data(), odd=ODD)
def test_one_odd_field_never_stops_the_run_nor_loses_the_line(
    make: Any, shaped: list[Json], data: Any, odd: Any
) -> None:
    """A field of another type than expected costs that field at most: the line itself is still a row."""
    line = data.draw(st.sampled_from(shaped))
    path = data.draw(st.sampled_from(places(line)))
    got = rows(make, make.dumps(mutated(line, path, odd)))
    if path not in (("type",), ("subtype",)):
        assert len(got["lines"]) == 1
        assert got["notes"] == []
    if line["type"] == "assistant" and path[0] not in ("type", "message"):
        assert len(got["usage"]) == 1


@settings(max_examples=60, deadline=None)
@given(data=st.data(), odd=ODD)
def test_a_field_of_another_type_reads_alike_in_both_ways(make: Any, shaped: list[Json], data: Any, odd: Any) -> None:
    """The two readers must agree on odd lines too: which one reads a line is an accident of its neighbour."""
    line = data.draw(st.sampled_from(shaped))
    path = data.draw(st.sampled_from(places(line)))
    whole = make.dumps(mutated(line, path, odd))
    one, other = rows(make, whole), rows(make, whole + b"{}")
    one.pop("notes"), other.pop("notes")
    assert one == other


@pytest.mark.parametrize(
    ("path", "odd"),
    [
        (("message",), [{"usage": {}}]),
        (("message", "usage"), [{"input_tokens": 5}]),
        (("message", "usage", "cache_creation"), [{"ephemeral_5m_input_tokens": 5}]),
        (("message", "usage", "iterations"), {"type": "message", "input_tokens": 5}),
        (("message", "usage", "output_tokens_details"), [{"thinking_tokens": 5}]),
        (("message", "diagnostics"), [{"cache_miss_reason": None}]),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_a_list_for_an_object_or_the_other_way_round_does_not_stop_the_scan(
    make: Any, shaped: list[Json], path: tuple[Any, ...], odd: Any
) -> None:
    line = mutated(next(line for line in shaped if line["type"] == "assistant"), path, odd)
    assert len(rows(make, make.dumps(line))["lines"]) == 1


def test_a_result_given_as_an_object_does_not_stop_the_scan(make: Any) -> None:
    s = make.Session()
    s.result("t", {"type": "text", "text": "abc"})
    assert len(rows(make, make.dumps(s.lines[0]))["lines"]) == 1


@pytest.mark.parametrize("key", ["compactMetadata", "toolUseResult"])
def test_odd_metadata_does_not_stop_the_scan(make: Any, shaped: list[Json], key: str) -> None:
    line = next(line for line in shaped if key in line)
    assert len(rows(make, make.dumps({**line, key: [{"trigger": "auto"}]}))["lines"]) == 1


@pytest.mark.parametrize(
    "path",
    [
        ("message", "usage", "input_tokens"),
        ("message", "usage", "output_tokens"),
        ("message", "usage", "output_tokens_details", "thinking_tokens"),
        ("message", "diagnostics", "cache_miss_reason", "cache_missed_input_tokens"),
        ("compactMetadata", "preTokens"),
    ],
    ids=lambda path: path[-1],
)
@pytest.mark.parametrize("huge", [2**63, 10**30])
def test_a_count_beyond_64_bits_does_not_stop_the_scan(
    make: Any, shaped: list[Json], path: tuple[str, ...], huge: int
) -> None:
    """One absurd number in one line must not cost the report of all logs."""
    line = next(line for line in reversed(shaped) if path in places(line))
    assert len(rows(make, make.dumps(mutated(line, path, huge)))["lines"]) == 1


@pytest.mark.parametrize(
    "given", [{"offset": 10**30}, {"limit": "1e300"}, {"pages": "9" * 30}], ids=lambda g: next(iter(g))
)
def test_an_absurd_range_of_a_read_does_not_stop_the_scan(make: Any, given: Json) -> None:
    s = make.Session()
    s.call(1000, make.use("Read", "t", file_path="/a", **given))
    assert len(rows(make, make.dumps(s.lines[0]))["blocks"]) == 1


# --- the order of keys and blanks between them -----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_keys_in_any_order_give_the_same_rows(make: Any, shaped: list[Json], data: Any) -> None:
    """isSidechain, agentId, isMeta or requestId after a long toolUseResult still count."""
    line = {
        **data.draw(st.sampled_from(shaped)),
        "isMeta": True,
        "agentId": "a1",
        "isSidechain": True,
        "toolUseResult": {"content": [{"type": "text", "text": '","toolUseResult":'}], "totalTokens": 5},
    }
    keys = data.draw(st.permutations(list(line)))
    assert rows(make, make.dumps({key: line[key] for key in keys})) == rows(make, make.dumps(line))


@pytest.mark.parametrize("key", ["isSidechain", "agentId", "isMeta", "requestId", "isCompactSummary", "parentUuid"])
def test_a_key_after_the_copy_of_the_result_is_read(make: Any, key: str) -> None:
    """A sub-agent's line taken for the main thread's puts its context on the wrong curve."""
    s = make.Session(isMeta=True, agentId="a7", requestId="r", isCompactSummary=False)
    s.prompt()
    line = {**s.result("t"), "isSidechain": True}
    held = line.pop(key)
    last = rows(make, make.dumps({**line, "toolUseResult": {"status": "x"}, key: held}))
    assert last == rows(make, make.dumps({**line, key: held}))


@pytest.mark.parametrize("ascii_only", [False, True])
def test_blanks_and_escapes_between_keys_change_no_size(make: Any, shaped: list[Json], ascii_only: bool) -> None:
    """A redacted or gateway-written log (json.dumps: blanks after colons) must not count more tokens than the original."""
    for line in shaped:
        respelled = json.dumps(line, ensure_ascii=ascii_only).encode()
        assert rows(make, respelled) == rows(make, make.dumps(line)), line["type"]


def test_a_tool_that_is_asked_about_progress_is_no_progress_line(make: Any) -> None:
    """`"type":"progress"` near the start of an assistant's line may be its tool's argument: the call counts."""
    line = {
        "message": {
            "content": [make.use("x", "t", type="progress")],
            "usage": {"input_tokens": 5},
            "model": "m",
            "id": "i",
        },
        **{"type": "assistant", "uuid": "u", "sessionId": "s"},
    }
    assert len(rows(make, make.dumps(line))["usage"]) == 1


# --- damaged lines ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(make: Any) -> tuple[bytes, bytes]:
    s = make.Session()
    s.call(100)
    s.call(200)
    return make.dumps(s.lines[0]), make.dumps(s.lines[1])


@pytest.mark.parametrize("between", [b"", b" ", b"\r", b"\t "])
def test_two_records_on_one_line_are_two_calls(make: Any, two: tuple[bytes, bytes], between: bytes) -> None:
    got = rows(make, two[0] + between + two[1])
    assert [row["ctx"] for row in got["usage"]] == [100, 200]


def test_a_state_line_glued_before_a_call_does_not_hide_it(make: Any, two: tuple[bytes, bytes]) -> None:
    got = rows(make, b'{"type":"summary","summary":"x","leafUuid":"y"} ' + two[0])
    assert [row["ctx"] for row in got["usage"]] == [100]


def test_a_whole_record_before_a_broken_one_is_kept(make: Any, two: tuple[bytes, bytes]) -> None:
    got = rows(make, two[0] + two[1][:50])
    assert ([row["ctx"] for row in got["usage"]], [note["code"] for note in got["notes"]]) == ([100], ["half_written"])


def test_a_record_glued_to_a_half_written_one_is_kept(make: Any, two: tuple[bytes, bytes]) -> None:
    """A crash in mid-line, then a resume that appends to the file: the first call of the resume must not vanish."""
    got = rows(make, two[0][:90] + two[1])
    assert [row["ctx"] for row in got["usage"]] == [200]


def test_nul_padding_around_a_record_is_stripped(make: Any, two: tuple[bytes, bytes]) -> None:
    got = rows(make, b"\0\0" + two[0] + b"\0\0\0", b"\0\0\0\0")
    assert [row["ctx"] for row in got["usage"]] == [100]
    assert [note["code"] for note in got["notes"]] == ["nul_line"]


def test_nul_padding_between_two_records_loses_neither(make: Any, two: tuple[bytes, bytes]) -> None:
    """After a crash the file may go on behind the padding, on the same line."""
    got = rows(make, two[0] + b"\0" * 16 + two[1])
    assert [row["ctx"] for row in got["usage"]] == [100, 200]


def test_bom_crlf_blank_lines_and_comments(make: Any, two: tuple[bytes, bytes]) -> None:
    got = rows(make, b"\xef\xbb\xbf// a comment", b"\xef\xbb\xbf" + two[0] + b"\r", b"", b" \r", two[1] + b"\r")
    assert [row["ctx"] for row in got["usage"]] == [100, 200]
    assert [row["no"] for row in got["lines"]] == [2, 5]
    assert got["notes"] == [{"no": 1, "code": "no_json"}]


def test_a_half_written_line_is_noted_with_its_number(make: Any, two: tuple[bytes, bytes]) -> None:
    assert rows(make, two[0], two[1][:-7])["notes"] == [{"no": 2, "code": "half_written"}]


def test_u2028_in_a_text_is_no_line_end_and_one_character(make: Any) -> None:
    s = make.Session()
    s.prompt("a\u2028b\u0085c")
    assert [row["chars"] for row in rows(make, make.dumps(s.lines[0]))["blocks"]] == [5]


@pytest.mark.parametrize("broken", [b"\xff", b"\xed\xa0\xbd", b"\\ud83d"], ids=["not utf-8", "raw surrogate", "escape"])
def test_bad_characters_never_lose_the_call(make: Any, broken: bytes) -> None:
    s = make.Session()
    s.call(100, make.said("x@y"))
    got = rows(make, make.dumps(s.lines[0]).replace(b"@", broken))
    assert ([row["ctx"] for row in got["usage"]], got["notes"]) == ([100], [])
    assert 3 <= got["blocks"][0]["chars"] <= 5


@pytest.mark.parametrize("depth", [100, 400, 600, 900, 990, 5_000])
@pytest.mark.parametrize("where", ["attachment", "input", "odd input"])
def test_deep_nesting_costs_at_most_its_own_line(make: Any, two: tuple[bytes, bytes], depth: int, where: str) -> None:
    """One hostile tool argument must not end the scan of all other files."""
    nest = b'{"content":' * depth + b"1" + b"}" * depth
    s = make.Session()
    if where == "attachment":
        s.attach("x", content="@@")
    elif where == "input":
        s.call(300, make.use("Read", "t", file_path="/a", deep="@@"))
    else:
        s.call(300, make.use("Read", "t", file_path=5, deep="@@"))
    got = rows(make, make.dumps(s.lines[0]).replace(b'"@@"', nest), two[0])
    assert got["usage"][-1]["ctx"] == 100
    assert len(got["lines"]) + len(got["notes"]) == 2
    # What was given up half-way leaves no rows behind: they would count for the next line.
    at = [row["line"] for row in got["usage"]]
    assert len(set(at)) == len(at)
    assert all(row["line"] < len(got["lines"]) for name in ("usage", "blocks", "evidence") for row in got[name])


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "ctx"),
    [
        ({"input_tokens": "10", "cache_read_input_tokens": "20"}, 30),
        ({"input_tokens": 10.0, "cache_read_input_tokens": 2e1}, 30),
        ({"input_tokens": True, "cache_read_input_tokens": 30}, 30),
        ({"input_tokens": None, "cache_read_input_tokens": 30}, 30),
        ({"input_tokens": "many", "cache_read_input_tokens": 30}, 30),
        ({"input_tokens": -1, "cache_read_input_tokens": -1}, NULL),
        ({"input_tokens": 0, "output_tokens": 9}, NULL),
        ({"input_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": 25}}, 30),
        ({"input_tokens": 30, "iterations": []}, 30),
        ({"input_tokens": 30, "iterations": [{"type": "message", "input_tokens": 7}]}, 30),
        ({"input_tokens": 60, "iterations": [None, {"type": "message", "input_tokens": 9}, {"type": "message"}]}, 60),
        (
            {"input_tokens": 60, "iterations": [{"type": "message", "input_tokens": 30}, {"type": "advisor_message"}]},
            30,
        ),
    ],
)
def test_context_of_odd_usage(make: Any, usage: Json, ctx: int) -> None:
    """Numbers as text count; nulls, negatives and zeros are unmeasured and never make a number."""
    assert counts(make, usage)["ctx"] == ctx


@pytest.mark.parametrize("usage", [None, 5, "x", []])
def test_a_call_without_usage_is_a_call_and_unmeasured(make: Any, usage: Any) -> None:
    s = make.Session()
    s.call()
    s.lines[0]["message"]["usage"] = usage
    (row,) = rows(make, make.dumps(s.lines[0]))["usage"]
    assert (row["ctx"], row["output"], row["input"]) == (NULL, 0, 0)


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "input_tokens": st.integers(-9, 10**9),
            "cache_read_input_tokens": st.integers(-9, 10**9),
            "cache_creation_input_tokens": st.integers(-9, 10**9),
            "cache_creation": st.fixed_dictionaries(
                {},
                optional={
                    "ephemeral_5m_input_tokens": st.integers(-9, 10**9),
                    "ephemeral_1h_input_tokens": st.integers(-9, 10**9),
                },
            ),
        },
    )
)
def test_parts_of_a_usage_add_up(make: Any, usage: Json) -> None:
    """What is written at 5 minutes and at one hour is all that is written; no count is negative; ctx is their sum."""
    row = counts(make, usage or {"x": 1})
    assert row["cache_write"] == row["cache_write_5m"] + row["cache_write_1h"]
    assert 0 <= row["unsplit"] <= row["cache_write_5m"]
    total = row["input"] + row["cache_read"] + row["cache_write"]
    assert row["ctx"] == (total or NULL)
    assert min(row["input"], row["cache_read"], row["cache_write_1h"], row["output"]) >= 0


# --- times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-01T10:00:07.123Z",
        "2026-07-01T10:00:07+0530",
        "2026-07-01T10:00:07.5+05:30",
        "2026-07-01T12:00:07.123-11:00",
        "2026-07-01 10:00:07",
    ],
)
def test_any_offset_is_understood_whatever_was_read_before(text: str) -> None:
    """A time must not depend on which lines were read before it: half an hour here is a call on another day."""
    instant("2026-07-01T10:00:00.000Z")
    assert instant(text) == round(datetime.fromisoformat(text if text[19:] else text + "+00:00").timestamp() * 1000)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00.000Z", "2026-07-01T10:00:99.000Z"])
def test_what_is_no_time_is_no_time(text: str) -> None:
    instant("2026-07-01T10:00:00.000Z")
    assert instant(text) == NO_TIME


# --- content ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "chars", "failed"),
    [
        (None, 0, None),
        ("", 0, False),
        ("füf\n", 4, True),
        ([], 0, None),
        ([{"type": "text", "text": "abc"}] * 2, 6, "true"),
    ],
)
def test_sizes_of_results(make: Any, content: Any, chars: int, failed: Any) -> None:
    """Python characters, not bytes; null is 0 and is_error null is no error."""
    s = make.Session()
    s.result("t", content, failed)
    (row,) = rows(make, make.dumps(s.lines[0]))["blocks"]
    assert (row["chars"], row["is_error"], row["kind"]) == (chars, bool(failed), BlockKind.TOOL_RESULT)


def test_images_and_documents_of_a_result(make: Any) -> None:
    """An image is 1500 tokens by rule and by its area where the first bytes tell; a PDF is counted, never sized."""
    s = make.Session()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(1280, 720)}}
    s.result("t", [image, {"type": "image", "source": {"data": "?"}}, {"type": "document", "source": {"data": "JVBE"}}])
    (row,) = rows(make, make.dumps(s.lines[0]))["blocks"]
    held = [row[name] for name in ("chars", "images", "image_tokens", "unsized_images", "documents")]
    assert held == [0, 2, 1229, 1, 1]


def test_text_given_as_an_object_instead_of_a_list_keeps_the_call(make: Any) -> None:
    s = make.Session()
    s.call(100)
    s.lines[0]["message"]["content"] = {"type": "text", "text": "abc"}
    got = rows(make, make.dumps(s.lines[0]))
    assert (got["usage"][0]["ctx"], got["lines"][0]["kind"]) == (100, LineKind.ASSISTANT)


def test_a_read_names_its_range(make: Any) -> None:
    s = make.Session()
    s.call(1, make.use("Read", "t", file_path="C:\\A\\b.py", offset="10", limit=None))
    (row,) = rows(make, make.dumps(s.lines[0]))["blocks"]
    assert (row["path"], row["offset"], row["limit"]) == ("c:/a/b.py", 10, NULL)


# --- which lines are rows --------------------------------------------------------------------------------------------


def test_usage_that_is_no_call_is_not_counted(make: Any) -> None:
    """Usage inside progress lines and results of sub-agents repeats calls that have lines of their own."""
    s = make.Session()
    usage = {"input_tokens": 999}
    s.add("progress", data={"type": "agent_progress", "message": {"message": {"usage": usage}, "type": "assistant"}})
    s.result("t", toolUseResult={"usage": usage, "totalTokens": 999})
    s.call(100, model="<synthetic>")
    s.add("assistant", isApiErrorMessage=True, message={"model": "m", "usage": {"input_tokens": 0}})
    assert rows(make, *map(make.dumps, s.lines))["usage"] == []


def test_transcripts_only() -> None:
    names = ["a/s.jsonl", "a/s/subagents/agent-1.jsonl", "a/audit.jsonl", "a\\journal.jsonl", "a/s.json"]
    assert [is_log(name) for name in names] == [True, True, False, False, False]


@pytest.fixture(autouse=True)
def _limit() -> Any:
    """The recursion limit that a user's program has."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)
