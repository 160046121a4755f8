"""What Fabro and OpenProgram say of their own contexts, as snapshots: the facts that a scan found in the table `told`.

A later snapshot replaces an earlier one of the same agent. Fabro spreads the provider's total over its categories
(residual_policy `absorbed`), OpenProgram shows the difference (`explicit`): shares under different policies are not
compared unmarked (accounting.md, Categories).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ctxlib.accounting.arithmetic import settle
from ctxlib.accounting.contract import CATEGORIES, OTHER, Detail, Part, Snapshot, deduplicated
from ctxlib.accounting.shapes import NotFound, iso, stage_context_window, unavailable_stage
from ctxlib.accounting.told_words import OF_ESTIMATE, warned
from ctxlib.logs import Logs
from ctxlib.models import list_window
from ctxlib.rules.windows import windows
from ctxlib.tables import NO_TIME, NULL, Category, frame

if TYPE_CHECKING:
    import pandas as pd

_POLICY = {"fabro": "absorbed", "openprogram": "explicit"}
_BASIS = {
    "provider_api_scaled_breakdown": "counted",
    "response_usage_scaled_breakdown": "measured",
    "provider_usage": "measured",
    "anthropic_count_api": "counted",
}
_AGENT = ("agent", "acp", "cli")  # handlers and modes of stages that have a context window
_LIVE = ("", "running", "pending", "queued", "starting", "retrying", "paused", "blocked", "waiting")


class _Fact(NamedTuple):
    kind: str
    category: int
    name: str
    server: str
    value: int


class _Told(NamedTuple):
    """All facts of a line, and where it stands."""

    line: int
    thread: int
    ts: int
    facts: list[_Fact]

    def of(self, kind: str) -> Iterator[_Fact]:
        return (fact for fact in self.facts if fact.kind == kind)

    def value(self, kind: str) -> int:
        return next((fact.value for fact in self.of(kind)), NULL)

    def name(self, kind: str) -> str:
        return next((fact.name for fact in self.of(kind)), "")

    @property
    def rank(self) -> tuple[int, int, int]:
        """Later is larger: by the time of the snapshot, its event, its place."""
        made = self.value("generated")
        return (self.ts if made in (NULL, NO_TIME) else made, self.value("seq"), self.line)


class _Agent(NamedTuple):
    """What was told of one agent: its latest snapshot, and what else is known of it."""

    last: _Told | None
    missing: bool  # a later message brought none
    kinds: set[str]  # handlers of its stage
    ended: bool
    reason: str  # why there is none, where the source says it


def told_snapshots(logs: Logs) -> list[Snapshot]:
    """The latest snapshot that each stage (Fabro) or session (OpenProgram) told of itself within the window, in log order."""
    out = []
    for agent in _agents(logs).values():
        if agent.last is None:
            continue
        project = logs.names.strings[logs.threads["project"][agent.last.thread]]
        dated = agent.last.ts == NO_TIME or logs.span.since <= agent.last.ts < logs.span.until
        if dated and logs.project.casefold() in project.casefold():
            out.append(_snapshot(logs, agent))
    return out


def stage_view(logs: Logs, run: str, stage: str) -> dict[str, Any]:
    """StageContextWindow of a Fabro stage, whatever the window of time. A stage without data is available false, with the
    reason; raises NotFound for a run or a stage that no log names."""
    if run not in {fact.name for told in _told(logs) for fact in told.of("run")}:
        raise NotFound("run", run)
    agent = _agents(logs).get((f"{run}/{stage}", stage))
    if agent is None:
        raise NotFound("stage", stage)
    if agent.last is not None:
        return stage_context_window(_snapshot(logs, agent))
    if agent.reason == "provider_unconfigured":
        return unavailable_stage(stage, agent.reason, "The provider is not configured: nothing was counted.")
    if agent.kinds and not agent.kinds & set(_AGENT):
        return unavailable_stage(stage, "not_agent_stage", "Context-window data is only available for agent stages.")
    return unavailable_stage(stage, "not_observed", "No context-window snapshot has been observed for this stage.")


@lru_cache(maxsize=2)
def _told(logs: Logs) -> list[_Told]:
    table, strings = logs.told, logs.names.strings
    order = np.argsort(table["line"], kind="stable")
    out: list[_Told] = []
    for line, kind, category, name, server, value in table[order].tolist():
        if not out or out[-1].line != line:
            out.append(_Told(line, int(logs.line_thread[line]), int(logs.lines["ts"][line]), []))
        out[-1].facts.append(_Fact(strings[kind], category, strings[name], strings[server], value))
    return out


@lru_cache(maxsize=2)
def _agents(logs: Logs) -> dict[tuple[str, str], _Agent]:
    """(session, agent) -> what was told of it, over all files that tell of it, in log order."""
    names, threads = logs.names.strings, logs.threads
    grouped: dict[tuple[str, str], list[_Told]] = {}
    for told in _told(logs):
        thread = threads[told.thread]
        grouped.setdefault((names[thread["session"]], names[thread["agent"]]), []).append(told)
    out = {}
    for key, group in grouped.items():
        if all(told.name("run") for told in group):
            continue  # the run itself
        held = [told for told in group if any(told.of("total"))]
        last = max(held, key=lambda told: told.rank, default=None)
        later = (told for told in group if any(told.of("missing")))
        missing = last is not None and any(told.line > last.line and told.ts >= last.ts for told in later)
        kinds = {fact.name for told in group for fact in told.of("stage")} - {""}
        ended = any(fact.name not in _LIVE for told in group for fact in told.of("state"))
        reason = next((fact.name for told in group[::-1] for fact in told.of("unavailable")), "")
        out[key] = _Agent(last, missing, kinds, ended, reason)
    return out


def _snapshot(logs: Logs, agent: _Agent) -> Snapshot:
    told = agent.last
    assert told is not None
    thread, names = logs.threads[told.thread], logs.names.strings
    source = logs.files[thread["file"]].source
    session, method, model = names[thread["session"]], told.name("total"), told.name("model")
    told_total, parts = told.value("total"), list(told.of("part"))
    basis = _BASIS.get(method, "estimated") if told_total != NULL else "estimated"
    settled, factor, total = _settled(parts, told_total)
    window = _window(logs, told, model, source)
    codes = [(fact.name, fact.value) for fact in told.of("warning")]
    codes = [pair for pair in codes if basis == "estimated" or pair[0] not in OF_ESTIMATE]
    codes += [("estimate_missing", 0)] if agent.missing else []
    codes += [("local_token_estimate", 0)] if basis == "estimated" else []
    made = told.value("generated")
    extra: dict[str, object] = {
        "stage_id": session.rpartition("/")[2],
        "staleness": "stored" if agent.ended else told.name("staleness") or "live",
        "generated_at": iso(told.ts if made in (NULL, NO_TIME) else made)
        if (made, told.ts) != (NULL, NO_TIME)
        else None,
        "event_seq": None if told.value("seq") == NULL else told.value("seq"),
    }
    if source == "fabro":
        known = {"count_method": method} if method in _BASIS or method == "local_estimate" else {}
        extra |= {"run_id": session.rpartition("/")[0], **known}
    return Snapshot(
        session=session,
        model=model,
        basis=basis,
        total=total,
        parts=settled,
        factor=factor,
        window=window[0] if window else None,
        window_source=window[1] if window else "",
        thread=names[thread["agent"]] or "main",
        ts=None if told.ts == NO_TIME else told.ts,
        provider=told.name("provider"),
        source=source,
        residual_policy=_POLICY.get(source, "none"),
        tools_source=told.name("tools_source") or "not_recorded",
        details=tuple(
            Detail("schema", fact.name, fact.value, 0, fact.server, fact.category == Category.DEFERRED)
            for fact in told.of("tool")
        ),
        warnings=deduplicated([warned(code, tokens) for code, tokens in codes]),
        extra=extra,
    )


def _window(logs: Logs, told: _Told, model: str, source: str) -> tuple[int, str] | None:
    if told.value("window") > 0:
        return told.value("window"), source
    return windows(logs).get(model) or list_window(model, logs.prices)


def _settled(parts: Sequence[_Fact], total: int) -> tuple[tuple[Part, ...], float, int]:
    """(parts, factor, total): each under the source's own name, together exactly the total; what they lack is other."""
    values = np.array([[fact.value for fact in parts]], "f8").reshape(1, -1)
    found = settle(values, np.array([total]))
    shown = found.shown[0].tolist()
    named = [
        Part(Category(fact.category).name.lower(), fact.value, tokens, "estimate", fact.name)
        for fact, tokens in zip(parts, shown, strict=False)
    ]
    named.sort(key=lambda part: CATEGORIES.index(part.category))
    return (*named, Part(OTHER, 0, shown[-1], "residual", OTHER)), float(found.factor[0]), int(found.total[0])


