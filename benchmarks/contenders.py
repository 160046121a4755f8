"""What is measured: ctxlib asked in several ways, and those of its peers that are installed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tree import append

GROWTH = 300  # kilobytes by which a log grows
COLD = "ctxlib, cold"
WARM = "ctxlib, unchanged"


def nothing() -> None:
    """No preparation."""


class Contender(NamedTuple):
    """A command to time."""

    name: str
    argv: list[str]
    env: dict[str, str]
    prepare: Callable[[], None] = nothing  # before each run, untimed


class Place(NamedTuple):
    """Where a measurement takes place: the tree, and a scratch folder for homes, caches and answers."""

    tree: Path
    scratch: Path

    @property
    def logs(self) -> Path:
        return self.tree / "projects"

    def folder(self, name: str) -> Path:
        found = self.scratch / name
        found.mkdir(parents=True, exist_ok=True)
        return found

    def env(self, **more: str) -> dict[str, str]:
        """An environment in which every program finds this tree, and no other log of this machine. It is the home's
        .claude and named by no variable besides: aiburn would read it twice."""
        home = self.folder("home")
        if not (home / ".claude").exists():
            (home / ".claude").symlink_to(self.tree)
        for name in list(os.environ):
            if name.startswith(("XDG_", "CLAUDE_", "CTXLIB_")):
                more.setdefault(name, "")
        kept = {name: value for name, value in os.environ.items() if name not in more}
        given = {name: value for name, value in more.items() if value}
        return {**kept, **given, "HOME": str(home)}


def ours(place: Place) -> list[Contender]:
    """`ctxlib readout` over the whole history, asked in the ways that cost differently."""
    out, kept, empty = place.folder("answers"), place.folder("kept"), place.folder("empty")
    argv = [sys.executable, "-m", "ctxlib", "readout", str(place.logs), "--since", "all", "--out", str(out)]
    known, fresh = place.env(CTXLIB_CACHE_DIR=str(kept)), place.env(CTXLIB_CACHE_DIR=str(empty))
    other = [*argv, "--until", ""]
    log = max(place.logs.glob("*/*.jsonl"), key=lambda path: (path.stat().st_size, path))
    turns = iter(range(1, 1_000_000))

    def forget() -> None:
        shutil.rmtree(empty)
        empty.mkdir()

    def ask_otherwise() -> None:
        other[-1] = f"2030-01-01T00:00:{next(turns) % 60:02d}.{next(turns):06d}Z"

    return [
        Contender(COLD, argv, fresh, forget),
        Contender("ctxlib, --no-cache", [*argv, "--no-cache"], known),
        Contender(WARM, argv, known),
        Contender("ctxlib, unchanged, a new question", other, known, ask_otherwise),
        Contender(f"ctxlib, one log grown by {GROWTH} KB", argv, known, lambda: append(log, GROWTH, next(turns))),
    ]


class Restored:
    """Gives the logs below a folder that grew their old size and time back."""

    def __init__(self, logs: Path) -> None:
        self._known = [(path, path.stat()) for path in sorted(logs.rglob("*.jsonl"))]

    def __enter__(self) -> None:
        """The sizes are known already."""

    def __exit__(self, *_: object) -> None:
        for path, info in self._known:
            if path.stat().st_size != info.st_size:
                os.truncate(path, info.st_size)
                os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def peers(place: Place, folders: list[Path]) -> list[Contender]:
    """Those that are installed in one of the folders (a virtual environment, or one with node_modules) or on PATH."""
    below = [str(folder / sub) for folder in folders for sub in ("node_modules/.bin", "bin")]
    path = os.pathsep.join([*below, os.environ.get("PATH", "")])
    env = place.env(PATH=path)
    commands = {
        "cat": ["sh", "-c", f'find "{place.logs}" -name "*.jsonl" -print0 | xargs -0 cat'],
        "aiburn": ["aiburn", "daily", "--json", "--claude"],
        "ccusage": ["ccusage", "claude", "daily", "--json", "--offline"],
        "tokscale": ["tokscale", "graph", "--claude", "--no-spinner"],
        "claude-context-cost": ["claude-context-cost", "--json", str(place.logs)],
        "tokenleak": ["tokenleak", "--since", "all", "--json", "--agent", "claude", str(place.logs)],
    }
    _prices_for_tokscale(Path(env["HOME"]))
    out = []
    for name, argv in commands.items():
        found = shutil.which(argv[0], path=path)
        if found:
            out.append(Contender(name, [found, *argv[1:]], env))
    return out


def _prices_for_tokscale(home: Path) -> None:
    """tokscale fetches price lists, and fails without a network, unless it finds recent ones: here are small ones."""
    folder = home / ".cache" / "tokscale"
    folder.mkdir(parents=True, exist_ok=True)
    price = {"input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5}
    text = json.dumps({"timestamp": int(time.time()), "data": {"claude-sonnet-4-5": price}})
    for name in ("litellm", "openrouter"):
        (folder / f"pricing-{name}.json").write_text(text, encoding="utf-8")


def version(peer: Contender) -> str:
    done = subprocess.run([peer.argv[0], "--version"], env=peer.env, capture_output=True, text=True, check=False)
    words = done.stdout.split("\n")[0].split()
    return words[-1] if words else "?"
