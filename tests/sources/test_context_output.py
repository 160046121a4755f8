"""/context is the only ground truth in a log: a row misread sends a user after the wrong part of the context.

The outputs are public ones; their README has the table that the expected numbers were checked against by hand.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlib.models import full_window
from ctxlib.sources.context_output import ContextOutput, looks_like, parse

OUTPUTS = Path(__file__).parent / "context_outputs"


def text_of(number: str) -> str:
    """An output by its digits; `05b` is the second of the two in one file, `01.line` the content of the log's line."""
    pattern = {"01": "01_*d.txt", "01.line": "01_*.jsonl", "01.plain": "01_*.plain.txt", "05b": "05_*"}
    (path,) = OUTPUTS.glob(pattern.get(number, f"{number}_*"))
    text = path.read_text(encoding="utf-8")
    if number == "01.line":
        content = json.loads(text)["message"]["content"]
        assert isinstance(content, str)
        return content
    return text.partition("----\n")[2] if number == "05b" else text


def output(number: str) -> ContextOutput:
    found = parse(text_of(number))
    assert found is not None
    return found


def parts(found: ContextOutput) -> dict[str, int]:
    return {category: tokens for category, _, tokens, kind in found.rows if kind == "used"}


SYSTEM = ("system_prompt", "tools", "mcp_tools", "agents", "memory", "skills", "messages")
# number: model, header total, window, buffer, used, then the used rows in the order of SYSTEM (0: no such row)
TABLE: dict[str, tuple[str, int, int, int, int, tuple[int, ...]]] = {
    "01": ("claude-sonnet-4-20250514[1m]", 430_000, 1_000_000, 0, 430_000, (3200, 11600, 12100, 243, 6000, 0, 396_900)),
    "02": ("claude-opus-4-5-20251101", 166_000, 200_000, 45_000, 120_715, (3200, 17900, 3200, 15, 2100, 0, 94_300)),
    "03": ("claude-sonnet-4-5-20250929", 93_000, 200_000, 45_000, 47_900, (2500, 13300, 1300, 0, 1300, 0, 29_500)),
    "04": ("claude-sonnet-4-5-20250929", 81_000, 200_000, 45_000, 35_500, (2300, 12300, 6000, 0, 0, 0, 14_900)),
    "05": ("claude-sonnet-4-5-20250929", 82_000, 200_000, 45_000, 37_308, (2500, 13900, 15700, 0, 5200, 0, 8)),
    "05b": ("claude-sonnet-4-5-20250929", 68_000, 200_000, 0, 22_508, (2500, 13500, 1300, 0, 5200, 0, 8)),
    "06": ("claude-opus-4-7", 13_300, 1_000_000, 0, 13_300, (2400, 8700, 0, 669, 254, 1200, 13)),
    "07": ("claude-opus-4-8", 862_000, 1_000_000, 0, 862_000, (3700, 14800, 0, 0, 0, 2100, 841_400)),
    "08": ("claude-sonnet-5", 56_200, 967_000, 33_000, 56_200, (10600, 13800, 0, 2400, 1600, 4100, 24_100)),
    "09": ("claude-sonnet-5", 33_200, 967_000, 33_000, 33_200, (8600, 19400, 0, 0, 0, 1800, 3300)),
    "10": ("claude-sonnet-5-5", 35_500, 1_000_000, 33_000, 35_500, (2300, 14600, 0, 985, 11500, 6100, 10)),
    "11": ("claude-opus-4-8[1m]", 25_700, 1_000_000, 0, 25_700, (2600, 19100, 0, 386, 2000, 1700, 8)),
    "12": ("claude-sonnet-5", 80_300, 967_000, 33_000, 80_300, (9800, 18500, 7100, 550, 1300, 5300, 38_100)),
    "13": ("claude-haiku-4-5-20251001", 68_205, 200_000, 0, 68_205, (0, 14144, 0, 0, 52060, 1993, 8)),
}
# number: the table's sum of the used rows, in tokens
SUMS = {
    "01": 430_043,
    "02": 120_700,
    "03": 47_900,
    "04": 35_500,
    "05": 37_300,
    "05b": 22_500,
    "06": 13_200,
    "07": 862_000,
    "08": 56_600,
    "09": 33_100,
    "10": 35_500,
    "11": 25_800,
    "12": 80_700,
    "13": 68_205,
}


