"""Paired sums: what the difference of two systems needs beside the totals of each, in constant memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.kernels.metrics.totals import (
    COUNTS,
    DIFFERING,
    FEW_DIFFER,
    LOSSES,
    NEITHER,
    ONE_SIDED,
    PRODUCTS,
    WINS,
    WORDS,
    add_pairs,
    add_values,
)
from xmceval.labels.bins import Bins
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.comparing.heldrows import HeldRows
from xmceval.scoring.estimates import exact
from xmceval.scoring.mergeable import Field, Mergeable
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.program import Program
from xmceval.scoring.sums import OUT_OF_RANGE, Sums, add_words, no_extremes
from xmceval.scoring.totals import Totals
from xmceval.statistics.paired import Differing, Moments, PairedT, Products, paired_t

Runs = Sequence[int]  # the runs of a system, by number
Pair = tuple[int, int] | tuple[Runs, Runs]  # system and baseline: runs by number, or means of several
PairState = tuple[Int64, Int64, Float64]  # products, counts and kept, as PairSums has them


def join_kept(left: Float64, right: Float64) -> Float64:
    """Return the first FEW_DIFFER rows of both, output by output; missing ones are NaN, and last."""
    if not np.isnan(left[:, -1, 0]).any():
        return left
    rows = np.concatenate([left, right], axis=1)
    order = np.argsort(np.isnan(rows[:, :, 0]), axis=1, kind="stable")[:, : left.shape[1], None]
    return np.take_along_axis(rows, order, axis=1)


class PairSums(Mergeable):
    """Exact sums of products of two systems' values, how often each is better, and the rows that differ while few do.

    Attributes
    ----------
    products : int64 array [n_outputs, PRODUCTS, WORDS]
    counts : int64 array [n_outputs, COUNTS]
        Rows: WINS, LOSSES, DIFFERING, ONE_SIDED, NEITHER.
    kept : float64 array [n_outputs, FEW_DIFFER, 4]
        The values of the rows that differ, NaN for those that are not there; of outputs in which more than FEW_DIFFER
        do they mean nothing.
    """

    fields = (Field("products", add_words), Field("counts", np.add), Field("kept", join_kept))

    def __init__(self, n_outputs: int) -> None:
        super().__init__()
        self.products: Int64 = np.zeros((n_outputs, PRODUCTS, WORDS), dtype=np.int64)
        self.counts: Int64 = np.zeros((n_outputs, COUNTS), dtype=np.int64)
        self.kept: Float64 = np.full((n_outputs, FEW_DIFFER, 4), np.nan)

    @property
    def has_many(self) -> bool:
        """Whether more rows differ than are kept, in every output."""
        return bool((self.counts[:, DIFFERING] > FEW_DIFFER).all())

    def of(self, output: int) -> PairState:
        """Return what is known of one output."""
        return self.products[output], self.counts[output], self.kept[output]

    def add(self, a: Float64, b: Float64, weights: Float64, signs: Float64) -> None:
        """Add the rows of a block."""
        own = PairSums(len(self.products))
        add_pairs(a, b, weights, signs, own.products, own.counts, own.kept)
        self.absorb(own)


class Pairs(Observer):
    """An observer of pairs of systems: one PairSums per pair and task, and one for the shares of bins.

    Parameters
    ----------
    program : Program
    n_bins : int
    pairs : sequence of (system, baseline)
        By number.
    means : sequence of (runs, runs)
        Pairs of systems that are the means of runs, of which only the rows that differ are asked for.
    """

    def __init__(
        self,
        program: Program,
        n_bins: int,
        pairs: Sequence[tuple[int, int]],
        means: Sequence[tuple[Runs, Runs]] = (),
    ) -> None:
        self.pairs, self.means, self._n_bins = tuple(pairs), tuple(means), n_bins
        self.tasks = tuple(program.row_tasks)
        self._signs = [_signs(task.measures) for task in self.tasks]
        self._share_signs = [np.repeat(signs, n_bins) for signs in self._signs]
        keys: tuple[Pair, ...] = (*self.pairs, *self.means)
        self.sums = {pair: [PairSums(len(task.measures)) for task in self.tasks] for pair in keys}
        self.shares = {
            pair: [PairSums(len(task.measures) * n_bins if task.has_ceiling else 0) for task in self.tasks]
            for pair in keys
        }

    @classmethod
    def of(cls, program: Program, parameters: Any) -> Pairs:
        """Make one of no rows."""
        return cls(program, *parameters)

    @property
    def parameters(self) -> tuple[int, tuple[tuple[int, int], ...], tuple[tuple[Runs, Runs], ...]]:
        """What `of` needs beside the program."""
        return self._n_bins, self.pairs, self.means

    @property
    def state(self) -> list[PairSums]:
        """The sums of all pairs."""
        return list(self._all_sums())

    def merge(self, state: Sequence[PairSums]) -> None:
        """Add the sums of other rows."""
        for own, other in zip(self._all_sums(), state, strict=True):
            own.absorb(other)

    def _all_sums(self) -> Iterator[PairSums]:
        for by_pair in (self.sums, self.shares):
            for sums in by_pair.values():
                yield from sums

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block."""
        for t, (signs, share_signs) in enumerate(zip(self._signs, self._share_signs, strict=True)):
            for system, baseline in self.pairs:
                pair = block.values[system][t], block.values[baseline][t]
                self.sums[system, baseline][t].add(*pair, block.weights, signs)
                if block.shares[system][t].size:
                    pair = block.shares[system][t], block.shares[baseline][t]
                    self.shares[system, baseline][t].add(*pair, block.weights, share_signs)
            for means in self.means:
                _add_means(self.sums[means][t], means, t, block.values, block.weights, signs)
                _add_means(self.shares[means][t], means, t, block.shares, block.weights, share_signs)


