"""Resampling tests of paired values: randomization of signs, bootstrap over rows, randomized Tukey."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import as_here
from xmceval.kernels.metrics.resampling import (
    flip_signs,
    permute_ratios,
    permute_systems,
    poisson_table,
    swap_systems,
    weigh_groups,
    weigh_rows,
)

Float64 = NDArray[np.float64]

CHUNK = 64  # resamples that a thread computes at a time
MOST_GROUPS = 4096  # distinct values, up to which rows are counted by value
ROWS_PER_GROUP = 8  # likewise, at least on average
SLACK = 1e-12  # statistics this close to the observed one count as equal to it


@dataclass(frozen=True)
class Resampling:
    """How many resamples, from which seed, in how many threads; `progress` is called with resamples done."""

    n: int
    seed: int
    threads: int = 1
    progress: Callable[[int], None] | None = None

    def run(self, work: Callable[[int, Any], None], results: NDArray[Any]) -> None:
        """Fill results [n, ...], resample by resample, with ``work(first, part)`` in threads."""

        def chunk(first: int) -> None:
            part = results[first : first + CHUNK]
            work(first, part)
            if self.progress is not None:
                self.progress(len(part))

        starts = range(0, len(results), CHUNK)
        if self.threads == 1:
            for first in starts:
                chunk(first)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(as_here(chunk), starts))

    def p(self, n_extreme: int) -> float:
        """Return the p value of a statistic that so many resamples reach: never 0."""
        return (1 + n_extreme) / (self.n + 1)


def randomization_p(a: Float64, b: Float64, resampling: Resampling) -> float:
    """Return the two-sided p of a paired randomization test of two means or ratios of sums.

    Parameters
    ----------
    a, b : float64 arrays [n_rows, 2]
        Numerators and denominators; under the null hypothesis the two systems could be swapped in any row.
    resampling : Resampling
    """
    if np.array_equal(a[:, 1], b[:, 1]):
        differences = a[:, 0] - b[:, 0]
        sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
        sums = np.empty(resampling.n)
        resampling.run(lambda first, part: flip_signs(sizes, counts, resampling.seed, first, part), sums)
        return resampling.p(_extreme(np.abs(sums), abs(float(np.sum(differences))), float(np.sum(np.abs(differences)))))
    rows = np.ascontiguousarray(np.concatenate([a, b], axis=1))
    swapped = np.empty((resampling.n, 4))
    resampling.run(lambda first, part: swap_systems(rows, resampling.seed, first, part), swapped)
    observed = rows.sum(axis=0)
    return resampling.p(_extreme(np.abs(_differences(swapped)), abs(float(_differences(observed[None])[0])), 1.0))


def _extreme(statistics: Float64, observed: float, scale: float) -> int:
    return int(np.count_nonzero(statistics >= observed - SLACK * scale))


def _differences(sums: Float64) -> Float64:
    """Return R_a - R_b of each row of (num_a, den_a, num_b, den_b); a ratio of nothing is 0."""
    ratios = [np.divide(sums[:, i], sums[:, i + 1], out=np.zeros(len(sums)), where=sums[:, i + 1] != 0) for i in (0, 2)]
    return np.asarray(ratios[0] - ratios[1])


def bootstrap_sums(rows: Float64, resampling: Resampling) -> Float64:
    """Return the weighted column sums of resamples, whose weights of rows are Poisson numbers of mean 1.

    `rows` are float64 [n_rows, n_columns], the sums float64 [n_resamples, n_columns]. Their ratios are what drawing as
    many rows with replacement gives, where rows are not few (Hanley, MacGibbon, Computer Methods and Programs in
    Biomedicine 2006); but a row's weight depends on its number, the resample and the seed alone. Where rows take few
    distinct values, these are weighted instead of rows.
    """
    groups, counts = _groups(rows)
    sums = np.empty((resampling.n, rows.shape[1]))
    if groups is not None:
        tables = _poisson_tables(counts)
        resampling.run(lambda first, part: weigh_groups(groups, tables, resampling.seed, first, part), sums)
        return sums
    values = np.ascontiguousarray(rows)
    resampling.run(lambda first, part: weigh_rows(values, resampling.seed, first, part), sums)
    return sums


def _poisson_tables(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return the tables of groups of these sizes, as `weigh_groups` takes them."""
    distinct, places = np.unique(sizes, return_inverse=True)
    least, bounds = zip(*(poisson_table(int(size)) for size in distinct), strict=True)
    ends = np.cumsum([0, *map(len, bounds)], dtype=np.int64)
    return np.array(least, dtype=np.int64)[places], ends[:-1][places], ends[1:][places], np.concatenate(bounds)


