"""ROC points: positives and negatives above each threshold, as many of them as a picture can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64, Int64

STEPS = 500  # into which both rates are divided: a picture shows no finer ones
FIRST = 50  # thresholds that are all kept, because precision jumps there


@dataclass(frozen=True, eq=False)
class RocPoints:
    """The entries above a threshold, at ever lower thresholds.

    Attributes
    ----------
    false_positives, true_positives : int64 array [n]
        The negatives and positives with at least a score; first none, last all.
    average_precision : float
        The sum over all thresholds of precision x the recall that is gained there; NaN without a positive.
    """

    false_positives: Int64
    true_positives: Int64
    average_precision: float

    @property
    def n_positive(self) -> int:
        """The number of positives."""
        return int(self.true_positives[-1])

    @property
    def n_negative(self) -> int:
        """The number of negatives."""
        return int(self.false_positives[-1])


def roc_points(truth: NDArray[np.bool_], scores: Float64) -> RocPoints:
    """Return the points of the curves of some entries, in any order; equal scores are one threshold."""
    order = np.argsort(-scores)
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), ranked.size - 1)  # of each score
    true: Int64 = np.concatenate([[0], np.cumsum(truth[order], dtype=np.int64)[last]])
    false: Int64 = np.concatenate([[0], last + 1]) - true
    n_positive, n_negative = max(int(true[-1]), 1), max(int(false[-1]), 1)
    precision = true[1:] / np.maximum(true[1:] + false[1:], 1)
    average = float(np.sum(np.diff(true) * precision) / n_positive) if true[-1] else float("nan")
    kept = _visible(true * STEPS // n_positive, false * STEPS // n_negative)
    return RocPoints(false[kept], true[kept], average)


def _visible(*steps: NDArray[Any]) -> Int64:
    """Return the points at which any rate has entered another step, the first ones and the last."""
    changed = np.zeros(steps[0].size, dtype=bool)
    for each in steps:
        changed[1:] |= each[1:] != each[:-1]
    changed[: FIRST + 1] = changed[-1] = True
    return np.flatnonzero(changed)
