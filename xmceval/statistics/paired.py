"""Paired comparison of two systems on the same rows, from sums of moments."""

from __future__ import annotations

import math
from fractions import Fraction

from xmceval.lazily import dataclass
from xmceval.statistics.intervals import t_quantile

POWER = 0.80


@dataclass(frozen=True)
class Moments:
    """Sums over rows of one system's numerators and denominators, their squares and their product."""

    num: Fraction
    den: Fraction
    num2: Fraction
    cross: Fraction
    den2: Fraction


@dataclass(frozen=True)
class Products:
    """Sums over rows of products of a system's values (a) and the baseline's (b)."""

    num_num: Fraction
    num_den: Fraction
    den_num: Fraction
    den_den: Fraction


@dataclass(frozen=True)
class PairedT:
    """A difference and its paired t test; None where there is none.

    Attributes
    ----------
    difference : float
        System minus baseline.
    error : float or None
        The standard error of the difference.
    low, high : float or None
        The 95 % interval.
    p : float or None
        Two-sided.
    effect : float or None
        t / sqrt(n): the standardised difference (Cohen's d of paired values).
    detectable : float or None
        The smallest difference that a test at 5 % finds with a power of 80 % on so many rows.
    """

    difference: float
    error: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    effect: float | None = None
    detectable: float | None = None


def paired_t(a: Moments, b: Moments, products: Products, n: int) -> PairedT | None:
    """Compare two means, or two ratios of sums, over the same `n` rows; None where a denominator is 0.

    Notes
    -----
    With ratios R = sum num / sum den and e = (num_a - R_a den_a) / sum den_a - (num_b - R_b den_b) / sum den_b of each
    row, SE^2 = n / (n - 1) sum e^2: the delta method. Where every denominator is 1 this is the paired t test; where
    both systems have the same denominators, e is ((num_a - num_b) - (R_a - R_b) den) / sum den.
    """
    if a.den == 0 or b.den == 0:
        return None
    ratio_a, ratio_b = a.num / a.den, b.num / b.den
    difference = float(ratio_a - ratio_b)
    if n < 2:
        return PairedT(difference)
    own = _squares(a, ratio_a) / a.den**2 + _squares(b, ratio_b) / b.den**2
    shared = products.num_num - ratio_b * products.num_den - ratio_a * products.den_num
    shared += ratio_a * ratio_b * products.den_den
    squares = max(own - 2 * shared / (a.den * b.den), Fraction(0))
    return t_test(difference, math.sqrt(squares * n / (n - 1)), n)


def t_test(difference: float, error: float, n: int) -> PairedT:
    """Test a difference with a standard error from `n` values."""
    margin = t_quantile(n - 1) * error
    detectable = (t_quantile(n - 1) + t_quantile(n - 1, 2 * POWER - 1)) * error
    t = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    return PairedT(
        difference,
        error,
        difference - margin,
        difference + margin,
        p_value(t, n - 1),
        t / math.sqrt(n) if math.isfinite(t) else None,
        detectable,
    )


def p_value(t: float, degrees: float) -> float:
    """Return the two-sided p of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t))) if math.isfinite(t) else 0.0


def _squares(moments: Moments, ratio: Fraction) -> Fraction:
    return moments.num2 - 2 * ratio * moments.cross + ratio * ratio * moments.den2


def welch(a: list[float], b: list[float]) -> PairedT:
    """Compare the values of two groups of independent runs, such as training seeds (Welch, Biometrika 1947).

    Where all runs of both are alike, nothing shows how far runs vary: there is a test only if the groups are alike too.
    """
    means = [math.fsum(group) / len(group) for group in (a, b)]
    errors = [
        math.fsum((value - mean) ** 2 for value in group) / (len(group) - 1) / len(group)
        for group, mean in zip((a, b), means, strict=True)
    ]
    error, difference = math.sqrt(sum(errors)), means[0] - means[1]
    if not error:
        return PairedT(0.0, 0.0, 0.0, 0.0, 1.0) if difference == 0 else PairedT(difference)
    degrees = sum(errors) ** 2 / sum(e**2 / (len(group) - 1) for e, group in zip(errors, (a, b), strict=True))
    from scipy.special import stdtrit

    margin, t = float(stdtrit(degrees, 0.975)) * error, difference / error
    detectable = float(stdtrit(degrees, 0.975) + stdtrit(degrees, POWER)) * error
    return PairedT(difference, error, difference - margin, difference + margin, p_value(t, degrees), None, detectable)
