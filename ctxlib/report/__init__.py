"""Notebooks -> one self-contained HTML file. Needs the extra ``report``."""

from ctxlib.report.run import Page, Report, build
from ctxlib.report.suite import ReportError

__all__ = ["Page", "Report", "ReportError", "build"]
