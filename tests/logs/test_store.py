"""The store makes a question instant and never another answer: cold, warm, grown, cut, replaced, deleted, killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxlib import digests
from ctxlib.bundle import sample_root
from ctxlib.logs import Logs, asked, scan, store
from ctxlib.readout import detail, detail_of
from ctxlib.workers import Crew

KILLS = int(os.environ.get("CTXLIB_TEST_KILLS", "12"))


def line(number: int, **more: Any) -> bytes:
    record = {
        "type": "assistant",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s1",
        "cwd": "/home/dev/höhle",
        "timestamp": f"2026-10-01T10:{number:02d}:00.000Z",
        "requestId": f"r{number}",
        "message": {
            "id": f"m{number}",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "größer → 文脈 🙂"}],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 1000 * number, "output_tokens": 7},
        },
    }
    return json.dumps(record | more, ensure_ascii=False).encode() + b"\n"


LOG = b"".join(
    [line(0), line(1), b"\n", line(2), b"{ broken\n", line(3), b"\0\0\0\n", line(4).rstrip(b"\n") + line(5), line(6)]
)


def answer(root: Path, *, use_store: bool = True, workers: int | None = None) -> dict[str, Any]:
    """context.json as the command line makes it, of digests, which is that of the tables, which notebooks read."""
    question = asked(root, since="all")
    with Crew(workers) as crew:
        found = digests.find(question, with_outputs=True, use_store=use_store, crew=crew)
    made = detail_of(found.digest, question, with_calls=True)
    held = detail(scan(root, since="all", use_store=use_store, workers=workers), with_calls=True)
    assert made == held
    # `until` and so on are the question's; all else must be the same.
    return {key: value for key, value in held.items() if key not in ("since", "roots")}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    shutil.copytree(sample_root(), root)
    return root


def test_cold_warm_and_without_a_store_give_the_same_answer(sample: Path) -> None:
    plain = answer(sample, use_store=False)
    assert plain["calls"] > 1000
    assert answer(sample) == plain
    assert answer(sample) == plain
    assert answer(sample, workers=2, use_store=False) == plain


def test_a_warm_scan_reads_no_log(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an hour's question would cost the whole history again."""
    first = answer(sample)
    import ctxlib.logs.extracts as extracts

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an unchanged log was read")

    monkeypatch.setattr(extracts, "read", refuse)
    assert answer(sample) == first


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(LOG)), min_size=1, max_size=4))
def test_a_log_that_grows_is_read_from_where_it_ended(tmp_path: Path, cuts: list[int]) -> None:
    """A log cut anywhere, also inside a character or a line, and asked for at each stage, ends with the same numbers."""
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    root = tmp_path / "grow"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    log = root / "s1.jsonl"
    for stage, cut in enumerate([*sorted(cuts), len(LOG)]):
        log.write_bytes(LOG[:cut])
        os.utime(log, ns=(stage, 10**18 + stage))
        assert answer(root) == answer(root, use_store=False)


def test_every_byte_of_growth(tmp_path: Path) -> None:
    root = tmp_path / "grow"
    root.mkdir()
    log = root / "s1.jsonl"
    for cut in range(0, len(LOG) + 1, 7):
        log.write_bytes(LOG[:cut])
        os.utime(log, ns=(cut, 10**18 + cut))
        kept = answer(root)
    log.write_bytes(LOG)
    assert answer(root) == answer(root, use_store=False)
    assert kept["calls"] <= 7


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.write_bytes(LOG[: len(LOG) // 2]), id="truncated"),
        pytest.param(lambda path: path.write_bytes(LOG.replace(b"r3", b"r9")), id="replaced by one of the same size"),
        pytest.param(lambda path: path.write_bytes(line(8) + LOG), id="longer, but not by its end"),
        pytest.param(lambda path: path.write_bytes(b""), id="emptied"),
    ],
)
def test_a_log_that_changed_otherwise_is_read_anew(tmp_path: Path, change: Callable[[Path], object]) -> None:
    root = tmp_path / "changed"
    root.mkdir()
    log = root / "s1.jsonl"
    log.write_bytes(LOG)
    answer(root)
    change(log)
    os.utime(log, ns=(1, 10**18))
    assert answer(root) == answer(root, use_store=False)


