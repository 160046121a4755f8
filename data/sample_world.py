"""The files of an invented project: the same path has the same text until an edit changes it."""

from __future__ import annotations

import random

from sample_text import Text
from sample_words import WORDS


class World:
    """The files of one project: the same path always has the same text until an edit changes it."""

    def __init__(self, project: str, cwd: str) -> None:
        self.project = project
        self.cwd = cwd
        r = random.Random(f"world {project}")
        text = Text(r, project)
        self.files: dict[str, list[str]] = {}
        for folder in WORDS[project]["dir"]:
            for _ in range(7):
                ending = (
                    ".sql"
                    if folder.startswith("sql")
                    else (r.choice([".ts", ".tsx"]) if project == "lantern-web" else ".py")
                )
                name = f"{'test_' if folder.startswith('tests') else ''}{text.noun()}_{text.verb()}{ending}"
                self.files[f"{cwd}/{folder}/{name}"] = text.source(
                    name, r.choice([20, 30, 40, 56, 74, 100, 120, 150, 230])
                )
        self.files[f"{cwd}/docs/notes.md"] = text.source("notes.md", 60)
        self.files[f"{cwd}/README.md"] = text.source("README.md", 40)
        self.paths = list(self.files)

    def numbered(self, path: str, offset: int = 1, limit: int = 2000, arrow: str = "\t") -> str:
        """A range of a file as the read tool shows it."""
        lines = self.files[path][offset - 1 : offset - 1 + limit]
        pad = 6 if arrow == "→" else 0
        return "\n".join(
            f"{i:>{pad}}{arrow}{line}" if pad else f"{i}{arrow}{line}" for i, line in enumerate(lines, offset)
        )

    def edit(self, path: str, at: int, old: list[str], new: list[str]) -> None:
        """Replace lines of a file."""
        lines = list(self.files[path])
        lines[at : at + len(old)] = new
        self.files[path] = lines
