"""Sums over pairs of systems, in constant memory, and the paired t tests computed from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from xmceval.comparison.paired import PairedT, paired_test
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
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch, JointRows
from xmceval.scoring.estimates import RowSums, exact, exact_sum
from xmceval.scoring.held_rows import RowBlock
from xmceval.scoring.setup.setup import Program
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import Field, Part, Totals, add_rows, add_words, no_sums

Pair = tuple[int, int]  # a system and its baseline, by number
Runs = tuple[int, ...]  # the runs of a system, by number; usually one


class Column(NamedTuple):
    """The meaning of a column of per-row values: a measure, or its share in a bin of labels, by name."""

    measure: Measure
    bin: str = ""


def list_columns(program: Program, bins: Bins | None) -> list[Column]:
    """Return the columns of per-row values: first over all labels, then for each measure its bins."""
    in_bins = [measure for task in program.row_tasks if task.has_shares for measure in task.measures]
    names = [part.name for part in bins.bins] if bins else []
    shares = [Column(measure, name) for measure in in_bins for name in names]
    return [*map(Column, program.row_measures), *shares]


def join_kept(left: Float64, right: Float64) -> Float64:
    """Return the first FEW_DIFFER rows of both, column by column; missing rows are NaN, and last.

    They are float64 [n_columns, FEW_DIFFER, 4], as both arguments.
    """
    if not np.isnan(left[:, -1, 0]).any():
        return left
    rows = np.concatenate([left, right], axis=1)
    order = np.argsort(np.isnan(rows[:, :, 0]), axis=1, kind="stable")[:, : left.shape[1], None]
    return np.take_along_axis(rows, order, axis=1)


class PairSums(Part):
    """Exact sums of products of two systems' values, counts of wins, and the rows that differ if few do.

    They are int64 arrays `products` [n_columns, PRODUCTS, WORDS] and `counts` [n_columns, COUNTS]: WINS, LOSSES,
    DIFFERING, ONE_SIDED, NEITHER; and a float64 array `kept` [n_columns, FEW_DIFFER, 4]: the values of the rows that
    differ, NaN after the last, and meaningless where more than FEW_DIFFER do.
    """

    fields = MappingProxyType({"products": Field(add_words), "counts": Field(np.add), "kept": Field(join_kept)})

    def __init__(self, n_columns: int) -> None:
        super().__init__(
            products=np.zeros((n_columns, PRODUCTS, WORDS), dtype=np.int64),
            counts=np.zeros((n_columns, COUNTS), dtype=np.int64),
            kept=np.full((n_columns, FEW_DIFFER, 4), np.nan),
        )

    def add(self, a: Float64, b: Float64, weights: Float64, signs: Float64) -> None:
        """Add the rows of a block; threads may do so at the same time.

        All are float64: `a` and `b` [n_rows, n_columns, 2], `weights` [n_rows] or empty, and `signs` [n_columns].
        """
        block = PairSums(signs.size)
        add_pairs(a, b, weights, signs, block["products"], block["counts"], block["kept"])
        self.absorb(block)


class Pairs(JointRows):
    """Sums over pairs of systems, (system, baseline) by number; `runs` has the runs of each system.

    If there are groups of rows, `groups` has the sums of each.
    """

    def __init__(
        self, columns: Sequence[Column], runs: Sequence[Runs], pairs: Sequence[Pair], n_groups: int = 0
    ) -> None:
        self.runs = runs
        between = [((i,), (j,)) for system, baseline in pairs for i in runs[system] for j in runs[baseline]]
        within = [((i,), (j,)) for of_system in runs for i in of_system for j in of_system if i < j]
        of_systems = [(runs[system], runs[baseline]) for system, baseline in pairs]
        # For systems with several runs also every two runs: comparing means needs their products.
        self.sums = {pair: PairSums(len(columns)) for pair in dict.fromkeys([*between, *within, *of_systems])}
        self.groups = tuple(Pairs(columns, runs, pairs) for _ in range(n_groups))
        self._signs = np.array([1.0 if column.measure.metric.higher_is_better else -1.0 for column in columns])

    def absorb(self, other: Self) -> None:
        """Add the sums of other rows, without their groups."""
        for pair, sums in self.sums.items():
            sums.absorb(other.sums[pair])

    def add_batch(self, batch: Batch, values: Sequence[Float64], shares: Sequence[Float64]) -> None:
        """Add the values of a block, by system [n_rows, n_columns, 2], and the shares of bins, if any."""
        if shares[0].size:
            values = [np.concatenate(arrays, axis=1) for arrays in zip(values, shares, strict=True)]
        self.add(values, batch.weights)
        if batch.setup.groups is None or not self.groups:
            return
        for code, inside in batch.setup.groups.split(batch.block.first_row, batch.block.n_rows, batch.kept):
            weights = batch.weights[inside] if batch.weights.size else batch.weights
            self.groups[code].add([array[inside] for array in values], weights)

    def add(self, values: Sequence[Float64], weights: Float64) -> None:
        """Add the values of rows; `weights`, float64 [n_rows], may be empty."""
        if not values[0].size:
            return
        for (runs, others), sums in self.sums.items():
            a, b = (
                values[of_system[0]] if len(of_system) == 1 else np.mean([values[run] for run in of_system], axis=0)
                for of_system in (runs, others)
            )
            sums.add(a, b, weights, self._signs)


class RowCounts(NamedTuple):
    """How many rows of two systems have a value, and how many are better or worse.

    Wins, ties and losses are None for several runs, whose sums do not show them; a row with a value in only one of the
    two systems counts as none of these.
    """

    n: int  # with a value in any run of the two; denominators of 0 count if none are dropped
    n_differing: int
    n_one_sided: int  # with a value in only one of the two
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None


@dataclass(frozen=True)
class MetricSums:
    """One metric for every system, averaged over its runs: over all labels and rows, or in a bin or group."""

    measure: Measure
    bin: str  # the bin of labels or group of rows; empty for all
    column: int
    sums: Sequence[Int64]  # by run [MOMENTS, WORDS]
    n_rows: Sequence[int]  # by run: rows with a value
    n_all: int
    pairs: Pairs  # every compared pair of systems, and the pairs of runs within and between them
    held: RowBlock | None = None
    extremes: Sequence[Float64] = ()  # by run [2, KEPT, 2]: the rows that gain and lose most, for saved values

    def rows(self, held: RowBlock, system: int) -> Float64:
        """Return the weighted values [n_rows, 2] of a system, means over its runs.

        The ratio of their sums is the mean of the runs' ratios: if the denominators of the runs differ, a row
        has the mean error of its runs instead, which is linear like the mean.
        """
        by_run = [held.values[:, run, self.column] * held.weights[:, None] for run in self.pairs.runs[system]]
        if len(by_run) == 1:
            return by_run[0]
        totals = [[exact_sum(column) for column in values.T] for values in by_run]
        is_common = all(np.array_equal(values[:, 1], by_run[0][:, 1]) for values in by_run)
        if is_common or any(den == 0 for _, den in totals):
            return np.asarray(np.mean(by_run, axis=0))
        scale = np.mean(totals, axis=0)[1]
        n_rows = len(by_run[0])
        errors = [
            (values[:, 0] - num / den * values[:, 1]) / den for values, (num, den) in zip(by_run, totals, strict=True)
        ]
        ratio = np.mean([num / den for num, den in totals])
        return np.stack([scale * (ratio / n_rows + np.mean(errors, axis=0)), np.full(n_rows, scale / n_rows)], axis=1)

    def count(self, system: int, baseline: int) -> RowCounts:
        """Count the rows of two systems."""
        runs = self.pairs.runs[system]
        others = self.pairs.runs[baseline]
        counts = self.pairs.sums[runs, others]["counts"][self.column].tolist()
        n = max(self.n_all - counts[NEITHER], *(self.n_rows[run] for run in runs + others))
        of_rows = RowCounts(n, counts[DIFFERING], counts[ONE_SIDED])
        if len(runs + others) > 2:
            return of_rows
        ties = n - of_rows.n_one_sided - counts[WINS] - counts[LOSSES]
        return of_rows._replace(wins=counts[WINS], ties=ties, losses=counts[LOSSES])

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare two systems by the delta method; None if a denominator is 0.

        The error of a row in a ratio R = sum num / sum den is e = (num - R den) / sum den, and in a mean of
        ratios of runs the mean of their errors; SE^2 = n / (n - 1) sum (e_a - e_b)^2. With denominators of 1
        this is the paired t test.
        """
        runs = self.pairs.runs[system]
        others = self.pairs.runs[baseline]
        involved = dict.fromkeys(runs + others)
        in_pairs = self.pairs.sums
        pairs = [(i, j) if ((i,), (j,)) in in_pairs else (j, i) for i, j in itertools.combinations(involved, 2)]
        stored = [in_pairs[(i,), (j,)]["products"][self.column] for i, j in pairs]
        numbers = iter(exact(np.concatenate([*(self.sums[run][:5] for run in involved), *stored])))
        moments = {run: RowSums(*itertools.islice(numbers, 5)) for run in involved}
        if any(sums.den == 0 for sums in moments.values()):
            return None
        counts = self.count(system, baseline)
        n = counts.n
        products: dict[Pair, tuple[Any, ...]] = {
            (run, run): (sums.num2, sums.cross, sums.cross, sums.den2) for run, sums in moments.items()
        }
        for i, j in pairs:
            num_num, num_den, den_num, den_den = itertools.islice(numbers, 4)
            products[i, j] = (num_num, num_den, den_num, den_den)
            products[j, i] = (num_num, den_num, num_den, den_den)
        ratios = {run: Fraction(sums.num) / sums.den for run, sums in moments.items()}
        # The share of each run in the difference of means over runs: one over their number, below 0 for the baseline.
        shares = [(run, Fraction(1, len(runs))) for run in runs] + [(run, Fraction(-1, len(others))) for run in others]
        squares = num2 = squared = Fraction(0)
        for (i, share), (j, its_share) in itertools.product(shares, shares):
            num_num, num_den, den_num, den_den = products[i, j]
            errors = num_num - ratios[j] * num_den - ratios[i] * den_num + ratios[i] * ratios[j] * den_den
            of_both = share * its_share
            squares += of_both * errors / (moments[i].den * moments[j].den)
            num2 += of_both * num_num
            if of_both > 0:
                squared += of_both * num_num
        size = sum((abs(share) * moments[run].num2 / moments[run].den ** 2 for run, share in shares), Fraction(0))
        first = moments[runs[0]]
        gap = None
        if all(sums.den2 + first.den2 == 2 * products[runs[0], run][3] for run, sums in moments.items()):
            # All denominators are common: a gap is between numerators.
            num = sum((share * moments[run].num for run, share in shares), Fraction(0))
            cross = sum((share * moments[run].cross for run, share in shares), Fraction(0))
            gap = RowSums(num, first.den, num2, cross, first.den2)
            if n * gap.num2 - gap.num**2 <= Fraction(TIE) ** 2 * n * squared:  # all rows differ by one amount
                squares = Fraction(0)
        totals = [
            sum((Fraction(getattr(moments[run], name)) for run in of_system), Fraction(0)) / len(of_system)
            for of_system in (runs, others)
            for name in ("num", "den")
        ]
        return paired_test(
            sum((share * ratios[run] for run, share in shares), Fraction(0)),
            squares,
            size,  # the scale of the squares
            n,
            counts.n_differing,
            in_pairs[runs, others]["kept"][self.column][: counts.n_differing].tolist(),
            totals,
            gap,
        )


