#!/usr/bin/env python3
"""Times ctxlib and its peers on a large invented history: ``python benchmarks/run.py [--mb 1000] [--peers DIR ...]``.

Every command is run in turn, all of them once a round, as a whole process with the logs in the page cache; a first round
warms up, a last one looks at memory. Nothing is installed: a peer that is in no folder of --peers and not on PATH is left out.
``--growth`` measures instead how cost grows with bytes and with files. benchmarks/README.md says what came out.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from platform import python_version
from typing import NamedTuple

from contenders import COLD, WARM, Contender, Place, Restored, ours, peers, version
from measure import Failed, Figures, Run, figures, machine, run

SIZES = ((10, 100), (100, 100), (1000, 100), (300, 100), (300, 1_000), (300, 10_000))  # (megabytes, files) of --growth


def tree(folder: Path, megabytes: float, files: int = 0) -> tuple[Path, int, int]:
    """A tree of this size in the folder, made where it is missing: (its folder, files, bytes)."""
    place = folder / f"{megabytes:g}mb-{files or 'usual'}"
    if not (place / "done").exists():
        print(f"making {place}", file=sys.stderr)
        shutil.rmtree(place, ignore_errors=True)
        argv = [sys.executable, str(Path(__file__).with_name("tree.py")), str(place)]
        # In a process of its own: the kernel counts the memory of this one as that of every process it starts.
        subprocess.run([*argv, "--mb", str(megabytes), "--files", str(files)], check=True, stdout=sys.stderr)
        (place / "done").touch()
    sizes = [path.stat().st_size for path in place.rglob("*.jsonl")]
    return place, len(sizes), sum(sizes)


class Measured(NamedTuple):
    """The runs of one contender, a round each."""

    timed: list[Run]
    sampled: Run

    @property
    def figures(self) -> Figures:
        return figures(self.timed, self.sampled)


def rounds(contenders: Sequence[Contender], count: int) -> dict[str, Measured]:
    """What was measured of each, without those that failed."""
    out: dict[str, list[Run]] = {one.name: [] for one in contenders}
    for number in range(count + 2):
        for one in contenders:
            if one.name not in out:
                continue
            one.prepare()
            try:
                found = run(one.argv, one.env, sample=number > count)
            except Failed as error:
                print(f"{one.name} failed: {error}", file=sys.stderr)
                del out[one.name]
                continue
            out[one.name].append(found)
            print(f"{number} {one.name}: {found.seconds:.3f} s", file=sys.stderr)
    return {name: Measured(runs[1:-1], runs[-1]) for name, runs in out.items()}


def table(rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown writes it, columns of one width."""
    cells = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * (widths[0])] + ["-" * (width - 1) + ":" for width in widths[1:]])
    lines = []
    for row in cells:
        first, *rest = zip(row, widths, strict=True)
        aligned = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]
        lines.append(f"| {' | '.join(aligned)} |")
    return "\n".join(lines)


def ratio(found: Figures, base: Figures) -> str:
    """One least time by the other: other programs on the machine can only lengthen a run."""
    return f"{found.least / base.least:.2f}"


def compare(folder: Path, megabytes: float, files: int, count: int, installed: list[Path]) -> None:
    where, held, size = tree(folder, megabytes, files)
    with tempfile.TemporaryDirectory(dir=folder) as scratch, Restored(where / "projects"):
        place = Place(where, Path(scratch))
        others = peers(place, installed)
        measured = rounds([*ours(place), *others], count)
        named = ", ".join(f"{peer.name} {version(peer)}" for peer in others if peer.name != "cat")
    print(f"{machine()}; Python {python_version()}, ctxlib {version_of('ctxlib')}; {named}")
    print(f"{size / 1e6:.0f} MB in {held} files, {count} rounds\n")
    head = ["command", "median s", "min", "max", "MB/s", "peak MB", "/ cold", "/ unchanged"]
    rows = [head]
    for name, runs in measured.items():
        found = runs.figures
        rows.append(
            [
                name,
                *(f"{seconds:.2f}" for seconds in found[:3]),
                f"{size / 1e6 / found.least:,.0f}",
                f"{found.memory / 1e6:,.0f}",
                *(ratio(found, measured[base].figures) for base in (COLD, WARM)),
            ]
        )
    print(table(rows))


def grow(folder: Path, count: int) -> None:
    rows = [["tree", "cold s", "MB/s", "peak MB", "a new question s", "grown s", "unchanged s", "store MB"]]
    for megabytes, files in SIZES:
        where, held, size = tree(folder, megabytes, files)
        with tempfile.TemporaryDirectory(dir=folder) as scratch, Restored(where / "projects"):
            place = Place(where, Path(scratch))
            chosen = [one for one in ours(place) if "--no-cache" not in one.argv]
            measured = rounds(chosen, count)
            store = sum(path.stat().st_size for path in place.folder("empty").iterdir())
        cold, warm, other, grown = (measured[one.name].figures.least for one in chosen)
        rows.append(
            [
                f"{size / 1e6:,.0f} MB in {held:,} files",
                f"{cold:.2f}",
                f"{size / 1e6 / cold:,.0f}",
                f"{measured[COLD].figures.memory / 1e6:,.0f}",
                *(f"{seconds:.2f}" for seconds in (other, grown, warm)),
                f"{store / 1e6:.1f}",
            ]
        )
    print(f"{machine()}; Python {python_version()}, least of {count} rounds\n\n{table(rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--folder", type=Path, help="where trees are made, and found again (default: a temporary one)")
    parser.add_argument("--mb", type=float, default=1000, help="size of the tree (default 1000)")
    parser.add_argument("--files", type=int, default=0, help="files in it (default: as many as real logs of that size)")
    parser.add_argument("--runs", type=int, default=5, help="rounds that count (default 5)")
    parser.add_argument("--peers", type=Path, action="append", default=[], help="a folder with bin or node_modules")
    parser.add_argument("--growth", action="store_true", help="how cost grows, instead of the comparison")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what grew is cut back
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if given.growth:
            grow(folder.resolve(), given.runs)
        else:
            compare(folder.resolve(), given.mb, given.files, given.runs, [peer.resolve() for peer in given.peers])


if __name__ == "__main__":
    main()
