"""Turn exact sums into values, with confidence intervals and bounds over the orders of ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.sums import MOMENTS, WORD, WORDS, multiples_of
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64

BITS = WORD * (WORDS - 2)  # fractional bits of an exact sum
ONE = 1 << BITS  # 1 in units of the last bit
SHARES = 5  # a row with more than this fraction (1 / SHARES) of the variance raises a caution
CONFIDENCE = 0.95
FEW = 20  # hits or misses below which the t interval is too narrow for a share of hits
DIGITS = Context(prec=30, Emin=-(10**6), Emax=10**6)
ALIKE = 10**24  # values are equal if their squares exceed the squares of their differences by this factor
UNCERTAIN = 0.2  # relative half width of the mean denominator's interval, above which t is Fieller's

# Cautions: why an interval may be inaccurate.
FEW_ROWS = "few_rows"
ONE_ROW = "one_row"
FEWEST_ROWS = 30


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
    sd : float or None
        Of a mean over training runs, their sample standard deviation.
    """

    value: float
    low: float | None = None
    high: float | None = None
    tie_low: float | None = None
    tie_high: float | None = None
    undefined: bool = False
    ceiling: float | None = None
    caution: str | None = None
    sd: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """`low` and `high`; NaN if missing."""
        return as_bounds(self.low, self.high)

    @property
    def bar(self) -> tuple[float, float]:
        """The ends of an error bar: those of the interval, or of a mean over runs one sd around it."""
        if self.sd is None:
            return self.interval
        return self.value - self.sd, self.value + self.sd

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
    if low is None or high is None:
        return math.nan, math.nan
    return low, high


def exact(sums: Int64) -> list[Fraction]:
    """Convert exact sums, int64 [n, WORDS], to fractions."""
    return [Fraction(multiple, ONE) for multiple in multiples_of(sums.tolist())]


def estimate(
    measures: Sequence[Measure],
    sums: Int64,
    n_rows: Sequence[int],
    extremes: Float64,
    has_ceiling: Sequence[bool] | None = None,
) -> list[Estimate]:
    """Compute the estimate of each measure from moments [n, MOMENTS, WORDS] of the values of its rows.

    The interval is for a mean, or for a ratio of sums by the delta method; sample weights multiply numerators
    and denominators, which gives the delta method for the weighted mean. `extremes` [n, 2, KEPT, 2] are the rows
    that gain and lose most.
    """
    multiples = multiples_of(sums.reshape(-1, WORDS).tolist())
    moments = [multiples[start : start + MOMENTS] for start in range(0, len(multiples), MOMENTS)]
    values = [num / den if den else 0.0 for num, den, *_ in moments]  # quotients of integers, rounded once
    furthest = _find_furthest(extremes[: len(values)], values)
    estimates = []
    for i, (measure, n) in enumerate(zip(measures, n_rows, strict=True)):
        num, den, num2, cross, den2, best, worst, most = moments[i]
        if den == 0:
            estimates.append(Estimate(0.0, tie_low=0.0, tie_high=0.0, undefined=True))
            continue
        tie_low = tie_high = values[i]
        if best or worst:
            tie_low, tie_high = sorted(((num + best) / den, (num + worst) / den))
        rows = RowSums(num, den, num2 << BITS, cross << BITS, den2 << BITS)  # in units of the last bit of a sum
        interval, is_approximate = ratio_interval(rows, n, is_share=measure.is_mean_share)
        caution = None
        if n < FEWEST_ROWS:
            if interval is not None:
                caution = FEW_ROWS
        elif is_approximate and _has_most_variance(furthest[i], rows):
            caution = ONE_ROW
        ceiling = None
        if has_ceiling is not None and has_ceiling[i]:
            ceiling = most / den
        low, high = interval or (None, None)
        estimates.append(Estimate(values[i], low, high, tie_low, tie_high, ceiling=ceiling, caution=caution))
    return estimates


