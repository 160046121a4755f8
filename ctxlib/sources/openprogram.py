"""OpenProgram: where its sessions and their ledger lie, and which files are theirs. How they read stands in
openprogram_session.py, loaded where there is one."""

from __future__ import annotations

import os

from ctxlib.roots import openprogram as default_roots
from ctxlib.sources.base import Extract, Source, whole

META, LEDGER = "meta.json", "usage.db"
_DATABASE = b"SQLite format 3\0"


def is_log(path: str) -> bool:
    """A session's meta.json, known by the history beside it, and the ledger."""
    folder, name = os.path.split(path)
    if name == META:
        return os.path.basename(os.path.dirname(folder)) == "sessions" and os.path.isdir(
            os.path.join(folder, "history")
        )
    return name == LEDGER and _is_database(path)


def also(path: str) -> list[str]:
    """What is read with a log: a session's history, the ledger's newest pages."""
    folder, name = os.path.split(path)
    return [os.path.join(folder, "history")] if name == META else [path + "-wal"]


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


def read_file(path: str) -> Extract:
    """The rows of a session or of the ledger. Raises OSError where it cannot be read."""
    from ctxlib.sources import openprogram_session

    return openprogram_session.read_file(path)


SOURCE = Source("openprogram", default_roots, is_log, whole, grows=False, read_file=read_file, many=True, also=also)
