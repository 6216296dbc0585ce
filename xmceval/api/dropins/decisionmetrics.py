"""Precision, recall, F and Jaccard of decisions, with scikit-learn's names and values; sparse stays sparse."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from xmceval.api.dropins.confusion import ConfusionCounts, count_confusion
from xmceval.api.dropins.indicators import (
    BINARY,
    MULTICLASS,
    MULTILABEL,
    AnyArray,
    Targets,
    UndefinedMetricWarning,
    check_choice,
    check_targets,
    mean,
)
from xmceval.errors import DataError, UsageError, warn
from xmceval.rows.block import Float64

AVERAGES = ("binary", "micro", "macro", "weighted", "samples", None)

ALL_WARN = ("precision", "recall", "f-score")


class ZeroDivision(NamedTuple):
    """How 0/0 is treated: its value, or "warn" for 0 with a warning, and the metrics that warn."""

    value: Any
    warn_for: frozenset[str]
    average: str | None


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Iterable[str] = ALL_WARN,
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> tuple[Any, Any, Any, Any]:
    """Compute precision, recall, F measure and support, as scikit-learn does.

    Precision is tp / (tp + fp) and recall tp / (tp + fn); F with beta b is (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn);
    support is the number of true cells, tp + fn.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        See `multilabel_confusion_matrix`.
    beta : float
        Weight of recall in F: 0 or more, or inf.
    pos_label : class
        The positive class with ``average="binary"``.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells together; mean over labels; mean weighted by support; mean over rows; no mean.
    warn_for : iterable of {"precision", "recall", "f-score"}
        Which of them warn of 0/0.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0: "warn" is 0 with an UndefinedMetricWarning; nan leaves the label or row out of means.

    Returns
    -------
    tuple
        Four arrays [n_labels] without an average; else three floats and None.

    Raises
    ------
    DataError
        Targets that do not fit together, or do not suit the average.
    UsageError
        A parameter that is wrong.

    Examples
    --------
    >>> precision_recall_fscore_support([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    (1.0, 0.6666666666666666, 0.8, None)
    """
    _check_beta(beta)
    _check_zero(zero_division, (0, 1, math.nan))
    targets, counts = _count(y_true, y_pred, labels, pos_label, average, sample_weight)
    zero = ZeroDivision(zero_division, frozenset(warn_for), average)
    precision = _ratio(counts.tp, counts.pred, "precision", "no predicted", zero)
    recall = _ratio(counts.tp, counts.true, "recall", "no true", zero)
    if math.isinf(beta):
        fscore = recall
    elif beta == 0:
        fscore = precision
    else:
        square = beta**2
        parts = (1 + square) * counts.tp, square * counts.true + counts.pred
        fscore = _ratio(*parts, "f-score", "neither true nor predicted", zero)
    if average is None:
        return precision, recall, fscore, counts.true
    weight = {"weighted": counts.true, "samples": targets.weight}.get(average)
    return _nan_mean(precision, weight), _nan_mean(recall, weight), _nan_mean(fscore, weight), None


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute precision, as scikit-learn does; see `precision_recall_fscore_support` for the arguments."""
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    return precision_recall_fscore_support(
        y_true, y_pred, warn_for=("precision",), sample_weight=sample_weight, **options
    )[0]


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute recall, as scikit-learn does; see `precision_recall_fscore_support` for the arguments."""
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    return precision_recall_fscore_support(
        y_true, y_pred, warn_for=("recall",), sample_weight=sample_weight, **options
    )[1]


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute F1, as scikit-learn does; see `precision_recall_fscore_support` for the arguments."""
    return fbeta_score(
        y_true,
        y_pred,
        beta=1,
        labels=labels,
        pos_label=pos_label,
        average=average,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the F measure, as scikit-learn does; see `precision_recall_fscore_support` for the arguments."""
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    return precision_recall_fscore_support(
        y_true, y_pred, beta=beta, warn_for=("f-score",), sample_weight=sample_weight, **options
    )[2]


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the Jaccard index tp / (tp + fp + fn), as scikit-learn does; `zero_division` is "warn", 0 or 1.

    See `precision_recall_fscore_support` for the arguments.
    """
    _check_zero(zero_division, (0, 1))
    targets, counts = _count(y_true, y_pred, labels, pos_label, average, sample_weight)
    union = counts.true + counts.pred - counts.tp
    zero = ZeroDivision(zero_division, frozenset(["jaccard"]), average)
    values = _ratio(counts.tp, union, "jaccard", "neither true nor predicted", zero)
    if average is None:
        return values
    if not values.size:
        return math.nan
    weight = {"weighted": counts.true, "samples": targets.weight}.get(average)
    return mean(values, None if average == "weighted" and not np.any(weight) else weight)


def _count(
    y_true: Any, y_pred: Any, labels: Any, pos_label: Any, average: str | None, sample_weight: Any
) -> tuple[Targets, ConfusionCounts]:
    """Check the average against the targets, and count."""
    check_choice(average, "average", AVERAGES)
    targets = check_targets(y_true, y_pred, sample_weight)
    if average == "binary":
        labels = [_positive(targets, pos_label)]
    elif not (pos_label is None or (np.isscalar(pos_label) and pos_label == 1)):
        warn(
            [f"pos_label={pos_label!r} is ignored with average={average!r}, it is for 'binary' (hint: pass labels)"],
            UserWarning,
        )
    counts = count_confusion(targets, labels, samplewise=average == "samples")
    if average == "micro":
        tp, pred, true = (np.atleast_1d(part.sum()) for part in counts[:3])
        counts = ConfusionCounts(tp, pred, true, counts.cells)
    return targets, counts


def _positive(targets: Targets, pos_label: Any) -> Any:
    if targets.kind != BINARY:
        choices = "None, 'micro', 'macro', 'weighted'" + (", 'samples'" if targets.kind == MULTILABEL else "")
        kind = {MULTICLASS: "of more than two classes", MULTILABEL: "an indicator matrix"}[targets.kind]
        raise DataError(f"average='binary' needs two classes, but the target is {kind}; choose one of {choices}")
    is_text = targets.classes.dtype.kind == "U"
    is_other = is_text != isinstance(pos_label, str)
    if is_other or (targets.classes.size > 1 and pos_label not in targets.classes):
        raise DataError(f"pos_label={pos_label!r} is not one of the classes, {targets.classes.tolist()}")
    return pos_label


def _ratio(part: AnyArray, whole: AnyArray, metric: str, cells: str, zero: ZeroDivision) -> Float64:
    """Divide, giving 0/0 its value and warning of it; `cells` says which cells are missing there."""
    is_empty = whole == 0
    values = np.asarray(np.divide(part, np.where(is_empty, 1, whole)), dtype=np.float64)
    if not is_empty.any():
        return values
    is_warning = isinstance(zero.value, str)
    values[is_empty] = 0.0 if is_warning else float(zero.value)
    if is_warning and metric in zero.warn_for:
        group = "a row" if zero.average == "samples" else "a label"
        message = (
            f"{metric} is not defined where {group} has {cells} cells ({int(is_empty.sum()):,} of {is_empty.size:,}); "
            "it was set to 0 (hint: pass zero_division)"
        )
        warn([message], UndefinedMetricWarning)
    return values


def _nan_mean(values: Float64, weight: AnyArray | None) -> float:
    """Average what is not NaN; if no weight is left, without weights."""
    kept = ~np.isnan(values)
    if not kept.any():
        return math.nan
    weights = None if weight is None else weight[kept]
    return float(np.average(values[kept], weights=weights if weights is not None and weights.sum() != 0 else None))


def _check_beta(beta: Any) -> None:
    if not np.isscalar(beta) or isinstance(beta, str) or not beta >= 0:  # type: ignore[operator]
        raise UsageError(f"beta must be a number from 0 to inf, got {beta!r}")


def _check_zero(zero: Any, choices: tuple[float, ...]) -> None:
    is_choice = isinstance(zero, (int, float, np.number)) and any(
        zero == each or (each != each and zero != zero)  # noqa: PLR0124 - NaN is what differs from itself
        for each in choices
    )
    if not is_choice and not (isinstance(zero, str) and zero == "warn"):
        raise UsageError(f"zero_division must be 'warn' or one of {', '.join(map(str, choices))}, got {zero!r}")
