"""Plotly figures -> data in the page, and plotly.js itself, packed, once for the whole file."""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files

MIME = "application/vnd.plotly.v1+json"


def div(figure: Mapping[str, object], *, id: str, alt: str = "") -> str:
    """Return the place of one figure: its JSON, inert until the page's own script draws it."""
    spec = {"data": figure.get("data", []), "layout": figure.get("layout", {})}
    layout = spec["layout"]
    height = layout.get("height", 450) if isinstance(layout, Mapping) else 450
    label = alt or _title(layout) or "Interactive figure"
    return (
        f'<div class="plot" id="{escape(id)}" role="group" aria-label="{escape(label)}"'
        f' style="min-height:{float(height):g}px">'
        f'<script type="application/json">{inert(spec)}</script>'
        "<noscript>This figure needs JavaScript; the table beside it holds its numbers.</noscript></div>"
    )


def inert(value: object) -> str:
    """Return JSON that cannot close the ``<script>`` it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def library() -> tuple[str, str]:
    """Return plotly.js (gzip, base64: 2 MB instead of 5) and its hash for the page's content security policy."""
    code = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return base64.b64encode(gzip.compress(code, mtime=0)).decode("ascii"), policy_hash(code)


def policy_hash(code: bytes) -> str:
    """Return the hash by which a content security policy allows one inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code).digest()).decode('ascii')}'"


def _title(layout: object) -> str:
    title = layout.get("title") if isinstance(layout, Mapping) else None
    text = title.get("text") if isinstance(title, Mapping) else title
    return text if isinstance(text, str) else ""
