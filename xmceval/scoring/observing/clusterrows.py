"""Clusters of rows: the values of the rows of each cluster, added up, which tests then take for those of a row."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.rows.rowgroups import RowGroups
from xmceval.scoring.observing.observers import NO_FRACTIONS, NO_TRUTH, BlockValues, Observer, is_counted

NO_WEIGHTS = np.empty(0)


class ClusterValues(NamedTuple):
    """Sums over the rows of each cluster that has any, in the order of the clusters.

    Attributes
    ----------
    block : BlockValues
        The sums of weighted values and shares, [n_clusters, n, 2] by system, in place of those of rows.
    n_clusters : int array [n_systems, n_columns]
        Clusters with a row that has a value.
    n_rows : int array [n_systems, n_columns]
        Rows with a value.
    """

    block: BlockValues
    n_clusters: NDArray[np.int64]
    n_rows: NDArray[np.int64]


class _WeightedRows(NamedTuple):
    """Some rows: their clusters [n_rows], and by system weighted values, shares and whether there is a value."""

    codes: Int64
    values: Sequence[Float64]
    shares: Sequence[Float64]
    counted: Sequence[NDArray[np.bool_]]


class ClusterRows(Observer):
    """An observer that adds up the values of each cluster: 16 bytes per cluster, system and column.

    Rows are added in their order, and blocks that come early wait: the bits are the same for any blocks and threads.

    Parameters
    ----------
    clusters : RowGroups
    measures : sequence of Measure
        One per column of the values.
    drop_empty : bool
        Whether rows without truth are left out.
    """

    def __init__(self, clusters: RowGroups, measures: Sequence[Measure], *, drop_empty: bool = False) -> None:
        self._clusters, self._measures, self._drop_empty = clusters, measures, drop_empty
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[int, _WeightedRows]] = {}
        self._next = 0
        self._values: list[Float64] = []
        self._shares: list[Float64] = []
        self._has_values: list[NDArray[np.bool_]] = []
        self._n_rows: list[NDArray[np.int64]] = []

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block to their clusters, weighted."""
        counted = [
            is_counted(self._measures, block.truth, values[:, :, 1], drop_empty=self._drop_empty)
            for values in block.values
        ]
        weights = block.weights[:, None, None]
        values = [each * weights if weights.size else each for each in block.values]
        shares = [each * weights if weights.size and each.size else each for each in block.shares]
        codes = self._clusters.codes_of(block.first_row, block.n_rows, block.kept)
        with self._lock:
            self._waiting[block.first_row] = block.n_rows, _WeightedRows(codes, values, shares, counted)
            while self._next in self._waiting:
                n_rows, rows = self._waiting.pop(self._next)
                self._put(rows)
                self._next += n_rows

    def _put(self, rows: _WeightedRows) -> None:
        n = len(self._clusters.names)
        if not self._values:
            self._values = [np.zeros((n, *each.shape[1:])) for each in rows.values]
            self._shares = [np.zeros((n, *each.shape[1:])) for each in rows.shares]
            self._has_values = [np.zeros(each.shape[:2], dtype=np.bool_) for each in self._values]
            self._n_rows = [np.zeros(each.shape[1], dtype=np.int64) for each in rows.counted]
        of_kinds = (self._values, rows.values), (self._shares, rows.shares)
        for sums, own in (each for kind in of_kinds for each in zip(*kind, strict=True)):
            if own.size:
                np.add.at(sums, rows.codes, own)
        for has_values, n_rows, counts in zip(self._has_values, self._n_rows, rows.counted, strict=True):
            if counts.size:
                np.logical_or.at(has_values, rows.codes, counts)
            np.add(n_rows, counts.sum(axis=0), out=n_rows)

    def finish(self) -> ClusterValues:
        """Return the sums.

        Raises
        ------
        DataError
            More clusters are given than there are rows.
        """
        self._clusters.check_number(self._next)
        seen = np.zeros(len(self._clusters.names), dtype=np.bool_)
        for has_values in self._has_values:
            seen |= has_values.any(axis=1)
        values = [each[seen] for each in self._values]
        shares = [each[seen] if each.size else NO_FRACTIONS for each in self._shares]
        n_seen = int(np.count_nonzero(seen))
        block = BlockValues(0, n_seen, None, NO_WEIGHTS, NO_TRUTH, values, shares)
        n_clusters = [each.sum(axis=0, dtype=np.int64) for each in self._has_values]
        return ClusterValues(block, np.array(n_clusters), np.array(self._n_rows))
