"""Task for metrics over all cells of a label, such as AUC; every stored cell is kept in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate, exact_sum
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.curves import (
    Bools,
    RankedGroups,
    average_precisions,
    find_starts,
    recalls_at_precision,
    roc_areas,
    sort_by_score,
)
from xmceval.scoring.tasks.label_counts import bits_of, check_weight
from xmceval.scoring.tasks.task import Estimates, Task, Unscored, rule_of
from xmceval.scoring.totals import Field, Part

RECALL = "recall at precision"  # a fold of columns
FOLDS = frozenset({"AUC", "AP", RECALL})
SHORT = 1 << 31  # labels below this are stored in 32 bits
BELOW_ALL = 1 << 900  # cells; so many that entries ranked with unscored cells add nothing to a precision


class ScoredCells(NamedTuple):
    """Stored cells: label, score (NaN for true labels without one), truth, and weight in units of 2^-bits.

    A cell that is not true and has no score is left out by a filter. ``units`` is empty if all cells count 1.
    """

    labels: NDArray[Any]
    scores: Float64
    is_true: Bools
    units: Int64

    def take(self, places: NDArray[Any]) -> ScoredCells:
        """Return the cells at `places`, int [n_taken] or bool [n_cells]."""
        return ScoredCells._make(_at(array, places) for array in self)


def _at(array: NDArray[Any], places: NDArray[Any]) -> Any:
    """Return the numbers of cells at `places`; weights are empty if all cells count 1."""
    if not array.size:
        return array
    return array[places]


NO_CELLS = ScoredCells(
    np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
)


class StoredCells(Part):
    """The cells of the rows added so far, as `chunks`, a list of ScoredCells.

    `rows` is the number of rows that count, in units of 2^-bits; without sample weights `bits` is 0.
    """

    fields = MappingProxyType({"chunks": Field(add), "rows": Field(add)})

    def __init__(self, bits: int = 0, chunks: Sequence[ScoredCells] = (), rows: int = 0) -> None:
        super().__init__(chunks=[*chunks], rows=rows)
        self.bits = bits

    def begin(self) -> StoredCells:
        """Return no cells."""
        return StoredCells(self.bits)

    def absorb(self, other: StoredCells) -> None:
        """Add the cells of other rows."""
        super().absorb(other)
        check_weight(self["rows"], self.bits)

    def cells(self) -> ScoredCells:
        """Return all cells as one chunk, and keep them so."""
        with self._lock:
            if not self["chunks"]:
                return NO_CELLS
            if len(self["chunks"]) > 1:
                arrays = zip(*self["chunks"], strict=True)
                self["chunks"] = [ScoredCells._make(map(np.concatenate, arrays))]
            cells: ScoredCells = self["chunks"][0]
            return cells


@dataclass(frozen=True)
class LabelAreas(Task):
    """Measures of all cells of a label, or of all cells together, with the same `rel`."""

    measures: tuple[Measure, ...]
    rel: float

    place = 4

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> LabelAreas:
        """Return the task of these measures, whose folds are known."""
        for measure in measures:
            rule_of(FOLDS, measure.metric.fold, "rule of columns", measure)
        return cls(measures, rel)

    def empty(self, setup: Setup) -> StoredCells:
        """Return no cells."""
        return StoredCells(bits_of(setup))

    def compute(self, batch: Batch) -> StoredCells:
        """Copy the cells of a batch."""
        from xmceval.kernels.metrics.labelwise import match_cells  # loading kernels slows every start

        truth, _ = batch.relevant(self.rel)
        scores = batch.scores
        n_true = int(truth.indptr[-1])
        n_scored = int(scores.indptr[-1])
        is_true = np.empty(n_scored, dtype=np.bool_)
        is_scored = np.zeros(n_true, dtype=np.bool_)
        match_cells(*truth[:2], *scores[:2], is_true, is_scored)
        is_counted = batch.is_counted(truth)
        bits = bits_of(batch.setup)
        units = np.rint(np.ldexp(batch.weights, bits)).astype(np.int64)

        def copy_cells(labels: Int64, scores: Float64, is_true: Bools, rows: NDArray[np.intp]) -> ScoredCells:
            """Copy cells from the arrays of a thread, with labels in the fewest bytes."""
            if labels.max(initial=0) < SHORT:
                return ScoredCells(labels.astype(np.int32), scores.copy(), is_true, _at(units, rows))
            return ScoredCells(labels.copy(), scores.copy(), is_true, _at(units, rows))

        rows = np.repeat(np.arange(batch.n_rows), np.diff(scores.indptr))
        scored = copy_cells(scores.indices[:n_scored], scores.values[:n_scored], is_true, rows)
        if not is_counted.all():
            scored = scored.take(is_counted[rows])
        rows = np.repeat(np.arange(batch.n_rows), np.diff(truth.indptr))[~is_scored]
        n_missing = rows.size
        _, (filtered_rows, filtered_labels) = batch.filtered(self.rel)
        rows = np.concatenate([rows, filtered_rows])
        labels = np.concatenate([truth.indices[:n_true][~is_scored], filtered_labels])
        unscored = copy_cells(labels, np.full(rows.size, np.nan), np.arange(rows.size) < n_missing, rows)
        n_counted = int(np.count_nonzero(is_counted))
        if bits:
            n_counted = int(units[is_counted].sum())
        return StoredCells(bits, (scored, unscored), n_counted)

    def add(self, batch: Batch, computed: StoredCells, part: StoredCells) -> None:  # noqa: ARG002 - cells are copies
        """Add the cells of a batch."""
        part.absorb(computed)

    def unscored(self, part: StoredCells) -> Unscored:
        """Count the true labels without a score, and all true labels."""
        n_unscored = sum(int(np.count_nonzero(np.isnan(cells.scores) & cells.is_true)) for cells in part["chunks"])
        return Unscored(n_unscored, sum(int(np.count_nonzero(cells.is_true)) for cells in part["chunks"]))

    def finish(self, part: StoredCells, setup: Setup, n_rows: int) -> Estimates:  # noqa: ARG002 - cells have them
        """Return the value of each measure, without intervals."""
        areas = self._areas(part, setup, ("labels", "cells", "stored"))
        return {name: _mean(values) for name, (_, values) in areas.items()}

    def finish_bins(self, part: StoredCells, setup: Setup, n_rows: int) -> Sequence[Estimates]:  # noqa: ARG002
        """Return the means within each bin of labels; measures of all cells together have none."""
        if setup.bins is None:
            return []
        estimates: list[Estimates] = [{} for _ in range(setup.n_bins)]
        for name, (labels, values) in self._areas(part, setup, ("labels",)).items():
            bin_of_label = setup.bins.by_code[setup.propensities.codes_of(labels)]
            for number, bin_ in enumerate(estimates):
                bin_[name] = _mean(values[bin_of_label == number])
        return estimates

    def _areas(self, part: StoredCells, setup: Setup, groups: Sequence[str]) -> dict[str, tuple[Int64, Float64]]:
        """Return, by measure of some groups, the labels with both classes, int64 [n], and their areas, float64 [n]."""
        areas = {}
        cells = part.cells()
        n_rows = part["rows"]
        n_cells = {"labels": n_rows, "cells": n_rows * setup.n_labels, "stored": BELOW_ALL}
        by_group: dict[str, list[Measure]] = {}  # cells that are ranked together: of one label, all, or all stored
        for measure in self.measures:
            group = "labels"
            if measure.average == "micro":
                group = "cells"
                if measure.metric.fold == "AP":
                    group = "stored"
            by_group.setdefault(group, []).append(measure)
        for group in groups:
            measures = by_group.get(group)
            if not measures:
                continue
            labels, ranked = rank_cells(
                cells,
                n_cells[group],
                part.bits,
                micro=group != "labels",
                zero_unscored=setup.zero_unscored and group != "stored",
            )
            for measure in measures:
                if measure.metric.fold == RECALL:
                    of_groups = recalls_at_precision(ranked, measure.number("precision"))
                elif measure.metric.fold == "AUC":
                    of_groups = roc_areas(ranked)
                else:
                    of_groups = average_precisions(ranked)
                areas[measure.name] = labels[of_groups.has_both], of_groups.values[of_groups.has_both]
        return areas

    def remarks(self, part: StoredCells, n_labels: int) -> list[str]:
        """Report the number of cells in memory, and of labels that are true in some rows but not in others."""
        n_cells = sum(cells.labels.size for cells in part["chunks"])
        n_bytes = sum(array.nbytes for cells in part["chunks"] for array in cells)
        lines = [f"{listed(self.measures)}: {counted(n_cells, 'cell')} held in {n_bytes / 1e6:,.1f} MB of memory"]
        means = [measure for measure in self.measures if measure.average != "micro"]
        if means:
            chunks = [cells.take(cells.is_true | np.isnan(cells.scores)) for cells in part["chunks"]]
            cells = StoredCells(part.bits, chunks).cells()  # all but false ones
            labels, places = np.unique(cells.labels, return_inverse=True)
            n_cells = np.zeros(labels.size, dtype=np.int64)
            np.add.at(n_cells, places, cells.units if cells.units.size else 1)
            has_true = np.zeros(labels.size, dtype=np.bool_)
            has_true[places[cells.is_true]] = True
            n_mixed = np.count_nonzero(has_true & (n_cells < part["rows"]))
            lines.append(f"{listed(means)}: mean over {n_mixed:,} of {counted(n_labels, 'label')}")
        return lines


def rank_cells(
    cells: ScoredCells, n_cells: int, bits: int, *, micro: bool, zero_unscored: bool
) -> tuple[Int64, RankedGroups]:
    """Rank the cells of each label, or all as one group; the order of cells has no effect on the result.

    A group has `n_cells` cells in all, stored or not, in units of 2^-bits. With `micro` all cells form one
    group. With `zero_unscored`, cells without a score have score 0 instead of ranking below all others. Cells that
    are left out weigh nothing. Return the label of each group, int64 [n_groups], 0 for all cells together, and
    the groups, in which cells that are not stored have score 0.
    """
    if cells.units.size:  # weights of equal scores are added in a fixed order, so that sums are bit-identical
        cells = cells.take(np.lexsort((cells.units, cells.is_true)))
    if zero_unscored:
        cells = cells._replace(scores=np.where(np.isnan(cells.scores) & cells.is_true, 0.0, cells.scores))
    groups: NDArray[Any] | None = cells.labels
    if micro:
        groups = None
        cells = cells._replace(labels=np.zeros_like(cells.labels))
    cells = cells.take(sort_by_score(cells.scores, groups, stable=cells.units.size > 0))
    labels = cells.labels
    starts = find_starts(labels)
    first = starts[:-1]
    stored = np.diff(starts)
    weights = np.ones(labels.size)
    if cells.units.size:
        stored = np.add.reduceat(cells.units, first)
        weights = np.ldexp(cells.units.astype(np.float64), -bits)
    spare = np.array([math.ldexp(n_cells - count, -bits) for count in stored.tolist()])
    scores = cells.scores
    left_out = np.flatnonzero(np.isnan(scores) & ~cells.is_true)
    weights[left_out] = 0.0
    if zero_unscored:
        scores[left_out] = -np.inf
    else:  # number the distinct scores of a group upwards from 1, so that no score is 0
        is_new = np.ones(scores.size, dtype=np.bool_)
        is_new[1:] = scores[1:] != scores[:-1]
        is_new[first] = True
        numbers = np.cumsum(is_new, dtype=np.float64)
        np.subtract(np.repeat(numbers[starts[1:] - 1] + 1, np.diff(starts)), numbers, out=numbers)
        numbers[np.isnan(scores)] = 0.0
        scores = numbers
    return labels[first].astype(np.int64), RankedGroups(starts, cells.is_true, scores, weights, spare)


def _mean(values: Float64) -> Estimate:
    """Average areas, rounding the sum once; undefined without areas."""
    if not values.size:
        return Estimate.plain(None)
    return Estimate.plain(exact_sum(values) / values.size)
