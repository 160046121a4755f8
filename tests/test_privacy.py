"""No text of a log in any output: a marker is planted in every field that bears text, and looked for everywhere."""

from __future__ import annotations

import contextlib
import io
import pickle
from pathlib import Path
from typing import Any

import pytest

import ctxlib
from ctxlib.cli import main
from ctxlib.digest import digest
from ctxlib.findings import findings
from ctxlib.logs import store
from ctxlib.readout import dumps, readout_of

MARKER = "Xq7PlantedSecretZz"


def planted(make: Any) -> Any:
    """A session with the marker in every text. (Names of files, tools, models, servers and skills are no text.)"""
    m = MARKER
    s = make.Session(gitBranch=m, slug=m, userType=m, entrypoint=m)
    s.add("summary", summary=m, leafUuid="x")
    s.add("last-prompt", lastPrompt=m)
    s.add("ai-title", aiTitle=m)
    s.add("custom-title", customTitle=m)
    s.add("queue-operation", operation="enqueue", content=m)
    s.add("file-history-snapshot", snapshot={"trackedFileBackups": {m: m}})
    s.prompt(f"please {m}", thinkingMetadata={"level": m}, permissionMode=m)
    s.prompt(
        [make.said(m), {"type": "image", "source": {"type": "base64", "data": m}}, {"type": "novel", "x": m, "text": m}]
    )
    s.prompt([{"type": "document", "title": m, "context": m, "source": {"type": "base64", "data": m}}])
    s.call(
        30_000,
        make.thought(m, m),
        make.said(m),
        {"type": "redacted_thinking", "data": m},
        make.use("Bash", "t1", command=f"echo {m} > {m}.txt; cat /tmp/{m}", description=m),
        make.use("Write", "t2", file_path="/home/u/proj/a.py", content=m),
        make.use("Edit", "t3", file_path="/home/u/proj/a.py", old_string=m, new_string=m),
        make.use("Task", "t4", prompt=m, description=m, subagent_type="Explore"),
        make.use("mcp__srv__get", "t5", query={m: m}),
        make.use("Grep", "t6", pattern=m),
        {"type": "server_tool_use", "id": "t7", "name": "web_search", "input": {"query": m}},
    )
    s.lines[-1]["message"]["stop_sequence"] = m
    s.result("t1", m, toolUseResult={"stdout": m, "stderr": m, "content": m, "agentType": m})
    s.result("t2", [make.said(m), {"type": "tool_reference", "tool_name": m}], toolUseResult=m)
    s.result("t3", m, True, toolUseResult=[{"type": "text", "text": m}])
    s.result("t6", f"<local-command-stdout>{m}</local-command-stdout>")
    texts = ("content", "text", "stdout", "snippet", "blockingError", "planContent", "banner", "addedLines")
    for kind in ("task_reminder", "hook_success", "nested_memory", "diagnostics", "plan_mode", "edited_text_file"):
        s.attach(kind, **dict.fromkeys(texts, m), prompt=m)
    s.attach("queued_command", prompt=[make.said(m)])
    s.attach("mcp_instructions_delta", addedNames=["srv"], addedBlocks=[m])
    s.attach("skill_listing", content=m, skills=[{"content": m}])
    s.prompt(f"<local-command-stdout>{m}</local-command-stdout>")
    s.prompt(f"<bash-input>{m}</bash-input>", isMeta=True)
    s.add("system", subtype="local_command", content=f"<local-command-stdout>{m}", level=m)
    s.add("system", subtype="api_error", content=m, error={"message": m}, cause=m)
    s.add("system", subtype="stop_hook_summary", hookInfos=[{"command": m}], stopReason=m)
    s.add("progress", data={"type": "bash_progress", "output": m})
    s.boundary("auto", 30_500, userContext=m)
    s.lines[-1]["content"] = m
    s.summary(m)
    s.call(20_000, make.said(m))
    s.call(
        20_500,
        make.use("Read", "t8", file_path="/home/u/proj/a.py"),
        make.use("Read", "t9", file_path="/home/u/proj/a.py"),
    )
    s.result("t8", m)
    s.result("t9", m)
    s.call(21_000)
    s.add("assistant", isApiErrorMessage=True, error=m, message={"model": "<synthetic>", "content": [make.said(m)]})
    return s


