"""Ranking metrics per row, as in scikit-learn; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from xmceval.api.types import MatrixLike
from xmceval.dropins import inputs
from xmceval.errors import DataError, UsageError, counted
from xmceval.kernels.metrics import wholerow as kernels
from xmceval.rows.block import Float64, Scratch
from xmceval.rows.matrices.source import is_sparse
from xmceval.scoring.tasks.curves import sort_by_score
from xmceval.scoring.tasks.wholerow import working_space

MOST_RANKS = 1 << 26  # ranks for which the sums of discounts are kept


def label_ranking_average_precision_score(
    y_true: MatrixLike, y_score: MatrixLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute label ranking average precision (LRAP), as scikit-learn does.

    The value of a row is the mean over its true labels of (number of true labels at this rank or above) / rank.
    Tied labels get their worst rank; a row in which no label or every label is true counts 1.

    Parameters
    ----------
    y_true : sparse matrix or array [n_rows, n_labels]
        The truth as an indicator.
    y_score : sparse matrix or array [n_rows, n_labels]
        Scores; 0 where a sparse matrix stores none. No dense copy is made.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float
        From 0 to 1; higher is better.

    Raises
    ------
    DataError
        A truth that is not an indicator, scores that are not finite, different shapes, or weights that sum to
        zero.

    See Also
    --------
    score : The metric ``LRAP``, also for files, with an interval.
    coverage_error, label_ranking_loss, average_precision_score

    Examples
    --------
    >>> label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.41666666666666663
    """
    return _mean_of_rows(kernels.LRAP, y_true, y_score, sample_weight)


def coverage_error(y_true: MatrixLike, y_score: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the mean number of top labels that cover all true ones, as scikit-learn does; 0 if none is true.

    Parameters
    ----------
    y_true, y_score, sample_weight : matrices and array
        As in `label_ranking_average_precision_score`.

    Returns
    -------
    float
        From 0 to the number of labels; lower is better.

    See Also
    --------
    label_ranking_average_precision_score, label_ranking_loss

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    2.5
    """
    return _mean_of_rows(kernels.COVERAGE, y_true, y_score, sample_weight)


def label_ranking_loss(y_true: MatrixLike, y_score: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the mean share of (true, false) label pairs that are tied or in the wrong order, as scikit-learn does.

    Parameters
    ----------
    y_true, y_score, sample_weight : matrices and array
        As in `label_ranking_average_precision_score`.

    Returns
    -------
    float
        From 0 to 1; lower is better.

    See Also
    --------
    label_ranking_average_precision_score, coverage_error

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    return _mean_of_rows(kernels.LOSS, y_true, y_score, sample_weight)


def _mean_of_rows(kind: int, y_true: Any, y_score: Any, sample_weight: Any) -> float:
    """Compute the mean of a metric of rows, with the kernel that `score` uses."""
    y_true, y_score, sample_weight = inputs.in_one_order(y_true, y_score, sample_weight)
    truth, _ = inputs.as_indicator(y_true, one_column=kind == kernels.LRAP)
    scores = inputs.as_scores(y_score, truth)
    weight = inputs.as_weight(sample_weight, truth.shape[0], allow_zero=True)
    specs = np.array([[kind, 0, 0, 0, 0]], dtype=np.int64)
    no_numbers = np.ones(1)
    no_discounts = np.empty((0, 0))
    left_out = np.zeros(1, dtype=np.int64)
    status = np.zeros(3, dtype=np.int64)
    values = np.zeros((truth.shape[0], 1, 4))
    scratch = Scratch()
    n_labels = np.array([truth.shape[1]], dtype=np.int64)
    for rows, true, scored in inputs.iterate_rows(truth, scores):
        kernels.compute_whole_rows(
            tuple(true),
            tuple(scored),
            n_labels,
            True,  # unscored labels have score 0
            False,  # no row is dropped
            specs,
            no_numbers,
            no_discounts,
            *working_space(scratch.array, true, scored),
            left_out,
            status,
            values[rows],
        )
    return inputs.mean(values[:, 0, 0], weight)


def dcg_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean DCG, the sum over ranks r <= k of gain / log(r + 1), as scikit-learn does.

    Parameters
    ----------
    y_true : sparse matrix or array [n_rows, n_labels]
        Gains: any finite numbers; 0 where a sparse matrix stores none.
    y_score : sparse matrix or array [n_rows, n_labels]
        Scores; 0 where a sparse matrix stores none.
    k : int, optional
        The lowest rank that counts; default all.
    log_base : float
        Base of the logarithm, not 1.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    ignore_ties : bool
        Order equal scores by label, the larger first, instead of averaging over all their orders. Scikit-learn
        does not define that order, so that its value may differ if scores are tied.

    Returns
    -------
    float
        The mean over rows.

    Raises
    ------
    DataError
        Matrices that are not finite, differ in shape, or have only one column.
    UsageError
        An invalid parameter.

    See Also
    --------
    ndcg_score
    score : The metric ``DCG``, also for files, with an interval.

    Examples
    --------
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    9.4995
    """
    if not isinstance(log_base, numbers.Real) or not 0 < log_base < np.inf or log_base == 1:
        raise UsageError(f"log_base must be a number above 0, finite and not 1, got {log_base!r}")
    gains, scores, weight = _validated_gains(y_true, y_score, k, sample_weight)
    return inputs.mean(_compute_dcg(gains, scores, _sum_discounts(gains.shape[1], k, log_base), ignore_ties), weight)


def ndcg_score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Compute mean nDCG, the DCG of a row divided by its best possible DCG, as scikit-learn does.

    A row without gain counts 0.

    Parameters
    ----------
    y_true : sparse matrix or array [n_rows, n_labels]
        Gains: finite numbers of at least 0; 0 where a sparse matrix stores none.
    y_score, k, sample_weight, ignore_ties : matrix, int, array and bool
        As in `dcg_score`.

    Returns
    -------
    float
        From 0 to 1; higher is better.

    Raises
    ------
    DataError
        Matrices that are not finite, differ in shape, or have only one column; a negative gain.
    UsageError
        An invalid parameter.

    See Also
    --------
    ndcg_at_k : Ranks labels without a stored score below all others.
    dcg_score

    Examples
    --------
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    0.6957
    """
    gains, scores, weight = _validated_gains(y_true, y_score, k, sample_weight)
    least = gains.min()
    if least < 0:
        raise DataError(f"y_true: has the negative value {least:g}; nDCG needs gains of at least 0")
    discounts = _sum_discounts(gains.shape[1], k, 2)
    best = np.empty(gains.shape[0])
    values = _compute_dcg(gains, scores, discounts, ignore_ties, best)
    return inputs.mean(np.divide(values, best, out=np.zeros_like(values), where=best != 0), weight)


def _validated_gains(y_true: Any, y_score: Any, k: int | None, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return gains, scores and weights."""
    if k is not None and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1):
        raise UsageError(f"k must be a whole number of at least 1, or None, got {k!r}")
    y_true, y_score, sample_weight = inputs.in_one_order(y_true, y_score, sample_weight)
    if is_sparse(y_true):
        gains = inputs.as_csr(y_true, "y_true")
    else:
        gains = inputs.as_array(y_true, "y_true", "finite numbers")
    if gains.ndim != 2 or gains.shape[1] < 2 or gains.dtype.kind == "U":
        raise DataError(f"y_true: expected numbers [n_rows, at least two labels], got shape {gains.shape}")
    scores = inputs.as_scores(y_score, gains)
    return gains, scores, inputs.as_weight(sample_weight, gains.shape[0], allow_zero=True)


