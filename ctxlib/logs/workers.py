"""Many files -> their extracts, in several processes.

Workers are plain subprocesses and not multiprocessing's: a pool of spawned processes runs the caller's main module again
(a script without a `__main__` guard then fails), and forking inside a notebook's kernel is unsafe. Files are dealt out by
size beforehand; this process takes a share of its own.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ctxlib.logs.reader import read
from ctxlib.sources import SOURCES, Extract

PARALLEL_FROM = 64 << 20  # bytes: below, starting a process (0.15 s) costs more than it saves
_MOST_WORKERS = 8


class Job(NamedTuple):
    """A file to read."""

    path: str
    source: str
    size: int  # bytes
    start: int = 0  # byte to begin at: the end of what is known of a file that grew
    first_line: int = 1


Result = Extract | OSError


def read_all(jobs: Sequence[Job], *, workers: int | None, progress: Callable[[int], None]) -> list[Result]:
    """The extract of each job in order, or the error that kept it from being read. `progress`: bytes done so far."""
    total = sum(job.size - job.start for job in jobs)
    count = workers or (min(os.cpu_count() or 1, _MOST_WORKERS) if total >= PARALLEL_FROM else 1)
    shares = _dealt(jobs, max(1, min(count, len(jobs))))
    running = [_start([jobs[i] for i in share]) for share in shares[1:]]
    out: list[Result | None] = [None] * len(jobs)
    done = 0
    collecting = gc.isenabled()
    gc.disable()  # rows are tuples of numbers: nothing to collect, and looking for it takes as long as reading
    try:
        for i in shares[0]:
            out[i] = read_one(jobs[i])
            done += jobs[i].size - jobs[i].start
            progress(min(total, done * len(shares)))  # the others are as far, near enough
        for share, (process, file) in zip(shares[1:], running, strict=True):
            if process.wait() != 0:
                results: Sequence[Result] = [read_one(jobs[i]) for i in share]  # it was killed: read its share here
            else:
                file.seek(0)
                results = pickle.load(file)
            for i, result in zip(share, results, strict=True):
                out[i] = result
    finally:
        for process, file in running:
            process.kill()  # it has ended, unless this process is being interrupted
            process.wait()
            file.close()
        if collecting:
            gc.enable()
    progress(total)
    return [result for result in out if result is not None]


def read_one(job: Job) -> Result:
    source = next(source for source in SOURCES if source.name == job.source)
    try:
        return read(job.path, source, start=job.start, first_line=job.first_line)
    except OSError as error:
        return error


def _dealt(jobs: Sequence[Job], count: int) -> list[list[int]]:
    """Indices of jobs in `count` shares of about equal bytes: the largest first, each to the smallest share."""
    shares: list[list[int]] = [[] for _ in range(count)]
    sizes = [0] * count
    for i in sorted(range(len(jobs)), key=lambda i: (-jobs[i].size, i)):
        least = sizes.index(min(sizes))
        shares[least].append(i)
        sizes[least] += jobs[i].size - jobs[i].start + 20_000  # opening a file costs as much as reading 20 kB
    return shares


def _start(jobs: list[Job]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    file = tempfile.TemporaryFile()  # noqa: SIM115  (read_all closes it)
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", "from ctxlib.logs.workers import main; main()"],
        stdin=subprocess.PIPE,
        stdout=file,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as stdin:  # a worker that ended already: read_all sees it
        pickle.dump([tuple(job) for job in jobs], stdin)
    return process, file


def main() -> None:
    """A worker: jobs in on stdin, results out on stdout, both pickled by and for this program only."""
    gc.disable()
    jobs = [Job(*job) for job in pickle.load(sys.stdin.buffer)]
    results = [read_one(job) for job in jobs]
    pickle.dump(results, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)
