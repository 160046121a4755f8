"""The extracts of many files as one set of tables: one pool of names, rows that know their file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ctxlib.sources.base import Extract
from ctxlib.tables import CODES, RAW, Table


class FileInfo(NamedTuple):
    """A file that was read."""

    path: str
    root: str
    source: str
    lines: int = 0
    archived: bool = False  # its agent has deleted it; the store still knows it


class Names:
    """The pool of names: code <-> string."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {"": 0}
        self.strings: list[str] = [""]

    def code(self, name: str) -> int:
        found = self.codes.get(name)
        if found is None:
            found = self.codes[name] = len(self.strings)
            self.strings.append(name)
        return found

    def texts(self, codes: Table) -> list[str]:
        strings = self.strings
        return [strings[code] for code in codes.tolist()]


@dataclass
class Corpus:
    """Raw tables of all files (columns of tables.RAW; `line` is a row of `lines` here), and their files."""

    files: list[FileInfo]
    names: Names
    tables: dict[str, Table]
    file_of: dict[str, Table] = field(default_factory=dict)  # table -> file index of each row
    call_ids: list[str] = field(default_factory=list)  # one a row of `usage`


def _stacked(parts: list[Table], dtype: np.dtype[Any]) -> Table:
    """One table of all parts, as plain bytes: numpy looks at every field of every structured array that it joins."""
    if not parts:
        return np.empty(0, dtype)
    plain = f"V{dtype.itemsize}"
    return np.concatenate([np.ascontiguousarray(part).view(plain) for part in parts]).view(dtype)


def gather(read: list[tuple[FileInfo, Extract]]) -> Corpus:
    """One corpus of all files' extracts, in the order given."""
    names = Names()
    pool_codes: list[int] = []
    pool_start = np.zeros(len(read), "i8")
    for i, (_, extract) in enumerate(read):
        pool_start[i] = len(pool_codes)
        pool_codes.extend(names.code(name) for name in extract.pool)
    remap = np.array(pool_codes, "i4")

    tables: dict[str, Table] = {}
    file_of: dict[str, Table] = {}
    for name, dtype in RAW.items():
        parts = [extract.tables[name] for _, extract in read]
        table = _stacked(parts, dtype)
        file_of[name] = np.repeat(np.arange(len(parts), dtype="i4"), [len(part) for part in parts])
        for column in CODES.get(name, ()):
            table[column] = remap[pool_start[file_of[name]] + table[column]] if len(table) else table[column]
        tables[name] = table
    line_start = np.zeros(len(read) + 1, "i8")
    np.cumsum([len(extract.tables["lines"]) for _, extract in read], out=line_start[1:])
    for name, table in tables.items():
        if "line" in (table.dtype.names or ()):
            table["line"] += line_start[file_of[name]].astype("i4")
    call_ids = [text for _, extract in read for text in extract.call_ids]
    return Corpus([info for info, _ in read], names, tables, file_of, call_ids)
