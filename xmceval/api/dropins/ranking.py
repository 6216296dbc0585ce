"""Ranking metrics of rows, with scikit-learn's names and values; cells that are not stored have score 0."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse

from xmceval.api.dropins.cells import as_scores, row_blocks, row_pairs, sort_cells
from xmceval.api.dropins.targets import as_array, as_csr, as_indicator, as_weight, check_shapes, is_sparse, mean
from xmceval.errors import DataError, UsageError
from xmceval.kernels import wholerow as kernels
from xmceval.rows.block import Float64
from xmceval.scoring.wholerow import working_space

LRAP, COVERAGE, LOSS = 0, 1, 2


def label_ranking_average_precision_score(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Compute LRAP, as scikit-learn's: the mean over true labels of (true labels at or above) / rank.

    Ties have their worst rank; a row with no or only true labels is 1.

    Parameters
    ----------
    y_true : sparse matrix or array [n_rows, n_labels]
        The truth as an indicator.
    y_score : sparse matrix or array [n_rows, n_labels]
        Scores; what a sparse matrix does not store has score 0, as in its dense copy, which is never made.
    sample_weight : array [n_rows], optional
        Weights of the rows.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Matrices that are no indicator, not finite, of different shapes, or weights that sum to zero.

    Examples
    --------
    >>> label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.41666666666666663
    """
    return _mean_of(LRAP, y_true, y_score, sample_weight)


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Compute the mean depth that covers all true labels, as scikit-learn's; a row without truth is 0.

    See `label_ranking_average_precision_score` for the arguments.
    """
    return _mean_of(COVERAGE, y_true, y_score, sample_weight)


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Compute the mean share of (true, false) pairs in the wrong order or tied, as scikit-learn's.

    See `label_ranking_average_precision_score` for the arguments.
    """
    return _mean_of(LOSS, y_true, y_score, sample_weight)


def _mean_of(which: int, y_true: Any, y_score: Any, sample_weight: Any) -> float:
    truth = as_indicator(y_true, "y_true", one_column=which == LRAP).ones
    scores = as_scores(y_score)
    check_shapes(truth, scores, "y_score")
    weight = as_weight(sample_weight, truth.shape[0], some=False)
    return mean(_whole_rows(which, truth, scores), weight)


def _whole_rows(which: int, truth: Any, scores: Any) -> Float64:
    """Return each row's value, from the kernel that the command uses too."""
    kinds = (kernels.LRAP, kernels.COVERAGE, kernels.LOSS)
    specs = np.array([[kinds[which], 0, 0, 0, 0]], dtype=np.int64)
    left_out, status, no_params = np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64), np.ones(1)
    longest = int(np.max(np.diff(truth.indptr), initial=1))
    space = working_space(lambda _, size, dtype: np.empty(size, dtype=dtype), longest)
    values = np.empty((truth.shape[0], 1, 4))
    for start, stop, true, given in row_pairs(truth, scores):
        kernels.compute_whole_rows(
            *(_rows(true), _rows(given), truth.shape[1], True, False),  # unscored is zero, no row is dropped
            *(specs, no_params, *space, left_out, status, values[start:stop]),
        )
    return values[:, 0, 0]


