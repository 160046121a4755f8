"""Days, weeks or months, whichever a window holds about a dozen to fifty of; always UTC, always from the data."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

DAYS, WEEKS = 45, 400  # days of a window up to which bars are days, and weeks


class Periods(NamedTuple):
    """How times were put into periods."""

    name: str  # day, week from (a Monday), month
    of: pd.Series[pd.Timestamp]  # the start of each time's period

    def label(self, start: pd.Timestamp) -> str:
        """A start as a tick says it."""
        if self.name == "month":
            return f"{start:%b %Y}"
        return f"{start.day} {start:%b}" + (f"\n{start:%Y}" if self.years else "")

    @property
    def years(self) -> bool:
        """Whether the window spans more than one year, so that ticks need it."""
        return bool(len(self.of)) and self.of.min().year != self.of.max().year


def periods(times: pd.Series[pd.Timestamp]) -> Periods:
    """The period of each time (UTC, none missing)."""
    days = times.dt.floor("D")
    span = (days.max() - days.min()).days if len(days) else 0
    if span <= DAYS:
        return Periods("day", days)
    if span <= WEEKS:
        return Periods("week from", days - pd.to_timedelta(days.dt.day_of_week, unit="D"))
    return Periods("month", days - pd.to_timedelta(days.dt.day - 1, unit="D"))
