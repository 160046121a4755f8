"""Without its size an image counts as a flat 1,500 tokens: an icon of 14 would weigh a hundred times too much."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlib.sources.images import size_of, tokens

SIDE = st.integers(1, 0x3FFF)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 6, 0, 0, 0) + bytes(200)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + bytes(60)


def jpeg(width: int, height: int, *, before: int = 0, frame: int = 0xC0) -> bytes:
    segments = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    segments += b"\xff\xc4" + struct.pack(">H", 4) + b"\xff\xc0"
    while before > 0:
        size = min(before, 60_000)
        segments += b"\xff\xe1" + struct.pack(">H", size + 2) + bytes(size)
        before -= size
    segments += b"\xff"  # a fill byte
    return b"\xff\xd8" + segments + struct.pack(">BBHBHHB", 0xFF, frame, 17, 8, height, width, 3) + bytes(100)


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I4s4sI", 100, b"WEBP", kind, len(body)) + body + bytes(60)


def vp8(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height))


def vp8l(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14 | 1 << 28))


def vp8x(width: int, height: int) -> bytes:
    return webp(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


FORMATS = [png, gif, jpeg, vp8, vp8l, vp8x]


@given(st.sampled_from(FORMATS), SIDE, SIDE)
def test_width_and_height_of_every_format_that_a_model_takes(make: object, width: int, height: int) -> None:
    assert callable(make)
    assert size_of(b64(make(width, height))) == (width, height)


@pytest.mark.parametrize("frame", [0xC0, 0xC1, 0xC2, 0xC9])
@pytest.mark.parametrize("before", [0, 100, 60_000, 65_000])
def test_a_photo_with_a_thumbnail_before_its_size(frame: int, before: int) -> None:
    assert size_of(b64(jpeg(4032, 3024, before=before, frame=frame))) == (4032, 3024)


def test_a_real_png_and_gif() -> None:
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    assert size_of(dot) == (1, 1)
    assert size_of("data:image/png;base64," + dot) == (1, 1)
    assert size_of("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7") == (1, 1)


def test_a_long_image_is_not_decoded_to_its_end() -> None:
    assert size_of(b64(png(1280, 720)) + "!" * 5_000_000) == (1280, 720)


def test_base64_wrapped_into_lines() -> None:
    wrapped = base64.encodebytes(jpeg(640, 360, before=500)).decode()
    assert size_of(wrapped) == (640, 360)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "x",
        "====",
        "data:",
        "data:image/png;base64",
        "é" * 40,
        b64(png(0, 5)),
        b64(jpeg(5, 0)),
        b64(png(5, 5)[:20]),
        b64(jpeg(5, 5)[:30]),
        b64(b"\xff\xd8\xff" + bytes(90)),
        b64(webp(b"ALPH", bytes(20))),
        b64(b"%PDF-1.7" + bytes(60)),
    ],
)
def test_what_does_not_tell_its_size_is_left_unsized(data: str) -> None:
    assert size_of(data) is None


@given(st.one_of(st.text(), st.binary().map(b64)))
def test_nothing_raises(data: str) -> None:
    size = size_of(data)
    assert size is None or min(size) > 0


@given(st.sampled_from(FORMATS), st.integers(0, 60), st.binary(max_size=80))
def test_nothing_raises_behind_a_good_beginning(make: object, keep: int, rest: bytes) -> None:
    assert callable(make)
    size_of(b64(make(300, 200)[:keep] + rest))


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [(1280, 720, 1229), (640, 360, 307), (1444, 576, 1109), (116, 88, 14), (1734, 1956, 1600), (1421, 1999, 1600)],
)
def test_tokens_follow_the_area_up_to_the_ceiling(width: int, height: int, expected: int) -> None:
    assert tokens(width, height) == expected


def test_a_model_with_a_higher_ceiling() -> None:
    assert tokens(1734, 1956, cap=5000) == 4522


@given(SIDE, SIDE, st.integers(0, 5000))
def test_never_above_the_cap_and_never_negative(width: int, height: int, cap: int) -> None:
    assert 0 <= tokens(width, height, cap=cap) <= cap
