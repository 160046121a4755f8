"""A growing file: what was read before and what came since are together the rows of the whole (sources/base.py)."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib.logs.reader import read
from ctxlib.logs.store import pack, unpack
from ctxlib.sources import CLAUDE_CODE
from ctxlib.sources.base import joined, without_tail


@pytest.fixture(scope="module")
def lines(make: Any) -> list[bytes]:
    """Lines that add rows to every table, and lines that cannot be read."""
    s = make.Session()
    s.prompt("Grüße 🙂 \u2028 «»")
    s.call(500, make.thought("…"), make.use("Bash", "t1", command="cat ä.txt"), make.use("Read", "t2", file_path="/é"))
    s.result("t1", "ßßß")
    s.result("t2", "x", toolUseResult={"resolvedModel": "claude-opus-4-8[1m]"})
    s.attach("mcp_instructions_delta", addedNames=["srv"], addedBlocks=["b"])
    s.micro("t1")
    s.boundary("auto", 150_000)
    s.summary()
    s.prompt(
        "<local-command-stdout>## Context Usage\n\n**Model:** claude-opus-4-8\n**Tokens:** 56.2k / 1m (6%)\n\n"
        "| Category | Tokens | Percentage |\n|---|---|---|\n| System prompt | 3k | 1% |\n| System tools | 12k | 1% |\n"
    )
    s.call(900)
    others = [b"no json", b'{"type":"summary","x":"resolvedModel"}', b"", b"\0\0", b"\xff\xfe"]
    whole: list[bytes] = s.text().splitlines()
    return [*whole, whole[0] + whole[3], *others]


def grown(data: bytes, cuts: list[int]) -> Any:
    """The extract that reading a file at each of its sizes gives, always going on from where the last reading ended."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.jsonl"
        held = None
        for size in [*sorted(cuts), len(data)]:
            file.write_bytes(data[:size])
            if held is None:
                held = read(str(file), CLAUDE_CODE)
            else:
                held = without_tail(held)
                more = read(str(file), CLAUDE_CODE, start=held.end, first_line=held.lines + 1)
                held = joined(held, more)
    return held


@settings(max_examples=80, deadline=None)
@given(data=st.data(), ended=st.booleans())
def test_a_log_read_while_it_grows_is_the_log_read_at_once(
    make: Any, lines: list[bytes], data: Any, ended: bool
) -> None:
    """Cut anywhere, also inside a character: no call twice, none lost, line numbers and notes right."""
    picked = data.draw(st.lists(st.sampled_from(lines), max_size=8))
    text = b"\n".join(picked) + (b"\n" if ended else b"")
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
    got, whole = grown(text, cuts), make.extract(text)
    assert make.told(got) == make.told(whole)
    assert (got.lines, got.end) == (whole.lines, whole.end)
    assert got.open_tail == bool(text and not text.endswith(b"\n"))


def test_every_cut_of_a_real_shaped_log(make: Any, lines: list[bytes]) -> None:
    """The same at many single places of one whole log."""
    text = b"\n".join(lines) + b"\n"
    want = make.told(make.extract(text))
    for cut in random.Random(7).sample(range(len(text)), 60):
        assert make.told(grown(text, [cut])) == want, cut


def test_an_open_tail_counts_once_before_and_after_it_is_finished(make: Any) -> None:
    """A last line without its end is in the answer at once, and is not there twice when the file has grown."""
    s = make.Session()
    s.call(100)
    s.call(200)
    text = s.text()
    assert [len(grown(text[:-1], []).tables["usage"]), len(grown(text, [len(text) - 1]).tables["usage"])] == [2, 2]


def test_the_sample_logs_in_halves(make: Any) -> None:
    """Each sample log, cut at a line end: the extracts of the two parts joined are the extract of the whole."""
    from ctxlib.bundle import sample_root

    for file in sorted(sample_root().rglob("*.jsonl"))[::5]:
        data = file.read_bytes()
        cut = data.find(b"\n", len(data) // 2) + 1
        assert make.told(grown(data, [cut])) == make.told(make.extract(data)), file.name


IDS = [[], ["r1", "r2"], [""], ["r\n1", "r2"]]


@pytest.mark.parametrize("ids", IDS, ids=["none", "two", "empty", "line end"])
def test_what_the_store_keeps_is_what_was_read(make: Any, ids: list[str]) -> None:
    """An odd id of one call must not shift the ids of all others, nor stop the second scan."""
    s = make.Session()
    for id in ids:
        s.call(100, id=None, request=None)
        s.lines[-1].update(requestId=id, uuid="")
    extract = make.extract(s.text())
    again = unpack(pack(extract))
    assert make.told(again) == make.told(extract)
    assert len(again.call_ids) == len(again.tables["usage"])
