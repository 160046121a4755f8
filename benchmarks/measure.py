"""One command as a whole process: how long it takes, and the most memory that it and what it starts hold."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")
UNIT = 1 if os.uname().sysname == "Darwin" else 1024  # bytes of a unit of ru_maxrss


class Failed(Exception):
    """A command that ended otherwise than well; its last words."""


class Run(NamedTuple):
    """One run."""

    seconds: float
    largest: int  # bytes: peak of the largest single process, as the kernel accounts it (at least this process's own)
    together: int  # bytes: peak of all its processes, sampled; 0 where it was not


def run(argv: Sequence[str], env: Mapping[str, str], *, sample: bool = False) -> Run:
    """Runs a command, its output thrown away. `sample`: look at its processes' memory meanwhile, at some cost in time."""
    with tempfile.TemporaryFile() as said:
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        watch = _Watch(process.pid) if sample else None
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        together = watch.stop() if watch else 0
        if process.returncode != 0:
            said.seek(0)
            raise Failed(said.read().decode("utf-8", "replace").strip()[-300:] or f"exit code {process.returncode}")
    return Run(seconds, usage.ru_maxrss * UNIT, together)


class _Watch:
    """Sums the resident memory of a process and its descendants, fifty times a second."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak = pid, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            self._peak = max(self._peak, sum(map(_resident, _family(self._pid))))

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._peak


def _resident(pid: int) -> int:
    """Bytes; 0 for a process that has ended, and where there is no /proc."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _family(pid: int) -> list[int]:
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                waiting.extend(map(int, children.read_text().split()))
            except OSError:
                continue
    return found


class Figures(NamedTuple):
    """Several runs of one command."""

    median: float
    least: float
    most: float
    memory: int  # bytes, of all its processes together, where that could be seen; else of the largest one


def figures(timed: Sequence[Run], sampled: Run) -> Figures:
    times = [one.seconds for one in timed]
    return Figures(statistics.median(times), min(times), max(times), sampled.together or sampled.largest)


def machine() -> str:
    """Cores, processor and memory of this machine, in a line."""
    model, memory = os.uname().machine, 0
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n")
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        memory = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    return f"{os.cpu_count()} cores, {model}, {memory / 1e9:.0f} GB of memory, {os.uname().sysname}"
