"""The columns of every table, with units: the only thing that crosses rooms.

A table is a numpy structured array (fast to load, to concatenate and to store); `frame` turns one into a pandas
DataFrame at the edge. Conventions, everywhere:

- times are int64 milliseconds since 1970-01-01 UTC, `NO_TIME` where a line has none;
- counts are tokens or characters (the column's comment says which); `NULL` (-1) is "not known", never 0;
- ids (uuids, request, message and tool_use ids) are 64-bit hashes, 0 is "none": they join tables and give nothing away;
- names (models, tools, paths, folders, versions) are codes into a pool of strings, 0 is the empty string.

No column holds text of a prompt, a message, a tool argument or a tool result (accounting.md, Privacy).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import xxhash

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = np.ndarray[Any, np.dtype[Any]]

NULL = -1
_digest = xxhash.xxh3_64_intdigest
NO_TIME = -(2**63)


class LineKind(IntEnum):
    """What a log line is for the context."""

    OTHER = 0  # in the parent chain only: turn_duration, hooks, made-up answers
    PROMPT = 1
    RESULT = 2
    META = 3
    SUMMARY = 4
    ASSISTANT = 5
    BOUNDARY = 6
    MICRO = 7
    ATTACHMENT = 8


class Category(IntEnum):
    """One taxonomy, mutually exclusive (accounting.md, Categories). `OTHER` is the provider's total less the rest."""

    NONE = 0
    SYSTEM_PROMPT = 1
    SKILLS = 2
    MEMORY = 3
    AGENTS = 4
    TOOLS = 5
    MCP_TOOLS = 6
    DEFERRED = 7
    MESSAGES = 8
    CONTROLS = 9
    OTHER = 10


class BlockKind(IntEnum):
    """The form in which a block entered the context."""

    USER_TEXT = 1
    ASSISTANT_TEXT = 2
    THINKING = 3
    TOOL_INPUT = 4
    TOOL_RESULT = 5
    IMAGE = 6
    DOCUMENT = 7
    ATTACHMENT = 8
    SUMMARY = 9
    PREFETCH = 10
    SCHEMA = 11
    PROMPT = 12


class ThreadKind(IntEnum):
    """Who speaks in a thread. Only main threads make the curve of a session."""

    MAIN = 0
    SIDECHAIN = 1
    SUBAGENT = 2
    COMPACTION = 3
    STAGE = 4


class MarkKind(IntEnum):
    """How a compaction is known: its boundary line, its summary alone, or a microcompaction."""

    FULL = 0
    INFERRED = 1
    MICRO = 2


class UsageScope(IntEnum):
    """What a usage row counts: one request, or a sum over several, which is no size of any context."""

    CALL = 0
    TURN = 1
    STAGE = 2


# --- what a source reads, one file at a time: rows of one file, in log order -----------------------------------------

LINE = np.dtype(
    [
        ("no", "i4"),  # line number in the file, from 1
        ("ts", "i8"),
        ("uuid", "u8"),
        ("parent", "u8"),
        ("kind", "u1"),  # LineKind
        ("side", "?"),  # isSidechain
        ("agent", "i4"),
        ("session", "i4"),
        ("cwd", "i4"),
        ("version", "i4"),
    ]
)
USAGE = np.dtype(
    [
        ("line", "i4"),  # row of LINE
        ("request", "u8"),
        ("message", "u8"),
        ("model", "i4"),
        ("input", "i8"),  # tokens neither read from nor written to the cache
        ("cache_read", "i8"),
        ("cache_write", "i8"),
        ("cache_write_5m", "i8"),  # what the split does not cover is priced, and kept, as 5m
        ("cache_write_1h", "i8"),
        ("unsplit", "i8"),  # the part of cache_write_5m that no split covered
        ("output", "i8"),
        ("reasoning", "i8"),
        ("ctx", "i8"),  # X-ctx; NULL = unmeasured
        ("final", "?"),  # stop_reason set: `output` is the final count
        ("fast", "?"),  # the fast variant of the model, with prices of its own
        ("miss", "i4"),  # cache_miss_reason, and its tokens
        ("missed", "i8"),
        ("scope", "u1"),  # UsageScope; a sum over a turn or a stage has no ctx
    ]
)
BLOCK = np.dtype(
    [
        ("line", "i4"),  # row of LINE
        ("category", "u1"),
        ("kind", "u1"),
        ("tool", "i4"),  # tool name of a tool_use; attachment type of an attachment
        ("use", "u8"),  # tool_use id
        ("path", "i4"),
        ("offset", "i8"),
        ("limit", "i8"),
        ("is_error", "?"),
        ("chars", "i8"),  # characters of text (Python characters, compact JSON for what is no text)
        ("hidden", "i8"),  # characters of a thinking block's signature: thinking that the log does not show
        ("images", "i4"),
        ("image_tokens", "i8"),  # of the images whose size the first bytes tell
        ("unsized_images", "i4"),
        ("documents", "i4"),  # PDFs: no rule gives them a size
    ]
)
MARK = np.dtype(
    [
        ("line", "i4"),
        ("kind", "u1"),  # MarkKind
        ("trigger", "i4"),
        ("pre", "i8"),  # tokens, as the log says
        ("post", "i8"),
        ("head", "u8"),  # first and last line that the compaction preserved
        ("tail", "u8"),
    ]
)
CLEARED = np.dtype([("line", "i4"), ("use", "u8")])  # tool results that a microcompaction took out
NAMED = np.dtype([("line", "i4"), ("name", "u8")])  # hash of a file name that a shell command mentions
EVIDENCE = np.dtype([("line", "i4"), ("kind", "i4"), ("name", "i4"), ("value", "i8")])
COUNTED = np.dtype([("line", "i4"), ("category", "u1"), ("name", "i4"), ("kind", "i4"), ("tokens", "i8")])
# What a source says of its own context (accounting/told.py), a fact a row: counts, names and times, never text.
TOLD = np.dtype(
    [
        ("line", "i4"),  # the facts of one snapshot stand on one line
        ("kind", "i4"),  # part, total, window, method, staleness, seq, generated, model, provider, warning, tool, ...
        ("category", "u1"),
        ("name", "i4"),  # the source's own
        ("server", "i4"),  # MCP server of a tool
        ("value", "i8"),  # tokens; milliseconds of a time
    ]
)
NOTE = np.dtype([("no", "i4"), ("code", "i4")])

