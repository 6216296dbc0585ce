"""Tests of systems across data sets, by one value per system and data set.

Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006; Benavoli, Corani, Mangili, Should We
Really Use Post-Hoc Tests Based on Mean-Ranks?, JMLR 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import counted
from xmceval.kernels.metrics.totals import TIE
from xmceval.statistics.fdistribution import f_tail
from xmceval.statistics.multiplicity import LEVEL, holm
from xmceval.statistics.ranks import midranks, signed_rank_p

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

# With fewer data sets the F of Friedman ranks rejects too often (3 systems whose values are random: 7% on 4 data sets,
# 20% on 3), and no signed rank test comes below 0.1.
FEWEST_DATASETS = 5


@dataclass(frozen=True)
class Friedman:
    """The test of Friedman that all systems have equal ranks.

    Attributes
    ----------
    chi2 : float
        Corrected for ties.
    f : float or None
        Of Iman and Davenport; None where all data sets rank the systems alike, so that it is infinite.
    df : pair of int
        The degrees of freedom of f.
    p : float
        That of f; where it is infinite, the chance of orders that are all alike.
    """

    chi2: float
    f: float | None
    df: tuple[int, int]
    p: float


@dataclass(frozen=True)
class Nemenyi:
    """The test of Nemenyi of all pairs of systems by their mean ranks.

    Attributes
    ----------
    critical_difference : float
        Mean ranks that are at least so far apart are told apart at 5%.
    groups : tuple of tuple of int
        The largest groups of systems, best first, of which no two are told apart; a system that is told apart from all
        others is in none.
    ahead : tuple of (int, int)
        The pairs that are told apart, the better system first.
    """

    critical_difference: float
    groups: tuple[tuple[int, ...], ...]
    ahead: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SignedRanks:
    """The exact signed rank test of a system and its baseline.

    Attributes
    ----------
    system, baseline : int
    p, p_adjusted : float
        Two-sided, and adjusted by Holm over all systems that the baseline is compared with.
    balance : float
        The sum of the ranks of data sets on which the system is better minus that of the others.
    """

    system: int
    baseline: int
    p: float
    p_adjusted: float
    balance: float

    @property
    def is_detected(self) -> bool:
        """Whether the difference is significant at 5%."""
        return self.p_adjusted < LEVEL and self.balance != 0

    @property
    def is_better(self) -> bool:
        """Whether the system is ahead of the baseline."""
        return self.balance > 0


@dataclass(frozen=True)
class Across:
    """Systems ranked and tested across data sets; systems and data sets are their columns and rows of the values.

    Attributes
    ----------
    datasets : tuple of int
        Those on which any system has a value.
    systems : tuple of int
        Those that have a value on each of them. Only these are ranked and tested.
    ranks : tuple of tuple of float
        By data set and system, 1 the best; equal values share their mean rank.
    friedman : Friedman or None
        None of two systems, and where nothing is tested.
    nemenyi : Nemenyi or None
        Likewise.
    signed_ranks : tuple of SignedRanks
        Of each system against the baseline; of two systems always one test. Empty without a baseline, and where nothing
        is tested.
    """

    datasets: tuple[int, ...]
    systems: tuple[int, ...]
    ranks: tuple[tuple[float, ...], ...]
    friedman: Friedman | None = None
    nemenyi: Nemenyi | None = None
    signed_ranks: tuple[SignedRanks, ...] = ()

    @property
    def mean_ranks(self) -> tuple[float, ...]:
        """The mean rank of each of the systems, in their order."""
        return tuple(math.fsum(column) / len(column) for column in zip(*self.ranks, strict=True))

    @property
    def untested(self) -> str:
        """Why nothing is tested; empty where something is."""
        n = len(self.datasets)
        if n < FEWEST_DATASETS:
            return f"{counted(n, 'data set')}, at least {FEWEST_DATASETS} are needed"
        if len(self.systems) < 2:
            have = "1 system has" if self.systems else "no system has"
            return f"{have} a value on all {n} data sets, at least 2 are needed"
        return ""

    @property
    def least_p(self) -> float:
        """The least adjusted p that signed ranks on so many data sets can have."""
        return least_signed_rank_p(len(self.datasets), len(self.signed_ranks))

    @property
    def n_needed(self) -> int:
        """The fewest data sets on which so many signed rank tests can find a difference at 5%."""
        n = 1
        while least_signed_rank_p(n, len(self.signed_ranks)) > LEVEL:
            n += 1
        return n


def least_signed_rank_p(n_datasets: int, n_tests: int) -> float:
    """Return the least p, adjusted by Holm for a number of tests, that signed ranks on some data sets can have.

    Examples
    --------
    >>> least_signed_rank_p(6, 1), least_signed_rank_p(6, 3)
    (0.03125, 0.09375)
    """
    return min(max(n_tests, 1) * math.ldexp(2.0, -n_datasets), 1.0)


def compare_across(values: Float64, *, higher_is_better: bool = True, baseline: int | None = None) -> Across:
    """Rank and test systems across data sets.

    Parameters
    ----------
    values : float64 array [n_datasets, n_systems]
        One value per system and data set; NaN where there is none.
    higher_is_better : bool
        Whether the largest value is the best one.
    baseline : int, optional
        The system that the others are compared with by signed ranks.

    Returns
    -------
    Across

    Notes
    -----
    Values that differ by rounding alone are equal. Of two systems only the signed rank test is made, of more Friedman's
    with the F of Iman and Davenport (Communications in Statistics 1980), and Nemenyi's; with fewer than 5 data sets
    none.
    """
    has_value = ~np.isnan(values)
    datasets = np.flatnonzero(has_value.any(axis=1))
    systems = np.flatnonzero(has_value[datasets].all(axis=0)) if datasets.size else np.empty(0, dtype=np.int64)
    block = values[np.ix_(datasets, systems)] * (1.0 if higher_is_better else -1.0)
    ranks = np.array([midranks(-row) for row in block]).reshape(block.shape)
    untested = Across(tuple(datasets.tolist()), tuple(systems.tolist()), tuple(map(tuple, ranks.tolist())))
    if untested.untested:
        return untested
    columns = untested.systems
    chosen = columns.index(baseline) if baseline in columns else 0 if len(columns) == 2 else None
    signed_ranks = () if chosen is None else _test_signed_ranks(block, ranks, columns, chosen)
    if len(columns) == 2:
        return replace(untested, signed_ranks=signed_ranks)
    doubled = np.rint(2 * ranks).astype(np.int64)
    nemenyi = _test_nemenyi(untested.mean_ranks, columns, len(datasets))
    return replace(untested, friedman=_test_friedman(doubled), nemenyi=nemenyi, signed_ranks=signed_ranks)


def _test_friedman(doubled: Int64) -> Friedman:
    """Test ranks, of which `doubled` [n_datasets, n_systems] are twice as large: whole numbers, so that sums are exact.

    Where all data sets rank the systems alike, p is the chance of that: 1 / K! for each data set but the first
    (Conover, Practical Nonparametric Statistics, 1999, section 5.8), and more where systems tie, which have fewer
    orders.
    """
    n, k = doubled.shape
    centred = doubled - (k + 1)
    between, total = int((centred.sum(axis=0) ** 2).sum()), int((centred**2).sum())
    chi2 = (k - 1) * between / total if total else 0.0
    df = k - 1, (k - 1) * (n - 1)
    if between == n * total:
        tied = np.unique(doubled[0], return_counts=True)[1].tolist()
        n_orders = math.factorial(k) // math.prod(map(math.factorial, tied))
        return Friedman(chi2, None, df, float(Fraction(1, n_orders) ** (n - 1)))
    f = (n - 1) * between / (n * total - between)
    return Friedman(chi2, f, df, f_tail(f, *df))


def _test_nemenyi(mean_ranks: tuple[float, ...], systems: tuple[int, ...], n_datasets: int) -> Nemenyi:
    k = len(systems)
    distance = range_quantile(k) * math.sqrt(k * (k + 1) / (12 * n_datasets))
    order = sorted(range(k), key=lambda i: mean_ranks[i])
    ranks, names = [mean_ranks[i] for i in order], [systems[i] for i in order]
    ends = [max(j for j in range(k) if ranks[j] - ranks[i] < distance) + 1 for i in range(k)]
    groups = [names[i:end] for i, end in enumerate(ends) if end - i > 1 and (i == 0 or end > ends[i - 1])]
    ahead = [(names[i], names[j]) for i, end in enumerate(ends) for j in range(end, k)]
    return Nemenyi(distance, tuple(map(tuple, groups)), tuple(ahead))


def _test_signed_ranks(
    block: Float64, ranks: Float64, systems: tuple[int, ...], baseline: int
) -> tuple[SignedRanks, ...]:
    """Test all systems against one of them, a column of the block, in which higher values are better."""
    slack = TIE * float(np.abs(block[np.isfinite(block)]).max(initial=0.0))
    others = [i for i in range(len(systems)) if i != baseline]
    tests = []
    for i in others:
        differs = ranks[:, i] != ranks[:, baseline]
        differences = np.subtract(block[:, i], block[:, baseline], out=np.zeros(len(block)), where=differs)
        tests.append(signed_rank_p(differences, slack))
    adjusted = holm([p for p, _ in tests])
    return tuple(
        SignedRanks(systems[i], systems[baseline], p, p if its is None else its, balance)
        for i, (p, balance), its in zip(others, tests, adjusted, strict=True)
    )


@lru_cache
def range_quantile(k: int) -> float:
    """Return the upper 5% quantile of the range of `k` independent standard normal numbers.

    That is the studentized range with infinite degrees of freedom.
    """
    normal, step = NormalDist(), 1 / 16  # so far apart, points have all digits of the integral of this smooth function
    points = [step * i for i in range(-144, 145)]
    weights, below = [k * step * normal.pdf(z) for z in points], [normal.cdf(z) for z in points]

    def exceeds(q: float) -> bool:
        shares = (b - normal.cdf(z - q) for z, b in zip(points, below, strict=True))
        return 1 - math.fsum(w * share ** (k - 1) for w, share in zip(weights, shares, strict=True)) > LEVEL

    low, high = 0.0, 32.0
    for _ in range(40):  # to 3e-11, far above what machines differ by
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return low


def count_wins(values: Float64, *, higher_is_better: bool = True) -> tuple[Int64, Int64]:
    """Count the data sets on which systems are ahead of each other, of all on which both have values.

    Parameters
    ----------
    values : float64 array [n_datasets, n_systems]
        NaN where there is no value.
    higher_is_better : bool

    Returns
    -------
    wins : int64 array [n_systems, n_systems]
        On how many data sets the system in the row is ahead of that in the column.
    ties : int64 array [n_systems, n_systems]
        On how many they have equal values.
    """
    n_systems = values.shape[1]
    wins, ties = np.zeros((2, n_systems, n_systems), dtype=np.int64)
    for row in values * (1.0 if higher_is_better else -1.0):
        have = np.flatnonzero(~np.isnan(row))
        ranks = midranks(-row[have])
        wins[np.ix_(have, have)] += ranks[:, None] < ranks
        ties[np.ix_(have, have)] += ranks[:, None] == ranks
    np.fill_diagonal(ties, 0)
    return wins, ties
