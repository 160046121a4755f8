"""What every source gives: the rows of one file, and a way to add the rows of what was appended to it.

A source reads lines one by one and knows nothing of other lines or other files: the rows of a whole file are the rows
of its first half followed by those of its second. That is what makes growing logs cheap (logs/store.py) and the
cut-anywhere test possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from ctxlib.tables import CODES, RAW, Table, ident

_LETTERS = {"i4": "i", "i8": "q", "u1": "B", "u8": "Q", "b1": "?"}  # of a column's kind and bytes, for struct
_STRUCTS = {
    dtype: Struct("=" + "".join(_LETTERS[f"{dtype[name].kind}{dtype[name].itemsize}"] for name in dtype.names or ()))
    for dtype in RAW.values()
}


class Extract(msgspec.Struct):
    """Counts, ids, names and times of one file: never its text."""

    pool: list[str]
    tables: dict[str, Table]
    call_ids: list[str]  # one a row of `usage`: the id as the log spells it
    lines: int = 0
    end: int = 0  # bytes read: where the next line begins
    open_tail: bool = False  # the last line had no line end (it may be complete all the same)


class Packed:
    """The rows of a table as its bytes, which compiled code adds to as well. In Python it is as fast as a list of tuples that
    becomes an array in the end."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype, self.data = dtype, bytearray()
        self._struct = _STRUCTS[dtype]
        self._pack, self._size = self._struct.pack, self._struct.size

    def append(self, row: tuple[Any, ...]) -> None:
        self.data += self._pack(*row)

    def __len__(self) -> int:
        return len(self.data) // self._size

    def __getitem__(self, at: int) -> tuple[Any, ...]:
        return self._struct.unpack_from(self.data, at * self._size)

    def __setitem__(self, at: int, row: tuple[Any, ...]) -> None:
        self._struct.pack_into(self.data, at * self._size, *row)

    def table(self) -> Table:
        """The rows as an array over these bytes, to be asked for when no more are added."""
        return np.frombuffer(self.data, self.dtype)


class Rows:
    """Collects the rows of one file, table by table, and one pool of names."""

    def __init__(self) -> None:
        self.pool: dict[str, int] = {"": 0}
        self.tables = {name: Packed(dtype) for name, dtype in RAW.items()}
        self.call_ids: list[str] = []
        # The tables that every line adds to, at hand; and what lines repeat, so that it is looked up once.
        self.lines, self.usage, self.blocks = (self.tables[name] for name in ("lines", "usage", "blocks"))
        self.ids: dict[str | None, int] = {None: 0, "": 0}
        self.places: dict[tuple[str | None, ...], tuple[int, ...]] = {}
        self.last_usage: tuple[object, tuple[int, ...]] = (None, ())

    def code(self, name: str | None, most: int = 1024) -> int:
        """The code of a name; very long names are cut, since a name may be hostile."""
        if not name:
            return 0
        return self.pool.setdefault(name[:most], len(self.pool))

    def ident(self, text: str | None) -> int:
        """`tables.ident`; a file names each of its ids several times."""
        found = self.ids.get(text)
        if found is None:
            found = self.ids[text] = ident(text or "")
        return found

    def place(self, *names: str | None) -> tuple[int, ...]:
        """The codes of the names that say where a line belongs: mostly those of the line before."""
        found = self.places.get(names)
        if found is None:
            found = self.places[names] = tuple(self.code(name) for name in names)
        return found

    def add(self, table: str, *row: Any) -> None:
        self.tables[table].append(row)

    def note(self, no: int, code: str) -> None:
        """What could not be read, and why: errors are data."""
        self.add("notes", no, self.code(code))

    def extract(self, *, lines: int, end: int, open_tail: bool) -> Extract:
        tables = {name: packed.table() for name, packed in self.tables.items()}
        return Extract(list(self.pool), tables, self.call_ids, lines, end, open_tail)


def without_tail(extract: Extract) -> Extract:
    """The extract without the rows of a last line that had no line end: it is read again when the file has grown."""
    if not extract.open_tail:
        return extract
    kept_lines = extract.tables["lines"]["no"] <= extract.lines
    rows = int(kept_lines.sum())
    tables, call_ids = {}, extract.call_ids
    for name, table in extract.tables.items():
        column, most = ("line", rows - 1) if "line" in (table.dtype.names or ()) else ("no", extract.lines)
        keep = table[column] <= most
        tables[name] = table[keep]
        if name == "usage":
            call_ids = call_ids[: int(keep.sum())]
    return Extract(extract.pool, tables, call_ids, extract.lines, extract.end, False)


def joined(first: Extract, second: Extract) -> Extract:
    """The extract of a file from those of its two parts (`second` read with line numbers going on)."""
    codes = {name: i for i, name in enumerate(first.pool)}
    remap = np.array([codes.setdefault(name, len(codes)) for name in second.pool], "i4")
    offset = len(first.tables["lines"])
    tables: dict[str, Table] = {}
    for name, dtype in RAW.items():
        rows = second.tables[name].copy()
        for column in CODES.get(name, ()):
            rows[column] = remap[rows[column]]
        if "line" in (dtype.names or ()):
            rows["line"] += offset
        tables[name] = np.concatenate([first.tables[name], rows])
    return Extract(
        list(codes),
        tables,
        first.call_ids + second.call_ids,
        first.lines + second.lines,
        second.end,
        second.open_tail,
    )


def whole(rows: Rows, no: int, line: bytes) -> None:
    """The `read_line` of a source whose files are read whole."""
    raise TypeError("this source's files are read whole")


def alone(path: str) -> list[str]:
    """The `also` of a log that is one file."""
    return []


Lines: TypeAlias = Callable[[bytearray, int, int], tuple[int, int]]
"""Reads the lines that end within the first so many bytes, the first of them numbered so; gives the number of the next
line and the byte that it begins at."""


class Source(NamedTuple):
    """One agent's logs: where they lie, which files are theirs, how a line reads."""

    name: str
    default_roots: Callable[[Mapping[str, str], Path], list[Path]]  # (environment, home) -> folders that may exist
    is_log: Callable[[str], bool]  # by its path
    read_line: Callable[[Rows, int, bytes], None]  # (rows, line number, line without its end)
    grows: bool = True  # append-only: a file that grew is read from where it ended
    read_file: Callable[[str], Extract] | None = None  # reads a file whole, in place of read_line
    many: bool = False  # a file holds several sessions: its lines say which (session, agent)
    compiled: Callable[[Rows], Lines | None] | None = None  # gives what does the same as read_line, if it is there
    also: Callable[[str], list[str]] = alone  # by a log's path, what is read with it and makes it new when it changes
