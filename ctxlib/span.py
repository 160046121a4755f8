"""The time window of a question: since <= t < until (R-window)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

DAYS = 30
_LENGTH = re.compile(r"(\d+)\s*([hdw])$")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
BEGINNING, END = -(2**62), 2**62  # milliseconds: before and after all times


class Span(NamedTuple):
    """Milliseconds since the epoch, UTC; `since` is inclusive, `until` is not."""

    since: int
    until: int

    def texts(self) -> tuple[str | None, str | None]:
        """ISO texts; None for an open end."""
        return _iso(self.since) if self.since > BEGINNING else None, _iso(self.until) if self.until < END else None


def span(since: str = "", until: str = "", *, now: datetime | None = None) -> Span:
    """The span of `30d`, `12h`, `2w`, a date (00:00 UTC), an ISO time (no offset: UTC) or `all`; "" is 30 days.

    A date as `until` includes that day, as in ccusage. Raises ValueError for what is no time, a since in the future,
    and a since after until.
    """
    now = now or datetime.now(UTC)
    begin = BEGINNING if since == "all" else _ms(_moment(since or f"{DAYS}d", now, "since"))
    end = END if until in ("", "all") else _ms(_moment(until, now, "until", end_of_day=True))
    if begin > _ms(now):
        raise ValueError(f"since lies in the future: {since} (now is {_iso(_ms(now))})")
    if begin >= end:
        raise ValueError(f"since ({since or '30d'}) is not before until ({until})")
    return Span(begin, end)


def _moment(text: str, now: datetime, name: str, *, end_of_day: bool = False) -> datetime:
    length = _LENGTH.match(text.strip())
    try:
        if length:
            return now - timedelta(**{_UNITS[length[2]]: int(length[1])})
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{8}", text):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1 if end_of_day else 0)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is no time: {text!r} (give 30d, 12h, a date, an ISO time, or all)") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _iso(ms: int) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace("+00:00", "Z")
