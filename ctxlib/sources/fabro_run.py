"""A run of Fabro: its `run.json` or its `events.jsonl`, as `fabro dump` writes them (formats.md, section 7).

A stage is the unit that has a context window, so it is the session here: `<run id>/<stage id>`, thread kind `stage`. A
stage's `usage` in run.json is a sum over all its calls, never an occupancy: usage_scope `stage`. What Fabro says of a
stage's context goes to the `told` table. Unknown events are passed over and noted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ctxlib.sources import fabro_events
from ctxlib.sources.base import Extract, Rows
from ctxlib.sources.claude_code import instant
from ctxlib.sources.entries import code, held, label, line, number, text, told, usage
from ctxlib.sources.fabro_window import counts, model_of, snapshot
from ctxlib.tables import LineKind, UsageScope


def read_file(path: str) -> Extract:
    """The rows of a run.json or an events.jsonl. Raises OSError where it cannot be read."""
    data = Path(path).read_bytes()
    rows = Rows()
    if path.endswith(".jsonl"):
        lines = fabro_events.read(rows, data)
        return rows.extract(lines=lines, end=len(data), open_tail=False)
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        rows.note(1, "half_written" if "truncated" in str(error) else "no_json")
        document = None
    if isinstance(document, dict):
        _run(rows, document)
    return rows.extract(lines=1, end=len(data), open_tail=False)


def _run(rows: Rows, document: dict[str, Any]) -> None:
    spec = held(document, "spec")
    run = label(text(spec.get("run_id")) or text(held(document, "start").get("run_id")))
    cwd, version = text(spec.get("source_directory")), label(text(held(spec, "provenance", "server").get("version")))
    if not run:
        rows.note(1, "no_run_id")
        return
    started = instant(text(held(document, "start").get("start_time")))
    row = line(rows, 1, LineKind.OTHER, session=run, ts=started, id=run, cwd=cwd, version=version)
    told(rows, row, "run", run)
    stages = held(document, "stages")
    older = _node_usage(held(document, "checkpoint"), document.get("checkpoints"))
    for stage in sorted(stages, key=lambda name: number(held(stages, name).get("first_event_seq"))):
        _stage(rows, run, stage, held(stages, stage), older.get(stage, {}), cwd, version)


def _stage(
    rows: Rows, run: str, stage: str, state: dict[str, Any], older: dict[str, Any], cwd: str, version: str
) -> None:
    """One stage: its line, its sum, and the last snapshot of its context."""
    done = held(state, "completion")
    ts = instant(text(done.get("timestamp")) or text(state.get("started_at")))
    name = label(stage)
    row = line(
        rows,
        1,
        LineKind.OTHER,
        session=f"{run}/{name}",
        agent=name,
        ts=ts,
        id=f"{run}/{name}",
        cwd=cwd,
        version=version,
    )
    used = held(state, "provider_used")
    told(rows, row, "stage", code(state.get("handler")) or code(used.get("mode")))
    told(rows, row, "state", code(state.get("state")) or (code(done.get("outcome"), "ended") if done else "running"))
    sums = counts(held(state, "usage") or older)
    if sums.ctx > 0 or sums.output > 0:
        model = model_of(state) or model_of(older) or text(used.get("model"))
        usage(rows, row, f"{run}/{name}/usage", sums, model=model, scope=UsageScope.STAGE)
    window = state.get("context_window") or held(state, "agent").get("context_window")
    if isinstance(window, dict):
        snapshot(rows, row, window, number(window.get("event_seq"), -1))


def _node_usage(last: dict[str, Any], kept: Any) -> dict[str, dict[str, Any]]:
    """Stage -> its sums, in runs whose stages hold none (to May 2026): they stand in the last checkpoint, by node."""
    if not last and isinstance(kept, list) and kept:
        last = held(kept[-1], "checkpoint")
    visits = held(last, "node_visits")
    out: dict[str, dict[str, Any]] = {}
    for node, outcome in held(last, "node_outcomes").items():
        spent = held(outcome, "usage", "input")
        if spent:
            facts = {key: spent["facts"][key] for key in held(spent, "facts") if key.startswith("cache_write_")}
            out[f"{node}@{number(visits.get(node), 1)}"] = {**held(spent, "usage"), **facts}
    return out
