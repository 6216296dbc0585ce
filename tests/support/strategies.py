"""Hypothesis strategies: small truth and scores with the edges in them, and the same as matrices and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from judge import naive
from scipy.sparse import csr_matrix
from support.examples import examples

few = examples(0.5)  # for tests that also have many rows made from a seed
COARSE = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0])
FINE = st.floats(-8, 8, width=32)


@dataclass(frozen=True)
class Case:
    """Truth and scores of the same rows, and 1/p of each label."""

    truth: list[dict[int, float]]
    scores: list[dict[int, float]]
    n_labels: int
    inverse: list[float]


def subsets(n_labels: int, values: st.SearchStrategy[float]) -> st.SearchStrategy[dict[int, float]]:
    """Return rows {label: value}; one in some is empty."""
    return st.dictionaries(st.integers(0, n_labels - 1), values, max_size=n_labels)


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 6, max_labels: int = 9, graded: bool = False, ties: bool = True) -> Case:
    """Return a case; without `ties` each row's scores differ, with `graded` the truth has grades, fractions too."""
    n_labels = draw(st.integers(1, max_labels))
    n_rows = draw(st.integers(1, max_rows))
    grade = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.5, 4.0]) if graded else st.just(1.0)
    truth = draw(st.lists(subsets(n_labels, grade), min_size=n_rows, max_size=n_rows))
    scores = draw(st.lists(score_rows(n_labels, ties), min_size=n_rows, max_size=n_rows))
    counts = draw(st.lists(st.integers(0, 40), min_size=n_labels, max_size=n_labels))
    inverse = naive.inverse_propensities(counts, max(counts) + draw(st.integers(3, 1000)), 0.55, 1.5)
    return Case(truth, scores, n_labels, inverse)


@st.composite
def weighted_cases(draw: st.DrawFn, graded: bool = True) -> tuple[Case, list[float] | None, str]:
    """Return a case, its sample weights or None, and how rows without truth count."""
    case = draw(cases(graded=graded))
    weights = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(case.truth), max_size=len(case.truth))
    return case, draw(st.none() | weights.filter(any)), draw(st.sampled_from(["zero", "drop"]))


def random_case(seed: int, n_rows: int = 40, n_labels: int = 12) -> Case:
    """Return a case with fractions as grades, ties, short lists, rows without truth and rows without predictions."""
    rng = np.random.default_rng(seed)

    def row(low: int, high: int, scale: float) -> dict[int, float]:
        labels = rng.choice(n_labels, rng.integers(0, n_labels * 2 // 3), replace=False)
        return {int(label): float(rng.integers(low, high)) * scale for label in labels}

    truth = [row(1, 5, 0.75) if rng.random() < 0.85 else {} for _ in range(n_rows)]
    scores = [row(-3, 4, 0.5) if rng.random() < 0.95 else {} for _ in range(n_rows)]
    inverse = naive.inverse_propensities(rng.integers(0, 30, n_labels).tolist(), 50, 0.55, 1.5)
    return Case(truth, scores, n_labels, inverse)


def random_weights(seed: int, n_rows: int = 40) -> list[float]:
    """Return sample weights, some of them 0."""
    return np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 3.0], n_rows).tolist()


def random_problem(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return truth and scores of 40 labels with every degenerate row and label."""
    truth = (rng.random((n_rows, 40)) < rng.random(40) * 0.2).astype(int)
    scores = np.round(rng.normal(size=truth.shape) + truth, 1) * (rng.random(truth.shape) < 0.5)
    truth[:, 0], truth[:, 1], scores[:, 2], truth[:5], scores[3:8] = 0, 1, 0, 0, 0
    return truth, scores


def score_rows(n_labels: int, ties: bool) -> st.SearchStrategy[dict[int, float]]:
    """Return rows of scores: coarse ones tie, fine ones seldom do."""
    if ties:
        return st.one_of(subsets(n_labels, COARSE), subsets(n_labels, FINE))
    distinct = st.lists(FINE.filter(lambda x: x != 0), min_size=n_labels, max_size=n_labels, unique=True)
    return st.tuples(st.sets(st.integers(0, n_labels - 1)), distinct).map(lambda x: {i: x[1][i] for i in sorted(x[0])})


def to_csr(rows: list[dict[int, float]], n_labels: int, dtype: type = np.float32) -> csr_matrix:
    """Return rows as CSR with ascending labels; stored zeros stay stored."""
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    indices = [label for row in rows for label in sorted(row)]
    data = [row[label] for row in rows for label in sorted(row)]
    return csr_matrix((np.array(data, dtype), np.array(indices, np.int32), indptr), shape=(len(rows), n_labels))


def shuffled(rng: np.random.Generator, csr: csr_matrix) -> csr_matrix:
    """Return CSR with the entries of each row in any order."""
    lengths = np.diff(csr.indptr)
    order = np.concatenate([start + rng.permutation(n) for start, n in zip(csr.indptr[:-1], lengths, strict=True)])
    return csr_matrix((csr.data[order], csr.indices[order], csr.indptr), shape=csr.shape)


def to_rows(matrix: Any) -> list[dict[int, float]]:
    """Return a matrix as rows {label: value}: what is stored of a sparse one, what is not 0 of a dense one."""
    csr = csr_matrix(matrix)
    ends = zip(csr.indptr[:-1], csr.indptr[1:], strict=True)
    return [dict(zip(csr.indices[i:j].tolist(), csr.data[i:j].tolist(), strict=True)) for i, j in ends]


def to_text(rows: list[dict[int, float]], n_labels: int) -> str:
    """Return rows as an XMLRepository file: `rows cols`, then `idx:value idx:value` lines."""
    lines = [" ".join(f"{label}:{row[label]!r}" for label in sorted(row)) for row in rows]
    return "\n".join([f"{len(rows)} {n_labels}", *lines]) + "\n"


def without(rows: list[dict[int, float]], filtered: list[set[int]]) -> list[dict[int, float]]:
    """Return rows without some labels of each."""
    pairs = zip(rows, filtered, strict=True)
    return [{label: value for label, value in row.items() if label not in out} for row, out in pairs]
