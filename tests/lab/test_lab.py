"""A notebook in JupyterLab, driven as a user would: open, run all cells, change a parameter, run again."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NAME = "01_where_context_goes"
START, RUN = 60, 120  # seconds for the server, and for all cells

pytestmark = pytest.mark.skipif(
    find_spec("jupyterlab") is None, reason="JupyterLab is not installed here: make lab-test"
)

SETTINGS = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # all cells are in the page, also those below
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',  # asks no network
}

# every cell shows a number, and none the star of one that waits; `since` tells a second run from the first
DONE = """(since) => {
  const prompts = [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")].map((prompt) => prompt.textContent);
  return prompts.length > 5 && prompts.every((text) => /^\\[\\d+\\]:$/.test(text) && parseInt(text.slice(1)) > since);
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the notebook without its outputs: whatever shows was computed there and then."""
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    notebook = nbformat.read(NOTEBOOKS / f"{NAME}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.update({"outputs": [], "execution_count": None} if cell.cell_type == "code" else {})
    nbformat.write(notebook, folder / f"{NAME}.ipynb")
    return folder


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab that has nothing of the user's own: no settings, no kernels, no cache."""
    own = folder.parent
    for name, text in SETTINGS.items():
        settings = own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text(text, encoding="utf-8")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--notebook-dir={folder}"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--LabApp.extension_manager=readonly"),
    ]
    folders = {
        name: str(own / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "CTXLIB_CACHE_DIR")
    }
    folders |= {"JUPYTERLAB_SETTINGS_DIR": str(own / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(own / "workspaces")}
    environment = {**os.environ, **folders, "JUPYTER_PREFER_ENV_PATH": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    with (own / "lab.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(address, server, own / "lab.log")
            yield address
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(f"{address}/api", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


def _run_all(page: "Page", since: int) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(DONE, arg=since, timeout=RUN * 1000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=RUN * 1000)


def _rows(page: "Page") -> int:
    """Of the last table, the one that `top` cuts."""
    return page.locator(".jp-OutputArea-output table").last.locator("tbody tr").count()


def test_runs_and_follows_a_parameter(browser: "Browser", lab: str, folder: Path) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{lab}/lab/tree/{NAME}.ipynb")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=START * 1000)
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=START * 1000)  # cells run into nothing before
        assert page.locator(".jp-OutputArea-output").count() == 0
        cells = page.locator(".jp-CodeCell").count()

        _run_all(page, 0)
        broken = page.locator('[data-mime-type="application/vnd.jupyter.error"], [data-mime-type$="stderr"]')
        assert broken.all_inner_texts() == []
        assert page.get_by_text(" of the context, the most of all that the logs hold").count() >= 1
        pictures = page.locator(".jp-RenderedSVG > :is(svg, img)")
        boxes = [picture.bounding_box() for picture in pictures.all()]
        assert len(boxes) >= 3
        assert all(box and box["width"] > 300 and box["height"] > 100 for box in boxes)
        assert _rows(page) == 10

        line = page.locator(".cm-line", has_text='top = "10"')
        line.click()
        page.keyboard.press("Home")
        page.keyboard.press("Shift+End")
        page.keyboard.insert_text('top = "3"')
        _run_all(page, cells)
        assert broken.all_inner_texts() == []
        assert _rows(page) == 3
        if shots := os.environ.get("CTXLIB_SCREENSHOTS"):
            page.screenshot(path=Path(shots) / "lab.png")
