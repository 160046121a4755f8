"""A toy suite, built once a session: what the report must handle, without ctxlib's own notebooks and logs."""

from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ctxlib.report import Report, build

HOSTILE = "</script><script>window.owned = 1</script><img src=http://evil.example/x onerror=alert(1)>"

PARAMETERS = 'root = ""\nsince = ""\nuntil = ""\nproject = ""\ntop = "10"'

DRAW = """
import io
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
from IPython.display import display
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "toy"})
fig, ax = plt.subplots(figsize=(8, 4))
ax.stackplot([1, 2, 3, 4], [10, 30, 20, 45], [5, 8, 12, 14], step="post", labels=["Tool results", "Messages"])
ax.axhline(50, color="black", linestyle="--")
ax.set_title("k tokens over turns " + hostile[:30] + "\\x1b[31m")
ax.legend()
file = io.StringIO()
fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
plt.close(fig)
display({"image/svg+xml": file.getvalue(), "text/plain": "Figure"}, raw=True,
        metadata={"image/svg+xml": {"alt": "Two categories over four turns " + hostile}})
"""

PLOTLY = """
import plotly.graph_objects as go
figure = go.Figure(go.Treemap(labels=["all", "src/a.py", hostile], parents=["", "all", "all"], values=[0, 30, 12]))
figure.update_layout(title={"text": "By file"}, height=420)
from IPython.display import display
display({"application/vnd.plotly.v1+json": figure.to_plotly_json() | {"data": [figure.data[0].to_plotly_json()]},
         "text/html": "<div>plotly's own</div>"}, raw=True)
bars = go.Figure(go.Bar(x=["Read", "Bash", "Edit"], y=[120, 80, 33]))
bars.update_layout(title={"text": "Calls by tool"}, xaxis={"title": {"text": "tool"}})
bars
"""

TABLE = """
import pandas as pd
pd.DataFrame({"project": ["api", hostile], "k tokens": [182.4, 7.1], "share": ["96 %", "4 %"]})
"""


def _code(source: str, *tags: str) -> nbformat.NotebookNode:
    return new_code_cell(source.strip(), metadata={"tags": list(tags)})


def _write(folder: Path, name: str, cells: Sequence[nbformat.NotebookNode]) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=list(cells), metadata={"kernelspec": kernel})
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    nbformat.write(notebook, folder / f"{name}.ipynb")


@pytest.fixture(scope="session")
def toy_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three notebooks in a folder whose name is itself a trap for papermill: its braces are no format fields."""
    folder = tmp_path_factory.mktemp("suite") / "{toy} suite"
    folder.mkdir()
    hostile = _code(f"hostile = {HOSTILE!r}")
    _write(
        folder,
        "01_where_context_goes",
        [
            new_markdown_cell("# Where does the context go?\n\nMeasured from the calls' own *usage*; see `calls_df`."),
            _code(PARAMETERS, "parameters"),
            hostile,
            _code('f"Tool results hold 72 % of a call at its peak{project and chr(32)}{project}."', "headline"),
            _code(DRAW),
            _code(TABLE),
            new_markdown_cell("## How it is measured\n\nA call's context is `input + cache_read` < window."),
        ],
    )
    _write(
        folder,
        "02_which_tools",
        [
            new_markdown_cell("# Which tools fill it?"),
            _code(PARAMETERS, "parameters"),
            hostile,
            _code("print(hostile)", "headline"),
            _code(PLOTLY),
            _code('from IPython.display import HTML, Javascript\nHTML("<b>kept</b>" + hostile)'),
            _code("Javascript('window.owned = 2')"),
        ],
    )
    _write(
        folder,
        "03_failing",
        [
            new_markdown_cell("# What happens when a notebook fails?"),
            _code(PARAMETERS, "parameters"),
            hostile,
            _code("print('before the failure')"),
            _code("raise LookupError('no session ' + hostile)"),
            new_code_cell(
                "1 + 1",
                execution_count=1,
                outputs=[nbformat.v4.new_output("stream", name="stdout", text="a stored output of other logs")],
            ),
        ],
    )
    return folder


@pytest.fixture(scope="session")
def summary() -> dict[str, object]:
    """A front section with markup where text belongs."""
    return {
        "title": "Where the context went",
        "period": "1 to 30 June 2026 · 42 sessions in 3 projects",
        "read": "Read 164 files (138 MB) under ~/.claude/projects.",
        "skipped": "Skipped 2 lines of 1 file that are not JSON.",
        "tiles": [
            {"label": "Peak of a session, median", "value": "112k", "note": "tokens, measured"},
            {"label": "Sessions above 150k", "value": "31 %", "note": "13 of 42"},
            {"label": "Compactions", "value": "18", "note": "median 167k to 24k"},
            {"label": "Read again", "value": "9.4 %", "note": "of tool results, estimate"},
        ],
        "findings": [
            {"text": "Bash output makes up 41 % of tool results: 2.1M tokens.", "action": "Send it to a file."},
            {"text": f"One project is called {HOSTILE}.", "action": "Nothing: it stays text."},
        ],
    }


@pytest.fixture(scope="session")
def toy_report(
    toy_suite: Path, summary: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Report, list[str]]:
    """The toy suite's report, and the lines of its progress."""
    lines: list[str] = []
    say: Callable[[str], None] = lines.append
    report = build(out=tmp_path_factory.mktemp("out") / "new", notebooks=toy_suite, summary=summary, progress=say)
    assert [page.ok for page in report.pages] == [True, True, False], lines
    return report, lines


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The real report: all ten notebooks on the sample logs."""
    import ctxlib
    from ctxlib.summary import summary as story

    folder = tmp_path_factory.mktemp("sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXLIB_CACHE_DIR", str(folder / "cache"))  # not the user's own
        report = build(out=folder / "report", summary=story(ctxlib.open_logs(), origin="the sample logs"))
    assert report.ok, [page for page in report.pages if not page.ok]
    return report
