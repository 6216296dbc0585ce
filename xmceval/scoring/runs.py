"""Runs: several trainings of one system, such as with other seeds, as the mean of their values of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.estimates import exact
from xmceval.scoring.paired import Output
from xmceval.statistics.paired import Moments, PairedT, Products, paired_t

Runs = Sequence[int]  # the runs of a system, by number


@dataclass(frozen=True)
class MeanOutput:
    """One metric of systems that are each the mean of one or more runs; used as Output is.

    Attributes
    ----------
    output : Output
        Of the runs; its pairs must include all pairs of runs that are compared, and all within a system.
    groups : sequence of sequence of int
        The runs of each system.
    """

    output: Output
    groups: Sequence[Runs]

    @property
    def measure(self) -> Measure:
        """The metric."""
        return self.output.measure

    @property
    def bin(self) -> str:
        """The bin of labels; empty for all."""
        return self.output.bin

    @property
    def rows(self) -> Callable[[int], Float64] | None:
        """The mean weighted values [n_rows, 2] of a system, where they are held."""
        rows = self.output.rows
        if rows is None:
            return None
        return lambda system: np.asarray(np.mean([rows(run) for run in self.groups[system]], axis=0))

    def n(self, system: int, baseline: int) -> int:
        """Return the rows that have a value in at least one run."""
        return max(self.output.n_rows[run] for run in (*self.groups[system], *self.groups[baseline]))

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare the means of runs by t; None where a denominator is 0."""
        own, other = self.groups[system], self.groups[baseline]
        return paired_t(self._moments(own), self._moments(other), self._products(own, other), self.n(system, baseline))

    def record(self, system: int, baseline: int) -> tuple[int, int, int] | None:
        """Return wins, ties and losses, which sums alone do not tell where there are several runs."""
        own, other = self.groups[system], self.groups[baseline]
        return self.output.record(own[0], other[0]) if len(own) == len(other) == 1 else None

    def _moments(self, runs: Runs) -> Moments:
        products = self._products(runs, runs)
        num, den = (
            sum((exact(self.output.sums[run][m]) for run in runs), Fraction(0)) / len(runs) for m in (0, 1)
        )  # fmt: skip
        return Moments(num, den, products.num_num, products.num_den, products.den_den)

    def _products(self, left: Runs, right: Runs) -> Products:
        """Return the products of two means: the means of the products of their runs."""
        found = [self._product(i, j) for i in left for j in right]
        return Products(*(sum(each, Fraction(0)) / len(found) for each in zip(*found, strict=True)))

    def _product(self, i: int, j: int) -> tuple[Fraction, ...]:
        """Return num num, num den, den num and den den of two runs."""
        if i == j:
            _, _, num2, cross, den2 = (exact(words) for words in self.output.sums[i][:5])
            return num2, cross, cross, den2
        if (i, j) in self.output.pairs:
            return tuple(exact(words) for words in _words(self.output, i, j))
        num_num, num_den, den_num, den_den = (exact(words) for words in _words(self.output, j, i))
        return num_num, den_num, num_den, den_den


def _words(output: Output, i: int, j: int) -> Int64:
    return output.pairs[i, j][0]


def pairs_of_runs(groups: Sequence[Runs], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of runs whose products the comparison of pairs of systems needs."""
    between = [(i, j) for system, baseline in pairs for i in groups[system] for j in groups[baseline]]
    within = [(i, j) for runs in groups for i in runs for j in runs if i < j]
    return [*between, *within]