@pytest.mark.parametrize("number", TABLE)
def test_header_and_rows_of_every_known_output(number: str) -> None:
    found = output(number)
    model, total, window, buffer, used, rows = TABLE[number]
    assert (found.model, found.total, found.window, found.buffer, found.used) == (model, total, window, buffer, used)
    assert parts(found) == {name: tokens for name, tokens in zip(SYSTEM, rows, strict=True) if tokens}
    assert sum(parts(found).values()) == pytest.approx(SUMS[number], abs=51)
    assert found.used == pytest.approx(SUMS[number], abs=401)


@pytest.mark.parametrize("number", ["01.line", "01.plain"])
def test_colours_and_json_do_not_change_what_is_read(number: str) -> None:
    assert output(number) == output("01")


def test_the_total_of_a_screen_with_a_buffer_row_holds_the_buffer() -> None:
    for number in ("02", "03", "04", "05"):
        found = output(number)
        assert found.used + found.buffer == pytest.approx(found.total, abs=500)


def test_a_screen_copied_without_its_last_rows_does_not_count_the_buffer_as_used() -> None:
    cut = text_of("03").partition("     ⛶ ⛶ ⛶ ⛝")[0].partition("⛶ Free space")[0]
    found = parse(cut)
    assert found is not None
    assert (found.total, found.used) == (93_000, 47_900)


@pytest.mark.parametrize(
    ("number", "free", "deferred"),
    [
        ("01", 569_900, 0),
        ("02", 34_000, 0),
        ("06", 986_700, 0),
        ("07", 138_000, 12_900 + 15_600),
        ("08", 877_200, 18_700 + 20_000),
        ("09", 900_800, 13_000),
        ("10", 931_500, 20_500),
        ("11", 974_300, 16_400),
        ("12", 853_400, 25_700 + 17_500),
        ("13", 131_795, 24_056 + 15_618),
    ],
)
def test_free_space_and_deferred_schemas_are_not_occupied(number: str, free: int, deferred: int) -> None:
    rows = output(number).rows
    assert sum(tokens for _, _, tokens, kind in rows if kind == "free") == free
    assert sum(tokens for category, _, tokens, kind in rows if category == kind == "deferred") == deferred
    assert all(category == "" for category, _, _, kind in rows if kind in ("free", "buffer"))


def test_a_window_shown_less_its_buffer_is_a_window_of_a_million() -> None:
    for number in ("08", "09", "10", "12"):
        found = output(number)
        assert full_window(found.window or 0, found.buffer) == 1_000_000


def test_single_tools_agents_and_files_keep_their_counts() -> None:
    first = output("01").details
    assert len(first) == 25 + 1 + 1
    assert sum(tokens for category, _, tokens in first if category == "mcp_tools") == pytest.approx(12_100, abs=50)
    assert ("agents", "code-reviewer", 243) in first
    assert ("memory", "/Users/testuser/.claude/CLAUDE.md", 2600) in first
    assert output("02").details == (
        ("mcp_tools", "mcp__plugin_context7_context7__resolve-library-id", 1000),
        ("mcp_tools", "mcp__plugin_context7_context7__query-docs", 913),
        ("mcp_tools", "mcp__ide__getDiagnostics", 611),
        ("mcp_tools", "mcp__ide__executeCode", 682),
        ("agents", "superpowers:code-reviewer", 15),
        ("memory", "CLAUDE.md", 28),
        ("memory", "AGENTS.md", 2100),
    )
    assert len(output("04").details) == 9
    assert output("08").details == (
        ("mcp_tools", "mcp__pencil__batch_design", 974),
        ("mcp_tools", "mcp__pencil__batch_get", 1500),
    )
    assert output("11").details[-2:] == (("skills", "planwise", 80), ("skills", "deep-research", 160))
    assert ("memory", "/home/user/.claude-mc/CLAUDE.md", 1245) in output("13").details


MARKDOWN = """## Context Usage

**Model:** claude-opus-5
**Tokens:** {total} / {window} ({percent}%)

### Categories

| Category | Tokens | Percentage |
|---|---|---|
| System prompt | {one} | 1.0% |
| Hooks of tomorrow | 5k | 1.0% |
| Free space | 1,234 | 1.0% |

### Suggestions

- Use less: 3k tokens (1.0%)

### Memory Files

| Type | Path | Tokens |
|---|---|---|
| User | C:\\Users\\me\\CLAUDE.md | < 20 |
"""


