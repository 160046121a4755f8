"""A file read from disk gives its lines' rows, whatever its size and its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ctxlib.logs.reader as reader
from ctxlib.sources import CLAUDE_CODE


@pytest.fixture
def log(make: Any) -> bytes:
    s = make.Session()
    for i in range(5):
        s.prompt(f"Frage {i} « 🙂 »" * (i + 1))
        s.call(1000 + i)
    lines: list[bytes] = s.text().splitlines(keepends=True)
    lines.insert(3, b"no json\n")
    lines.insert(5, b"\n")
    return b"".join(lines)


@pytest.mark.parametrize("chunk", [1, 7, 100, 4 << 20])
def test_the_size_of_a_chunk_changes_nothing(
    make: Any, log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """A line longer than what is read at once, or one that ends exactly there, must not be lost or counted twice."""
    monkeypatch.setattr(reader, "_BUFFER", chunk)
    file = tmp_path / "a.jsonl"
    file.write_bytes(log)
    got = reader.read(str(file), CLAUDE_CODE)
    assert make.told(got) == make.told(make.extract(log))
    assert (got.lines, got.end, got.open_tail) == (12, len(log), False)


def test_line_numbers_and_notes_are_the_files_own(make: Any, log: bytes, tmp_path: Path) -> None:
    """Who looks for a skipped line finds it under its number."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(log + b'{"type":"user","mess')
    got = make.told(reader.read(str(file), CLAUDE_CODE))
    assert [line["no"] for line in got["lines"]] == [1, 2, 3, 5, 7, 8, 9, 10, 11, 12]
    assert got["notes"] == [{"no": 4, "code": "no_json"}, {"no": 13, "code": "half_written"}]


def test_a_whole_last_line_without_its_end_counts_once(make: Any, log: bytes, tmp_path: Path) -> None:
    """Copies of logs often lack the final newline: their last call counts; the place to read on lies before it."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(log[:-1])
    got = reader.read(str(file), CLAUDE_CODE)
    assert make.told(got) == make.told(make.extract(log))
    assert (got.lines, got.open_tail) == (11, True)
    assert log[got.end :].startswith(b'{"parentUuid"')


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"])
def test_empty_files_have_no_rows_and_no_faults(make: Any, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(data)
    assert all(not held for held in make.told(reader.read(str(file), CLAUDE_CODE)).values())


def test_a_folder_is_an_error_that_names_itself(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"directory|denied"):
        reader.read(str(tmp_path), CLAUDE_CODE)
