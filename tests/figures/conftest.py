"""Small frames to draw, and the sample logs read once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

import ctxlib as ctx

mpl.use("agg")

HOSTILE = "<script>alert(1)</script>/$x_1$ \x1b[31m{y}"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure outlives its test."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def sample() -> Any:
    """The sample logs."""
    return ctx.open_logs("")


@pytest.fixture(scope="session")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A root without sessions."""
    (root := tmp_path_factory.mktemp("empty") / "projects").mkdir()
    return ctx.scan(root, since="all", use_store=False)


def times(count: int, start: str = "2026-07-01T10:00", step: str = "1min") -> pd.DatetimeIndex:
    return pd.date_range(start, periods=count, freq=step, tz="UTC")


def parts(
    turns: list[dict[str, int]], *, session: str = "s1", project: str = "/p", window: int | None = 200_000
) -> pd.DataFrame:
    """kinds_df of one main thread: a dict of category -> tokens a turn."""
    names = list(dict.fromkeys(name for turn in turns for name in turn))
    rows = [
        {
            "session_id": session,
            "thread_id": "main",
            "project": project,
            "seq": seq,
            "turn": seq + 1,
            "epoch": 0,
            "ts": times(len(turns))[seq],
            "model": "m",
            "category": name,
            "raw": turn.get(name, 0),
            "shown": turn.get(name, 0),
            "injected": 0,
            "method": "residual" if name == "other" else "delta",
            "total": sum(turn.values()),
            "basis": "measured",
            "window": window,
        }
        for seq, turn in enumerate(turns)
        for name in names
    ]
    return pd.DataFrame(rows).astype({"window": "Int64"})


def curves(
    sessions: dict[str, list[int]], *, project: str = "/p", model: str = "m", window: int = 200_000
) -> pd.DataFrame:
    """curves_df: session -> ctx of each turn."""
    rows = [
        {"session": name, "project": project, "model": model, "turn": turn, "ctx": ctx, "window": window}
        for name, sizes in sessions.items()
        for turn, ctx in enumerate(sizes, 1)
    ]
    df = pd.DataFrame(rows, columns=["session", "project", "model", "turn", "ctx", "window"])
    df["pct"] = (100 * df["ctx"] / df["window"]).astype("Float64")
    return df


def compactions(pairs: list[tuple[int | None, int | None, int | None]], project: str = "/p") -> pd.DataFrame:
    """compactions_df: (ctx_before, ctx_after, after as the log says)."""
    rows = [
        {
            "session": f"s{i}",
            "thread": "main",
            "project": project,
            "ts": times(len(pairs))[i],
            "kind": "full",
            "trigger": "auto",
            "before": before,
            "before_source": "call",
            "after": after if told is None else told,
            "after_source": "call" if told is None else "metadata",
            "ctx_before": before,
            "ctx_after": after,
        }
        for i, (before, after, told) in enumerate(pairs)
    ]
    df = pd.DataFrame(rows, columns=[*rows[0]] if rows else COMPACTION)
    return df.astype(dict.fromkeys(("before", "after", "ctx_before", "ctx_after"), "Int64"))


COMPACTION = [
    "session",
    "thread",
    "project",
    "ts",
    "kind",
    "trigger",
    "before",
    "before_source",
    "after",
    "after_source",
    "ctx_before",
    "ctx_after",
]


def spend(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """spend_df: what a row leaves out is a main call of s1 now, of nothing."""
    sides = ("uncached", "read", "write_5m", "write_1h", "output")
    base: dict[str, Any] = {"session": "s1", "thread": "main", "project": "/p", "model": "m", "turn": 1, "priced": True}
    full = [
        {
            **base,
            "ts": times(1)[0],
            **dict.fromkeys(sides, 0),
            **{f"{side}_usd": 0.0 for side in sides},
            "usd": sum(float(row.get(f"{side}_usd", 0.0)) for side in sides),
            **row,
        }
        for row in rows
    ]
    columns = [*base, "ts", *sides, *(f"{side}_usd" for side in sides), "usd"]
    df = pd.DataFrame(full, columns=columns)
    return df.astype({"ts": "datetime64[us, UTC]", **{f"{side}_usd": "float64" for side in sides}, "usd": "float64"})


class Frames:
    """The builders above, as a fixture."""

    hostile = HOSTILE
    times = staticmethod(times)
    parts = staticmethod(parts)
    curves = staticmethod(curves)
    compactions = staticmethod(compactions)
    spend = staticmethod(spend)


@pytest.fixture(scope="session")
def frames() -> type[Frames]:
    return Frames


def texts_of(ax: Any) -> str:
    """All words of an axes: labels, ticks, annotations, legend."""
    legend = ax.get_legend()
    found = [ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]
    if ax.axison:
        found += [tick.get_text() for tick in (*ax.get_xticklabels(), *ax.get_yticklabels())]
    found += [text.get_text() for text in legend.get_texts()] if legend else []
    return "\n".join(found)


@pytest.fixture(scope="session")
def texts() -> Any:
    return texts_of


def line_of(ax: Any, gid: str) -> Any:
    """The line with a gid: (xs, ys)."""
    line = next(line for line in ax.lines if line.get_gid() == gid)
    return [float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()]


@pytest.fixture(scope="session")
def line() -> Any:
    return line_of
