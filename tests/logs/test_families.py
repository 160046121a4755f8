"""Logs that share an id are taken together; a tie that is missed is a call counted twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxlib.logs.families import families

IDS = st.sets(st.integers(1, 40), max_size=4)


@given(st.lists(IDS, max_size=40))
def test_files_that_share_an_id_directly_or_through_others_have_one_head(held: list[set[int]]) -> None:
    """Ids of real logs are hashes: far apart, and not told from each other by their last bits."""
    heads = families([np.array(sorted(one), "u8") * np.uint64(0x61C8864680B583EB) for one in held])
    expected = list(range(len(held)))
    for _ in held:
        for a, one in enumerate(held):
            for b, other in enumerate(held):
                if one & other:
                    expected[a] = expected[b] = min(expected[a], expected[b])
    assert heads == expected


def test_the_last_file_of_a_power_of_two_is_told_from_its_neighbours() -> None:
    for count in (1, 2, 4, 64, 1024):
        held = [np.array([number << 40], "u8") for number in range(1, count + 1)]
        assert families(held) == list(range(count))
        assert families([*held, held[-1]]) == [*range(count), count - 1]
