"""Proves that the notebooks test something: each one-line mutation of a rule must fail some notebook's cells.

    python tests/mutations/run.py [NAME ...]          # or: make mutations

Every mutation is made in a copy of the tree, never here. Takes about half a minute a mutation on two cores, so it is a job of
its own and no part of `make test`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Mutation(NamedTuple):
    """One line of one file, made wrong, and how many notebooks must notice."""

    name: str
    file: str
    old: str
    new: str
    notebooks: int = 1


MUTATIONS = (
    Mutation(
        "cache writes dropped from ctx",
        "ctxlib/sources/claude_code.py",
        "    ctx = fresh + read + written\n",
        "    ctx = fresh + read\n",
        notebooks=4,
    ),
    Mutation(
        "one call a line",
        "ctxlib/logs/identity.py",
        "    key = np.where(request != 0, request, message)\n",
        '    key = lines["uuid"][usage["line"]]\n',
    ),
    Mutation(
        "copies counted in every fork",
        "ctxlib/logs/identity.py",
        "        out[order[1:]] = key[order[1:]] != key[order[:-1]]\n        return out\n",
        "        return out\n",
    ),
    Mutation(
        "compactions clear nothing",
        "ctxlib/logs/residency.py",
        '    full = marks["kind"] != MarkKind.MICRO\n    if not full.any() or not len(blocks):\n',
        '    full = marks["kind"] == 99\n    if not full.any() or not len(blocks):\n',
    ),
    Mutation(
        "an hour's cache writes at the five minutes' price",
        "ctxlib/rules/cache.py",
        'calls["cache_write_1h"] * rate[3]',
        'calls["cache_write_1h"] * rate[2]',
    ),
    Mutation(
        "edits do not excuse a second read",
        "ctxlib/rules/rereads.py",
        "    again = ~edited & ",
        "    again = (edited | True) & ",
    ),
    Mutation(
        "the rise shared evenly",
        "ctxlib/accounting/replay.py",
        "    share = np.maximum(weight[rows], 1e-9)\n",
        "    share = np.ones(len(rows))\n",
    ),
    Mutation(
        "sub-agents on the main curve",
        "ctxlib/logs/threads.py",
        "(agent[first] != 0), ~side[first], compacting",
        "(agent[first] != 0), side[first] | True, compacting",
    ),
)


def failing(mutation: Mutation, folder: Path) -> set[str]:
    """Names of the notebooks with a failed cell once the mutation is in."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(".git", ".venv*", ".*_cache", "__pycache__", "cases", "benchmarks")
    shutil.copytree(ROOT, tree, ignore=left_out)
    path = tree / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        raise SystemExit(f"{mutation.name}: its line stands {text.count(mutation.old)} times in {mutation.file}")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    # The compiled scanner is no part of the mutation: without it, lines are read by what was mutated.
    environ = {**os.environ, "PYTHONPATH": str(tree), "CTXLIB_CACHE_DIR": str(folder / "cache"), "CTXLIB_PURE": "1"}

    def fails(notebook: Path) -> bool:
        # Up to the first failed cell: comparing two large figures letter by letter takes minutes, a headline nothing.
        command = [
            sys.executable, "-m", "pytest", "-q", "-x", "--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120",
            "--nbval-sanitize-with", "tests/nbval_sanitize.cfg", "-p", "no:cacheprovider", str(notebook),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=tree, env=environ, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{mutation.name}: {notebook.name} could not be run:\n{done.stdout[-2000:]}")
        return done.returncode == 1

    notebooks = sorted((tree / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {path.stem for path, failed in zip(notebooks, pool.map(fails, notebooks), strict=True) if failed}


def main() -> None:
    wanted = sys.argv[1:]
    survived = []
    for mutation in MUTATIONS:
        if wanted and not any(word in mutation.name for word in wanted):
            continue
        with tempfile.TemporaryDirectory(prefix="ctxlib-mutation-") as folder:
            found = failing(mutation, Path(folder))
        enough = len(found) >= mutation.notebooks
        said = ", ".join(sorted(found)) or "no notebook"
        print(f"{'noticed ' if enough else 'SURVIVED'} {mutation.name}: {said}", flush=True)
        if not enough:
            survived.append(mutation.name)
    raise SystemExit(f"survived: {', '.join(survived)}" if survived else 0)


if __name__ == "__main__":
    main()
