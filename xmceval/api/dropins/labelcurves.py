"""Curves and areas of labels from matrices that stay sparse, as scikit-learn computes them from dense copies.

A label without a stored score has score 0: all such cells of a label are one group of ties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, overload

import numpy as np
from scipy import sparse

from xmceval.api.dropins.aucs import rank_columns
from xmceval.api.dropins.indicators import check_choice
from xmceval.api.matrixlike import MatrixLike
from xmceval.errors import DataError, UsageError, warn
from xmceval.rows.block import Float64, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.matrices.matrices import as_scores, as_truth
from xmceval.rows.width import Width
from xmceval.statistics.curves import GroupAreas, RankedGroups, Steps, add_up_steps, average_precisions, roc_areas

LabelAverage = Literal["macro", "micro", "weighted"]
AVERAGES = (*get_args(LabelAverage), None)


def label_roc_curve(
    y_true: MatrixLike, y_score: MatrixLike, *, label: int | None = None, drop_intermediate: bool = True
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the ROC curve of all cells of a matrix together (micro average).

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    label : int, optional
        Compute the curve of this label. Deprecated: use ``roc_curve(y_true[:, [label]], y_score[:, [label]])``.
    drop_intermediate : bool
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : float64 arrays [n_thresholds]
        As scikit-learn's; the first threshold is inf. A rate is NaN where no cell is of its class.

    Examples
    --------
    >>> fpr, tpr, thresholds = label_roc_curve([[0], [0], [1], [1]], [[0.1], [0.4], [0.35], [0.8]])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    steps = _compute_steps(y_true, y_score, label, "roc_curve")
    return (steps.without_points_on_lines() if drop_intermediate else steps).roc_curve()


def label_precision_recall_curve(
    y_true: MatrixLike, y_score: MatrixLike, *, label: int | None = None, drop_intermediate: bool = False
) -> tuple[Float64, Float64, Float64]:
    """Compute the points of the precision-recall curve of all cells of a matrix together (micro average).

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    label : int, optional
        Compute the curve of this label. Deprecated: use `precision_recall_curve` with one column.
    drop_intermediate : bool
        Keep only the first and last point of each recall.

    Returns
    -------
    precision, recall, thresholds : float64 arrays [n_thresholds + 1], [n_thresholds + 1] and [n_thresholds]
        As scikit-learn's: recall falls and ends at 0 with precision 1; recall is 1 where nothing is true.
    """
    steps = _compute_steps(y_true, y_score, label, "precision_recall_curve")
    return (steps.without_points_between() if drop_intermediate else steps).precision_recall_curve()


@overload
def label_roc_auc(y_true: MatrixLike, y_score: MatrixLike, *, average: LabelAverage = "macro") -> float: ...
@overload
def label_roc_auc(y_true: MatrixLike, y_score: MatrixLike, *, average: None) -> Float64: ...
def label_roc_auc(
    y_true: MatrixLike, y_score: MatrixLike, *, average: LabelAverage | None = "macro"
) -> float | Float64:
    """Compute the area under the ROC curve by label. Deprecated: use `roc_auc_score` or `score`.

    ``roc_auc_score(y_true, y_score, average=average)`` is the same where each label has both classes, and
    ``score(y_true, y_score, metrics="macroAUC", unscored="zero")`` always, as is ``"microAUC"``.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    average : {"macro", "micro", "weighted", None}
        The mean over the labels that have both classes, the area of all cells together, the mean weighted by the number
        of true cells, or an array of all labels, NaN where a label has only one class, which scikit-learn refuses.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        No label has both classes.

    See Also
    --------
    roc_auc_score

    Notes
    -----
    Equal to the Mann-Whitney statistic, ties counting one half (Fawcett, An Introduction to ROC Analysis, 2006).
    """
    _warn_of_area("label_roc_auc", "roc_auc_score", "macroAUC")
    return _compute_areas(roc_areas, y_true, y_score, average)


@overload
def label_average_precision(y_true: MatrixLike, y_score: MatrixLike, *, average: LabelAverage = "macro") -> float: ...
@overload
def label_average_precision(y_true: MatrixLike, y_score: MatrixLike, *, average: None) -> Float64: ...
def label_average_precision(
    y_true: MatrixLike, y_score: MatrixLike, *, average: LabelAverage | None = "macro"
) -> float | Float64:
    """Compute average precision by label. Deprecated: use `average_precision_score` or `score`.

    The metric of `score` is ``macroAP``. A label with only one class is left out; scikit-learn counts a label that is
    never true as 0.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels]
        As in `score`; a label without a stored score has score 0.
    average : {"macro", "micro", "weighted", None}
        As of `label_roc_auc`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        No label has both classes.

    See Also
    --------
    average_precision_score
    """
    _warn_of_area("label_average_precision", "average_precision_score", "macroAP")
    return _compute_areas(average_precisions, y_true, y_score, average)


def _warn_of_area(name: str, drop_in: str, metric: str) -> None:
    message = (
        f"{name} is deprecated and will be removed in the next version (hint: use {drop_in}, or score with "
        f"metrics={metric!r} and unscored='zero', which leaves out labels with only one class as well)"
    )
    warn([message], FutureWarning)


def _compute_steps(y_true: Any, y_score: Any, label: int | None, drop_in: str) -> Steps:
    """Compute the steps of the curve of one label, or of all cells together."""
    truth, scores = _read_matrices(y_true, y_score)
    if label is not None:
        n_labels = truth.shape[1]
        if not 0 <= label < n_labels:
            raise UsageError(f"label {label} is outside 0..{n_labels - 1}")
        message = (
            f"label={label} of label_{drop_in} is deprecated and will be removed in the next version "
            f"(hint: use {drop_in}(y_true[:, [{label}]], y_score[:, [{label}]]))"
        )
        warn([message], FutureWarning)
        truth, scores = truth[:, label : label + 1], scores[:, label : label + 1]
    groups = rank_columns(truth, scores, np.ones(truth.shape[0]), micro=True)
    return add_up_steps(groups.is_true, groups.scores, groups.weights, spare=groups.spare[0])


def _compute_areas(
    compute: Callable[[RankedGroups], GroupAreas], y_true: Any, y_score: Any, average: LabelAverage | None
) -> float | Float64:
    """Average the areas of labels with both classes, or return all labels; a value is NaN where one has only one."""
    check_choice(average, "average", AVERAGES)
    truth, scores = _read_matrices(y_true, y_score)
    n_rows, n_labels = truth.shape
    true_labels = np.unique(truth.indices)  # others have only one class
    if average != "micro":
        truth, scores = (_take_labels(each, true_labels) for each in (truth, scores))
    areas = compute(rank_columns(truth, scores, np.ones(n_rows), micro=average == "micro"))
    has_both = areas.has_both
    if average is None:
        by_label = np.full(n_labels, np.nan)
        by_label[true_labels[has_both]] = areas.values[has_both]
        return by_label
    if not has_both.any():
        raise DataError("no label has both classes: each is true in all rows or in none")
    weights = areas.positive[has_both] if average == "weighted" else None
    return float(np.average(areas.values[has_both], weights=weights))


def _take_labels(matrix: Any, labels: Any) -> Any:
    """Return the columns of some labels, without an array of all labels."""
    cells = matrix.tocoo()
    kept = np.isin(cells.col, labels)
    places = cells.row[kept], np.searchsorted(labels, cells.col[kept])
    return sparse.csr_matrix((cells.data[kept], places), shape=(matrix.shape[0], labels.size))


def _read_matrices(y_true: Any, y_score: Any) -> tuple[Any, Any]:
    """Return the truth as CSR of ones and the scores as CSR, both validated."""
    truth, scores = as_truth(y_true), as_scores(y_score)
    n_rows, n_labels = truth.n_rows, truth.n_labels
    if n_rows is None or n_labels is None or (scores.n_rows, scores.n_labels) != (n_rows, n_labels):
        raise DataError(
            f"y_true is {n_rows} x {n_labels}, y_score is {scores.n_rows} x {scores.n_labels}; they must be the same"
        )
    width = Width(n_labels, "y_true has")
    true, scored = _read_csr(truth, width, is_truth=True), _read_csr(scores, width, is_truth=False)
    true.data[:] = 1.0
    return true, scored


def _read_csr(source: Source, width: Width, *, is_truth: bool) -> Any:
    scratch = Scratch()
    lengths, indices, values = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for block in source.blocks():
        entries = validated_truth(block, scratch, width)[0] if is_truth else validated_scores(block, scratch, width)
        used = slice(0, int(entries.indptr[-1]))
        lengths.append(np.diff(entries.indptr))
        indices.append(entries.indices[used].copy())
        values.append(entries.values[used].copy())
    indptr = np.cumsum(np.concatenate(lengths))
    shape = indptr.size - 1, width.n_labels
    return sparse.csr_matrix((np.concatenate(values), np.concatenate(indices), indptr), shape=shape)
