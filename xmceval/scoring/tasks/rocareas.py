"""Areas under ROC curves: the share of pairs in order, of groups of sorted cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64

EXACT = 2.0**53  # below it, whole numbers are exact in float64


class RocAreas(NamedTuple):
    """Areas of groups, NaN where a group has only one class, and the weights of the positives and the negatives."""

    values: Float64
    positive: Float64
    negative: Float64


def roc_areas(
    starts: NDArray[Any],
    truth: NDArray[np.bool_],
    scores: Float64,
    weights: Float64 | None = None,
    spare: Float64 | None = None,
) -> RocAreas:
    """Compute the area under the ROC curve of each group: the share of (positive, negative) pairs in order.

    A tie is half a pair. Where all weights are whole numbers, the value is exact to its last bit as long as there are
    fewer than 2^53 cells and 2^105 pairs in a group.

    Parameters
    ----------
    starts : int array [n_groups + 1]
        Group g has the cells ``starts[g] : starts[g + 1]``, in descending order of their scores.
    truth, scores : arrays [n]
    weights : float64 array [n], optional
        Default 1.
    spare : float64 array [n_groups], optional
        The weight of further cells of each group: negatives with score 0.
    """
    from xmceval.kernels.metrics.auc import sum_ordered_pairs

    n_groups = starts.size - 1
    doubled, (positive, negative) = np.zeros((n_groups, 2)), np.zeros((2, n_groups))
    weights = np.ones(scores.size) if weights is None else weights
    spare = np.zeros(n_groups) if spare is None else spare
    sum_ordered_pairs(starts, truth, scores, weights, spare, doubled, positive, negative)
    values, has_both = np.full(n_groups, np.nan), (positive != 0) & (negative != 0)
    pairs = 2 * positive * negative
    values[has_both] = doubled.sum(axis=1)[has_both] / pairs[has_both]
    for group in np.flatnonzero(has_both & (pairs >= EXACT) & (pairs < np.inf)).tolist():
        numerator = Fraction(doubled[group, 0]) + Fraction(doubled[group, 1])
        values[group] = float(numerator / (2 * Fraction(positive[group]) * Fraction(negative[group])))
    return RocAreas(np.minimum(values, 1.0), positive, negative)
