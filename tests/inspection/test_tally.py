"""Tally: counts of rows and entries against plain Python, for any rows, blocks and threads."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.pieces import read_in_pieces

from xmceval.inspection.file import COUNTS, LONG_ROW, Spread, occurring, spread, tally_rows
from xmceval.rows.matrices.source import MatrixSource, as_scores
from xmceval.rows.matrices.storage import Csr
from xmceval.rows.width import Width

VALUES = [0.0, 1.0, 1.0, 2.0, -1.0, 0.5, math.nan, math.inf, -math.inf]
N_LABELS = 6

entries = st.lists(st.tuples(st.integers(0, N_LABELS + 1), st.sampled_from(VALUES)), max_size=9)


def naive(rows):
    """The counts of rows of (label, value), one by one."""
    cells = [cell for row in rows for cell in row]
    values = [value for _, value in cells]
    labels = [[label for label, _ in row] for row in rows]
    scores = [[value for _, value in row] for row in rows]
    counts = {
        "empty_rows": sum(not row for row in rows),
        "rows_by_label": sum(all(a < b for a, b in pairwise(row)) for row in labels),
        "rows_by_score": sum(
            all(a >= b for a, b in pairwise(row)) and (not row or set(row) != {1.0}) for row in scores
        ),
        "tied_rows": sum(len({str(value) for value in row}) < len(row) and set(row) != {1.0} for row in scores),
        "duplicates": sum(len(row) - len(set(row)) for row in labels),
        "zeros": sum(value == 0 for value in values),
        "ones": sum(value == 1 for value in values),
        "negative": sum(value < 0 for value in values),
        "fractions": sum(math.isfinite(value) and value != int(value) for value in values),
        "nans": sum(math.isnan(value) for value in values),
        "infinite": sum(math.isinf(value) for value in values),
        "outside": sum(label >= N_LABELS for label, _ in cells),
    }
    assert counts.keys() == {*COUNTS}
    return counts


def source_of(rows):
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    labels = np.array([label for row in rows for label, _ in row], dtype=np.int64)
    values = np.array([value for row in rows for _, value in row], dtype=np.float64)
    return MatrixSource("rows", len(rows), N_LABELS, Csr(indptr, labels, values, are_scores=True))


@given(st.lists(entries, min_size=1, max_size=12), st.integers(1, 3))
def test_counts_are_those_of_plain_python(rows, threads):
    tally = tally_rows(source_of(rows), Width(N_LABELS, "rows has"), threads)
    assert tally.counts == naive(rows)
    finite = [value for row in rows for _, value in row if math.isfinite(value)]
    assert tally.value_range == ((min(finite), max(finite)) if finite else None)
    assert (tally.n_entries, tally.longest) == (sum(map(len, rows)), max(map(len, rows)))
    lengths = Counter(map(len, rows))
    assert [array.tolist() for array in occurring(tally.lengths)] == [
        sorted(lengths),
        [lengths[n] for n in sorted(lengths)],
    ]
    refused = sum(tally.counts[name] for name in ("nans", "duplicates", "outside"))
    assert bool(tally.faults) == bool(refused) == bool(tally.errors)


def test_labels_that_differ_are_no_duplicates_whatever_their_hashes(monkeypatch):
    """Each row is a block of its own, in which the first label has the first entry."""
    read_in_pieces(monkeypatch, entries=1)
    rows = [[(a, 0.5), (b, 0.5)] for a in range(30) for b in range(a)]
    assert tally_rows(source_of(rows), Width(), 1).counts["duplicates"] == 0


def test_blocks_and_threads_do_not_matter(rng, monkeypatch):
    rows = [[(int(label), 1.5) for label in rng.permutation(N_LABELS)[: rng.integers(0, 5)]] for _ in range(200)]
    whole = tally_rows(source_of(rows), Width(N_LABELS, "rows has"), 1)
    read_in_pieces(monkeypatch, entries=7)
    for threads in (1, 2, 5):
        parts = tally_rows(source_of(rows), Width(N_LABELS, "rows has"), threads)
        assert parts.counts == whole.counts
        assert (parts.lengths.table()[1] == whole.lengths.table()[1]).all()
        assert (parts.labels.table()[1] == whole.labels.table()[1]).all()


def test_spreads_have_bins_of_doubling_width():
    tally = tally_rows(source_of([[], [(0, 1.0)], [(0, 1.0), (1, 1.0)], [(0, 1.0), (2, 1.0), (3, 1.0)]]), Width(), 1)
    rows = spread(*occurring(tally.lengths))
    assert rows == Spread(0, 1.5, 1.5, 3, ((0, 0, 1, 0.0), (1, 1, 1, 1 / 6), (2, 3, 2, 5 / 6)))
    labels = spread(np.array([1, 3]), np.array([3, 1]))
    assert labels == Spread(1, 1.0, 1.5, 3, ((1, 1, 3, 0.5), (2, 3, 1, 0.5)))
    assert spread(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) is None


@given(st.lists(st.integers(0, 40), min_size=1))
def test_the_median_of_a_spread_is_that_of_its_numbers(numbers):
    """Of an even number of rows it was the lower one of the two in the middle."""
    assert spread(*np.unique(numbers, return_counts=True)).median == np.median(numbers)


@pytest.mark.parametrize("length", [LONG_ROW - 1, LONG_ROW, LONG_ROW + 5])
def test_very_long_rows_have_all_of_their_entries_in_the_spread(length):
    """Rows of more than 65,536 entries were taken as that long for the mean and the shares."""
    row = np.arange(length)
    rows = Csr(np.array([0, length, length + 1]), np.append(row, 0), np.append(row, 1) + 0.5, are_scores=True)
    source = MatrixSource("rows", 2, length, rows)
    tally = tally_rows(source, Width(length, "rows has"), 1)
    assert tally.longest == length
    rows = spread(*occurring(tally.lengths))
    assert (rows.least, rows.most, rows.mean) == (1, length, (length + 1) / 2)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_ten_faults_are_reported_for_any_number_of_threads(monkeypatch, threads):
    read_in_pieces(monkeypatch, entries=3)
    bad = np.arange(60).reshape(60, 1) * [[1.0, np.nan]]
    tally = tally_rows(as_scores(np.where(np.arange(60)[:, None] % 4, 1.0, bad)), Width(2, "n_labels is"), threads)
    assert [fault.row for fault in sorted(tally.faults, key=lambda fault: fault.row)[:10]] == [*range(0, 40, 4)]
