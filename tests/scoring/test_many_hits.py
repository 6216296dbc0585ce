"""Whole rows with few and with many hits, which are counted in two ways, against the judge."""

import numpy as np
import pytest
from judge import naive_rows
from support.judged import check_judged
from support.strategies import shuffled, to_csr
from support.wholerows import name_of

import xmceval
from xmceval.kernels.metrics.hits import FEW

N_LABELS = 3 * FEW


def rows_of(rng, scores):
    """Return truth and scores of rows with up to 2 FEW hits, among them just below, at and above FEW."""
    truth, predicted = [], []
    for n_hits in (0, 1, FEW - 1, FEW, FEW + 1, 2 * FEW):
        labels = rng.permutation(N_LABELS)
        true = labels[: n_hits + int(rng.integers(0, 9))]
        stored = [*labels[:n_hits], *labels[true.size :][: int(rng.integers(1, FEW // 2))]]
        truth.append({int(label): float(rng.integers(1, 5)) for label in true})
        predicted.append({int(label): float(rng.choice(scores)) for label in stored})
    return truth, predicted


@pytest.mark.parametrize(
    "scores", [[0.5], [-1.0, 0.0, 0.5, 1.0], np.linspace(-1, 1, 1000)], ids=["tied", "some", "few"]
)
@pytest.mark.parametrize("unscored", ["bottom", "zero"])
def test_values_of_rows_with_many_hits_are_the_judges_in_any_order_of_labels(rng, scores, unscored):
    truth, predicted = rows_of(rng, scores)
    names = [name_of(name, 5) for name in naive_rows.METRICS]
    y_true, y_score = to_csr(truth, N_LABELS), to_csr(predicted, N_LABELS, np.float64)
    result = xmceval.score(y_true, y_score, metrics=names, unscored=unscored)
    check_judged(result, truth, predicted, unscored=unscored, least=len(names))
    for name in names:
        assert xmceval.score(y_true, y_score, metrics=name, unscored=unscored).estimates[name] == result.estimates[name]
    for _ in range(3):
        again = xmceval.score(y_true, shuffled(rng, y_score), metrics=names, unscored=unscored)
        assert again.estimates == result.estimates
