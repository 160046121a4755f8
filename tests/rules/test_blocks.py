"""Blocks and notes as frames: what entered the context, and what could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctxlib.rules.blocks import blocks_df, notes_df


def test_each_block_once_with_its_size_and_stay(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.prompt("x" * 5)
    s.call(1000, make.use("mcp__srv__get", "t1"), make.said("y"))
    s.result("t1", "z" * 9)
    s.boundary("manual")
    s.summary("w")
    s.call(900)
    df = blocks_df(scanned(s))
    assert df[["kind", "tool", "server", "born"]].to_numpy().tolist() == [
        ["user_text", "", "", 0],
        ["tool_input", "mcp__srv__get", "srv", 1],
        ["assistant_text", "", "", 1],
        ["tool_result", "mcp__srv__get", "srv", 1],
        ["summary", "", "", 1],
        ["assistant_text", "", "", 2],
    ]
    assert df["tokens"].tolist()[:1] == [2]
    assert df["cleared"].isna().tolist() == [False] * 4 + [True] * 2


def test_attachments_have_their_category(make: Any, scanned: Any) -> None:
    s = make.Session()
    kinds = ["skill_listing", "agent_listing_delta", "mcp_instructions_delta", "deferred_tools_delta", "nested_memory"]
    for kind in [*kinds, "task_reminder"]:
        s.attach(kind, content="x" * 8, path="/m" if kind == "nested_memory" else None)
    s.attach("hook_success", content="not sent", stdout="not sent")
    s.call(1000)
    df = blocks_df(scanned(s))
    assert df["category"].tolist() == ["skills", "agents", "mcp_tools", "deferred", "memory", "messages", "messages"]
    assert df["chars"].tolist() == [8, 8, 8, 8, 8, 8, 2]


def test_nested_memory_is_sized_by_its_content(make: Any, scanned: Any) -> None:
    s = make.Session()
    s.attach(
        "nested_memory", path="/p/CLAUDE.md", content={"path": "/p/CLAUDE.md", "type": "Project", "content": "x" * 7}
    )
    assert blocks_df(scanned(s))["chars"].tolist() == [7]


def test_what_was_skipped_is_listed(make: Any, scanned: Any, tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-u-proj"
    folder.mkdir(parents=True)
    (folder / "bad.jsonl").write_bytes(b'no json\n\0\0\0\n{"type":"user"')
    (folder / "dead.jsonl").symlink_to(folder / "nowhere")
    df = notes_df(scanned())
    assert df["cause"].tolist()[:3] == ["no_json", "nul_line", "half_written"]
    assert df["line"].tolist()[:3] == [1, 2, 3]
    assert Path(df["file"].iloc[3]).name == "dead.jsonl"
    assert df["line"].isna().tolist() == [False] * 3 + [True]
