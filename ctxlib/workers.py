"""Work in several processes, this one included.

Workers are plain subprocesses and not multiprocessing's: a pool of spawned processes runs the caller's main module again
(a script without a `__main__` guard then fails), and forking inside a notebook's kernel is unsafe. Work is dealt out by
weight beforehand; this process takes a share of its own. Nothing is lost with a worker: its share is done here.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

PARALLEL_FROM = 64 << 20  # weight (bytes of logs): below, starting a process (0.15 s) costs more than it saves
_MOST = 8
# numpy starts a thread a core when imported: 0.05 s of processor time, for nothing here.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_LATE = 24 << 20  # weight that this process does while a worker starts

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Crew:
    """This process and its workers, which start with the first work that is worth it, or at `start`.

    `count`: processes in all (None: one a core). A context manager: on leaving it the workers end.
    """

    def __init__(self, count: int | None = None) -> None:
        self._asked = count
        self._workers: list[subprocess.Popen[bytes]] = []
        self._late = 0
        self._last: tuple[list[int], list[list[int]]] = ([], [])  # weights, and who got what

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            worker.kill()  # it waits for work, unless this process failed or is being interrupted
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        self._workers = []

    def start(self, *modules: str) -> None:
        """Starts the workers, which begin by importing the modules: this process need not wait for that."""
        if not self._workers:
            count = self._asked or min(os.cpu_count() or 1, _MOST)
            self._workers = [_started(modules) for _ in range(count - 1)]

    def map(
        self,
        function: Callable[[list[_Item]], list[_Result]],
        items: Sequence[_Item],
        weights: Sequence[int],
        progress: Callable[[int], None] | None = None,
    ) -> list[_Result]:
        """`function` over all items, in their order; `progress`: weight done so far. The function is one of a module, and
        gives a result an item; what it raises is raised here. Equal weights one after the other are dealt alike: a process
        gets the items again of which it may have kept something."""
        if not self._workers and len(items) > 1 and (self._asked or sum(weights) >= PARALLEL_FROM):
            self.start(function.__module__)
            self._late = 0 if self._asked else _LATE
        if self._last[0] != list(weights) or len(self._last[1]) != 1 + len(self._workers):
            self._last = list(weights), _dealt(weights, 1 + len(self._workers), self._late)
        shares, self._late = self._last[1], 0
        try:
            return self._shared(function, items, weights, shares, progress)
        except BaseException:
            self._end()  # what they were sent must not come back as the answer to something else
            raise

    def _shared(
        self,
        function: Callable[[list[_Item]], list[_Result]],
        items: Sequence[_Item],
        weights: Sequence[int],
        shares: list[list[int]],
        progress: Callable[[int], None] | None,
    ) -> list[_Result]:
        total, done = sum(weights), 0
        sent = [
            _send(worker, function, [items[i] for i in share])
            for worker, share in zip(self._workers, shares[1:], strict=True)
        ]
        out: dict[int, _Result] = {}
        with _no_collection():
            for i in shares[0]:
                (out[i],) = function([items[i]])
                done += weights[i]
                if progress:
                    progress(min(total, done * len(shares)))  # the others are as far, near enough
            for worker, share, well in zip(self._workers, shares[1:], sent, strict=True):
                results = _received(worker) if well else None
                found = function([items[i] for i in share]) if results is None else results
                out.update(zip(share, found, strict=True))
        if progress:
            progress(total)
        return [out[i] for i in range(len(items))]


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Rows are numbers: there are no circles to find, and looking for them takes as long as reading."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _dealt(weights: Sequence[int], count: int, late: int) -> list[list[int]]:
    """Indices in `count` shares of about equal weight, the heaviest first, each to the smallest share. All shares but the
    first begin with `late`."""
    shares: list[list[int]] = [[] for _ in range(count)]
    sizes = [(late if i else 0, i) for i in range(count)]
    heapq.heapify(sizes)
    for i in sorted(range(len(weights)), key=lambda i: (-weights[i], i)):
        size, least = heapq.heappop(sizes)
        shares[least].append(i)
        heapq.heappush(sizes, (size + weights[i], least))
    return shares


def _started(modules: Sequence[str]) -> subprocess.Popen[bytes]:
    package = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", "from ctxlib.workers import main; main()", *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**ONE_THREAD, **os.environ, "PYTHONPATH": path},
    )


def _send(worker: subprocess.Popen[bytes], function: Callable[..., Any], items: list[Any]) -> bool:
    assert worker.stdin is not None
    try:
        pickle.dump((function, items), worker.stdin, pickle.HIGHEST_PROTOCOL)
        worker.stdin.flush()
    except OSError:  # it has ended
        return False
    return True


def _received(worker: subprocess.Popen[bytes]) -> list[Any] | None:
    """The results of a worker; None where it ended, or failed."""
    assert worker.stdout is not None
    try:
        results: list[Any] | None = pickle.load(worker.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        worker.kill()  # what may still come from it answers nothing
        return None
    return results


def main() -> None:
    """A worker: work in on stdin, results out on stdout, both pickled by and for this program only."""
    gc.disable()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake must not get among the results
    try:
        for module in sys.argv[1:]:
            import_module(module)
        while True:
            function, items = pickle.load(sys.stdin.buffer)
            try:
                results = function(items)
            except Exception:  # raised again, and told, where the share is done instead
                results = None
            pickle.dump(results, out, pickle.HIGHEST_PROTOCOL)
            out.flush()
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
