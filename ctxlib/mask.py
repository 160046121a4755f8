"""Hides project and path names, so that a report can be shown to others (accounting.md, Privacy)."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from ctxlib.arrays import distinct
from ctxlib.logs import Logs
from ctxlib.logs.corpus import Names
from ctxlib.tables import BlockKind, Table

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")


def masked(logs: Logs) -> Logs:
    """The same logs with projects named `project 1`, `project 2`, ... and files `file 1.py`, ... in log order, and without
    the places of folders and logs. Session ids, models, tools and numbers stay; equal names stay equal."""
    hidden: dict[int, str] = {}
    for number, code in enumerate(_in_order(logs.threads["project"]), 1):
        hidden[code] = f"project {number}"
    for number, code in enumerate(_in_order(logs.blocks["path"]), 1):
        suffix = _SUFFIX.search(logs.names.strings[code])
        hidden.setdefault(code, f"file {number}{suffix[0] if suffix else ''}")
    for code in _in_order(np.concatenate([logs.lines["cwd"], _attached(logs)])):
        hidden.setdefault(code, "(hidden)")
    names = Names()
    names.strings = [hidden.get(code, text) for code, text in enumerate(logs.names.strings)]
    names.codes = {text: code for code, text in enumerate(logs.names.strings) if code not in hidden}
    return replace(
        logs,
        names=names,
        roots=tuple(f"root {i}" for i in range(1, len(logs.roots) + 1)),
        files=tuple(
            info._replace(
                path=f"log {i}", root=f"root {logs.roots.index(info.root) + 1 if info.root in logs.roots else 0}"
            )
            for i, info in enumerate(logs.files, 1)
        ),
        unreadable=tuple(item._replace(path=f"entry {i}") for i, item in enumerate(logs.unreadable, 1)),
    )


def _in_order(codes: Table) -> list[int]:
    distinct, first = np.unique(codes[codes != 0], return_index=True)
    return [int(code) for code in distinct[np.argsort(first)]]


def _attached(logs: Logs) -> Table:
    """Codes of names that only the path column of attachments holds (their type stays readable)."""
    return distinct(logs.blocks["path"][logs.blocks["kind"] == BlockKind.ATTACHMENT])
