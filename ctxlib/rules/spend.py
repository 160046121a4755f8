"""What each call paid, by kind: at the list prices of its day (X-cache), sides apart and 5-minute writes from 1-hour ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ctxlib.logs import Logs
from ctxlib.rules.cache import costs
from ctxlib.tables import ThreadKind, frame

if TYPE_CHECKING:
    import pandas as pd


_AGENT_FOLDERS = re.compile(r"(/(\.config/claude|\.claude|\.fabro|\.openprogram[^/]*))?(/projects)?/*$")


def machines(roots: Sequence[str]) -> dict[str, str]:
    """Root -> the machine that it stands for. No log names its machine, so it is the last part of the folder that the
    agent's own folders lie in, with as many parts before it as it takes to tell the roots apart."""
    folders = {root: (_AGENT_FOLDERS.sub("", root.replace("\\", "/")) or root).split("/") for root in roots}
    count = 1
    while count < max(map(len, folders.values()), default=1):
        if len({tuple(parts[-count:]) for parts in folders.values()}) == len(folders):
            break
        count += 1
    return {root: "/".join(parts[-count:]) for root, parts in folders.items()}


def spend_df(logs: Logs) -> pd.DataFrame:
    """One row a call of the window, each once, in time order: session, thread ("main" or the agent), project, machine, model,
    ts, turn (of its thread, from 1), the tokens uncached, read, write_5m, write_1h, output, the USD uncached_usd, read_usd,
    write_5m_usd, write_1h_usd, output_usd, usd (their sum), priced (False: no price is known, USD are 0)."""
    calls = logs.own_calls
    calls = calls[np.lexsort((calls["pos"], calls["ts"]))]
    cost, names, threads = costs(logs, calls), logs.names, logs.threads[calls["thread"]]
    short = calls.copy()
    short["cache_write_1h"] = 0
    written_5m = costs(logs, short)["cache_write"]
    main = threads["kind"] == ThreadKind.MAIN
    named = machines(sorted({info.root for info in logs.files}))
    of_file = [named[info.root] for info in logs.files]
    sides = {
        "uncached_usd": cost["input"],
        "read_usd": cost["cache_read"],
        "write_5m_usd": written_5m,
        "write_1h_usd": cost["cache_write"] - written_5m,
        "output_usd": cost["output"],
    }
    return frame(
        {
            "session": names.texts(threads["session"]),
            "thread": [
                "main" if flag else name for flag, name in zip(main, names.texts(threads["agent"]), strict=True)
            ],
            "project": names.texts(threads["project"]),
            "machine": [of_file[file] for file in threads["file"].tolist()],
            "model": names.texts(calls["model"]),
            "ts": calls["ts"],
            "turn": calls["seq"] + 1,
            "uncached": calls["input"],
            "read": calls["cache_read"],
            "write_5m": calls["cache_write_5m"],
            "write_1h": calls["cache_write_1h"],
            "output": calls["output"],
            **sides,
            "usd": sum(sides.values(), np.zeros(len(calls))),
            "priced": cost["priced"],
        },
        times=("ts",),
    )
