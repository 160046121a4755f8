"""The size of an image in a log, from the first bytes of its base64 data, and its tokens (X-size, formats.md 1.6)."""

from __future__ import annotations

import binascii

_HEAD = 64  # base64 characters: 48 bytes hold the size in PNG, GIF and WebP
_JPEG = 88_000  # base64 characters: 66 kB, as an EXIF thumbnail may come before the size
_PIXELS_PER_TOKEN = 750
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOF markers; the three are tables and an extension
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))  # markers without a length


def size_of(data_b64: str) -> tuple[int, int] | None:
    """(width, height) in pixels of a PNG, JPEG, GIF or WebP image; None where its first bytes do not tell.

    Decodes no more of the base64 text than the format needs, a `data:` prefix is skipped, and nothing ever raises.
    """
    start = data_b64.find(",", 0, 128) + 1 if data_b64.startswith("data:") else 0
    head = _decode(data_b64[start : start + _HEAD])
    if head.startswith(b"\xff\xd8\xff"):
        size = _jpeg(_decode(data_b64[start : start + _JPEG]))
    elif head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    elif head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        size = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        size = _webp(head)
    else:
        return None
    return size if size and size[0] > 0 and size[1] > 0 else None


def tokens(width: int, height: int, *, cap: int = 1600) -> int:
    """Tokens of an image of `width` x `height` pixels: a 750th of its area, at most `cap`.

    Measured rises of the context (formats.md 1.6): 1280x720 gave 1,222 tokens (here 1,229), 640x360 325 (307), 1444x576
    1,256 (1,109). Larger images meet a ceiling: 1734x1956 gave 1,631, 1421x1999 1,916, each with its text; hence 1600.
    """
    return min(cap, max(0, round(width * height / _PIXELS_PER_TOKEN)))


def _decode(text: str) -> bytes:
    if not text.isascii():
        return b""
    text = "".join(text.split()).rstrip("=")
    whole = text[: len(text) - len(text) % 4]
    rest = text[len(whole) :]
    try:
        return binascii.a2b_base64(whole + (rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""))
    except ValueError:
        return b""


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _BARE:
            at += 2
        elif marker in _FRAMES:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    chunk = head[12:16]
    if chunk == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    if chunk == b"VP8L" and head[20] == 0x2F:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None