def test_an_unknown_category_is_kept_as_other_and_prose_is_not_kept() -> None:
    found = parse(MARKDOWN.format(total="1,234", window="1m", percent=1, one="~60"))
    assert found is not None
    assert found.rows == (
        ("system_prompt", "System prompt", 60, "used"),
        ("other", "Hooks of tomorrow", 5000, "used"),
        ("", "Free space", 1234, "free"),
    )
    assert found.details == (("memory", "C:\\Users\\me\\CLAUDE.md", 20),)


@pytest.mark.parametrize(
    ("printed", "tokens"),
    [
        ("8", 8),
        ("243", 243),
        ("3.2k", 3200),
        ("45.0k", 45000),
        ("1.0k", 1000),
        ("1m", 10**6),
        ("1.1k", 1100),
        ("1,234", 1234),
        ("~60", 60),
        ("< 20", 20),
        ("1.5M", 1500000),
        ("986.7k", 986700),
    ],
)
def test_numbers_in_every_spelling(printed: str, tokens: int) -> None:
    found = parse(MARKDOWN.format(total="8k", window="200k", percent=4, one=printed))
    assert found is not None
    assert found.rows[0] == ("system_prompt", "System prompt", tokens, "used")


@pytest.mark.parametrize("number", TABLE)
def test_every_known_output_is_worth_parsing(number: str) -> None:
    assert looks_like(text_of(number))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Set model to opus",
        "The System prompt takes space in the Context Usage screen: 3k/200k tokens (2%), Free space 12%.",
        '{"context_usage":{"total_tokens":5}}',
        "## Context Usage\n**Tokens:** 5k / 200k (3%)\n",
    ],
)
def test_text_that_is_no_output_gives_nothing(text: str) -> None:
    assert parse(text) is None


PIECES = st.sampled_from(
    [
        "Context Usage",
        "\n",
        "\x1b[38;2;1m",
        "\\u001b[2m",
        "⛁ ",
        "| ",
        " |",
        "System prompt",
        "Messages: ",
        "Free space",
        ": ",
        "3.2k",
        "1,2.,.k",
        "~",
        "< ",
        " / ",
        "200k",
        "m",
        " tokens",
        "(6%)",
        "### Skills",
        "Skills · /skills",
        "└ ",
        '"context_usage"',
        '"name":"',
        '","tokens":',
        '12,"kind":"used"',
        '"total_tokens":9',
        "**Model:** ",
        "·",
        "\ud800",
        "| Messages | 5k | 3% |\n",
        "**Tokens:** 5k / 200k (3%)\n",
        "| Free space | ~60 | 3% |\n",
        '"mcp_tools":[',
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_raises_and_no_number_is_negative(text: str) -> None:
    looks_like(text)
    found = parse(text)
    if found is not None:
        assert min(found.total, found.used, found.buffer, *(tokens for _, _, tokens, _ in found.rows)) >= 0
        assert all(len(name) <= 60 for _, name, _, _ in found.rows)


@given(st.sampled_from(sorted(TABLE)), st.data())
def test_an_output_cut_anywhere_does_not_raise(number: str, data: st.DataObject) -> None:
    text = text_of(number)
    start, end = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))
    parse(text[start:end])
    parse(text[:start] + "9" * 50 + text[end:])


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1 / ",
        "a: ",
        "└ a:",
        "(((",
        "\x1b[",
        "\x1b[1;",
        '"name":"',
        '"context_usage"',
        "| ",
        "a: 1 ",
        "·",
        "└ a: 1\n",
        "| a | 1 | 1% |\n",
        "a: 1 tokens (1%)\n",
        "1/1 (1%)\n",
        '"mcp_tools":[{',
        '"name":"\\\\',
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    head = "**Tokens:** 5k / 200k (3%)\n### Skills\n"
    for text in (unit * (1_000_000 // len(unit)), head + unit * (1_000_000 // len(unit))):
        started = time.perf_counter()
        parse(text)
        parse('"context_usage"' + text)
        assert time.perf_counter() - started < 10