def sums_of_totals(
    columns: Sequence[Column],
    totals: Sequence[Totals],
    program: Program,
    pairs: Pairs,
    held: RowBlock | None,
    group: str = "",
) -> Iterator[MetricSums]:
    """Yield the sums of every metric with per-row values: over all labels, then within each bin.

    `totals` are by run; `group` names the rows if these are not all.
    """
    by_run = []
    left_out = []
    for of_run in totals:
        parts = [part for task, part in zip(program.tasks, of_run.parts, strict=True) if isinstance(task, RowTask)]
        arrays = [*(part["sums"] for part in parts), *(part["shares"] for part in parts)]
        by_run.append(np.concatenate([no_sums(0), *arrays]))
        left_out.append([int(n) for part in parts for n in part["left_out"]])
    n_rows = [of_run.tally.n_rows for of_run in totals]
    bins = list(dict.fromkeys(column.bin for column in columns))
    for number in sorted(range(len(columns)), key=lambda number: bins.index(columns[number].bin)):
        measure, bin_name = columns[number]
        if bin_name and measure.metric.complement:
            continue
        of_all = columns.index(Column(measure))
        yield MetricSums(
            measure,
            bin_name or group,
            number,
            [sums[number] for sums in by_run],
            [n - of_run[of_all] for n, of_run in zip(n_rows, left_out, strict=True)],
            max(n_rows),
            pairs,
            held,
        )


def sums_of_rows(
    measures: Sequence[Measure], block: RowBlock, pairs: Sequence[Pair], *, holds_rows: bool
) -> list[MetricSums]:
    """Return the sums of saved per-row values, over pairs (system, baseline) by number."""
    n_rows, n_systems = block.values.shape[:2]
    by_system = [np.ascontiguousarray(block.values[:, system]) for system in range(n_systems)]
    weights = block.weights if (block.weights != 1).any() else np.empty(0)
    pair_sums = Pairs([*map(Column, measures)], [(system,) for system in range(n_systems)], pairs)
    pair_sums.add(by_system, weights)
    sums, extremes = zip(*(add_rows(values, weights) for values in by_system), strict=True)
    with_value = block.counts.sum(axis=0)
    return [
        MetricSums(
            measure,
            "",
            number,
            [of_system[number] for of_system in sums],
            [int(n) for n in with_value[:, number]],
            n_rows,
            pair_sums,
            block if holds_rows else None,
            [of_system[number] for of_system in extremes],
        )
        for number, measure in enumerate(measures)
    ]
