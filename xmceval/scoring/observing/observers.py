"""Observers: what sees the values of rows of all systems, block by block, beside the totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64, Rows
from xmceval.rows.rowgroups import RowGroups
from xmceval.scoring.tasks.task import RowValues

FRACTION = 2  # of a row's values: numerator and denominator
NO_FRACTIONS = np.empty((0, 0, FRACTION))
NO_TRUTH = Rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))  # of values that were saved


@dataclass(frozen=True)
class BlockValues:
    """The values of the rows of a block, for every system and every task that has any."""

    first_row: int
    n_rows: int  # of the block
    kept: NDArray[np.intp] | None  # its rows that have values, where some have weight 0
    weights: Float64  # [n_kept] or empty
    truth: Rows  # of the rows with values
    values: Sequence[Float64]  # by system [n_kept, n_columns, 2], numerators and denominators of `Program.row_measures`
    shares: Sequence[Float64]  # by system [n_kept, n_columns * n_bins, 2], of the columns that bins of labels have

    def of_rows(self, inside: NDArray[np.bool_]) -> BlockValues:
        """Return the values of some of the rows, given as bool [n_kept], without their truth."""
        return BlockValues(
            self.first_row,
            self.n_rows,
            np.flatnonzero(inside) if self.kept is None else self.kept[inside],
            self.weights[inside] if self.weights.size else self.weights,
            NO_TRUTH,
            [values[inside] for values in self.values],
            [shares[inside] for shares in self.shares if shares.size],
        )


class Observer(Protocol):
    """Sees each block once, in any order and from any thread."""

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""


class GroupedRows(Observer):
    """An observer that hands each row to the observer of its group; these are given in the order of the groups."""

    def __init__(self, groups: RowGroups, observers: Sequence[Observer]) -> None:
        self._groups, self._observers = groups, observers

    def add(self, block: BlockValues) -> None:
        """Hand on the rows of a block."""
        for code, inside in self._groups.split(block.first_row, block.n_rows, block.kept):
            self._observers[code].add(block.of_rows(inside))


def copy_fractions(rows: RowValues) -> tuple[Float64, Float64]:
    """Copy the numerators and denominators of some rows, and those of their shares.

    They are float64 [n_rows, n_measures, 2] and [n_rows, n_measures * n_bins, 2]; shares may be empty.
    """
    return rows.values[:, :, :FRACTION].copy(), rows.shares[:, :, :FRACTION].copy()


def join_columns(arrays: Sequence[Float64]) -> Float64:
    """Join the fractions [n_rows, n_columns, 2] of several tasks; some may have no columns."""
    filled = [array for array in arrays if array.shape[1]] or [NO_FRACTIONS]
    return filled[0] if len(filled) == 1 else np.concatenate(filled, axis=1)
