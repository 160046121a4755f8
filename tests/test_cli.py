"""The command line: the answer on stdout, one clear sentence on stderr, an exit code, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxlib import commands
from ctxlib.bundle import sample_root
from ctxlib.cli import main, parser

SAMPLE = str(sample_root())


@pytest.fixture(autouse=True)
def _empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """run(*arguments): (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, error = capsys.readouterr()
        assert "Traceback" not in error
        return int(ended.value.code or 0), out, error

    return call


@pytest.fixture
def projects(make: Any, tmp_path: Path) -> str:
    for name in ("aaa1", "aaa2", "bbb"):
        s = make.Session(name)
        s.prompt("x" * 100)
        s.call(20_000, make.use("Read", f"{name}t", file_path="/home/u/Füße.py"))
        s.result(f"{name}t", "y" * 400)
        s.call(20_300)
        s.write(tmp_path / "projects")
    return str(tmp_path / "projects")


WRONG = [
    (["scan"], "no logs found"),
    (["readout"], "no logs found"),
    (["snapshot", "x"], "no logs found"),
    (["scan", "/nowhere/at/all"], "no such folder: /nowhere/at/all"),
    (["scan", "--root", "/nowhere/at/all"], "no such folder: /nowhere/at/all"),
    (["scan", SAMPLE, "--since", "2999-01-01"], "since lies in the future"),
    (["scan", SAMPLE, "--since", "soon"], "since is no time: 'soon'"),
    (["scan", SAMPLE, "--since", "2026-02-01", "--until", "2026-01-01"], "is not before until"),
    (["scan", SAMPLE, "--until", "2026-99-99"], "until is no time"),
    (["scan", SAMPLE, "--timezone", "Mars/Olympus"], "no such time zone: 'Mars/Olympus'"),
    (["scan", SAMPLE, "--timezone", "../../etc/passwd"], "no such time zone"),
    (["scan", SAMPLE, "--timezone", ""], "no such time zone"),
    (["scan", SAMPLE, "--points", "-1"], "--points must not be negative"),
    (["readout", SAMPLE, "--out", "nowhere"], "no such folder for context.json: nowhere"),
    (["scan", SAMPLE, "--config", "nowhere.toml"], "nowhere.toml"),
]


@pytest.mark.parametrize(
    ("arguments", "said"), WRONG, ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else ""
)
def test_what_cannot_be_answered_is_one_sentence(run: Any, arguments: list[str], said: str) -> None:
    code, out, error = run(*arguments)
    assert (code, out) == (2, "")
    assert said in error
    assert error.startswith("ctxlib: ")
    assert len(error.splitlines()) == 1


def test_a_place_that_cannot_be_written_is_named(run: Any, projects: str) -> None:
    code, out, error = run("scan", projects, "--since", "all", "--out", "no/such/folder.json")
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert "no/such/folder.json" in error


@pytest.mark.parametrize(
    ("session", "more", "said"),
    [
        ("zzz", [], "no session begins with 'zzz'"),
        ("aaa", [], "2 sessions begin with 'aaa': aaa1, aaa2"),
        ("bbb", ["--turn", "3"], "turn 3 is not there: the thread has 2 calls, 1 to 2"),
        ("bbb", ["--turn", "0"], "turn 0 is not there"),
        ("bbb", ["--agent", "a1"], "0 sub-agents of session bbb begin with 'a1'"),
    ],
)
def test_a_call_that_is_not_there(run: Any, projects: str, session: str, more: list[str], said: str) -> None:
    code, out, error = run("snapshot", session, "--root", projects, *more)
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert said in error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models = [", "not valid TOML"),
        ("\x00\xff", "not valid TOML"),
        ('[models."m"]\ninput = "x"\noutput = 1', "input must be a number >= 0"),
        ('[models."m"]\nwindow = 0', "window must be a whole number"),
        ("[prices]\na = 1", "unknown key 'prices'"),
    ],
)
def test_a_malformed_config_names_its_file_and_its_fault(run: Any, projects: str, text: str, said: str) -> None:
    Path("own.toml").write_bytes(text.encode("latin-1"))
    code, out, error = run("scan", projects, "--since", "all", "--config", "own.toml")
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert said in error
    assert "own.toml" in error