RAW = {
    "lines": LINE,
    "usage": USAGE,
    "blocks": BLOCK,
    "marks": MARK,
    "cleared": CLEARED,
    "named": NAMED,
    "evidence": EVIDENCE,
    "counted": COUNTED,
    "told": TOLD,
    "notes": NOTE,
}
CODES = {
    "lines": ("agent", "session", "cwd", "version"),
    "usage": ("model", "miss"),
    "blocks": ("tool", "path"),
    "marks": ("trigger",),
    "evidence": ("kind", "name"),
    "counted": ("name", "kind"),
    "told": ("kind", "name", "server"),
    "notes": ("code",),
}

# --- what identity makes of all files --------------------------------------------------------------------------------

THREAD = np.dtype(
    [
        ("file", "i4"),  # index of the file
        ("kind", "u1"),  # ThreadKind
        ("session", "i4"),
        ("agent", "i4"),
        ("project", "i4"),
        ("version", "i4"),
        ("started", "i8"),
        ("ended", "i8"),
    ]
)
_WHERE = [
    ("thread", "i4"),
    ("pos", "i8"),  # place in log order, comparable within a thread and over its tables
    ("ts", "i8"),
    ("origin", "?"),  # here it was made; copies in forks and resumes are False and never enter a total
    ("inside", "?"),  # within since..until
]
_USAGE = [(name, USAGE[name]) for name in USAGE.names or () if name not in ("line", "request", "message")]
_BLOCK = [(name, BLOCK[name]) for name in BLOCK.names or () if name != "line"]
CALL = np.dtype([*_WHERE, ("seq", "i4"), ("key", "u8"), ("id", "i4"), *_USAGE])
BLOCKS = np.dtype(
    [
        *_WHERE,
        ("call", "i4"),  # seq of the call that wrote it; NULL for what the user or a tool said
        ("born", "i4"),  # seq of the first call that carries it
        ("cleared", "i4"),  # seq of the first later call that does not: compaction, microcompaction, dead branch
        ("key", "u8"),
        ("server", "i4"),  # MCP server
        ("is_read", "?"),
        ("is_edit", "?"),
        *_BLOCK,
    ]
)
COMPACTION = np.dtype(
    [
        *_WHERE,
        ("kind", "u1"),
        ("trigger", "i4"),
        ("before", "i8"),
        ("before_meta", "?"),  # True: from the metadata; False: from the call before
        ("after", "i8"),
        ("after_meta", "?"),
        ("ctx_before", "i8"),
        ("ctx_after", "i8"),
        ("next_call", "i4"),  # seq of the first call after it
    ]
)


def ident(text: str) -> int:
    """The 64-bit id of a log's own id (uuid, request, message, tool_use); 0 for none."""
    return _digest(text.encode()) if text else 0


def plain(name: str) -> str:
    """A name that can be hashed and kept: that of a file need not be text."""
    return name.encode("utf-8", "replace").decode()


def frame(columns: dict[str, Any], *, nullable: tuple[str, ...] = (), times: tuple[str, ...] = ()) -> pd.DataFrame:
    """A DataFrame of columns of one length; `nullable` counts become Int64 with <NA>, `times` UTC timestamps."""
    import pandas as pd

    out = pd.DataFrame(columns)
    for name in nullable:
        out[name] = out[name].astype("Int64").mask(out[name] == NULL)
    for name in times:
        stamps = out[name].astype("int64")
        out[name] = pd.to_datetime(stamps.where(stamps != NO_TIME), unit="ms", utc=True)
    return out
