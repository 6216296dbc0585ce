"""Precision, recall, F and Jaccard of decisions, with scikit-learn's names and values; sparse stays sparse."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, overload

from numpy.typing import ArrayLike

from xmceval.api.dropins.decisionratios import Average, Value, compute_jaccard, compute_scores
from xmceval.api.dropins.indicators import AnyArray
from xmceval.api.matrixlike import ClassLike, MatrixLike
from xmceval.rows.block import Float64

ALL_WARN = ("precision", "recall", "f-score")


@overload
def precision_recall_fscore_support(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None = None,
    warn_for: Iterable[str] = ALL_WARN,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> tuple[Float64, Float64, Float64, AnyArray]: ...
@overload
def precision_recall_fscore_support(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average,
    warn_for: Iterable[str] = ALL_WARN,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> tuple[float, float, float, None]: ...
def precision_recall_fscore_support(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = None,
    warn_for: Iterable[str] = ALL_WARN,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> tuple[Value, Value, Value, AnyArray | None]:
    """Compute precision, recall, F measure and support, as scikit-learn does.

    Precision is tp / (tp + fp) and recall tp / (tp + fn); F with beta b is (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn);
    support is the number of true cells, tp + fn.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], dense or of any scipy.sparse format; or one class per row.
    beta : float
        Weight of recall in F: 0 or more, or inf.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    warn_for : iterable of {"precision", "recall", "f-score"}
        Which of them warn of 0/0.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0: "warn" is 0 with an UndefinedMetricWarning; nan leaves the label or row out of means.

    Returns
    -------
    precision, recall, fscore : float or float64 array [n_labels]
        The arrays without an average.
    support : None or array [n_labels]
        None with an average; the array is int64 where there are no weights.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    precision_score, recall_score, f1_score, fbeta_score : One of them.
    multilabel_confusion_matrix : The counts.

    Examples
    --------
    >>> precision_recall_fscore_support([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    (1.0, 0.6666666666666666, 0.8, None)
    """
    given = y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
    return compute_scores(*given, warn_for, beta)


@overload
def precision_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
@overload
def precision_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> Float64: ...
def precision_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float | Float64:
    """Compute precision, tp / (tp + fp), as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], or one class per row.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0; see `precision_recall_fscore_support`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    recall_score, f1_score, precision_recall_fscore_support

    Examples
    --------
    >>> precision_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    1.0
    >>> precision_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average=None)
    array([1., 1.])
    """
    given = y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
    return compute_scores(*given, ["precision"])[0]


@overload
def recall_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
@overload
def recall_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> Float64: ...
def recall_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float | Float64:
    """Compute recall, tp / (tp + fn), as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], or one class per row.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0; see `precision_recall_fscore_support`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    precision_score, f1_score, precision_recall_fscore_support

    Examples
    --------
    >>> recall_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.6666666666666666
    >>> recall_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average=None)
    array([0.5, 1. ])
    """
    given = y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
    return compute_scores(*given, ["recall"])[1]


@overload
def f1_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
@overload
def f1_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> Float64: ...
def f1_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float | Float64:
    """Compute F1, the harmonic mean of precision and recall, as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], or one class per row.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0; see `precision_recall_fscore_support`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    fbeta_score, precision_score, recall_score, precision_recall_fscore_support

    Examples
    --------
    >>> f1_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.8
    >>> f1_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average=None)
    array([0.66666667, 1.        ])
    """
    given = y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
    return compute_scores(*given, ["f-score"])[2]


@overload
def fbeta_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
@overload
def fbeta_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> Float64: ...
def fbeta_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float | Float64:
    """Compute the F measure, in which recall has the weight beta, as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], or one class per row.
    beta : float
        Weight of recall: 0 or more, or inf.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0; see `precision_recall_fscore_support`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    f1_score, precision_recall_fscore_support

    Examples
    --------
    >>> fbeta_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], beta=0.5, average="micro")
    0.9090909090909091
    >>> fbeta_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], beta=0.5, average=None)
    array([0.83333333, 1.        ])
    """
    given = y_true, y_pred, labels, pos_label, average, sample_weight, zero_division
    return compute_scores(*given, ["f-score"], beta)[2]


@overload
def jaccard_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float: ...
@overload
def jaccard_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: None,
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> Float64: ...
def jaccard_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: ClassLike | None = 1,
    average: Average | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | Literal["warn"] = "warn",
) -> float | Float64:
    """Compute the Jaccard index, tp / (tp + fp + fn), as scikit-learn does.

    Parameters
    ----------
    y_true, y_pred : sparse matrix or array
        Indicators [n_rows, n_labels], or one class per row.
    labels : array, optional
        The labels (columns, classes) to count, in this order.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    sample_weight : array [n_rows], optional
        Weights of the rows.
    zero_division : {"warn", 0, 1}
        The value of 0/0; see `precision_recall_fscore_support`.

    Returns
    -------
    float or float64 array [n_labels]
        The array without an average.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    See Also
    --------
    f1_score, hamming_loss

    Examples
    --------
    >>> jaccard_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.6666666666666666
    >>> jaccard_score([[1, 0], [1, 1]], [[1, 0], [0, 1]], average=None)
    array([0.5, 1. ])
    """
    return compute_jaccard(y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)