def test_what_the_agent_deleted_stays_and_is_marked(sample: Path) -> None:
    """Claude Code removes logs after 30 days; the numbers of last month must not vanish with them."""
    before = answer(sample)
    log = next(path for path in sorted(sample.rglob("*.jsonl")) if "subagents" not in path.parts)
    log.unlink()
    logs = scan(sample, since="all")
    assert [Path(info.path) for info in logs.files if info.archived] == [log]
    assert answer(sample) == before
    assert answer(sample, use_store=False)["calls"] < before["calls"]
    assert store.facts(store.file()).archived == 1
    assert store.clear(store.file()) > 0
    assert not any(info.archived for info in scan(sample, since="all").files)


def test_a_store_of_another_format_or_a_damaged_one_is_rebuilt(sample: Path, spoil: Any) -> None:
    plain = answer(sample)
    spoil("UPDATE meta SET value = 'older'", "UPDATE extracts SET packed = x'00'")
    assert answer(sample) == plain
    for suffix in ("-wal", "-shm"):
        Path(f"{store.file()}{suffix}").unlink(missing_ok=True)
    store.file().write_bytes(b"no database at all" * 100)
    assert answer(sample) == plain


def test_a_damaged_row_costs_time_only_and_is_told(sample: Path, spoil: Any) -> None:
    """A disk error inside the file, not seen on opening it, must not end the answer."""
    plain = answer(sample)
    spoil("UPDATE extracts SET packed = x'00' WHERE path = (SELECT max(path) FROM extracts)")
    assert answer(sample) == plain
    assert "cache clear" in scan(sample, since="all").store_error


def test_scans_in_several_threads_of_one_process_do_not_share_a_packer(sample: Path) -> None:
    """In a notebook's thread pool: two that share zstandard's state end the process with a segmentation fault."""
    code = (
        "import sys\nfrom concurrent.futures import ThreadPoolExecutor\nfrom ctxlib.logs import scan\n"
        "def count(_): return len(scan(sys.argv[1], since='all', use_store=False, workers=1).own_calls)\n"
        "with ThreadPoolExecutor(4) as pool: print(*set(pool.map(count, range(24))))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(sample)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(len(scan(sample, since="all").own_calls))]


def test_a_cache_folder_that_cannot_be_written_costs_time_only(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = sample.parent / "blocked"
    blocked.write_text("a file where the folder should be")
    plain = answer(sample, use_store=False)
    monkeypatch.setenv("CTXLIB_CACHE_DIR", str(blocked))
    logs = scan(sample, since="all")
    assert logs.store_error
    assert answer(sample) == plain


def scanning(root: Path) -> subprocess.Popen[str]:
    code = (
        "import sys, json; from ctxlib import digests; from ctxlib.logs import asked; from ctxlib.readout import detail_of;"
        "question = asked(sys.argv[1], since='all');"
        "found = digests.find(question, with_outputs=True);"
        "print(json.dumps(detail_of(found.digest, question, with_calls=True)))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_killed_at_any_moment_the_store_stays_right(sample: Path) -> None:
    plain = answer(sample, use_store=False)
    chance = random.Random(7)
    for _ in range(KILLS):
        process = scanning(sample)
        time.sleep(chance.uniform(0.1, 0.7))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if chance.random() < 0.3:
            store.clear(store.file())
    assert answer(sample) == plain


def test_four_scans_at_once_on_one_store(sample: Path) -> None:
    plain = answer(sample, use_store=False)
    for process in [scanning(sample) for _ in range(4)]:
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        got = json.loads(out)
        assert {key: got[key] for key in plain} == json.loads(json.dumps(plain))


def test_the_store_is_small(sample: Path) -> None:
    logs: Logs = scan(sample, since="all")
    size = sum(os.path.getsize(info.path) for info in logs.files)
    known = store.facts(store.file())
    packed = sqlite3.connect(store.file()).execute("SELECT sum(length(packed)) FROM extracts").fetchone()[0]
    assert known.files == len(logs.files)
    assert packed < 0.06 * size  # the sample's lines are short: 1.1 % on real logs
