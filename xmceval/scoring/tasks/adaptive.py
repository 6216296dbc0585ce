"""Adaptive calibration errors: bins of equal mass, for which the predictions are held until the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from xmceval.kernels.metrics.topk import SLOTS
from xmceval.kernels.metrics.totals import add_values
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.per_label.labelcounters import WEIGHT_BITS
from xmceval.scoring.sums import Sums, no_extremes
from xmceval.scoring.tasks.areas import ScoredCells
from xmceval.scoring.tasks.calibration import ADAPTIVE, DEN, NUM, STEP, check_probabilities, mean_gap
from xmceval.scoring.tasks.labelareas import Held, copy_cells
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task, by_rel

WORD = 32  # bits; sums of weights have two


@dataclass(frozen=True)
class AdaptiveCalibration(Task):
    """Calibration errors in bins of equal mass, with the same `rel` and the same cutoff."""

    measures: tuple[Measure, ...]
    rel: int

    follows_ties = False
    has_remarks = True

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure compares scores with hits in bins of equal mass."""
        return measure.metric.family == "calibration" and measure.metric.fold == ADAPTIVE

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[AdaptiveCalibration]:
        """Return one task for each `rel` and cutoff."""
        return [cls(tuple(each), rel) for rel, group in by_rel(measures) for each in _by_cutoff(group)]

    def empty(self, terms: Terms) -> Held:
        """Return no predictions."""
        return Held(0 if terms.weights is None else WEIGHT_BITS)

    def add(self, batch: Batch, part: Held) -> None:
        """Copy the predictions of a batch."""
        from xmceval.kernels.rows.columns import match_cells  # at each start, kernels cost time to load

        check_probabilities(batch, self.measures)
        (truth, _), ranking, k = batch.relevant(self.rel), batch.ranking, self.measures[0].k or 0
        n_ranked = np.minimum(ranking.n_ranked, k) * batch.is_counted(truth)
        rows, ranks = np.nonzero(np.arange(ranking.labels.shape[1]) < n_ranked[:, None])
        labels, scores = ranking.labels[rows, ranks], ranking.scores[rows, ranks]
        order = np.lexsort((labels, rows))  # labels ascend within a row
        labels, scores = labels[order], scores[order]
        is_true, is_scored = np.empty(rows.size, dtype=np.bool_), np.zeros(int(truth.indptr[-1]), dtype=np.bool_)
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(n_ranked)])
        match_cells(*truth[:2], ends, labels, is_true, is_scored)
        units = np.rint(np.ldexp(batch.weights, part.bits)).astype(np.int64)
        part.combine(chunks=[copy_cells(labels, scores, is_true, units, rows)])

    def finish(self, part: Held, scored: ScoredRows) -> Estimates:  # noqa: ARG002 - tasks share one signature
        """Return the value of each measure; there is no interval of them."""
        cells = part.cells()
        cells = cells.take(np.argsort(cells.scores))
        numbers = {measure.name: int(measure.number("bins")) for measure in self.measures}
        return {
            name: Estimate.plain(mean_gap(_sum_bins(cells, part.bits, _find_bins(cells, n_bins))))
            for name, n_bins in numbers.items()
        }

    def remarks(self, part: Held, n_labels: int) -> Sequence[str]:  # noqa: ARG002
        """Report what was held in memory."""
        return [part.remark(self.measures)]


def _by_cutoff(measures: Sequence[Measure]) -> Iterator[list[Measure]]:
    """Yield the measures with the same cutoff, ascending."""
    for k in sorted({measure.k or 0 for measure in measures}):
        yield [measure for measure in measures if measure.k == k]


def _find_bins(cells: ScoredCells, n_bins: int) -> Int64:
    """Return where each bin of equal mass begins and the last one ends, int64 [n_bins + 1]; scores ascend.

    A cell is in bin floor(n_bins * m / total), m being the mass of lower scores, computed in whole numbers.
    """
    n = cells.scores.size
    starts = np.flatnonzero(np.diff(cells.scores, prepend=-1.0))
    units = cells.units if cells.units.size else np.ones(n, dtype=np.int64)
    lows = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(units & ((1 << WORD) - 1))])
    highs = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(units >> WORD)]) + (lows >> WORD)
    lows &= (1 << WORD) - 1
    total = (int(highs[-1]) << WORD) + int(lows[-1])
    highs, lows, ends = highs[starts], lows[starts], [0]
    for i in range(1, n_bins):
        high, low = divmod(-(-i * total // n_bins), 1 << WORD)
        first, last = np.searchsorted(highs, high), np.searchsorted(highs, high, side="right")
        place = first + np.searchsorted(lows[first:last], low)
        ends.append(int(starts[place]) if place < starts.size else n)
    return np.array([*ends, n], dtype=np.int64)


def _sum_bins(cells: ScoredCells, bits: int, ends: Int64) -> Int64:
    """Add score - hit, and 1, of the cells of each bin exactly, as int64 [n_bins, MOMENTS, WORDS]."""
    sums, none_kept = Sums(ends.size - 1), no_extremes(1, np.inf)
    for number, (first, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        for start in range(first, end, STEP):
            some = slice(start, min(start + STEP, end))
            values = np.zeros((some.stop - start, 1, SLOTS))
            values[:, 0, NUM], values[:, 0, DEN] = cells.scores[some] - cells.is_true[some], 1.0
            weights: Float64 = np.ldexp(cells.units[some].astype(np.float64), -bits)
            added, _ = sums.begin()
            add_values(values, weights, added[number : number + 1], none_kept)
            sums.combine(sums=added)
    return sums.sums
