"""What the invented logs are filled with: text that is already escaped, ids, and the beginnings of images."""

from __future__ import annotations

import base64
import struct
from random import Random

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
_VOCABULARY = (
    "value row column index total merge split token window cache state parse write read offset limit result error table "
    "session thread call block reply header footer branch commit review because while return import class self none "
    "the a of to in and is that for with not be on as are this by it or from"
)
WORDS = _VOCABULARY.split()


class Pool:
    """Invented code and prose, JSON-escaped: a piece of it is ready to stand inside quotes."""

    def __init__(self, random: Random, size: int = 3_000_000) -> None:
        lines: list[str] = []
        made = 0
        while made < size:
            words = random.choices(WORDS, k=random.randrange(3, 14))
            form = random.random()
            if form < 0.45:
                line = " " * (4 * random.randrange(5)) + "_".join(words[:2]) + f" = {words[2]}({', '.join(words[3:6])})"
            elif form < 0.6:
                line = f'    "{words[0]}": "{" ".join(words[1:])}",'
            else:
                line = " ".join(words)
            if random.random() < 0.08:
                line += " → ✓"
            lines.append(line)
            made += len(line) + 2
        escaped = [line.replace('"', '\\"') + "\\n" for line in lines]
        self._text = "".join(escaped)
        self._random = random
        self._starts: list[int] = []
        at = 0
        for line in escaped:
            self._starts.append(at)
            at += len(line)

    def cut(self, size: int) -> str:
        """About `size` characters, beginning with a line, not ending inside an escape."""
        latest = len(self._text) - size - 2
        start = self._starts[int(self._random.random() * len(self._starts))]
        if start > latest:
            start = 0
        end = start + size
        if self._text[end - 1 : end] == "\\" and self._text[end - 2 : end - 1] != "\\":
            end += 1
        return self._text[start:end]


def png(random: Random) -> str:
    """The base64 text of what begins like a PNG of some size."""
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(
        ">II", random.randrange(200, 2000), random.randrange(200, 1500)
    )
    return base64.b64encode(
        head + b"\x08\x02\x00\x00\x00" + random.randbytes(random.randrange(20_000, 140_000))
    ).decode()


def uuid(random: Random) -> str:
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def ident(random: Random, prefix: str, size: int = 24) -> str:
    return prefix + "".join(random.choices(LETTERS, k=size))
