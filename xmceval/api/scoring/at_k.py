"""The common metrics at a cutoff, one function each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from xmceval.api.files.fuse import Fused
from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.score import score
from xmceval.metrics.names import check_cutoff
from xmceval.rows.matrices.matrices import as_scores, as_truth


def _score_metric(y_true: Any, y_score: Any, metric: str, k: int, **options: Any) -> float:
    options.setdefault("n_labels", _find_width(y_true, y_score))
    return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cutoff(k)}"]


def _find_width(y_true: Any, y_score: Any) -> int | None:
    """Return the columns of the scores where lists of equal length in the truth can only be ids of labels."""
    if not isinstance(y_true, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in y_true):
        return None
    truth, scores = as_truth(y_true), as_scores(y_score)
    if not truth.may_be_ids or not scores.is_exact or scores.dtype is None or scores.dtype.kind != "f":
        return None
    could_be_matrix = scores.n_labels == truth.n_labels or max(map(max, y_true)) <= 1
    return None if could_be_matrix else scores.n_labels


def precision_at_k(
    y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, sample_weight: ArrayLike | str | Path | None = None
) -> float:
    """Compute P@k, the mean over rows of hits / k; see `score` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> precision_at_k(np.array([[1, 0, 1]]), np.array([[.9, .8, .1]]), k=2)
    0.5
    """
    return _score_metric(y_true, y_score, "P", k, sample_weight=sample_weight)


def recall_at_k(
    y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, sample_weight: ArrayLike | str | Path | None = None
) -> float:
    """Compute R@k, the mean over rows of hits / number of true labels; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "R", k, sample_weight=sample_weight)


def f1_at_k(
    y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, sample_weight: ArrayLike | str | Path | None = None
) -> float:
    """Compute F1@k, the mean over rows of the harmonic mean of P and R; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "F1", k, sample_weight=sample_weight)


def hit_at_k(
    y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, sample_weight: ArrayLike | str | Path | None = None
) -> float:
    """Compute Hit@k, the share of rows with a hit; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "Hit", k, sample_weight=sample_weight)


def ndcg_at_k(
    y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, sample_weight: ArrayLike | str | Path | None = None
) -> float:
    """Compute nDCG@k with log2 discounts, using grades where the truth has them; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "nDCG", k, sample_weight=sample_weight)


def psp_at_k(y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, **options: Any) -> float:
    """Compute PSP@k as a ratio of sums; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSP", k, **options)


def psr_at_k(y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, **options: Any) -> float:
    """Compute PSR@k as a ratio of sums; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSR", k, **options)


def psndcg_at_k(y_true: MatrixLike, y_score: MatrixLike | Fused, *, k: int = 5, **options: Any) -> float:
    """Compute PSnDCG@k with norm=row; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSnDCG", k, **options)
