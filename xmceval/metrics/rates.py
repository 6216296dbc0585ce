"""Rates: what hits, predictions and truth come to, for a label, for a row, or for all cells at once.

With tp cells predicted and true, fp and fn the two kinds of errors and tn the cells that are neither:
predicted = tp + fp, true = tp + fn, and the number of cells gives tn without storing any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Fraction = tuple[Float64, Float64]


@dataclass(frozen=True)
class Cells:
    """Counts of cells: hits, the two errors, neither; each one element a label or row, or a single number."""

    tp: Float64
    fp: Float64
    fn: Float64
    tn: Float64

    @classmethod
    def of(cls, hits: Any, predicted: Any, true: Any, cells: Any) -> Cells:
        """Take whole numbers, so that what is 0 by arithmetic is 0."""
        counts = hits, predicted - hits, true - hits, cells - predicted - true + hits
        return cls(*(np.asarray(count).astype(np.float64) for count in counts))


# A rate is the mean of one fraction or two, each of which may be 0/0.
Rate = Callable[[Cells, float], tuple[Fraction, ...]]


def _precision(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001 - rates share one signature
    return ((of.tp, of.tp + of.fp),)


def _recall(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.tp, of.tp + of.fn),)


def _f_measure(of: Cells, beta: float) -> tuple[Fraction, ...]:
    square = beta * beta
    got = (1 + square) * of.tp
    return ((got, got + square * of.fn + of.fp),)


def _jaccard(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.tp, of.tp + of.fn + of.fp),)


def _specificity(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.tn, of.tn + of.fp),)


def _fall_out(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.fp, of.tn + of.fp),)


def _accuracy(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.tp + of.tn, of.tp + of.fp + of.fn + of.tn),)


def _hamming(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    return ((of.fp + of.fn, of.tp + of.fp + of.fn + of.tn),)


def _balanced_accuracy(of: Cells, beta: float) -> tuple[Fraction, ...]:
    return (*_recall(of, beta), *_specificity(of, beta))


def _matthews(of: Cells, beta: float) -> tuple[Fraction, ...]:  # noqa: ARG001
    covariance = of.tp * of.tn - of.fp * of.fn
    return ((covariance, np.sqrt((of.tp + of.fp) * (of.tn + of.fn)) * np.sqrt((of.tp + of.fn) * (of.tn + of.fp))),)


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "precision": _precision,
        "recall": _recall,
        "F": _f_measure,
        "Jaccard": _jaccard,
        "specificity": _specificity,
        "fall-out": _fall_out,
        "accuracy": _accuracy,
        "hamming": _hamming,
        "balanced": _balanced_accuracy,
        "matthews": _matthews,
    }
)

# Rates whose numerator and denominator add up over rows, so that the rate of all cells has an interval.
RATIOS = frozenset(RATES) - {"balanced", "matthews"}


def rate_values(rate: Rate, of: Cells, beta: float = 1.0, zero: str = "0") -> tuple[Float64, Any]:
    """Return the rate of each label or row, and where it is defined.

    Parameters
    ----------
    rate : Rate
    of : Cells
        Arrays, or numbers.
    beta : float
        Weight of recall in F.
    zero : {"0", "1", "skip"}
        What a fraction 0/0 counts as; with skip it is left out, and the rate is undefined where nothing is left.
    """
    total: Any = 0.0
    parts: Any = 0
    for num, den in rate(of, beta):
        known = den > 0
        quotient = num / np.where(known, den, 1.0)
        if zero == "skip":
            total, parts = total + np.where(known, quotient, 0.0), parts + known
        else:
            total, parts = total + np.where(known, quotient, float(zero)), parts + 1
    values: Float64 = np.asarray(total / np.maximum(parts, 1), dtype=np.float64)
    return values, np.broadcast_to(np.asarray(parts) > 0, values.shape)
