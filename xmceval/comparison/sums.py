"""Sums over pairs of systems, in constant memory, and the paired t tests computed from them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np

from xmceval.comparison.paired import Differing, PairedT, paired_test
from xmceval.kernels.metrics.sums import (
    COUNTS,
    DIFFERING,
    FEW_DIFFER,
    LOSSES,
    NEITHER,
    ONE_SIDED,
    PRODUCTS,
    TIE,
    WINS,
    WORDS,
    add_pairs,
)
from xmceval.labels.bins import Bins
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, read_only
from xmceval.rows.groups import RowGroups
from xmceval.scoring.batch import Batch, JointSums
from xmceval.scoring.estimates import exact
from xmceval.scoring.held_rows import RowBlock
from xmceval.scoring.intervals import RowSums, exact_sum
from xmceval.scoring.setup.setup import Program
from xmceval.scoring.sums import add_rows, add_words, no_sums
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import Field, Part, Totals

Runs = tuple[int, ...]  # the runs of a system, by number; of most systems, one
Pair = tuple[Runs, Runs]  # system and baseline
PairState = tuple[Int64, Int64, Float64]  # products, counts and kept, as PairSums has them


@dataclass(frozen=True)
class ValueColumns:
    """The meaning of the columns of per-row values: measures, and their shares by bin."""

    measures: tuple[Measure, ...]  # one per column
    in_bins: tuple[Measure, ...] = ()  # the measures with shares by bin of labels, in this order
    bins: tuple[str, ...] = ()  # by name; each measure has a share of each, one after the other

    @classmethod
    def of(cls, program: Program, bins: Bins | None) -> ValueColumns:
        """Return the columns of the per-row values of a program."""
        in_bins = (measure for task in program.row_tasks if task.has_ceiling for measure in task.measures)
        return cls(tuple(program.row_measures), tuple(in_bins), tuple(part.name for part in bins.bins) if bins else ())


def join_kept(left: Float64, right: Float64) -> Float64:
    """Return the first FEW_DIFFER rows of both, output by output; missing ones are NaN, and last.

    They are float64 [n_outputs, FEW_DIFFER, 4], as both arguments.
    """
    if not np.isnan(left[:, -1, 0]).any():
        return left
    rows = np.concatenate([left, right], axis=1)
    order = np.argsort(np.isnan(rows[:, :, 0]), axis=1, kind="stable")[:, : left.shape[1], None]
    return np.take_along_axis(rows, order, axis=1)


class PairSums(Part):
    """Exact sums of products of two systems' values, counts of rows that each wins, and rows that differ if few do.

    They are int64 arrays `products` [n_outputs, PRODUCTS, WORDS] and `counts` [n_outputs, COUNTS]: WINS, LOSSES,
    DIFFERING, ONE_SIDED, NEITHER; and a float64 array `kept` [n_outputs, FEW_DIFFER, 4]: the values of the rows that
    differ, NaN after the last, and meaningless where more than FEW_DIFFER do.
    """

    fields = MappingProxyType({"products": Field(add_words), "counts": Field(np.add), "kept": Field(join_kept)})

    def __init__(self, n_outputs: int) -> None:
        super().__init__(
            {
                "products": np.zeros((n_outputs, PRODUCTS, WORDS), dtype=np.int64),
                "counts": np.zeros((n_outputs, COUNTS), dtype=np.int64),
                "kept": np.full((n_outputs, FEW_DIFFER, 4), np.nan),
            }
        )

    def of(self, output: int) -> PairState:
        """Return the arrays of one output."""
        return self["products"][output], self["counts"][output], self["kept"][output]

    def add(self, a: Float64, b: Float64, weights: Float64, signs: Float64) -> None:
        """Add the rows of a block; threads may do so at the same time.

        All are float64: `a` and `b` [n_rows, n_outputs, 2], `weights` [n_rows] or empty, and `signs` [n_outputs].
        """
        block = PairSums(signs.size)
        add_pairs(a, b, read_only(weights), signs, block["products"], block["counts"], block["kept"])
        self.absorb(block)


class Pairs(JointSums):
    """Sums over pairs of systems, (system, baseline) by number; `runs` are those of each system.

    Where there are groups of rows, each has such sums of its own in `groups`.
    """

    def __init__(
        self,
        columns: ValueColumns,
        runs: Sequence[Runs],
        pairs: Sequence[tuple[int, int]],
        row_groups: RowGroups | None = None,
    ) -> None:
        between = [((i,), (j,)) for system, baseline in pairs for i in runs[system] for j in runs[baseline]]
        within = [((i,), (j,)) for of_system in runs for i in of_system for j in of_system if i < j]
        of_systems = [(runs[system], runs[baseline]) for system, baseline in pairs]
        # Of systems with several runs also each two runs: the comparison of their means needs their products.
        keys: list[Pair] = list(dict.fromkeys([*between, *within, *of_systems]))
        self._signs = signs_of(columns.measures)
        self._share_signs = np.repeat(signs_of(columns.in_bins), len(columns.bins))
        self.sums = {pair: PairSums(self._signs.size) for pair in keys}
        self.shares = {pair: PairSums(self._share_signs.size) for pair in keys}
        names = () if row_groups is None else row_groups.names
        self.groups = tuple(Pairs(columns, runs, pairs) for _ in names)

    def absorb(self, other: Self) -> None:
        """Add the sums of other rows, but for those of groups."""
        for own, others in ((self.sums, other.sums), (self.shares, other.shares)):
            for pair, sums in own.items():
                sums.absorb(others[pair])

    def add_batch(self, batch: Batch, values: Sequence[Float64], shares: Sequence[Float64]) -> None:
        """Add the values of a block, by system [n_rows, n_columns, 2], and the shares of bins, if there are any."""
        self.add(values, shares, batch.weights)
        if batch.setup.groups is None or not self.groups:
            return
        for code, inside in batch.setup.groups.split(batch.block.first_row, batch.block.n_rows, batch.kept):
            self.groups[code].add(
                [array[inside] for array in values],
                [array[inside] for array in shares if array.size],
                batch.weights[inside] if batch.weights.size else batch.weights,
            )

    def add(self, values: Sequence[Float64], shares: Sequence[Float64], weights: Float64) -> None:
        """Add the values of some rows; `weights`, float64 [n_rows], may be empty."""
        for all_sums, arrays, signs in (
            (self.sums, values, self._signs),
            (self.shares, shares, self._share_signs),
        ):
            if not signs.size:
                continue
            for (runs, others), sums in all_sums.items():
                sums.add(_average(arrays, runs), _average(arrays, others), weights, signs)


def _average(values: Sequence[Float64], runs: Runs) -> Float64:
    """Return the means of the values of runs."""
    return values[runs[0]] if len(runs) == 1 else np.asarray(np.mean([values[run] for run in runs], axis=0))


def all_pairs(n_systems: int, against: int | None = None) -> list[tuple[int, int]]:
    """Return (system, baseline) pairs: all, the earlier one being the baseline, or those against one baseline."""
    if against is not None:
        return [(system, against) for system in range(n_systems) if system != against]
    return [(later, earlier) for earlier, later in itertools.combinations(range(n_systems), 2)]


def signs_of(measures: Sequence[Measure]) -> Float64:
    """Return 1 where higher is better, else -1, float64 [n_measures]."""
    return np.array([1.0 if measure.metric.higher_is_better else -1.0 for measure in measures])


NO_COUNTS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Output:
    """One metric for every system, averaged over its runs, overall or within one bin."""

    measure: Measure
    bin: str  # of labels, or the group of rows; empty for all
    groups: Sequence[Runs]  # the runs of each system; of most, one
    sums: Sequence[Int64]  # by run [MOMENTS, WORDS]
    n_rows: Sequence[int]  # by run: rows with a value
    n_all: int
    pairs: Mapping[Pair, PairState]  # every pair of systems that is compared, and of runs within and between these
    rows_of_run: Callable[[int], Float64] | None = None  # the weighted values [n_rows, 2] of a run, where they are held
    extremes: Sequence[Float64] = ()  # by run [2, KEPT, 2]: the rows that gain and lose most, of saved values

    @property
    def n_runs(self) -> int:
        """How many runs have values."""
        return len(self.sums)

    @property
    def rows(self) -> Callable[[int], Float64] | None:
        """The weighted values [n_rows, 2] of a system, means over its runs, where they are held."""
        rows = self.rows_of_run
        return None if rows is None else lambda system: _mean_rows([rows(run) for run in self.groups[system]])

    def n(self, system: int, baseline: int) -> int:
        """Return the rows with a value in a run of two systems; also those of denominator 0 if none are left out."""
        pair = self.groups[system], self.groups[baseline]
        _, counts, _ = self.pairs[pair]
        return max(self.n_all - int(counts[NEITHER]), *(self.n_rows[run] for runs in pair for run in runs))

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare two systems by the delta method; None where a denominator is 0.

        A row's error in a ratio R = sum num / sum den is e = (num - R den) / sum den, and in a mean of the ratios of
        runs the mean of theirs; SE^2 = n / (n - 1) sum (e_a - e_b)^2. With denominators of 1 this is the paired t test.
        """
        runs, others = self.groups[system], self.groups[baseline]
        moments = [self._moments[run] for run in (*runs, *others)]
        if any(of_run.den == 0 for of_run in moments):
            return None
        n, gap = self.n(system, baseline), self._gap(runs, others)
        squares = self._covariance(runs, runs) + self._covariance(others, others) - 2 * self._covariance(runs, others)
        sizes = [Fraction(of_run.num2) / of_run.den**2 for of_run in moments]
        size = _mean(sizes[: len(runs)]) + _mean(sizes[len(runs) :])  # of the values that errors are computed from
        if gap is not None:
            squared = self._num_num(runs, runs) + self._num_num(others, others)
            if n * gap.num2 - gap.num**2 <= Fraction(TIE) ** 2 * n * squared:  # all rows differ alike
                squares = Fraction(0)
        _, counts, kept = self.pairs[runs, others]
        n_differing = int(counts[DIFFERING])
        return paired_test(
            _mean(map(self._ratio, runs)) - _mean(map(self._ratio, others)),
            squares,
            size,
            n,
            Differing(n_differing, kept[:n_differing].tolist()),
            (self._sum("num", runs), self._sum("den", runs), self._sum("num", others), self._sum("den", others)),
            gap,
        )

    def record(self, system: int, baseline: int) -> tuple[int, int, int] | None:
        """Return wins, ties and losses of a system, which sums alone do not tell where there are several runs.

        A row with a value in only one of the two counts as none of these.
        """
        pair = self.groups[system], self.groups[baseline]
        if any(len(runs) > 1 for runs in pair):
            return None
        counts = self.pairs[pair][1]
        wins, losses = int(counts[WINS]), int(counts[LOSSES])
        return wins, self.n(system, baseline) - int(counts[ONE_SIDED]) - wins - losses, losses

    def _gap(self, runs: Runs, others: Runs) -> RowSums | None:
        """Return the sums of how far one system's numerators are above the other's, if all denominators are common."""
        first = self._moments[runs[0]]
        for run in runs + others:
            if self._moments[run].den2 + first.den2 != 2 * self._products(runs[0], run).den_den:
                return None
        num, cross = (self._sum(name, runs) - self._sum(name, others) for name in ("num", "cross"))
        num2 = self._num_num(runs, runs) + self._num_num(others, others) - 2 * self._num_num(runs, others)
        return RowSums(num, first.den, num2, cross, first.den2)

    def _sum(self, name: str, runs: Runs) -> Fraction:
        """Return one of the sums of a mean over runs that is linear in their values."""
        return _mean(getattr(self._moments[run], name) for run in runs)

    def _ratio(self, run: int) -> Fraction:
        return Fraction(self._moments[run].num) / self._moments[run].den

    def _num_num(self, left: Runs, right: Runs) -> Fraction:
        """Return the sum of products of the numerators of two means over runs."""
        return _mean(self._products(i, j).num_num for i in left for j in right)

    def _covariance(self, left: Runs, right: Runs) -> Fraction:
        """Return the sum of products of the errors of two means, e = (num - R den) / sum den averaged over runs."""
        shared = []
        for i, j in itertools.product(left, right):
            products, ratio, other_ratio = self._products(i, j), self._ratio(i), self._ratio(j)
            errors = Fraction(products.num_num) - other_ratio * products.num_den - ratio * products.den_num
            errors += ratio * other_ratio * products.den_den
            shared.append(errors / (self._moments[i].den * self._moments[j].den))
        return _mean(shared)

    @cached_property
    def _moments(self) -> list[RowSums]:
        """The sums of each run."""
        return [RowSums(*exact(sums[:5])) for sums in self.sums]

    def _products(self, i: int, j: int) -> Products:
        """Return the sums over rows of products of the values of two runs, or of one run with itself."""
        if i == j:
            moments = self._moments[i]
            return Products(moments.num2, moments.cross, moments.cross, moments.den2)
        if ((i,), (j,)) in self.pairs:
            return Products(*exact(self.pairs[(i,), (j,)][0]))
        swapped = self._products(j, i)
        return Products(swapped.num_num, swapped.den_num, swapped.num_den, swapped.den_den)


