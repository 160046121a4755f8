"""The command line: stdout carries only the answer; progress, notes and warnings go to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from ctxlib.logs import Logs

FAILED, WRONG = 1, 2  # exit codes: a notebook failed; the question could not be answered


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits: 0, FAILED, or WRONG with one sentence on stderr."""
    given = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal's encoding lacks must not end the answer
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = given.run(given)
        sys.stdout.flush()
    except BrokenPipeError:  # `ctxlib scan | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (ValueError, OSError, ImportError) as error:
        print(f"ctxlib: {error}", file=sys.stderr)
        code = WRONG
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ctxlib", description="Where does a coding agent's context go?")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    report = commands.add_parser("report", help="run the notebooks on your logs and write an HTML report")
    _window(report)
    report.add_argument("--sample", action="store_true", help="read the sample logs that come with ctxlib")
    report.add_argument(
        "--out", type=Path, default=Path("ctxlib-report"), metavar="DIR", help="default: ./ctxlib-report"
    )
    report.add_argument("--only", default="", metavar="02,04", help="only these notebooks")
    report.add_argument("--open", action="store_true", help="show it in the browser")
    report.add_argument("--mask", action="store_true", help="hide project and path names, to show it to others")
    report.add_argument(
        "--dated", action="store_true", help="write into a folder of today's date, so that old ones stay"
    )
    report.set_defaults(run=_report)

    scan = commands.add_parser("scan", help="all numbers as JSON (context.json)")
    _window(scan)
    scan.add_argument("--json", action="store_true", help="as JSON (the only form; for scripts that say so)")
    scan.add_argument("--calls", action="store_true", help="with the output tokens of each call")
    scan.add_argument("--points", type=int, default=0, metavar="N", help="thin each curve to N points (default: all)")
    scan.add_argument("--timezone", default="UTC", metavar="ZONE", help="of calls_by_day (default UTC)")
    scan.add_argument("--out", type=Path, metavar="FILE", help="write there instead of stdout")
    scan.add_argument("--skipped", action="store_true", help="list on stderr what could not be read: file, line, cause")
    scan.set_defaults(run=_scan)

    small = commands.add_parser("readout", help="a few numbers as one short line of JSON, context.json beside it")
    _window(small)
    small.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="where context.json goes (default: here)"
    )
    small.set_defaults(run=_readout)

    one = commands.add_parser("snapshot", help="what the context of a session holds at one call")
    one.add_argument("session", help="its id, or the beginning of it")
    one.add_argument(
        "--turn", type=int, metavar="N", help="call of the thread, from 1; negative from the end; default last"
    )
    one.add_argument("--agent", default="main", metavar="ID", help="a sub-agent of the session")
    one.add_argument(
        "--json", choices=("session", "stage"), nargs="?", const="session", help="as one of the published shapes"
    )
    _window(one, positional=False, since="all")
    one.set_defaults(run=_snapshot)

    cache = commands.add_parser("cache", help="what is kept of logs that were read, so that the next time is instant")
    cache.add_argument("what", choices=("info", "clear", "where"))
    cache.set_defaults(run=_cache)

    plan = commands.add_parser("schedule", help="a weekly report: prints a timer for this machine, or installs it")
    plan.add_argument("roots", nargs="*", metavar="ROOT", help="folders with logs (default: the agents' own)")
    plan.add_argument("--weekly", required=True, metavar='"Mon 07:00"', help="day and time")
    plan.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a folder; each report gets one by its date"
    )
    plan.add_argument("--kind", choices=("systemd", "launchd", "crontab"), help="default: what this machine has")
    plan.add_argument("--install", action="store_true", help="write it, and say how to switch it on")
    plan.set_defaults(run=_schedule)

    sources = commands.add_parser("sources", help="which agents' logs are read, and from where on this machine")
    sources.set_defaults(run=_sources)
    return top


def _window(command: argparse.ArgumentParser, *, positional: bool = True, since: str = "") -> None:
    if positional:
        command.add_argument("roots", nargs="*", metavar="ROOT", help="folders with logs (default: the agents' own)")
    command.add_argument("--root", action="append", default=[], metavar="ROOT", help="the same; may be repeated")
    command.add_argument("--since", default=since, metavar="WHEN", help="30d (default), 12h, a date, an ISO time, all")
    command.add_argument("--until", default="", metavar="WHEN", help="the same; a date includes its day")
    command.add_argument("--project", default="", metavar="TEXT", help="only projects whose path contains TEXT")
    command.add_argument("--config", type=Path, metavar="FILE", help="your own prices and windows, TOML")
    command.add_argument("--no-cache", action="store_true", help="read every log anew and keep nothing")
    command.add_argument(
        "--offline", action="store_true", help="accepted for habit's sake: nothing here uses a network"
    )


