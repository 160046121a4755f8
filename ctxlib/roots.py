"""Where each agent keeps its logs on this machine, which folders a question is about, and where we keep what we read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

STORE = "extracts.sqlite3"  # in the cache folder: what was read of logs (logs/store.py)


def claude_code(environ: Mapping[str, str], home: Path) -> list[Path]:
    """CLAUDE_CONFIG_DIR (a comma list), else both default folders, each that exists."""
    listed = environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    named = [Path(part.strip()).expanduser() for part in listed if part.strip()]
    homes = named or [home / ".config" / "claude", home / ".claude"]
    return [folder / "projects" if (folder / "projects").is_dir() else folder for folder in homes if folder.is_dir()]


def fabro(environ: Mapping[str, str], home: Path) -> list[Path]:
    """FABRO_HOME, else ~/.fabro, where it exists."""
    named = environ.get("FABRO_HOME", "")
    folder = Path(named).expanduser() if named else home / ".fabro"
    return [folder] if folder.is_dir() else []


def openprogram(environ: Mapping[str, str], home: Path) -> list[Path]:
    """~/.openprogram and its profiles (~/.openprogram-<name>), those that exist."""
    return sorted(path for path in home.glob(".openprogram*") if path.is_dir())


DEFAULT = {"claude_code": claude_code, "fabro": fabro, "openprogram": openprogram}


def roots_of(
    named: Iterable[str | Path] = (), *, environ: Mapping[str, str] | None = None, home: Path | None = None
) -> list[Path]:
    """The folders to scan: the named ones, else each agent's default roots that exist.

    Raises FileNotFoundError for a named root that is no folder.
    """
    given = [Path(root).expanduser() for root in named]
    for root in given:
        if not root.is_dir():
            raise FileNotFoundError(f"no such folder: {root}")
    if given:
        return given
    environ = os.environ if environ is None else environ
    home = home or Path(environ.get("HOME") or Path.home())
    return list(dict.fromkeys(root for default in DEFAULT.values() for root in default(environ, home)))


def cache_folder() -> Path:
    """CTXLIB_CACHE_DIR, else the user's cache folder."""
    named = os.environ.get("CTXLIB_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("ctxlib", appauthor=False)
