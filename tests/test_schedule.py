"""The scheduled report: what is printed is what the machine's own tools accept, and runs one command."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path

import pytest

from ctxlib import schedule

ARGV = ["/opt/my tools/python", "-m", "ctxlib", "report", "/home/dev/50%/logs", "--out", "/home/dev/$x"]


def test_a_day_and_time_are_read_and_nonsense_is_named() -> None:
    assert schedule.weekly("Mon 07:00") == (0, 7, 0)
    assert schedule.weekly("Sun 23:59") == (6, 23, 59)
    for wrong in ("Monday 07:00", "Mon 24:00", "Mon 7:00", "", "Mon 07:60"):
        with pytest.raises(ValueError, match="not a day and time"):
            schedule.weekly(wrong)


def test_systemd_gets_a_service_and_a_timer(tmp_path: Path) -> None:
    service, timer = schedule.units("systemd", schedule.weekly("Mon 07:00"), ARGV, tmp_path)
    assert Path(service.path) == tmp_path / ".config/systemd/user/ctxlib-report.service"
    assert 'ExecStart="/opt/my tools/python" "-m"' in service.text
    assert '"/home/dev/50%%/logs"' in service.text, "systemd takes a bare % for a specifier"
    assert '"/home/dev/$$x"' in service.text
    assert "OnCalendar=Mon *-*-* 07:00:00" in timer.text
    assert "Persistent=true" in timer.text, "a laptop that slept on Monday still gets its report"


def test_launchd_reads_the_plist_and_its_week_begins_on_sunday(tmp_path: Path) -> None:
    (unit,) = schedule.units("launchd", schedule.weekly("Sun 08:30"), [*ARGV, "<&>"], tmp_path)
    held = plistlib.loads(unit.text.encode())
    assert held["ProgramArguments"] == [*ARGV, "<&>"]
    assert held["StartCalendarInterval"] == {"Weekday": 0, "Hour": 8, "Minute": 30}


def test_cron_gets_one_line_whose_words_come_back(tmp_path: Path) -> None:
    (unit,) = schedule.units("crontab", schedule.weekly("Sat 06:05"), ARGV, tmp_path)
    fields = unit.text.split(" ", 5)
    assert fields[:5] == ["5", "6", "*", "*", "6"]
    assert r"50\%/logs" in unit.text, "cron ends the command at a bare %"
    assert shlex.split(fields[5].replace(r"\%", "%"), comments=True) == ARGV


def test_installing_writes_what_was_printed(tmp_path: Path) -> None:
    made = schedule.units("systemd", schedule.weekly("Fri 17:00"), ARGV, tmp_path)
    then = schedule.install("systemd", made)
    assert [Path(unit.path).read_text() for unit in made] == [unit.text for unit in made]
    assert then.endswith("enable --now ctxlib-report.timer")


def test_another_kind_of_machine_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such kind of schedule: 'at'"):
        schedule.units("at", schedule.weekly("Fri 17:00"), ARGV, tmp_path)
