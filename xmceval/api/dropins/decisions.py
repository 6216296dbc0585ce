"""Precision, recall, F and Jaccard of decisions, with scikit-learn's names and values; sparse stays sparse."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from xmceval.api.dropins.counts import Counts, count
from xmceval.api.dropins.targets import (
    BINARY,
    MULTICLASS,
    MULTILABEL,
    AnyArray,
    Float64,
    Targets,
    UndefinedMetricWarning,
    check_choice,
    check_targets,
    mean,
    warn,
)
from xmceval.errors import DataError, UsageError

AVERAGES = ("binary", "micro", "macro", "weighted", "samples", None)

ALL_WARN = ("precision", "recall", "f-score")


class Told(NamedTuple):
    """What 0/0 is, and which metrics warn of it."""

    average: str | None
    warn_for: frozenset[str]
    zero: Any


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
    """Compute precision tp/(tp+fp), recall tp/(tp+fn), their F and the number of true cells, as scikit-learn's.

    F is (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn).

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        See `multilabel_confusion_matrix`.
    beta : float
        Weight of recall in F: 0 or more, or inf.
    pos_label : class
        The class that ``average="binary"`` looks at.
    average : {"binary", "micro", "macro", "weighted", "samples", None}
        One class; all cells as one; mean over labels; mean weighted by true cells; mean over rows; no mean.
    warn_for : iterable of {"precision", "recall", "f-score"}
        What warns.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0: "warn" is 0 with an UndefinedMetricWarning; nan leaves the label or row out of means.

    Returns
    -------
    tuple
        Four arrays [n_labels] where there is no average; else three floats and None.

    Raises
    ------
    DataError
        Targets that do not fit together or do not suit the average.
    UsageError
        A parameter that is wrong.

    Examples
    --------
    >>> precision_recall_fscore_support([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    (1.0, 0.6666666666666666, 0.8, None)
    """
    _check_beta(beta)
    _check_zero(zero_division, (0, 1, math.nan))
    targets, counts = _counted(y_true, y_pred, labels, pos_label, average, sample_weight)
    told = Told(average, frozenset(warn_for), zero_division)
    precision = _ratio(counts.tp, counts.pred, "precision", "no predicted", told)
    recall = _ratio(counts.tp, counts.true, "recall", "no true", told)
    if math.isinf(beta):
        fscore = recall
    elif beta == 0:
        fscore = precision
    else:
        square = beta**2
        parts = (1 + square) * counts.tp, square * counts.true + counts.pred
        fscore = _ratio(*parts, "f-score", "neither true nor predicted", told)
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
    """Compute precision, as scikit-learn's; see `precision_recall_fscore_support` for the arguments."""
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
    """Compute recall, as scikit-learn's; see `precision_recall_fscore_support` for the arguments."""
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
    """Compute F1, as scikit-learn's; see `precision_recall_fscore_support` for the arguments."""
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
    """Compute F of any beta, as scikit-learn's; see `precision_recall_fscore_support` for the arguments."""
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
    """Compute tp/(tp + fp + fn), as scikit-learn's; `zero_division` is "warn", 0 or 1.

    See `precision_recall_fscore_support` for the arguments.
    """
    _check_zero(zero_division, (0, 1))
    targets, counts = _counted(y_true, y_pred, labels, pos_label, average, sample_weight)
    union = counts.true + counts.pred - counts.tp
    told = Told(average, frozenset(["jaccard"]), zero_division)
    values = _ratio(counts.tp, union, "jaccard", "neither true nor predicted", told)
    if average is None:
        return values
    if not values.size:
        return math.nan
    weight = {"weighted": counts.true, "samples": targets.weight}.get(average)
    return mean(values, None if average == "weighted" and not np.any(weight) else weight)


def _counted(
    y_true: Any, y_pred: Any, labels: Any, pos_label: Any, average: str | None, sample_weight: Any
) -> tuple[Targets, Counts]:
    """Check the average against the targets, and count."""
    check_choice(average, "average", AVERAGES)
    targets = check_targets(y_true, y_pred, sample_weight)
    if average == "binary":
        labels = [_positive(targets, pos_label)]
    elif not (pos_label is None or (np.isscalar(pos_label) and pos_label == 1)):
        warn(f"pos_label={pos_label!r} is ignored: it concerns average='binary' only, not {average!r}; see labels")
    counts = count(targets, labels, samplewise=average == "samples")
    if average == "micro":
        tp, pred, true = (np.atleast_1d(part.sum()) for part in counts[:3])
        counts = Counts(tp, pred, true, counts.cells)
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


def _ratio(part: AnyArray, whole: AnyArray, metric: str, what: str, told: Told) -> Float64:
    """Divide; 0/0 has the value of zero_division, and may warn."""
    nothing = whole == 0
    values = np.asarray(np.divide(part, np.where(nothing, 1, whole)), dtype=np.float64)
    if not nothing.any():
        return values
    values[nothing] = 0.0 if isinstance(told.zero, str) else float(told.zero)
    if isinstance(told.zero, str) and metric in told.warn_for:
        where = "a row" if told.average == "samples" else "a label"
        warn(
            f"{metric} is not defined where {where} has {what} cells ({int(nothing.sum()):,} of {nothing.size:,}); "
            "it was set to 0. Choose its value by zero_division",
            UndefinedMetricWarning,
        )
    return values


def _nan_mean(values: Float64, weight: AnyArray | None) -> float:
    """Average what is not NaN; without any weight left, plainly."""
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
