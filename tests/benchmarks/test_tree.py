"""The generator of the benchmark's tree: the same bytes each time, and numbers that a plain reading gives as well."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxlib.logs import scan

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MEGABYTES = 4


def made(out: Path) -> Path:
    argv = [
        sys.executable,
        str(BENCHMARKS / "tree.py"),
        str(out),
        "--mb",
        str(MEGABYTES),
        "--files",
        "12",
        "--seed",
        "4",
    ]
    subprocess.run(argv, check=True, capture_output=True)
    return out / "projects"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def records(tree: Path) -> list[dict[str, Any]]:
    """Every line, read plainly."""
    return [json.loads(line) for path in sorted(tree.rglob("*.jsonl")) for line in path.read_bytes().splitlines()]


def digest(tree: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(tree.rglob("*.jsonl")):
        found.update(f"{path.relative_to(tree)} {path.stat().st_mtime_ns}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def test_same_seed_same_bytes(tree: Path, tmp_path: Path) -> None:
    assert digest(made(tmp_path)) == digest(tree)


def test_calls_and_tokens_are_those_of_a_plain_reading(tree: Path, records: list[dict[str, Any]]) -> None:
    logs = scan(tree, since="all", use_store=False)
    assert logs.bad_lines == 0
    assert not logs.unreadable
    assert sum(info.lines for info in logs.files) == len(records)

    usage = {record["requestId"]: record["message"]["usage"] for record in records if record["type"] == "assistant"}
    calls = logs.calls[logs.calls["origin"]]
    assert len(calls) == len(usage) > 100
    for column, name in (("cache_read", "cache_read_input_tokens"), ("cache_write", "cache_creation_input_tokens")):
        assert calls[column].sum() == sum(counts[name] for counts in usage.values())


def test_bytes_are_shared_as_in_real_logs(records: list[dict[str, Any]]) -> None:
    sizes: Counter[str] = Counter()
    for record in records:
        sizes[record["type"]] += len(json.dumps(record, ensure_ascii=False))
    share = {kind: size / sizes.total() for kind, size in sizes.items()}
    assert share["user"] == pytest.approx(0.60, abs=0.1)
    assert share["progress"] == pytest.approx(0.19, abs=0.1)
    assert share["assistant"] == pytest.approx(0.18, abs=0.06)
