"""This program as it is installed, price list included: what it said before holds as long as it would say the same."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


@lru_cache(maxsize=1)
def program_id() -> str:
    """A hash over the code of this package and the price list that is installed."""
    package = Path(__file__).parent
    code = [
        (path.name, info.st_size, info.st_mtime_ns) for path in sorted(package.rglob("*.py")) if (info := path.stat())
    ]
    return hash_of((code, price_list_id()))


def price_list_id() -> str:
    """Which price list is installed; finding out does not import it (0.13 s)."""
    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return ""
    package = Path(spec.origin).parent
    with suppress(OSError):
        versions = [item.name for item in package.parent.glob("genai_prices-*.dist-info")]
        return f"{' '.join(sorted(versions))} {package.joinpath('data.py').stat().st_size} bytes"
    return ""


def hash_of(value: object) -> str:
    """A hash over a value's repr, for keys of what is kept."""
    return hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
