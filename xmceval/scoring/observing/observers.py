"""Observers: what sees the values of rows of all systems, block by block, beside the totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64, Rows
from xmceval.scoring.tasks.task import RowValues

FRACTION = 2  # of a row's values: numerator and denominator
NO_FRACTIONS = np.empty((0, 0, FRACTION))
NO_TRUTH = Rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))  # of values that were saved


@dataclass(frozen=True)
class BlockValues:
    """The values of the rows of a block, for every system and every task that has any.

    Attributes
    ----------
    first_row, n_rows : int
        The block.
    kept : int array or None
        The rows of the block that the values are of, where some have weight 0.
    weights : float64 array
        One per row with values, or empty.
    truth : Rows
        The true labels of the rows with values.
    values : sequence of float64 array [n_kept, n_columns, 2]
        By system: the numerator and denominator of each of `Program.columns`.
    shares : sequence of float64 array [n_kept, n_columns * n_bins, 2]
        By system: the contributions of bins of labels, of the columns that have any.
    """

    first_row: int
    n_rows: int
    kept: NDArray[np.intp] | None
    weights: Float64
    truth: Rows
    values: Sequence[Float64]
    shares: Sequence[Float64]

    def of_rows(self, inside: NDArray[np.bool_]) -> BlockValues:
        """Return the values of some of the rows, given as bool [n_kept], without their truth."""
        return BlockValues(
            *(self.first_row, self.n_rows),
            np.flatnonzero(inside) if self.kept is None else self.kept[inside],
            self.weights[inside] if self.weights.size else self.weights,
            NO_TRUTH,
            [each[inside] for each in self.values],
            [each[inside] for each in self.shares if each.size],
        )


class Observer(Protocol):
    """Sees each block once, in any order and from any thread."""

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""


def copy_fractions(rows: RowValues) -> tuple[Float64, Float64]:
    """Copy the numerators and denominators of some rows, and those of their shares.

    They are float64 [n_rows, n_measures, 2] and [n_rows, n_measures * n_bins, 2]; shares may be empty.
    """
    return rows.values[:, :, :FRACTION].copy(), rows.shares[:, :, :FRACTION].copy()


def join_columns(arrays: Sequence[Float64]) -> Float64:
    """Join the fractions [n_rows, n_columns, 2] of several tasks; some may have no columns."""
    filled = [each for each in arrays if each.shape[1]] or [NO_FRACTIONS]
    return filled[0] if len(filled) == 1 else np.concatenate(filled, axis=1)
