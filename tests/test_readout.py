"""X-readout and context.json: the keys as specified, always there, always JSON, always below 400 bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlib import scan
from ctxlib.bundle import sample_root
from ctxlib.digest import digest
from ctxlib.findings import findings
from ctxlib.readout import MAX_READOUT_BYTES, detail, dumps, readout, readout_of

SPECIFIED = """
since until roots sources sessions calls subagent_threads curve peak_ctx peak_turn last_ctx window peak_pct windows
window_source peak_p50 over_150k over_250k curve_median compactions microcompactions cache cache_shares cache_write_5m
cache_write_1h cache_write_usd unpriced_models unpriced_write_tokens rereads tool_tokens tool_calls top_tools mcp_by_server
unsized_documents output_tokens categories labels unmeasured_calls undated_calls bad_lines nul_lines unreadable_files
files_read calls_by_day suspicious_calls
""".split()  # noqa: SIM905
EXTRAS = ["cache_write_unsplit"]
SMALL = """
sessions peak_p50 over_150k over_250k compactions cache_read_share cache_write_usd reread_tok findings detail
""".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def sample() -> Any:
    return scan(sample_root(), since="all", use_store=False)


@pytest.fixture(scope="module")
def held(sample: Any) -> Any:
    return detail(sample)


def test_the_keys_of_context_json(held: Any) -> None:
    """Scripts read these names: one that is missing or renamed breaks them."""
    assert sorted(held) == sorted(SPECIFIED + EXTRAS)
    assert list(held["rereads"]) == ["count", "tokens", "after_compaction", "after_shell", "after_external"]
    assert list(held["curve_median"]) == ["1", "10", "25", "50", "100", "200"]
    row = "session thread ts kind trigger before before_source after after_source ctx_before ctx_after".split()  # noqa: SIM905
    assert all(list(found) == row for found in held["compactions"])


def test_nothing_found_has_the_same_keys_and_no_number_is_made_up(scanned: Any) -> None:
    small, held = readout_of(scanned())
    assert sorted(held) == sorted(SPECIFIED + EXTRAS)
    assert list(small) == SMALL
    zero = {"sessions": 0, "over_150k": 0, "over_250k": 0, "compactions": 0, "cache_write_usd": 0.0, "reread_tok": 0}
    assert small == {**zero, "peak_p50": None, "cache_read_share": None, "findings": [], "detail": "context.json"}
    assert held["cache_shares"] is None
    assert "NaN" not in dumps(held)


def test_the_parts_of_the_detail_agree(held: Any) -> None:
    """One report, one number: what is told twice must be told alike."""
    ids = set(held["curve"])
    for key in ("peak_ctx", "peak_turn", "last_ctx", "window", "peak_pct", "categories", "labels"):
        assert set(held[key]) == ids, key
    assert held["sessions"] == len(ids)
    assert sum(held["calls_by_day"].values()) == held["calls"]
    for session, curve in held["curve"].items():
        assert (max(curve), curve[-1]) == (held["peak_ctx"][session], held["last_ctx"][session])
        assert curve[held["peak_turn"][session] - 1] == max(curve)
        parts = {key: value for key, value in held["categories"][session].items() if key != "basis"}
        assert sum(parts.values()) == curve[-1]
    assert sum(held["mcp_by_server"].values()) <= sum(held["tool_tokens"].values())
    assert held["cache"]["write"] == held["cache_write_5m"] + held["cache_write_1h"]
    assert sum(held["cache_shares"].values()) == pytest.approx(1)
    assert json.loads(dumps(held, indent=1)) == held


def test_thinning_and_calls_change_nothing_else(sample: Any, held: Any) -> None:
    got = detail(sample, points=20, with_calls=True)
    assert {**got, "curve": held["curve"], "output_tokens": None} == held
    assert all(len(curve) <= 20 for curve in got["curve"].values())
    assert len(got["output_tokens"]) == held["calls"]


def test_each_call_has_its_output(make: Any, scanned: Any) -> None:
    s = make.Session()
    for i in range(3):
        s.prompt()
        s.call(1000 + i, id="chatcmpl", request=None, output=10)
    assert sum(detail(scanned(s), with_calls=True)["output_tokens"].values()) == 30


SENTENCES = st.lists(st.text(max_size=150), max_size=5)


@settings(max_examples=200, deadline=None)
@given(SENTENCES, st.integers(0, 10**15))
def test_the_readout_is_below_400_bytes_and_keeps_what_fits(held: Any, sentences: list[str], large: int) -> None:
    """UTF-8 bytes, newline included; whatever a path or tool is called. Findings go from the end, numbers never."""
    full = {**held, "peak_p50": large, "cache_write_usd": large / 3, "sessions": large}
    small = readout(full, sentences)
    assert len(dumps(small).encode()) < MAX_READOUT_BYTES
    assert list(small) == SMALL
    kept = len(small["findings"])
    assert small["findings"] == sentences[:kept]
    if kept < min(3, len(sentences)):
        small["findings"] = sentences[: kept + 1]
        assert len(dumps(small).encode()) >= MAX_READOUT_BYTES


@given(st.recursive(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists, max_leaves=5))
def test_every_text_can_be_written(value: Any) -> None:
    dumps(value).encode()
    dumps([value, "\ud83d"]).encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_is_an_error_and_never_written(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        dumps({"a": value})


def test_findings_hold_a_number_and_come_largest_first(sample: Any) -> None:
    found = findings(digest(sample))
    assert found
    assert all(any(c.isdigit() for c in item.text) and item.action for item in found)
    assert [item.tokens for item in found] == sorted((item.tokens for item in found), reverse=True)
    small, _ = readout_of(sample)
    assert small["findings"] == [item.text for item in found][: len(small["findings"])]
