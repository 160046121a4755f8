"""Running the suite: choice, parameters, failure, and that nothing of the notebook's store gets into a report."""

from pathlib import Path

import pytest

from ctxlib.report import Report, ReportError, build, suite

pytestmark = pytest.mark.xdist_group("report")


def test_pages_in_order_and_the_failed_one_named(toy_report: tuple[Report, list[str]]) -> None:
    report, lines = toy_report
    assert report.path.name == "index.html"
    assert [page.name for page in report.pages] == ["01_where_context_goes", "02_which_tools", "03_failing"]
    assert [page.ok for page in report.pages] == [True, True, False]
    assert not report.ok
    assert report.pages[0].title == "Where does the context go?"
    assert report.pages[2].error.startswith("LookupError: no session ")
    assert all(page.seconds > 0 for page in report.pages)
    assert any("03_failing: FAILED, LookupError" in line for line in lines)
    assert lines[-1].startswith("wrote ")


def test_only_and_parameters_reach_the_notebook_as_they_are(toy_suite: Path, tmp_path: Path) -> None:
    report = build(out=tmp_path, notebooks=toy_suite, only=["1"], project='007 {x} "q" \\n', parameters={"top": "no"})
    assert [page.name for page in report.pages] == ["01_where_context_goes"]
    assert report.ok
    text = report.path.read_text(encoding="utf-8")
    assert "Tool results hold 72 % of a call at its peak 007 {x} &#34;q&#34; \\n." in text
    assert "top = &#34;no&#34;" in text or 'top = "no"' in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.html"]


def test_an_unknown_parameter_is_an_error(toy_suite: Path, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"unknown parameter 'sinse' \(did you mean 'since'\?\)"):
        build(out=tmp_path, notebooks=toy_suite, parameters={"sinse": "30d"})
    assert not list(tmp_path.iterdir())


def test_a_common_parameter_must_be_declared_by_every_notebook(toy_suite: Path) -> None:
    paths = suite.choose(toy_suite)
    with pytest.raises(ReportError, match="has no parameter 'session'"):
        suite.assign(paths, {"session": "3ee1"}, {})
    assert suite.assign(paths[:1], {"since": "30d"}, {"top": "007"}) == [{"since": "30d", "top": "007"}]


@pytest.mark.parametrize(("only", "names"), [(["02"], ["02_which_tools"]), (["3", "01_where_context_goes"], None)])
def test_choice(toy_suite: Path, only: list[str], names: list[str] | None) -> None:
    assert [p.stem for p in suite.choose(toy_suite, only)] == (names or ["01_where_context_goes", "03_failing"])


def test_an_unknown_notebook_is_an_error(toy_suite: Path, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no notebook '9': there are 01_where_context_goes, 02_which_tools"):
        suite.choose(toy_suite, ["9"])
    with pytest.raises(ReportError, match="no notebooks"):
        suite.choose(tmp_path)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxlib.report.run.find_spec", lambda name: None if name == "papermill" else name)
    with pytest.raises(ImportError, match=r"the report needs papermill: pip install 'ctxlib\[report\]'"):
        build(out=tmp_path)


def test_a_notebook_whose_process_dies_shows_no_stored_output(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "01_broken.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "id": "a", "metadata": {"tags": ["parameters"]}, "execution_count": 1,'
        ' "source": "root = \\"\\"", "outputs": []}, {"cell_type": "code", "id": "b", "metadata": {},'
        ' "execution_count": 2, "source": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)", "outputs":'
        ' [{"output_type": "stream", "name": "stdout", "text": "a stored output"}]}], "metadata": {"kernelspec":'
        ' {"name": "python3", "language": "python", "display_name": "Python 3"}}, "nbformat": 4,'
        ' "nbformat_minor": 5}',
        encoding="utf-8",
    )
    report = build(out=tmp_path / "out", notebooks=folder)
    assert not report.ok
    assert report.pages[0].error.startswith("ProcessError: the process ended with code -9")
    assert "a stored output" not in report.path.read_text(encoding="utf-8")
