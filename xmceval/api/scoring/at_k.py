"""The common metrics at a cutoff, one function each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.score import score
from xmceval.metrics.names import check_cutoff


def _score_metric(y_true: Any, y_score: Any, metric: str, k: int, **options: Any) -> float:
    return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cutoff(k)}"]


def precision_at_k(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | str | Path | None = None,
) -> float:
    """Compute P@k: the mean over rows of hits / k.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    sample_weight : array of float or path, optional
        One weight per row.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    recall_at_k, psp_at_k

    Examples
    --------
    >>> import numpy as np
    >>> precision_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2)
    0.5
    """
    return _score_metric(y_true, y_score, "P", k, sample_weight=sample_weight)


def recall_at_k(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | str | Path | None = None,
) -> float:
    """Compute R@k: the mean over rows of hits / number of true labels.

    A row without truth counts 0.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    sample_weight : array of float or path, optional
        One weight per row.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    precision_at_k, psr_at_k

    Examples
    --------
    >>> import numpy as np
    >>> recall_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2)
    0.5
    """
    return _score_metric(y_true, y_score, "R", k, sample_weight=sample_weight)


def f1_at_k(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | str | Path | None = None,
) -> float:
    """Compute F1@k: the mean over rows of the harmonic mean of P@k and R@k.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    sample_weight : array of float or path, optional
        One weight per row.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    precision_at_k, recall_at_k

    Examples
    --------
    >>> import numpy as np
    >>> f1_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2)
    0.5
    """
    return _score_metric(y_true, y_score, "F1", k, sample_weight=sample_weight)


def hit_at_k(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | str | Path | None = None,
) -> float:
    """Compute Hit@k: the share of rows with a true label among the best k.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    sample_weight : array of float or path, optional
        One weight per row.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    precision_at_k, recall_at_k

    Examples
    --------
    >>> import numpy as np
    >>> hit_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2)
    1.0
    """
    return _score_metric(y_true, y_score, "Hit", k, sample_weight=sample_weight)


def ndcg_at_k(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | str | Path | None = None,
) -> float:
    """Compute nDCG@k with log2 discounts: the mean over rows of DCG / the best DCG that is possible.

    Grades of the truth are gains. A row without truth counts 0.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    sample_weight : array of float or path, optional
        One weight per row.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    ndcg_score, psndcg_at_k

    Examples
    --------
    >>> import numpy as np
    >>> round(ndcg_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2), 4)
    0.6131
    """
    return _score_metric(y_true, y_score, "nDCG", k, sample_weight=sample_weight)


def psp_at_k(y_true: MatrixLike, y_score: MatrixLike, *, k: int = 5, **options: Any) -> float:
    """Compute PSP@k: the sum over rows of hits that count 1/p each, divided by that of the ideal rankings.

    p is the propensity of a label; ``METRICS["PSP"]`` is the exact definition.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    **options
        Any other option of `score`; the propensities come from `train`, `counts` or `inverse_propensities`.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    precision_at_k, inverse_propensity

    Examples
    --------
    >>> import numpy as np
    >>> y_train = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]])
    >>> round(psp_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2, train=y_train), 4)
    0.4937
    """
    return _score_metric(y_true, y_score, "PSP", k, **options)


def psr_at_k(y_true: MatrixLike, y_score: MatrixLike, *, k: int = 5, **options: Any) -> float:
    """Compute PSR@k: the sum over rows of R@k whose hits count 1/p each, divided by that of the ideal rankings.

    p is the propensity of a label; ``METRICS["PSR"]`` is the exact definition.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    **options
        Any other option of `score`; the propensities come from `train`, `counts` or `inverse_propensities`.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    recall_at_k, inverse_propensity

    Examples
    --------
    >>> import numpy as np
    >>> y_train = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]])
    >>> round(psr_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2, train=y_train), 4)
    0.4937
    """
    return _score_metric(y_true, y_score, "PSR", k, **options)


def psndcg_at_k(y_true: MatrixLike, y_score: MatrixLike, *, k: int = 5, **options: Any) -> float:
    """Compute PSnDCG@k: nDCG@k with gains 1/p, as a ratio of sums over rows, like PSP@k.

    p is the propensity of a label; ``METRICS["PSnDCG"]`` is the exact definition.

    Parameters
    ----------
    y_true, y_score : matrix, lists or path [n_rows, n_labels]
        Truth and scores, as in `score`.
    k : int
        The cutoff.
    **options
        Any other option of `score`; the propensities come from `train`, `counts` or `inverse_propensities`.

    Returns
    -------
    float
        A share: 0.5 is 50 %.

    See Also
    --------
    score : Several metrics at once, with intervals.
    ndcg_at_k, inverse_propensity

    Examples
    --------
    >>> import numpy as np
    >>> y_train = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]])
    >>> round(psndcg_at_k(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2, train=y_train), 4)
    0.6037
    """
    return _score_metric(y_true, y_score, "PSnDCG", k, **options)
