"""Areas under the curves of labels, from all of their stored cells; the others are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64, Int64
from xmceval.scoring.tasks.rocareas import roc_areas
from xmceval.statistics.exact import exact_sum

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Cells:
    """Stored cells: their label, score (NaN where a true label has none), truth, and weight in units of 2^-bits.

    ``units`` is empty where all cells count 1.
    """

    labels: NDArray[Any]
    scores: Float64
    is_true: Bools
    units: Int64

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The four arrays."""
        return self.labels, self.scores, self.is_true, self.units

    @property
    def n_bytes(self) -> int:
        """The memory that they take."""
        return sum(each.nbytes for each in self.arrays)

    def take(self, places: NDArray[Any]) -> Cells:
        """Return some of the cells, or all in another order."""
        return Cells(*(each[places] if each.size else each for each in self.arrays))


@dataclass(frozen=True)
class SortedCells:
    """Cells by label and descending score, or all as one group.

    Attributes
    ----------
    groups, starts : int arrays [n_groups], [n_groups + 1]
        The labels (0 for all together), and where their cells begin.
    is_true : bool array
    scores : float64 array
        Cells that are not stored have score 0.
    weights : float64 array
    spare : float64 array [n_groups]
        The weight of the cells that are not stored, none of which is true.
    """

    groups: NDArray[Any]
    starts: Int64
    is_true: Bools
    scores: Float64
    weights: Float64
    spare: Float64


@dataclass(frozen=True)
class Areas:
    """Labels with both classes, and their areas."""

    labels: NDArray[Any]
    values: Float64

    def mean(self) -> float | None:
        """Average them, or return None where there are none; the sum is rounded once."""
        return exact_sum(self.values) / self.values.size if self.values.size else None

    def where(self, kept: Bools) -> Areas:
        """Return some of the labels."""
        return Areas(self.labels[kept], self.values[kept])


def sort_cells(cells: Cells, n_cells: int, bits: int, *, micro: bool, zero_unscored: bool) -> SortedCells:
    """Sort cells; the order in which they came has no effect on the result.

    Parameters
    ----------
    cells : Cells
    n_cells : int
        All cells of a group, stored or not, in units of 2^-bits.
    bits : int
    micro : bool
        All cells are one group, instead of those of a label.
    zero_unscored : bool
        Cells without a score have score 0, instead of ranking below all others.
    """
    if zero_unscored:
        cells = Cells(cells.labels, np.where(np.isnan(cells.scores), 0.0, cells.scores), cells.is_true, cells.units)
    cells = cells.take(_find_order(cells, micro=micro))
    n = cells.labels.size
    is_first = np.zeros(n, dtype=np.bool_)
    is_first[:1] = True
    if not micro:
        is_first[1:] = cells.labels[1:] != cells.labels[:-1]
    first = np.flatnonzero(is_first)
    starts = np.append(first, n)
    stored = np.add.reduceat(cells.units, first) if cells.units.size else np.diff(starts)
    spare = np.array([math.ldexp(n_cells - count, -bits) for count in stored.tolist()])
    weights = np.ldexp(cells.units.astype(np.float64), -bits) if cells.units.size else np.ones(n)
    scores = cells.scores if zero_unscored else _heights(cells.scores, starts, is_first)
    groups = np.zeros(first.size, dtype=np.int64) if micro else cells.labels[first].astype(np.int64)
    return SortedCells(groups, starts, cells.is_true, scores, weights, spare)


def _find_order(cells: Cells, *, micro: bool) -> NDArray[np.intp]:
    """Return the places of cells in descending order of their scores, label by label or all together.

    Equal scores are added up one by one: weighted ones in one order, so that the sums have the same bits.
    """
    keys = (-cells.scores,) if micro else (-cells.scores, cells.labels)
    return np.lexsort((cells.units, cells.is_true, *keys) if cells.units.size else keys)


def _heights(scores: Float64, starts: Int64, is_first: Bools) -> Float64:
    """Number the distinct scores of each group from the lowest, which is 1, up; cells without a score have 0."""
    is_new = is_first.copy()
    is_new[1:] |= scores[1:] != scores[:-1]
    heights = np.cumsum(is_new, dtype=np.float64)
    np.subtract(np.repeat(heights[starts[1:] - 1] + 1, np.diff(starts)), heights, out=heights)
    heights[np.isnan(scores)] = 0.0
    return heights


def compute_areas(cells: SortedCells, fold: str) -> Areas:
    """Compute the area of each group with both classes: ``AUC``, or ``AP`` under precision and recall."""
    from xmceval.kernels.metrics.dropins import follow_curves  # at each start, kernels cost time to load

    arrays = cells.starts, cells.is_true, cells.scores, cells.weights, cells.spare
    if fold == "AUC":
        values = roc_areas(*arrays).values
        has_both = ~np.isnan(values)
        return Areas(cells.groups[has_both], values[has_both])
    curves = np.zeros((cells.spare.size, 4))
    if curves.size:
        follow_curves(*arrays, 1.0, curves)
    has_both = (curves[:, 2] > 0) & (curves[:, 3] > 0)
    return Areas(cells.groups[has_both], curves[has_both, 0])
