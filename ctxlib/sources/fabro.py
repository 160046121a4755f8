"""Fabro: where its runs lie, and which files are theirs. How they read stands in fabro_run.py, loaded where there is one."""

from __future__ import annotations

from ctxlib.roots import fabro as default_roots
from ctxlib.sources.base import Extract, Source, whole

_HEAD = 8192  # bytes in which a file of a run names the run


def is_log(path: str) -> bool:
    """`run*.json` and `events*.jsonl` that name a run: other agents have files of these names too."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    if name.endswith(".json") and "run" in name:
        return _names(path, b'"run_id"') and _names(path, b'"spec"')
    return name.endswith(".jsonl") and name.startswith("events") and _names(path, b'"run_id"')


def _names(path: str, key: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return key in file.read(1 << 20 if path.endswith(".json") else _HEAD)
    except OSError:
        return False


def read_file(path: str) -> Extract:
    """The rows of a run.json or an events.jsonl. Raises OSError where it cannot be read."""
    from ctxlib.sources import fabro_run

    return fabro_run.read_file(path)


SOURCE = Source("fabro", default_roots, is_log, whole, grows=False, read_file=read_file, many=True)
