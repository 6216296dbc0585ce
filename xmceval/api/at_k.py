"""The common metrics at a cutoff, one function each."""

from __future__ import annotations

from typing import Any

from xmceval.api.score import score
from xmceval.metrics.names import check_cutoff


def _score_metric(y_true: Any, y_score: Any, metric: str, k: int, **options: Any) -> float:
    return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cutoff(k)}"]


def precision_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute P@k, the mean over rows of hits / k; see `score` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> precision_at_k(np.array([[1, 0, 1]]), np.array([[.9, .8, .1]]), k=2)
    0.5
    """
    return _score_metric(y_true, y_score, "P", k, sample_weight=sample_weight)


def recall_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute R@k, the mean over rows of hits / number of true labels; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "R", k, sample_weight=sample_weight)


def f1_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute F1@k, the mean over rows of the harmonic mean of P and R; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "F1", k, sample_weight=sample_weight)


def hit_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute Hit@k, the share of rows with a hit; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "Hit", k, sample_weight=sample_weight)


def ndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute nDCG@k with log2 discounts, using grades where the truth has them; see `score` for the arguments."""
    return _score_metric(y_true, y_score, "nDCG", k, sample_weight=sample_weight)


def psp_at_k(y_true: Any, y_score: Any, *, k: int = 5, **options: Any) -> float:
    """Compute PSP@k as a ratio of sums; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSP", k, **options)


def psr_at_k(y_true: Any, y_score: Any, *, k: int = 5, **options: Any) -> float:
    """Compute PSR@k as a ratio of sums; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSR", k, **options)


def psndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5, **options: Any) -> float:
    """Compute PSnDCG@k with norm=row; see `score` for the arguments and `options`, such as `train`."""
    return _score_metric(y_true, y_score, "PSnDCG", k, **options)
