"""The other end of `worker`: reads a request (JSON) from stdin, runs papermill, answers with one line of JSON."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from ctxlib.report.suite import literal


def execute(notebook: Path, output: Path, parameters: Mapping[str, str], *, timeout: int) -> str:
    """Execute ``notebook`` into ``output`` here; return the error as "Class: message", or ""."""
    from papermill import PapermillExecutionError, execute_notebook
    from traitlets.config import Config

    try:
        execute_notebook(
            literal(notebook),
            literal(output),
            parameters=dict(parameters),
            kernel_name="python3",
            progress_bar=False,
            execution_timeout=timeout,
            # for the outputs of a cell that has ended; the usual four seconds are too few on a busy machine
            iopub_timeout=timeout,
            # or the kernel warns about plain TCP on every run
            config=Config({"KernelManager": {"transport_encryption": "auto"}}),
        )
    except PapermillExecutionError as failed:
        return f"{failed.ename}: {failed.evalue}"
    except Exception as failed:  # whatever it is: the other pages still appear, and this one says what
        return f"{type(failed).__name__}: {failed}"
    return ""


def main() -> None:
    """Answer the request on stdin."""
    request = json.loads(sys.stdin.read())
    error = execute(
        Path(request["notebook"]), Path(request["output"]), request["parameters"], timeout=request["timeout"]
    )
    print(json.dumps({"error": error}))


if __name__ == "__main__":
    main()