@pytest.fixture
def logs(make: Any, scanned: Any) -> Any:
    s = planted(make)
    file = s.write(Path(scanned().roots[0]))
    with file.open("ab") as log:
        log.write(f'{{"type":"user","text":"{MARKER}\nno json {MARKER}\n\0{MARKER}'.encode())
    return scanned()


def test_the_marker_is_in_the_log(logs: Any) -> None:
    """Else the tests below prove nothing."""
    assert Path(logs.files[0].path).read_bytes().count(MARKER.encode()) > 80
    assert len(logs.calls) == 4


def test_extracts_and_the_store(make: Any, logs: Any) -> None:
    data = Path(logs.files[0].path).read_bytes()
    assert MARKER.encode() not in pickle.dumps(make.extract(data))
    with store.connect(store.file()) as connection:
        known = store.known(connection, logs.roots)
        kept = [
            store.unpack(store.packed(connection, path, item.size, item.mtime_ns) or b"")
            for path, item in known.items()
        ]
    assert [len(extract.tables["usage"]) > 3 for extract in kept] == [True]
    assert MARKER.encode() not in pickle.dumps(kept)


def test_tables_and_names(logs: Any) -> None:
    assert MARKER not in "\n".join(logs.names.strings)
    assert MARKER.casefold() not in "\n".join(logs.names.strings).casefold()
    assert MARKER.encode() not in pickle.dumps(vars(logs))


def test_the_answers(logs: Any) -> None:
    small, held = readout_of(logs)
    assert MARKER not in dumps(small) + dumps(held)
    assert MARKER not in repr(digest(logs, with_outputs=True)) + repr(findings(digest(logs)))


FRAMES = [name for name in ctxlib.__all__ if name.endswith("_df")]


@pytest.mark.parametrize("name", FRAMES)
def test_frames(logs: Any, name: str) -> None:
    df = getattr(ctxlib, name)(logs)
    assert MARKER not in df.to_csv()
    assert MARKER not in df.to_html()


def test_snapshots(logs: Any) -> None:
    for turn in (1, 2, 3, 4):
        snap = ctxlib.snapshot(logs, turn=turn)
        shapes = [snap.to_session_context(), snap.to_stage_context_window()]
        assert MARKER not in f"{snap}{snap!r}{snap._repr_html_()}{dumps(shapes)}"


def test_the_command_line(logs: Any, tmp_path: Path) -> None:
    root = logs.roots[0]
    commands = [
        ["scan", root, "--since", "all", "--calls", "--skipped"],
        ["readout", root, "--since", "all", "--out", str(tmp_path)],
        ["snapshot", "s1", "--root", root],
        ["snapshot", "s1", "--root", root, "--json"],
        ["snapshot", "s1", "--root", root, "--json", "stage"],
    ]
    for command in commands:
        out, error = io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), pytest.raises(SystemExit) as ended:
            main(command)
        out.flush()
        said = out.buffer.getvalue().decode() + error.getvalue()  # type: ignore[attr-defined]
        assert (ended.value.code, len(said) > 100, MARKER in said) == (0, True, False), command
    assert MARKER not in (tmp_path / "context.json").read_text()


def test_a_command_output_that_looks_like_context(make: Any, scanned: Any) -> None:
    """Rows of categories that /context does not have are somebody's text: count them, do not keep their words."""
    s = make.Session()
    s.call(1000)
    s.prompt(
        "<local-command-stdout>Context Usage\nclaude-opus-4-8 · 3k/200k tokens (2%)\n"
        f"System prompt: 3k tokens (1%)\n{MARKER} and more words: 2k tokens (1%)\nFree space: 100k (50%)\n"
    )
    s.call(1100)
    assert MARKER not in "\n".join(scanned(s).names.strings)
