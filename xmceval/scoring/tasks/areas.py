"""Areas under the curves of labels, from all of their stored cells; the others are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.statistics.curves import (
    RankedGroups,
    average_precisions,
    find_starts,
    recalls_at_precision,
    roc_areas,
    sort_by_score,
)
from xmceval.statistics.intervals import exact_sum

Bools = NDArray[np.bool_]
RECALL = "recall at precision"  # a fold of columns


class ScoredCells(NamedTuple):
    """Stored cells: their label, score (NaN where a true label has none), truth, and weight in units of 2^-bits.

    ``units`` is empty where all cells count 1.
    """

    labels: NDArray[Any]
    scores: Float64
    is_true: Bools
    units: Int64

    @property
    def n_bytes(self) -> int:
        """The memory that they take."""
        return sum(each.nbytes for each in self)

    def take(self, places: NDArray[Any]) -> ScoredCells:
        """Return some of the cells, or all in another order: those at `places`, int [n_taken] or bool [n_cells]."""
        return ScoredCells._make(each[places] if each.size else each for each in self)


@dataclass(frozen=True)
class Areas:
    """Labels with both classes, int64 [n], and their areas, float64 [n]."""

    labels: NDArray[Any]
    values: Float64

    def mean(self) -> float | None:
        """Average them; return None where there are none; the sum is rounded once."""
        return exact_sum(self.values) / self.values.size if self.values.size else None

    def where(self, kept: Bools) -> Areas:
        """Return some of the labels: those `kept`, bool [n]."""
        return Areas(self.labels[kept], self.values[kept])


def rank_cells(
    cells: ScoredCells, n_cells: int, bits: int, *, micro: bool, zero_unscored: bool
) -> tuple[Int64, RankedGroups]:
    """Rank the cells of each label, or all as one group; the order in which they came has no effect on the result.

    Parameters
    ----------
    cells : ScoredCells
    n_cells : int
        All cells of a group, stored or not, in units of 2^-bits.
    bits : int
    micro : bool
        All cells are one group, instead of those of a label.
    zero_unscored : bool
        Cells without a score have score 0, instead of ranking below all others.

    Returns
    -------
    labels : int64 array [n_groups]
        The label of each group; 0 for all cells together.
    groups : RankedGroups
        Cells that are not stored have score 0.
    """
    if cells.units.size:  # equal scores are added up one by one: in one order, so that the sums have the same bits
        cells = cells.take(np.lexsort((cells.units, cells.is_true)))
    if zero_unscored:
        cells = cells._replace(scores=np.where(np.isnan(cells.scores), 0.0, cells.scores))
    cells = cells.take(sort_by_score(cells.scores, None if micro else cells.labels, stable=cells.units.size > 0))
    labels = np.zeros_like(cells.labels) if micro else cells.labels
    starts = find_starts(labels)
    first = starts[:-1]
    stored = np.add.reduceat(cells.units, first) if cells.units.size else np.diff(starts)
    spare = np.array([math.ldexp(n_cells - count, -bits) for count in stored.tolist()])
    weights = np.ldexp(cells.units.astype(np.float64), -bits) if cells.units.size else np.ones(labels.size)
    scores = cells.scores if zero_unscored else _number_scores(cells.scores, starts)
    return labels[first].astype(np.int64), RankedGroups(starts, cells.is_true, scores, weights, spare)


def _number_scores(scores: Float64, starts: Int64) -> Float64:
    """Number the distinct scores of each group from the lowest, which is 1, up; cells without a score have 0."""
    is_new = np.ones(scores.size, dtype=np.bool_)
    is_new[1:] = scores[1:] != scores[:-1]
    is_new[starts[:-1]] = True
    numbers = np.cumsum(is_new, dtype=np.float64)
    np.subtract(np.repeat(numbers[starts[1:] - 1] + 1, np.diff(starts)), numbers, out=numbers)
    numbers[np.isnan(scores)] = 0.0
    return numbers


def compute_areas(labels: Int64, groups: RankedGroups, measure: Measure) -> Areas:
    """Compute the value of each label with both classes: its areas ``AUC`` or ``AP``, or its recall at a precision.

    `labels`, int64 [n_groups], are those of the groups.
    """
    if measure.metric.fold == RECALL:
        areas = recalls_at_precision(groups, measure.number("precision"))
    else:
        areas = roc_areas(groups) if measure.metric.fold == "AUC" else average_precisions(groups)
    return Areas(labels[areas.has_both], areas.values[areas.has_both])
