"""Paired t tests and randomization tests on the same rows, and p-values adjusted for several tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import as_here
from xmceval.kernels.metrics.resampling import flip_signs, swap_systems
from xmceval.kernels.metrics.sums import FEW_DIFFER, TIE
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.estimates import CONFIDENCE, RowSums, fieller_interval, is_uncertain, t_quantile

LEVEL = 0.05  # p values below it are significant
POWER = 0.80
DRAWS = 1000  # of the tests of label-wise metrics
CHUNK = 64  # resamples per task of a thread
SLACK = 1e-12  # statistics this close to the observed one count as equal


@dataclass(frozen=True)
class PairedT:
    """A difference and its paired t test, as `Difference` has them; fields are None if there is no test."""

    difference: float
    error: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    effect: float | None = None  # the standardised difference (Cohen's d of paired values)
    degrees: float | None = None
    n_differing: int | None = None  # if p is exact


def paired_test(
    difference: Fraction,
    squares: Fraction,
    size: Fraction,
    n: int,
    n_differing: int,
    rows: Sequence[Sequence[float]],
    totals: Sequence[Fraction],
    gap: RowSums | None = None,
) -> PairedT:
    """Test a difference by t, or exactly if fewer than 6 rows differ, or all by the same amount.

    `squares` and `size` are sums over the `n` rows of e^2 and of the squared values that the errors e were
    computed from: `squares` below the rounding error of `size` are 0. `rows` are the rows in which the systems
    differ, unless more than FEW_DIFFER do; `totals` are the sums over all rows: num_a, den_a, num_b, den_b.
    `gap` has the sums of num_a - num_b and of the denominators, if the systems share these: if the mean
    denominator is uncertain, the test is the t test of num_a - num_b, with Fieller's interval, which agrees
    with it.
    """
    if n < 2:
        return PairedT(float(difference))
    if n_differing <= FEW_DIFFER:
        return PairedT(float(difference), p=exchange_p(totals, rows), n_differing=n_differing)
    if squares <= Fraction(TIE) ** 2 * size:  # only exchanging all rows or none reaches the difference
        p = max(math.ldexp(2.0, -n_differing), math.ulp(0.0))
        return PairedT(float(difference), p=p, n_differing=n_differing)
    tested = t_test(float(difference), math.sqrt(squares * n / (n - 1)), n)
    if gap is None or not is_uncertain(gap, n):
        return tested
    spread, *_ = gap.spread(n)
    if spread <= 0:
        return tested
    t = float(gap.num) / math.sqrt(spread * n / (n - 1))  # the denominators play no role
    low, high = fieller_interval(gap, n) or (None, None)
    return replace(tested, low=low, high=high, p=p_value(t, n - 1), effect=t / math.sqrt(n))


def exchange_p(totals: Sequence[Fraction], rows: Sequence[Sequence[float]]) -> float:
    """Return the exact two-sided p of exchanging two systems in the few rows that differ.

    It is the share of the 2^m exchanges of (num, den) whose difference R_a - R_b is at least as large as the
    one observed; 0 / 0 is 0. With common denominators, exchanges flip the signs of num_a - num_b (Fisher, The
    Design of Experiments, 1935, section 21). `totals` and `rows` are num_a, den_a, num_b, den_b.
    """
    sizes = []
    for exchanged in itertools.product((0, 1), repeat=len(rows)):
        num_a, den_a, num_b, den_b = totals
        for row in itertools.compress(rows, exchanged):
            num = Fraction(row[0]) - Fraction(row[2])
            den = Fraction(row[1]) - Fraction(row[3])
            num_a = num_a - num
            den_a = den_a - den
            num_b = num_b + num
            den_b = den_b + den
        ratios = (num / den if den > 0 else Fraction(0) for num, den in ((num_a, den_a), (num_b, den_b)))
        sizes.append(abs(next(ratios) - next(ratios)))
    least = sizes[0] - Fraction(TIE) * max(sizes)
    return sum(size >= least for size in sizes) / len(sizes)


def t_test(difference: float, error: float, n: int) -> PairedT:
    """Test a difference with a standard error above 0 from `n` values."""
    margin = t_quantile(n - 1) * error
    t = difference / error
    low = difference - margin
    high = difference + margin
    return PairedT(difference, error, low, high, p_value(t, n - 1), t / math.sqrt(n), n - 1)


def detectable(error: float, degrees: float, n_tests: int = 1) -> float:
    """Return the smallest difference that a test at 5% detects with a power of 80%.

    Each of `n_tests` tests has level 5% / n_tests, which is what Holm's method applies to the smallest p.
    """
    return (t_quantile(degrees, 1 - (1 - CONFIDENCE) / n_tests) + t_quantile(degrees, 2 * POWER - 1)) * error


def p_value(t: float, degrees: float) -> float:
    """Return the two-sided p of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t)))


