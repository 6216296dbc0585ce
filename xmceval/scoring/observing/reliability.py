"""Reliability: how often the best labels of each row are true, by their scores, where these are probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from xmceval.errors import Fault, UsageError
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.kernels.metrics.totals import add_values
from xmceval.rows.block import Int64, Rows
from xmceval.scoring.batch import Ranking, Terms
from xmceval.scoring.estimates import exact
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.program import Program
from xmceval.scoring.sums import Sums, no_extremes
from xmceval.scoring.tasks.calibration import DEN, NUM, STEP, compute_bins

DEFAULT_BINS = 15


@dataclass(frozen=True)
class ScoreBin:
    """The predictions with similar scores.

    Attributes
    ----------
    low, high : float
        Their scores.
    weight : float
        The number of predictions, or the sum of the sample weights of their rows.
    mean_score : float
    hit_rate : float
        The share of them that are true labels.
    """

    low: float
    high: float
    weight: float
    mean_score: float
    hit_rate: float


@dataclass(frozen=True)
class Reliability:
    """How often the k best labels of a system are true, by their scores.

    Attributes
    ----------
    k : int
    bins : tuple of ScoreBin
        Those that have predictions, by ascending scores.
    ece, brier : float
        The expected calibration error and the Brier score of the same predictions.
    """

    k: int
    bins: tuple[ScoreBin, ...]
    ece: float
    brier: float


class Reliabilities(Observer):
    """An observer that compares scores with hits, bin by bin of the scores; the sums are exact.

    Parameters
    ----------
    program : Program
        Cutoff and bins are those of its first ECE or Brier score, else the deepest cutoff and 15 bins.
    n_systems : int
    terms : Terms
        Those that all systems have in common: whether rows without a true label are left out, and weights.

    Raises
    ------
    UsageError
        No metric has a cutoff.
    """

    needs_rankings = True

    def __init__(self, program: Program, n_systems: int, terms: Terms) -> None:
        if not program.deepest:
            raise UsageError("the picture 'calibration' needs a metric with a cutoff (hint: add one, such as ECE@5)")
        measures = sorted(
            (each for each in program.measures if each.metric.family == "calibration"),
            key=lambda each: each.metric.fold != "ECE",
        )
        first = measures[0] if measures else None
        self._k = program.deepest if first is None or first.k is None else first.k
        self._n_bins = int(first.number("bins") if first is not None else 0) or DEFAULT_BINS
        self._drop_empty, self._unit = terms.drop_empty, terms.weight_unit
        # Score - hit and predictions of each bin, squares of them, then score of each bin.
        self._parts = [Sums(2 * self._n_bins + 1) for _ in range(n_systems)]

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block."""
        for ranking, part in zip(block.rankings, self._parts, strict=True):
            self._check(ranking, block)
            part.combine(sums=self._sum(ranking, block))

    def _sum(self, ranking: Ranking, block: BlockValues) -> Int64:
        """Return the sums of a block, some rows at a time: every bin of every row has a value."""
        n_rows, n_outputs, n_bins = len(ranking.labels), 2 * self._n_bins + 1, self._n_bins
        specs = np.array([(self._k, 0, n_bins), (self._k, n_bins, 0)], dtype=np.int64)
        scores_only = np.array([(self._k, 0, n_bins)], dtype=np.int64)
        nothing = Rows(np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
        kept = np.diff(block.truth.indptr) > 0 if self._drop_empty else np.ones(n_rows, dtype=np.bool_)
        counted = ranking._replace(n_ranked=np.where(kept, ranking.n_ranked, 0))
        sums, none_kept = Sums.zeros(n_outputs), no_extremes(n_outputs, np.inf)
        step = max(STEP // n_outputs, 1)
        for first in range(0, n_rows, step):
            n = min(step, n_rows - first)
            values = np.zeros((n, n_outputs, SLOTS))
            of_hits, of_scores = np.zeros((n, n_bins + 1, SLOTS)), np.zeros((n, n_bins, SLOTS))
            compute_bins(block.truth, counted, first, specs, of_hits)
            compute_bins(nothing, counted, first, scores_only, of_scores)
            values[:, : n_bins + 1], values[:, n_bins + 1 :] = of_hits, of_scores
            add_values(values, block.weights[first : first + n], sums, none_kept)
        return sums

    def _check(self, ranking: Ranking, block: BlockValues) -> None:
        """Refuse scores that are no probabilities."""
        scores = ranking.scores[:, : self._k]
        is_ranked = np.arange(scores.shape[1]) < ranking.n_ranked[:, None]
        wrong = is_ranked & ~((scores >= 0) & (scores <= 1))
        if wrong.any():
            i, j = (int(each) for each in np.argwhere(wrong)[0])
            row = block.first_row + (i if block.kept is None else int(block.kept[i]))
            raise Fault(
                row,
                f"row {row}, counted from 0: label {ranking.labels[i, j]} has score {scores[i, j]:g}; the picture "
                "'calibration': expected probabilities, from 0 to 1 (hint: apply a sigmoid to logits)",
            )

    def finish(self) -> list[Reliability]:
        """Return the reliability of each system."""
        return [self._finish(part) for part in self._parts]

    def _finish(self, part: Sums) -> Reliability:
        n = self._n_bins
        sums = [(exact(each[NUM]), exact(each[DEN])) for each in part.sums]
        total = sum((weight for _, weight in sums[:n]), Fraction(0))
        bins = [
            ScoreBin(
                low=i / n,
                high=(i + 1) / n,
                weight=float(weight) * self._unit,
                mean_score=float(score / weight),
                hit_rate=float((score - excess) / weight),
            )
            for i, ((excess, weight), (score, _)) in enumerate(zip(sums[:n], sums[n + 1 :], strict=True))
            if weight
        ]
        error = sum((abs(excess) for excess, _ in sums[:n]), Fraction(0))
        squares, weight = sums[n]
        return Reliability(
            self._k, tuple(bins), float(error / total) if total else 0.0, float(squares / weight) if weight else 0.0
        )