def _logs(given: argparse.Namespace, roots: Sequence[str | Path] = (), *, since: str | None = None) -> Logs:
    from ctxlib.logs import scan
    from ctxlib.logs.discover import roots_of
    from ctxlib.models import read_overrides

    named = [*roots, *getattr(given, "roots", ()), *given.root]
    found = roots_of(named)
    if not found:
        raise FileNotFoundError(
            "no logs found: neither CLAUDE_CONFIG_DIR nor ~/.config/claude nor ~/.claude is a folder here;"
            " name one (ctxlib scan FOLDER), or see the sample (ctxlib report --sample)"
        )
    own = given.config or Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ctxlib" / "models.toml"
    prices = read_overrides(own) if given.config or own.is_file() else None
    logs = scan(
        found,
        since=given.since if since is None else since,
        until=given.until,
        project=given.project,
        prices=prices,
        use_store=not given.no_cache,
        progress=progress_bar(),
    )
    note(logs)
    return logs


def note(logs: Logs) -> None:
    """Says on stderr what could not be used, and when there is nothing to show."""
    from ctxlib.summary import skipped

    if logs.store_error:
        print(f"ctxlib: {logs.store_error}", file=sys.stderr)
    archived = sum(info.archived for info in logs.files)
    if archived:
        print(f"ctxlib: {archived} logs are no longer there, shown from the cache", file=sys.stderr)
    if not logs.files:
        print(f"ctxlib: no log file changed in this window below {', '.join(logs.roots)}", file=sys.stderr)
    elif not (logs.calls["inside"]).any():
        print(f"ctxlib: no call in this window in {len(logs.files)} files (try --since all)", file=sys.stderr)
    said = skipped(logs)
    if said != "nothing was skipped":
        print(f"ctxlib: skipped {said} (ctxlib scan --skipped lists them)", file=sys.stderr)


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


def _report(given: argparse.Namespace) -> int:
    from ctxlib.bundle import sample_root
    from ctxlib.logs.discover import roots_of
    from ctxlib.mask import masked
    from ctxlib.summary import summary

    try:
        from ctxlib.report import build
    except ImportError as error:
        raise ImportError(f"the report needs more packages: pip install 'ctxlib[report]' ({error.name})") from None
    named = [*given.roots, *given.root]
    roots = [sample_root()] if given.sample else roots_of(named)
    origin = ""
    since = given.since
    if given.sample or not roots:
        roots, since = [sample_root()], since or "all"
        why = "" if given.sample else ": no agent's log folder was found here"
        origin = f"the sample logs that come with ctxlib{why}"
    given.roots, given.root = [], []
    logs = _logs(given, roots, since=since)
    if not since and not logs.calls["inside"].any():
        since = "all"
        logs = _logs(given, roots, since=since)
        if logs.calls["inside"].any():
            print("ctxlib: nothing in the last 30 days, so everything is shown", file=sys.stderr)
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


def _scan(given: argparse.Namespace) -> int:
    from ctxlib.readout import detail, dumps

    try:
        zone = ZoneInfo(given.timezone)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"no such time zone: {given.timezone!r} (give one like Europe/Berlin)") from None
    if given.points < 0:
        raise ValueError(f"--points must not be negative: {given.points}")
    logs = _logs(given)
    if given.skipped:
        for file, no in zip(logs.note_file.tolist(), logs.notes, strict=True):
            cause = logs.names.strings[no["code"]]
            print(f"{logs.files[file].path}:{no['no']}: {cause}", file=sys.stderr)
        for item in logs.unreadable:
            print(f"{item.path}: {item.cause}", file=sys.stderr)
    text = dumps(detail(logs, points=given.points, with_calls=given.calls, zone=zone), indent=1)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.buffer.write(text.encode())
    return 0


def _readout(given: argparse.Namespace) -> int:
    from ctxlib.readout import dumps, readout_of

    if not given.out.is_dir():
        raise FileNotFoundError(f"no such folder for context.json: {given.out}")
    small, held = readout_of(_logs(given))
    (given.out / "context.json").write_text(dumps(held, indent=1), encoding="utf-8")
    sys.stdout.buffer.write(dumps(small).encode())
    return 0


def _snapshot(given: argparse.Namespace) -> int:
    from ctxlib.accounting.moment import snapshot
    from ctxlib.readout import dumps

    found = snapshot(_logs(given), given.session, given.turn, thread=given.agent)
    if given.json:
        shape = found.to_session_context() if given.json == "session" else found.to_stage_context_window()
        sys.stdout.buffer.write(dumps(shape, indent=1).encode())
    else:
        print(found)
    return 0


def _cache(given: argparse.Namespace) -> int:
    from ctxlib.logs import store

    path = store.file()
    if given.what == "where":
        print(path)
    elif given.what == "clear":
        print(f"removed {store.clear(path):,} bytes: {path}")
    else:
        known = store.facts(path)
        share = f", {100 * known.bytes / known.log_bytes:.1f} % of the logs" if known.log_bytes else ""
        print(
            f"{known.path}\n{known.files} files, {known.archived} of them no longer there, {known.bytes:,} bytes{share}"
        )
    return 0


def _schedule(given: argparse.Namespace) -> int:
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


def _sources(_: argparse.Namespace) -> int:
    from ctxlib.sources import SOURCES

    for source in SOURCES:
        roots = source.default_roots(os.environ, Path.home())
        print(f"{source.name}: {', '.join(map(str, roots)) if roots else 'no folder of its own here'}")
    return 0
