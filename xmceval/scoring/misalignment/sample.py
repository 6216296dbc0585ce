"""Sample: some thousand rows of truth and predictions, the same ones for any blocks, threads and shards.

It holds the runs of rows whose numbers have the least hashes. That needs no number of rows beforehand, and two samples
merge into the sample of both.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.compile.decorators import Arrays
from xmceval.kernels.rows.samples import copy_sampled
from xmceval.labels.growing import GrowingTable
from xmceval.rows.block import Float64, Int64, Scratch
from xmceval.scoring.batch import ALL_KEPT, Batch
from xmceval.scoring.mergeable import Mergeable, PartField, merged
from xmceval.scoring.states.stored import MOST_LABELS, MOST_ROWS, take

Hashes = NDArray[np.uint64]

CAPACITY = 2048  # rows
RUN_BITS = 7  # rows come in runs of 128 consecutive ones: most blocks have none, and cost next to nothing
TABLE = 1024  # runs
LONGEST = 512  # true labels of a row; longer rows are left out, which bounds the size of a sample

DEPTH = 5  # labels of a ranking
NO_LABEL = -9  # neither a label nor next to one

EVERY_HASH = np.uint64(2**64 - 1)


class SampledRows(NamedTuple):
    """Rows with a true label and a prediction.

    Attributes
    ----------
    hashes : uint64 array [n_rows]
        Of the runs of the rows.
    numbers : int64 array [n_rows]
        The numbers of the rows.
    ranked : int64 array [n_rows, DEPTH]
        The labels with the highest scores, best first; NO_LABEL where there are fewer.
    scores : float64 array [n_rows, 2]
        The scores of the first and the last label that is ranked.
    lengths : int64 array [n_rows]
        The number of true labels.
    labels : int64 array
        The true labels, row by row.
    """

    hashes: Hashes
    numbers: Int64
    ranked: Int64
    scores: Float64
    lengths: Int64
    labels: Int64

    def select(self, rows: NDArray[np.intp]) -> SampledRows:
        """Return some of the rows, in a new order: those at `rows`, intp [n_selected]."""
        starts, lengths = np.cumsum(self.lengths) - self.lengths, self.lengths[rows]
        return SampledRows(
            self.hashes[rows],
            self.numbers[rows],
            self.ranked[rows],
            self.scores[rows],
            lengths,
            self.labels[entries_of(starts[rows], lengths)],
        )


SCORES = SampledRows._fields.index("scores")


class RowSample(Mergeable):
    """At most CAPACITY rows of a system; threads may add at the same time.

    Attributes
    ----------
    least : GrowingTable
        The columns of `SampledRows`, in the order of the hashes of their runs.
    """

    fields = (PartField("least", merged),)

    def __init__(self) -> None:
        super().__init__()
        self.least = GrowingTable(_keep_least, _NO_ROWS, CAPACITY)

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch that belong to the sample."""
        n_rows = batch.n_rows
        if n_rows == 0:
            return
        first, kept = batch.block.first_row, ALL_KEPT if batch.kept is None else batch.kept
        last = first + (int(kept[-1]) if kept.size else n_rows - 1)
        hashes = _hashes_of(first >> RUN_BITS, last >> RUN_BITS)
        least = self.least.formed[0]
        bound = least[-1] if least.size == CAPACITY else EVERY_HASH  # runs with a greater hash are not among the least
        if min(hashes.tolist()) > bound:
            return
        if n_rows > CAPACITY:
            bound = min(bound, _bound_least(batch, hashes, kept))
        room = 1 << int(batch.truth.indptr[-1]).bit_length()  # the same for many batches
        space = batch.scratch.held("sample", (min(n_rows, CAPACITY + (1 << RUN_BITS)), room), _make_columns)
        truth, limits = (batch.truth.indptr, batch.truth.indices), (bound, LONGEST, NO_LABEL)
        n, n_true = copy_sampled(truth, batch.ranking.arrays, (RUN_BITS, hashes), first, kept, limits, space)
        if n:
            *columns, labels = space
            with self._lock:
                self.least.add(*[each[:n].copy() for each in columns], labels[:n_true].copy())

    def scores(self) -> Float64:
        """Return the scores of rows in any order, float64 [n, 2], without sorting them; of few rows they are all."""
        with self._lock:
            return self.least.column(SCORES)

    def rows(self) -> SampledRows:
        """Return the rows of the sample, in the order of the hashes of their runs."""
        with self._lock:
            return SampledRows(*self.least.columns())

    def arrays(self) -> dict[str, Int64]:
        """Return the rows as int64 arrays in the shapes of `SampledRows`, as a state holds them.

        Hashes are left out: they follow from the numbers.
        """
        columns = self.rows()._asdict()
        return {name: column.view(np.int64) for name, column in columns.items() if name != "hashes"}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the rows of a state: int64 arrays in the shapes of `SampledRows`, without hashes."""
        numbers = take(arrays, "numbers", (-1,), 0, MOST_ROWS)
        n_rows = numbers.size
        ranked = take(arrays, "ranked", (n_rows, DEPTH), NO_LABEL, MOST_LABELS)
        scores = take(arrays, "scores", (n_rows, 2)).view(np.float64)
        lengths = take(arrays, "lengths", (n_rows,), 1, LONGEST)
        labels = take(arrays, "labels", (int(lengths.sum()),), 0, MOST_LABELS)
        if n_rows > CAPACITY or np.isnan(scores).any():
            raise ValueError(f"expected up to {CAPACITY:,} sampled rows, with scores")
        self.least.formed = _keep_least(hash_runs(numbers >> RUN_BITS), numbers, ranked, scores, lengths, labels)


def _keep_least(*columns: NDArray[Any]) -> SampledRows:
    """Keep the first CAPACITY rows in the order of the sample."""
    rows = SampledRows(*columns)
    return rows.select(_order(rows)[:CAPACITY])


def hash_runs(numbers: Int64) -> Hashes:
    """Return a hash of each number of a run, uint64 [n], given int64 [n]."""
    hashes: Hashes = (numbers + 1).astype(np.uint64)
    for multiplier in _MULTIPLIERS:
        hashes *= multiplier
        hashes ^= hashes >> _HALF
    return hashes


def _hashes_of(first: int, last: int) -> Hashes:
    """Return the hashes of the runs from `first` to `last`."""
    table, start = divmod(first, TABLE)
    if last >= (table + 1) * TABLE:
        return hash_runs(np.arange(first, last + 1))
    return _hash_table(table)[start : start + last - first + 1]


@lru_cache(maxsize=2)
def _hash_table(number: int) -> Hashes:
    """Return the hashes of TABLE runs at once: of a few it takes as long."""
    return hash_runs(np.arange(number * TABLE, (number + 1) * TABLE))


def _order(rows: SampledRows) -> NDArray[np.intp]:
    """Return the order by hashes and numbers, and for rows of the same number by their content.

    Those come from parts that each count their rows from 0.
    """
    order = np.lexsort((rows.numbers, rows.hashes))
    if (np.diff(rows.numbers[order]) != 0).all():
        return order
    sums = np.add.reduceat(rows.labels, np.cumsum(rows.lengths) - rows.lengths)
    return np.lexsort((sums, rows.lengths, *rows.scores.T, *rows.ranked.T, rows.numbers, rows.hashes))


def _bound_least(batch: Batch, hashes: Hashes, kept: Int64) -> np.uint64:
    """Return a hash up to which a batch has CAPACITY rows of a sample, and no more than a run beyond that."""
    first, lengths = batch.block.first_row, np.diff(batch.truth.indptr)
    numbers = first + (kept if kept.size else np.arange(batch.n_rows))
    own = hashes[(numbers >> RUN_BITS) - (first >> RUN_BITS)]
    own = own[(batch.ranking.n_ranked > 0) & (lengths > 0) & (lengths <= LONGEST)]
    bound: np.uint64 = EVERY_HASH if own.size <= CAPACITY else np.partition(own, CAPACITY - 1)[CAPACITY - 1]
    return bound


def _make_columns(scratch: Scratch, n_rows: int, n_labels: int) -> Arrays:
    """Return room for the columns of so many rows, with so many true labels."""
    columns = (
        scratch.array("sampled hashes", n_rows, np.uint64),
        scratch.array("sampled numbers", n_rows, np.int64),
        scratch.array("sampled ranking", n_rows * DEPTH, np.int64).reshape(n_rows, DEPTH),
        scratch.array("sampled scores", n_rows * 2, np.float64).reshape(n_rows, 2),
        scratch.array("sampled lengths", n_rows, np.int64),
        scratch.array("sampled labels", n_labels, np.int64),
    )
    return Arrays(columns)


def entries_of(starts: Int64, lengths: Int64) -> Int64:
    """Return the places of the entries, int64 [n_entries], of rows that begin at `starts`, of `lengths` [n_rows]."""
    ends = np.cumsum(lengths)
    places: Int64 = np.repeat(starts + lengths - ends, lengths)
    places += np.arange(places.size)
    return places


_MULTIPLIERS = tuple(np.array([0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xD6E8FEB86659FD93], dtype=np.uint64))
_HALF = np.uint64(32)
_NO_LABELS = np.empty(0, dtype=np.int64)
_NO_ROWS = SampledRows(
    *(np.empty(0, dtype=np.uint64), _NO_LABELS, np.empty((0, DEPTH), dtype=np.int64), np.empty((0, 2))),
    *(_NO_LABELS, _NO_LABELS),
)
