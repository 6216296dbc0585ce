"""The kernels of the best labels: every way to find them gives what sorting gives, and values are the judge's."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive
from numba import config
from support import graded, measures
from support.examples import examples
from support.measures import HEADS
from support.strategies import Case

from xmceval.kernels.metrics import ranking
from xmceval.kernels.metrics.topk import BEST

N_LABELS = 1 << 40
LENGTHS = (0, 1, 15, 16, 17, 31, 32, 33, 64, 65, 100, 257) if config.DISABLE_JIT else (*range(70), 100, 128, 257, 3000)
SCORES = {
    "random": lambda rng, n: rng.random(n),
    "ascending": lambda _, n: np.arange(float(n)),
    "descending": lambda _, n: -np.arange(float(n)),
    "tied": lambda _, n: np.ones(n),
    "few values": lambda rng, n: rng.integers(-1, 2, n).astype(float),
    "zeros of both signs": lambda rng, n: rng.choice([0.0, -0.0, 1.0], n),
    "infinite": lambda rng, n: rng.choice([-np.inf, np.inf, 0.5], n),
    "all in one column": lambda rng, n: rng.random(n) + 9.0 * (np.arange(n) % ranking.LANES == 3),
}


def ranked(kernel, rows, depth):
    """What a kernel makes of rows of (labels, scores): the labels and scores of each, and the rows with ties."""
    indptr = np.concatenate([[0], np.cumsum([len(labels) for labels, _ in rows])]).astype(np.int64)
    labels, scores = (np.concatenate([np.empty(0), *column]) for column in zip(*rows, strict=True))
    found = np.full((len(rows), depth), -1), np.zeros((len(rows), depth)), np.zeros(len(rows), dtype=np.int64)
    maxima, space = np.empty(ranking.LANES), (np.empty(4 * depth, np.int64), np.empty(4 * depth))
    n_tied = kernel((indptr, labels.astype(np.int64), scores), found, maxima if kernel is ranking.top_k else space)
    return [(list(a[:n]), list(b[:n])) for a, b, n in zip(*found, strict=True)], n_tied


def expected(rows, depth):
    found, n_tied = [], 0
    for labels, scores in rows:
        order = np.lexsort((labels, -scores))[:depth]
        found.append((list(labels[order]), list(scores[order])))
        n_tied += bool(np.any(scores[order][1:] == scores[order][:-1]))
    return found, n_tied


def kernels(depth):
    """The kernels for rankings of this number of labels."""
    return (ranking.top_k, ranking.top_many)[depth > ranking.SHALLOW :]


@pytest.mark.parametrize("depth", [1, 2, 6, 16, 17, 50, 300])
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("in_order", [True, False])
def test_rows_of_any_length_are_ranked_by_score_and_label(depth, kind, in_order, rng):
    rows = []
    for n in LENGTHS:
        labels = np.sort(rng.choice(10 * n + 1, n, replace=False))
        rows.append((labels if in_order else rng.permutation(labels), SCORES[kind](rng, n)))
    for kernel in kernels(depth):
        assert ranked(kernel, rows, depth) == expected(rows, depth)


@examples(10)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, N_LABELS), st.sampled_from([-1.0, 0.0, 0.25, 1e300]))), min_size=1),
    st.integers(1, 40),
)
def test_both_kernels_do_what_sorting_does(rows, depth):
    unique = [dict(row) for row in rows]
    arrays = [(np.array(list(row), dtype=np.int64), np.array(list(row.values()))) for row in unique]
    for kernel in kernels(depth):
        assert ranked(kernel, arrays, depth) == expected(arrays, depth)


# Values of rows: each way to find ranked labels among the true ones, and the best ideal, against the judge

WIDTH = 768
N_TRUE = (0, 1, 2, 7, 8, 9, BEST - 1, BEST, BEST + 1, 36, 255, 256, 257, 512)
CUTS = (1, 3, 8, 9, BEST, BEST + 1)


def test_the_rarest_labels_are_the_best_ranking_at_a_deep_cutoff():
    inverse = np.arange(1.0, BEST + 3)  # the rarest label is the last one
    result = graded.score(
        np.ones((1, BEST + 2)), inverse[None], k=BEST + 1, metrics="PSP", inverse_propensities=inverse
    )
    assert result[f"PSP@{BEST + 1}"] == 1.0


@pytest.mark.parametrize("deepest", [1, 9, BEST + 1])
@pytest.mark.parametrize("n_inverse", [5, 1000])
@pytest.mark.parametrize("graded", [False, True])
def test_rows_of_any_length_are_judged_alike_at_any_cutoff(rng, deepest, n_inverse, graded):
    truth, scores = [], []
    for n, n_stored in itertools.product(N_TRUE, (0, 1, deepest, 3 * deepest)):
        labels = rng.permutation(WIDTH)
        grades = rng.integers(1, 5, n) if graded else np.ones(n)
        truth.append(dict(zip(labels[:n].tolist(), grades.tolist(), strict=True)))
        first = max(n - n_stored // 2, 0)  # about half of the stored labels are true
        stored = labels[first : first + n_stored]
        scores.append(dict(zip(stored.tolist(), rng.permutation(n_stored).tolist(), strict=True)))
    inverse = (1.0 + rng.integers(0, n_inverse, WIDTH) / 7).tolist()
    case = Case(truth, scores, WIDTH, inverse)
    cutoffs = [k for k in CUTS if k <= deepest]
    result = measures.score(case, k=cutoffs)
    for (head, (name, options)), k in itertools.product(HEADS.items(), cutoffs):
        expected = naive.evaluate(name, k, options, truth, scores, inverse, WIDTH)
        assert result[f"{head}@{k}"] == pytest.approx(expected, rel=1e-12, abs=1e-12), head