def told_snapshots_df(logs: Logs) -> pd.DataFrame:
    """The parts of what each source told of itself, long form, all categories: the columns of `snapshots_df` (seq, turn and
    epoch are not known; raw: tokens as told, shown: integers that sum to total) and residual_policy, source."""
    rows = []
    for snap in told_snapshots(logs):
        for category in (*CATEGORIES, OTHER):
            own = [part for part in snap.parts if part.category == category]
            rows.append((snap, category, sum(part.raw for part in own), sum(part.shown for part in own)))
    projects = {
        (logs.names.strings[thread["session"]]): logs.names.strings[thread["project"]] for thread in logs.threads
    }
    return frame(
        {
            "session_id": [snap.session for snap, *_ in rows],
            "thread_id": [snap.thread for snap, *_ in rows],
            "project": [projects[snap.session] for snap, *_ in rows],
            **dict.fromkeys(("seq", "turn", "epoch"), np.full(len(rows), NULL)),
            "ts": np.array([NO_TIME if snap.ts is None else snap.ts for snap, *_ in rows], "i8"),
            "model": [snap.model for snap, *_ in rows],
            "category": [category for _, category, _, _ in rows],
            "raw": [raw for _, _, raw, _ in rows],
            "shown": [shown for *_, shown in rows],
            "injected": np.zeros(len(rows), "i8"),
            "method": ["residual" if category == OTHER else "estimate" for _, category, _, _ in rows],
            "total": [snap.total for snap, *_ in rows],
            "basis": [snap.basis for snap, *_ in rows],
            "window": [NULL if snap.window is None else snap.window for snap, *_ in rows],
            "residual_policy": [snap.residual_policy for snap, *_ in rows],
            "source": [snap.source for snap, *_ in rows],
        },
        nullable=("seq", "turn", "epoch", "window"),
        times=("ts",),
    )
