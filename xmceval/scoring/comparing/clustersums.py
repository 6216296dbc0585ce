"""Sums over clusters of rows, which intervals and tests take for rows; exact, so that they add up over shards."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.metrics.totals import LARGEST_TOP, MASK, SMALL_WORDS, UNIT, WORD, add_to_groups
from xmceval.rows.block import Float64, Int64
from xmceval.rows.rowgroups import RowGroups
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.comparing.pairsums import ValueColumns
from xmceval.scoring.mergeable import Mergeable
from xmceval.scoring.observing.observers import FRACTION, is_counted
from xmceval.scoring.program import Program
from xmceval.scoring.states.stored import MOST_ROWS, take
from xmceval.scoring.sums import OUT_OF_RANGE

KEY = 2  # words of 64 bits that stand for the name of a cluster
NO_CLUSTERS = RowGroups((), np.empty(0, dtype=np.int64), "a state", "cluster")  # of rows that were added elsewhere


class ClusterSums(Mergeable):
    """Sums of weighted values by cluster: 40 bytes per cluster and column; threads may add at the same time.

    Parameters
    ----------
    clusters : RowGroups
    columns : ValueColumns
    drop_empty : bool
        Whether rows without truth are left out.
    only : int64 array, optional
        The numbers of the clusters that the rows have, ascending; default all.

    Attributes
    ----------
    columns : ValueColumns
    n_rows : int64 array [n_clusters, n_columns]
        Rows with a value.
    sums : int64 array [n_clusters, n_columns + n_shares, FRACTION, SMALL_WORDS]
        Of numerators and denominators.
    """

    def __init__(
        self, clusters: RowGroups, columns: ValueColumns, *, drop_empty: bool = False, only: Int64 | None = None
    ) -> None:
        super().__init__()
        self._clusters, self.columns, self._drop_empty, self._only = clusters, columns, drop_empty, only
        self._keys: Int64 | None = None
        n, n_columns = len(clusters.names) if only is None else only.size, len(columns.measures)
        self.n_rows: Int64 = np.zeros((n, n_columns), dtype=np.int64)
        self.sums: Int64 = np.zeros((n, n_columns + columns.n_shares, FRACTION, SMALL_WORDS), dtype=np.int64)

    @classmethod
    def of(cls, program: Program, terms: Terms, only: Int64 | None = None) -> ClusterSums:
        """Return sums of no rows."""
        clusters = NO_CLUSTERS if terms.clusters is None else terms.clusters
        return cls(clusters, ValueColumns.of(program, terms.bins), drop_empty=terms.drop_empty, only=only)

    def add(self, batch: Batch, values: Float64, shares: Float64) -> None:
        """Add values of the rows of a batch, [n_rows, n_columns, 2], and shares of bins, or none.

        Raises
        ------
        Fault
            The row whose values leave the range of exact sums.
        """
        block, measures = batch.block, self.columns.measures
        if not measures:
            return
        counts = is_counted(measures, batch.truth, values[:, :, 1], drop_empty=self._drop_empty)
        codes = self._clusters.codes_of(block.first_row, block.n_rows, batch.kept)
        codes = codes if self._only is None else np.searchsorted(self._only, codes)
        with self._lock:
            wrong = add_to_groups(codes, values, batch.weights, 0, self.sums)
            if shares.size and wrong < 0:
                wrong = add_to_groups(codes, shares, batch.weights, len(measures), self.sums)
            np.add.at(self.n_rows, codes, counts)
        if wrong >= 0:
            raise batch.fault(int(wrong), OUT_OF_RANGE)

    @property
    def are_seen(self) -> NDArray[np.bool_]:
        """Which clusters have a row with a value, bool [n_clusters]."""
        return np.asarray(self.n_rows.any(axis=1))

    @property
    def n_clusters(self) -> Int64:
        """Clusters with a row that has a value, by column, int64 [n_columns]."""
        return np.asarray(np.count_nonzero(self.n_rows, axis=0), dtype=np.int64)

    def values(self, clusters: NDArray[np.bool_]) -> Float64:
        """Return the sums of some clusters, float64 [n, n_columns + n_shares, FRACTION], in the place of rows."""
        values = _join_words(self.sums)
        return values if clusters.all() else values[clusters]

    def compact(self) -> ClusterSums:
        """Return the sums of the clusters that have rows, under their keys: what is sent from elsewhere."""
        own = copy(self)
        own._clusters, own._only = NO_CLUSTERS, None
        own._keys, own.n_rows, own.sums = self.keys[self.are_seen], self.n_rows[self.are_seen], self.sums[self.are_seen]
        return own

    def within(self, clusters: RowGroups) -> ClusterSums:
        """Return these sums, of rows that were added elsewhere, as those of `clusters`, in their order."""
        whole = ClusterSums(clusters, self.columns, drop_empty=self._drop_empty)
        _, places = _unique(np.concatenate([whole.keys, self.keys]))
        number = np.empty(len(whole.keys), dtype=np.int64)
        number[places[: number.size]] = np.arange(number.size)
        own = number[places[number.size :]]
        whole.n_rows[own], whole.sums[own] = self.n_rows, self.sums
        return whole

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Return the sums of the rows of both; clusters of the same name are one.

        Raises
        ------
        DataError
            A sum beyond 2^61.
        """
        both = copy(self)
        both._clusters = NO_CLUSTERS
        both._keys, places = _unique(np.concatenate([self.keys, other.keys]))
        both.n_rows, both.sums = (
            np.zeros((len(both._keys), *each.shape[1:]), dtype=np.int64) for each in (self.n_rows, self.sums)
        )
        np.add.at(both.n_rows, places, np.concatenate([self.n_rows, other.n_rows]))
        np.add.at(both.sums, places, np.concatenate([self.sums, other.sums]))
        both.sums[..., 1] += both.sums[..., 0] >> WORD
        both.sums[..., 0] &= MASK
        if np.any(np.abs(both.sums[..., 1]) >= LARGEST_TOP):
            raise DataError(OUT_OF_RANGE)
        return both

    @property
    def keys(self) -> Int64:
        """Hashes of 128 bits of the names of clusters, int64 [n_clusters, KEY]."""
        if self._keys is None:
            names: Sequence[str] = self._clusters.names
            names = names if self._only is None else [names[code] for code in self._only.tolist()]
            hashes = (hashlib.blake2b(name.encode(), digest_size=8 * KEY).digest() for name in names)
            self._keys = np.frombuffer(b"".join(hashes), dtype="<i8").astype(np.int64).reshape(-1, KEY)
        return self._keys

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: the int64 arrays `keys`, ascending, `n_rows` and `sums`."""
        seen = np.flatnonzero(self.are_seen)
        order = seen[np.lexsort(self.keys[seen].T[::-1])]
        return {"keys": self.keys[order], "n_rows": self.n_rows[order], "sums": self.sums[order]}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state: the int64 arrays `keys`, ascending, `n_rows` and `sums`."""
        keys = take(arrays, "keys", (-1, KEY))
        n_rows = take(arrays, "n_rows", (len(keys), *self.n_rows.shape[1:]), 0, MOST_ROWS)
        sums = take(arrays, "sums", (len(keys), *self.sums.shape[1:]))
        first, second = keys[:-1], keys[1:]
        if not ((first[:, 0] < second[:, 0]) | ((first[:, 0] == second[:, 0]) & (first[:, 1] < second[:, 1]))).all():
            raise ValueError("keys: do not ascend")
        if not n_rows.any(axis=1).all():
            raise ValueError("n_rows: has clusters without rows")
        if sums.size and not (
            0 <= int(sums[..., 0].min()) <= int(sums[..., 0].max()) <= MASK
            and -LARGEST_TOP < int(sums[..., 1].min()) <= int(sums[..., 1].max()) < LARGEST_TOP
        ):
            raise ValueError("sums: has sums out of range")
        self._keys, self.n_rows, self.sums = keys, n_rows, sums


