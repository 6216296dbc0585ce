"""Runs: several trainings of one system, such as with other seeds, as the mean of their values of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.comparing.pairsums import Output, Pair, Runs
from xmceval.scoring.estimates import exact
from xmceval.statistics.exact import exact_sum
from xmceval.statistics.paired import PairedT, paired_test


@dataclass(frozen=True)
class MeanOutput:
    """One metric of systems that are each the mean of one or more runs; used as Output is.

    Attributes
    ----------
    output : Output
        Of the runs; its pairs must include all pairs of runs that are compared, all within a system, and pairs of
        means.
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
        return None if rows is None else lambda system: _mean_rows([rows(run) for run in self.groups[system]])

    @property
    def n_systems(self) -> int:
        """How many runs have values."""
        return self.output.n_systems

    def n(self, system: int, baseline: int) -> int:
        """Return the rows that have a value in at least one run."""
        pair = self._pair(system, baseline)
        return self.output.n_with_value(pair, (*self.groups[system], *self.groups[baseline]))

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare the means of runs by t; None where a denominator is 0.

        The mean of ratios is linear in them: so is its delta method. Where few rows differ, the means of the runs'
        numerators and denominators are exchanged.
        """
        own, other, n = self.groups[system], self.groups[baseline], self.n(system, baseline)
        if any(self._total(run, 1) == 0 for run in (*own, *other)):
            return None
        squares = self._covariance(own, own) + self._covariance(other, other) - 2 * self._covariance(own, other)
        num_a, den_a, num_b, den_b = (
            _mean(self._total(run, i) for run in runs) for runs in (own, other) for i in (0, 1)
        )
        return paired_test(
            _mean(map(self._ratio, own)) - _mean(map(self._ratio, other)),
            squares,
            self._size(own) + self._size(other),
            n,
            self.output.differing(self._pair(system, baseline)),
            (num_a, den_a, num_b, den_b),
        )

    def record(self, system: int, baseline: int) -> tuple[int, int, int] | None:
        """Return wins, ties and losses, which sums alone do not tell where there are several runs."""
        own, other = self.groups[system], self.groups[baseline]
        return self.output.record(own[0], other[0]) if len(own) == len(other) == 1 else None

    def _pair(self, system: int, baseline: int) -> Pair:
        return key_of(self.groups[system], self.groups[baseline])

    def _size(self, runs: Runs) -> Fraction:
        """Return the mean over runs of the sum of squared values."""
        return _mean(self._total(run, 2) / self._total(run, 1) ** 2 for run in runs)

    def _total(self, run: int, moment: int) -> Fraction:
        return exact(self.output.sums[run][moment])

    def _ratio(self, run: int) -> Fraction:
        return self._total(run, 0) / self._total(run, 1)

    def _covariance(self, left: Runs, right: Runs) -> Fraction:
        """Return the sum of products of the errors of two means, each the mean of the errors of its runs."""
        return _mean(self._errors(i, j) for i in left for j in right)

    def _errors(self, i: int, j: int) -> Fraction:
        """Return the sum of products of e = (num - R den) / sum den of two runs."""
        num_num, num_den, den_num, den_den = self._product(i, j)
        own, other = self._ratio(i), self._ratio(j)
        products = num_num - other * num_den - own * den_num + own * other * den_den
        return products / (self._total(i, 1) * self._total(j, 1))

    def _product(self, i: int, j: int) -> tuple[Fraction, ...]:
        """Return num num, num den, den num and den den of two runs."""
        if i == j:
            _, _, num2, cross, den2 = (exact(words) for words in self.output.sums[i][:5])
            return num2, cross, cross, den2
        if (i, j) in self.output.pairs:
            return tuple(exact(words) for words in _words(self.output, i, j))
        num_num, num_den, den_num, den_den = (exact(words) for words in _words(self.output, j, i))
        return num_num, den_num, num_den, den_den


def _mean(values: Iterable[Fraction]) -> Fraction:
    found = list(values)
    return sum(found, Fraction(0)) / len(found)


def _mean_rows(runs: Sequence[Float64]) -> Float64:
    """Return values [n_rows, 2] whose ratio of sums is the mean of those of runs.

    Where the denominators of the runs differ, a row has the mean error of its runs instead: so linear is the mean.
    """
    totals = [[exact_sum(column) for column in values.T] for values in runs]
    is_common = all(np.array_equal(values[:, 1], runs[0][:, 1]) for values in runs)
    if is_common or any(den == 0 for _, den in totals):
        return np.asarray(np.mean(runs, axis=0))
    scale, n_rows = np.mean(totals, axis=0)[1], len(runs[0])
    errors = [(values[:, 0] - num / den * values[:, 1]) / den for values, (num, den) in zip(runs, totals, strict=True)]
    ratio = np.mean([num / den for num, den in totals])
    return np.stack([scale * (ratio / n_rows + np.mean(errors, axis=0)), np.full(n_rows, scale / n_rows)], axis=1)


def _words(output: Output, i: int, j: int) -> Int64:
    return output.pairs[i, j][0]


def key_of(own: Runs, other: Runs) -> Pair:
    """Return a pair of systems as the pair of their runs, or where a system has several, of their means."""
    return (own[0], other[0]) if len(own) == len(other) == 1 else (tuple(own), tuple(other))


def means_of_runs(groups: Sequence[Runs], pairs: Sequence[tuple[int, int]]) -> list[tuple[Runs, Runs]]:
    """Return the pairs of systems of which one at least is the mean of several runs."""
    several = (pair for pair in pairs if max(len(groups[each]) for each in pair) > 1)
    return [(tuple(groups[system]), tuple(groups[baseline])) for system, baseline in several]


def pairs_of_runs(groups: Sequence[Runs], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of runs whose products the comparison of pairs of systems needs."""
    between = [(i, j) for system, baseline in pairs for i in groups[system] for j in groups[baseline]]
    within = [(i, j) for runs in groups for i in runs for j in runs if i < j]
    return [*between, *within]
