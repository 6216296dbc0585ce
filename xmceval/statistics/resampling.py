"""Randomization of paired values: random signs of differences, or systems that are swapped in random rows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import as_here
from xmceval.kernels.metrics.resampling import flip_signs, swap_systems
from xmceval.kernels.metrics.totals import TIE

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

CHUNK = 64  # resamples that a thread computes at a time
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
        sizes, counts = _group_sizes(np.abs(differences), np.maximum(np.abs(a[:, 0]), np.abs(b[:, 0])))
        sums = np.empty(resampling.n)
        resampling.run(lambda first, part: flip_signs(sizes, counts, resampling.seed, first, part), sums)
        return resampling.p(_extreme(np.abs(sums), abs(float(np.sum(differences))), float(np.sum(np.abs(differences)))))
    rows = np.ascontiguousarray(np.concatenate([a, b], axis=1))
    swapped = np.empty((resampling.n, 4))
    resampling.run(lambda first, part: swap_systems(rows, resampling.seed, first, part), swapped)
    observed = rows.sum(axis=0)
    return resampling.p(_extreme(np.abs(_differences(swapped)), abs(float(_differences(observed[None])[0])), 1.0))


def _group_sizes(sizes: Float64, values: Float64) -> tuple[Float64, Int64]:
    """Return the distinct sizes of differences that are no ties, in rising order, and how many rows have each.

    Signs are drawn size by size, and the last bits of a size depend on the machine. So neighbors are one size where
    they differ by rounding alone: by at most TIE of the larger value of their rows, `values` float64 [n_rows].
    """
    differing = sizes > TIE * values
    order = np.argsort(sizes[differing])
    sizes, values = sizes[differing][order], values[differing][order]
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > TIE * np.maximum(values, np.roll(values, 1)))
    return sizes[starts], np.diff(starts, append=sizes.size)


def _extreme(statistics: Float64, observed: float, scale: float) -> int:
    return int(np.count_nonzero(statistics >= observed - SLACK * scale))


def _differences(sums: Float64) -> Float64:
    """Return R_a - R_b of each row of (num_a, den_a, num_b, den_b); a ratio of nothing is 0."""
    ratios = [np.divide(sums[:, i], sums[:, i + 1], out=np.zeros(len(sums)), where=sums[:, i + 1] != 0) for i in (0, 2)]
    return np.asarray(ratios[0] - ratios[1])