def _mean(values: Iterable[Fraction | int]) -> Fraction:
    numbers = [*map(Fraction, values)]
    return sum(numbers, Fraction(0)) / len(numbers)


def _mean_rows(runs: Sequence[Float64]) -> Float64:
    """Return values [n_rows, 2] whose ratio of sums is the mean of those of runs.

    Where the denominators of the runs differ, a row has the mean error of its runs instead: so linear is the mean.
    """
    if len(runs) == 1:
        return runs[0]
    totals = [[exact_sum(column) for column in values.T] for values in runs]
    is_common = all(np.array_equal(values[:, 1], runs[0][:, 1]) for values in runs)
    if is_common or any(den == 0 for _, den in totals):
        return np.asarray(np.mean(runs, axis=0))
    scale, n_rows = np.mean(totals, axis=0)[1], len(runs[0])
    errors = [(values[:, 0] - num / den * values[:, 1]) / den for values, (num, den) in zip(runs, totals, strict=True)]
    ratio = np.mean([num / den for num, den in totals])
    return np.stack([scale * (ratio / n_rows + np.mean(errors, axis=0)), np.full(n_rows, scale / n_rows)], axis=1)


class Products(NamedTuple):
    """Sums over rows of products of a system's values and the baseline's."""

    num_num: Fraction | int
    num_den: Fraction | int
    den_num: Fraction | int
    den_den: Fraction | int


