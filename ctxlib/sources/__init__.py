"""One module per agent's logs: where they lie and how a line reads; rows of the tables, nothing else."""

from ctxlib.sources.base import Extract, Rows, Source
from ctxlib.sources.claude_code import SOURCE as CLAUDE_CODE
from ctxlib.sources.fabro import SOURCE as FABRO
from ctxlib.sources.openprogram import SOURCE as OPENPROGRAM

# The first whose is_log holds has a file: those that look into it come before those that go by its ending.
SOURCES = (FABRO, OPENPROGRAM, CLAUDE_CODE)

__all__ = ["CLAUDE_CODE", "FABRO", "OPENPROGRAM", "SOURCES", "Extract", "Rows", "Source"]
