"""A matplotlib SVG -> SVG that may stand inside an HTML page: named for screen readers, without side effects."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

_ALLOWED = (
    *("svg", "g", "defs", "clipPath", "mask", "pattern", "marker", "symbol", "use", "image", "text", "tspan"),
    *("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "linearGradient", "radialGradient", "stop"),
)
_REFERENCE = re.compile(r"url\(\s*['\"]?(#?)([^'\")]*)['\"]?\s*\)")

# a control character out of a log (a terminal colour in a title, say) reaches the SVG as it is, and is not XML
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# black ink and white paper follow the page, light or dark; a category keeps its colour in both
_PAGE = {"#000000": "currentColor", "#ffffff": "var(--paper,#ffffff)"}
_INK = re.compile("|".join(_PAGE))


class Figure(NamedTuple):
    """An inline SVG, its element id, and its size in CSS pixels (for a thumbnail that refers to it)."""

    markup: str
    id: str
    width: float
    height: float


def inline(svg: str, *, id: str, alt: str = "") -> Figure:
    """Make ``svg`` fit to stand inside a page.

    Scripts, styles, metadata and everything that refers outside the file are left out, ids are made the page's own
    (two figures share ids otherwise), and ``alt`` (or the SVG's own title) becomes its ``aria-label``.
    """
    root = ElementTree.fromstring(_NOT_XML.sub("", svg))
    label = alt or described(root) or "Figure"
    width, height = _size(root)
    _clean(root, id)
    root.attrib.update({"id": id, "role": "img", "aria-label": label})
    root.set("style", f"max-width:{width:g}px;color:var(--ink);fill:currentColor")
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    return Figure(ElementTree.tostring(root, encoding="unicode"), id, width, height)


def described(root: ElementTree.Element) -> str:
    """Return the text that an SVG carries about itself: its description, else its title, else ""."""
    for name in ("description", "desc", "title"):
        for element in root.iter():
            if _local(element) == name and (element.text or "").strip():
                return " ".join((element.text or "").split())
    return ""


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _size(root: ElementTree.Element) -> tuple[float, float]:
    view = [float(part) for part in re.split(r"[\s,]+", root.get("viewBox", "").strip()) if part]
    if len(view) == 4 and view[2] > 0 and view[3] > 0:
        return view[2] / 0.75, view[3] / 0.75  # matplotlib writes points; a CSS pixel is 0.75 of one
    return 640.0, 480.0


def _clean(element: ElementTree.Element, prefix: str) -> None:
    element.tag = _local(element)
    kept: dict[str, str] = {}
    for name, value in element.attrib.items():
        local = name.rpartition("}")[2]
        if local.lower().startswith("on") or local in ("space", "base"):
            continue
        if local == "href" and not value.startswith(("#", "data:image/png;base64,")):
            continue
        if local == "id":
            value = f"{prefix}-{value}"
        elif local == "href" and value.startswith("#"):
            value = f"#{prefix}-{value[1:]}"
        value = _REFERENCE.sub(lambda match: f"url(#{prefix}-{match[2]})" if match[1] else "none", value)
        kept[local] = _INK.sub(lambda match: _PAGE[match[0]], value) if local in ("style", "fill", "stroke") else value
    element.attrib.clear()
    element.attrib.update(kept)
    for child in list(element):
        if isinstance(child.tag, str) and _local(child) in _ALLOWED:
            _clean(child, prefix)
        else:
            element.remove(child)
