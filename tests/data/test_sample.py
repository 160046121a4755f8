"""The sample logs: the same bytes each time, every planted event, and a token account that holds on a plain reading."""

from __future__ import annotations

import base64
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
PROJECTS = DATA / "sample" / "projects"
SMALL_WINDOW = {"claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"}
MODELS = {*SMALL_WINDOW, "claude-opus-4-8", "claude-sonnet-5", "claude-fable-5"}
LINE = dict[str, Any]


def table() -> dict[str, str]:
    """Name -> session id, from the table in README.md."""
    text = (DATA / "README.md").read_text(encoding="utf-8")
    return {m[1]: m[2] for m in re.finditer(r"^\| ([a-z0-9-]+) \| `([0-9a-f-]{36})` \|", text, re.MULTILINE)}


def path_of(name: str) -> Path:
    """File of a session of the table."""
    (path,) = PROJECTS.glob(f"*/{table()[name]}.jsonl")
    return path


def parse(path: Path) -> tuple[list[LINE], int]:
    """Records of a file (NUL padding stripped), and how many lines are broken."""
    good, bad = [], 0
    for raw in path.read_bytes().split(b"\n"):
        if raw.strip(b"\x00"):
            try:
                good.append(json.loads(raw.strip(b"\x00")))
            except ValueError:
                bad += 1
    return good, bad


def lines_of(name: str) -> list[LINE]:
    """Records of a session of the table."""
    return parse(path_of(name))[0]


def main_files() -> list[Path]:
    """Files of main threads."""
    return sorted(PROJECTS.glob("*/*.jsonl"))


def all_files() -> list[Path]:
    """Files of all threads."""
    return sorted(PROJECTS.rglob("*.jsonl"))


def version(line: LINE) -> tuple[int, ...]:
    """Client version of a line."""
    return tuple(int(x) for x in line["version"].split("."))


def threads(lines: list[LINE]) -> Iterator[list[LINE]]:
    """The main chain of a file, then each inline sidechain; lines without uuid are left out."""
    root: dict[str, str] = {}
    groups: dict[str, list[LINE]] = {}
    for line in lines:
        if "uuid" not in line:
            continue
        parent = line.get("parentUuid")
        key = "main"
        if line["isSidechain"] and "agentId" not in line:
            key = root[parent] if parent else line["uuid"]
        root[line["uuid"]] = key
        groups.setdefault(key, []).append(line)
    yield from groups.values()


def calls(lines: list[LINE]) -> list[LINE]:
    """One entry a request: first line's place, last line's usage."""
    found: dict[str, LINE] = {}
    for place, line in enumerate(lines):
        if line["type"] == "assistant" and line["message"]["model"] != "<synthetic>":
            use = line["message"]["usage"]
            sides = [use[k] for k in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
            entry = found.setdefault(line["requestId"], {"place": place, "sides": sides})
            assert entry["sides"] == sides, "the input side is the same on all lines of a response"
            split = use["cache_creation"]
            assert split["ephemeral_5m_input_tokens"] + split["ephemeral_1h_input_tokens"] == sides[2]
            assert use["output_tokens"] >= entry.get("out", 0)
            entry |= {"out": use["output_tokens"], "ctx": sum(sides), "end": place, "line": line}
    return list(found.values())


def breaks(lines: list[LINE], start: int, end: int) -> bool:
    """Whether something between two calls may lower the context."""
    prompts = [x["parentUuid"] for x in lines if x["type"] == "user" and isinstance(x["message"]["content"], str)]
    for line in lines[start:end]:
        if line.get("subtype") in ("compact_boundary", "microcompact_boundary") or line.get("isCompactSummary"):
            return True
        if line["type"] == "user" and line["parentUuid"] and prompts.count(line["parentUuid"]) > 1:
            return True
    return False


def test_same_bytes(tmp_path: Path) -> None:
    """Made again, the tree is the committed one; mtimes are those of the last lines."""
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, str(DATA / "make_sample.py"), "--out", str(tmp_path)], check=True, env=env)
    made = {p.relative_to(tmp_path / "projects"): p for p in (tmp_path / "projects").rglob("*") if p.is_file()}
    assert set(made) == {p.relative_to(PROJECTS) for p in PROJECTS.rglob("*") if p.is_file()}
    assert [str(p) for p in made if made[p].read_bytes() != (PROJECTS / p).read_bytes()] == []
    path = tmp_path / "projects" / path_of("incident").relative_to(PROJECTS)
    newest = max(line["timestamp"] for line in parse(path)[0] if "timestamp" in line)
    assert path.stat().st_mtime == pytest.approx(
        datetime.fromisoformat(newest.replace("Z", "+00:00")).timestamp(), abs=0.01
    )


