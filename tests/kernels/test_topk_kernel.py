"""The values of rows: each way to find ranked labels among the true ones, and the best ideal, against the judge."""

import itertools

import numpy as np
import pytest
from judge import naive
from support import measures
from support.measures import HEADS
from support.strategies import Case

import xmceval
from xmceval.kernels.metrics.topk import BEST

N_LABELS = 768
LENGTHS = (0, 1, 2, 7, 8, 9, BEST - 1, BEST, BEST + 1, 36, 255, 256, 257, 512)
CUTOFFS = (1, 3, 8, 9, BEST, BEST + 1)


def test_the_rarest_labels_are_the_best_ranking_at_a_deep_cutoff():
    inverse = np.arange(1.0, BEST + 3)  # the rarest label is the last one
    result = xmceval.score(
        np.ones((1, BEST + 2)), inverse[None], k=BEST + 1, metrics="PSP", inverse_propensities=inverse
    )
    assert result[f"PSP@{BEST + 1}"] == 1.0


@pytest.mark.parametrize("deepest", [1, 9, BEST + 1])
@pytest.mark.parametrize("n_inverse", [5, 1000])
@pytest.mark.parametrize("graded", [False, True])
def test_rows_of_any_length_are_judged_alike_at_any_cutoff(rng, deepest, n_inverse, graded):
    truth, scores = [], []
    for n, n_stored in itertools.product(LENGTHS, (0, 1, deepest, 3 * deepest)):
        labels = rng.permutation(N_LABELS)
        grades = rng.integers(1, 5, n) if graded else np.ones(n)
        truth.append(dict(zip(labels[:n].tolist(), grades.tolist(), strict=True)))
        first = max(n - n_stored // 2, 0)  # about half of what is stored is true
        stored = labels[first : first + n_stored]
        scores.append(dict(zip(stored.tolist(), rng.permutation(n_stored).tolist(), strict=True)))
    inverse = (1.0 + rng.integers(0, n_inverse, N_LABELS) / 7).tolist()
    case = Case(truth, scores, N_LABELS, inverse)
    cutoffs = [k for k in CUTOFFS if k <= deepest]
    result = measures.score(case, k=cutoffs)
    for (head, (name, options)), k in itertools.product(HEADS.items(), cutoffs):
        expected = naive.evaluate(name, k, options, truth, scores, inverse, N_LABELS)
        assert result[f"{head}@{k}"] == pytest.approx(expected, rel=1e-12, abs=1e-12), head
