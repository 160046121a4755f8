"""Where the notebooks and the sample logs lie: inside an installed wheel, or in the source tree."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def notebooks_dir() -> Path:
    """Return the folder that holds the suite's notebooks (``NN_name.ipynb``)."""
    return _find("notebooks", "notebooks")


def sample_root() -> Path:
    """Return the root of the sample logs, laid out like an agent's own folder."""
    return _find("sample", "data/sample")


def _find(bundled: str, source: str) -> Path:
    # The wheel's copy first: an installed package may sit beside an unrelated folder named `notebooks`.
    for candidate in (_PACKAGE / "_bundle" / bundled, _PACKAGE.parent / source):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"ctxlib is installed without its {bundled}: reinstall it, or run from the source tree")
