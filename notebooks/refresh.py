"""Make every notebook anew from its .py text: jupytext, execution on the sample logs, normalised metadata.

``python notebooks/refresh.py [--check] [--folder DIR] [NAME ...]``. Run twice, it writes the same bytes. With
``--check`` it writes nothing and exits 1 where a notebook differs from what would be written.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
TIMEOUT = 120  # seconds a cell, as in the regression run


def main(argv: Sequence[str] | None = None) -> int:
    """Refresh the notebooks named, or all; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="numbers or names, such as 02; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a notebook is out of date")
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    stale = []
    for source in chosen(given.folder, given.names):
        target = source.with_suffix(".ipynb")
        text = refreshed(source)
        same = target.exists() and target.read_text(encoding="utf-8") == text
        if not same:
            stale.append(target.name)
            if not given.check:
                target.write_text(text, encoding="utf-8", newline="\n")
        print(f"{target.name}: {'unchanged' if same else 'out of date' if given.check else 'written'}", file=sys.stderr)
    return 1 if given.check and stale else 0


def chosen(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the notebooks' texts; a name that matches none ends the program."""
    sources = sorted(folder.glob("[0-9][0-9]_*.py"))
    for name in names:
        if not any(source.stem.startswith(name) for source in sources):
            sys.exit(f"no notebook {name!r} in {folder}")
    return [source for source in sources if not names or source.stem.startswith(tuple(names))]


def refreshed(source: Path) -> str:
    """Return the notebook of one text, executed, as it is to be written."""
    notebook = jupytext.read(source)
    notebook.metadata = NotebookNode({"kernelspec": dict(KERNEL)})
    for cell, name in zip(notebook.cells, cell_ids(notebook.cells), strict=True):
        cell["id"] = name
    NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(source.parent)}},
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),
    ).execute()
    normalise(notebook)
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def cell_ids(cells: Sequence[NotebookNode]) -> Iterator[str]:
    """Yield an id for each cell, from what it holds: a new cell leaves the ids of the others alone."""
    seen: dict[str, int] = {}
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        yield digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def normalise(notebook: NotebookNode) -> None:
    """Keep of the metadata only what is the same on every machine; refuse outputs that cannot be compared."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = NotebookNode(
        {
            "jupytext": {"formats": "ipynb,py:percent"},
            "kernelspec": dict(KERNEL),
            "language_info": {"name": "python"},
        }
    )
    count = 0
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # jupytext's note to itself
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stderr":
                raise ValueError(f"a cell wrote to stderr, which no stored notebook may hold: {output.text.strip()}")
            if "execution_count" in output:
                output.execution_count = count


if __name__ == "__main__":
    sys.exit(main())