class RunSums(NamedTuple):
    """The sums of one run by column."""

    sums: Int64  # [n_columns, MOMENTS, WORDS]
    shares: Int64  # [n_shares, MOMENTS, WORDS], of bins
    n_rows: Int64  # [n_columns], with a value
    extremes: Float64 | None = None  # [n_columns, 2, KEPT, 2], the rows that gain and lose most

    @classmethod
    def of(cls, program: Program, totals: Totals) -> RunSums:
        """Take the sums of totals."""
        parts = [part for task, part in zip(program.tasks, totals.parts, strict=True) if isinstance(task, RowTask)]
        sums, shares, left_out = (
            np.concatenate([part[name] for part in parts] or [nothing])
            for name, nothing in (("sums", no_sums(0)), ("shares", no_sums(0)), ("left_out", NO_COUNTS))
        )
        return cls(sums, shares, totals.tally.n_rows - left_out)


def collect_outputs(
    columns: ValueColumns,
    runs: Sequence[RunSums],
    n_all: int,
    groups: Sequence[Runs],
    pair_sums: Pairs,
    held: RowBlock | None,
    group: str = "",
) -> list[Output]:
    """Return every metric that has values of rows: over all labels, then within each bin; `n_all` are all rows.

    `groups` are the runs of each system; `group` is the name of the rows, where they are not all.
    """
    outputs = []
    for c, measure in enumerate(columns.measures):
        pairs = {pair: sums.of(c) for pair, sums in pair_sums.sums.items()}
        rows = None if held is None else _rows_of(held.values[:, :, c], held.weights)
        extremes = [run.extremes[c] for run in runs if run.extremes is not None]
        sums, n_rows = [run.sums[c] for run in runs], [int(run.n_rows[c]) for run in runs]
        outputs.append(Output(measure, group, groups, sums, n_rows, n_all, pairs, rows, extremes))
    for b, bin_ in enumerate(columns.bins):
        for m, measure in enumerate(columns.in_bins):
            if measure.metric.complement:
                continue
            c = m * len(columns.bins) + b
            pairs = {pair: sums.of(c) for pair, sums in pair_sums.shares.items()}
            rows = None if held is None else _rows_of(held.shares[:, :, c], held.weights)
            sums, of_all = [run.shares[c] for run in runs], outputs[columns.measures.index(measure)]
            outputs.append(Output(measure, bin_, groups, sums, of_all.n_rows, n_all, pairs, rows))
    return outputs


def _rows_of(values: Float64, weights: Float64) -> Callable[[int], Float64]:
    """Return a function that weights the values [n_rows, n_runs, 2] of a run."""
    return lambda run: values[:, run] * weights[:, None]


def outputs_of_rows(
    measures: Sequence[Measure],
    block: RowBlock,
    pairs: Sequence[tuple[int, int]],
    *,
    holds_rows: bool,
) -> list[Output]:
    """Return the outputs of saved values of rows, tested pair by pair."""
    n_rows, n_systems = block.values.shape[:2]
    columns, groups = ValueColumns(tuple(measures)), [(system,) for system in range(n_systems)]
    by_system = [np.ascontiguousarray(block.values[:, system]) for system in range(n_systems)]
    weights = block.weights if (block.weights != 1).any() else np.empty(0)
    left_out = (~block.counts).sum(axis=0)
    pair_sums = Pairs(columns, groups, pairs)
    pair_sums.add(by_system, [], weights)
    runs = []
    for system, values in enumerate(by_system):
        sums, extremes = add_rows(values, weights)
        runs.append(RunSums(sums, no_sums(0), n_rows - left_out[system], extremes))
    return collect_outputs(columns, runs, n_rows, groups, pair_sums, block if holds_rows else None)