def test_a_config_of_ones_own_is_read_without_being_named(run: Any, projects: str, tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".config" / "ctxlib"
    folder.mkdir(parents=True)
    (folder / "models.toml").write_text('[models."claude-sonnet-4-5"]\nwindow = 123456\n')
    code, out, _ = run("scan", projects, "--since", "all")
    assert (code, json.loads(out)["windows"]) == (0, {"claude-sonnet-4-5": 123456})


@pytest.mark.parametrize("command", ["scan", "readout"])
def test_a_root_without_sessions_is_an_answer_and_a_note(run: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    code, out, error = run(command, str(tmp_path / "empty"))
    assert (code, json.loads(out)["sessions"]) == (0, 0)
    assert error == f"ctxlib: no log file changed in this window below {tmp_path / 'empty'}\n"


def test_old_logs_are_pointed_to(run: Any, projects: str) -> None:
    """Logs without a call in the last days: say so, and how to see them."""
    code, out, error = run("scan", projects, "--since", "0d")
    assert (code, json.loads(out)["calls"]) == (0, 0)
    assert "no call in this window" in error or "no log file changed" in error


def test_stdout_holds_the_answer_and_nothing_else(run: Any, projects: str) -> None:
    (Path(projects) / "-home-u-proj" / "bad.jsonl").write_bytes(b"no json\n")
    code, out, error = run("scan", projects, "--since", "all", "--json", "--skipped")
    assert (code, json.loads(out)["sessions"]) == (0, 3)
    assert "skipped 1 line that could not be read" in error
    assert "bad.jsonl:1: no_json" in error


def test_the_readout_is_one_short_line_with_its_detail_beside_it(run: Any, projects: str, tmp_path: Path) -> None:
    code, out, _ = run("readout", projects, "--since", "all", "--out", str(tmp_path))
    assert (code, out.count("\n"), out[-1]) == (0, 1, "\n")
    assert len(out.encode()) < 400
    held = json.loads((tmp_path / json.loads(out)["detail"]).read_text())
    assert json.loads(run("scan", projects, "--since", "all")[1]) == held


def test_a_snapshot_in_each_of_its_shapes(run: Any, projects: str) -> None:
    assert "20.3k tokens (measured)" in run("snapshot", "bbb", "--root", projects)[1]
    session = json.loads(run("snapshot", "bbb", "--root", projects, "--turn", "1", "--json")[1])
    assert (session["total_used"], session["basis"]) == (20_000, "measured")
    stage = json.loads(run("snapshot", "bbb", "--root", projects, "--json", "stage")[1])
    assert sum(part["tokens"] for part in stage["breakdown"]) == stage["input_tokens"] == 20_300


def test_out_writes_a_file_and_no_answer_on_stdout(run: Any, projects: str, tmp_path: Path) -> None:
    code, out, _ = run("scan", projects, "--since", "all", "--out", str(tmp_path / "c.json"))
    assert (code, out, json.loads((tmp_path / "c.json").read_text())["sessions"]) == (0, "", 3)


@pytest.mark.parametrize(
    "arguments", [[], ["frobnicate"], ["scan", "--sinse", "30d"], ["snapshot"], ["snapshot", "x", "--turn", "y"]]
)
def test_a_mistyped_command_shows_how_it_is_spelled(run: Any, arguments: list[str]) -> None:
    code, out, error = run(*arguments)
    assert (code, out) == (2, "")
    assert "usage: ctxlib" in error


def program(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    package = str(Path(__file__).parents[1])
    environ = {**os.environ, "PYTHONPATH": package, **options}
    command = [sys.executable, "-c", "from ctxlib.cli import main; main()", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)


def test_a_reader_that_stops_early_is_no_error() -> None:
    """`ctxlib scan --calls | head -1`"""
    with program("scan", SAMPLE, "--since", "all", "--calls") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.wait(20) == 0
        assert b"Traceback" not in process.stderr.read()


def test_a_terminal_without_unicode_still_shows_the_snapshot(projects: str) -> None:
    """LC_ALL=C, as in cron and slim containers: a file named Füße.py must not cost the answer."""
    with program("snapshot", "bbb", "--root", projects, PYTHONIOENCODING="ascii") as process:
        out, error = process.communicate(timeout=20)
    assert (process.returncode, error) == (0, b"")
    assert b"20.3k tokens" in out


def test_a_report_shows_the_sample_where_an_agents_folder_holds_no_log_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    """A newcomer who has just installed an agent asked for a report, and got ten empty figures."""
    monkeypatch.delenv("FABRO_HOME", raising=False)
    own = tmp_path / "home" / ".claude" / "projects"
    own.mkdir(parents=True)

    def asked(*words: str) -> tuple[list[Path], int, str]:
        roots, logs, origin = commands._to_report(parser().parse_args(["report", *words]))
        return roots, len(logs.own_calls), origin

    roots, calls, origin = asked()
    assert (roots, calls > 100) == ([sample_root()], True)
    assert origin.endswith("no agent's logs were found here")
    assert asked("--since", "7d") == ([own], 0, "")
    assert asked(str(own)) == ([own], 0, "")
    session = make.Session()
    session.prompt()
    session.call(1000)
    session.write(own)
    assert asked() == ([own], 1, "")
