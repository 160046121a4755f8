"""The contract's arithmetic: shown integers sum exactly, nothing is negative, the factor is kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlib.accounting.arithmetic import largest_remainder, settle

TOKENS = st.one_of(st.integers(0, 2000), st.integers(0, 10**12), st.floats(0, 10**6, allow_nan=False))
PARTS = st.lists(TOKENS, min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("values", "total", "shown"),
    [
        ([1, 1, 1], 2, [1, 1, 0]),
        ([1, 1, 1], 4, [2, 1, 1]),
        ([0, 0, 5], 3, [0, 0, 3]),
        ([0, 0, 0], 7, [0, 0, 7]),
        ([3, 5], 0, [0, 0]),
        ([10**12, 10**12, 1], 10**12, [5 * 10**11, 5 * 10**11, 0]),
        ([0.5, 0.5], 1, [1, 0]),
    ],
)
def test_largest_remainder(values: list[float], total: int, shown: list[int]) -> None:
    """Floors, then one more to the largest remainders, ties to the earlier part."""
    assert largest_remainder(np.array([values], "f8"), np.array([total])).tolist() == [shown]


@given(PARTS, st.integers(0, 10**12))
def test_a_shared_total_is_shared_exactly_and_evenly(values: list[float], total: int) -> None:
    """A breakdown that misses its total by one token cannot be trusted with the rest; no share is off by more than 1."""
    (shown,) = largest_remainder(np.array([values], "f8"), np.array([total])).tolist()
    assert sum(shown) == total
    assert min(shown) >= 0
    whole = sum(values)
    if whole > 0:
        slack = 1 + 1e-12 * total * len(values) + 1e-9
        assert all(abs(part - value * total / whole) <= slack for part, value in zip(shown, values, strict=True))


@given(PARTS, st.one_of(st.just(-1), st.integers(0, 10**12)))
def test_settled_parts_sum_to_the_total(parts: list[float], measured: int) -> None:
    found = settle(np.array([parts], "f8"), np.array([measured]))
    shown, total, factor = found.shown[0].tolist(), int(found.total[0]), float(found.factor[0])
    assert sum(shown) == total
    assert min(shown) >= 0
    assert total == (measured if measured >= 0 else round(sum(parts)))
    assert 0 <= factor <= 1
    if factor < 1:
        assert shown[-1] <= len(parts)
        assert factor == pytest.approx(measured / sum(parts))
    if measured < 0:
        assert (factor, shown[-1]) == (1, 0) if sum(parts) >= 1 else factor == 1


def test_rows_do_not_touch_each_other() -> None:
    parts, measured = np.array([[5.0, 5], [1, 2], [0, 0]]), np.array([4, 10, -1])
    together = settle(parts, measured)
    for i in range(3):
        alone = settle(parts[i : i + 1], measured[i : i + 1])
        assert together.shown[i].tolist() == alone.shown[0].tolist()
    assert together.shown.tolist() == [[2, 2, 0], [1, 2, 7], [0, 0, 0]]


def test_negative_estimates_are_nothing() -> None:
    assert settle(np.array([[-5.0, 3]]), np.array([10])).shown.tolist() == [[0, 3, 7]]


def test_nothing_at_all() -> None:
    assert settle(np.zeros((0, 3)), np.zeros(0)).shown.shape == (0, 4)
