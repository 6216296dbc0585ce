"""Sketch: the least hashes of some rows, which show that another state has many of the same, or that they are copies.

A row's hash is of its truth, with grades, and of its best labels in their order with their scores, rounded: one more
than the deepest cutoff, at most 6, and 6 where a metric looks at whole rows. Rows with neither are left out. What is
hashed depends on the metrics, which are the same in all states that can be merged, and not on the form of the
predictions. The first bits are those of the two best labels and their scores alone: of most rows no others are hashed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.rows.rowhashes import LATER_BITS, TELLS_APART, sketch_rows
from xmceval.labels.growing import GrowingTable, sum_by_id
from xmceval.rows.block import Float64, Int64, Rows, Scratch
from xmceval.scoring.batch import Batch, Ranking, rank
from xmceval.scoring.mergeable import Mergeable, PartField, merged
from xmceval.scoring.states.stored import MOST_ROWS, take
from xmceval.statistics.powers import power

Hashes = NDArray[np.uint64]

EVERY_HASH = np.uint64(2**64 - 1)

CAPACITY = 4096  # distinct hashes
SPARE = 1.1  # so many times the hashes that are kept are expected among those that are looked at first
MOST_AT_HAND = CAPACITY + CAPACITY // 4  # hashes
LEAST_TWINS = 8  # rows
LEAST_SHARE, TIMES = 0.01, 3  # of rows that have a twin, above so many times those within a state
EVERY_FIRST = (1 << (64 - LATER_BITS)) - 1  # first bits of a hash

LEAST_DISTINCT = 100  # rows
MOST_COUNTED = 3  # times that a row counts to judge whether there are copies: so a few rows decide nothing
LEAST_EXCESS = 0.17  # of the variance of a mean by copies: 5% of tests that err become 7%
CLEARLY = 0.3  # rows per hash, above those by chance


class Sketch(Mergeable):
    """The CAPACITY least hashes of rows, with how many rows have each; threads may add at the same time.

    It does not depend on the order of rows, blocks or merges: what is among the least hashes of all rows is among
    those of any part of them that has it.

    Parameters
    ----------
    least_ranked : int
        So many best labels are hashed, where the rankings that are at hand are not as deep.

    Attributes
    ----------
    n_rows : int
        With a hash.
    least : GrowingTable
        Hashes, ascending, and the rows that have each.
    """

    fields = (PartField("n_rows", add), PartField("least", merged))

    def __init__(self, least_ranked: int = 0) -> None:
        super().__init__()
        self._least_ranked = least_ranked
        self.n_rows = 0
        self.least = GrowingTable(_keep_least, (_NO_HASHES, _NO_COUNTS), CAPACITY)

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch: those of which it takes so few to have the least hashes, and others if need be."""
        n_rows, above, most = batch.n_rows, -1, self._most
        upto = min(most, int(EVERY_FIRST * SPARE * CAPACITY) // max(n_rows, 1))
        while above < most:
            self._add_some(batch, above, upto)
            if upto < most or self.least.n_rows > MOST_AT_HAND:  # the sooner, the fewer rows are hashed
                with self._lock:
                    self.least.columns()
                most = self._most
            above, upto = upto, min(most, 4 * upto)

    @property
    def _most(self) -> int:
        """The greatest first bits that a hash among the least may have."""
        least = self.least.formed[0]
        return int(least[-1]) >> LATER_BITS if least.size == CAPACITY else EVERY_FIRST

    def _add_some(self, batch: Batch, above: int, upto: int) -> None:
        """Add the rows with first bits above `above`, up to `upto`; all rows are counted when these are the first."""
        room = batch.scratch.held("sketch", (batch.n_rows,), _make_room)
        truth, ranking = tuple(batch.truth), batch.ranking
        n, n_rows = sketch_rows(truth, ranking.arrays, above, upto, 0, *room)
        if n and ranking.labels.shape[1] < self._least_ranked:
            deeper = self._rank_deeper(batch.scores, room[0][:n])
            sketch_rows(truth, deeper.arrays, above, upto, n, *room)
        self.count(np.sort(room[2][:n]), n_rows if above < 0 else 0)

    def count(self, hashes: Hashes, n_rows: int) -> None:
        """Count rows by those of their hashes that may be among the least; ascending ones are sorted soonest."""
        with self._lock:
            self.n_rows += n_rows
            if hashes.size:
                self.least.add(hashes, np.ones(hashes.size, dtype=np.int64))

    def _rank_deeper(self, scores: Rows, rows: Int64) -> Ranking:
        """Return the best labels of some rows."""
        indptr, labels, values = scores
        lengths = indptr[rows + 1] - indptr[rows]
        entries, ends = entries_of(indptr[rows], lengths), np.concatenate([[0], np.cumsum(lengths)])
        return rank(Rows(ends, labels[entries], values[entries]), self._least_ranked, Scratch())

    def table(self) -> tuple[Hashes, Int64]:
        """Return the hashes, ascending, uint64 [n], and their counts, int64 [n]."""
        with self._lock:
            hashes, counts = self.least.columns()
        return hashes, counts

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: the int64 arrays `hashes` and `counts` [n], and `rows` [1]."""
        hashes, counts = self.table()
        return {"hashes": hashes.view(np.int64), "counts": counts, "rows": np.array([self.n_rows], dtype=np.int64)}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state: the int64 arrays `hashes` and `counts` [n], and `rows` [1]."""
        hashes = take(arrays, "hashes", (-1,)).view(np.uint64)
        counts = take(arrays, "counts", hashes.shape, 1, MOST_ROWS)
        [self.n_rows] = take(arrays, "rows", (1,), 0, MOST_ROWS).tolist()
        n_counted = sum(counts.tolist())
        if hashes.size > CAPACITY or (hashes[1:] <= hashes[:-1]).any():
            raise ValueError(f"hashes: expected up to {CAPACITY:,}, ascending")
        if n_counted > self.n_rows or (hashes.size < CAPACITY and n_counted < self.n_rows):
            raise ValueError(f"rows: {self.n_rows:,} rows, of which {n_counted:,} are counted")
        self.least.formed = hashes, counts


def _make_room(scratch: Scratch, n_rows: int) -> tuple[Int64, Int64, Hashes]:
    """Return arrays for the numbers of rows, the first bits of their hashes, and the hashes, [n_rows] each."""
    rows, firsts = (scratch.array(f"sketched {name}", n_rows, np.int64) for name in ("rows", "firsts"))
    return rows, firsts, scratch.array("hashes", n_rows, np.uint64)


def _keep_least(hashes: Hashes, counts: Int64) -> tuple[Hashes, Int64]:
    """Keep the least hashes, with the rows that have each."""
    hashes, counts = sum_by_id(hashes, counts)
    return hashes[:CAPACITY], counts[:CAPACITY]


class SharedRows(NamedTuple):
    """Two states that seem to have rows in common.

    Attributes
    ----------
    smaller, larger : int
        Their places; the smaller has fewer rows.
    share : float
        Of the rows of the smaller one, those that have a twin in the larger: the same truth and ranking.
    """

    smaller: int
    larger: int
    share: float

    def describe(self, smaller: str, larger: str) -> str:
        """Return a warning with the names of the states."""
        return (
            f"{smaller} and {larger} seem to have instances in common: about {self.share:.0%} of those of {smaller} "
            f"have the same truth and the same best labels as one of {larger}"
        )


def find_overlaps(sketches: Sequence[Sketch]) -> list[SharedRows]:
    """Return the pairs of states of which more rows have a twin in the other than chance explains.

    With s the share of the rows of the smaller state that have a twin in the other, and w the larger share of rows that
    have one within their own state, these are the pairs with s > 3 w + 0.01, where at least 8 rows of the sketch have
    one. So overlaps below 1% are not found, nor is a state that has fewer than 1 row for each 500 of the other.
    """
    found: dict[tuple[int, int], SharedRows] = {}
    sizes = np.array([sketch.n_rows for sketch in sketches])
    for i, shares in enumerate(_shares_of_twins(sketches)):
        for j in np.flatnonzero((shares > 0) & (sizes >= sizes[i])).tolist():
            pair, overlap = (min(i, j), max(i, j)), SharedRows(i, j, float(shares[j]))
            if i != j and (pair not in found or found[pair].share < overlap.share):
                found[pair] = overlap
    return [found[pair] for pair in sorted(found)]


def _shares_of_twins(sketches: Sequence[Sketch]) -> Iterator[Float64]:
    """Yield for each state the shares of its rows that have a twin in each other one; 0 where chance explains them."""
    tables = [sketch.table() for sketch in sketches]
    owners = np.repeat(np.arange(len(tables)), [hashes.size for hashes, _ in tables])
    hashes = np.concatenate([_NO_HASHES, *(hashes for hashes, _ in tables)])
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    within = np.array([counts[counts > 1].sum() / max(counts.sum(), 1) for _, counts in tables])
    ends = np.array([own[-1] if own.size == CAPACITY else EVERY_HASH for own, _ in tables])  # up to which all are known
    for i, (own, counts) in enumerate(tables):
        first, last = (np.searchsorted(hashes, own, side) for side in ("left", "right"))
        twins = np.bincount(
            owners[entries_of(first, last - first)],
            weights=np.repeat(counts, last - first),
            minlength=len(tables),
        )
        n_known = np.searchsorted(own, np.minimum(ends, ends[i]), side="right")
        shares = twins / np.maximum(np.concatenate([[0], np.cumsum(counts)])[n_known], 1)
        is_chance = (twins < LEAST_TWINS) | (shares <= TIMES * np.maximum(within, within[i]) + LEAST_SHARE)
        shares[is_chance] = 0
        yield shares


class Copies(NamedTuple):
    """Rows that seem to be copies of each other: the same truth, and the same best labels and scores.

    Attributes
    ----------
    share : float
        Of the rows that tell enough, those that are further copies.
    factor : float
        By which they make the variance of a mean larger.
    """

    share: float
    factor: float


def find_copies(sketch: Sketch) -> Copies | None:
    """Return what copies there are among the rows of a sketch, None where there are hardly any.

    Let c be the numbers of rows with each hash. If rows with one hash are copies, the variance of a mean is larger by
    the factor sum c^2 / sum c (Kish, Survey Sampling, 1965, 8.2). There are copies where c, counted up to 3, give a
    factor above 1.17. Rows that do not tell enough count as one each for that.

    Rows of other instances may have one hash too, where rankings tell little. Then many more have the same two best
    labels and scores, by which rows are sampled, or some hashes are far more frequent than others; and c vary at least
    as Poisson's numbers do. So where these are more than 3 times as large, the mean of c must be above that of
    Poisson's numbers that are not 0.
    """
    if sketch.least.n_rows < LEAST_DISTINCT:
        return None
    hashes, counts = sketch.table()
    can_tell = (hashes & np.uint64(TELLS_APART)).astype(np.bool_)
    own, n_others = counts[can_tell], int(counts[~can_tell].sum())
    few, n_rows = np.minimum(own, MOST_COUNTED), int(own.sum())
    if own.size < LEAST_DISTINCT or _excess(few) < LEAST_EXCESS * (int(few.sum()) + n_others):
        return None
    excess, of_first = _excess(own), _excess(sum_by_id(hashes[can_tell] >> np.uint64(LATER_BITS), own)[1])
    by_chance, mean = excess / n_rows, n_rows / own.size  # the first is the mean of Poisson's numbers of this excess
    is_uneven = of_first > TIMES * excess or by_chance > TIMES * mean
    if is_uneven and mean < by_chance / (1 - float(power(math.e, -by_chance))) + CLEARLY:
        return None
    return Copies(1 - own.size / n_rows, 1 + excess / n_rows)


def _excess(counts: Int64) -> float:
    """Return the sum of c (c - 1)."""
    numbers = counts.astype(np.float64)
    return float((numbers * (numbers - 1)).sum())


def entries_of(starts: Int64, lengths: Int64) -> Int64:
    """Return the places of the entries, int64 [n_entries], of rows that begin at `starts`, of `lengths` [n_rows]."""
    ends = np.cumsum(lengths)
    places: Int64 = np.repeat(starts + lengths - ends, lengths)
    places += np.arange(places.size)
    return places


_NO_HASHES, _NO_COUNTS = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
