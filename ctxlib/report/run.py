"""Run the notebooks, at most four at once, and write the report."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ctxlib.bundle import notebooks_dir
from ctxlib.report import suite, worker

if TYPE_CHECKING:
    from ctxlib.report.html import Section

TIMEOUT = 600
"""Seconds that one cell of a notebook may run before the notebook counts as failed."""


class Page(NamedTuple):
    """One notebook's page. ``error`` is empty, or the exception's class and message as raised (not escaped)."""

    name: str
    title: str
    ok: bool
    seconds: float
    error: str


@dataclass(frozen=True)
class Report:
    """What was written: the HTML file and, in order, its pages."""

    path: Path
    pages: tuple[Page, ...]

    @property
    def ok(self) -> bool:
        """Whether every notebook ran to its end."""
        return all(page.ok for page in self.pages)


def build(
    *,
    out: Path,
    root: str = "",
    since: str = "",
    until: str = "",
    project: str = "",
    only: Sequence[str] = (),
    parameters: Mapping[str, str] = {},
    progress: Callable[[str], None] | None = None,
    summary: Mapping[str, object] | None = None,
    notebooks: Path | None = None,
) -> Report:
    """Run the suite and write ``out/index.html``, one file that needs no other and asks no network.

    Parameters
    ----------
    out : folder for the report; made where it is missing.
    root, since, until, project : handed to every notebook as raw strings, where not empty.
    only : numbers or names of notebooks (``"02"``, ``"04_what_compaction_does"``); empty means all.
    parameters : more parameters, as raw strings; each goes to the notebooks that declare it.
    progress : called in this thread with a line of plain text at a time.
    summary : the front section (`ctxlib.report.index.document`); all its text is escaped there.
    notebooks : the folder of the suite, if not ctxlib's own.

    Raises
    ------
    ImportError
        Where the extra ``report`` is not installed; the message has the line that installs it.
    ReportError
        For a notebook in ``only`` or a parameter that does not exist. A notebook that fails does not raise: its
        page says so, and ``Report.ok`` is false.
    """
    _require("ipykernel", "jinja2", "matplotlib", "nbconvert", "papermill", "plotly")
    from ctxlib.report import index

    say = progress or _silent
    paths = suite.choose(notebooks or notebooks_dir(), only)
    common = {"root": root, "since": since, "until": until, "project": project}
    given = suite.assign(paths, {name: value for name, value in common.items() if value}, parameters)
    out.mkdir(parents=True, exist_ok=True)
    pages, sections = _pages(paths, given, say)
    path = out / "index.html"
    _replace(path, index.document(sections, summary or {}))
    say(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
    return Report(path, tuple(pages))


def _require(*modules: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ImportError(f"the report needs {', '.join(missing)}: pip install 'ctxlib[report]'", name=missing[0])


def _pages(
    paths: Sequence[Path], given: Sequence[Mapping[str, str]], say: Callable[[str], None]
) -> tuple[list[Page], "list[Section]"]:
    from ctxlib.report import html

    workers = min(4, os.cpu_count() or 1, len(paths))
    say(f"running {len(paths)} notebook{'s' * (len(paths) != 1)}, {workers} at once")
    made: dict[Path, tuple[Page, Section]] = {}
    with tempfile.TemporaryDirectory(prefix="ctxlib-report-") as folder, ThreadPoolExecutor(workers) as pool:
        scratch = Path(folder)
        futures = {
            pool.submit(_timed, path, scratch, parameters): path for path, parameters in zip(paths, given, strict=True)
        }
        for future in as_completed(futures):
            path = futures[future]
            seconds, error = future.result()
            section = html.section(scratch / path.name, source=path, error=error)
            made[path] = Page(path.stem, section.title, not error, seconds, error), section
            outcome = f"FAILED, {_first_line(error)}" if error else "done"
            say(f"[{len(made)}/{len(paths)}] {path.stem}: {outcome} ({seconds:.1f} s)")
    pages, sections = zip(*(made[path] for path in paths), strict=True)
    return list(pages), list(sections)


def _timed(path: Path, scratch: Path, parameters: Mapping[str, str]) -> tuple[float, str]:
    start = time.perf_counter()
    error = worker.run(path, scratch / path.name, parameters, timeout=TIMEOUT, scratch=scratch)
    return time.perf_counter() - start, error


def _replace(path: Path, text: str) -> None:
    # Whoever has the old report open, or is mailing it, never sees half of a new one.
    draft = path.with_suffix(".html.part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _first_line(text: str) -> str:
    return (text.splitlines() or [""])[0]


def _silent(line: str) -> None:
    pass