def _groups(rows: Float64) -> tuple[Float64 | None, NDArray[np.int64]]:
    """Return the distinct rows and how often each occurs, or None where there are many."""
    most = min(MOST_GROUPS, len(rows) // ROWS_PER_GROUP)
    sample = rows[:: max(len(rows) // (4 * MOST_GROUPS), 1)]
    if len(np.unique(sample, axis=0)) <= most:
        groups, counts = np.unique(rows, axis=0, return_counts=True)
        if len(groups) <= most:
            return groups, counts
    return None, np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Bootstrap:
    """The percentile interval of a difference, None where no resample has a difference, and its two-sided p."""

    low: float | None
    high: float | None
    p: float


def bootstrap_difference(sums: Float64, observed: float, resampling: Resampling) -> Bootstrap:
    """Return the percentile interval of a difference, and p = (1 + #{|d* - d| >= |d|}) / (B + 1).

    Parameters
    ----------
    sums : float64 array [n_resamples, 4]
        num_a, den_a, num_b, den_b of each resample. B are those in which neither denominator is 0: without any row
        that counts there is no ratio, and so no difference.
    observed : float
        The difference d.
    resampling : Resampling
    """
    differences = np.sort(_differences(sums[(sums[:, 1] != 0) & (sums[:, 3] != 0)]))
    n_extreme = _extreme(np.abs(differences - observed), abs(observed), 1.0)
    p = replace(resampling, n=differences.size).p(n_extreme)
    if not differences.size:
        return Bootstrap(None, None, p)
    return Bootstrap(_quantile(differences, 0.025), _quantile(differences, 0.975), p)


def _quantile(ordered: Float64, share: float) -> float:
    """Return a quantile of ascending numbers, linear between them (Hyndman, Fan, American Statistician 1996: 7)."""
    place = (ordered.size - 1) * share
    below = math.floor(place)
    low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
    return low + (high - low) * (place - below)


def tukey_ps(values: Float64, resampling: Resampling) -> Callable[[int, int], float]:
    """Return the adjusted p of any pair of systems by the randomized two-way Tukey test.

    Parameters
    ----------
    values : float64 array [n_rows, n_systems, 2]
        Numerators and denominators of means or ratios of sums.
    resampling : Resampling

    Notes
    -----
    Within each row the systems are permuted at random; a pair is compared with the range of all systems' means, or
    ratios of sums (Carterette, TOIS 2012; Sakai, Laboratory Experiments in Information Retrieval, 2018).
    """
    if (values[:, :, 1] == values[:, :1, 1]).all():
        return _tukey_of_sums(np.ascontiguousarray(values[:, :, 0]), resampling)
    are_alike = (values == values[:, :1]).all(axis=(1, 2))
    differing, base = np.ascontiguousarray(values[~are_alike]), values[are_alike, 0].sum(axis=0)
    n_systems, ranges = values.shape[1], np.empty(resampling.n)

    def permute(first: int, part: Float64) -> None:
        space = np.empty(n_systems, dtype=np.int64), np.empty((n_systems, 2))
        permute_ratios(differing, base, resampling.seed, first, *space, part)

    resampling.run(permute, ranges)
    totals = values.sum(axis=0)
    return lambda a, b: resampling.p(
        _extreme(ranges, abs(float(_differences(np.concatenate([totals[a], totals[b]])[None])[0])), 1.0)
    )


def _tukey_of_sums(values: Float64, resampling: Resampling) -> Callable[[int, int], float]:
    """Return p of any pair by numerators [n_rows, n_systems], whose denominators are common."""
    differing = np.ascontiguousarray(values[(values != values[:, :1]).any(axis=1)])
    n_systems, totals = values.shape[1], values.sum(axis=0)
    ranges = np.empty(resampling.n)
    resampling.run(
        lambda first, part: permute_systems(
            *(differing, resampling.seed, first, np.empty(n_systems, dtype=np.int64), np.empty(n_systems), part)
        ),
        ranges,
    )
    scale = float(np.abs(differing).sum())
    return lambda a, b: resampling.p(_extreme(ranges, abs(float(totals[a] - totals[b])), scale))
