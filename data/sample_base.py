"""What every line of the sample is built from: constants, time stamps, JSON, images, the setup of a session."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Line = dict[str, Any]
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
# Characters per token as measured on real tool results: older models about 2.7, the newer tokenizer about 2.3.
CHARS_PER_TOKEN = {"claude-sonnet-4-5-20250929": 2.7, "claude-haiku-4-5-20251001": 2.7}
WINDOWS = {"claude-sonnet-4-5-20250929": 200_000, "claude-haiku-4-5-20251001": 200_000}
HAIKU = "claude-haiku-4-5-20251001"
BIG_WINDOW = 1_000_000
# Default of a line's parent: the line before it in the thread (None is a root).
HERE = "(the line before)"
AUTOCOMPACT_BUFFER = 33_000


def version_key(version: str) -> tuple[int, ...]:
    """Version string as a tuple that compares."""
    return tuple(int(part) for part in version.split("."))


def dumps(line: Line) -> bytes:
    """Compact JSON; a lone surrogate is written as an escape, as the real client does."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m.group()):04x}", text).encode()


def stamp(ms: int) -> str:
    """Milliseconds since the epoch as the timestamp of a line."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).strftime(
        "%Y-%m-%dT%H:%M:%S."
    ) + f"{ms % 1000:03d}Z"


def png(width: int, height: int, colour: tuple[int, int, int]) -> str:
    """A valid one-colour PNG in base64.

    The deflate stream (one literal zero, then runs of 258) is written by hand: zlib builds differ between platforms,
    and the committed sample must not.
    """
    zeros = height * (1 + (width + 7) // 8)
    bits = ["1", "10", "00110000"]
    bits += ["11000101" + "00000"] * ((zeros - 1) // 258) + ["00110000"] * ((zeros - 1) % 258) + ["0000000"]
    stream = "".join(bits)
    stream += "0" * (-len(stream) % 8)
    packed = bytes(int(stream[i : i + 8][::-1], 2) for i in range(0, len(stream), 8))
    data = b"\x78\x01" + packed + struct.pack(">I", zlib.adler32(bytes(zeros)))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)
    raw = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"PLTE", bytes(colour))
        + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )
    return base64.b64encode(raw).decode()


def image_tokens(width: int, height: int) -> int:
    """Price of an image in tokens: area / 750, capped."""
    return min(1600, width * height // 750)


@dataclass
class Setup:
    """What is constant in a session."""

    project: str
    cwd: str
    sid: str
    version: str
    model: str
    branch: str = "main"
    slug: str = ""
    # Parts of the prefix, in tokens. They are in every call and in no line of the log.
    prefix: dict[str, int] = field(default_factory=dict)
    ttl_1h: bool = True
    warm: int = 0
    # Mean of the hidden thinking of a call, in tokens.
    think: int = 250
    mcp: tuple[str, ...] = ()

    @property
    def new_style(self) -> bool:
        """Attachments, final usage, line fields in the order of 2.1.91 and later."""
        return version_key(self.version) >= (2, 1, 91)

    @property
    def window(self) -> int:
        """Context window of the model."""
        return WINDOWS.get(self.model, BIG_WINDOW)
