"""Program: a list of measures as the arrays of numbers that the row kernel reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.metrics import Measure

# The numbers below are those of kernels/rows.py; a test holds the two against each other.
GAINS = {"hit": 0, "propensity": 1, "grade": 2, "exp": 3}
FOLDS = {"sum": 0, "any": 1, "first": 2, "precision": 3}
DIVISORS = {"1": 0, "k": 1, "n": 2, "min(k,n)": 3, "(k+n)/2": 4, "D(k)": 5, "D(min(k,n))": 6, "ideal": 7}
DISCOUNTS = ("none", "log2", "ln", "letor")

MOMENTS = 7  # sums kept of an output: num, den, num^2, num den, den^2, best - num, worst - num
MAX_CUT = 10_000


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
    outputs : int64 array [n_outputs, 6]
        Curve, cut, divisor, discount of the divisor, 1 for a ratio of sums, 1 for a complement.
    discounts, discount_sums : float64 array [4, deepest cut]
        d at each rank; D, the sum of d up to it.
    """

    measures: tuple[Measure, ...]
    cuts: NDArray[np.int64]
    curves: NDArray[np.int64]
    outputs: NDArray[np.int64]
    discounts: NDArray[np.float64]
    discount_sums: NDArray[np.float64]

    @property
    def deepest(self) -> int:
        """The largest cut."""
        return int(self.cuts[-1])

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
    for measure in measures:
        metric, discount = measure.metric, DISCOUNTS.index(measure.discount)
        gain = "exp" if measure.option("gain") == "exp" else metric.gain
        curve = curves.setdefault((GAINS[gain], discount, FOLDS[metric.fold]), len(curves))
        divisor, ratio = DIVISORS[measure.norm.divisor], measure.norm.over == "ratio"
        outputs.append((curve, measure.k, divisor, discount, int(ratio), int(metric.complement)))
    discounts = discount_table(cuts[-1])
    return Program(
        measures=tuple(measures),
        cuts=np.array(cuts, dtype=np.int64),
        curves=np.array(list(curves), dtype=np.int64),
        outputs=np.array(outputs, dtype=np.int64),
        discounts=discounts,
        discount_sums=np.cumsum(discounts, axis=1),
    )


def discount_table(depth: int) -> NDArray[np.float64]:
    """Discounts d by rank 1..depth, one row for each entry of DISCOUNTS."""
    rank = np.arange(1, depth + 1, dtype=np.float64)
    letor = np.ones(depth)
    letor[1:] = 1 / np.log2(rank[1:])
    return np.stack([np.ones(depth), 1 / np.log2(rank + 1), 1 / np.log(rank + 1), letor])