def sum_by_cluster(
    codes: Int64, values: Float64, weights: Float64, left_out: NDArray[np.bool_]
) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the sums of the clusters that rows have, in the place of rows, and where all their rows are left out.

    Parameters
    ----------
    codes : int64 array [n_rows]
        The number of each row's cluster.
    values : float64 array [n_rows, n_columns, 2]
        Numerators and denominators, 0 where a row is left out.
    weights : float64 array [n_rows]
        Or empty, where all rows count 1.
    left_out : bool array [n_rows, n_columns]

    Returns
    -------
    values : float64 array [n_clusters, n_columns, 2]
    left_out : bool array [n_clusters, n_columns]

    Raises
    ------
    DataError
        Values that leave the range of exact sums.
    """
    seen, codes = np.unique(codes, return_inverse=True)
    sums = np.zeros((seen.size, *values.shape[1:], SMALL_WORDS), dtype=np.int64)
    if add_to_groups(codes, np.ascontiguousarray(values), weights, 0, sums) >= 0:
        raise DataError(OUT_OF_RANGE)
    are_left_out = np.ones((seen.size, values.shape[1]), dtype=np.bool_)
    np.logical_and.at(are_left_out, codes, left_out)
    return _join_words(sums), are_left_out


def _join_words(sums: Int64) -> Float64:
    """Return exact sums, int64 [..., SMALL_WORDS], as numbers."""
    values: Float64 = sums[..., 0] / UNIT
    values += sums[..., 1]
    return values


def _unique(keys: Int64) -> tuple[Int64, Int64]:
    """Return the distinct keys, ascending, and the place of each key among them."""
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    is_new = np.ones(len(keys), dtype=np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.cumsum(is_new) - 1
    return ordered[is_new], places
