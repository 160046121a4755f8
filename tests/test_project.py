"""The project's files agree with each other, and every notebook is fit to be compared."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]

# what conda-forge calls otherwise: the bindings, and builds without Qt or pandoc
CONDA_NAMES = {
    "xxhash": "python-xxhash",
    "matplotlib": "matplotlib-base",
    "nbconvert": "nbconvert-core",
    "playwright": "playwright-python",
}


def _split(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([A-Za-z0-9._-]+)(.*)", requirement.replace(" ", ""))
    assert found, requirement
    return found[1].lower(), found[2]


def _requirements() -> dict[str, str]:
    return dict(_split(line) for group in (PROJECT["dependencies"], *EXTRAS.values()) for line in group)


def test_environment_mirrors_pyproject() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (from_pip,) = (group["pip"] for group in environment["dependencies"] if isinstance(group, dict))
    from_conda = [line for line in environment["dependencies"] if isinstance(line, str)]
    assert from_pip[-1] == "--editable ."
    listed = dict(_split(line) for line in (*from_conda, *from_pip[:-1]))
    assert environment["channels"] == ["conda-forge"]
    assert listed.pop("python") == PROJECT["requires-python"]
    listed.pop("pip")
    assert listed == {CONDA_NAMES.get(name, name): bound for name, bound in _requirements().items()}


def test_constraints_pin_every_dependency() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert all(re.match(r"[a-z0-9.-]+==[^\s;]+( ; .+)?$", line) for line in lines)
    assert "://" not in text
    lab = {_split(line)[0] for line in EXTRAS["lab"]}
    pinned = {line.partition("==")[0] for line in lines}
    assert set(_requirements()) - lab <= pinned
    assert not lab & pinned


def test_every_dependency_says_why() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    for group in (PROJECT["dependencies"], *EXTRAS.values()):
        for requirement in group:
            at = next(number for number, line in enumerate(lines) if line.strip() == f'"{requirement}",')
            assert lines[at - 1].strip().startswith("# "), requirement


def test_makefile_has_the_targets_that_readme_names() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)", readme))
    assert {"report", "test", "lab", "notebooks", "clean", "help"} <= targets
    assert {"report", "test"} <= named <= targets


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("target", ["help", "report", "test", "lab", "lab-test", "notebooks", "clean"])
def test_makefile_parses(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_license_and_version() -> None:
    assert PROJECT["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert PROJECT["name"] == "ctxlib"


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS, "notebooks/ holds no notebook"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_can_be_compared(path: Path) -> None:
    """A notebook without outputs, or with a cell not run, would pass any comparison."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert notebook.metadata.kernelspec.name == "python3"
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert any(cell.outputs for cell in code)
    for cell in code:
        assert not re.search(r"^\s*[%!]", cell.source, re.MULTILINE), "a magic or a shell line"
        assert not any(output.get("name") == "stderr" for output in cell.outputs)
        assert not any(output.output_type == "error" for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_its_text(path: Path) -> None:
    jupytext = pytest.importorskip("jupytext")
    text = path.with_suffix(".py")
    assert text.exists()
    written = nbformat.read(path, as_version=4)
    read = jupytext.read(text)
    assert [(cell.cell_type, cell.source) for cell in written.cells] == [(c.cell_type, c.source) for c in read.cells]


TEXT = """# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What is refreshed?

# %% tags=["parameters"]
root = ""

# %%
print("one")

# %%
{"b": 2, "root": root}
"""


@pytest.mark.skipif(not importlib.util.find_spec("jupytext"), reason="jupytext is not installed")
def test_refresh_is_stable_and_notices_a_change(tmp_path: Path) -> None:
    text = tmp_path / "01_toy.py"
    text.write_text(TEXT, encoding="utf-8")

    def refresh(*arguments: str) -> int:
        command = [sys.executable, str(ROOT / "notebooks" / "refresh.py"), "--folder", str(tmp_path), *arguments]
        environment = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        print(done.stderr)
        return done.returncode

    assert refresh() == 0
    first = (tmp_path / "01_toy.ipynb").read_bytes()
    assert refresh() == 0
    assert (tmp_path / "01_toy.ipynb").read_bytes() == first
    test_notebook_can_be_compared(tmp_path / "01_toy.ipynb")
    assert refresh("--check") == 0
    text.write_text(TEXT.replace('"one"', '"two"'), encoding="utf-8")
    assert refresh("--check") == 1
    assert (tmp_path / "01_toy.ipynb").read_bytes() == first
    text.write_text(TEXT + "import sys; sys.stderr.write('x')\n", encoding="utf-8")
    assert refresh() != 0


def test_every_command_is_documented() -> None:
    """A command that README does not name is one that nobody finds."""
    from ctxlib.cli import parser

    (added,) = (action for action in parser()._actions if hasattr(action, "choices") and action.choices)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in added.choices if f"`ctxlib {name}" not in readme} == set()  # type: ignore[union-attr]


def test_every_mutation_still_has_its_line() -> None:
    """The job that proves the notebooks runs by hand: a line that was rewritten must not wait until then to be missed."""
    spec = importlib.util.spec_from_file_location("mutations", ROOT / "tests" / "mutations" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    job = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job)
    counts = {one.name: (ROOT / one.file).read_text(encoding="utf-8").count(one.old) for one in job.MUTATIONS}
    assert set(counts.values()) == {1}, counts
