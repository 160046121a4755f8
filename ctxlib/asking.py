"""A question as the command line puts it: its roots, window and prices, and its answer, from the cache where it holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlib import answers
from ctxlib.roots import STORE, cache_folder, roots_of
from ctxlib.span import BEGINNING, Span, span

if TYPE_CHECKING:
    from ctxlib.digest import Digest
    from ctxlib.logs import Asked, Logs
    from ctxlib.models import Overrides


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

    return scan(
        roots,
        since=given.since if since is None else since,
        until=given.until,
        project=given.project,
        prices=_prices(given),
        use_store=not given.no_cache,
        progress=progress_bar(),
    )


def answer(
    given: argparse.Namespace,
    kind: str,
    compute: Callable[[Digest, Asked], list[str]],
    *details: object,
    with_outputs: bool = False,
) -> list[str]:
    """The texts of an answer: those given before where they still hold, else computed. Says what was skipped."""
    roots, window, config = roots_asked(given), span(given.since, given.until), config_file(given)
    places = [os.path.abspath(root) for root in roots]
    own = config.read_bytes() if config else b""
    asked = answers.question(kind, places, window.until, given.project, own, with_outputs, *details)
    path, before = cache_folder() / answers.NAME, answers.listing(roots, window.since)
    found = None if given.no_cache else answers.find(path, asked, before, window)
    if found is None:
        found = _computed(given, roots, window, compute, with_outputs, before.bytes)
        if not given.no_cache:
            answers.keep(path, asked, before, roots, window, found)
    print(found.said, end="", file=sys.stderr)
    return found.texts


def _computed(
    given: argparse.Namespace,
    roots: Sequence[Path],
    window: Span,
    compute: Callable[[Digest, Asked], list[str]],
    with_outputs: bool,
    size: int,
) -> answers.Answer:
    from ctxlib.workers import ONE_THREAD, PARALLEL_FROM, Crew

    for name, value in ONE_THREAD.items():
        os.environ.setdefault(name, value)
    with Crew() as crew:
        if size >= PARALLEL_FROM and (given.no_cache or not (cache_folder() / STORE).exists()):
            crew.start("ctxlib.digests")  # all of it will have to be read: workers get ready while this process does
        from ctxlib import digests
        from ctxlib.logs import Asked
        from ctxlib.models import remember

        question = Asked(tuple(map(str, roots)), window, given.project, _prices(given))
        found = digests.find(
            question, with_outputs=with_outputs, use_store=not given.no_cache, crew=crew, progress=progress_bar()
        )
    held = found.digest
    texts, said = compute(held, question), notes(held, question.roots, found.store_error)
    if not given.no_cache:
        remember()  # windows that were looked up
    if window.since == BEGINNING:  # a window that has a beginning leaves out old files
        return answers.Answer(texts, said, BEGINNING - 1, BEGINNING)
    return answers.Answer(texts, said, held.before_since, held.from_since)


def _prices(given: argparse.Namespace) -> Overrides:
    from ctxlib.models import read_overrides

    config = config_file(given)
    return read_overrides(config) if config else {}


def notes(held: Digest, roots: Sequence[str], store_error: str = "") -> str:
    """What could not be used, and whether there is nothing to show, a sentence a line."""
    from ctxlib.summary import NOTHING, skipped

    said = [store_error] if store_error else []
    if held.archived:
        said.append(f"{held.archived} logs are no longer there, shown from the cache")
    files = sum(held.files.values())
    if not files:
        said.append(f"no log file changed in this window below {', '.join(roots)}")
    elif not held.seen:
        said.append(f"no call in this window in {files} files (try --since all)")
    left_out = skipped(held)
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
