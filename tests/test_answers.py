"""An answer given before is given again only as long as it is the answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxlib import answers
from ctxlib.bundle import sample_root
from ctxlib.cli import main


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    shutil.copytree(sample_root(), root)
    return root


def ask(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0
    out, said = capfd.readouterr()
    return out, said


def computing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by each answer that is computed."""
    from ctxlib import digests

    done: list[int] = []
    real = digests.find

    def counted(*args: Any, **options: Any) -> Any:
        done.append(1)
        return real(*args, **options)

    monkeypatch.setattr(digests, "find", counted)
    return done


def test_the_second_time_nothing_is_computed_and_all_is_said_again(
    logs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = computing(monkeypatch)
    words = ("readout", logs, "--since", "all", "--out", tmp_path)
    first, detail = ask(capfd, *words), (tmp_path / "context.json").read_text()
    (tmp_path / "context.json").unlink()
    assert ask(capfd, *words) == first
    assert (tmp_path / "context.json").read_text() == detail
    assert len(done) == 1
    assert "skipped" in first[1], "what could not be read is told each time"
    assert ask(capfd, *words, "--no-cache") == first
    assert len(done) == 2


@pytest.mark.parametrize("change", ["grown", "touched", "deleted", "new", "permitted"])
def test_a_change_of_any_file_is_a_new_question(
    change: str, logs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = computing(monkeypatch)
    words = ("readout", logs, "--since", "all", "--out", tmp_path)
    ask(capfd, *words)
    log = next(path for path in sorted(logs.rglob("*.jsonl")) if path.stat().st_size > 100_000)
    if change == "grown":
        log.write_bytes(log.read_bytes() + b"\n")
    elif change == "touched":
        os.utime(log, ns=(1, 10**18))
    elif change == "permitted":
        log.chmod(log.stat().st_mode ^ 0o040)  # what could not be read may be readable now
    elif change == "deleted":
        log.unlink()
    else:
        shutil.copy(log, log.with_name("another.jsonl"))
    out, _ = ask(capfd, *words)
    assert len(done) == 2
    assert out == ask(capfd, *words)[0]
    assert len(done) == 2


def test_other_questions_have_other_answers(
    logs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."claude-opus-4-8"]\ninput = 1.0\noutput = 1.0\n')
    done = computing(monkeypatch)
    base = ("scan", logs, "--since", "all")
    asked = [
        base,
        (*base, "--calls"),
        (*base, "--project", "quarry"),
        (*base, "--config", prices),
        (*base, "--until", "2026-09-20"),
    ]
    given = [ask(capfd, *words)[0] for words in asked]
    assert len(set(given)) == len(asked) == len(done)
    prices.write_text('[models."claude-opus-4-8"]\ninput = 2.0\noutput = 1.0\n')
    assert ask(capfd, *asked[3])[0] != given[3], "the price file is part of the question"


def test_since_moves_with_the_clock_and_the_answer_with_it(
    logs: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two lines of the log the answer is the same, but for the time that it names; beyond a line it is another."""
    for path in logs.rglob("*.jsonl"):
        os.utime(path, ns=(1, 1_800_000_000 * 10**9))
    done = computing(monkeypatch)
    times = sorted(
        json.loads(line)["timestamp"]
        for path in logs.rglob("*.jsonl")
        for line in path.read_bytes().split(b"\n")
        if b'"type":"assistant"' in line and b"\0" not in line and line.endswith(b"}")
    )
    from datetime import datetime, timedelta

    middle = datetime.fromisoformat(times[len(times) // 2])
    before, inside, after = (middle + timedelta(milliseconds=ms) for ms in (0, -1, 1))
    got = [json.loads(ask(capfd, "scan", logs, "--since", moment.isoformat())[0]) for moment in (before, inside, after)]
    assert len(done) == 2, "a millisecond earlier is the same window"
    assert got[0]["since"] != got[1]["since"]
    assert {**got[0], "since": ""} == {**got[1], "since": ""}
    assert got[2]["calls"] < got[0]["calls"]


def test_an_answer_that_is_known_costs_no_heavy_import(logs: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom ctxlib.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit as ended: assert not ended.code\n"
        "print(sorted({'numpy', 'pandas', 'msgspec', 'genai_prices', 'matplotlib', 'plotly'} "
        "& set(sys.modules)), file=sys.stderr)"
    )
    argv = [sys.executable, "-c", code, "readout", str(logs), "--since", "all", "--out", str(tmp_path)]
    runs = [subprocess.run(argv, capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    assert "numpy" in runs[0].stderr
    assert runs[1].stderr.splitlines()[-1] == "[]"


def test_a_large_history_is_answered_by_several_processes_with_the_same_words(
    logs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctxlib import workers

    words = ("scan", logs, "--since", "all", "--calls")
    alone = ask(capfd, *words)
    started: list[object] = []
    real = workers._started
    monkeypatch.setattr(workers, "_started", lambda modules: started.append(modules) or real(modules))
    monkeypatch.setattr(workers, "PARALLEL_FROM", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setenv("CTXLIB_CACHE_DIR", str(tmp_path / "another"))
    assert ask(capfd, *words) == alone
    assert started == [("ctxlib.digests",)] * 2
    assert ask(capfd, *words, "--no-cache") == alone


def test_a_model_that_is_not_claude_costs_one_look_at_the_list(make: Any, tmp_path: Path) -> None:
    """Importing it takes longer than all else of a small question, and a session grows at every question."""
    root = tmp_path / "other"
    session = make.Session(model="gpt-5.1-codex")
    session.prompt()
    session.call(1000)
    file = session.write(root)
    code = (
        "import sys\nfrom ctxlib.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit as ended: assert not ended.code\n"
        "print('genai_prices' in sys.modules, file=sys.stderr)"
    )
    argv = [sys.executable, "-c", code, "readout", str(root), "--since", "all", "--out", str(tmp_path)]
    said = []
    for _ in range(2):
        session.call(2000)
        file.write_bytes(session.text())
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        said.append(done.stderr.splitlines()[-1])
    assert said == ["True", "False"]


def test_a_damaged_cache_costs_time_only(logs: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from ctxlib.roots import cache_folder

    words = ("readout", logs, "--since", "all", "--out", tmp_path)
    first = ask(capfd, *words)
    (cache_folder() / answers.NAME).write_bytes(b"not a database" * 200)
    assert ask(capfd, *words) == first
    assert ask(capfd, *words) == first
    assert (cache_folder() / answers.NAME).read_bytes()[:6] == b"SQLite", "and is made anew"
