"""The report's one file: the front section, then every page, with style, script and plotly.js inside."""

from collections.abc import Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ctxlib.report import plots
from ctxlib.report.html import TEMPLATES, Section


def document(sections: Sequence[Section], summary: Mapping[str, object]) -> str:
    """Return the whole HTML document.

    ``summary`` holds plain text: ``title``, ``period``, ``read``, ``skipped``, ``tiles`` (a list of ``label``,
    ``value``, ``note``) and ``findings`` (a list of ``text``, ``action``). Each may be missing, and all is escaped.
    """
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    drawn = any(section.plots for section in sections)
    packed, packed_hash = plots.library() if drawn else ("", "")
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return environment.get_template("report.html.j2").render(
        title=_text(summary, "title") or "Where the context went",
        period=_text(summary, "period"),
        read=_text(summary, "read"),
        skipped=_text(summary, "skipped"),
        tiles=_rows(summary, "tiles", ("label", "value", "note")),
        findings=_rows(summary, "findings", ("text", "action")),
        sections=[(section, Markup(section.body)) for section in sections],
        failed=[section for section in sections if section.error],
        policy=_policy(plots.policy_hash(script.encode()), packed_hash),
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script) if drawn else "",
        packed=Markup(packed),
    )


def _policy(*hashes: str) -> str:
    """Return a content security policy: our script and plotly.js, by hash; nothing else runs, nothing is fetched."""
    scripts = " ".join(value for value in hashes if value)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(mapping: Mapping[str, object], key: str) -> str:
    value = mapping.get(key)
    return "" if value is None else str(value)


def _rows(summary: Mapping[str, object], key: str, names: Sequence[str]) -> list[dict[str, str]]:
    value = summary.get(key)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [{name: _text(row, name) for name in names} for row in value if isinstance(row, Mapping)]
