"""Cases: random inputs for all tools, and which kinds of input each one is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz

SEED, DRAWS = 25, 3
ANY = "all"  # the kind that every case is
THRESHOLD = 0.5  # of decisions
CLOSE = "scores equal in 32 bits"
NEITHER = "all judged false and no prediction"
FULL = "a score for every label"
MASKED = "scores of -inf"
PARTS = ("truth", "scores", "train")  # of a case
N_ROWS, N_LABELS, MOST = 25, 14, 10  # MOST is the largest cutoff
# What is done to scores, to truth, and to the number of predictions
ALTERED = (
    "plain", "good", "ties", "close", "float32", "negative", "zero scores", "no truth", "all true", "zeros", "grades",
    "unseen", "short", "none", "short, none", "all", "masked",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Truth and scores, instances x labels, and labels of training instances."""

    name: str
    truth: csr_matrix
    scores: csr_matrix
    train: csr_matrix

    @property
    def most(self) -> int:
        """The largest cutoff."""
        return min(MOST, self.truth.shape[1])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of input that it is."""
        return frozenset(kind for kind, is_kind in list_kinds(self) if is_kind)


def list_kinds(case: Case) -> Iterator[tuple[str, Any]]:
    """Yield every kind, and whether a case is of it."""
    truth, scores = case.truth, case.scores
    true, predicted = np.diff((truth > 0).tocsr().indptr), np.diff(scores.indptr)
    judged, counts = np.diff(truth.indptr), np.asarray((truth > 0).sum(axis=0)).ravel()
    yield ANY, True
    yield MASKED, np.isneginf(scores.data).any()
    yield "ties", has_ties(scores, np.float64)
    yield CLOSE, has_ties(scores, np.float32) and not has_ties(scores, np.float64)
    yield "scores in 32 bits", scores.dtype == np.float32
    yield "negative scores", (scores.data < 0).any()
    yield "stored zero scores", (scores.data == 0).any()
    yield "scores at the threshold", (scores.data == THRESHOLD).any()
    yield "scores outside of 0..1", ((scores.data < 0) | (scores.data > 1)).any()
    yield "no true label", (true == 0).any()
    yield "all labels true", (true == truth.shape[1]).any()
    yield "stored zeros in the truth", (truth.data == 0).any()
    yield "nothing judged", (judged == 0).any()
    yield NEITHER, ((judged > 0) & (true == 0) & (predicted == 0)).any()
    yield "grades", (truth.data > 1).any()
    yield "no prediction", (predicted == 0).any()
    yield "fewer than k predictions", (predicted < case.most).any()
    yield FULL, (predicted == scores.shape[1]).all()
    yield "labels without a score", (predicted < scores.shape[1]).any()
    yield "labels never true", (counts == 0).any()
    yield "labels always true", (counts == truth.shape[0]).any()


def has_ties(scores: csr_matrix, dtype: type) -> bool:
    """Whether scores of a row are equal."""
    rows = (scores.data[a:b].astype(dtype) for a, b in zip(scores.indptr, scores.indptr[1:], strict=False))
    return any(len(np.unique(row)) < len(row) for row in rows)


def draw_cases() -> Iterator[Case]:
    """Draw cases of all kinds, where it is possible with a score for every label and for some."""
    for number, altered in enumerate(ALTERED):
        for is_full in (True, False):
            if not (is_full and altered in {"short", "none", "short, none", "all"}):
                for draw in range(DRAWS):
                    rng = np.random.default_rng([SEED, number, is_full, draw])
                    name = f"{altered}, {'full' if is_full else 'sparse'}, {draw}"
                    yield draw_case(name, altered, is_full, rng)


def draw_case(name: str, altered: str, is_full: bool, rng: np.random.Generator) -> Case:
    """Draw the rows of a case, and training labels."""
    is_all, truth, scores = altered == "all", [], []
    for row in range(N_ROWS):
        n_true = int(rng.integers(1, 5))
        if row % 6 == 0 and (is_all or altered in {"no truth", "all true"}):
            n_true = N_LABELS if altered == "all true" or row % 12 else 0
        n = N_LABELS if is_full else int(rng.integers(MOST, N_LABELS))
        if "short" in altered or is_all:
            n = int(rng.integers(1, N_LABELS))
        if row % 5 == 0 and ("none" in altered or is_all):
            n = 0
        labels = rng.permutation(N_LABELS - 2 if altered == "unseen" else N_LABELS)
        has_grades = altered == "grades" or is_all
        true = {int(label): int(rng.integers(1, 4)) if has_grades else 1 for label in labels[:n_true]}
        if altered == "zeros" or is_all:
            true |= {int(label): 0 for label in labels[n_true : n_true + 3]}
        labels, values = rng.permutation(N_LABELS)[:n], rng.random(n)
        if altered == "ties":
            values = rng.integers(1, 5, n) / 8 + 0.2
        if altered == "close":
            values = 0.5 + 1e-12 * rng.permutation(n)
        if altered == "negative" or is_all:
            values = values * 4 - 2
        if (altered == "zero scores" or is_all) and n:
            values[0] = 0
        if altered == "masked":
            values[rng.random(n) < 0.5] = -np.inf
        if altered == "good" and row % 2:
            values = values / 2 + 0.49 * np.isin(labels, list(true))
        truth.append(true)
        scores.append(dict(zip(labels.tolist(), values.tolist(), strict=True)))
    dtype = np.float32 if altered == "float32" else np.float64
    train = rng.random((200, N_LABELS)) < np.linspace(0.5, 0.01, N_LABELS)
    return Case(name, stack(truth, N_LABELS, np.int64), stack(scores, N_LABELS, dtype), csr_matrix(train.astype(int)))


def stack(rows: list[dict[int, Any]], n_labels: int, dtype: Any) -> csr_matrix:
    """Return rows of values by label as a matrix, stored zeros included."""
    ordered = [sorted(row.items()) for row in rows]
    indptr = np.cumsum([0] + [len(row) for row in ordered]).astype(np.int32)
    indices = np.array([label for row in ordered for label, _ in row], dtype=np.int32)
    data = np.array([value for row in ordered for _, value in row], dtype=dtype)
    return csr_matrix((data, indices, indptr), shape=(len(rows), n_labels))


def save_cases(cases: list[Case], folder: Path) -> None:
    """Save cases for another process."""
    (folder / "names.json").write_text(json.dumps([case.name for case in cases]), encoding="utf-8")
    for number, case in enumerate(cases):
        for part in PARTS:
            save_npz(folder / f"{number}-{part}.npz", getattr(case, part), compressed=False)


def load_cases(folder: Path) -> list[Case]:
    """Load cases that were saved."""
    names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
    return [Case(name, *(load_npz(folder / f"{i}-{part}.npz") for part in PARTS)) for i, name in enumerate(names)]


def by_query(matrix: csr_matrix) -> dict[str, dict[str, Any]]:
    """Return a matrix as values by query and document, whose names sort as their numbers do."""
    documents, values = [f"d{label:06}" for label in matrix.indices.tolist()], matrix.data.tolist()
    bounds = zip(matrix.indptr, matrix.indptr[1:], strict=False)
    return {f"q{row:06}": dict(zip(documents[a:b], values[a:b], strict=True)) for row, (a, b) in enumerate(bounds)}
