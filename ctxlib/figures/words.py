"""Numbers and labels as figures print them: 150k, 1.2M, 38 %; names from logs shortened at the left and never markup."""

from __future__ import annotations

import html
import math
import re
from typing import Any

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SEPARATOR = re.compile(r"(?<=[/\\])")


def tokens(value: float) -> str:
    """A count as people say it: 950, 4.2k, 150k, 1.2M, 48M, 2.1G. Below zero with a minus sign."""
    size = abs(value)
    for limit, unit in ((999.5, ""), (999.5e3, "k"), (999.5e6, "M"), (math.inf, "G")):
        if size < limit:
            scaled = size / {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[unit]
            digits = 1 if unit and scaled < 9.95 else 0
            text = f"{scaled:.{digits}f}"
            return ("-" if value < 0 and float(text) else "") + text.removesuffix(".0") + unit
    raise ValueError(f"not a finite number: {value!r}")


def tick(value: float, _position: float = 0) -> str:
    """`tokens`, as a tick formatter calls it."""
    return tokens(value)


def percent(share: float) -> str:
    """A share (0-1) in percent: 0.4 %, 38 %; what is there at all is never 0 %, and the sign never stands alone in a
    line (the space before it does not break)."""
    value = 100 * share
    if 0 < value < 0.05:
        return "< 0.1\u00a0%"
    return f"{value:.1f}\u00a0%" if 0 < value < 0.95 else f"{value:.0f}\u00a0%"


def day(moment: Any) -> str:
    """A date: 14 Aug 2025."""
    return f"{moment.day}\u00a0{moment:%b}\u00a0{moment:%Y}"


def usd(value: float) -> str:
    """Dollars: $0.04, $138, $1.2k."""
    return f"${value:.2f}" if abs(value) < 99.995 else f"${tokens(value)}"


def dollars(value: float, _position: float = 0) -> str:
    """`usd` as a tick formatter calls it: $0, $0.50, $5, $150."""
    return usd(value).removesuffix(".00")


def count(number: int, noun: str, plural: str = "") -> str:
    """1 session, 2 sessions."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def short(text: object, length: int = 34) -> str:
    """A name out of a log as one line of plain text: no control characters, shortened at the left.

    Paths lose whole folders first: …/src/app.py. `length` is in characters. What renders markup must still escape it
    (`markup` for plotly); matplotlib's mathtext is off in all figures (style.RC).
    """
    line = " ".join(_CONTROL.sub(" ", str(text)).split())
    if len(line) <= length:
        return line
    kept = ""
    for part in reversed(_SEPARATOR.split(line)):
        if len(part) + len(kept) > length - 2:
            break
        kept = part + kept
    if not kept:
        return "…" + line[-(length - 1) :]
    return f"…{'' if kept.startswith(('/', chr(92))) else '/'}{kept}"


def markup(text: object, length: int = 34) -> str:
    """`short` for plotly, which renders HTML in every label."""
    return html.escape(short(text, length))


def session(session_id: str) -> str:
    """The first eight characters of a session id: enough to name it in a parameter."""
    return short(session_id[:8])


def duration(seconds: float) -> str:
    """40 s, 7 min, 2.5 h, 3 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.1f} h".replace(".0 h", " h")
    return count(round(seconds / 86_400), "day")
