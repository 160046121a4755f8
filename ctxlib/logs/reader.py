"""A log file -> its extract, streamed: memory grows with the longest line, never with the file."""

from __future__ import annotations

import os

from ctxlib.sources.base import Extract, Lines, Rows, Source

_BUFFER = 512 << 10  # bytes


def read(path: str, source: Source, *, start: int = 0, first_line: int = 1) -> Extract:
    """The rows of a file from byte `start` on. Lines end at b"\\n" only. Raises OSError where the file cannot be read.

    The last line counts though it has no line end, if it is whole; `end` then lies before it, so that a later reading
    takes it up again. A source that reads files whole begins at the first byte, whatever `start` says.
    """
    if source.read_file is not None:
        return source.read_file(path)
    rows = Rows()
    lines = (source.compiled(rows) if source.compiled else None) or _one_by_one(rows, source)
    no, at = first_line, start
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        rest = os.fstat(file.fileno()).st_size - start
        buffer, held = bytearray(min(_BUFFER, max(rest + 1, 4096))), 0  # its first `held` bytes are of the file
        while True:
            with memoryview(buffer) as view, view[held:] as free:
                got = file.readinto(free)
            if not got:
                break
            held += got
            no, begin = lines(buffer, held, no)
            at += begin
            held -= begin
            buffer[:held] = buffer[begin : begin + held]
            if held == len(buffer):  # a line longer than that
                buffer.extend(bytes(held))
    if held:
        source.read_line(rows, no, bytes(buffer[:held]))
    return rows.extract(lines=no - first_line, end=at, open_tail=bool(held))


def _one_by_one(rows: Rows, source: Source) -> Lines:
    read_line = source.read_line

    def lines(buffer: bytearray, size: int, no: int) -> tuple[int, int]:
        begin = 0
        with memoryview(buffer) as view:
            while (end := buffer.find(b"\n", begin, size)) >= 0:
                read_line(rows, no, bytes(view[begin:end]))
                no += 1
                begin = end + 1
        return no, begin

    return lines
