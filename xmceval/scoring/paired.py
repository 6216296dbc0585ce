"""Paired sums: what the difference of two systems needs beside the totals of each, in constant memory."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.topk import SLOTS
from xmceval.kernels.totals import LOSSES, PRODUCTS, WINS, WORDS, add_pairs, add_values
from xmceval.labels.bins import Bins
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.estimates import exact
from xmceval.scoring.heldrows import HeldRows
from xmceval.scoring.observers import BlockValues, Observer
from xmceval.scoring.program import Program
from xmceval.scoring.sums import OUT_OF_RANGE, Sums, add_words
from xmceval.scoring.task import RowTask
from xmceval.scoring.totals import Totals
from xmceval.statistics.paired import Moments, PairedT, Products, paired_t


class PairSums:
    """Exact sums of products of two systems' values, and how often each is better.

    Attributes
    ----------
    products : int64 array [n_outputs, PRODUCTS, WORDS]
    counts : int64 array [n_outputs, 2]
        Rows in which the first system is better, and in which the second is.
    """

    def __init__(self, n_outputs: int) -> None:
        self.products: Int64 = np.zeros((n_outputs, PRODUCTS, WORDS), dtype=np.int64)
        self.counts: Int64 = np.zeros((n_outputs, 2), dtype=np.int64)
        self._lock = threading.Lock()

    def add(self, a: Float64, b: Float64, weights: Float64, signs: Float64) -> None:
        """Add the rows of a block."""
        own = PairSums(len(self.products))
        add_pairs(a, b, weights, signs, own.products, own.counts)
        self.merge(own.products, own.counts)

    def merge(self, products: Int64, counts: Int64) -> None:
        """Add the sums and counts of other rows."""
        with self._lock:
            self.products = add_words(self.products, products)
            self.counts += counts


class Pairs(Observer):
    """An observer of pairs of systems: one PairSums per pair and task, and one for the shares of bins.

    Parameters
    ----------
    program : Program
    n_bins : int
    pairs : sequence of (system, baseline)
        By number.
    """

    def __init__(self, program: Program, n_bins: int, pairs: Sequence[tuple[int, int]]) -> None:
        self.pairs, self._n_bins = tuple(pairs), n_bins
        self.tasks = tuple(row_tasks(program))
        self._signs = [_signs(task.measures) for task in self.tasks]
        self._share_signs = [np.repeat(signs, n_bins) for signs in self._signs]
        self.sums = {pair: [PairSums(len(task.measures)) for task in self.tasks] for pair in self.pairs}
        self.shares = {
            pair: [PairSums(len(task.measures) * n_bins if task.has_ceiling else 0) for task in self.tasks]
            for pair in self.pairs
        }

    @classmethod
    def of(cls, program: Program, parameters: Any) -> Pairs:
        """Make one of no rows."""
        return cls(program, *parameters)

    @property
    def parameters(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """What `of` needs beside the program."""
        return self._n_bins, self.pairs

    @property
    def state(self) -> list[tuple[Int64, Int64]]:
        """The sums of all pairs."""
        return [(each.products, each.counts) for each in self._all_sums()]

    def merge(self, state: Sequence[tuple[Int64, Int64]]) -> None:
        """Add the sums of other rows."""
        for own, (products, counts) in zip(self._all_sums(), state, strict=True):
            own.merge(products, counts)

    def _all_sums(self) -> Iterator[PairSums]:
        for sums in (self.sums, self.shares):
            for pair in self.pairs:
                yield from sums[pair]

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block."""
        for system, baseline in self.pairs:
            for t, signs in enumerate(self._signs):
                pair = block.values[system][t], block.values[baseline][t]
                self.sums[system, baseline][t].add(*pair, block.weights, signs)
                if block.shares[system][t].size:
                    pair = block.shares[system][t], block.shares[baseline][t]
                    self.shares[system, baseline][t].add(*pair, block.weights, self._share_signs[t])


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
    pairs : mapping of (system, baseline) to (products, counts)
        The words of the sums of products; rows in which the first is better, and in which the second is.
    rows : callable or None
        ``rows(system)`` are the weighted values [n_rows, 2], where they are held.
    """

    measure: Measure
    bin: str
    sums: Sequence[Int64]
    n_rows: Sequence[int]
    pairs: Mapping[tuple[int, int], tuple[Int64, Int64]]
    rows: Callable[[int], Float64] | None = None

    @property
    def n_systems(self) -> int:
        """How many systems have values."""
        return len(self.sums)

    def n(self, system: int, baseline: int) -> int:
        """Return the rows that have a value in at least one of two systems."""
        return max(self.n_rows[system], self.n_rows[baseline])

    def difference(self, system: int, baseline: int) -> PairedT | None:
        """Compare two systems by t; None where a denominator is 0."""
        products = Products(*(exact(words) for words in self.pairs[system, baseline][0]))
        own, other = _moments(self.sums[system]), _moments(self.sums[baseline])
        return paired_t(own, other, products, self.n(system, baseline))

    def record(self, system: int, baseline: int) -> tuple[int, int, int]:
        """Return wins, ties and losses of a system."""
        counts = self.pairs[system, baseline][1]
        wins, losses = int(counts[WINS]), int(counts[LOSSES])
        return wins, self.n(system, baseline) - wins - losses, losses


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
            pairs = {pair: (sums[t].products[o], sums[t].counts[o]) for pair, sums in watch.sums.items()}
            rows = None if held is None else _rows_of(held.values, t, o)
            outputs.append(Output(measure, "", [part.sums[o] for part in parts[t]], counted, pairs, rows))
    for b, bin_ in enumerate(() if bins is None else bins.bins):
        for t, task in enumerate(watch.tasks if bins is not None else ()):
            for o, measure in enumerate(task.measures if task.has_ceiling else ()):
                if measure.metric.complement:
                    continue
                place = o * len(bins or ()) + b
                pairs = {pair: (sums[t].products[place], sums[t].counts[place]) for pair, sums in watch.shares.items()}
                rows = None if held is None else _rows_of(held.shares, t, place)
                sums = [part.shares[place] for part in parts[t]]
                outputs.append(Output(measure, bin_.name, sums, _counted(n_rows, parts[t], o), pairs, rows))
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
    sums = []
    for each in by_system:
        padded = np.zeros((n_rows, len(measures), SLOTS))
        padded[:, :, :2] = each
        sums.append(Sums.zeros(len(measures)))
        if add_values(padded, weights, sums[-1]) >= 0:
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
            {pair: (own.products[o], own.counts[o]) for pair, own in found.items()},
            _scaled(by_system, o, scale),
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


def row_tasks(program: Program) -> list[RowTask]:
    """Return the tasks that have values of rows."""
    return [task for task in program.tasks if task.has_rows]  # type: ignore[misc]


def _moments(sums: Int64) -> Moments:
    return Moments(*(exact(words) for words in sums[:5]))


def _signs(measures: Sequence[Measure]) -> Float64:
    return np.array([1.0 if measure.metric.higher_is_better else -1.0 for measure in measures])
