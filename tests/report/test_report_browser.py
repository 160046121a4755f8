"""The report of all ten notebooks in a real browser: what a reader opens, on a desk, on a phone, and on paper."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from ctxlib.report import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DESK, PHONE = 1280, 390  # CSS pixels
DRAWN = "document.documentElement.dataset.drawn"

# per page of the report: its name, its figures, and those of them that show nothing
FIGURES = """() => [...document.querySelectorAll("section")].map((section) => {
  const shown = (element, least) => {
    const box = element?.getBoundingClientRect();
    return Boolean(box && box.width > 100 && box.height > 50 && element.querySelectorAll("path").length >= least);
  };
  const pictures = [...section.querySelectorAll('svg[role="img"]')];
  const plots = [...section.querySelectorAll(".plot")];
  return {
    name: section.id,
    count: pictures.length + plots.length,
    empty: [
      ...pictures.filter((svg) => !shown(svg, 5)).map((svg) => svg.id),
      ...plots.filter((plot) => !shown(plot.querySelector(".main-svg"), 1)).map((plot) => plot.id),
    ],
  };
})"""

WIDER_THAN_THE_SHEET = """() => [...document.querySelectorAll("main *")]
  .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter((element) => !element.closest("svg"))
  .map((element) => element.closest("section, header").id + " " + element.tagName)"""


@pytest.fixture(scope="module")
def watched(browser: "Browser", sample_report: Report) -> Iterator[tuple["Page", list[str], list[str]]]:
    """The report, opened once: the page, every address it asked for, and all that it wrote to the console."""
    asked: list[str] = []
    said: list[str] = []
    with browser.new_context(viewport={"width": DESK, "height": 900}) as context:
        context.on("request", lambda request: asked.append(request.url))
        context.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        context.on("weberror", lambda error: said.append(f"error: {error.error}"))
        page = context.new_page()
        page.on("websocket", lambda socket: asked.append(socket.url))
        page.goto(sample_report.path.as_uri())
        page.wait_for_function(DRAWN)
        yield page, asked, said


@pytest.fixture
def page(watched: tuple["Page", list[str], list[str]]) -> "Page":
    """The open report, on a desk and by daylight again."""
    page = watched[0]
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": DESK, "height": 900})
    return page


def test_every_figure_is_drawn(page: "Page", sample_report: Report) -> None:
    found: list[dict[str, Any]] = page.evaluate(FIGURES)
    assert [section["name"] for section in found] == [written.name for written in sample_report.pages]
    assert len(found) == 10
    assert [section["name"] for section in found if not section["count"]] == []
    assert [name for section in found for name in section["empty"]] == []
    assert page.locator(".undrawn").count() == 0
    assert page.evaluate(DRAWN) == str(page.locator(".plot").count())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_no_barrier(page: "Page", scheme: Any, width: int) -> None:
    """axe-core finds nothing serious, wherever and whenever the report is read."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert _barriers(page) == []


def test_barriers_are_noticed(page: "Page") -> None:
    """A check that finds nothing must be one that could."""
    page.evaluate("document.body.append(Object.assign(new Image(), { id: 'planted' }))")
    assert _barriers(page, "#planted") == ["image-alt: #planted"]
    page.evaluate("document.getElementById('planted').remove()")


@pytest.mark.parametrize("width", [PHONE, 768, DESK])
def test_no_sideways_scroll(page: "Page", width: int) -> None:
    """What is wider than a phone scrolls in its own box; the page itself never does."""
    page.set_viewport_size({"width": width, "height": 844})
    page.wait_for_timeout(300)  # plots follow the window a moment later
    scroll, client = page.evaluate(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.documentElement)"
    )
    assert scroll == client == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_prints(page: "Page", scheme: Any) -> None:
    """On paper: every page begins a new sheet, nothing is cut at its edge, and ink is dark whatever the screen was."""
    page.emulate_media(media="print", color_scheme=scheme)
    page.set_viewport_size({"width": 703, "height": 1032})  # A4 within its margins
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(500)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 38)"
    assert not page.locator("nav").is_visible()
    assert page.evaluate(WIDER_THAN_THE_SHEET) == []
    pdf = page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "12mm"))
    assert pdf.startswith(b"%PDF-")
    assert 11 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 60
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_nothing_leaves_the_page(
    page: "Page", watched: tuple["Page", list[str], list[str]], sample_report: Report
) -> None:
    """Last, after every other test used the page: it asked for its own file alone, and had nothing to complain of."""
    _, asked, said = watched
    page.locator("details").first.locator("summary").click()
    page.locator(".plot").first.hover()
    page.wait_for_timeout(500)
    assert [address for address in asked if not address.startswith(("data:", "blob:"))] == [sample_report.path.as_uri()]
    assert said == []


def _barriers(page: "Page", where: str = "html") -> list[str]:
    """What axe-core calls serious or critical: the rule, and the first elements that break it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "(where) => axe.run({ include: where, exclude: 'svg > *' }, { resultTypes: ['violations'] })", where
    )
    return [
        f"{violation['id']}: {' '.join(str(node['target'][0]) for node in violation['nodes'][:5])}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