def _rows(matrix: Any) -> tuple[Any, ...]:
    """Return the arrays of a CSR matrix in the types that kernels are compiled for."""
    types = (np.int64, np.int64, np.float64)
    arrays = zip((matrix.indptr, matrix.indices, matrix.data), types, strict=True)
    return tuple((array.astype(dtype) for array, dtype in arrays))


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean of sum over ranks r <= k of gain / log(r + 1), as scikit-learn's.

    Parameters
    ----------
    y_true : sparse matrix or array [n_rows, n_labels]
        Gains: any finite numbers; what is not stored is 0.
    y_score : sparse matrix or array [n_rows, n_labels]
        Scores; what is not stored is 0.
    k : int, optional
        Ranks below count nothing.
    log_base : float
        Base of the logarithm; not 1.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    ignore_ties : bool
        Whether equal scores are put in an order rather than averaged over all their orders: the larger label first.
        Scikit-learn leaves that order open, so its value may be another wherever scores are tied.

    Returns
    -------
    float

    Raises
    ------
    DataError
        Matrices that are not finite, of different shapes or of one column.
    UsageError
        A parameter that is wrong.

    Examples
    --------
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    9.4995
    """
    if not isinstance(log_base, numbers.Real) or not 0 < log_base < np.inf or log_base == 1:
        raise UsageError(f"log_base must be a number above 0, finite and not 1, got {log_base!r}")
    gains, scores, weight = _graded(y_true, y_score, k, sample_weight)
    return mean(_dcg(gains, scores, _discounts(gains.shape[1], k, log_base), ignore_ties), weight)


def ndcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Compute the mean of DCG over the best possible DCG of the row, as scikit-learn's; a row without gain is 0.

    See `dcg_score` for the arguments; gains are not negative. With ``ignore_ties=True`` tied scores stand with the
    larger label first, an order that scikit-learn leaves open.
    """
    gains, scores, weight = _graded(y_true, y_score, k, sample_weight)
    if gains.data.size and gains.data.min() < 0:
        raise DataError(f"y_true: has the negative value {gains.data.min():g}; nDCG is defined on gains of 0 and more")
    discounts = _discounts(gains.shape[1], k, 2)
    values = _dcg(gains, scores, discounts, ignore_ties)
    ideal = _dcg(gains, gains, discounts, True)
    return mean(np.divide(values, ideal, out=np.zeros_like(values), where=ideal != 0), weight)


def _graded(y_true: Any, y_score: Any, k: int | None, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Take gains, scores and weights."""
    if k is not None and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1):
        raise UsageError(f"k must be a whole number from 1, or None, got {k!r}")
    gains = as_csr(y_true, "y_true") if is_sparse(y_true) else as_array(y_true, "y_true")
    if gains.ndim != 2 or gains.shape[1] < 2 or gains.dtype.kind == "U":
        raise DataError(f"y_true: expected numbers [n_rows, two labels or more], got shape {gains.shape}")
    if not is_sparse(gains):
        if not np.isfinite(gains).all():
            raise DataError("y_true: has an infinity; expected finite numbers")
        gains = sparse.csr_matrix(gains)
    scores = as_scores(y_score)
    check_shapes(gains, scores, "y_score")
    return gains, scores, as_weight(sample_weight, gains.shape[0], some=False)


def _discounts(n_labels: int, k: int | None, log_base: float) -> Float64:
    """Return the sums of the first 0, 1, 2 ... discounts that are not cut off."""
    ranks = np.arange(2, 2 + min(n_labels, n_labels if k is None else int(k)), dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(np.log(log_base) / np.log(ranks))])


def _dcg(gains: Any, scores: Any, discounts: Float64, ignore_ties: bool) -> Float64:
    from xmceval.kernels import dropins as kernels

    n_labels = gains.shape[1]
    values = np.empty(gains.shape[0])
    for start, stop, both in row_blocks(gains, scores):
        cells = sort_cells(both, by_label=ignore_ties)
        if not ignore_ties:
            kernels.average_gains(cells.starts, cells.truth, cells.scores, n_labels, discounts, values[start:stop])
            continue
        rows = np.repeat(np.arange(stop - start), np.diff(cells.starts))
        ranks = _ranks(both, cells, rows, n_labels)
        inside = ranks < discounts.size - 1
        worth = cells.truth[inside] * np.diff(discounts)[ranks[inside]]
        values[start:stop] = np.bincount(rows[inside], worth, minlength=stop - start)
    return values


def _ranks(both: Any, cells: Any, rows: Any, n_labels: int) -> Any:
    """Return rank - 1 of sorted cells, where the labels that are not stored have score 0, larger labels first."""
    starts = cells.starts
    rank = np.arange(rows.size) - starts[rows]
    implicit = n_labels - np.diff(starts)
    zero = cells.scores == 0
    # Above a stored zero at label l: the better ones, and every label above l whose score is zero, stored or not.
    scored = np.concatenate([[0], np.cumsum(both.data.imag != 0)])
    scored_after = scored[starts[rows + 1]] - scored[cells.order + 1]
    better = np.bincount(rows[cells.scores > 0], minlength=starts.size - 1)
    at_zero = better[rows] + (n_labels - 1 - cells.labels.astype(np.int64)) - scored_after
    return np.where(zero, at_zero, np.where(cells.scores < 0, rank + implicit[rows], rank))
