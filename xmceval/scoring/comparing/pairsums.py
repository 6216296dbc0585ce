"""Paired sums: what the difference of two systems needs beside the totals of each, in constant memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from xmceval.kernels.metrics.totals import (
    COUNTS,
    FEW_DIFFER,
    PRODUCTS,
    WORDS,
    add_pairs,
)
from xmceval.labels.bins import Bins
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, read_only
from xmceval.rows.rowgroups import RowGroups
from xmceval.scoring.batch import Batch
from xmceval.scoring.parts import Field, Part
from xmceval.scoring.setup import Program
from xmceval.scoring.sums import add_words

Runs = tuple[int, ...]  # the runs of a system, by number; of most systems, one
Pair = tuple[Runs, Runs]  # system and baseline
PairState = tuple[Int64, Int64, Float64]  # products, counts and kept, as PairSums has them


@dataclass(frozen=True)
class ValueColumns:
    """What values of rows are of."""

    measures: tuple[Measure, ...]  # one per column
    in_bins: tuple[Measure, ...] = ()  # of which bins of labels have shares, in this order
    bins: tuple[str, ...] = ()  # by name; each measure has a share of each, one after the other

    @classmethod
    def of(cls, program: Program, bins: Bins | None) -> ValueColumns:
        """Return what the values of a program are of."""
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
        """Return what is known of one output."""
        return self["products"][output], self["counts"][output], self["kept"][output]

    def add(self, a: Float64, b: Float64, weights: Float64, signs: Float64) -> None:
        """Add the rows of a block; threads may do so at the same time.

        All are float64: `a` and `b` [n_rows, n_outputs, 2], `weights` [n_rows] or empty, and `signs` [n_outputs].
        """
        block = PairSums(signs.size)
        add_pairs(a, b, read_only(weights), signs, block["products"], block["counts"], block["kept"])
        self.absorb(block)


class Pairs:
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

    def absorb(self, other: Pairs) -> None:
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
                sums.add(_mean(arrays, runs), _mean(arrays, others), weights, signs)


def _mean(values: Sequence[Float64], runs: Runs) -> Float64:
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
