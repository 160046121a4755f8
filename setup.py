"""What pyproject.toml has no words for: a compiled part that may be left out, and folders from beside the package."""

import os
import shutil
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

# The installed command works from any folder, so the wheel brings the notebooks and the sample logs.
BUNDLE = {"notebooks": "notebooks", "sample": "data/sample"}


class WithBundle(build_py):
    def run(self) -> None:
        package = Path(self.build_lib, "ctxlib")
        shutil.rmtree(package, ignore_errors=True)  # modules that are gone since the last build
        super().run()
        if not self.editable_mode:  # there they are found where they lie
            for name, folder in BUNDLE.items():
                shutil.copytree(
                    folder, package / "_bundle" / name, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.pyc")
                )


# Reads the lines of logs in a quarter of the time. Where no compiler is, Python does the same.
SCANNER = Extension(
    "ctxlib.sources.claude_scanner",
    ["ctxlib/sources/claude_scanner.pyx"],
    depends=[
        f"ctxlib/sources/{name}"
        for name in ("claude_contents.pxi", "claude_grammar.pxi", "json_bytes.h", "xxh3_short.h")
    ],
    extra_compile_args=[] if os.name == "nt" else ["-O3", "-g0"],
    optional=True,
)

setup(ext_modules=[SCANNER], cmdclass={"build_py": WithBundle})
