"""Calibration of labels: how far the scores of each label are from its hits, in bins of scores or of equal mass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted, listed
from xmceval.metrics.entry import format_number
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Int64
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.per_label.labelbins import LabelBins, PendingBins, bin_sums, gaps_by_label
from xmceval.scoring.per_label.labelcounters import WEIGHT_BITS
from xmceval.scoring.states.stored import MOST
from xmceval.scoring.tasks.areas import Areas, ScoredCells
from xmceval.scoring.tasks.calibration import ADAPTIVE, check_probabilities
from xmceval.scoring.tasks.labelareas import Held, copy_cells
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task, by_rel
from xmceval.statistics.curves import find_starts

BY_SCORE, BY_MASS = "macroECE", "macroAdaptiveECE"  # folds of the family


@dataclass(frozen=True)
class LabelCalibration(Task):
    """Means of the calibration errors of labels: of all their stored scores."""

    measures: tuple[Measure, ...]
    rel: int

    has_bins = True
    has_remarks = True

    @abstractmethod
    def errors(self, part: Any, measure: Measure) -> Areas:
        """Return the calibration error of each label with a prediction."""

    def predictions(self, batch: Batch, bits: int) -> tuple[ScoredCells, int]:
        """Return the predictions of a batch, and the weight of its rows; weights are in units of 2^-bits.

        Raises
        ------
        Fault
            A score that is no probability.
        """
        from xmceval.kernels.rows.columns import match_cells  # at each start, kernels cost time to load

        check_probabilities(batch, self.measures)
        (truth, _), scores = batch.relevant(self.rel), batch.scores
        n = int(scores.indptr[-1])
        is_true, is_scored = np.empty(n, dtype=np.bool_), np.zeros(int(truth.indptr[-1]), dtype=np.bool_)
        match_cells(*truth[:2], *scores[:2], is_true, is_scored)
        rows = np.repeat(np.arange(batch.n_rows), np.diff(scores.indptr))
        units = np.rint(np.ldexp(batch.weights, bits)).astype(np.int64)
        cells = copy_cells(scores.indices[:n], scores.values[:n], is_true, units, rows)
        is_counted = batch.is_counted(truth)
        weight = int(units[is_counted].sum()) if bits else int(np.count_nonzero(is_counted))
        return (cells if is_counted.all() else cells.take(is_counted[rows])), weight

    def finish(self, part: Any, scored: ScoredRows) -> Estimates:
        """Return the value of each measure; there is no interval of them."""
        sizes = scored.sizes
        return {each.name: Estimate.plain(self.errors(part, each).mean(sizes.get(each.name))) for each in self.measures}

    def sizes(self, part: Any, scored: ScoredRows) -> Mapping[str, int]:  # noqa: ARG002 - tasks share one signature
        """Return how many labels have a prediction."""
        return {each.name: self.errors(part, each).values.size for each in self.measures}

    def finish_bins(self, part: Any, scored: ScoredRows) -> Sequence[Estimates]:
        """Return the means within each bin of labels."""
        terms, bins = scored.terms, scored.terms.bins
        if bins is None:
            return []
        estimates: list[Estimates] = [{} for _ in range(len(bins))]
        for measure in self.measures:
            errors = self.errors(part, measure)
            of_label = bins.by_code[terms.propensities.codes_of(errors.labels)]
            for number, of_bin in enumerate(estimates):
                of_bin[measure.name] = Estimate.plain(errors.where(of_label == number).mean())
        return estimates

    def by_label(self, part: Any, terms: Terms) -> dict[str, Areas]:  # noqa: ARG002
        """Return the errors of labels, by their names in tables of labels."""
        return {_column_of(measure): self.errors(part, measure) for measure in self.measures}

    def remarks(self, part: Any, n_labels: int) -> list[str]:
        """Report how many labels have a prediction."""
        n = self.errors(part, self.measures[0]).values.size
        return [f"{listed(self.measures)}: mean over {n:,} of {counted(n_labels, 'label')}"]


@dataclass(frozen=True)
class BinnedLabels(LabelCalibration):
    """Calibration errors of labels in bins of scores, of which only sums are kept."""

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is a mean of such errors."""
        return measure.metric.family == "calibration" and measure.metric.fold == BY_SCORE

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[BinnedLabels]:
        """Return one task for each measure: each has bins of its own."""
        return [cls((measure,), measure.rel) for measure in measures]

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return int(self.measures[0].number("bins"))

    def empty(self, terms: Terms) -> LabelBins:
        """Return sums of no rows."""
        return LabelBins(terms.width.n_labels, self.n_bins, weighted=terms.weights is not None)

    def add(self, batch: Batch, part: LabelBins | PendingBins) -> None:
        """Add the predictions of a batch."""
        cells, _ = self.predictions(batch, part.bits)
        labels, n_bins = cells.labels.astype(np.int64), self.n_bins
        if labels.max(initial=0) >= MOST // n_bins:
            raise DataError(f"{self.measures[0]}: not available for labels from {MOST // n_bins:,} on")
        keys = labels * n_bins + np.minimum((cells.scores * n_bins).astype(np.int64), n_bins - 1)
        part.add(*bin_sums(keys, cells.scores, cells.is_true, cells.units))

    def errors(self, part: LabelBins, measure: Measure) -> Areas:  # noqa: ARG002 - it has one
        """Return the calibration error of each label with a prediction."""
        return Areas(*gaps_by_label(*part.columns(), self.n_bins, part.bits))


