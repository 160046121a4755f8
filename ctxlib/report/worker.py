"""One notebook in a process of its own: papermill changes directory, and a kernel may die or hang."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_GRACE = 60  # seconds for start-up and saving, beside what the cells may take


def run(notebook: Path, output: Path, parameters: Mapping[str, str], *, timeout: int, scratch: Path) -> str:
    """Execute ``notebook`` into ``output`` in a new process; return the error as "Class: message", or "".

    ``output`` is written also when a cell fails, up to that cell; it may be missing when the process died.
    """
    request = {"notebook": str(notebook), "output": str(output), "parameters": dict(parameters), "timeout": timeout}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ctxlib.report.execute"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=_environment(scratch),
            timeout=timeout + _GRACE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"TimeoutError: still running after {timeout + _GRACE} seconds"
    try:
        return str(json.loads(done.stdout.splitlines()[-1])["error"])
    except (IndexError, KeyError, ValueError):
        last = (done.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        return f"ProcessError: the process ended with code {done.returncode}: {last}"


def _environment(scratch: Path) -> dict[str, str]:
    paths = [str(_PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        # the kernel imports this very ctxlib, installed or not
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONUTF8": "1",
        # this environment's `python3` kernel, not one of the same name in the user's home
        "JUPYTER_PREFER_ENV_PATH": "1",
        # no start-up files or history of the user's own IPython
        "IPYTHONDIR": str(scratch / "ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
