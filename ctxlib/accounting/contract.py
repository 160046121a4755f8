"""The contract's snapshot: how much is occupied, with what, and what cannot be reconstructed; one object, one moment.

Every source's figures become this object: our own replay of a log (moment.py) and what Fabro, OpenProgram and /context
say of themselves. Both published shapes (shapes.py) are views of it. It holds counts, ids and names, never text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ctxlib.accounting.arithmetic import settle
from ctxlib.tables import NULL, Category

CATEGORIES = tuple(c.name.lower() for c in Category if c not in (Category.NONE, Category.OTHER))
OTHER = "other"
NESTED = ("skills", "memory", "agents", "deferred")  # inside the system prompt: subtracted from it


class Part(NamedTuple):
    """One category of a snapshot, in tokens."""

    category: str  # of CATEGORIES, or `other`
    raw: int  # the estimate before it was settled against the total
    shown: int  # integers: over all parts they sum to the total
    method: str  # counted, delta, estimate, residual
    name: str = ""  # what the source itself calls it


class Detail(NamedTuple):
    """What a part is made of, unscaled: a tool, a file, a kind of block, a skill."""

    of: str  # tool, file, kind: of messages; schema, skill, memory: of the part that they name
    label: str
    tokens: int
    blocks: int = 0
    server: str = ""
    deferred: bool = False


class Warned(NamedTuple):
    code: str
    message: str  # never repeats content


@dataclass(frozen=True)
class Snapshot:
    """How full a context is at one call (accounting.md). Tokens."""

    session: str
    model: str
    basis: str  # measured (response usage), counted (a provider's count), estimated
    total: int  # the provider's input side where measured or counted, else the classified sum
    parts: tuple[Part, ...]  # `other` last
    factor: float = 1.0  # what the parts shrank by, because they exceeded the measured total
    window: int | None = None
    window_source: str = ""
    thread: str = "main"
    turn: int | None = None  # call of the thread, from 1
    ts: int | None = None  # milliseconds since the epoch, UTC
    provider: str = ""
    source: str = "claude_code"
    injected: int = 0  # tokens of `other` that arrived within the epoch with no block in the log
    residual_policy: str = "explicit"  # or absorbed (spread over the categories by the source), or none
    tools_source: str = "not_recorded"
    details: tuple[Detail, ...] = ()
    warnings: tuple[Warned, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def free(self) -> int | None:
        """max(0, window - total); None where the window is not known."""
        return None if self.window is None else max(0, self.window - self.total)

    @property
    def percent(self) -> float | None:
        """Of the window, 0-100; None where it is not known."""
        return None if not self.window else 100 * self.total / self.window

    @property
    def estimated(self) -> int:
        """The sum of the raw parts: the same calculation that gave the parts."""
        return sum(part.raw for part in self.parts)

    def shown(self) -> dict[str, int]:
        """category -> tokens, `other` included."""
        out: dict[str, int] = {}
        for part in self.parts:  # a source may tell a category in several parts, each under its own name
            out[part.category] = out.get(part.category, 0) + part.shown
        return out

    def to_session_context(self) -> dict[str, object]:
        """The object of GET /api/sessions/{id}/context."""
        from ctxlib.accounting.shapes import session_context

        return session_context(self)

    def to_stage_context_window(self) -> dict[str, object]:
        """The object of GET /api/v1/runs/{id}/stages/{stageId}/context-window (StageContextWindow)."""
        from ctxlib.accounting.shapes import stage_context_window

        return stage_context_window(self)

    def _repr_html_(self) -> str:
        from ctxlib.accounting.view import html

        return html(self)

    def __str__(self) -> str:
        from ctxlib.accounting.view import text

        return text(self)


def compose(
    raw: Mapping[str, float],
    *,
    measured: int | None,
    basis: str = "measured",
    methods: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    **about: object,
) -> Snapshot:
    """A snapshot of raw estimates (category -> tokens, nested parts already out of their parent) and a total.

    `measured` None: nothing was measured, the total is the classified sum and the basis `estimated`. Raises ValueError
    for a category that is none of ours. `about`: further fields of Snapshot.
    """
    unknown = sorted(set(raw) - set(CATEGORIES))
    if unknown:
        raise ValueError(f"no such category: {', '.join(unknown)}")
    values = np.array([[max(0.0, float(raw.get(name, 0))) for name in CATEGORIES]])
    rounded = np.rint(values)
    settled = settle(rounded, np.array([NULL if measured is None else max(0, measured)]))
    shown = settled.shown[0].tolist()
    methods, names = methods or {}, names or {}
    parts = [
        Part(name, int(rounded[0, i]), shown[i], methods.get(name, "estimate"), names.get(name, name))
        for i, name in enumerate(CATEGORIES)
        if rounded[0, i] or shown[i]
    ]
    parts.append(Part(OTHER, 0, shown[-1], "residual", names.get(OTHER, OTHER)))
    return Snapshot(
        basis="estimated" if measured is None else basis,
        total=int(settled.total[0]),
        parts=tuple(parts),
        factor=float(settled.factor[0]),
        **about,  # type: ignore[arg-type]
    )


def unnested(estimates: Mapping[str, float], nested: Iterable[str] = NESTED) -> dict[str, float]:
    """Takes the parts that lie inside the system prompt out of it, so that nothing counts twice (contract, 03)."""
    out = dict(estimates)
    inside = sum(out.get(name, 0.0) for name in nested)
    out["system_prompt"] = max(0.0, out.get("system_prompt", 0.0) - inside)
    return out


def deduplicated(warnings: Sequence[Warned]) -> tuple[Warned, ...]:
    """One warning a code, the first."""
    first: dict[str, Warned] = {}
    for warning in warnings:
        first.setdefault(warning.code, warning)
    return tuple(first.values())
