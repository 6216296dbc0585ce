"""Rates of confusion cells per label, per row, or over all cells.

tp counts the cells that are predicted and true, fp predicted only, fn true only, tn all others. Since predicted
= tp + fp, true = tp + fn, and tn follows from the number of cells, only tp, predicted and true are stored.
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
    """Counts of confusion cells: arrays with one element per label or row, or single numbers."""

    tp: Float64
    fp: Float64
    fn: Float64
    tn: Float64

    @classmethod
    def of(cls, hits: Any, predicted: Any, true: Any, cells: Any) -> Cells:
        """Compute cells from whole numbers, so that a difference of 0 is exactly 0."""
        counts = hits, predicted - hits, true - hits, cells - predicted - true + hits
        return cls(*(np.asarray(count).astype(np.float64) for count in counts))


# A rate is the mean of one or two fractions; each may be 0/0.
Rate = Callable[[Cells, float], tuple[Fraction, ...]]


def _f_measure(cells: Cells, beta: float) -> tuple[Fraction, ...]:
    square = beta * beta
    numerator = (1 + square) * cells.tp
    return ((numerator, numerator + square * cells.fn + cells.fp),)


def _matthews(cells: Cells, _: float) -> tuple[Fraction, ...]:
    covariance = cells.tp * cells.tn - cells.fp * cells.fn
    deviations = np.sqrt((cells.tp + cells.fp) * (cells.tn + cells.fn))
    return ((covariance, deviations * np.sqrt((cells.tp + cells.fn) * (cells.tn + cells.fp))),)


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "precision": lambda cells, _: ((cells.tp, cells.tp + cells.fp),),
        "recall": lambda cells, _: ((cells.tp, cells.tp + cells.fn),),
        "F": _f_measure,
        "Jaccard": lambda cells, _: ((cells.tp, cells.tp + cells.fn + cells.fp),),
        "specificity": lambda cells, _: ((cells.tn, cells.tn + cells.fp),),
        "fall-out": lambda cells, _: ((cells.fp, cells.tn + cells.fp),),
        "accuracy": lambda cells, _: ((cells.tp + cells.tn, cells.tp + cells.fp + cells.fn + cells.tn),),
        "hamming": lambda cells, _: ((cells.fp + cells.fn, cells.tp + cells.fp + cells.fn + cells.tn),),
        "balanced": lambda cells, _: ((cells.tp, cells.tp + cells.fn), (cells.tn, cells.tn + cells.fp)),
        "matthews": _matthews,
    }
)


# Rates whose numerator and denominator are sums over rows, so that the rate over all cells has an interval.
RATIOS = frozenset(RATES) - {"balanced", "matthews"}


def rate_values(rate: Rate, cells: Cells, beta: float = 1.0, zero: str = "0") -> tuple[Float64, Any]:
    """Compute the rate of each label or row, and whether it is defined.

    Parameters
    ----------
    rate : Rate
    cells : Cells
        Arrays, or numbers.
    beta : float
        Weight of recall in F.
    zero : {"0", "1", "skip"}
        The value of a fraction 0/0; with skip it is dropped, and the rate is undefined if no fraction is left.

    Returns
    -------
    values : float64 array with the shape of the cells
    is_defined : bool array with the same shape
    """
    fractions = rate(cells, beta)
    quotients = list[Any]()
    parts: Any = len(fractions)
    if zero == "skip":
        parts = 0
    for num, den in fractions:
        is_defined = den > 0
        quotient = num / np.where(is_defined, den, 1.0)  # 0 for 0/0
        if zero == "skip":
            parts = parts + is_defined
        elif zero != "0":
            quotient = np.where(is_defined, quotient, float(zero))
        quotients.append(quotient)
    total = sum(quotients[1:], quotients[0])
    if len(fractions) > 1:
        total = total / np.maximum(parts, 1)
    values: Float64 = np.asarray(total, dtype=np.float64)
    return values, np.broadcast_to(np.asarray(parts) > 0, values.shape)
