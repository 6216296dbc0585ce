"""Cases: random and real inputs for all tools, and which kinds of input each one is."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz

SEED, DRAWS = 25, 3
ANY = "all"  # the kind that every case is
THRESHOLD = 0.5  # of decisions
CLOSE = "scores equal in 32 bits"
NEITHER = "all judged false and no prediction"
FULL = "a score for every label"
N_ROWS, N_LABELS, MOST = 25, 14, 10  # MOST is the largest cutoff
MOST_LABELS = 500  # of real data, the most frequent ones, so that a dense matrix is small
REAL = {  # folder: rows that are read, truth, predictions
    "bibtex": (200, "tst_X_Y.txt.gz", ("napkinxc_plt.txt.gz", "pecos_xrlinear.npz", "sklearn_ovr.dense.npy")),
    "cs771_bonsai": (50, "tst_X_Y.txt.gz", ("score_mat.txt.gz",)),
    "eurlex_attentionxml": (50, "tst_X_Y.txt.gz", ("attentionxml_tree0.txt.gz",)),
    "wiki10_haxmlnet": (50, "tst_X_Y.txt.gz", ("haxmlnet1024.txt.gz",)),
}


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
        return frozenset(kind for kind, is_kind in _kinds(self.truth, self.scores, self.most) if is_kind)


def _kinds(truth: csr_matrix, scores: csr_matrix, most: int) -> Iterator[tuple[str, Any]]:
    true, predicted = np.diff((truth > 0).tocsr().indptr), np.diff(scores.indptr)
    counts = np.asarray((truth > 0).sum(axis=0)).ravel()
    nonzero = np.asarray((truth != 0).sum(axis=1)).ravel()
    yield ANY, True
    yield "ties", _has_ties(scores, np.float64)
    yield CLOSE, _has_ties(scores, np.float32) and not _has_ties(scores, np.float64)
    yield "scores in 32 bits", scores.dtype == np.float32
    yield "negative scores", (scores.data < 0).any()
    yield "stored zero scores", (scores.data == 0).any()
    yield "scores at the threshold", (scores.data == THRESHOLD).any()
    yield "scores outside of 0..1", ((scores.data < 0) | (scores.data > 1)).any()
    yield "no true label", (true == 0).any()
    yield "all labels true", (true == truth.shape[1]).any()
    yield "stored zeros in the truth", (truth.data == 0).any()
    yield "nothing judged", (np.diff(truth.indptr) == 0).any()
    yield NEITHER, ((np.diff(truth.indptr) > 0) & (nonzero == 0) & (predicted == 0)).any()
    yield "grades", (truth.data > 1).any()
    yield "no prediction", (predicted == 0).any()
    yield "fewer than k predictions", (predicted < most).any()
    yield FULL, (predicted == scores.shape[1]).all()
    yield "labels without a score", (predicted < scores.shape[1]).any()
    yield "labels never true", (counts == 0).any()
    yield "labels always true", (counts == truth.shape[0]).any()


def _has_ties(scores: csr_matrix, dtype: type) -> bool:
    rows = (scores.data[a:b].astype(dtype) for a, b in zip(scores.indptr, scores.indptr[1:], strict=False))
    return any(len(np.unique(row)) < len(row) for row in rows)


# Kind: what is done to scores, to truth, and to the number of predictions
ALTERED = (
    "plain", "good", "ties", "close", "float32", "negative", "zero scores", "no truth", "all true", "zeros", "grades",
    "unseen", "short", "none", "short, none", "all",
)  # fmt: skip


def draw_cases() -> Iterator[Case]:
    """Draw cases of all kinds, where it is possible with a score for every label and for some."""
    for altered in ALTERED:
        for is_full in (True, False):
            if is_full and altered in {"short", "none", "short, none", "all"}:
                continue
            for number in range(DRAWS):
                rng = np.random.default_rng([SEED, ALTERED.index(altered), is_full, number])
                yield _draw(f"{altered}, {'full' if is_full else 'sparse'}, {number}", altered, is_full, rng)


def _draw(name: str, altered: str, is_full: bool, rng: np.random.Generator) -> Case:
    is_all = altered == "all"
    truth, scores = [], []
    for row in range(N_ROWS):
        n_true = int(rng.integers(1, 5))
        if row % 6 == 0 and (is_all or altered in {"no truth", "all true"}):
            n_true = N_LABELS if altered == "all true" or row % 12 else 0
        n = N_LABELS if is_full else int(rng.integers(MOST, N_LABELS))
        if "short" in altered or is_all:
            n = int(rng.integers(1, N_LABELS))
        if row % 5 == 0 and ("none" in altered or is_all):
            n = 0
        truth.append(_truth_row(altered, is_all, n_true, rng))
        own = _score_row(altered, is_all, n, rng)
        is_good = altered == "good" and row % 2
        scores.append({i: value / 2 + 0.49 * (i in truth[-1]) for i, value in own.items()} if is_good else own)
    dtype = np.float32 if altered == "float32" else np.float64
    train = rng.random((200, N_LABELS)) < np.linspace(0.5, 0.01, N_LABELS)
    return Case(name, stack(truth, N_LABELS, np.int64), stack(scores, N_LABELS, dtype), csr_matrix(train.astype(int)))


def _truth_row(altered: str, is_all: bool, n_true: int, rng: np.random.Generator) -> dict[int, int]:
    usable = N_LABELS - 2 if altered == "unseen" else N_LABELS
    labels = rng.permutation(usable)
    row = {int(label): 1 for label in labels[:n_true]}
    if altered == "grades" or is_all:
        row = {label: int(rng.integers(1, 4)) for label in row}
    if altered == "zeros" or is_all:
        row |= {int(label): 0 for label in labels[n_true : n_true + 3]}
    return row


def _score_row(altered: str, is_all: bool, n: int, rng: np.random.Generator) -> dict[int, float]:
    labels, values = rng.permutation(N_LABELS)[:n], rng.random(n)
    if altered == "ties":
        values = rng.integers(1, 5, n) / 8 + 0.2
    if altered == "close":
        values = 0.5 + 1e-12 * rng.permutation(n)
    if altered == "negative" or is_all:
        values = values * 4 - 2
    if (altered == "zero scores" or is_all) and n:
        values[0] = 0
    return dict(zip(labels.tolist(), values.tolist(), strict=True))


def stack(rows: list[dict[int, Any]], n_labels: int, dtype: Any) -> csr_matrix:
    """Return rows of values by label as a matrix, stored zeros included."""
    ordered = [sorted(row.items()) for row in rows]
    indptr = np.cumsum([0] + [len(row) for row in ordered])
    indices = np.array([label for row in ordered for label, _ in row], dtype=np.int32)
    data = np.array([value for row in ordered for _, value in row], dtype=dtype)
    return csr_matrix((data, indices, indptr.astype(np.int32)), shape=(len(rows), n_labels))


def read_cases() -> Iterator[Case]:
    """Read real cases from XMCEVAL_REALDATA, where it is set."""
    home = Path(os.environ.get("XMCEVAL_REALDATA", "/nowhere"))
    for folder, (rows, truth, systems) in REAL.items():
        found = [home / folder / name for name in systems]
        for path in filter(Path.exists, found):
            y = _read(home / folder / truth, np.int64)
            train = home / folder / "trn_X_Y.txt.gz"
            labels = _read(train, np.int64) if train.exists() else y
            frequent = np.sort(np.argsort(-np.asarray(y[:rows].sum(axis=0)).ravel(), kind="stable")[:MOST_LABELS])
            scores = _read(path, np.float64)
            yield Case(
                f"{folder}, {path.name}", *(_columns(each, frequent) for each in (y[:rows], scores[:rows], labels))
            )


def _columns(matrix: csr_matrix, labels: Any) -> csr_matrix:
    """Return some columns of a matrix, stored zeros included."""
    chosen = matrix[:, labels].tocsr()
    chosen.sort_indices()
    return chosen


def _read(path: Path, dtype: Any) -> csr_matrix:
    """Read a matrix of an npz or npy file, or of text with a header."""
    if path.suffix == ".npy":
        dense = np.load(path)
        return (
            csr_matrix(dense)
            if (dense != 0).all()
            else stack([dict(enumerate(row)) for row in dense.tolist()], dense.shape[1], dtype)
        )
    if path.suffix == ".npz":
        return load_npz(path).tocsr().astype(dtype)
    with gzip.open(path, "rt") as f:
        n_labels = int(f.readline().split()[1])
        cells = ([cell.split(":") for cell in line.split()] for line in f)
        return stack([{int(label): float(value) for label, value in row} for row in cells], n_labels, dtype)


def save_cases(cases: list[Case], path: Path) -> None:
    """Save cases for another process."""
    arrays: dict[str, Any] = {"names": np.array(json.dumps([case.name for case in cases]))}
    for i, case in enumerate(cases):
        for part in ("truth", "scores", "train"):
            matrix = getattr(case, part)
            arrays |= {f"{i} {part} {name}": getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(path, **arrays)


def load_cases(path: Path) -> list[Case]:
    """Load cases that were saved."""
    saved: Mapping[str, Any] = np.load(path)

    def matrix(i: int, part: str) -> csr_matrix:
        data, indices, indptr, shape = (saved[f"{i} {part} {name}"] for name in ("data", "indices", "indptr", "shape"))
        return csr_matrix((data, indices, indptr), shape=tuple(shape))

    names = json.loads(str(saved["names"]))
    return [Case(name, *(matrix(i, part) for part in ("truth", "scores", "train"))) for i, name in enumerate(names)]


def by_query(matrix: csr_matrix) -> dict[str, dict[str, Any]]:
    """Return a matrix as values by query and document, whose names sort as their numbers do."""
    bounds = zip(matrix.indptr, matrix.indptr[1:], strict=False)
    return {
        f"q{row:06}": {
            f"d{label:06}": value
            for label, value in zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)
        }
        for row, (a, b) in enumerate(bounds)
    }