def _find_furthest(extremes: Float64, ratios: Sequence[float]) -> list[list[float]]:
    """Return by measure the numerator and denominator of the kept row that is furthest from the ratio.

    They are 0 without such a row: sums merged over processes keep none.
    """
    gains = np.concatenate([extremes[:, 0, :, 0], extremes[:, 1, :, 1]], axis=1)
    losses = np.concatenate([extremes[:, 0, :, 1], extremes[:, 1, :, 0]], axis=1)
    is_kept = np.isfinite(gains)
    nums = np.where(is_kept, gains, 0.0)
    dens = np.where(is_kept, gains + losses, 0.0)
    distances = np.abs(nums - np.array(ratios)[:, None] * dens)
    measures = np.arange(len(ratios))
    rows = distances.argmax(axis=1)
    furthest: list[list[float]] = np.stack([nums[measures, rows], dens[measures, rows]], axis=1).tolist()
    return furthest


def _has_most_variance(row: Sequence[float], sums: RowSums) -> bool:
    """Return whether a row, numerator and denominator, carries more than a fifth of the variance."""
    num, num_unit = row[0].as_integer_ratio()  # whole numbers of 1 / unit
    den, den_unit = row[1].as_integer_ratio()
    error = ONE * (num * den_unit * sums.den - sums.num * den * num_unit)
    return SHARES * error**2 > sums.squares * (num_unit * den_unit) ** 2


