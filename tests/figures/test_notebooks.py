"""The notebooks' texts: short cells, one shape for all, and a run through where there is nothing to show."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from ctxlib.bundle import notebooks_dir

TEXTS = sorted(notebooks_dir().glob("[0-9][0-9]_*.py"))
NAMES = {"root", "since", "until", "project", "session", "turn", "top", "mask"}


def cells(path: Path) -> list[tuple[str, str]]:
    """(head, source) of each cell of a py:percent text."""
    parts = re.split(r"^# %%(.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [(head.strip(), body.strip()) for head, body in zip(parts[::2], parts[1::2], strict=True)]


def run(path: Path, **parameters: str) -> tuple[str, list[Any]]:
    """(what the headline cell printed, the values that cells end with), in this process."""
    space: dict[str, Any] = {}
    shown, headline = [], ""
    for head, source in cells(path):
        if "[markdown]" in head:
            continue
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, path.name, "exec"), space)
            if isinstance(last, ast.Expr):
                shown.append(eval(compile(ast.Expression(last.value), path.name, "eval"), space))
        if "headline" in head:
            headline = printed.getvalue().strip()
        if "parameters" in head:
            space |= parameters
    return headline, [value for value in shown if value is not None]


def test_there_are_ten() -> None:
    assert [path.stem[:2] for path in TEXTS] == [f"{number:02d}" for number in range(10)]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_one_shape_for_all(path: Path) -> None:
    found = cells(path)
    heads = [head for head, _ in found]
    assert found[0][1].startswith("# # ")
    assert found[0][1].endswith("?")
    assert sum("parameters" in head for head in heads) == sum("headline" in head for head in heads) == 1
    given = dict(
        line.split(" = ") for line in next(source for head, source in found if "parameters" in head).splitlines()
    )
    assert {"root", "since", "until", "project", "mask"} <= set(given) <= NAMES
    assert all(value in ('""', '"10"') for value in given.values())
    code = "\n".join(source for head, source in found if "[markdown]" not in head and "parameters" not in head)
    assert all(re.search(rf"\b{name}\b", code) for name in given), "a parameter that nothing uses"
    text = "\n".join(source for head, source in found if "[markdown]" in head)
    for heading in ("# ## What to do about it", "# ## How it is measured"):
        assert heading in text
    for head, source in found:
        if "[markdown]" not in head and "parameters" not in head:
            assert len([line for line in source.splitlines() if line.strip()]) <= 5, source


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_without_sessions_it_runs_through(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXLIB_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "projects").mkdir()
    headline, shown = run(path, root=str(tmp_path / "projects"), since="all")
    assert headline.lower().startswith("no data in this window")
    stored = [value._repr_mimebundle_()[0] for value in shown]
    assert any("no data in this window" in data["text/plain"].lower() for data in stored)
    assert not re.search(r"\bnan\b|NaT|<NA>|Traceback", str(stored))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_on_the_sample_each_figure_and_table_is_there(path: Path) -> None:
    headline, shown = run(path)
    assert re.search(r"\d", headline)
    stored = [value._repr_mimebundle_()[0] for value in shown]
    assert any("image/svg+xml" in data for data in stored)
    assert any("<table" in data.get("text/html", "") for data in stored)
    assert not re.search(r"\bnan\b|NaT|&lt;NA&gt;", str([data.get("text/html", data["text/plain"]) for data in stored]))
    assert not any("no data" in data["text/plain"].lower() for data in stored)


def test_a_masked_notebook_names_no_project() -> None:
    for path in TEXTS:
        headline, shown = run(path, mask="yes")
        said = headline + str([value._repr_mimebundle_() for value in shown])
        assert not re.search(r"tidepool|lantern|quarry|/home/dev", said), path.stem


def test_a_wrong_session_is_a_sentence() -> None:
    path = next(path for path in TEXTS if path.stem.startswith("07"))
    with pytest.raises(ValueError, match="parameter session: no session begins with 'zz'"):
        run(path, session="zz")
    with pytest.raises(ValueError, match="parameter turn must be a whole number"):
        run(path, turn="0")
