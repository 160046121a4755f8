"""Blocks and notes as frames: what entered the context, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctxlib.logs import Logs
from ctxlib.logs.residency import NEVER
from ctxlib.rules.tools import constant_tokens
from ctxlib.tables import BlockKind, Category, ThreadKind, frame

if TYPE_CHECKING:
    import pandas as pd

COPIED = ("path", "offset", "limit", "is_error", "chars", "images", "image_tokens", "documents", "born", "cleared")


def blocks_df(logs: Logs) -> pd.DataFrame:
    """One row a block of the window, each once: session, thread, project, ts, category, kind, tool, server, path, offset,
    limit, is_error, chars (characters), images, image_tokens, documents, tokens (by the constant), born and cleared (seq
    of the first call that carries it and of the first that no longer does; <NA> = to the end)."""
    table = logs.blocks[logs.blocks["inside"] & logs.blocks["origin"]]
    names, threads = logs.names, logs.threads[table["thread"]]
    columns = {name: table[name] for name in COPIED}
    columns["path"] = np.array(names.texts(table["path"]), object)
    main = threads["kind"] == ThreadKind.MAIN
    agents = names.texts(threads["agent"])
    df = frame(
        {
            "session": names.texts(threads["session"]),
            "thread": ["main" if flag else agent for flag, agent in zip(main, agents, strict=True)],
            "project": names.texts(threads["project"]),
            "ts": table["ts"],
            "category": [Category(value).name.lower() for value in table["category"].tolist()],
            "kind": [BlockKind(value).name.lower() for value in table["kind"].tolist()],
            "tool": names.texts(table["tool"]),
            "server": names.texts(table["server"]),
            "tokens": constant_tokens(table),
            **columns,
        },
        nullable=("offset", "limit"),
        times=("ts",),
    )
    df["cleared"] = df["cleared"].astype("Int64").mask(df["cleared"] == NEVER)
    return df


def notes_df(logs: Logs) -> pd.DataFrame:
    """What was skipped, and why: file, line (<NA> for a whole file), cause. Never the text of the line."""
    files = [logs.files[file].path for file in logs.note_file.tolist()]
    lost = logs.unreadable
    return frame(
        {
            "file": [*files, *(item.path for item in lost)],
            "line": [*logs.notes["no"].tolist(), *(-1 for _ in lost)],
            "cause": [*logs.names.texts(logs.notes["code"]), *(item.cause for item in lost)],
        },
        nullable=("line",),
    )
