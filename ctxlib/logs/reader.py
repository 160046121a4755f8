"""A log file -> its extract, streamed: memory grows with the longest line, never with the file."""

from __future__ import annotations

from ctxlib.sources.base import Extract, Rows, Source

_CHUNK = 4 << 20  # bytes


def read(path: str, source: Source, *, start: int = 0, first_line: int = 1) -> Extract:
    """The rows of a file from byte `start` on. Lines end at b"\\n" only. Raises OSError where the file cannot be read.

    The last line counts though it has no line end, if it is whole; `end` then lies before it, so that a later reading
    takes it up again. A source that reads files whole begins at the first byte, whatever `start` says.
    """
    if source.read_file is not None:
        return source.read_file(path)
    rows = Rows()
    no, at = first_line, start
    rest: list[bytes] = []  # of a line longer than a chunk
    with open(path, "rb") as file:
        file.seek(start)
        while chunk := file.read(_CHUNK):
            begin = 0
            while (end := chunk.find(b"\n", begin)) >= 0:
                line = chunk[begin:end]
                if rest:
                    line = b"".join((*rest, line))
                    rest.clear()
                at += len(line) + 1
                source.read_line(rows, no, line)
                no += 1
                begin = end + 1
            if begin < len(chunk):
                rest.append(chunk[begin:])
    tail = b"".join(rest)
    if tail:
        source.read_line(rows, no, tail)
    return rows.extract(lines=no - first_line, end=at, open_tail=bool(tail))
