"""A history taken family by family gives the numbers of the whole: cold, kept, grown, with any window and any workers."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxlib import digests
from ctxlib.bundle import sample_root
from ctxlib.digest import Digest, digest, merged
from ctxlib.logs import asked, families, scan, store
from ctxlib.readout import detail, detail_of
from ctxlib.workers import Crew

CASES = Path(__file__).parent / "cases"
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of its own for each family, almost: logs of tests are small."""
    monkeypatch.setattr(families, "BATCH", 100)


def in_parts(root: Path, *, use_store: bool = True, workers: int = 1, **window: str) -> Json:
    question = asked(root, **{"since": "all", **window})
    with Crew(workers) as crew:
        found = digests.find(question, with_outputs=True, use_store=use_store, crew=crew)
    assert not found.store_error
    return same(detail_of(found.digest, question, with_calls=True))


def in_whole(root: Path, **window: str) -> Json:
    return same(detail(scan(root, **{"since": "all", **window}, use_store=False), with_calls=True))


def same(held: Json) -> Json:
    """Floats are added in another order; the order of keys says nothing."""
    return held | {"cache_write_usd": pytest.approx(held["cache_write_usd"], abs=2e-6)}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    shutil.copytree(sample_root(), root)
    return root


@pytest.mark.parametrize(
    "root", [*sorted(path.parent for path in CASES.glob("*/root/projects")), sample_root()], ids=str
)
def test_in_parts_as_in_whole(root: Path) -> None:
    assert in_parts(root, use_store=False) == in_whole(root)


@pytest.mark.skipif("CTXLIB_REAL_LOGS" not in os.environ, reason="CTXLIB_REAL_LOGS names no folder of logs")
def test_real_logs_in_parts_as_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(os.environ["CTXLIB_REAL_LOGS"])
    for size in (4 << 20, 64 << 20):
        monkeypatch.setattr(families, "BATCH", size)
        assert in_parts(root, use_store=False, workers=2) == in_whole(root)


def tangled(make: Any, seed: int) -> list[Any]:
    """Sessions that copy each other's lines: forks, resumes under the old id, agents with and without a session, a
    gateway's constant ids, tools whose use and result stand in two files."""
    chance = random.Random(seed)
    made: list[Any] = []
    for i in range(chance.randint(2, 7)):
        folder = f"-home-u-{chance.choice('ab')}"
        kind = chance.choice(["main", "main", "main", "twin", "agent", "loose"])
        name = f"s{i}"
        if kind == "agent" and made:
            name = chance.choice(made).session
            s = make.Session(name, path=f"{folder}/{name}/subagents/agent-{i}.jsonl", agentId=f"{i}", isSidechain=True)
        elif kind == "loose":
            s = make.Session("", path=f"{folder}/agent-{chance.choice('xy')}.jsonl", isSidechain=True)
        elif kind == "twin" and made:
            name = chance.choice(made).session or name
            s = make.Session(name, path=f"-home-u-c{i}/{name}.jsonl")
        else:
            s = make.Session(name, path=f"{folder}/{name}.jsonl", start=f"2026-07-{i + 1:02d}T10:00:00+00:00")
        if made and chance.random() < 0.5:
            other = chance.choice(made)
            renamed = {"sessionId": s.session} if chance.random() < 0.5 else {}
            s.lines += [dict(line) | renamed for line in other.lines[: chance.randint(1, 12)]]
            s.head = s.lines[-1]["uuid"]
        for step in range(chance.randint(1, 9)):
            s.prompt("x" * chance.randint(1, 4000))
            use = f"toolu_{chance.choice([i, i, i, 0])}_{step}"
            s.call(
                20_000 + 900 * step,
                make.use(
                    chance.choice(["Read", "mcp__git_hub__issues", "Bash"]),
                    use,
                    file_path="/a/b.py",
                    command="cat b.py",
                ),
                id=chance.choice(["", "", None, "msg_constant"] if i % 2 else ["", None]),
                request=chance.choice(["", "", None]),
                model=chance.choice(["claude-sonnet-4-5", "claude-opus-4-6"]),
                write=chance.choice([0, 5000]),
            )
            s.result(use, "y" * chance.randint(0, 30_000))
            if chance.random() < 0.15:
                s.boundary("auto", 150_000 + step, 20_000)
                s.summary()
            if chance.random() < 0.1:
                s.attach("mcp_instructions_delta", addedNames=["git_hub", "git"], addedBlocks=["z"])
        s.call(41_000)
        made.append(s)
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_copies_never_count_twice_whatever_they_tie_together(tmp_path: Path, make: Any, seed: int) -> None:
    """The families are right if and only if nothing changes when each is taken alone."""
    root = tmp_path / "tangled"
    shutil.rmtree(root, ignore_errors=True)
    for session in tangled(make, seed):
        session.write(root)
    assert in_parts(root, use_store=False) == in_whole(root)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9), cuts=st.lists(st.floats(0.05, 1), min_size=2, max_size=4))
