"""Roots -> Logs: discover files, read them, and make one call of every copy."""

from ctxlib.logs.extracts import Progress
from ctxlib.logs.scan import Logs, scan
from ctxlib.span import DAYS, Span, span

__all__ = ["DAYS", "Logs", "Progress", "Span", "scan", "span"]
