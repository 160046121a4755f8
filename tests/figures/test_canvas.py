"""What a notebook stores of a figure: the same bytes every time, an alt text, hostile names as text, nothing global."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt

from ctxlib import figures
from ctxlib.figures import canvas, shown, style
from ctxlib.report import svg as report_svg


def test_svg_is_the_same_twice_and_closed(frames: Any) -> None:
    frame = frames.parts([{"other": 10, "tool_result": 30}, {"other": 10, "tool_result": 50, "thinking": 5}])
    first, second = (figures.show(figures.plot_categories_each(frame)) for _ in range(2))
    assert isinstance(first, shown.Picture)
    assert isinstance(second, shown.Picture)
    assert first.svg == second.svg
    assert plt.get_fignums() == []
    assert "dc:date" not in first.svg
    assert "Matplotlib" not in first.svg
    assert "<text" in first.svg  # words stay words: searchable, readable aloud
    data, metadata = first._repr_mimebundle_()
    assert set(data) == {"image/svg+xml", "text/plain"}
    assert metadata["image/svg+xml"]["alt"] == first.alt == data["text/plain"]
    assert first.alt.startswith("Stacked areas over 2 turns")


def test_ink_and_paper_are_the_two_that_the_report_replaces(frames: Any) -> None:
    picture = figures.show(figures.plot_breakdown(frames.parts([{"tool_result": 30, "other": 5}])))
    assert isinstance(picture, shown.Picture)
    page = report_svg.inline(picture.svg, id="f").markup
    assert "var(--paper" in page
    assert "#000000" not in page
    assert {style.INK, style.PAPER} == {"#000000", "#ffffff"}


def test_the_users_settings_stay(frames: Any) -> None:
    before = dict(mpl.rcParams)
    figures.show(figures.plot_breakdown(frames.parts([{"other": 5}])))
    assert dict(mpl.rcParams) == before


def test_hostile_names_stay_text_in_svg(frames: Any) -> None:
    frame = frames.curves({f"s{i}": [1_000, 2_000] for i in range(3)}, project=frames.hostile)
    for drawn in (
        figures.plot_curves_by(frame),
        figures.plot_compactions(frames.compactions([(100, 50, None)], project=frames.hostile)),
    ):
        picture = figures.show(drawn)
        assert isinstance(picture, shown.Picture)
        root = ElementTree.fromstring(picture.svg)
        assert not [element for element in root.iter() if element.tag.endswith("script")]
        said = " ".join(element.text or "" for element in root.iter())
        assert "$x_1$" in said  # no formula
        assert "\x1b" not in said


def test_hostile_names_stay_text_in_plotly(frames: Any) -> None:
    frame = frames.curves({"s1": [1_000, 2_000]}, project="<script>x</script>")
    plot = figures.show(figures.explore_curves(frame))
    assert isinstance(plot, shown.Plot)
    assert "<script" not in str(plot.spec)
    assert "&lt;script" in str(plot.spec)
    data, metadata = plot._repr_mimebundle_()
    assert set(data) == {"application/vnd.plotly.v1+json", "text/plain"}
    assert metadata["application/vnd.plotly.v1+json"]["alt"] == "1 session with the largest peaks"
    assert "template" not in plot.spec["layout"]


def test_labels_are_moved_apart_within_their_limits() -> None:
    assert canvas.apart([0.5, 0.5, 0.5], 0.1, 0, 1) == [0.5, 0.6, 0.7]
    assert [round(at, 6) for at in canvas.apart([0.95, 0.99, 1.0], 0.1, 0, 1)] == [0.8, 0.9, 1.0]


def test_text_on_a_colour_is_the_one_with_more_contrast() -> None:
    assert [canvas.on(color) for color in ("#ffffff", "#000000", style.ORANGE, style.GREY)] == [
        style.INK,
        style.PAPER,
        style.INK,
        style.PAPER,
    ]


def test_every_category_has_a_look_of_its_own() -> None:
    looks = [(look.color, look.hatch) for look in style.CATEGORIES.values()]
    assert len(set(looks)) == len(looks)
    assert len({(look.color, look.hatch) for look in style.CACHE.values()}) == len(style.CACHE)
    assert style.look("other").color == style.GREY
    assert style.look("other").hatch
    assert [name for name, look in style.CATEGORIES.items() if look.color == style.GREY] == ["other"]
    assert style.look("something_new").label == "something new"


def test_a_list_and_a_sentence_are_escaped() -> None:
    grid = figures.points(["a <b>", "c"])
    assert grid.html == "<ul>\n<li>a &lt;b&gt;</li>\n<li>c</li>\n</ul>"
    assert figures.say("<i>").html == "<p>&lt;i&gt;</p>"
    assert figures.points([]).text == "Nothing stands out in this window."


def test_import_does_not_load_matplotlib() -> None:
    code = "import sys, ctxlib; ctxlib.scan; ctxlib.kinds_df; sys.exit('matplotlib' in sys.modules or 'plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drawing_does_not_load_plotly() -> None:
    code = "import sys, ctxlib; ctxlib.plot_curves; sys.exit('plotly' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
