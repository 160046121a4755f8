"""Which notebooks a report runs, and with which parameters."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path


class ReportError(ValueError):
    """The report was asked for something that does not exist: a notebook, or a parameter."""


def choose(folder: Path, only: Sequence[str] = ()) -> list[Path]:
    """Return the suite's notebooks in order; ``only`` holds their numbers or names, and empty means all."""
    paths = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise ReportError(f"no notebooks (NN_name.ipynb) in {folder}")
    chosen = {path for wanted in only for path in _matching(paths, wanted)}
    return [path for path in paths if path in chosen] if only else paths


def assign(paths: Sequence[Path], common: Mapping[str, str], extra: Mapping[str, str]) -> list[dict[str, str]]:
    """Return each notebook's parameters, checked against its ``parameters`` cell.

    ``common`` must be declared by every notebook, or its page would silently show something else. ``extra``
    goes to those that declare it, and at least one must: papermill itself would only log a warning.
    """
    declared = [_declared(path) for path in paths]
    known = sorted(set().union(*declared))
    for name in extra:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise ReportError(f"unknown parameter {name!r}{hint}: these notebooks know {', '.join(known) or 'none'}")
    for path, names in zip(paths, declared, strict=True):
        for name in common:
            if name not in names:
                raise ReportError(f"{path.name} has no parameter {name!r}, so its page would ignore it")
    given = {**common, **extra}
    return [{name: value for name, value in given.items() if name in names} for names in declared]


def literal(path: Path) -> str:
    """Return a path for papermill, which takes braces in a path for format fields."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _matching(paths: Sequence[Path], wanted: str) -> list[Path]:
    name = wanted.strip().removesuffix(".ipynb")
    found = [path for path in paths if path.stem == name or path.stem.split("_")[0] == name.zfill(2)]
    if not found:
        raise ReportError(f"no notebook {wanted!r}: there are {', '.join(path.stem for path in paths)}")
    return found


def _declared(path: Path) -> set[str]:
    from papermill import inspect_notebook

    return set(inspect_notebook(literal(path)))
