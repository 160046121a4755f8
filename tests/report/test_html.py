"""The report's file: self-contained, hostile text stays text, code folded away, figures named."""

import re
from html.parser import HTMLParser

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from ctxlib.report import Report, plots, svg
from ctxlib.report.html import Section, clean, section
from ctxlib.report.index import document

pytestmark = pytest.mark.xdist_group("report")


class Tags(HTMLParser):
    """Every start tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(toy_report: tuple[Report, list[str]]) -> str:
    return toy_report[0].path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    return Tags(page).found


def test_no_request_to_any_network(page: str, tags: list[tuple[str, dict[str, str | None]]]) -> None:
    for tag, attributes in tags:
        for name, value in attributes.items():
            if name.rpartition(":")[2] in ("src", "href", "srcset", "action", "data", "poster"):
                assert re.match(r"#|data:image/", value or ""), (tag, name, value)
    assert "link" not in {tag for tag, _ in tags}
    styles = " ".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    styles += " ".join(attributes.get("style") or "" for _, attributes in tags)
    assert "@import" not in styles
    assert not re.search(r"url\((?!#)", styles)
    policy = next(a["content"] or "" for tag, a in tags if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_hostile_text_stays_text(page: str, tags: list[tuple[str, dict[str, str | None]]]) -> None:
    assert "&lt;script&gt;window.owned" in page
    assert "<script>window.owned" not in page
    assert "window.owned = 2" not in re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
    assert not any(tag == "img" for tag, _ in tags)
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    scripts = [a for tag, a in tags if tag == "script"]
    assert [a.get("type") for a in scripts] == ["application/json"] * 2 + ["text/plain", None]


def test_small_and_plotly_once(page: str) -> None:
    assert len(page.encode()) < 6_000_000
    assert page.count(plots.library()[0]) == 1


def test_figures_are_named(tags: list[tuple[str, dict[str, str | None]]]) -> None:
    figures = [a for tag, a in tags if tag == "svg" and a.get("role") == "img"]
    assert [a["id"] for a in figures] == ["p01-f1"]
    assert (figures[0]["aria-label"] or "").startswith("Two categories over four turns </script>")
    assert [a["aria-label"] for tag, a in tags if a.get("class") == "plot"] == ["By file", "Calls by tool"]
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    uses = [a["href"] for tag, a in tags if tag == "use"]
    assert "#p01-f1" in uses  # the thumbnail
    assert all((use or "").removeprefix("#") in ids for use in uses)


def test_front_section(page: str) -> None:
    front = page[page.index("<header") : page.index("</header>")]
    for text in ("1 to 30 June 2026", "Read 164 files", "Skipped 2 lines", "112k", "Bash output makes up 41 %"):
        assert text in front
    assert "1 of 3 pages failed." in front
    assert front.count("<li><a href=") == 4  # the failed one twice
    assert "Tool results hold 72 % of a call at its peak." in front


def test_code_is_folded_and_headline_is_shown_once(page: str) -> None:
    first = page[page.index('<section id="01') : page.index('<section id="02')]
    assert '<p class="lead">Tool results hold 72 % of a call at its peak.</p>' in first
    shown = re.sub(r"<details.*?</details>", "", first, flags=re.DOTALL)
    assert "import matplotlib" in first
    assert "import matplotlib" not in shown
    assert "<h2" in first
    assert "<h3>How it is measured</h3>" in first
    assert "<h1" not in first
    assert "<td>182.4</td>" in shown


def test_failure_is_loud_and_partial(page: str) -> None:
    last = page[page.index('<section id="03') :]
    assert "This page failed." in last
    assert "LookupError: no session &lt;/script&gt;" in last
    assert "before the failure" in last
    assert "a stored output of other logs" not in last


def test_an_empty_summary_and_no_plotly() -> None:
    plain = Section("01_a", "01", "A", "A?", "", "<p>x</p>", "", None, 0)
    text = document([plain], {"title": None, "tiles": "none", "findings": [3, {"text": "<b>"}]})
    assert len(text) < 20_000
    assert "<script" not in text
    assert "&lt;b&gt;" in text
    assert "None" not in text


def test_clean_keeps_tables_and_drops_what_acts() -> None:
    kept = '<table class="dataframe"><tbody><tr><td style="text-align: right;">1</td></tr></tbody></table>'
    assert clean(kept) == kept
    assert clean("<style scoped>td {}</style><h2>a</h2>") == "<h3>a</h3>"
    assert clean("<script>x < y</script ><b>a</b><SCRIPT src=x>") == "<b>a</b>&lt;SCRIPT src=x&gt;"
    assert "href" not in clean('<a href="https://example.org">a</a>')
    assert "url" not in clean('<p style="background: url(https://example.org/a.png)">a</p>')
    assert "<iframe" not in clean("<iframe src='x'></iframe>")
    assert "onclick" not in clean('<p onclick="x">a</p>')


def test_svg_is_stripped_of_what_acts() -> None:
    text = (
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' width="75pt" height="30pt" viewBox="0 0 75 30" onload="x()"><title>Two bars</title><style>*{fill:red}</style>'
        '<script>x()</script><defs><clipPath id="c"><rect/></clipPath></defs><foreignObject/>'
        '<a href="http://example.org"><text>a</text></a><image xlink:href="http://example.org/a.png"/>'
        '<g clip-path="url(#c)" style="fill: url(http://example.org); stroke: #000000"><use xlink:href="#c"/></g></svg>'
    )
    figure = svg.inline(text, id="p1")
    assert (figure.width, figure.height) == (100, 40)
    assert 'aria-label="Two bars"' in figure.markup
    for absent in ("onload", "script", "<style", "foreignObject", "example.org", "title>", "xmlns"):
        assert absent not in figure.markup
    for present in (
        'id="p1-c"',
        'clip-path="url(#p1-c)"',
        'href="#p1-c"',
        "stroke: currentColor",
        'viewBox="0 0 75 30"',
    ):
        assert present in figure.markup


def test_a_figure_that_is_no_xml_and_a_plain_headline(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "05_odd.ipynb"
    odd = new_output("display_data", data={"image/svg+xml": "<svg><g></svg>"})
    bold = new_output("display_data", data={"text/markdown": "**42 %** of it."})
    cells = [new_code_cell("x", outputs=[odd]), new_code_cell("y", outputs=[bold], metadata={"tags": ["headline"]})]
    nbformat.write(new_notebook(cells=cells), path)
    made = section(path, source=path)
    assert "This figure could not be read." in made.body
    assert made.headline == "42 % of it."
    assert made.title == "Odd"
