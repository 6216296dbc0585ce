"""Estimates: what exact sums amount to: a value, its interval, and its bounds over orders of ties."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from xmceval.kernels.totals import WORD, WORDS
from xmceval.lazily import dataclass
from xmceval.rows.block import Int64
from xmceval.statistics.intervals import ratio_margin


@dataclass(frozen=True)
class Estimate:
    """One number of a report; bounds are None where there are none.

    Attributes
    ----------
    value : float
    low, high : float or None
        The 95 % confidence interval.
    tie_low, tie_high : float or None
        The least and greatest value over all orders of equally scored labels.
    undefined : bool
        Whether there is nothing to divide by.
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

    def without_ceiling(self) -> Estimate:
        """Return it without a ceiling."""
        return self if self.ceiling is None else replace(self, ceiling=None)

    def without_tie_bounds(self) -> Estimate:
        """Return it without bounds over orders of ties."""
        return replace(self, tie_low=None, tie_high=None)

    @classmethod
    def plain(cls, value: float | None) -> Estimate:
        """Return a value alone; None is undefined and counts as 0."""
        return cls(value or 0.0, undefined=value is None)


def exact(words: Int64) -> Fraction:
    """Return the number that the words of an exact sum stand for."""
    multiple = sum(int(word) << (WORD * place) for place, word in enumerate(words))
    return Fraction(multiple, 1 << (WORD * (WORDS - 2)))


def estimate(sums: Int64, n: int) -> Estimate:
    """Divide: the moments [MOMENTS, WORDS] of the values of `n` rows become an estimate.

    The interval is that of a mean, or of a ratio of sums by the delta method; with sample weights w, numerator and
    denominator are w times the row's, which is the delta method of the weighted mean.
    """
    num, den, num2, cross, den2, best, worst, most = (exact(words) for words in sums)
    if den == 0:
        return Estimate(0.0, tie_low=0.0, tie_high=0.0, undefined=True)
    value, ceiling = num / den, float(most / den)
    tie_low, tie_high = sorted(float((num + move) / den) for move in (best, worst))
    margin = ratio_margin(value, den, num2, cross, den2, n)
    low, high = (None, None) if margin is None else (float(value) - margin, float(value) + margin)
    return Estimate(float(value), low, high, tie_low, tie_high, ceiling=ceiling)
