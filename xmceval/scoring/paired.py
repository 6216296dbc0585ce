"""Paired sums: what the difference of two systems needs beside the totals of each, in constant memory."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import numpy as np

from xmceval.kernels.paired import LOSSES, PRODUCTS, WINS, add_pairs
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.estimates import exact
from xmceval.scoring.observers import BlockValues
from xmceval.scoring.program import Program
from xmceval.scoring.sums import WORDS, Sums, add_words
from xmceval.scoring.task import RowTask
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
        with self._lock:
            self.products = add_words(self.products, own.products)
            self.counts += own.counts


class Pairs:
    """An observer of pairs of systems: one PairSums per pair and task, and one for the shares of bins.

    Parameters
    ----------
    program : Program
    n_bins : int
    pairs : sequence of (system, baseline)
        By number.
    """

    def __init__(self, program: Program, n_bins: int, pairs: Sequence[tuple[int, int]]) -> None:
        self.pairs = tuple(pairs)
        self.tasks = tuple(row_tasks(program))
        self._signs = [_signs(task.measures) for task in self.tasks]
        self._share_signs = [np.repeat(signs, n_bins) for signs in self._signs]
        self.sums = {pair: [PairSums(len(task.measures)) for task in self.tasks] for pair in self.pairs}
        self.shares = {
            pair: [PairSums(len(task.measures) * n_bins if task.has_ceiling else 0) for task in self.tasks]
            for pair in self.pairs
        }

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block."""
        for system, baseline in self.pairs:
            for t, signs in enumerate(self._signs):
                pair = block.values[system][t], block.values[baseline][t]
                self.sums[system, baseline][t].add(*pair, block.weights, signs)
                if block.shares[system][t].size:
                    pair = block.shares[system][t], block.shares[baseline][t]
                    self.shares[system, baseline][t].add(*pair, block.weights, self._share_signs[t])


def all_pairs(n_systems: int, against: int | None = None) -> list[tuple[int, int]]:
    """Return (system, baseline) pairs: all, the earlier one being the baseline, or those against one baseline."""
    if against is not None:
        return [(system, against) for system in range(n_systems) if system != against]
    return [(later, earlier) for earlier, later in itertools.combinations(range(n_systems), 2)]


def row_tasks(program: Program) -> list[RowTask]:
    """Return the tasks that have values of rows."""
    return [task for task in program.tasks if task.has_rows]  # type: ignore[misc]


def difference(a: Int64, b: Int64, products: Int64, n: int) -> PairedT | None:
    """Compare two systems on one output, from the words of their sums and of their products."""
    return paired_t(_moments(a), _moments(b), Products(*(exact(words) for words in products)), n)


def n_tied(pair: PairSums, output: int, n: int) -> tuple[int, int, int]:
    """Return wins, ties and losses of the first system in `n` rows."""
    wins, losses = int(pair.counts[output, WINS]), int(pair.counts[output, LOSSES])
    return wins, n - wins - losses, losses


def n_counted(a: Sums, b: Sums, output: int, n_rows: int) -> int:
    """Return the rows that have a value in at least one of two systems."""
    return n_rows - int(min(a.left_out[output], b.left_out[output]))


def _moments(sums: Int64) -> Moments:
    return Moments(*(exact(words) for words in sums[:5]))


def _signs(measures: Sequence[Measure]) -> Float64:
    return np.array([1.0 if measure.metric.higher_is_better else -1.0 for measure in measures])