def _add_means(
    sums: PairSums,
    means: tuple[Runs, Runs],
    task: int,
    values: Sequence[Sequence[Float64]],
    weights: Float64,
    signs: Float64,
) -> None:
    """Add rows of the means of runs, as long as few of them differ."""
    if not sums.has_many:
        a, b = (np.mean([values[run][task] for run in runs], axis=0) for runs in means)
        sums.add(a, b, weights, signs)


@dataclass(frozen=True)
class Output:
    """What is known of one metric, over all labels or within a bin, of every system.

    Attributes
    ----------
    measure : Measure
    bin : str
        Empty for all labels.
    sums : sequence of int64 array [MOMENTS, WORDS]
        By system.
    n_rows : sequence of int
        By system: rows with a value.
    n_all : int
        All rows.
    pairs : mapping of (system, baseline) to PairState
        Of one output each.
    rows : callable or None
        ``rows(system)`` are the weighted values [n_rows, 2], where they are held.
    extremes : sequence of float64 array [2, KEPT, 2]
        By system, the rows that gain and lose most, of saved values of rows.
    """

    measure: Measure
    bin: str
    sums: Sequence[Int64]
    n_rows: Sequence[int]
    n_all: int
    pairs: Mapping[Pair, PairState]
    rows: Callable[[int], Float64] | None = None
    extremes: Sequence[Float64] = ()

    @property
    def n_systems(self) -> int:
        """How many systems have values."""
        return len(self.sums)

    def n(self, system: int, baseline: int) -> int:
        """Return the rows that have a value in at least one of two systems."""
        return self.n_with_value((system, baseline), (system, baseline))

    def n_with_value(self, pair: Pair, systems: Iterable[int]) -> int:
        """Return the rows that have a value in a pair; where no rows are left out, that is all, with denominators 0."""
        _, counts, _ = self.pairs[pair]
        return max(self.n_all - int(counts[NEITHER]), *(self.n_rows[each] for each in systems))

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare two systems by t; None where a denominator is 0."""
        pair = system, baseline
        products = Products(*(exact(words) for words in self.pairs[pair][0]))
        own, other = _moments(self.sums[system]), _moments(self.sums[baseline])
        return paired_t(own, other, products, self.n(*pair), self.differing(pair))

    def differing(self, pair: Pair) -> Differing:
        """Return the rows in which two systems differ."""
        _, counts, kept = self.pairs[pair]
        n = int(counts[DIFFERING])
        return Differing(n, kept[:n].tolist())

    def record(self, system: int, baseline: int) -> tuple[int, int, int]:
        """Return wins, ties and losses of a system; a row with a value in one of the two only is none of them."""
        counts = self.pairs[system, baseline][1]
        wins, losses = int(counts[WINS]), int(counts[LOSSES])
        return wins, self.n(system, baseline) - int(counts[ONE_SIDED]) - wins - losses, losses


def collect_outputs(
    program: Program, totals: Sequence[Totals], watch: Pairs, held: HeldRows | None, bins: Bins | None
) -> list[Output]:
    """Return every metric that has values of rows: over all labels, then within each bin."""
    n_rows = [each.tally.n_rows for each in totals]
    parts = [[each.parts[i] for each in totals] for i, task in enumerate(program.tasks) if task.has_rows]
    outputs = []
    for t, task in enumerate(watch.tasks):
        for o, measure in enumerate(task.measures):
            counted = _counted(n_rows, parts[t], o)
            pairs = {pair: own[t].of(o) for pair, own in watch.sums.items()}
            rows = None if held is None else _rows_of(held.values, t, o)
            sums = [part.sums[o] for part in parts[t]]
            outputs.append(Output(measure, "", sums, counted, max(n_rows), pairs, rows))
    for b, bin_ in enumerate(() if bins is None else bins.bins):
        for t, task in enumerate(watch.tasks if bins is not None else ()):
            for o, measure in enumerate(task.measures if task.has_ceiling else ()):
                if measure.metric.complement:
                    continue
                place = o * len(bins or ()) + b
                pairs = {pair: shares[t].of(place) for pair, shares in watch.shares.items()}
                rows = None if held is None else _rows_of(held.shares, t, place)
                sums = [part.shares[place] for part in parts[t]]
                counted = _counted(n_rows, parts[t], o)
                outputs.append(Output(measure, bin_.name, sums, counted, max(n_rows), pairs, rows))
    return outputs


def _counted(n_rows: Sequence[int], parts: Sequence[Sums], output: int) -> list[int]:
    """Return the rows of each system that have a value."""
    return [rows - int(part.left_out[output]) for rows, part in zip(n_rows, parts, strict=True)]


def _rows_of(values: Callable[[int, int], Float64], task: int, place: int) -> Callable[[int], Float64]:
    return lambda system: values(system, task)[:, place]


def outputs_of_rows(
    measures: Sequence[Measure], values: Float64, weights: Float64, pairs: Sequence[tuple[int, int]],
    left_out: NDArray[np.int64],
) -> list[Output]:  # fmt: skip
    """Return the outputs of saved values [n_rows, n_systems, n_metrics, 2]; `left_out` is by system and metric."""
    n_rows, n_systems = values.shape[:2]
    by_system = [np.ascontiguousarray(values[:, s]) for s in range(n_systems)]
    sums, extremes = [], []
    for each in by_system:
        padded = np.zeros((n_rows, len(measures), SLOTS))
        padded[:, :, :2] = each
        sums.append(Sums.zeros(len(measures)))
        extremes.append(no_extremes(len(measures)))
        if add_values(padded, weights, sums[-1], extremes[-1]) >= 0:
            raise DataError(OUT_OF_RANGE)
    signs, found = _signs(measures), dict[tuple[int, int], PairSums]()
    for system, baseline in pairs:
        found[system, baseline] = PairSums(len(measures))
        found[system, baseline].add(by_system[system], by_system[baseline], weights, signs)
    scale = weights[:, None] if weights.size else 1.0
    return [
        Output(
            measure,
            "",
            [each[o] for each in sums],
            [n_rows - int(n) for n in left_out[:, o]],
            n_rows,
            {pair: own.of(o) for pair, own in found.items()},
            _scaled(by_system, o, scale),
            [each[o] for each in extremes],
        )
        for o, measure in enumerate(measures)
    ]


def _scaled(by_system: Sequence[Float64], place: int, scale: Float64 | float) -> Callable[[int], Float64]:
    return lambda system: by_system[system][:, place] * scale


def all_pairs(n_systems: int, against: int | None = None) -> list[tuple[int, int]]:
    """Return (system, baseline) pairs: all, the earlier one being the baseline, or those against one baseline."""
    if against is not None:
        return [(system, against) for system in range(n_systems) if system != against]
    return [(later, earlier) for earlier, later in itertools.combinations(range(n_systems), 2)]


def _moments(sums: Int64) -> Moments:
    return Moments(*(exact(words) for words in sums[:5]))


def _signs(measures: Sequence[Measure]) -> Float64:
    return np.array([1.0 if measure.metric.higher_is_better else -1.0 for measure in measures])
