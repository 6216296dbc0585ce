"""Sketch: the least hashes of the rows of a state, which show that another state has many of the same rows.

A row's hash is of its truth, with grades, and of its best labels in their order: one more than the deepest cutoff, and
at least 6 where a metric looks at whole rows. Rows with neither are left out. What is hashed depends on the metrics,
which are the same in all states that can be merged, and not on the form of the predictions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add
from typing import NamedTuple

import numpy as np

from xmceval.labels.growing import GrowingTable, sum_by_id
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.mergeable import Mergeable, PartField, merged
from xmceval.scoring.misalignment.sample import EVERY_HASH, Hashes, entries_of
from xmceval.scoring.states.stored import MOST_ROWS, take

CAPACITY = 4096  # distinct hashes
LEAST_TWINS = 8  # rows
LEAST_SHARE, TIMES = 0.01, 3  # of rows that have a twin, above so many times those within a state


class Sketch(Mergeable):
    """The CAPACITY least hashes of rows, with how many rows have each; threads may add at the same time.

    It does not depend on the order of rows, blocks or merges: what is among the least hashes of all rows is among
    those of any part of them that has it.

    Attributes
    ----------
    n_rows : int
        With a hash.
    least : GrowingTable
        Hashes, ascending, and the rows that have each.
    """

    fields = (PartField("n_rows", add), PartField("least", merged))

    def __init__(self) -> None:
        super().__init__()
        self.n_rows = 0
        self.least = GrowingTable(_keep_least, (_NO_HASHES, _NO_COUNTS), 2 * CAPACITY)

    def add(self, hashes: Hashes) -> None:
        """Add rows by their hashes."""
        least = self.least.formed[0]
        kept = hashes[hashes <= least[-1]] if least.size == CAPACITY else hashes  # greater ones are not among the least
        with self._lock:
            self.n_rows += hashes.size
            if kept.size:
                self.least.add(kept, np.ones(kept.size, dtype=np.int64))

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


_NO_HASHES, _NO_COUNTS = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
