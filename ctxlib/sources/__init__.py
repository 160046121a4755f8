"""One module per agent's logs: where they lie and how a line reads; rows of the tables, nothing else."""

from ctxlib.sources.base import Extract, Rows, Source
from ctxlib.sources.claude_code import SOURCE as CLAUDE_CODE

SOURCES = (CLAUDE_CODE,)

__all__ = ["CLAUDE_CODE", "SOURCES", "Extract", "Rows", "Source"]
