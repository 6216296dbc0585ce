"""Program: a list of measures as the arrays of numbers that the row kernel reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.blocks import Float64
from xmceval.errors import UsageError
from xmceval.metrics import Measure

# The numbers below are those of kernels/rows.py; a test holds the two against each other.
GAINS = {"hit": 0, "propensity": 1, "grade": 2, "exp": 3}
FOLDS = {"sum": 0, "any": 1, "first": 2, "precision": 3}
DISCOUNTS = ("none", "log2", "ln", "letor")

MOMENTS = 7  # sums kept of an output: num, den, num^2, num den, den^2, best - num, worst - num
MAX_CUT = 10_000

# A row's divisor is slope * n + level, the level by m = min(k, n); where the slope is negative it is the ideal.
_SLOPES = {"n": 1.0, "(k+n)/2": 0.5, "ideal": -1.0}


def _levels(divisor: str, k: int, discounts: Float64) -> Float64:
    """Levels of a divisor by m = 0..k, from the discounts by rank."""
    m = np.arange(k + 1.0)
    sums = np.concatenate([[0.0], np.cumsum(discounts[:k])])
    levels = {
        "1": np.ones(k + 1),
        "k": np.full(k + 1, float(k)),
        "(k+n)/2": np.full(k + 1, k / 2),
        "min(k,n)": m,
        "D(k)": np.full(k + 1, sums[k]),
        "D(min(k,n))": sums,
    }
    return levels.get(divisor, np.zeros(k + 1))


@dataclass(frozen=True)
class Program:
    """What the row kernel computes.

    Attributes
    ----------
    measures : sequence of Measure
        One per output.
    cuts : int64 array [n_cuts]
        The distinct cuts, ascending; the last is the number of ranks looked at.
    curves : int64 array [n_curves, 3]
        Gain, discount and fold of each running sum along the ranks.
    discounts : float64 array [4, deepest cut]
        d at each rank.
    outputs : int64 array [n_outputs, 4]
        Curve, cut, 1 for a ratio of sums, 1 for a complement.
    slopes, levels : float64 array [n_outputs], [n_outputs, deepest cut + 1]
        The divisor of a row with n true labels is slope * n + level[min(k, n)], or the ideal where the slope is -1.
    """

    measures: tuple[Measure, ...]
    cuts: NDArray[np.int64]
    curves: NDArray[np.int64]
    discounts: Float64
    outputs: NDArray[np.int64]
    slopes: Float64
    levels: Float64

    @property
    def deepest(self) -> int:
        """The largest cut."""
        return int(self.cuts[-1])

    def working_space(self) -> tuple[NDArray[Any], ...]:
        """Return what the row kernel writes between rows: used gains, gains, ideals, running sums, keys."""
        used = np.isin(np.arange(len(GAINS)), self.curves[:, 0]).astype(np.int64)
        gains, ideals = np.zeros((2, len(GAINS), self.deepest))
        running = np.zeros((4, len(self.curves), self.deepest))
        return used, gains, ideals, running, np.zeros(self.deepest, dtype=np.int64)

    @property
    def needs_propensities(self) -> bool:
        """Whether any measure weighs hits by inverse propensities."""
        return any(measure.metric.needs_propensities for measure in self.measures)


def compile_program(measures: Sequence[Measure]) -> Program:
    """Turn measures into a program.

    Raises
    ------
    UsageError
        No measure at all, or a cut above 10,000.
    """
    if not measures:
        raise UsageError("no metric was asked for")
    cuts = sorted({measure.k for measure in measures})
    if cuts[-1] > MAX_CUT:
        raise UsageError(f"k = {cuts[-1]:,} is above {MAX_CUT:,}, the deepest cut")
    curves: dict[tuple[int, int, int], int] = {}
    outputs = []
    discounts = discount_table(cuts[-1])
    slopes, levels = np.zeros(len(measures)), np.zeros((len(measures), cuts[-1] + 1))
    for o, measure in enumerate(measures):
        metric, discount, divisor = measure.metric, DISCOUNTS.index(measure.discount), measure.norm.divisor
        gain = "exp" if measure.option("gain") == "exp" else metric.gain
        curve = curves.setdefault((GAINS[gain], discount, FOLDS[metric.fold]), len(curves))
        outputs.append((curve, measure.k, int(measure.norm.over == "ratio"), int(metric.complement)))
        slopes[o] = _SLOPES.get(divisor, 0.0)
        levels[o, : measure.k + 1] = _levels(divisor, measure.k, discounts[discount])
    return Program(
        measures=tuple(measures),
        cuts=np.array(cuts, dtype=np.int64),
        curves=np.array(list(curves), dtype=np.int64),
        discounts=discounts,
        outputs=np.array(outputs, dtype=np.int64),
        slopes=slopes,
        levels=levels,
    )


def discount_table(depth: int) -> Float64:
    """Discounts d by rank 1..depth, one row for each entry of DISCOUNTS."""
    rank = np.arange(1, depth + 1, dtype=np.float64)
    letor = np.ones(depth)
    letor[1:] = 1 / np.log2(rank[1:])
    return np.stack([np.ones(depth), 1 / np.log2(rank + 1), 1 / np.log(rank + 1), letor])
