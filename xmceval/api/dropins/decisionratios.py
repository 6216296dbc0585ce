"""Ratios of counts of decisions, and their averages: what precision, recall, F and Jaccard have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from xmceval.api.dropins.confusion import ConfusionCounts, count_confusion
from xmceval.api.dropins.indicators import (
    BINARY,
    MULTICLASS,
    MULTILABEL,
    AnyArray,
    MatrixAverage,
    Targets,
    UndefinedMetricWarning,
    check_choice,
    check_targets,
    mean,
)
from xmceval.api.matrixlike import ClassLike, MatrixLike
from xmceval.errors import DataError, UsageError, warn
from xmceval.rows.block import Float64

Average = Literal["binary", MatrixAverage]
AVERAGES = (*get_args(Average), None)

Value: TypeAlias = float | Float64  # an average, or without one an array [n_labels]


class ZeroDivision(NamedTuple):
    """How 0/0 is treated: its value, or "warn" for 0 with a warning, and the metrics that warn."""

    value: Any
    warn_for: frozenset[str]
    average: str | None


def compute_scores(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    labels: ArrayLike | None,
    pos_label: ClassLike | None,
    average: Average | None,
    sample_weight: ArrayLike | None,
    zero_division: float | str,
    warn_for: Iterable[str],
    beta: float = 1.0,
) -> tuple[Value, Value, Value, AnyArray | None]:
    """Compute precision, recall, F and, without an average, the support; they warn of 0/0 if `warn_for` names them."""
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


def compute_jaccard(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    labels: ArrayLike | None,
    pos_label: ClassLike | None,
    average: Average | None,
    sample_weight: ArrayLike | None,
    zero_division: float | str,
) -> Value:
    """Compute the Jaccard index."""
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
    y_true: MatrixLike,
    y_pred: MatrixLike,
    labels: ArrayLike | None,
    pos_label: ClassLike | None,
    average: Average | None,
    sample_weight: ArrayLike | None,
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
