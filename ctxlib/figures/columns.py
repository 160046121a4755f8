"""Tables beside figures: one header and one way to print it for each column of a frame, and everything escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ctxlib.figures import canvas, style, words
from ctxlib.figures.cache import CAUSES
from ctxlib.figures.calibration import WAYS
from ctxlib.figures.shown import Grid, say
from ctxlib.parameters import count as whole


class Column(NamedTuple):
    """How a column of a frame is printed."""

    header: str
    form: Callable[[Any], str]
    text: bool = False  # left-aligned


def _number(value: Any) -> str:
    return f"{int(value):,}"


def ratio(value: Any) -> str:
    """A ratio with two digits."""
    return f"{float(value):.2f}"


def _flag(value: Any) -> str:
    return "yes" if value else ""


def _share(value: Any) -> str:
    return words.percent(float(value))


def _tokens(value: Any) -> str:
    return words.tokens(float(value))


def _usd(value: Any) -> str:
    return words.usd(float(value))


def _points(value: Any) -> str:
    return words.percent(float(value) / 100)


def _name(value: Any) -> str:
    return words.short(value, 30)


def _said(value: Any) -> str:
    return words.short(value, 60)


def _cause(value: Any) -> str:
    return CAUSES.get(str(value), words.short(value, 30))


def _change(value: Any) -> str:
    return f"{'+' if value >= 0 else '-'}{words.percent(abs(float(value)))}"


def _line(value: Any) -> str:
    return words.short(WAYS.get(str(value), value), 46)


def _moment(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}"


def _many(names: str, form: Callable[[Any], str], *, text: bool = False) -> dict[str, Column]:
    out = {}
    for item in names.split(", "):
        name, _, header = item.partition("=")
        out[name] = Column(header or name.replace("_", " "), form, text)
    return out


METHODS: dict[str, str] = {
    "counted": "counted by /context",
    "delta": "measured rises",
    "estimate": "estimate",
    "residual": "total less the rest",
}
COLUMNS: dict[str, Column] = {
    **_many(
        "shown=tokens, tokens, total, other, at_start=from the start, arrived=arrived later, ctx_before=before,"
        " ctx_after=after, before=log says before, after=log says after, written=written anew, reread=read again,"
        " peak_ctx=peak, last_ctx=last, median, p10, p90, ctx, window, rent, read, write, uncached, write_5m=written for 5 min,"
        " write_1h=written for 1 h, output, result_tokens=tokens, growth, drift, counted_total=/context says,"
        " last_tokens=tokens before, this_tokens=tokens now, none=no reason, compaction=compacted away,"
        " shell=after a command, external=changed outside, constant=by 4 characters, fit=by the fit, delta=by rises, injected",
        _tokens,
    ),
    **_many(
        "share, share_p10=p10 of sessions, share_p90=p90 of sessions, left, errors_share=failed, measured, off=off by,"
        " read_share=read from cache, write_5m_share=written for 5 min, write_1h_share=written for 1 h,"
        " uncached_share=not cached, tokens_share=share of tokens, median_share=median, p90_share=p90",
        _share,
    ),
    **_many("peak_pct=of window, pct=of window", _points),
    **_many(
        "usd=USD, read_usd=reads, write_5m_usd=5 min writes, write_1h_usd=1 h writes, output_usd=output, last_usd=USD before,"
        " this_usd=USD now",
        _usd,
    ),
    **_many(
        "turn, sessions, calls, agents, agent_calls=sub-agent calls, back=turns to 80 %, peak_turn=at turn, results, errors,"
        " blocks, times, n=rises, line, files, since=since turn, over_150k=pass 150k, over_250k=pass 250k, "
        "last_sessions=sessions before, this_sessions=sessions now, epochs",
        _number,
    ),
    **_many("chars_per_token=characters a token", ratio),
    **_many("change", _change),
    **_many("what, reason", _said, text=True),
    **_many("cause", _cause, text=True),
    **_many("label=from, thread, way", _line, text=True),
    **_many("gap_min=pause", lambda value: words.duration(60 * float(value))),
    **_many("ts=time (UTC), started=started (UTC), ended=ended (UTC)", _moment, text=True),
    **_many("session", lambda value: words.session(str(value)), text=True),
    **_many("category=part", lambda value: style.look(str(value)).label, text=True),
    **_many("method=known by", lambda value: METHODS.get(str(value), words.short(value)), text=True),
    **_many("kind", lambda value: words.short(value).replace("_", " "), text=True),
    **_many(
        "project, model, path=file, file, tool, server, trigger, window_source=window known from, source, name",
        _name,
        text=True,
    ),
    **_many("logged=log says so, after_compaction, after_shell, after_external, is_error=failed", _flag),
}


def table(frame: pd.DataFrame, columns: str, *, top: object = 100, **forms: Callable[[Any], str]) -> Grid:
    """The first `top` rows: `columns` names columns of the frame, with spaces between; `forms` prints one otherwise.

    What is missing is an empty cell; what is left out is said below.
    """
    names = columns.split()
    most = whole(top, "top")
    specs = [COLUMNS[name] for name in names]
    rows = [
        [_cell(value, forms.get(name, spec.form)) for name, spec, value in zip(names, specs, row, strict=True)]
        for row in frame[names].head(most).itertuples(index=False, name=None)
    ]
    return grid([spec.header for spec in specs], rows, [spec.text for spec in specs], rest=max(0, len(frame) - most))


def _cell(value: Any, form: Callable[[Any], str]) -> str:
    missing = value is None or (pd.api.types.is_scalar(value) and pd.isna(value))
    return "" if missing else form(value)


def grid(headers: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[bool], *, rest: int = 0) -> Grid:
    """A table of texts; `texts` tells which columns are left-aligned, `rest` how many rows were left out."""
    if not rows:
        return say(canvas.sentence())
    aligned = [' style="text-align: left; white-space: nowrap"' if text else "" for text in texts]
    head = "".join(f'<th scope="col"{how}>{html.escape(name)}</th>' for name, how in zip(headers, aligned, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{how}>{html.escape(cell)}</td>" for cell, how in zip(row, aligned, strict=True)) + "</tr>"
        for row in rows
    )
    note = f"and {words.count(rest, 'more row')}" if rest else ""
    widths = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(headers)]
    lines = ["  ".join(map(_padded, row, widths, texts)) for row in [list(headers), *rows]]
    markup = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    text = "\n".join(line.rstrip() for line in [*lines, *([note] if note else [])])
    return Grid(markup + (f"\n<p>{note}</p>" if note else ""), text)


def _padded(cell: str, width: int, text: bool) -> str:
    return cell.ljust(width) if text else cell.rjust(width)


def facts(rows: Mapping[str, str]) -> Grid:
    """A table of two columns: what, and how much."""
    return grid(["what", "value"], [[name, value] for name, value in rows.items()], [True, False])
