"""Made arguments of `xmceval.score` for scripts/bench --scaling: functions from the size that grows to arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse as sp

N_LABELS = 200_003  # a prime, so that any step meets every label once

Array = np.ndarray[Any, Any]
Arguments = dict[str, Any]


def csr(labels: Array, scores: Array | None = None, n_labels: int = N_LABELS, *, in_order: bool = True) -> sp.csr_array:
    """Return rows of labels [n_rows, n], sorted unless told, as a matrix."""
    values = np.ones(labels.shape, np.float32) if scores is None else scores.astype(np.float32)
    if in_order:
        order = np.argsort(labels, axis=1)
        labels = np.take_along_axis(labels, order, axis=1)
    indptr = np.arange(len(labels) + 1, dtype=np.int64) * labels.shape[1]
    return sp.csr_array(
        (values.ravel(), labels.ravel().astype(np.int32), indptr), shape=(len(labels), n_labels), copy=False
    )


def distinct(rows: int, n: int, n_labels: int = N_LABELS) -> Array:
    """Return n distinct labels for each row, in no order."""
    rng = np.random.default_rng(n)
    start, step = rng.integers(0, n_labels, (rows, 1)), rng.integers(1, n_labels - 1, (rows, 1))
    return (start + step * np.arange(n)) % n_labels


def scores(rows: int, n: int, order: str) -> Array:
    """Return scores: at random, ascending, descending or all the same."""
    if order == "tied":
        return np.ones((rows, n), np.float32)
    if order == "few values":
        return np.random.default_rng(0).integers(0, 8, (rows, n)).astype(np.float32)
    x = np.random.default_rng(0).random((rows, n), dtype=np.float32)
    if order != "random":
        x.sort(axis=1)
    return x[:, ::-1] if order == "descending" else x


def pair(rows: int, n: int, n_true: int, order: str = "random", *, in_order: bool = True, **options: Any) -> Arguments:
    """Return rows with n predictions and n_true true labels among them."""
    found = distinct(rows, n)
    y_true = csr(found[:, :: n // n_true][:, :n_true])
    y_score = csr(np.sort(found, axis=1) if in_order else found, scores(rows, n, order), in_order=False)
    given = {"k": [1, 3, 5], "metrics": ["P", "nDCG", "PSP", "PSnDCG"], "inverse_propensities": INVERSE, "threads": 1}
    return {"y_true": y_true, "y_score": y_score, **given, **options}


INVERSE = 1.0 + np.random.default_rng(1).random(N_LABELS)
ASCENDING = np.sort(INVERSE)  # by label: each next one is worth more


def wide(order: str, **options: Any) -> Callable[[int], Arguments]:
    """Return cases of 400,000 predictions, n in a row."""
    return lambda n: pair(400_000 // n, n, 5, order, **options)


def deep(order: str, n_true: int = 100, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with cutoffs 1 and k of 10 rows of 20,000 predictions."""
    return lambda k: pair(10, 20_000, n_true, order, k=[1, k], **options)


def true(order: str, k: int | None = 5, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with 200,000 true labels, n in a row, all of them predicted."""
    return lambda n: pair(200_000 // n, n, n, order, k=[1, k or n], **options)


def graded(n: int) -> Arguments:
    """Return n true labels in a row with grades, and an ideal ranking of 1,000 of them."""
    given = true("random", k=1000, metrics=["nDCG", "nDCG(gain=exp)", "DCG"])(n)
    given["y_true"].data[:] = 1 + np.arange(given["y_true"].nnz) % 40
    return given


def cutoffs(order: str, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with n cutoffs of 20 rows of 20,000 predictions."""
    return lambda n: pair(20, 20_000, 100, order, k=range(1, n + 1), **options)


def metrics(n: int) -> Arguments:
    """Return a case with n metrics at cutoff 5."""
    names = ("P", "R", "RP", "F1", "Hit", "RR", "AP", "PSP", "PSR", "PSnDCG")
    grades = ("", "(rel=2)", "(rel=3)", "(rel=4)", "(rel=5)")
    return pair(4000, 100, 5, metrics=[f"{name}{rel}@5" for rel in grades for name in names][:n])


def macro(n: int) -> Arguments:
    """Return a case with n metrics that are means over 300,000 labels."""
    return labels(300_000, metrics=[f"macro{name}@{k}" for k in (1, 5) for name in ("P", "R", "F1", "BA")][:n])


def labels(n: int, **options: Any) -> Arguments:
    """Return 4,000 rows of n labels."""
    found = np.random.default_rng(0).integers(0, n - 100, (4000, 1)) + np.arange(100)
    inverse = 1.0 + np.random.default_rng(1).random(n)
    given = {"k": [1, 3, 5], "metrics": ["P", "nDCG", "PSP", "PSnDCG"], "inverse_propensities": inverse, "threads": 1}
    return {
        "y_true": csr(found[:, ::20], None, n),
        "y_score": csr(found, scores(4000, 100, "random"), n),
        **given,
        **options,
    }


def systems(n: int, **options: Any) -> Arguments:
    """Return n systems of 4,000 rows."""
    given = pair(4000, 100, 5, metrics=["P", "nDCG"], inverse_propensities=None, **options)
    y_score = given.pop("y_score")
    return {**given, "systems": {f"s{i}": y_score for i in range(n)}}


def dense(n: int, order: str = "random") -> Arguments:
    """Return 4 million logits, n in a row."""
    rows = 4_000_000 // n
    y_true = csr(distinct(rows, 5, 997), None, n)
    return {"y_true": y_true, "y_score": scores(rows, n, order), "metrics": ["P", "nDCG"], "k": [1, 5], "threads": 1}


def bins(n: int) -> Arguments:
    """Return a case with n bins of labels."""
    counts = np.arange(N_LABELS)
    return pair(2000, 100, 5, k=[1, 5, 20], inverse_propensities=None, by_frequency=n, counts=counts, n_train=N_LABELS)


def threads(n: int) -> Arguments:
    """Return a case with n threads."""
    return pair(64_000, 100, 5, threads=n)
