"""An executed notebook -> one section of the report: nbconvert with a template of our own."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode
from traitlets.config import Config

from ctxlib.report import plots, svg

TEMPLATES = Path(__file__).parent / "templates"

_SVG = "image/svg+xml"
_FIGURE = "application/x-ctxlib-figure"  # only made here: the number of a figure that is put in at the end
_PLACE = re.compile(r"<!--figure (\d+)-->")
_BLOCK = re.compile(r"<(style|script)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"<(/?)h([1-5])\b")
_ERROR_MARKER = "papermill-error-cell-tag"


class Section(NamedTuple):
    """One page of the report. ``body`` is HTML; all else is plain text, to be escaped by who shows it."""

    name: str
    number: str
    label: str
    title: str
    headline: str
    body: str
    error: str
    thumbnail: svg.Figure | None
    plots: int


def section(executed: Path, *, source: Path, error: str = "") -> Section:
    """Turn the executed notebook into a section.

    Where the file is missing (its process died), the page has the title of ``source`` and the error, but none of
    the outputs stored in it: those are of other logs.
    """
    notebook = nbformat.read(executed if executed.exists() else source, as_version=4)
    if not executed.exists():
        for cell in notebook.cells:
            cell.update({"outputs": []} if cell.cell_type == "code" else {})
    notebook.cells = [cell for cell in notebook.cells if _ERROR_MARKER not in _tags(cell)]
    number, _, words = source.stem.partition("_")
    label = words.replace("_", " ").capitalize() or source.stem
    title = _take_title(notebook) or label
    headline = _take_headline(notebook)
    figures, first, drawn = _take_figures(notebook, prefix=f"p{number}")
    body, _ = _exporter().from_notebook_node(notebook)
    body = _PLACE.sub(lambda match: figures[int(match[1])], body)
    return Section(source.stem, number, label, title, headline, body, error, first, drawn)


def clean(html: str) -> str:
    """Return ``html`` without anything that runs, refers elsewhere or styles the page; headings one level down.

    Whole scripts and style sheets are dropped (some releases of plotly write 5 MB of them), any other markup that is
    not known to be harmless is shown as text.

    The library escapes what it writes, so this should change nothing; it is there for the day when it does not.
    """
    safe = _sanitizer().sanitize_html_tags(_BLOCK.sub("", html))
    return _HEADING.sub(lambda match: f"<{match[1]}h{int(match[2]) + 1}", safe)


def _sanitizer() -> SanitizeHTML:
    tags = (
        "a abbr b blockquote br caption code col colgroup dd details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6"
        " hr i li mark meter ol p pre progress s small span strong sub summary sup table tbody td tfoot th thead tr ul"
    )
    styles = (
        "align-items background-color border border-bottom border-collapse border-left border-radius border-right"
        " border-spacing border-top box-sizing color display flex flex-wrap font-family font-size font-style"
        " font-variant-numeric font-weight gap grid-template-columns height letter-spacing line-height margin"
        " margin-bottom margin-left margin-right margin-top max-width min-width opacity overflow padding padding-bottom"
        " padding-left padding-right padding-top text-align text-transform vertical-align white-space width"
    )
    return SanitizeHTML(tags=tags.split(), styles=styles.split(), attributes=_allowed)


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return tag == "a" and value.startswith("#")
    return name in {"class", "style", "title", "role", "scope", "colspan", "rowspan", "span", "open", "dir"} or (
        name.startswith("aria-") or (tag in ("meter", "progress") and name in {"value", "min", "max"})
    )


def _exporter() -> HTMLExporter:
    shown = [_FIGURE, "text/html", "text/markdown", "image/png", "image/jpeg", "text/plain"]
    config = Config(
        {
            "NbConvertBase": {"display_data_priority": shown},
            # nothing of these is used; their addresses stay out of the file in any case
            "HTMLExporter": {"require_js_url": "", "mathjax_url": "", "jquery_url": "", "jupyter_widgets_base_url": ""},
        }
    )
    exporter = HTMLExporter(
        config=config,
        template_name="page",
        extra_template_basedirs=[str(TEMPLATES)],
        exclude_anchor_links=True,
        filters={"safe": clean},
    )
    exporter.mermaid_js_url = exporter.mermaid_layout_elk_js_url = ""
    return exporter


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _take_title(notebook: NotebookNode) -> str:
    """Remove and return the question: the first heading of the first markdown cell."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            first, _, rest = cell.source.strip().partition("\n")
            if first.startswith("# "):
                cell.source = rest.strip()
                return str(first[2:].strip())
            break
    return ""


def _take_headline(notebook: NotebookNode) -> str:
    """Remove and return the text of the cells tagged ``headline``."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and "headline" in _tags(cell):
            texts += [text for output in cell.outputs if (text := _text(output))]
            cell.outputs = [output for output in cell.outputs if not _text(output)]
    return " ".join(texts)


def _text(output: NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.text).strip() if output.name == "stdout" else ""
    data = output.get("data", {})
    if set(data) - {"text/plain", "text/markdown"}:
        return ""
    text = str(data.get("text/markdown", data.get("text/plain", ""))).strip()
    if text[:1] in "'\"" and text:
        try:  # a string as the last value of a cell is stored as its repr
            return str(ast.literal_eval(text)).strip()
        except (SyntaxError, ValueError):
            return text
    return text.replace("**", "")


def _take_figures(notebook: NotebookNode, *, prefix: str) -> tuple[list[str], svg.Figure | None, int]:
    """Replace SVG and plotly outputs by numbers; return their HTML, the first SVG and how many plotly figures."""
    figures: list[str] = []
    first: svg.Figure | None = None
    drawn = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data: dict[str, Any] = output.get("data", {})
            id = f"{prefix}-f{len(figures) + 1}"
            if plots.MIME in data:
                figures.append(plots.div(data[plots.MIME], id=id, alt=_alt(output, cell, plots.MIME)))
                drawn += 1
            elif _SVG in data:
                try:
                    figure = svg.inline("".join(data[_SVG]), id=id, alt=_alt(output, cell, _SVG))
                except ParseError:
                    figures.append("<p>This figure could not be read.</p>")
                else:
                    first = first or figure
                    figures.append(figure.markup)
            else:
                continue
            output.data = NotebookNode({_FIGURE: str(len(figures) - 1)})
    return figures, first, drawn


def _alt(output: NotebookNode, cell: NotebookNode, mime: str) -> str:
    metadata: Mapping[str, Any] = output.get("metadata", {})
    own = metadata.get(mime, {})
    return str(own.get("alt", "") or metadata.get("alt", "") or cell.metadata.get("alt", ""))
