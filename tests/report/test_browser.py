"""The report in a real browser: figures draw, hostile text does not run, a phone shows no sideways scroll."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxlib.report import Report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--virtual-time-budget=10000",  # plotly.js is unpacked after the load event
)

pytestmark = [
    pytest.mark.xdist_group("report"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def _dom(address: str, profile: Path, *flags: str) -> tuple[str, str]:
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", *flags, "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    return done.stdout, done.stderr


def test_figures_draw_and_nothing_else_runs(toy_report: tuple[Report, list[str]], tmp_path: Path) -> None:
    dom, log = _dom(toy_report[0].path.as_uri(), tmp_path, "--enable-logging=stderr", "--v=0")
    assert 'data-drawn="2"' in dom
    assert len(re.findall(r'<svg[^>]* class="main-svg"|class="main-svg"', dom)) >= 2
    assert dom.count('role="img"') == 1
    assert "undrawn" not in re.sub(r"<(style|script)[^>]*>.*?</\1>", "", dom, flags=re.DOTALL)
    console = [line for line in log.splitlines() if "CONSOLE" in line]
    assert console == []


@pytest.mark.parametrize("width", [360, 1280])
def test_no_sideways_scroll(toy_report: tuple[Report, list[str]], tmp_path: Path, width: int) -> None:
    """A frame as wide as a phone, since the browser's own window cannot be so narrow."""
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe id="f" src="{toy_report[0].path.as_uri()}" style="width:{width}px;height:800px;border:0"></iframe>'
        "<script>onload = () => setTimeout(() => { const d = f.contentDocument.documentElement;"
        "document.title = d.scrollWidth + ' of ' + d.clientWidth; }, 3000)</script>",
        encoding="utf-8",
    )
    dom, _ = _dom(frame.as_uri(), tmp_path / "profile", "--allow-file-access-from-files")
    found = re.search(r"<title>(\d+) of (\d+)</title>", dom)
    assert found, "the frame could not be measured"
    assert int(found[1]) == int(found[2])
