"""Areas of labels: metrics of all cells of a label, for which every stored cell is held until the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import add
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import counted, listed
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.parts import Field, Part
from xmceval.scoring.per_label.labelcounters import WEIGHT_BITS, check_weight
from xmceval.scoring.setup import Setup
from xmceval.scoring.tasks.areas import RECALL, Areas, ScoredCells, compute_areas, rank_cells
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task, Unscored, by_rel, look_up

FOLDS = frozenset({"AUC", "AP", RECALL})
NO_CELLS = ScoredCells(
    np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
)
SHORT = 1 << 31  # labels below are held in 32 bits
BELOW_ALL = 1 << 900  # cells: so many that what ranks with those without a score adds nothing to a precision


class StoredCells(Part):
    """The cells of the rows added so far, as `chunks`, a list of ScoredCells.

    `rows` are those that are not left out, in units of 2^-bits, which is 1 without sample weights; `bits` is 0 then.
    """

    fields = MappingProxyType({"chunks": Field(add), "rows": Field(add)})

    def __init__(self, bits: int = 0, chunks: Sequence[ScoredCells] = (), rows: int = 0) -> None:
        super().__init__({"chunks": [*chunks], "rows": rows})
        self.bits = bits

    def begin(self) -> StoredCells:
        """Return no cells."""
        return StoredCells(self.bits)

    def add(self, chunks: Sequence[ScoredCells], rows: int) -> None:
        """Add cells of some rows."""
        self.absorb(StoredCells(self.bits, chunks, rows))

    def absorb(self, other: StoredCells) -> None:
        """Add the cells of other rows."""
        super().absorb(other)
        check_weight(self["rows"], self.bits)

    def remark(self, measures: Sequence[Measure]) -> str:
        """Report what is held in memory for some measures."""
        n_cells, n_bytes = (
            sum(each.labels.size for each in self["chunks"]),
            sum(each.n_bytes for each in self["chunks"]),
        )
        return f"{listed(measures)}: {counted(n_cells, 'cell')} held in {n_bytes / 1e6:,.1f} MB of memory"

    def cells(self) -> ScoredCells:
        """Return all cells as one, and hold them so."""
        with self._lock:
            if len(self["chunks"]) > 1:
                arrays: list[Any] = [np.concatenate(each) for each in zip(*self["chunks"], strict=True)]
                self.values["chunks"] = [ScoredCells(*arrays)]
            cells: ScoredCells = self["chunks"][0] if self["chunks"] else NO_CELLS
            return cells


@dataclass(frozen=True)
class LabelAreas(Task):
    """Measures of all cells of a label, or of all cells together, with the same `rel`."""

    measures: tuple[Measure, ...]
    rel: int

    has_bins = True

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is one of whole columns."""
        return measure.metric.family == "column"

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[LabelAreas]:
        """Return one task for each `rel`."""
        measures = list(measures)
        for measure in measures:
            look_up(FOLDS, measure.metric.fold, "rule of columns", measure)
        return [cls(group, rel) for rel, group in by_rel(measures)]

    def empty(self, setup: Setup) -> StoredCells:
        """Return no cells."""
        return StoredCells(0 if setup.weights is None else WEIGHT_BITS)

    def add(self, batch: Batch, part: StoredCells) -> None:
        """Copy the cells of a batch."""
        from xmceval.kernels.rows.columns import match_cells  # at each start, kernels cost time to load

        (truth, _), scores = batch.relevant(self.rel), batch.scores
        n_true, n_scored = int(truth.indptr[-1]), int(scores.indptr[-1])
        is_true, is_scored = np.empty(n_scored, dtype=np.bool_), np.zeros(n_true, dtype=np.bool_)
        match_cells(*truth[:2], *scores[:2], is_true, is_scored)
        is_counted = batch.is_counted(truth)
        units = np.rint(np.ldexp(batch.weights, part.bits)).astype(np.int64)
        rows = [np.repeat(np.arange(batch.n_rows), np.diff(each.indptr)) for each in (truth, scores)]
        scored = copy_cells(scores.indices[:n_scored], scores.values[:n_scored], is_true, units, rows[1])
        if not is_counted.all():
            scored = scored.take(is_counted[rows[1]])
        missing = truth.indices[:n_true][~is_scored]
        no_scores, all_true = np.full(missing.size, np.nan), np.ones(missing.size, dtype=np.bool_)
        unscored = copy_cells(missing, no_scores, all_true, units, rows[0][~is_scored])
        part.add((scored, unscored), int(units[is_counted].sum() if part.bits else np.count_nonzero(is_counted)))

    def unscored(self, part: StoredCells) -> Unscored:
        """Count the true labels without a score, and all true labels."""
        n_unscored = sum(int(np.count_nonzero(np.isnan(cells.scores))) for cells in part["chunks"])
        return Unscored(n_unscored, sum(int(np.count_nonzero(cells.is_true)) for cells in part["chunks"]))

    def finish(self, part: StoredCells, scored: ScoredRows) -> Estimates:
        """Return the value of each measure; there is no interval of them."""
        areas = self._areas(part, scored.setup.width.n_labels, scored.setup)
        return {name: Estimate.plain(each.mean()) for name, each in areas.items()}

    def finish_bins(self, part: StoredCells, scored: ScoredRows) -> Sequence[Estimates]:
        """Return the means within each bin of labels; all cells together have none."""
        setup, bins = scored.setup, scored.setup.bins
        if bins is None:
            return []
        estimates: list[Estimates] = [{} for _ in range(len(bins))]
        for name, areas in self._areas(part, setup.width.n_labels, setup, micro=False).items():
            of_label = bins.by_code[setup.propensities.codes_of(areas.labels)]
            for number, of_bin in enumerate(estimates):
                of_bin[name] = Estimate.plain(areas.where(of_label == number).mean())
        return estimates

    def _areas(self, part: StoredCells, n_labels: int, setup: Setup, *, micro: bool = True) -> dict[str, Areas]:
        """Compute the areas of each measure; without `micro`, only of those that are means over labels."""
        areas: dict[str, Areas] = {}
        cells = part.cells()
        n_cells = {"labels": part["rows"], "cells": part["rows"] * n_labels, "stored": BELOW_ALL}
        for group in n_cells if micro else ("labels",):
            measures = [measure for measure in self.measures if _group_of(measure) == group]
            if measures:
                zero_unscored = setup.zero_unscored and group != "stored"
                ranked = rank_cells(
                    *(cells, n_cells[group], part.bits), micro=group != "labels", zero_unscored=zero_unscored
                )
                areas |= {measure.name: compute_areas(*ranked, measure) for measure in measures}
        return areas

    def remarks(self, part: StoredCells, n_labels: int) -> list[str]:
        """Report what was held in memory, and how many labels have a value."""
        lines = [part.remark(self.measures)]
        means = [measure for measure in self.measures if measure.average != "micro"]
        if means:
            lines.append(f"{listed(means)}: mean over {_count_mixed(part):,} of {counted(n_labels, 'label')}")
        return lines


def copy_cells(
    labels: Int64, scores: Float64, is_true: NDArray[np.bool_], units: Int64, rows: NDArray[np.intp]
) -> ScoredCells:
    """Copy cells out of the arrays of a thread, in as few bytes as their labels need."""
    dtype = np.int32 if labels.max(initial=0) < SHORT else np.int64
    return ScoredCells(labels.astype(dtype), scores.copy(), is_true, units[rows] if units.size else units)


def _group_of(measure: Measure) -> str:
    """Return which cells a measure ranks together: those of a label, all cells, or all stored ones."""
    if measure.average != "micro":
        return "labels"
    return "stored" if measure.metric.fold == "AP" else "cells"


def _count_mixed(part: StoredCells) -> int:
    """Count the labels that are true in some rows and not in others."""
    cells = StoredCells(part.bits, [each.take(each.is_true) for each in part["chunks"]]).cells()
    labels, places = np.unique(cells.labels, return_inverse=True)
    n_true = np.zeros(labels.size, dtype=np.int64)
    np.add.at(n_true, places, cells.units if cells.units.size else 1)
    return int(np.count_nonzero(n_true < part["rows"]))
