"""Duplicates: with duplicates=max the largest value of a label counts, wherever it is stored; else they are refused."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive
from scipy.sparse import csr_matrix
from support.approved import check_lines
from support.pieces import read_in_pieces

import xmceval

score_graded = partial(xmceval.score, grades=True)
N_LABELS = 7
ROW = st.lists(st.tuples(st.integers(0, N_LABELS - 1), st.integers(1, 4).map(float)), max_size=12)


def to_matrix(rows):
    """Return rows of (label, value) pairs as CSR; scipy never sees that labels repeat."""
    matrix = csr_matrix((len(rows), N_LABELS))
    matrix.indptr = np.cumsum([0, *map(len, rows)])
    matrix.indices = np.array([label for row in rows for label, _ in row], dtype=np.int64)
    matrix.data = np.array([value for row in rows for _, value in row])
    return matrix


def largest(row):
    """Return a row as a dict with the largest value of each label."""
    return {label: max(value for other, value in row if other == label) for label, _ in row}


@given(rows=st.lists(st.tuples(ROW, ROW), min_size=1, max_size=6), entries=st.sampled_from([1, 20, 1 << 17]))
def test_values_with_duplicates_are_the_judges_of_the_largest(rows, entries):
    truth, scores = ([row[part] for row in rows] for part in (0, 1))
    names = ["P", "R", "DCG", "nDCG", "RR"]
    with pytest.MonkeyPatch.context() as patch:
        read_in_pieces(patch, entries=entries)
        result = score_graded(to_matrix(truth), to_matrix(scores), k=2, metrics=names, duplicates="max", threads=1)
    merged = [[largest(row) for row in part] for part in (truth, scores)]
    for name in names:
        assert result[f"{name}@2"] == pytest.approx(naive.evaluate(name, 2, {}, *merged), rel=1e-12, abs=1e-12)
    assert result.counts.n_true == sum(map(len, merged[0]))
    assert result.counts.n_predictions == sum(map(len, merged[1]))
    for name, part, whole in zip(("y_true", "y_score"), merged, (truth, scores), strict=True):
        n = sum(map(len, whole)) - sum(map(len, part))
        reported = f"{name}: dropped {n:,} duplicate {'entry' if n == 1 else 'entries'}; the largest value of a label"
        assert any(warning.startswith(reported) for warning in result.warnings) == (n > 0)


@pytest.mark.parametrize("values", [(1.0, 2.0), (2.0, 1.0), (-2.0, -1.0), (1.0, 3.0, 2.0), (-np.inf, 0.0), (1.0, 1.0)])
def test_the_largest_of_a_label_counts_in_any_order(values):
    """Beside scores that are between the values, so that the ranking tells which of them was kept."""
    others = [(0, 1.5), (1, -1.5), (2, 0.5), (3, -0.5), (4, 2.5)]
    options = {"metrics": ["RR@all", "f1_score"], "threshold": max(values)}
    truth = to_matrix([[(0, 1.0)], [(5, 1.0)]])
    first, twice = [(0, 1.0), (5, 0.0)], [*others, *((5, value) for value in values)]
    found = score_graded(truth, to_matrix([first, twice]), **options, duplicates="max")
    expected = score_graded(truth, to_matrix([first, [*others, (5, max(values))]]), **options)
    assert (found.estimates, found.counts) == (expected.estimates, expected.counts)
    assert f"dropped {len(values) - 1} duplicate" in str(found.warnings)


def test_long_rows_of_labels_that_share_their_slots_are_merged(rng):
    labels = rng.permutation(np.repeat(np.arange(400) << 16, 3))
    values = rng.normal(size=labels.size)
    row = {label: values[labels == label].max() for label in sorted(set(labels.tolist()))}
    once = csr_matrix((list(row.values()), list(row), [0, 0, 400, 400]), shape=(3, 400 << 16))
    twice = csr_matrix(once.shape)
    twice.indptr, twice.indices, twice.data = np.array([0, 0, labels.size, labels.size]), labels, values
    truth = csr_matrix((np.ones(200), list(row)[::2], [0, 0, 200, 200]), shape=once.shape)
    options = {"metrics": ["AP", "nDCG"], "k": 400}
    found = score_graded(truth, twice, **options, duplicates="max")
    assert found.estimates == score_graded(truth, once, **options).estimates
    assert found.counts.n_predictions == 400


ONES = np.ones((1, 12))


def twice(first, second):
    """Return a row in which the label at one place is also at another."""
    labels = [(5 * i) % 12 for i in range(12)]
    labels[second] = labels[first]
    matrix = csr_matrix((1, 12))
    matrix.indptr, matrix.indices, matrix.data = np.array([0, 12]), np.array(labels), np.arange(1.0, 13.0)
    return matrix


def dropped(y_true, y_score, metrics="P"):
    """Return what is said of duplicates, by score and by an Evaluator."""
    options = {"metrics": metrics, "k": 1, "duplicates": "max"}
    evaluator = xmceval.Evaluator(**{**options, "metrics": "P"})
    evaluator.update(y_true, y_score)
    results = score_graded(y_true, y_score, **options), evaluator.result()
    return "\n".join(line for result in results for line in result.warnings if "duplicate" in line)


def test_duplicates_are_refused_and_counted_in_these_words():
    check_lines(__file__, "duplicates.txt", globals())
