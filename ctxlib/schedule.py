"""A weekly report without anybody asking: the text of a systemd timer, a launchd job or a crontab line."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEKLY = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([01]\d|2[0-3]):([0-5]\d)$")
NAME = "ctxlib-report"
KINDS = ("systemd", "launchd", "crontab")


class When(NamedTuple):
    day: int  # 0 is Monday
    hour: int
    minute: int


class Unit(NamedTuple):
    """A file to write; an empty path is a line to add to the user's crontab."""

    path: str
    text: str


def weekly(text: str) -> When:
    """`Mon 07:00`; raises ValueError naming what was given."""
    found = _WEEKLY.match(text.strip())
    if not found:
        raise ValueError(f"not a day and time: {text!r} (give one like 'Mon 07:00')")
    return When(DAYS.index(found[1]), int(found[2]), int(found[3]))


def command(out: Path, roots: Sequence[str | Path]) -> list[str]:
    """What is run: one command. The report of each day goes into a folder named by its date, so old ones are kept."""
    names = [str(Path(root).expanduser().absolute()) for root in roots]
    return [sys.executable, "-m", "ctxlib", "report", *names, "--since", "7d", "--dated", "--out", str(out.absolute())]


def kind_here() -> str:
    """Which of KINDS this machine has: launchd on macOS, else systemd where there is a user manager, else crontab."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") and Path("/run/systemd/system").is_dir() else "crontab"


def units(kind: str, when: When, argv: Sequence[str], home: Path) -> list[Unit]:
    """The files that make up the schedule on this kind of machine. Raises ValueError for another kind."""
    if kind == "systemd":
        folder = home / ".config" / "systemd" / "user"
        run = " ".join(_systemd_quoted(word) for word in argv)
        service = f"[Unit]\nDescription=ctxlib weekly report\n\n[Service]\nType=oneshot\nExecStart={run}\n"
        at = f"{DAYS[when.day]} *-*-* {when.hour:02d}:{when.minute:02d}:00"
        timer = (
            f"[Unit]\nDescription=ctxlib weekly report\n\n[Timer]\nOnCalendar={at}\nPersistent=true\n\n"
            "[Install]\nWantedBy=timers.target\n"
        )
        return [Unit(str(folder / f"{NAME}.service"), service), Unit(str(folder / f"{NAME}.timer"), timer)]
    if kind == "launchd":
        words = "".join(f"    <string>{escape(word)}</string>\n" for word in argv)
        day = (when.day + 1) % 7  # launchd's week begins on Sunday, 0
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
            f'<plist version="1.0"><dict>\n  <key>Label</key><string>{NAME}</string>\n'
            f"  <key>ProgramArguments</key><array>\n{words}  </array>\n"
            f"  <key>StartCalendarInterval</key><dict><key>Weekday</key><integer>{day}</integer>"
            f"<key>Hour</key><integer>{when.hour}</integer><key>Minute</key><integer>{when.minute}</integer></dict>\n"
            "</dict></plist>\n"
        )
        return [Unit(str(home / "Library" / "LaunchAgents" / f"{NAME}.plist"), text)]
    if kind == "crontab":
        run = shlex.join(argv).replace("%", r"\%")  # cron takes a bare % for a line end
        return [Unit("", f"{when.minute} {when.hour} * * {(when.day + 1) % 7} {run} # {NAME}\n")]
    raise ValueError(f"no such kind of schedule: {kind!r} (there are {', '.join(KINDS)})")


def _systemd_quoted(word: str) -> str:
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"'


def install(kind: str, made: Sequence[Unit]) -> str:
    """Writes the units, or the crontab with an earlier line of ours replaced; the command that switches it on."""
    for unit in made:
        if unit.path:
            path = Path(unit.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(unit.text, encoding="utf-8")
        else:
            found = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False)
            kept = [row for row in found.stdout.splitlines() if not row.endswith(f"# {NAME}")]
            table = "".join(f"{row}\n" for row in kept) + unit.text
            subprocess.run(["crontab", "-"], input=table, text=True, check=True)
    if kind == "systemd":
        return f"systemctl --user daemon-reload && systemctl --user enable --now {NAME}.timer"
    return f"launchctl load -w {shlex.quote(made[0].path)}" if kind == "launchd" else ""
