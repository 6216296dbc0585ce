"""One area under the ROC curve: every function that computes it gives the same bits, and nothing overflows."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import xmceval

LISTS = st.lists(st.tuples(st.booleans(), st.integers(-2, 3)), min_size=2, max_size=30).filter(
    lambda cells: len({true for true, _ in cells}) == 2
)


def area(positives, negatives):
    """The share of pairs in order, by definition; each argument maps scores to numbers of cells."""
    pairs = sum(n * m * (Fraction(s > t) + Fraction(s == t, 2)) for s, n in positives for t, m in negatives)
    return float(Fraction(pairs) / (sum(n for _, n in positives) * sum(m for _, m in negatives)))


@given(LISTS)
def test_all_functions_give_the_same_bits(cells):
    truth, scores = (np.array(column) for column in zip(*cells, strict=True))
    expected = area(*([(int(score), 1) for true, score in cells if true is kind] for kind in (True, False)))
    column = sp.csr_array(scores[:, None].astype(float)), sp.csr_array(truth[:, None].astype(float))
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
    truth = sp.csr_array((np.ones(n_rows), np.arange(n_rows), np.arange(n_rows + 1)), shape=(n_rows, n_labels))
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
        sp.csr_array((np.ones(3 * n_rows), rows.ravel(), np.arange(0, 3 * n_rows + 1, 3)), shape=(n_rows, n_labels))
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
