"""The command line: stdout carries only the answer; progress, notes and warnings go to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from ctxlib import commands

WRONG = 2  # exit code: the question could not be answered (1: a notebook of the report failed)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits: 0, commands.FAILED, or WRONG with one sentence on stderr."""
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


def run() -> NoReturn:
    """The command as a process of its own, which ends without taking its objects apart one by one (25 ms)."""
    try:
        main()
    except SystemExit as ended:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        if "ctxlib.report" in sys.modules or not isinstance(ended.code, int):  # kernels have things to put away
            raise
        os._exit(ended.code)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ctxlib", description="Where does a coding agent's context go?")
    added = top.add_subparsers(required=True, metavar="COMMAND")

    report = added.add_parser("report", help="run the notebooks on your logs and write an HTML report")
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
    report.set_defaults(run=commands.report)

    scan = added.add_parser("scan", help="all numbers as JSON (context.json)")
    _window(scan)
    scan.add_argument("--json", action="store_true", help="as JSON (the only form; for scripts that say so)")
    scan.add_argument("--calls", action="store_true", help="with the output tokens of each call")
    scan.add_argument("--points", type=int, default=0, metavar="N", help="thin each curve to N points (default: all)")
    scan.add_argument("--timezone", default="UTC", metavar="ZONE", help="of calls_by_day (default UTC)")
    scan.add_argument("--out", type=Path, metavar="FILE", help="write there instead of stdout")
    scan.add_argument("--skipped", action="store_true", help="list on stderr what could not be read: file, line, cause")
    scan.set_defaults(run=commands.scan)

    small = added.add_parser("readout", help="a few numbers as one short line of JSON, context.json beside it")
    _window(small)
    small.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="where context.json goes (default: here)"
    )
    small.set_defaults(run=commands.readout)

    one = added.add_parser("snapshot", help="what the context of a session holds at one call")
    one.add_argument("session", help="its id, or the beginning of it")
    one.add_argument(
        "--turn", type=int, metavar="N", help="call of the thread, from 1; negative from the end; default last"
    )
    one.add_argument("--agent", default="main", metavar="ID", help="a sub-agent of the session")
    one.add_argument(
        "--json", choices=("session", "stage"), nargs="?", const="session", help="as one of the published shapes"
    )
    one.add_argument(
        "--count", action="store_true", help="ask the provider's count endpoint: sends the messages there, once"
    )
    _window(one, positional=False, since="all")
    one.set_defaults(run=commands.snapshot)

    cache = added.add_parser("cache", help="what is kept of logs that were read, so that the next time is instant")
    cache.add_argument("what", choices=("info", "clear", "where"))
    cache.set_defaults(run=commands.cache)

    plan = added.add_parser("schedule", help="a weekly report: prints a timer for this machine, or installs it")
    plan.add_argument("roots", nargs="*", metavar="ROOT", help="folders with logs (default: the agents' own)")
    plan.add_argument("--weekly", required=True, metavar='"Mon 07:00"', help="day and time")
    plan.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a folder; each report gets one by its date"
    )
    plan.add_argument("--kind", choices=("systemd", "launchd", "crontab"), help="default: what this machine has")
    plan.add_argument("--install", action="store_true", help="write it, and say how to switch it on")
    plan.set_defaults(run=commands.schedule)

    sources = added.add_parser("sources", help="which agents' logs are read, and from where on this machine")
    sources.set_defaults(run=commands.sources)
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
