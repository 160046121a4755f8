"""Every log below the roots is read once, and what cannot be entered is named (scan.md, Reading files)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ctxlib import scan
from ctxlib.logs.discover import find
from ctxlib.roots import roots_of


def names(roots: list[Path], since_ms: int = 0) -> list[str]:
    found, lost = find(roots, since_ms=since_ms)
    assert not lost
    return [Path(file.path).name for file in found]


@pytest.fixture
def root(make: Any, tmp_path: Path) -> Path:
    for name in ("b", "a"):
        s = make.Session(name)
        s.call(1000)
        s.write(tmp_path / "projects")
    return tmp_path / "projects"


def test_nested_and_repeated_roots_read_a_file_once(root: Path) -> None:
    folder = root / "-home-u-proj"
    for order in ([root, folder], [folder, root], [root, root], [root / ".." / "projects", root]):
        assert names(order) == ["a.jsonl", "b.jsonl"]


def test_hidden_folders_are_walked(make: Any, root: Path) -> None:
    make.Session("c", path=".hidden/.more/c.jsonl").write(root)
    assert sorted(names([root])) == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_link_loops_end_and_links_count_once(root: Path, tmp_path: Path) -> None:
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "-home-u-proj" / "self").symlink_to(root / "-home-u-proj")
    (root / "-home-u-proj" / "c.jsonl").symlink_to(root / "-home-u-proj" / "a.jsonl")
    os.link(root / "-home-u-proj" / "b.jsonl", root / "d.jsonl")
    (tmp_path / "linked").symlink_to(root, target_is_directory=True)
    assert len(names([root])) == 2
    assert len(names([tmp_path / "linked", root])) == 2


def test_a_link_to_itself_and_a_dead_link_are_named_and_not_fatal(root: Path) -> None:
    (root / "x.jsonl").symlink_to(root / "x.jsonl")
    (root / "y.jsonl").symlink_to(root / "nowhere")
    (root / "folder.jsonl").mkdir()
    logs = scan(root, since="all")
    assert sorted(Path(item.path).name for item in logs.unreadable) == ["x.jsonl", "y.jsonl"]
    assert all(item.cause for item in logs.unreadable)
    assert len(logs.files) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_named_like_a_log_does_not_hang_the_scan(root: Path) -> None:
    os.mkfifo(root / "pipe.jsonl")
    assert len(names([root])) == 2


def test_only_files_changed_since_are_read(root: Path) -> None:
    """The edge belongs to the window."""
    old = root / "-home-u-proj" / "a.jsonl"
    os.utime(old, ns=(10**18, 10**18))
    assert names([root], since_ms=10**12) == ["a.jsonl", "b.jsonl"]
    assert names([root], since_ms=10**12 + 1) == ["b.jsonl"]


def test_an_undecodable_name_is_a_file_like_any_other(make: Any, root: Path) -> None:
    """Bytes that are no UTF-8 in a name: still read, still printable in every output."""
    from ctxlib.readout import detail, dumps

    s = make.Session("c")
    s.lines = []
    name = os.fsencode(root) + b"/\xff.jsonl"
    try:
        Path(os.fsdecode(name)).write_bytes(b'{"type":"assistant","uuid":"u","message":{"usage":{"input_tokens":5}}}\n')
    except OSError:
        pytest.skip("this file system takes no such names")
    logs = scan(root, since="all")
    assert len(logs.files) == 3
    dumps(detail(logs)).encode()


def test_roots_named_in_the_environment(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR is a comma list; else both default folders, each that exists."""
    for name in ("one/projects", "two", "home/.claude/projects", "home/.config/claude/projects"):
        (tmp_path / name).mkdir(parents=True)
    listed = f" {tmp_path}/one , {tmp_path}/two,{tmp_path}/none,"
    assert roots_of(environ={"CLAUDE_CONFIG_DIR": listed}) == [tmp_path / "one" / "projects", tmp_path / "two"]
    home = tmp_path / "home"
    assert roots_of(environ={}, home=home) == [home / ".config/claude/projects", home / ".claude/projects"]
    assert roots_of(environ={}, home=tmp_path) == []


def test_a_missing_root_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder: .*nowhere"):
        scan(tmp_path / "nowhere")
