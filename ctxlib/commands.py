"""What each command does: stdout carries only the answer; progress, notes and warnings go to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from ctxlib.asking import answer, notes, read, roots_asked
from ctxlib.roots import cache_folder, roots_of

if TYPE_CHECKING:
    from ctxlib.digest import Digest
    from ctxlib.logs import Asked, Logs

FAILED = 1  # exit code: a notebook failed


def report(given: argparse.Namespace) -> int:
    from ctxlib.digest import digest
    from ctxlib.mask import masked
    from ctxlib.summary import summary

    try:
        from ctxlib.report import build
    except ImportError as error:
        raise ImportError(f"the report needs more packages: pip install 'ctxlib[report]' ({error.name})") from None
    roots, logs, origin = _to_report(given)
    print(notes(digest(logs), logs.roots, logs.store_error), end="", file=sys.stderr)
    story = summary(masked(logs) if given.mask else logs, origin=origin)
    print(f"ctxlib: {story['read']}", file=sys.stderr)
    begin, end = logs.span.texts()
    out = given.out / datetime.now().date().isoformat() if given.dated else given.out
    made = build(
        out=out,
        root=os.pathsep.join(str(Path(root).absolute()) for root in roots),
        since=begin or "all",
        until=end or "",
        project=given.project,
        parameters={"mask": "yes"} if given.mask else {},
        only=[name for name in given.only.split(",") if name.strip()],
        progress=lambda line: print(f"  {line}", file=sys.stderr),
        summary=story,
    )
    address = made.path.absolute().as_uri()
    print(address)
    if given.open:
        import webbrowser

        webbrowser.open(address)
    return 0 if made.ok else FAILED


def _to_report(given: argparse.Namespace) -> tuple[list[Path], Logs, str]:
    """Folders, their logs, and where these come from if they are not the user's own: with no window named, all logs where
    the last days hold nothing, and the sample where no agent's folder holds a log."""
    named, since = [*given.roots, *given.root], given.since
    roots = [] if given.sample else roots_of(named)
    if roots:
        logs = read(given, roots)
        if not since and not logs.calls["inside"].any():
            logs = read(given, roots, since="all")
            if logs.calls["inside"].any():
                print("ctxlib: nothing in the last 30 days, so everything is shown", file=sys.stderr)
        if named or since or logs.files or logs.unreadable:
            return roots, logs, ""
    from ctxlib.bundle import sample_root

    why = "" if given.sample else ": no agent's logs were found here"
    roots = [sample_root()]
    return roots, read(given, roots, since=since or "all"), f"the sample logs that come with ctxlib{why}"


def scan(given: argparse.Namespace) -> int:
    try:
        zone = ZoneInfo(given.timezone)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"no such time zone: {given.timezone!r} (give one like Europe/Berlin)") from None
    if given.points < 0:
        raise ValueError(f"--points must not be negative: {given.points}")
    if given.skipped:
        _list_skipped(read(given, roots_asked(given)))

    def compute(held: Digest, asked: Asked) -> list[str]:
        from ctxlib.readout import detail_of, dumps

        return [dumps(detail_of(held, asked, points=given.points, with_calls=given.calls, zone=zone), indent=1)]

    (text,) = answer(given, "scan", compute, given.points, given.timezone, with_outputs=given.calls)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode())
    return 0


def _list_skipped(logs: Logs) -> None:
    for file, no in zip(logs.note_file.tolist(), logs.notes, strict=True):
        print(f"{logs.files[file].path}:{no['no']}: {logs.names.strings[no['code']]}", file=sys.stderr)
    for item in logs.unreadable:
        print(f"{item.path}: {item.cause}", file=sys.stderr)


def readout(given: argparse.Namespace) -> int:
    if not given.out.is_dir():
        raise FileNotFoundError(f"no such folder for context.json: {given.out}")

    def compute(held: Digest, asked: Asked) -> list[str]:
        from ctxlib.findings import findings
        from ctxlib.readout import detail_of, dumps, readout

        whole = detail_of(held, asked)
        return [dumps(readout(whole, [finding.text for finding in findings(held)])), dumps(whole, indent=1)]

    small, detail = answer(given, "readout", compute)
    (given.out / "context.json").write_text(detail, encoding="utf-8")
    sys.stdout.buffer.write(small.encode())
    return 0


def snapshot(given: argparse.Namespace) -> int:
    from ctxlib.accounting import moment
    from ctxlib.digest import digest
    from ctxlib.readout import dumps

    logs = read(given, roots_asked(given))
    print(notes(digest(logs), logs.roots, logs.store_error), end="", file=sys.stderr)
    if given.count:
        from ctxlib.accounting.counting import count

        found = count(logs, given.session, given.turn, thread=given.agent)
    else:
        found = moment.snapshot(logs, given.session, given.turn, thread=given.agent)
    if given.json:
        shape = found.to_session_context() if given.json == "session" else found.to_stage_context_window()
        sys.stdout.buffer.write(dumps(shape, indent=1).encode())
    else:
        print(found)
    return 0


def cache(given: argparse.Namespace) -> int:
    from ctxlib import answers
    from ctxlib.logs import store
    from ctxlib.models import listed

    path = store.file()
    if given.what == "where":
        print(path)
    elif given.what == "clear":
        freed = sum(map(store.clear, (path, cache_folder() / answers.NAME, cache_folder() / listed.NAME)))
        print(f"removed {freed:,} bytes: {path}")
    else:
        known = store.facts(path)
        share = f", {100 * known.bytes / known.log_bytes:.1f} % of the logs" if known.log_bytes else ""
        print(
            f"{known.path}\n{known.files} files, {known.archived} of them no longer there, {known.bytes:,} bytes{share}"
        )
    return 0


def schedule(given: argparse.Namespace) -> int:
    from ctxlib import schedule

    kind = given.kind or schedule.kind_here()
    argv = schedule.command(given.out.expanduser(), given.roots)
    made = schedule.units(kind, schedule.weekly(given.weekly), argv, Path.home())
    for unit in made:
        head = f"# {unit.path}\n" if unit.path else ""
        print(f"{head}{unit.text}", end="" if unit is made[-1] else "\n")
    if given.install:
        then = schedule.install(kind, made)
        print("ctxlib: written" + (f"; switch it on: {then}" if then else ""), file=sys.stderr)
    return 0


def sources(_: argparse.Namespace) -> int:
    from ctxlib.sources import SOURCES

    for source in SOURCES:
        roots = source.default_roots(os.environ, Path.home())
        print(f"{source.name}: {', '.join(map(str, roots)) if roots else 'no folder of its own here'}")
    return 0