def test_table() -> None:
    """README.md shows the table that the generator prints, and each session in it has one file."""
    command = [sys.executable, str(DATA / "make_sample.py"), "--list"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    assert printed.strip() in (DATA / "README.md").read_text(encoding="utf-8")
    for name in table():
        assert path_of(name).stat().st_size > 0


def test_size_and_span() -> None:
    """Small enough to commit, all of it between September and October 2026, and shaped like a real history."""
    assert sum(p.stat().st_size for p in PROJECTS.rglob("*") if p.is_file()) <= 6_000_000
    stamps = [x["timestamp"] for p in all_files() for x in parse(p)[0] if "timestamp" in x]
    assert min(stamps) >= "2026-09-01"
    assert max(stamps) < "2026-11-01"
    counts = sorted(n for p in main_files() if (n := len(calls(parse(p)[0]))))
    assert 30 <= len(counts) <= 60
    assert counts[0] >= 5
    assert 25 <= statistics.median(counts) <= 40
    assert counts[-1] >= 180


def test_folders_and_names() -> None:
    """Folder = cwd with dashes; file name = session id; agents belong to their session."""
    for path in all_files():
        for line in parse(path)[0]:
            if "cwd" in line:
                folder = path.relative_to(PROJECTS).parts[0]
                assert folder == re.sub(r"[^A-Za-z0-9]", "-", line["cwd"])
                owner = path.parent.parent.name if path.parent.name == "subagents" else path.stem
                assert line["sessionId"] == owner or owner == table()["resumed-copy"]
        if path.parent.name == "subagents":
            assert re.fullmatch(r"agent-a[0-9a-f]{16}", path.stem)
            meta = json.loads(path.with_suffix(".meta.json").read_text(encoding="utf-8"))
            assert meta["toolUseId"] in path.parent.parent.with_suffix(".jsonl").read_text(encoding="utf-8")


def test_lines_parse() -> None:
    """Only the planted file is damaged: one half-written line, one line behind NULs."""
    for path in all_files():
        assert parse(path)[1] == (1 if path == path_of("damaged") else 0)
    raw = path_of("damaged").read_bytes()
    assert not raw.endswith(b"\n")
    assert raw.count(b"\n" + b"\x00" * 96 + b"{") == 1


def test_chain() -> None:
    """Parents stand earlier in the same file (roots aside) and no uuid comes twice."""
    for path in all_files():
        seen: set[str] = set()
        for line in parse(path)[0]:
            if "uuid" in line:
                assert line["parentUuid"] is None or line["parentUuid"] in seen or path == path_of("fork")
                assert line["uuid"] not in seen
                seen.add(line["uuid"])


def test_accounts() -> None:
    """Each call holds the call before it, its answer and what came between; nothing is read that was not written."""
    for path in all_files():
        for thread in threads(parse(path)[0]):
            found = calls(thread)
            for call in found:
                model = call["line"]["message"]["model"]
                assert model in MODELS
                assert 0 < call["ctx"] <= (200_000 if model in SMALL_WINDOW else 1_000_000)
                assert 1 <= call["sides"][0] < 12
            for old, new in pairwise(found):
                if not breaks(thread, old["end"] + 1, new["place"]):
                    assert new["ctx"] >= old["ctx"] + old["out"]
                assert new["sides"][1] <= old["ctx"]


def test_output_is_final() -> None:
    """From 2.1.101 on every line has the stop reason and the final output; in 1.0 none has."""
    for path in all_files():
        for line in parse(path)[0]:
            if line["type"] == "assistant" and line["message"]["model"] != "<synthetic>":
                message = line["message"]
                assert (message["stop_reason"] is not None) == (version(line) >= (2, 1, 101))
        for thread in threads(parse(path)[0]):
            for call in calls(thread):
                last = call["line"]
                shown = len(json.dumps(last["message"]["content"][0].get("input", ""), ensure_ascii=False))
                if version(last) >= (2,):
                    assert call["out"] >= shown / 3.2
                else:
                    assert call["out"] < 10


def test_rate_of_characters() -> None:
    """What a fit of single large results gives back is the rate the generator used."""
    rates: dict[bool, list[float]] = {True: [], False: []}
    for path in all_files():
        for thread in threads(parse(path)[0]):
            found = calls(thread)
            for old, new in pairwise(found):
                between = thread[old["end"] + 1 : new["place"]]
                texts = [x["message"]["content"][0]["content"] for x in between if "toolUseResult" in x]
                one = len(between) == 1 and len(texts) == 1 and isinstance(texts[0], str) and len(texts[0]) > 1500
                if one and version(new["line"]) >= (2,):
                    rise = new["ctx"] - old["ctx"] - old["out"]
                    rates[new["line"]["message"]["model"] in SMALL_WINDOW].append(len(texts[0]) / rise)
    assert statistics.median(rates[True]) == pytest.approx(2.7, abs=0.1)
    assert statistics.median(rates[False]) == pytest.approx(2.3, abs=0.1)


def peak(name: str) -> int:
    """Largest context of the main thread."""
    main = next(iter(threads(lines_of(name))))
    return max(int(c["ctx"]) for c in calls(main))


def test_large_sessions() -> None:
    """Two sessions above 250k with the evidence of their window, some above 120k, none above its window."""
    peaks = sorted((max((c["ctx"] for c in calls(next(threads(parse(p)[0]), []))), default=0)) for p in main_files())
    assert sum(p > 250_000 for p in peaks) == 2
    assert sum(p > 150_000 for p in peaks) == 5
    assert 6 <= sum(p > 120_000 for p in peaks) <= 9
    assert peak("incident") > 300_000
    assert peak("redesign") > 250_000
    results = [x["toolUseResult"] for x in lines_of("incident") if isinstance(x.get("toolUseResult"), dict)]
    assert "claude-opus-4-8[1m]" in [r.get("resolvedModel") for r in results]


def boundaries(name: str, kind: str = "compact_boundary") -> list[LINE]:
    """Boundary lines of a session."""
    return [x for x in lines_of(name) if x.get("subtype") == kind]


def results(lines: list[LINE]) -> list[LINE]:
    """Tool results of some lines."""
    content = [x["message"]["content"] for x in lines if x["type"] == "user"]
    return [b for blocks in content if isinstance(blocks, list) for b in blocks if b["type"] == "tool_result"]


def mains() -> list[list[LINE]]:
    """Main threads that have calls."""
    return [main for p in main_files() if calls(main := next(threads(parse(p)[0]), []))]


def test_starts() -> None:
    """One lean project, one with a long memory file, one with many tools: constant within 5k of each other."""
    firsts: dict[str, list[int]] = {}
    for main in mains():
        if "compact_boundary" not in [x.get("subtype") for x in main[:1]]:
            firsts.setdefault(main[0]["cwd"].rsplit("/", 1)[1], []).append(calls(main)[0]["ctx"])
    assert 30_000 < statistics.median(n for found in firsts.values() for n in found) < 45_000
    middle = {name: statistics.median(found) for name, found in firsts.items()}
    assert 18_000 < middle["quarry-etl"] < 25_000
    assert 30_000 < middle["tidepool-api"] < 38_000
    assert 40_000 < middle["lantern-web"] < 48_000


def test_errors() -> None:
    """4 to 7 % of the results of all threads are errors, of more than one tool, and each says what went wrong."""
    found = [b for p in all_files() for b in results(parse(p)[0])]
    wrong = [str(b["content"]) for b in found if b.get("is_error")]
    assert 0.04 <= len(wrong) / len(found) <= 0.07
    for said in (
        "Exit code 1",
        "Exit code 2",
        "String to replace not found",
        "File does not exist",
        "modified since read",
    ):
        assert any(said in text for text in wrong), said


def test_thinking_is_a_small_part() -> None:
    """Output less what is shown, of the clients that log it: below 12 % of the last calls."""
    thought = last = 0.0
    for main in mains():
        if version(main[-1]) < (2, 1, 101) or any(x.get("isCompactSummary") for x in main):
            continue
        rate = 2.7 if calls(main)[0]["line"]["message"]["model"] in SMALL_WINDOW else 2.3
        shown: dict[str, float] = {}
        for line in main:
            if line["type"] == "assistant" and "requestId" in line:
                block = line["message"]["content"][0]
                text = json.dumps(block.get("input") or block.get("text") or "", ensure_ascii=False)
                shown[line["requestId"]] = shown.get(line["requestId"], 0) + len(text) / rate + 9
        found = calls(main)
        thought += sum(max(0.0, c["out"] - shown[c["line"]["requestId"]]) for c in found[:-1])
        last += found[-1]["ctx"]
    assert 0.03 < thought / last < 0.12


def test_results_fill_the_largest_session() -> None:
    """In the session with the largest peak, texts and pictures of tool results are more than 40 % of it."""
    (main,) = [m for m in mains() if max(c["ctx"] for c in calls(m)) == peak("incident")]
    assert max(max(c["ctx"] for c in calls(m)) for m in mains()) == peak("incident")
    size = 0.0
    for block in results(main):
        content = block["content"]
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            size += 1600 if part["type"] == "image" else len(part["text"]) / 2.3
    assert 0.4 < size / peak("incident") < 0.7


def test_last_two_weeks() -> None:
    """The last seven days and the seven before have four to eight sessions each, and calls of like number."""
    made = [[c["line"]["timestamp"][:10] for c in calls(main)] for main in mains()]
    this = [days for days in made if days[-1] >= "2026-10-24"]
    last = [days for days in made if "2026-10-17" <= days[-1] < "2026-10-24"]
    assert max(days[-1] for days in this) == "2026-10-30"
    assert 4 <= len(last) <= 8
    assert 4 <= len(this) <= 8
    assert 0.5 < sum(map(len, this)) / sum(map(len, last)) < 2


def test_after_compaction() -> None:
    """The large sessions go on at 35k to 55k: prefix, summary, and what the client puts back."""
    for name in ("manual-compact", "two-auto-compacts", "old-auto-compact"):
        lines = lines_of(name)
        for boundary in boundaries(name):
            at = lines.index(boundary)
            assert 35_000 < next(c for c in calls(lines) if c["place"] > at)["ctx"] < 55_000
            assert [c for c in calls(lines) if c["end"] < at][-1]["ctx"] > 150_000


def test_compactions() -> None:
    """Automatic and manual boundaries, each followed by its summary; the 1.0 form has only the summary."""
    assert [b["compactMetadata"]["trigger"] for b in boundaries("two-auto-compacts")] == ["auto", "auto"]
    assert [b["compactMetadata"]["trigger"] for b in boundaries("old-auto-compact")] == ["auto"]
    for name in ("two-auto-compacts", "old-auto-compact"):
        assert all(160_000 < b["compactMetadata"]["preTokens"] < 180_000 for b in boundaries(name))
    for name in ("manual-compact", "reread-clinic"):
        (boundary,) = boundaries(name)
        meta = boundary["compactMetadata"]
        assert meta["trigger"] == "manual"
        after = next(c for c in calls(lines_of(name)) if c["line"]["timestamp"] > boundary["timestamp"])
        assert meta["postTokens"] < after["ctx"] - 10_000, "postTokens leave out system prompt and tools"
    for path in main_files():
        lines = parse(path)[0]
        for here, line in enumerate(lines):
            if line.get("subtype") == "compact_boundary":
                assert line["parentUuid"] is None
                assert lines[here + 1]["isCompactSummary"]
                assert lines[here + 1]["parentUuid"] == line["uuid"]
    assert boundaries("inline-sidechains") == []
    assert sum(bool(x.get("isCompactSummary")) for x in lines_of("inline-sidechains")) == 1


def test_microcompact() -> None:
    """The tool results are named and the context falls, without a summary."""
    lines = lines_of("microcompact")
    (boundary,) = boundaries("microcompact", "microcompact_boundary")
    meta = boundary["microcompactMetadata"]
    assert len(meta["compactedToolIds"]) >= 10
    at = lines.index(boundary)
    found = calls(lines)
    before = [c for c in found if c["end"] < at][-1]
    after = next(c for c in found if c["place"] > at)
    assert after["ctx"] < before["ctx"] - meta["tokensSaved"] * 0.8
    assert not any(x.get("isCompactSummary") for x in lines)


def test_copies() -> None:
    """The fork shares ids and times with its origin from the boundary on; the resumed copy has new times."""
    origin = {x["uuid"]: x for x in lines_of("manual-compact") if "uuid" in x}
    shared = [x for x in lines_of("fork") if x.get("uuid") in origin]
    assert shared[0]["subtype"] == "compact_boundary"
    assert all(x["timestamp"] == origin[x["uuid"]]["timestamp"] for x in shared)
    assert all(x.get("requestId") == origin[x["uuid"]].get("requestId") for x in shared)
    assert {x["sessionId"] for x in lines_of("fork")} == {table()["fork"]}
    assert len(calls(lines_of("fork"))) > len(calls(shared)) >= 5
    old = {x["uuid"]: x for x in lines_of("resumed-from")}
    copied = [x for x in lines_of("resumed-copy") if x["uuid"] in old]
    assert len(copied) == len(old)
    assert len({x["timestamp"] for x in copied}) == 1
    assert {x["sessionId"] for x in copied} == {table()["resumed-from"], table()["resumed-copy"]}


def test_rewind_and_clear() -> None:
    """A rewound prompt shares its parent with another; /clear opens the file after the one it ended."""
    lines = lines_of("rewind")
    prompts = [x["parentUuid"] for x in lines if x["type"] == "user" and isinstance(x["message"]["content"], str)]
    assert sum(prompts.count(p) > 1 for p in set(prompts)) == 1
    curve = [c["ctx"] for c in calls(lines)]
    assert any(b < a - 3000 for a, b in pairwise(curve))
    assert boundaries("rewind") == []
    first = next(x for x in lines_of("clear-after") if x["type"] == "user")
    assert first["message"]["content"].startswith("<command-name>/clear")
    assert lines_of("clear-before")[-3]["timestamp"] < first["timestamp"]


def test_cache_misses() -> None:
    """Pauses longer than the cache lives write everything again and name the cause; so do changed tools."""

    def misses(name: str) -> list[str]:
        told = [c["line"]["message"]["diagnostics"] for c in calls(lines_of(name))[1:]]
        return [d["cache_miss_reason"]["type"] for d in told if d]

    assert misses("expiry-5m") == ["previous_message_not_found"] * 3
    assert misses("long-gap-1h") == ["previous_message_not_found"]
    assert misses("tools-changed") == ["tools_changed"]
    assert sum(c["sides"][1] == 0 for c in calls(lines_of("expiry-5m"))[1:]) == 3


def test_context_command() -> None:
    """The rows of /context add up to the context of the calls around it."""
    lines = lines_of("context-command")
    (at,) = [
        i for i, x in enumerate(lines) if x["type"] == "user" and "## Context Usage" in str(x["message"]["content"])
    ]
    text = lines[at]["message"]["content"]

    def number(shown: str) -> float:
        return float(shown[:-1]) * 1000 if shown.endswith("k") else float(shown)

    total = re.search(r"\*\*Tokens:\*\* ([\d.]+k) / 967k", text)
    rows = {
        m[1]: number(m[2]) for m in re.finditer(r"^\| ([A-Z][^|]+?) \| ([\d.]+k?) \| [\d.]+% \|", text, re.MULTILINE)
    }
    assert total
    used = sum(n for k, n in rows.items() if "deferred" not in k and k not in ("Free space", "Autocompact buffer"))
    assert used == pytest.approx(number(total[1]), abs=400)
    before = [c for c in calls(lines) if c["end"] < at][-1]
    assert number(total[1]) == pytest.approx(before["ctx"] + before["out"], abs=60)


def tools(name: str) -> list[LINE]:
    """Tool uses of a session."""
    blocks = [b for x in lines_of(name) if x["type"] == "assistant" for b in x["message"]["content"]]
    return [b for b in blocks if b["type"] == "tool_use"]


def test_tools() -> None:
    """MCP, Skill, ToolSearch, agents."""
    assert {b["name"].split("__")[1] for b in tools("mcp-heavy") if b["name"].startswith("mcp__notes")} == {"notes"}
    assert any(b["name"].startswith("mcp__my__board__") for b in tools("mcp-heavy"))
    assert any(b["name"] == "Skill" for b in tools("context-command"))
    assert any(b["name"] == "ToolSearch" for b in tools("tools-changed"))
    agents = {
        k: len(list(path_of(k).with_suffix("").glob("subagents/*.jsonl")))
        for k in ("agents-parallel", "agents-progress")
    }
    assert agents == {"agents-parallel": 4, "agents-progress": 2}
    roots = [x for x in lines_of("inline-sidechains") if x.get("isSidechain") and x["parentUuid"] is None]
    assert len(roots) == 2
    progress = [
        x["data"]["message"]["requestId"] for x in lines_of("agents-progress") if x.get("data", {}).get("agentId")
    ]
    own = {x.get("requestId") for p in path_of("agents-progress").with_suffix("").rglob("*.jsonl") for x in parse(p)[0]}
    assert progress
    assert set(progress) <= own


def test_line_kinds() -> None:
    """Every kind of line and attachment the sample promises."""
    every = [x for p in all_files() for x in parse(p)[0]]
    kinds = {x["type"] for x in every}
    assert kinds >= {
        "progress",
        "file-history-snapshot",
        "mode",
        "permission-mode",
        "last-prompt",
        "ai-title",
        "summary",
    }
    assert {x["type"] for x in lines_of("summary-only")} == {"summary"}
    attached = {x["attachment"]["type"] for x in every if x["type"] == "attachment"}
    listings = {"skill_listing", "agent_listing_delta", "mcp_instructions_delta", "deferred_tools_delta"}
    assert attached >= listings | {"nested_memory", "task_reminder", "edited_text_file", "hook_success", "file"}
    assert any(x.get("subtype") == "turn_duration" for x in every)
    (error,) = [x for x in every if x["type"] == "assistant" and x["message"]["model"] == "<synthetic>"]
    assert error["sessionId"] == table()["api-error"]


def test_media() -> None:
    """Images are valid PNGs of the planned size, one is pasted; one document."""
    blocks: list[LINE] = []
    for line in lines_of("redesign"):
        content = line["message"]["content"] if line["type"] == "user" else ""
        for block in content if isinstance(content, list) else []:
            inner = block.get("content")
            blocks += [b for b in ([block, *inner] if isinstance(inner, list) else [block]) if "source" in b]
    images = [base64.b64decode(b["source"]["data"]) for b in blocks if b["type"] == "image"]
    sizes = {(int.from_bytes(i[16:20]), int.from_bytes(i[20:24])) for i in images}
    assert sizes == {(1280, 720), (1440, 900), (640, 360), (390, 844)}
    assert all(i.startswith(b"\x89PNG\r\n\x1a\n") for i in images)
    (document,) = [b for b in blocks if b["type"] == "document"]
    assert base64.b64decode(document["source"]["data"]).startswith(b"%PDF-")


def test_rereads() -> None:
    """The scripted reads stand in their order, with a failed read, a failed edit and a Bash command between."""
    names = [b["name"] for b in tools("reread-clinic")]
    head = "Read Read Read Read Read Edit Read Edit Read Read Read Bash Read Read Read Read"
    assert names[:16] == head.split()
    scripted = [b["id"] for b in tools("reread-clinic")[:16]]
    errors = [b for b in results(lines_of("reread-clinic")) if b.get("is_error") and b["tool_use_id"] in scripted]
    assert len(errors) == 3


def test_hostile_text() -> None:
    """Script tag, markup in a tool name, and a lone surrogate that is an escape in the file."""
    raw = path_of("hostile-text").read_bytes()
    assert b'"customTitle":"<script>alert(1)</script>' in raw
    assert b"\\ud83d\\n" in raw
    assert "\u706f\u706b".encode() in raw
    assert any(b["name"].startswith("mcp__notes__<img src=x") for b in tools("hostile-text"))
