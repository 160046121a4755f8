"""A question as the command line puts it: its roots, window and prices, and its answer, from the cache where it holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlib.roots import cache_folder, roots_of

if TYPE_CHECKING:
    from ctxlib.logs import Logs


def roots_asked(given: argparse.Namespace) -> list[Path]:
    found = roots_of([*getattr(given, "roots", ()), *given.root])
    if not found:
        raise FileNotFoundError(
            "no logs found: neither CLAUDE_CONFIG_DIR nor ~/.config/claude nor ~/.claude is a folder here;"
            " name one (ctxlib scan FOLDER), or see the sample (ctxlib report --sample)"
        )
    return found


def config_file(given: argparse.Namespace) -> Path | None:
    """The user's own prices and windows: the file named, else the one in the usual place, where it exists."""
    usual = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ctxlib" / "models.toml"
    return given.config or (usual if usual.is_file() else None)


def read(given: argparse.Namespace, roots: Sequence[Path], *, since: str | None = None) -> Logs:
    from ctxlib.logs import scan
    from ctxlib.models import read_overrides

    config = config_file(given)
    return scan(
        roots,
        since=given.since if since is None else since,
        until=given.until,
        project=given.project,
        prices=read_overrides(config) if config else None,
        use_store=not given.no_cache,
        progress=progress_bar(),
    )


def answer(given: argparse.Namespace, kind: str, compute: Callable[[Logs], list[str]], *details: object) -> list[str]:
    """The texts of an answer: those given before where they still hold, else computed. Says what was skipped."""
    from ctxlib import answers
    from ctxlib.span import span

    roots, window, config = roots_asked(given), span(given.since, given.until), config_file(given)
    places = [os.path.abspath(root) for root in roots]
    asked = answers.question(
        kind, places, window.until, given.project, config.read_bytes() if config else b"", *details
    )
    path = cache_folder() / answers.NAME
    found = None if given.no_cache else answers.find(path, asked, roots, window)
    if found is None:
        before = "" if given.no_cache else answers.listing(roots, window.since)
        logs = read(given, roots)
        found = answers.Answer(compute(logs), notes(logs))
        if not given.no_cache:
            answers.keep(path, asked, before, roots, logs, found)
    print(found.said, end="", file=sys.stderr)
    return found.texts


def notes(logs: Logs) -> str:
    """What could not be used, and whether there is nothing to show, a sentence a line."""
    from ctxlib.summary import NOTHING, skipped

    said = [logs.store_error] if logs.store_error else []
    archived = sum(info.archived for info in logs.files)
    if archived:
        said.append(f"{archived} logs are no longer there, shown from the cache")
    if not logs.files:
        said.append(f"no log file changed in this window below {', '.join(logs.roots)}")
    elif not logs.calls["inside"].any():
        said.append(f"no call in this window in {len(logs.files)} files (try --since all)")
    left_out = skipped(logs)
    if left_out != NOTHING:
        said.append(f"skipped {left_out} (ctxlib scan --skipped lists them)")
    return "".join(f"ctxlib: {sentence}\n" for sentence in said)


class progress_bar:
    """Writes how far a scan is, on a terminal only, and wipes it at the end."""

    def __init__(self) -> None:
        self._last = -1

    def __call__(self, done: int, total: int) -> None:
        percent = 100 if not total else 100 * done // total
        if total < 50_000_000 or percent == self._last or not sys.stderr.isatty():
            return
        self._last = percent
        bar = "#" * (percent // 4)
        end = "\r\x1b[K" if percent == 100 else f"\rreading [{bar:<25}] {percent:3d} %"
        print(end, end="", file=sys.stderr, flush=True)
