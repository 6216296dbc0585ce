"""Confidence intervals of means and of ratios of sums, from sums of moments."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

CONFIDENCE = 0.95


def ratio_margin(
    value: Fraction, den: Fraction, num2: Fraction, cross: Fraction, den2: Fraction, n: int
) -> float | None:
    """Return the half width of the 95 % interval of a ratio of sums, or of a mean where every denominator is 1.

    Parameters
    ----------
    value : Fraction
        R = sum num / sum den.
    den, num2, cross, den2 : Fraction
        Sums over rows of den, num^2, num den, den^2.
    n : int
        The number of rows; below 2 there is no interval, and None is returned.

    Notes
    -----
    t s / sqrt(n) for a mean. For a ratio the delta method (Cochran, Sampling Techniques, 1977, ch. 6): with
    e = num - R den, SE = sqrt(sum e^2 / (n (n - 1))) / mean(den).
    """
    if n < 2:
        return None
    squares = max(num2 - 2 * value * cross + value * value * den2, Fraction(0))
    error = math.sqrt(squares / (n * (n - 1))) / float(den / n)
    return t_quantile(n - 1) * error


def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t distribution.

    From 300 degrees on by its expansion in the normal quantile (Abramowitz, Stegun, 26.7.5), whose error is below 1e-13
    there: importing scipy.special would take a tenth of a small run.
    """
    p = (1 + confidence) / 2
    if degrees < 300:
        from scipy.special import stdtrit

        return float(stdtrit(degrees, p))
    z = NormalDist().inv_cdf(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, 1))
