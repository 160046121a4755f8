"""Work that several processes share comes back whole and in order, whatever happens to them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from ctxlib.logs.extracts import Job, read_files
from ctxlib.logs.store import Row
from ctxlib.workers import Crew, _dealt


def jobs(folder: Path, count: int) -> list[Job]:
    out = []
    for i in range(count):
        path = folder / f"s{i}.jsonl"
        path.write_bytes(b'{"type":"user","uuid":"u%d","sessionId":"s%d"}\n' % (i, i) * (i + 1))
        out.append(Job(str(path), str(folder), "claude_code", path.stat().st_size, 0))
    return out


def ends(results: list[Row | OSError]) -> list[int]:
    return [result.end for result in results if isinstance(result, Row)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(tmp_path: Path, count: int) -> None:
    work, seen = jobs(tmp_path, 9), []
    with Crew(count) as crew:
        for _ in range(2):  # workers stay for more
            assert ends(crew.map(read_files, work, [job.size for job in work], seen.append)) == [
                job.size for job in work
            ]
    assert all(a <= b for a, b in pairwise(seen[: len(seen) // 2]))
    assert seen[-1] == sum(job.size for job in work)


def test_the_share_of_a_worker_that_was_killed_is_done_here(tmp_path: Path) -> None:
    work = jobs(tmp_path, 6)
    with Crew(3) as crew:
        crew.start()
        for worker in crew._workers:
            worker.kill()
            worker.wait()
        assert ends(crew.map(read_files, work, [job.size for job in work])) == [job.size for job in work]


def test_what_a_worker_cannot_do_is_raised_here(tmp_path: Path) -> None:
    work = [job._replace(source="nobody's") for job in jobs(tmp_path, 4)]
    with Crew(2) as crew, pytest.raises(StopIteration):
        crew.map(read_files, work, [1] * 4)


def test_what_failed_leaves_nothing_for_the_next_work(tmp_path: Path) -> None:
    """An answer is asked for again without the store where that is damaged: a worker must not give what it was asked before."""
    first, second = jobs(tmp_path, 4), [job._replace(mtime_ns=7) for job in jobs(tmp_path, 4)]
    first[3] = first[3]._replace(source="nobody's")  # the heaviest, which is this process's
    weights = [job.size for job in first]
    with Crew(2) as crew:
        with pytest.raises(StopIteration):
            crew.map(read_files, first, weights)
        found = crew.map(read_files, second, weights)
    assert [row.mtime_ns for row in found if isinstance(row, Row)] == [7] * 4


def test_workers_end_with_their_crew(tmp_path: Path) -> None:
    with Crew(2) as crew:
        crew.start()
        (worker,) = crew._workers
        assert worker.poll() is None
    assert worker.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)


def test_little_work_starts_no_process(tmp_path: Path) -> None:
    work = jobs(tmp_path, 4)
    with Crew() as crew:
        crew.map(read_files, work, [job.size for job in work])
        assert not crew._workers
        assert crew.map(read_files, [], []) == []


def test_shares_are_about_equal_and_a_late_worker_gets_less() -> None:
    weights = [50, 10, 10, 10, 10, 10]
    assert sorted(map(sorted, _dealt(weights, 2, 0))) == [[0], [1, 2, 3, 4, 5]]
    assert [len(share) for share in _dealt([10] * 10, 2, 40)] == [7, 3]
