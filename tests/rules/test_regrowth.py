"""After a compaction: how fast the context grows back, and what is read again."""

from __future__ import annotations

from typing import Any

from ctxlib.rules.regrowth import regrowth_curves_df, regrowth_df


def test_how_a_context_grows_back(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.call(90_000, make.use("Read", "t1", file_path="/a"))
    s.result("t1", "x" * 400)
    s.call(100_000)
    s.boundary("auto", 101_000)
    s.summary()
    s.call(30_000, make.use("Read", "t2", file_path="/a"))
    s.result("t2", "x" * 400)
    for size in (60_000, 80_000, 95_000):
        s.call(size)
    s.boundary("auto", 99_000)
    s.summary()
    s.call(20_000)
    logs = scanned(s)
    rows = regrowth_df(logs)[["turn", "ctx_before", "ctx_after", "calls", "back", "reread"]]
    assert rows.iloc[0].tolist() == [3, 100_000, 30_000, 4, 3, 100]
    assert rows.iloc[1].drop("back").tolist() == [7, 95_000, 20_000, 1, 0]
    assert rows["back"].isna().tolist() == [False, True]
    curve = regrowth_curves_df(logs)
    assert curve[curve["compaction"] == 0]["ctx"].tolist() == [30_000, 60_000, 80_000, 95_000]
    assert curve["share"].tolist()[0] == 0.3


def test_without_a_compaction_there_is_nothing(make: Any, scanned: Any) -> None:
    logs = scanned()
    assert (len(regrowth_df(logs)), len(regrowth_curves_df(logs))) == (0, 0)
