"""Copies of rows of CSR matrices: the numbers themselves, and what is noticed of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples

from xmceval.rows.block import Scratch, SortedRows
from xmceval.rows.matrices.storage import Csr

LENGTHS = (0, 1, 2, 15, 16, 17, 18, 32, 33, 34, 100)
TYPES = [(ends, ids, values) for ends in "il" for ids in "il" for values in "fd"]


def noticed(rows):
    """Return what is to be noticed of rows, each a list of labels and one of values."""
    labels = [label for ids, _ in rows for label in ids]
    values = [value for _, numbers in rows for value in numbers]
    ascends = all(a < b for ids, _ in rows for a, b in itertools.pairwise(ids))
    if not ascends or min(labels, default=0) < 0 or any(value != value for value in values):
        return None, None
    return max(labels, default=-1), all(value == 1 for value in values)


def check(rows, before, after, types):
    """Copy rows that lie between others, and compare."""
    every = [*before, *rows, *after]
    indptr = np.concatenate([[0], np.cumsum([len(ids) for ids, _ in every])]).astype(types[0])
    indices = np.array([label for ids, _ in every for label in ids], types[1])
    values = np.array([value for _, numbers in every for value in numbers], types[2])
    start, stop = len(before), len(before) + len(rows)
    some = slice(indptr[start], indptr[stop])
    copy = Csr(indptr, indices, values, are_scores=True).copy_rows(start, stop, Scratch())
    assert np.array_equal(copy.indptr, indptr[start : stop + 1] - indptr[start])
    assert np.array_equal(copy.indices, indices[some])
    assert np.array_equal(copy.values, values[some].astype(np.float64), equal_nan=True)
    largest, only_ones = noticed([(ids, np.array(numbers, types[2])) for ids, numbers in rows])
    assert isinstance(copy, SortedRows) == (largest is not None)
    if isinstance(copy, SortedRows):
        assert (copy.largest_label, copy.has_only_ones) == (largest, only_ones)


def row(rng, n, usual):
    ids = np.sort(rng.choice(4 * n + 1, n, replace=False))
    return (ids if usual else rng.permutation(ids)).tolist(), (np.ones(n) if usual else rng.random(n)).tolist()


@pytest.mark.parametrize("types", TYPES, ids="".join)
@pytest.mark.parametrize("length", LENGTHS)
def test_any_entry_may_be_unusual(types, length, rng):
    others = [row(rng, 5, True), row(rng, 0, True)]
    usual = [row(rng, 3, True), row(rng, length, True), row(rng, 0, True), row(rng, 20, True)]
    check(usual, others, others, types)
    check(usual, [], [], types)
    for entry in range(length):
        for label, value in ((-1, 1.0), (10**6, 1.0), (None, np.nan), (None, 0.5), (None, np.inf), (0, 1.0)):
            ids, values = (list(each) for each in usual[1])
            ids[entry], values[entry] = ids[entry] if label is None else label, value
            check([usual[0], (ids, values), *usual[2:]], others, others, types)


@pytest.mark.parametrize("types", TYPES, ids="".join)
def test_no_entries_and_label_0_alone_have_their_largest_label(types):
    for rows in ([], [([], [])], [([0], [1.0]), ([], [])]):
        check(rows, [], [([5], [2.0])], types)


@examples(5)
@given(st.data(), st.sampled_from(TYPES), st.integers(0, 2**32 - 1))
def test_rows_of_all_kinds_are_copied(data, types, seed):
    rng = np.random.default_rng(seed)
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(LENGTHS), st.integers(0, 9).map(bool)), max_size=12))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(drawn))] * 2)))
    rows = [row(rng, n, usual) for n, usual in drawn]
    check(rows[start:stop], rows[:start], rows[stop:], types)
