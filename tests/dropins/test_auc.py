"""Areas under the ROC curve: by definition, in groups, and with the same bits from every function."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import sparse
from support.examples import examples

import xmceval


def area(positives, negatives):
    """Return the share of pairs in order by definition, or None without a pair; arguments map scores to weights."""
    pairs = sum(n * m * (Fraction(s > t) + Fraction(s == t, 2)) for s, n in positives for t, m in negatives)
    total = sum(n for _, n in positives) * sum(m for _, m in negatives)
    return float(Fraction(pairs) / total) if total else None


def naive(y_true, y_score):
    """Return the area of a list by looking at every pair."""
    return area(*([(s, 1) for true, s in zip(y_true, y_score, strict=True) if true == kind] for kind in (1, 0)))


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
    assert xmceval.roc_auc(y_true, y_score) == expected == naive(y_true, y_score)


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
        assert xmceval.roc_auc(y_true, y_score) == expected
    sizes, total = 0, 0.0
    for group, value in zip(found.groups.tolist(), found.values.tolist(), strict=True):
        inside = [row for row in rows if row[2] == group]
        within = naive([row[0] for row in inside], [row[1] for row in inside])
        assert (within is None) == math.isnan(value)
        if within is not None:
            assert value == within
            sizes += len(inside)
            total += within * len(inside)
    assert found.groups.tolist() == sorted(set(groups))
    assert int(found.sizes[np.isnan(found.values)].sum()) == len(rows) - sizes
    if sizes:
        assert xmceval.group_auc(y_true, y_score, groups) == pytest.approx(total / sizes, abs=1e-14)
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


def test_wide_integers_are_compared_as_integers():
    assert xmceval.roc_auc([0, 1], [2**62, 2**62 + 1]) == 1


def test_group_aucs_can_be_compared():
    data = [0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"]
    assert xmceval.group_aucs(*data) == xmceval.group_aucs(*data)
    assert xmceval.group_aucs(*data) != xmceval.group_aucs(*data, sample_weight=[1, 1, 1, 2])
    assert (xmceval.group_aucs(*data) == np.ones(2)) is False


LISTS = st.lists(st.tuples(st.booleans(), st.integers(-2, 3)), min_size=2, max_size=30).filter(
    lambda cells: len({true for true, _ in cells}) == 2
)


@given(LISTS)
def test_all_functions_give_the_same_bits(cells):
    truth, scores = (np.array(column) for column in zip(*cells, strict=True))
    expected = area(*([(int(score), 1) for true, score in cells if true is kind] for kind in (True, False)))
    column = sparse.csr_array(scores[:, None].astype(float)), sparse.csr_array(truth[:, None].astype(float))
    found = [
        xmceval.roc_auc(truth, scores),
        xmceval.roc_auc(truth, scores, sample_weight=np.full(truth.size, 3)),
        *xmceval.group_aucs(truth, scores, np.zeros(truth.size, dtype=int)).values,
        xmceval.roc_auc_score(truth, scores),
        xmceval.roc_auc_score(column[1], column[0], average="micro"),
        *xmceval.score(column[1], column[0], metrics="macroAUC,microAUC", unscored="zero").values(),
    ]
    assert found == [expected] * len(found)


@pytest.mark.parametrize("n_labels", [10**6, 2**31, 2**40, 2**52, 2**61])
def test_a_perfect_ranking_has_area_1_however_many_cells_there_are(n_labels):
    n_rows = 6000
    truth = sparse.csr_array((np.ones(n_rows), np.arange(n_rows), np.arange(n_rows + 1)), shape=(n_rows, n_labels))
    assert xmceval.score(truth, truth, metrics="microAUC", unscored="zero")["microAUC"] == 1.0
    assert xmceval.score(truth, -1 * truth, metrics="microAUC", unscored="zero")["microAUC"] == 0.0
    if n_labels < 2**52:
        assert xmceval.roc_auc_score(truth, truth, average="micro") == 1.0
        assert xmceval.average_precision_score(truth, truth, average="micro") == 1.0


@pytest.mark.parametrize("n_labels", [50, 2**31, 2**50])
def test_areas_of_any_number_of_cells_are_right_to_the_last_bit(rng, n_labels):
    n_rows = 40
    labels = np.sort(rng.choice(50, (2, n_rows, 3)), axis=2)  # a label twice is one true label
    truth, scores = (
        sparse.csr_array((np.ones(3 * n_rows), rows.ravel(), np.arange(0, 3 * n_rows + 1, 3)), shape=(n_rows, n_labels))
        for rows in labels
    )
    for matrix in (truth, scores):
        matrix.sum_duplicates()
    truth.data[:] = 1
    scores.data = rng.integers(-3, 4, scores.nnz).astype(float)
    true = {(int(row), int(label)) for row, label in zip(*truth.nonzero(), strict=True)}
    coo = scores.tocoo()
    stored = {(int(i), int(j)): float(x) for i, j, x in zip(coo.row, coo.col, coo.data, strict=True)}
    positives = [(stored.get(cell, 0.0), 1) for cell in true]
    negatives = [(score, 1) for cell, score in stored.items() if cell not in true]
    negatives.append((0.0, n_rows * n_labels - len(true | stored.keys())))
    assert xmceval.score(truth, scores, metrics="microAUC", unscored="zero")["microAUC"] == area(positives, negatives)
    assert xmceval.roc_auc_score(truth, scores, average="micro") == area(positives, negatives)
