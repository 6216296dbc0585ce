"""Densities: in how many rows two systems have which values of a metric, in constant memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.observing.observers import BlockValues, Observer, divide
from xmceval.scoring.program import Program

STEPS = 40  # from 0 to 1, of metrics that take many values
MOST_STEPS = 50  # of metrics that are hits divided by k, each of whose values is counted

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Density:
    """In how many rows a system and its baseline have which values of a metric.

    Attributes
    ----------
    system, baseline : str
        Their names.
    measure : Measure
    counts : int64 array [n_steps + 1, n_steps + 1]
        ``counts[i, j]``: the rows in which the value of the baseline is nearest to i / n_steps, and that of the system
        to j / n_steps.
    is_exact : bool
        Whether the metric takes no other values than these.
    """

    system: str
    baseline: str
    measure: Measure
    counts: Int64
    is_exact: bool

    @property
    def n_steps(self) -> int:
        """Into how many steps the values from 0 to 1 are divided."""
        return len(self.counts) - 1


class Densities(Observer):
    """An observer that counts the rows of pairs of systems by their values.

    Parameters
    ----------
    program : Program
    pairs : sequence of (system, baseline)
        By number.

    Raises
    ------
    UsageError
        No metric has values of rows from 0 to 1.
    """

    def __init__(self, program: Program, pairs: Sequence[Pair]) -> None:
        self._columns = {each: column for each, column in program.columns.items() if has_shares(each)}
        if not self._columns:
            raise UsageError("the picture 'rows' needs a metric with per-instance values from 0 to 1, such as P@5")
        self._counts = {
            (pair, measure): np.zeros((n_steps(measure) + 1, n_steps(measure) + 1), dtype=np.int64)
            for pair in pairs
            for measure in self._columns
        }
        self._pairs, self._lock = tuple(pairs), threading.Lock()

    def add(self, block: BlockValues) -> None:
        """Count the rows of a block."""
        for measure, column in self._columns.items():
            n = n_steps(measure)
            steps = [nearest_steps(of_system[:, column], n) for of_system in block.values]
            for pair in self._pairs:
                self._add(pair, measure, count_pairs(steps[pair[0]], steps[pair[1]], n))

    def _add(self, pair: Pair, measure: Measure, counts: Int64) -> None:
        with self._lock:
            self._counts[pair, measure] += counts

    def finish(self, names: Sequence[str]) -> Iterator[Density]:
        """Yield the densities: pair by pair in the order of the metrics."""
        for pair in self._pairs:
            for measure in self._columns:
                counts = self._counts[pair, measure]
                yield Density(names[pair[0]], names[pair[1]], measure, counts, is_exact(measure))


def densities_of_rows(
    measures: Sequence[Measure], values: Float64, pairs: Sequence[Pair], names: Sequence[str]
) -> Iterator[Density]:
    """Yield the densities of saved values [n_rows, n_systems, n_metrics, 2]."""
    for system, baseline in pairs:
        for m, measure in enumerate(measures):
            if has_shares(measure):
                n = n_steps(measure)
                a, b = (nearest_steps(values[:, each, m], n) for each in (system, baseline))
                yield Density(names[system], names[baseline], measure, count_pairs(a, b, n), is_exact(measure))


def has_shares(measure: Measure) -> bool:
    """Whether the values of rows lie from 0 to 1; where weights are not divided by the ideal, they may exceed 1."""
    is_bounded = measure.metric.unit == "share" and measure.metric.bounds == (0.0, 1.0)
    return is_bounded and not (measure.metric.needs_propensities and measure.norm.over == "mean")


def is_exact(measure: Measure) -> bool:
    """Whether a metric is a number of hits divided by k, which takes few values."""
    return n_steps(measure) == measure.k or measure.metric.fold == "any"


def n_steps(measure: Measure) -> int:
    """Return into how many steps the values from 0 to 1 are divided."""
    metric = measure.metric
    if metric.family != "top-k" or metric.gain != "hit" or metric.discounts != ("none",):
        return STEPS
    if metric.fold == "any":
        return 1
    is_few = measure.norm.divisor == "k" and measure.k is not None and measure.k <= MOST_STEPS
    return measure.k if is_few and measure.k is not None else STEPS


def nearest_steps(fractions: Float64, n: int) -> NDArray[np.intp]:
    """Return the nearest step of each row's value, intp [n_rows], of `fractions` [n_rows, 2]; -1 where it has none."""
    values = np.nan_to_num(divide(fractions[:, 0] * n, fractions[:, 1]), nan=-1.0)
    steps: NDArray[np.intp] = np.clip(np.rint(values), -1, n).astype(np.intp)
    return steps


def count_pairs(system: NDArray[np.intp], baseline: NDArray[np.intp], n: int) -> Int64:
    """Count the rows [n + 1, n + 1] by the steps of the baseline and of the system, where both have one."""
    kept = (system >= 0) & (baseline >= 0)
    cells = baseline[kept] * (n + 1) + system[kept]
    counts: Int64 = np.zeros((n + 1, n + 1), dtype=np.int64)
    counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
    return counts