def test_what_was_kept_holds_while_logs_grow_and_tie_themselves_to_others(
    tmp_path: Path, make: Any, seed: int, cuts: list[float]
) -> None:
    root = tmp_path / "growing"
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    sessions = tangled(make, seed)
    chance = random.Random(seed + 1)
    for stage, cut in enumerate(sorted(cuts)):
        for session in sessions:
            if stage and chance.random() < 0.5:
                continue
            text = session.text()
            file = root / session.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text[: max(1, int(len(text) * cut))])
            os.utime(file, ns=(stage, 10**18 + stage))
        assert in_parts(root) == in_whole(root)
        assert in_parts(root) == in_whole(root), "and once more, all of it kept"


def lone_calls(make: Any, name: str, uuid: str, **ids: str | None) -> Any:
    """A session of one call that another shares nothing with but what is given."""
    s = make.Session(name)
    s.call(5000, **{"id": None, "request": None, **ids})["uuid"] = uuid
    return s


SHARED: dict[str, dict[str, Any]] = {
    "line": {"uuid": "same"},
    "request": {"request": "req_same"},
    "message": {"id": "msg_same"},
}


@pytest.mark.parametrize("kind", SHARED)
def test_one_shared_id_is_enough_to_count_once(tmp_path: Path, make: Any, kind: str) -> None:
    for name in ("a", "b"):
        lone_calls(make, name, **{"uuid": f"u-{name}", **SHARED[kind]}).write(tmp_path / "logs")
    assert in_parts(tmp_path / "logs") == in_whole(tmp_path / "logs")
    assert in_parts(tmp_path / "logs")["calls"] == 1


def test_agents_that_name_no_session_are_told_apart_by_their_names_only(tmp_path: Path, make: Any) -> None:
    for folder in "abc":
        s = make.Session("", path=f"-home-{folder}/agent-{folder}.jsonl", agentId="q", isSidechain=True)
        s.call(5000, id=f"m{folder}", request=f"r{folder}")["uuid"] = folder
        s.write(tmp_path / "logs")
    assert in_parts(tmp_path / "logs") == in_whole(tmp_path / "logs")


