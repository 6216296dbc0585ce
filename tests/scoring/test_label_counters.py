"""Label counters: their widening where 32 bits end, labels by id, and merging."""

import tracemalloc

import numpy as np
import pytest

from xmceval.rows.block import Rows, Scratch
from xmceval.scoring.batch import find_decided
from xmceval.scoring.tasks import label_counts
from xmceval.scoring.tasks.label_counts import MOST_ROWS, LabelCounters

ONE_ROW = Rows(np.array([0, 2]), np.array([0, 2]), np.ones(2))
NO_WEIGHTS = np.empty(0)


def full(n_rows, n_labels=4):
    """Return counters after `n_rows` rows in which labels 0 and 2 were true and decided on."""
    counters = LabelCounters(n_labels, 1)
    counters.add_decisions(ONE_ROW, find_decided(ONE_ROW, ONE_ROW, 0.5, Scratch()), NO_WEIGHTS)
    counters._dense *= n_rows
    counters._rows *= n_rows
    return counters


def test_counters_widen_at_the_row_that_32_bits_cannot_count():
    counters = full(MOST_ROWS - 1)
    counters.add_decisions(ONE_ROW, find_decided(ONE_ROW, ONE_ROW, 0.5, Scratch()), NO_WEIGHTS)
    assert (counters.table().counts.dtype, counters.table().rows) == (np.int32, MOST_ROWS)
    for n_rows in (1 << 31, (1 << 31) + 1):
        counters.add_decisions(ONE_ROW, find_decided(ONE_ROW, ONE_ROW, 0.5, Scratch()), NO_WEIGHTS)
        assert counters.table().counts.tolist() == [[n_rows] * 3, [0] * 3, [n_rows] * 3]
        assert counters.table().rows == n_rows


def test_counters_of_the_k_best_labels_widen_too():
    counters = full(MOST_ROWS)
    counters.add_ranked(ONE_ROW, np.array([[2, 1]]), np.array([2]), np.array([2]), NO_WEIGHTS)
    assert counters.table().counts.tolist() == [[1 << 31, MOST_ROWS, MOST_ROWS], [0, 1, 0], [1 << 31] * 3]


@pytest.mark.parametrize(
    ("left", "right"), [(1 << 30, 1 << 30), (MOST_ROWS, 1), (1, MOST_ROWS), (MOST_ROWS, MOST_ROWS)]
)
@pytest.mark.parametrize("by_id", [False, True])
def test_counters_that_together_exceed_32_bits_merge(monkeypatch, left, right, by_id):
    if by_id:  # totals are kept by id where few of many labels have a count
        monkeypatch.setattr(label_counts, "COMPACT_ABOVE", 1)
        monkeypatch.setattr(label_counts, "COMPACT_SHARE", 1)
    assert bool(full(left).table().ids.size) == by_id
    merged = full(left).merge(full(right))
    merged.add_decisions(ONE_ROW, find_decided(ONE_ROW, ONE_ROW, 0.5, Scratch()), NO_WEIGHTS)
    arrays = merged.arrays()
    assert (arrays["ids"].tolist(), arrays["counts"].tolist()) == ([0, 2], [[left + right + 1] * 3] * 2)
    assert arrays["rows"].tolist() == [left + right + 1]


def test_counters_stay_in_32_bits_as_long_as_their_rows_fit():
    for left, right, dtype in ((MOST_ROWS - 1, 1, np.int32), (MOST_ROWS, 1, np.int64)):
        counts = full(left).merge(full(right)).table().counts
        assert (counts.dtype, counts[[0, 2]].tolist()) == (dtype, [[left + right] * 3] * 2)


def test_a_high_label_of_a_state_needs_no_room_for_those_below_it():
    counters, high = LabelCounters(1 << 27, 1), 10**8
    tracemalloc.start()
    try:
        counters.fill({"ids": np.array([high]), "counts": np.ones((1, 3), dtype=np.int64), "rows": np.array([1])})
        assert tracemalloc.get_traced_memory()[1] < high // 10
    finally:
        tracemalloc.stop()
    assert counters.arrays()["ids"].tolist() == [high]


@pytest.mark.parametrize("limit", [1 << 27, 5])
def test_counters_that_were_merged_share_no_array_with_those_before(monkeypatch, limit):
    monkeypatch.setattr(label_counts, "DENSE_IDS", limit)
    wide = Rows(np.array([0, 2]), np.array([1, 7]), np.ones(2))
    for other in (LabelCounters(9, 1), full(1, 9)):
        one = full(3, 9)
        before = one.arrays(), other.arrays()
        for merged in (one.merge(other), other.merge(one)):
            merged.add_decisions(wide, find_decided(wide, wide, 0.5, Scratch()), NO_WEIGHTS)
            assert merged.arrays()["ids"].tolist() == [0, 1, 2, 7]
        for old, new in zip(before, (one.arrays(), other.arrays()), strict=True):
            assert all(np.array_equal(old[name], new[name]) for name in old)
