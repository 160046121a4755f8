"""Every worked case gives its right values: each is a way in which a tool has got its users' numbers wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ctxlib.logs import Logs, scan
from ctxlib.readout import detail, dumps, readout, readout_of

CASES = Path(__file__).parent / "cases"
# The list that the cases quote, in USD per million tokens. It has no premium above 200k; genai-prices does.
QUOTED = {
    "claude-sonnet-4-5": {"input": 3.0, "output": 15.0},
    "claude-haiku-4-5": {"input": 1.0, "output": 5.0},
    "claude-opus-4-5": {"input": 5.0, "output": 25.0},
    "claude-opus-4-6": {"input": 5.0, "output": 25.0},
}
SCANNED = sorted(
    path.parent.name
    for path in CASES.glob("*/expected.json")
    if path.parent.name != "xex" and "root" in json.loads(path.read_text())
)


def expected(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((CASES / name / "expected.json").read_text())
    return loaded


def read(name: str, root: Path | None = None) -> Logs:
    case = expected(name)
    return scan(root or CASES / name / case["root"], since=case["since"], prices=QUOTED)


def answers(logs: Logs) -> dict[str, Any]:
    """What a case may ask for, in its own words."""
    held = detail(logs, with_calls=True)
    held["models"] = sorted(held["windows"])
    held["builtin_tools"] = [name for name in held["tool_tokens"] if not name.startswith("mcp__")]
    held["json_has_nan"] = "NaN" in dumps(held)
    held["calls_by_day"] = {
        zone: detail(logs, zone=ZoneInfo(zone))["calls_by_day"] for zone in ("UTC", "America/Los_Angeles")
    }
    return held


def same(name: str, want: Any, got: Any) -> bool:
    if name == "compactions":
        return len(want) == len(got) and all(w.items() <= g.items() for w, g in zip(want, got, strict=True))
    if name == "builtin_tools":
        return set(want) == set(got)
    if name == "categories":
        return all(tokens == got["s1"][category] for category, tokens in want.items())
    if name in ("rereads", "tool_calls", "output_tokens"):
        return bool(want.items() <= got.items())
    if name == "cache_shares" and want:
        return bool(got == pytest.approx(want))
    return bool(want == got)


@pytest.mark.parametrize("name", [name for name in SCANNED if not name.startswith("B6")])
def test_case(name: str) -> None:
    case, got = expected(name), answers(read(name))
    asked = {
        key: value
        for key, value in case.items()
        if not key.startswith("_") and key not in ("id", "kind", "since", "root", "max_rss_growth_mb")
    }
    assert asked, "a case must ask for something"
    wrong = {key: (value, got[key]) for key, value in asked.items() if not same(key, value, got[key])}
    assert not wrong, case["_wrong_if"]


def test_unreadable_entries_are_counted_and_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file without permission, one dead link or one folder named *.jsonl must not end the scan, nor go unsaid."""
    name = "B6-unreadable-entries"
    root = tmp_path / "projects"
    shutil.copytree(CASES / name / "root" / "projects", root)
    folder = root / "-home-u-proj"
    (folder / "s4.jsonl").unlink(missing_ok=True)
    (folder / "s4.jsonl").symlink_to(tmp_path / "nowhere")
    locked = folder / "s2.jsonl"
    if os.geteuid() == 0:  # root reads anything: refuse it here
        import ctxlib.logs.reader as reader

        def refuse(path: str, mode: str, **options: Any) -> Any:
            if path == str(locked):
                raise PermissionError(13, "Permission denied", path)
            return open(path, mode, **options)

        monkeypatch.setattr(reader, "open", refuse, raising=False)
    else:
        locked.chmod(0)
    logs = read(name, root)
    got = detail(logs)
    case = expected(name)
    assert {key: got[key] for key in ("sessions", "calls", "curve", "unreadable_files")} == {
        key: case[key] for key in ("sessions", "calls", "curve", "unreadable_files")
    }
    assert sorted(Path(item.path).name for item in logs.unreadable) == ["s2.jsonl", "s4.jsonl"]


def test_the_worked_example() -> None:
    """X-ex, number by number."""
    case = json.loads((CASES / "xex" / "expected.json").read_text())
    root = CASES / "xex" / "tree"
    logs = scan(root, since=case["since"], prices=QUOTED)
    small, held = readout_of(logs)
    want = case["expected"]
    assert (held["sessions"], held["calls"]) == (want["sessions"], want["calls"])
    assert held["curve"] == want["curves"]
    assert held["peak_ctx"] == want["peaks"]
    assert (held["peak_p50"], held["over_150k"], held["over_250k"]) == (130625, 1, 1)
    assert [{key: found[key] for key in want["compactions"][0]} for found in held["compactions"]] == want["compactions"]
    assert {turn: point["ctx"] for turn, point in held["curve_median"].items()} == want["curve_median"]
    assert held["cache"] == want["cache"]["tokens"]
    assert {key: round(share, 6) for key, share in held["cache_shares"].items()} == want["cache"]["share"]
    assert held["cache_write_usd"] == pytest.approx(want["cache"]["write_usd"], abs=1e-6)
    assert held["unpriced_write_tokens"] == 0
    assert {key: held["rereads"][key] for key in ("count", "tokens")} == want["rereads"]
    assert held["top_tools"] == want["tools"]
    assert small == case["readout"]
    assert len(dumps(small).encode()) == case["readout_bytes"] + len("\n")


def test_findings_are_dropped_from_the_end_until_the_readout_fits() -> None:
    case = json.loads((CASES / "xex" / "expected.json").read_text())
    held = detail(scan(CASES / "xex" / "tree", since=case["since"], prices=QUOTED))
    long = case["readout_when_findings_are_long"]
    small = readout(held, long["findings_in"])
    assert small == long["readout"]
    assert len(dumps(small).encode()) == long["bytes"] + len("\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs the resource module")
def test_memory_grows_with_the_longest_line_and_not_with_the_file(tmp_path: Path) -> None:
    """Files of hundreds of MB are common (B5): reading one must not take several times its size in memory."""
    first, snapshot, last, *_ = (
        (CASES / "B5-huge-line" / "root" / "projects" / "-home-u-proj" / "s1.jsonl").read_bytes().split(b"\n")
    )
    small, many, long = (tmp_path / name for name in ("small", "many", "long"))
    for folder in (small, many, long):
        folder.mkdir()
    (small / "s1.jsonl").write_bytes(b"\n".join([first, snapshot, last]))
    (many / "s1.jsonl").write_bytes(b"\n".join([first, *[snapshot] * 600, last]))  # 120 MB
    stretched = snapshot.replace(b'"type"', b'"pad":"' + b"y" * 30_000_000 + b'","type"', 1)
    (long / "s1.jsonl").write_bytes(b"\n".join([first, stretched, last]))
    code = (
        "import resource, sys; from ctxlib.logs import scan;"
        "logs = scan(sys.argv[1], since='all', use_store=False);"
        "print(len(logs.calls), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    peak = {}
    for folder in (small, many, long):
        out = subprocess.run(
            [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
        ).stdout
        calls, peak[folder] = map(int, out.split())
        assert calls == 2
    unit = 1 if sys.platform != "darwin" else 1024  # macOS counts bytes
    assert (peak[many] - peak[small]) / unit < 40
    assert (peak[long] - peak[small]) / unit < 110, "a line is held two or three times while it is put together"
