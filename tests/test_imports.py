"""The house: a light `import ctxlib`, rooms that know only those below them, public names that say what they do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ctxlib

PACKAGE = Path(ctxlib.__file__).parent
# From the lowest room to the highest; rooms of one row may know each other. What is not named here is just below cli.
ROOMS = [
    {"tables", "models", "bundle", "roots", "span", "program", "workers", "arrays"},
    {"sources"},
    {"logs"},
    {"rules"},
    {"accounting"},
    {"digest", "findings", "readout", "summary", "parameters", "mask"},
    {"figures"},
    {"report"},
    {"*"},
    {"cli", "__main__"},
]


def level(module: str) -> int:
    """Of `ctxlib.logs.scan`: that of `logs`. The package itself only names its rooms, and all may know it."""
    parts = module.split(".")
    if len(parts) == 1:
        return 0
    return next((i for i, row in enumerate(ROOMS) if parts[1] in row), len(ROOMS) - 2)


def modules() -> dict[str, Path]:
    out = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if "_bundle" not in parts:
            out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return out


MODULES = modules()


def imports(file: Path, *, at_load: bool) -> Iterator[str]:
    """ctxlib modules that a file imports: anywhere, or only what runs when it is loaded."""
    found = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            lazy = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
            if at_load and (lazy or typing):
                continue
            if isinstance(child, ast.Import):
                found.extend(name.name for name in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                inner = [f"{child.module}.{name.name}" for name in child.names]
                found.extend(name if name in MODULES else child.module for name in inner)
            visit(child)

    visit(ast.parse(file.read_text()))
    return (name for name in found if name in MODULES)


@pytest.mark.parametrize("module", [name for name in MODULES if name != "ctxlib"])
def test_nothing_lower_imports_anything_higher(module: str) -> None:
    higher = [name for name in imports(MODULES[module], at_load=False) if level(name) > level(module)]
    assert not higher


def test_no_circles() -> None:
    """Not between rooms of one row either: every module can be read, and tested, after those that it knows."""
    known = {name: set(imports(file, at_load=True)) - {name, "ctxlib"} for name, file in MODULES.items()}
    while known:
        free = [name for name, wants in known.items() if not wants & known.keys()]
        assert free, f"circles among {sorted(known)}"
        for name in free:
            del known[name]


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys; {code}; print(' '.join(sys.modules))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import ctxlib",
        "import ctxlib.cli; ctxlib.cli.parser()",
        "import ctxlib; from ctxlib.bundle import sample_root; ctxlib.detail(ctxlib.scan(sample_root(), use_store=False))",
    ],
    ids=["import", "parser", "scan"],
)
def test_a_command_pays_only_for_what_it_needs(code: str) -> None:
    """pandas alone costs a quarter second, plotly and matplotlib more: not for a status line."""
    others = {"ctxlib.sources.fabro_run", "ctxlib.sources.openprogram_session"}  # agents that the sample has no logs of
    assert not loaded_by(code) & {"pandas", "matplotlib", "plotly", "nbformat", "papermill", "jinja2", *others}


@pytest.mark.parametrize("name", ctxlib.__all__)
def test_every_public_name_says_what_it_does(name: str) -> None:
    value = getattr(ctxlib, name)
    assert (value.__doc__ or "").strip()
    assert name in dir(ctxlib)


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="no attribute 'snapshots'"):
        ctxlib.snapshots  # noqa: B018
    assert sorted(ctxlib.__all__) == list(ctxlib.__all__)
