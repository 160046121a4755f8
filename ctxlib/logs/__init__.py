"""Roots -> Logs: discover files, read them, and make one call of every copy."""

from ctxlib.logs.extracts import Progress
from ctxlib.logs.scan import Asked, Logs, asked, assembled, gathered, scan
from ctxlib.span import DAYS, Span, span

__all__ = ["DAYS", "Asked", "Logs", "Progress", "Span", "asked", "assembled", "gathered", "scan", "span"]
