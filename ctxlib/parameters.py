"""The parameters of a notebook, checked in one call: a typo or a wrong value is a sentence, not an empty report."""

from __future__ import annotations

import os
from pathlib import Path

from ctxlib.bundle import sample_root
from ctxlib.logs import Logs, scan
from ctxlib.mask import masked
from ctxlib.roots import roots_of

MOST_TOP = 100


def open_logs(
    root: object = "",
    since: object = "",
    until: object = "",
    project: object = "",
    *,
    top: object = 10,
    mask: object = "",
) -> Logs:
    """The logs that a notebook's parameters name.

    root: "" is the sample logs that come with ctxlib, `default` the agents' own folders, else folders separated by
    the system's path separator. since, until: 30d, 12h, a date, an ISO time, all; "" is everything for the sample, else
    the last 30 days. project: part of a project's label. mask: `yes` hides project and path names. Raises ValueError or
    FileNotFoundError with a sentence that names the parameter and its value.
    """
    texts = {"root": root, "since": since, "until": until, "project": project}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"parameter {name} must be text, not {value!r} (pass it raw: papermill -r {name} ...)")
    count(top, "top")
    if mask not in ("", "yes"):
        raise ValueError(f"parameter mask must be yes or nothing, not {mask!r}")
    from_, to, chosen = str(since), str(until), str(project)
    if root == "":
        logs = scan(sample_root(), since=from_ or "all", until=to, project=chosen, use_store=False)
    else:
        roots = roots_of() if root == "default" else [Path(part) for part in str(root).split(os.pathsep) if part]
        if not roots:
            raise FileNotFoundError("no agent's log folder exists here (looked for Claude Code's projects folders)")
        logs = scan(roots, since=from_, until=to, project=chosen)
    return masked(logs) if mask else logs


def count(value: object, name: str, most: int = MOST_TOP) -> int:
    """A whole number from 1 to `most`, from a number or its text; raises ValueError naming the parameter."""
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if not 1 <= number <= most:
        raise ValueError(f"parameter {name} must be a whole number from 1 to {most}, not {value!r}")
    return number