def working(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by each batch that is assembled."""
    done: list[int] = []
    real = digests._logs

    def counted(batch: Any) -> Any:
        done.append(1)
        return real(batch)

    monkeypatch.setattr(digests, "_logs", counted)
    return done


def test_of_a_log_that_grew_only_its_own_batch_is_made_anew(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the engineer who asks while a session runs waits for the whole history each time."""
    in_parts(sample)
    done = working(monkeypatch)
    log = max(sample.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    with log.open("ab") as file:
        file.write(b'{"type":"user","uuid":"new","sessionId":"%s"}\n' % log.stem.encode())
    assert in_parts(sample) == in_whole(sample)
    assert sum(done) == 1
    assert in_parts(sample) == in_whole(sample)
    assert sum(done) == 1


def test_a_window_that_moves_between_two_lines_costs_nothing(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in sample.rglob("*.jsonl"):
        os.utime(path, ns=(1, 1_800_000_000 * 10**9))
    times = sorted(scan(sample, since="all", use_store=False).calls["ts"].tolist())
    done = working(monkeypatch)
    moments = [iso(times[at] + shift) for at in (len(times) // 3, len(times) // 2) for shift in (0, 1)]
    windows = [{name: moment} for moment in moments for name in ("since", "until")]
    for window in windows:
        assert in_parts(sample, **window) == in_whole(sample, **window)
    in_parts(sample)
    before = sum(done)
    for window in [*windows, {"until": "2031-01-01"}, {"until": "2032-01-01"}, {"since": "2020-01-01"}]:
        assert in_parts(sample, **window) == in_whole(sample, **window)
    assert sum(done) == before, "a window that begins or ends between the same two lines is the same window"


def iso(ms: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()


def test_a_model_that_comes_to_be_measured_changes_the_estimates_of_all(tmp_path: Path, make: Any) -> None:
    """The characters a token are fitted over all logs: what was kept with another number must not be given out again."""
    root = tmp_path / "logs"

    def session(name: str, chars: int, count: int) -> Any:
        s = make.Session(name)
        s.prompt("x" * 9000)
        for i in range(count):
            s.call(20_000 + 1500 * i, make.use("Read", f"{name}{i}", file_path=f"/{i}"), output=100)
            s.result(f"{name}{i}", "y" * chars)
        s.call(20_000 + 1500 * count)
        return s

    session("a", 3000, 5).write(root)  # too few: the table's
    first = in_parts(root)
    session("b", 4200, 40).write(root)  # 3.0 characters a token
    assert in_parts(root) == in_whole(root)
    assert in_parts(root)["categories"]["a"] != first["categories"]["a"]
    question = asked(root, since="all")
    assert digests.find(question).digest.fits == {"claude-sonnet-4-5": 3.0}


def test_a_damaged_digest_costs_time_only_and_is_told(sample: Path, spoil: Any) -> None:
    plain = in_parts(sample)
    spoil("UPDATE digests SET packed = x'00'")
    found = digests.find(asked(sample, since="all"), with_outputs=True)
    assert "cache clear" in found.store_error
    assert same(detail_of(found.digest, asked(sample, since="all"), with_calls=True)) == plain


def test_a_damaged_extract_costs_time_only_though_workers_share_the_work(sample: Path, spoil: Any) -> None:
    plain = in_parts(sample)
    damage = "UPDATE extracts SET packed = x'00' WHERE size = (SELECT max(size) FROM extracts)"
    spoil(damage, "DELETE FROM digests")
    with Crew(3) as crew:
        found = digests.find(asked(sample, since="all"), with_outputs=True, crew=crew)
    assert "cache clear" in found.store_error
    assert same(detail_of(found.digest, asked(sample, since="all"), with_calls=True)) == plain


def test_the_digest_of_nothing_adds_nothing(sample: Path) -> None:
    some = digest(scan(sample, since="all", use_store=False))
    assert merged([]) == merged([Digest()]) == Digest()
    assert merged([Digest(), some, Digest()]) == merged([some]) == some


@pytest.mark.parametrize("use_store", [True, False])
def test_with_workers_as_without_and_in_files_as_in_memory(
    sample: Path, monkeypatch: pytest.MonkeyPatch, use_store: bool
) -> None:
    assert in_parts(sample, workers=3, use_store=use_store) == in_whole(sample)
    store.clear(store.file())
    files: list[object] = []
    real = digests.TemporaryFile
    monkeypatch.setattr(digests, "TemporaryFile", lambda: files.append(made := real()) or made)
    for in_memory in (0, 1 << 20):  # none; some of them
        monkeypatch.setattr(digests, "_IN_MEMORY", in_memory)
        for workers in (1, 3):
            before = len(files)
            assert in_parts(sample, workers=workers, use_store=use_store) == in_whole(sample)
            assert len(files) > before
            store.clear(store.file())
    assert not digests._waiting


def test_a_history_that_is_read_in_several_steps_is_kept_after_each(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of gigabytes, what was read must not pile up in memory, nor be lost when the last file fails."""
    from ctxlib.logs import extracts

    monkeypatch.setattr(extracts, "_STEP", 200_000)
    kept: list[int] = []
    real = store.keep
    monkeypatch.setattr(store, "keep", lambda connection, rows: kept.append(len(rows)) or real(connection, rows))
    seen: list[tuple[int, int]] = []
    question = asked(sample, since="all")
    found = digests.find(question, with_outputs=True, progress=lambda done, total: seen.append((done, total)))
    assert same(detail_of(found.digest, question, with_calls=True)) == in_whole(sample)
    assert len(kept) > 3
    assert sum(kept) == sum(found.digest.files.values())
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_what_a_killed_worker_had_assembled_is_assembled_here(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Crew(3) as crew:
        real = digests._chars_per_token

        def killing(found: Any) -> Any:
            for worker in crew._workers:
                worker.kill()
            return real(found)

        monkeypatch.setattr(digests, "_chars_per_token", killing)
        found = digests.find(asked(sample, since="all"), with_outputs=True, use_store=False, crew=crew)
    assert same(detail_of(found.digest, asked(sample, since="all"), with_calls=True)) == in_whole(sample)