def _sum_discounts(n_labels: int, k: int | None, log_base: float) -> Float64:
    """Return the cumulative sums of 0, 1, 2, ... discounts, up to rank k."""
    depth = min(n_labels, int(k or n_labels))
    if depth > MOST_RANKS:
        raise DataError(
            f"y_true: has {counted(n_labels, 'column')}, but ranks beyond {MOST_RANKS:,} are not discounted "
            "(hint: pass a smaller k)"
        )
    ranks = np.arange(2, 2 + depth, dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(np.log(log_base) / np.log(ranks))])


def _compute_dcg(
    gains: Any, scores: Any, discounts: Float64, ignore_ties: bool, best: Float64 | None = None
) -> Float64:
    """Return the DCG of each row from the number of labels above each gain; write the ideal DCG into `best`."""
    values = np.empty(gains.shape[0])
    scratch = Scratch()
    for rows, gained, scored in inputs.iterate_rows(gains, scores):
        space = working_space(scratch.array, gained, scored)
        kernels.sum_gains(tuple(gained), tuple(scored), gains.shape[1], ignore_ties, discounts, *space, values[rows])
        if best is not None:
            of_row = np.repeat(np.arange(gained.indptr.size - 1, dtype=np.uint32), np.diff(gained.indptr))
            ranks = np.minimum(np.arange(of_row.size) - gained.indptr[of_row], discounts.size - 1)
            discounted = discounts[np.minimum(ranks + 1, discounts.size - 1)] - discounts[ranks]
            discounted *= gained.values[sort_by_score(gained.values, of_row)]
            best[rows] = np.bincount(of_row, discounted, minlength=rows.stop - rows.start)
    return values