@dataclass(frozen=True)
class AdaptiveLabels(LabelCalibration):
    """Calibration errors of labels in bins of equal mass, for which all predictions are held."""

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is a mean of such errors."""
        return measure.metric.family == "calibration" and measure.metric.fold == BY_MASS

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[AdaptiveLabels]:
        """Return one task for each `rel`."""
        return [cls(group, rel) for rel, group in by_rel(measures)]

    def empty(self, terms: Terms) -> Held:
        """Return no predictions."""
        return Held(0 if terms.weights is None else WEIGHT_BITS)

    def add(self, batch: Batch, part: Held) -> None:
        """Copy the predictions of a batch."""
        cells, weight = self.predictions(batch, part.bits)
        part.add([cells], weight)

    def errors(self, part: Held, measure: Measure) -> Areas:
        """Return the calibration error of each label with a prediction."""
        cells, n_bins = part.cells(), int(measure.number("bins"))
        cells = cells.take(np.lexsort((cells.scores, cells.labels)))
        labels, codes = np.unique(cells.labels, return_inverse=True)
        keys = codes * n_bins + _bins_of_equal_mass(cells, n_bins)
        codes, errors = gaps_by_label(*bin_sums(keys, cells.scores, cells.is_true, cells.units), n_bins, part.bits)
        return Areas(labels[codes].astype(np.int64), errors)

    def remarks(self, part: Held, n_labels: int) -> list[str]:
        """Report what was held in memory, and how many labels have a prediction."""
        return [part.remark(self.measures), *super().remarks(part, n_labels)]


def _column_of(measure: Measure) -> str:
    """Return what tables of labels call the errors of a measure."""
    n_bins, default = measure.number("bins"), measure.metric.numbers["bins"].default
    name = "ECE" if measure.metric.fold == BY_SCORE else ADAPTIVE
    return name if n_bins == default else f"{name}(bins={format_number(n_bins)})"


def _bins_of_equal_mass(cells: ScoredCells, n_bins: int) -> Int64:
    """Return the bin of each cell, int64 [n]: floor(n_bins * m / total), m being the mass of its label's lower scores.

    Cells ascend by label, and by score within a label.
    """
    n = cells.labels.size
    if not n:
        return np.empty(0, dtype=np.int64)
    first, stop = (find_starts(cells.labels)[part] for part in (slice(-1), slice(1, None)))
    # Sums over all labels may leave 64 bits, which those of a label do not: so their differences are right.
    sums = np.arange(n + 1) if not cells.units.size else np.concatenate([[0], np.cumsum(cells.units)])
    is_new = np.ones(n, dtype=np.bool_)
    is_new[1:] = (cells.labels[1:] != cells.labels[:-1]) | (cells.scores[1:] != cells.scores[:-1])
    places = np.flatnonzero(is_new)
    lengths = np.diff(places, append=n)
    of_label = np.searchsorted(first, places, side="right") - 1
    lower, total = sums[places] - sums[first[of_label]], (sums[stop] - sums[first])[of_label]
    if cells.units.size:  # their product may leave 64 bits
        lower, total = lower.astype(object), total.astype(object)
    return np.repeat((n_bins * lower // total).astype(np.int64), lengths)
