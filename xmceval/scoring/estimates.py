"""Turn exact sums into a value, its confidence interval, and its bounds over the orders of ties."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from xmceval.kernels.metrics.sums import WORD, WORDS, multiples_of
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.intervals import (
    FEW_ROWS,
    FEWEST_ROWS,
    ONE_ROW,
    RowSums,
    few_hits,
    is_uncertain,
    ratio_interval,
)

BITS = WORD * (WORDS - 2)  # fractional bits of an exact sum
ONE = 1 << BITS  # 1 in units of the last bit
SHARES = 5  # a row with more than this fraction (1 / SHARES) of the variance raises a caution


@dataclass(frozen=True)
class Estimate:
    """One number of a report; missing bounds are None.

    Attributes
    ----------
    value : float
    low, high : float or None
        The 95% confidence interval.
    caution : str or None
        Why the interval may be inaccurate: ``few_rows`` below 30 rows, ``one_row`` if one row carries more than
        a fifth of the variance.
    tie_low, tie_high : float or None
        The least and greatest value over all orders of equally scored labels.
    undefined : bool
        Whether the denominator is zero.
    ceiling : float or None
        The best value that any ranking could reach on the same truth, for metrics at a cutoff.
    """

    value: float
    low: float | None = None
    high: float | None = None
    tie_low: float | None = None
    tie_high: float | None = None
    undefined: bool = False
    ceiling: float | None = None
    caution: str | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """`low` and `high`; NaN if missing."""
        return as_bounds(self.low, self.high)

    @property
    def tie_bounds(self) -> tuple[float, float]:
        """`tie_low` and `tie_high`; NaN if missing."""
        return as_bounds(self.tie_low, self.tie_high)

    def without_tie_bounds(self) -> Estimate:
        """Return the estimate without bounds over orders of ties."""
        return replace(self, tie_low=None, tie_high=None)

    @classmethod
    def plain(cls, value: float | None) -> Estimate:
        """Return an estimate with only a value; None means undefined, which counts as 0."""
        return cls(value or 0.0, undefined=value is None)


def as_bounds(low: float | None, high: float | None) -> tuple[float, float]:
    """Return two bounds for the public API: NaN if missing."""
    return (math.nan, math.nan) if low is None or high is None else (low, high)


def exact(sums: Int64) -> list[Fraction]:
    """Convert exact sums, int64 [n, WORDS], to fractions."""
    return [Fraction(multiple, ONE) for multiple in multiples_of(sums.tolist())]


def estimate(measure: Measure, sums: Int64, n: int, extremes: Float64, *, ceiling: bool = False) -> Estimate:
    """Compute an estimate from the moments [MOMENTS, WORDS] of the values of `n` rows, and maybe a ceiling.

    The interval is for a mean, or for a ratio of sums by the delta method; sample weights multiply numerators
    and denominators, which gives the delta method for the weighted mean. `extremes` [2, KEPT, 2] are the rows
    that gain and lose most.
    """
    num, den, num2, cross, den2, best, worst, most = multiples_of(sums.tolist())
    if den == 0:
        return Estimate(0.0, tie_low=0.0, tie_high=0.0, undefined=True)
    tie_low = tie_high = value = num / den  # a quotient of integers, rounded once
    if best or worst:
        tie_low, tie_high = sorted(((num + best) / den, (num + worst) / den))
    rows = RowSums(num, den, num2 << BITS, cross << BITS, den2 << BITS)  # in units of the last bit of a sum
    interval = ratio_interval(rows, n, is_share=measure.is_mean_share)
    if interval is None:
        may_be_off = is_uncertain(rows, n)
    else:
        may_be_off = n < FEWEST_ROWS or not measure.is_mean_share or few_hits(rows, n) is None  # else exact
    caution = _find_caution(rows, n, extremes) if may_be_off else None
    low, high = interval or (None, None)
    return Estimate(value, low, high, tie_low, tie_high, ceiling=most / den if ceiling else None, caution=caution)


def _find_caution(sums: RowSums, n: int, extremes: Float64) -> str | None:
    """Return why an interval may be inaccurate, or None."""
    if n < FEWEST_ROWS:
        return FEW_ROWS
    pairs = [*extremes[0].tolist(), *(pair[::-1] for pair in extremes[1].tolist())]
    rows = [(gain, gain + loss) for gain, loss in pairs if math.isfinite(gain)]  # numerators, denominators
    if not rows:  # sums merged over processes keep no rows
        return None
    ratio = float(sums.num / sums.den)
    furthest = max(rows, key=lambda row: abs(row[0] - ratio * row[1]))
    (num, unit), (den, its_unit) = map(float.as_integer_ratio, furthest)  # whole numbers of 1 / unit
    error = ONE * (num * its_unit * sums.den - sums.num * den * unit)
    return ONE_ROW if SHARES * error**2 > sums.squares * (unit * its_unit) ** 2 else None