@dataclass(frozen=True)
class RowSums:
    """Exact sums over rows of numerators, denominators, their squares, and their products.

    They may be in any common unit: whole numbers in a small unit take a fraction of the time.
    """

    num: Fraction | int
    den: Fraction | int
    num2: Fraction | int
    cross: Fraction | int
    den2: Fraction | int

    @cached_property
    def squares(self) -> Fraction | int:
        """The sum of e^2, e = num - R den, R = sum num / sum den, times (sum den)^2; never below 0."""
        num = self.num
        den = self.den
        return max(self.num2 * den**2 - num * (2 * self.cross * den - num * self.den2), 0)

    def spread(self, n: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the sums of squared deviations from means: of numerators, of products, and of denominators."""
        num = self.num
        den = self.den
        num2 = self.num2 - Fraction(num**2, n)
        cross = self.cross - Fraction(num * den, n)
        return num2, cross, self.den2 - Fraction(den**2, n)

    def hits(self, n: int) -> int | None:
        """Count the rows with value 1 among `n`, if all values are 0 or 1 and all denominators are equal.

        For values between 0 and 1: no square exceeds its value, so that equal sums imply equal values.
        """
        is_share = n * self.num2 == self.num * self.den and n * self.den2 == self.den**2
        if not is_share:
            return None
        return int(self.num * n // self.den)


def ratio_interval(sums: RowSums, n: int, *, is_share: bool = False) -> tuple[tuple[float, float] | None, bool]:
    """Return the 95% interval of a ratio of sums, or of a mean if denominators are 1; and whether it is approximate.

    The interval is None if it is unbounded, which is approximate too, for fewer than 2 rows, and if all rows have the
    same value and hence no spread. `is_share` means a mean, possibly weighted, of values between 0 and 1.
    """
    if n < 2:
        return None, False
    # If a share is 0 or 1 in every row, and few rows are 0 or few are 1, t is too narrow: with 1,000 rows and a
    # true share of one in 1,000, it misses the true value in 37% of all samples.
    hits = None
    if is_share:
        hits = sums.hits(n)
    if hits is not None and min(hits, n - hits) < FEW:
        return binomial_interval(hits, n), False
    squares = sums.squares
    square = sums.den**2
    has_equal_denominators = n * sums.den2 == square
    is_ratio_uncertain = not has_equal_denominators and is_uncertain(sums, n)
    if ALIKE * squares <= sums.num2 * square:
        return None, is_ratio_uncertain
    if is_ratio_uncertain:  # the delta method is then too narrow
        return fieller_interval(sums, n), True
    # t s / sqrt(n) around a mean. For a ratio the delta method (Cochran, Sampling Techniques, 1977, ch. 6): with
    # e = num - R den, SE = sqrt(sum e^2 / (n (n - 1))) / mean(den).
    error = math.sqrt(squares / (square * n * (n - 1))) / float(sums.den / n)
    value = float(sums.num / sums.den)
    margin = t_quantile(n - 1) * error
    return (value - margin, value + margin), True


def is_uncertain(sums: RowSums, n: int) -> bool:
    """Return whether the 95% interval of the mean denominator, over at least 30 rows, exceeds ±20%."""
    if n < FEWEST_ROWS:
        return False
    square = sums.den**2
    return t_quantile(n - 1) ** 2 * float((n * sums.den2 - square) / ((n - 1) * square)) > UNCERTAIN**2


def fieller_interval(sums: RowSums, n: int) -> tuple[float, float] | None:
    """Return the 95% interval of a ratio with an uncertain denominator; None if it is unbounded.

    It contains each ratio r for which a t test of numerators - r denominators does not reject a mean of 0
    (Fieller, J. R. Stat. Soc. B 16, 1954), and is unbounded if a mean denominator of 0 is not rejected.
    """
    factor = Fraction(t_quantile(n - 1)) ** 2 * n / (n - 1)
    square, middle, first = (
        whole - factor * spread
        for whole, spread in zip((sums.num**2, sums.num * sums.den, sums.den**2), sums.spread(n), strict=True)
    )
    if first <= 0:
        return None
    root = math.sqrt(max(middle**2 - first * square, Fraction(0)) / first**2)
    return float(middle / first) - root, float(middle / first) + root


@lru_cache
def binomial_interval(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact interval of a share of hits, for few hits or misses.

    At each end, the probability of at least, or at most, this many hits is (1 - confidence) / 2
    (Clopper, Pearson, Biometrika 26, 1934).
    """
    if 2 * hits > n:
        low, high = binomial_interval(n - hits, n, confidence)
        return 1.0 - high, 1.0 - low
    share = hits / n
    tail = (1 - confidence) / 2
    low = 0.0
    if hits:
        low = _last_with(lambda p: _at_most(hits - 1, n, p) > 1 - tail, 0.0, share)
    return low, _last_with(lambda p: _at_most(hits, n, p) > tail, share, 1.0)


def _at_most(hits: int, n: int, p: float) -> float:
    """Return the probability of at most `hits` hits in `n` rows, each a hit with probability 0 < p < 1.

    For few hits: it is 0 if the probability of no hits underflows. Decimals have enough digits for such powers,
    and are the same on every machine.
    """
    total = term = float(DIGITS.power(DIGITS.subtract(Decimal(1), Decimal(p)), n))
    for i in range(1, hits + 1):
        term *= (n - i + 1) / i * (p / (1 - p))
        total += term
    return total


def _last_with(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest x in [low, high] for which the predicate holds."""
    while low < (middle := (low + high) / 2) < high:
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


@lru_cache
def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's t distribution.

    From 300 degrees on it is expanded in the normal quantile (Abramowitz, Stegun, 26.7.5), with an error below
    4e-13 for 95% and below 4e-11 for 99.9%: importing scipy.special would take a tenth of the time of a small
    run.
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


def exact_sum(numbers: NDArray[np.float64]) -> float:
    """Return the exact sum of finite numbers, float64 [n]."""
    return math.fsum(exact_parts(numbers))


def exact_parts(numbers: NDArray[np.float64]) -> Iterator[float]:
    """Yield a few numbers with the same exact sum as `numbers`, float64 [n].

    Each is the sum of the upper bits of all remainders, few enough bits that no addition rounds.
    """
    left = numbers
    while (largest := max(float(left.max(initial=0.0)), -float(left.min(initial=0.0)))) > 0.0:
        # Adding and subtracting it rounds to its last bit; 2^52 of these bits exceed the sum of all numbers.
        rounder = math.ldexp(1.5, math.frexp(largest)[1] + left.size.bit_length())
        upper = left + rounder
        upper -= rounder
        yield float(upper.sum())
        left = np.subtract(left, upper, out=upper)


def exact_total(counts: NDArray[np.int64]) -> int:
    """Return the sum, which may exceed int64, of fewer than 2^31 whole numbers, int64 [n]."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