def welch(a: Sequence[float], b: Sequence[float]) -> PairedT:
    """Compare the values of two groups of independent runs, such as training seeds (Welch, Biometrika 1947).

    If all runs are equal within each group, the variation between runs is unknown; there is then a test only if
    the groups are equal too.
    """
    means = [mean_of_runs(group) for group in (a, b)]
    errors = [
        math.fsum((value - mean) ** 2 for value in group) / (len(group) - 1) / len(group)
        for group, mean in zip((a, b), means, strict=True)
    ]
    error = math.sqrt(sum(errors))
    difference = means[0] - means[1]
    if _are_alike([*a, *b]):
        return PairedT(difference, p=1.0)
    if _are_alike(a) and _are_alike(b):
        return PairedT(difference)
    degrees = sum(errors) ** 2 / sum(e**2 / (len(group) - 1) for e, group in zip(errors, (a, b), strict=True))
    margin = t_quantile(degrees) * error
    t = difference / error
    return PairedT(difference, error, difference - margin, difference + margin, p_value(t, degrees), degrees=degrees)


def mean_of_runs(values: Sequence[float]) -> float:
    """Return the mean of the values of runs; equal values are returned exactly, which a quotient may miss."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)


def _are_alike(values: Sequence[float]) -> bool:
    """Return whether values are equal up to rounding; their variance is itself rounded and cannot tell."""
    return max(values) - min(values) <= TIE * max(map(abs, values))


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p values by Holm's step-down method (Scandinavian Journal of Statistics 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted((p, i) for i, p in enumerate(values))
    adjusted = list(values)
    largest = 0.0
    for rank, (p, i) in enumerate(order):
        largest = max(largest, min((len(order) - rank) * p, 1.0))
        adjusted[i] = largest
    return adjusted


@dataclass(frozen=True)
class Resampling:
    """Number of resamples, seed and threads; `progress` is called with the number of finished resamples."""

    n: int
    seed: int
    threads: int = 1
    progress: Callable[[int], None] | None = None

    def run(self, work: Callable[[int, Any], None], results: NDArray[Any]) -> None:
        """Fill results [n, ...], one entry per resample, by ``work(first, part)`` in threads."""

        def chunk(first: int) -> None:
            part = results[first : first + CHUNK]
            work(first, part)
            if self.progress is not None:
                self.progress(len(part))

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(as_here(chunk), range(0, len(results), CHUNK)))


def randomization_p(a: Float64, b: Float64, resampling: Resampling) -> float:
    """Return the two-sided p of a paired randomization test of two means or ratios of sums, which is never 0.

    `a` and `b` are numerators and denominators, float64 [n_rows, 2]; under the null hypothesis the two systems
    are exchangeable in every row.
    """
    if np.array_equal(a[:, 1], b[:, 1]):
        differences = a[:, 0] - b[:, 0]
        sizes, counts = _group_sizes(np.abs(differences), np.maximum(np.abs(a[:, 0]), np.abs(b[:, 0])))
        statistics = np.empty(resampling.n)
        resampling.run(lambda first, part: flip_signs(sizes, counts, resampling.seed, first, part), statistics)
        observed = abs(float(np.sum(differences)))
        scale = float(np.sum(np.abs(differences)))
    else:
        rows = np.ascontiguousarray(np.concatenate([a, b], axis=1))
        swapped = np.empty((resampling.n, 4))
        resampling.run(lambda first, part: swap_systems(rows, resampling.seed, first, part), swapped)
        statistics = _differences(swapped)
        observed = abs(float(_differences(rows.sum(axis=0)[None])[0]))
        scale = 1.0
    n_extreme = int(np.count_nonzero(np.abs(statistics) >= observed - SLACK * scale))
    return (1 + n_extreme) / (resampling.n + 1)


def _group_sizes(sizes: Float64, values: Float64) -> tuple[Float64, Int64]:
    """Return the distinct sizes of non-zero differences, ascending, and the number of rows with each.

    Signs are drawn per size, and the last bits of a size depend on the machine. Neighbouring sizes are
    therefore merged if they differ only by rounding: by at most TIE times the larger value of their rows,
    `values` float64 [n_rows].
    """
    differing = sizes > TIE * values
    order = np.argsort(sizes[differing])
    sizes = sizes[differing][order]
    values = values[differing][order]
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > TIE * np.maximum(values, np.roll(values, 1)))
    return sizes[starts], np.diff(starts, append=sizes.size)


def _differences(sums: Float64) -> Float64:
    """Return R_a - R_b of each row of (num_a, den_a, num_b, den_b); 0 / 0 is 0."""
    ratios = [np.divide(sums[:, i], sums[:, i + 1], out=np.zeros(len(sums)), where=sums[:, i + 1] != 0) for i in (0, 2)]
    return np.asarray(ratios[0] - ratios[1])
