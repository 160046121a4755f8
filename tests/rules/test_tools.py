"""X-size, X-tools: what tools put into the context, by name and by server."""

from __future__ import annotations

from typing import Any

import pytest

from ctxlib.logs.contents import mcp_server
from ctxlib.readout import detail
from ctxlib.rules.tools import tool_totals, tools_df


def results(make: Any, *given: tuple[str, Any]) -> Any:
    s = make.Session()
    for i, (name, content) in enumerate(given):
        s.call(1000 + i, make.use(name, f"t{i}"))
        s.result(f"t{i}", content)
    return s


def test_one_ceil_per_result_over_the_sum_of_its_text(make: Any, scanned: Any) -> None:
    parts = [{"type": "text", "text": "é"}, {"type": "text", "text": "1234"}]
    got = detail(scanned(results(make, ("A", parts), ("B", "é"), ("C", ""), ("D", None))))
    assert got["tool_tokens"] == {"A": 2, "B": 1, "C": 0, "D": 0}


def test_most_tokens_first_and_ties_by_name(make: Any, scanned: Any) -> None:
    given = [(name, "x" * 40) for name in ("Zed", "b", "B", "a", "Mid")]
    got = detail(scanned(results(make, *given, ("Big", "x" * 44))))
    assert got["top_tools"] == [["Big", 11], ["B", 10], ["Mid", 10], ["Zed", 10], ["a", 10]]


def test_a_result_without_its_use_is_unknown_and_outside_the_top(make: Any, scanned: Any) -> None:
    s = results(make, ("A", "x" * 4))
    s.result("elsewhere", "x" * 4000)
    got = detail(scanned(s))
    assert got["top_tools"] == [["A", 1]]
    assert got["tool_tokens"] == {"A": 1, "(unknown)": 1000}
    assert tool_totals(scanned(s))[-1][0] == "(unknown)"


def test_a_result_finds_its_tool_in_another_file(make: Any, scanned: Any) -> None:
    """A resume in a new file holds the result of a call that the old one holds."""
    a, b = results(make, ("A", "x" * 4)), make.Session("b")
    use_line = a.lines.pop()
    b.call(5)
    b.result(use_line["message"]["content"][0]["tool_use_id"], "x" * 80)
    assert detail(scanned(a, b))["tool_tokens"] == {"A": 20}


def test_the_copy_of_a_result_is_not_counted(make: Any, scanned: Any) -> None:
    s = results(make, ("A", "x" * 4))
    s.lines[-1]["toolUseResult"] = {"content": "y" * 4000}
    assert detail(scanned(s))["tool_tokens"] == {"A": 1}


def test_a_result_repeated_in_the_log_counts_once(make: Any, scanned: Any) -> None:
    s = results(make, ("A", "x" * 40))
    s.result("t0", "x" * 40)
    assert detail(scanned(s))["tool_tokens"] == {"A": 10}


def test_errors_and_calls_are_counted(make: Any, scanned: Any) -> None:
    s = results(make, ("A", "x"))
    s.call(2000, make.use("A", "u"))
    s.result("u", "no such file", True)
    s.call(3000, make.use("A", "unanswered"))
    df = tools_df(scanned(s)).set_index("tool")
    assert df.loc["A", ["calls", "results", "errors"]].tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    ("tool", "known", "server"),
    [
        ("mcp__git_hub__get", [], "git_hub"),
        ("mcp__a__b__get", [], "a"),
        ("mcp__a__b__get", ["a__b", "a"], "a__b"),
        ("mcp__a__b__get", ["a__b__get", "a"], "a"),
        ("mcp__plugin_x_y__tool", [], "plugin_x_y"),
        ("mcp__lonely", [], ""),
        ("Read", ["Read"], ""),
    ],
)
def test_the_server_of_a_tool(tool: str, known: list[str], server: str) -> None:
    assert mcp_server(tool, known) == server


def test_servers_that_the_log_names_settle_where_a_name_ends(make: Any, scanned: Any) -> None:
    """A server named `my server` or `a__b` is spelled with `_` in its tools."""
    s = results(make, ("mcp__a__b__get", "x" * 40), ("mcp__my_server__do", "x" * 8), ("mcp__a__c", "x" * 4))
    s.attach("mcp_instructions_delta", addedNames=["a__b", "my server"], addedBlocks=["x"])
    assert detail(scanned(s))["mcp_by_server"] == {"a__b": 10, "my_server": 2, "a": 1}


def test_documents_are_counted_and_not_sized(make: Any, scanned: Any) -> None:
    pdf = {"type": "document", "source": {"type": "base64", "data": "JVBERi0" * 99}}
    s = results(make, ("Read", [pdf, {"type": "text", "text": "1234"}]))
    s.prompt([pdf])
    got = detail(scanned(s))
    assert (got["unsized_documents"], got["tool_tokens"]) == (2, {"Read": 1})


def test_an_image_is_the_constant_whatever_its_size(make: Any, scanned: Any) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "x" * 90_000}}
    assert detail(scanned(results(make, ("A", [image, image]))))["tool_tokens"] == {"A": 3000}
