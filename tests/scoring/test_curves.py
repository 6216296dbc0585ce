"""Curves: entries in order, and the steps of a curve, against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from xmceval.kernels.metrics.curves import sum_ordered_pairs
from xmceval.scoring.tasks.curves import (
    RankedGroups,
    add_up_steps,
    average_precisions,
    find_starts,
    partial_roc_areas,
    roc_areas,
    sort_by_score,
)

GROUPS = {
    "few": [0, 1, 2],
    "above 2^16": [3, 70_000, 2**32 - 1],
    "above 2^32": [0, 2**32, 2**40],
    "negative": [-1, 0, 5],
    "text": ["a", "b", "bb"],
}


def unweighted(starts, is_true, scores):
    """Groups of entries that weigh 1."""
    return RankedGroups(starts, is_true, scores, np.ones(scores.size), np.zeros(starts.size - 1))


SCORES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, np.inf, np.nan])


@pytest.mark.parametrize("kind", GROUPS)
@given(data=st.data())
def test_entries_are_in_order_of_group_score_and_place(kind, data):
    entries = data.draw(st.lists(st.tuples(st.sampled_from(GROUPS[kind]), SCORES), max_size=40))
    groups, scores = np.array([group for group, _ in entries]), np.array([score for _, score in entries], dtype=float)
    expected = np.lexsort((-scores, np.unique(groups, return_inverse=True)[1]))
    np.testing.assert_array_equal(sort_by_score(scores, groups, stable=True), expected)
    found = sort_by_score(scores, groups)
    np.testing.assert_array_equal(groups[found], groups[expected])
    np.testing.assert_array_equal(scores[found], scores[expected])
    np.testing.assert_array_equal(scores[sort_by_score(scores)], scores[np.argsort(-scores)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_groups_of_any_type_of_integer_are_sorted(rng, dtype):
    groups, scores = rng.integers(0, 200, 500).astype(dtype), rng.integers(0, 5, 500).astype(float)
    np.testing.assert_array_equal(sort_by_score(scores, groups, stable=True), np.lexsort((-scores, groups)))


def test_runs_start_where_the_value_changes():
    assert find_starts(np.array([4, 4, 7, 4])).tolist() == [0, 2, 3, 4]
    assert find_starts(np.array(["a"])).tolist() == [0, 1]
    assert find_starts(np.empty(0)).tolist() == [0]


ENTRIES = st.tuples(st.booleans(), st.sampled_from([-1.0, 0.0, 2.0]), st.sampled_from([0.0, 0.5, 1.0]))


@given(st.lists(ENTRIES, max_size=12))
def test_steps_are_sums_of_all_entries_with_at_least_a_score(entries):
    entries = sorted(entries, key=lambda entry: -entry[1])
    truth, scores, weights = np.array(entries, dtype=float).reshape(-1, 3).T
    truth = truth.astype(bool)
    *sums, distinct = add_up_steps(truth, scores, weights)
    thresholds = sorted({score for _, score, _ in entries}, reverse=True)
    assert distinct.tolist() == thresholds
    for threshold, tps, fps in zip(thresholds, *sums, strict=True):
        above = [(true, weight) for true, score, weight in entries if score >= threshold]
        assert tps == sum(weight for true, weight in above if true)
        assert fps == sum(weight for true, weight in above if not true)
    counted, ones = add_up_steps(truth, scores), add_up_steps(truth, scores, np.ones(truth.size))
    for whole, real in zip(counted, ones, strict=True):
        np.testing.assert_array_equal(whole, real)
    assert counted[0].dtype == counted[1].dtype == np.int64


@pytest.mark.parametrize("spare", [0.0, 2.0])
def test_a_group_has_the_area_that_it_has_alone(rng, spare):
    groups, scores = np.sort(rng.integers(0, 6, 60)), rng.integers(-2, 3, 60).astype(float)
    order = sort_by_score(scores, groups)
    starts, truth, scores = find_starts(groups), rng.random(60) < 0.4, scores[order]
    spares = np.full(starts.size - 1, spare)
    ranked = unweighted(starts, truth, scores)._replace(spare=spares)
    for compute in (roc_areas, average_precisions, lambda each: partial_roc_areas(each, 0.25)):
        together = compute(ranked)
        for g, (start, stop) in enumerate(itertools.pairwise(starts)):
            part = slice(start, stop)
            one = unweighted(np.array([0, stop - start]), truth[part], scores[part])
            one = one._replace(spare=spares[:1])
            np.testing.assert_array_equal(np.ravel(compute(one)), [each[g] for each in together])
    whole = unweighted(np.array([0]), truth[:0], scores[:0])
    assert roc_areas(whole).values.size == average_precisions(whole).values.size == 0


@given(st.integers(1, 2**52), st.integers(1, 2**53))
@example(2**27 + 1, 2**27 + 1)
@example(2**52 - 1, 2**53 - 1)
def test_the_sum_of_pairs_of_whole_weights_is_exact(positive, negative):
    doubled, weights = np.empty((1, 2)), np.array([positive, negative], dtype=float)
    group = np.array([0, 2]), np.array([True, False]), np.array([2.0, 1.0]), weights, np.zeros(1)
    sum_ordered_pairs(*group, doubled, np.empty(1), np.empty(1))
    assert sum(map(int, doubled[0].tolist())) == 2 * positive * negative


@given(st.lists(st.tuples(st.booleans(), st.integers(-2, 2))), st.integers(0, 3))
def test_a_group_of_both_classes_has_the_areas_of_its_entries_one_by_one(entries, n_zeros):
    listed = sorted([*entries, *[(False, 0)] * n_zeros], key=lambda entry: -entry[1])
    truth, scores = np.array([each[0] for each in listed], bool), np.array([each[1] for each in listed], float)
    ranked = unweighted(np.array([0, scores.size]), truth, scores)
    positive, negative = (np.array([score for is_true, score in entries if is_true == each], float) for each in (1, 0))
    merged = RankedGroups.of_classes(positive, negative, n_zeros)
    for areas in (roc_areas, average_precisions):
        np.testing.assert_array_equal(areas(merged), areas(ranked))
    assert merged.scores.size <= 3 * positive.size + 1
