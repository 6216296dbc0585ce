"""AUC of flat data: worked examples, scikit-learn, ties, groups."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from support.examples import examples

import xmceval


def naive(y_true, y_score, weight=None):
    """Every pair, in fractions."""
    weight = [1] * len(y_true) if weight is None else weight
    got = most = Fraction(0)
    for true, score, w in zip(y_true, y_score, weight, strict=True):
        for other, below, v in zip(y_true, y_score, weight, strict=True):
            if true > 0 and other <= 0:
                most += Fraction(w) * Fraction(v)
                got += Fraction(w) * Fraction(v) * (Fraction(1, 2) if score == below else int(score > below))
    return got / most if most else None


entries = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf]), st.integers(-1, 3)),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize(
    ("y_true", "y_score", "expected"),
    [
        ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.75),
        ([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1], 0.875),
        ([1, 0, 1, 0, 1, 0, 0], [3, 3, 2, 1, 2, 2, 0], 8.5 / 12),
        ([1, 0, 1, 0, 1, 0, 0], [5, 4, 4, 2, 2, 1, 0], 10 / 12),
    ],
)
def test_worked_examples(y_true, y_score, expected):
    assert xmceval.roc_auc(y_true, y_score) == expected == float(naive(y_true, y_score))


@examples(5)
@given(entries)
@example([(1, 0.0, 0), (0, -0.0, 0)])
def test_every_pair_counts_once_and_a_tie_half(rows):
    y_true, y_score, groups = (list(column) for column in zip(*rows, strict=True))
    expected = naive(y_true, y_score)
    found = xmceval.group_aucs(y_true, y_score, groups)
    if expected is None:
        with pytest.warns(xmceval.UndefinedMetricWarning, match="one class"):
            assert math.isnan(xmceval.roc_auc(y_true, y_score))
    else:
        assert xmceval.roc_auc(y_true, y_score) == float(expected)
    sizes, total = 0, Fraction(0)
    for group, value in zip(found.groups.tolist(), found.values.tolist(), strict=True):
        inside = [row for row in rows if row[2] == group]
        own = naive([row[0] for row in inside], [row[1] for row in inside])
        assert (own is None) == math.isnan(value)
        if own is not None:
            assert value == float(own)
            sizes += len(inside)
            total += own * len(inside)
    assert found.groups.tolist() == sorted(set(groups))
    assert int(found.sizes[np.isnan(found.values)].sum()) == len(rows) - sizes
    if sizes:
        assert xmceval.group_auc(y_true, y_score, groups) == pytest.approx(float(total / sizes), abs=1e-14)
    else:
        with pytest.warns(xmceval.UndefinedMetricWarning, match="no group"):
            assert math.isnan(xmceval.group_auc(y_true, y_score, groups))


@examples(2)
@given(entries, st.data())
def test_weight_2_repeats_and_weight_0_removes(rows, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    if not any(weight):
        weight[0] = 1
    repeated = [row for row, times in zip(rows, weight, strict=True) for _ in range(times)]
    one = xmceval.group_aucs(*zip(*rows, strict=True), sample_weight=weight)
    two = xmceval.group_aucs(*zip(*repeated, strict=True))
    np.testing.assert_array_equal(one.groups, two.groups)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-14)
    np.testing.assert_array_equal(one.positive, two.positive)


def test_many_entries_have_scikit_learns_value():
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    y_score = np.round(rng.normal(size=200_000), 3)
    y_true = (y_score + rng.normal(size=y_score.size) > 0.5).astype(int)
    weight = rng.random(y_true.size)
    assert xmceval.roc_auc(y_true, y_score) == pytest.approx(sklearn_metrics.roc_auc_score(y_true, y_score), abs=1e-12)
    expected = sklearn_metrics.roc_auc_score(y_true, y_score, sample_weight=weight)
    assert xmceval.roc_auc(y_true * 2 - 1, y_score, sample_weight=weight) == pytest.approx(expected, abs=1e-12)
    groups = rng.integers(0, 500, y_true.size).astype(str)
    found = xmceval.group_aucs(y_true, y_score, groups)
    for group in ("0", "17", "499"):
        rows = groups == group
        expected = sklearn_metrics.roc_auc_score(y_true[rows], y_score[rows])
        assert found.values[found.groups == group] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([0, 2], [1, 2]), "2 at entry 1"),
        (([0, 1], [1, math.nan]), "NaN at entry 1"),
        (([0, 1], [1]), "1 entry, but y_true has 2"),
        (([], []), "no entries"),
        (([[0, 1]], [[1, 2]]), "one number per entry"),
        ((["a", "b"], [1, 2]), "one number per entry"),
    ],
)
def test_wrong_arrays_are_refused(args, message):
    with pytest.raises(xmceval.DataError, match=message):
        xmceval.roc_auc(*args)
    with pytest.raises(xmceval.DataError, match=message):
        xmceval.group_auc(*args, np.zeros(len(args[0]), dtype=int))


def test_wrong_groups_and_weights_are_refused():
    with pytest.raises(xmceval.DataError, match="groups has 1 entry, but y_true has 2"):
        xmceval.group_auc([0, 1], [1, 2], [1])
    with pytest.raises(xmceval.DataError, match="one integer or string"):
        xmceval.group_auc([0, 1], [1, 2], [1.5, 2])
    with pytest.raises(xmceval.DataError, match="-1 at entry 1"):
        xmceval.roc_auc([0, 1], [1, 2], sample_weight=[1, -1])


def test_wide_integers_are_compared_as_integers():
    assert xmceval.roc_auc([0, 1], [2**62, 2**62 + 1]) == 1


def test_group_aucs_can_be_compared():
    data = [0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"]
    assert xmceval.group_aucs(*data) == xmceval.group_aucs(*data)
    assert xmceval.group_aucs(*data) != xmceval.group_aucs(*data, sample_weight=[1, 1, 1, 2])
    assert (xmceval.group_aucs(*data) == np.ones(2)) is False
