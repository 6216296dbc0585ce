"""Reliability: how often the best labels of each row are true, by their scores, where these are probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, UsageError
from xmceval.kernels.compile.decorators import Arrays
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.batch import Batch, Ranking
from xmceval.scoring.estimates import exact
from xmceval.scoring.sums import Sums
from xmceval.scoring.tasks.calibration import DEN, FOLDS, NUM, Calibration, compute_bins

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


@dataclass(frozen=True)
class ReliabilityBins(Calibration):
    """Scores and hits of the k best labels, bin by bin of the scores, from grade 1 on; it computes no measure.

    Of each bin: score - hit and predictions; then squares of score - hit; then the score of each bin. All this once for
    all labels, and then for each bin of labels by training frequency.
    """

    @classmethod
    def of(cls, measures: Sequence[Measure], deepest: int, n_label_bins: int = 0) -> ReliabilityBins:
        """Make the task: cutoff and bins are those of the first ECE or Brier score, else `deepest` and 15 bins.

        Raises
        ------
        UsageError
            No metric has a cutoff.
        """
        if not deepest:
            raise UsageError("the picture 'calibration' needs a metric with a cutoff (hint: add one, such as ECE@5)")
        calibrated = (each for each in measures if each.metric.family == "calibration")
        first = min(calibrated, key=lambda each: each.metric.fold not in FOLDS, default=None)
        k = deepest if first is None or first.k is None else first.k
        n_bins = int(first.number("bins") if first is not None else 0) or DEFAULT_BINS
        specs = np.array([(k, 0, n_bins), (k, n_bins, 0)], dtype=np.int64)
        return cls((), 1, specs, (2 * n_bins + 1) * (1 + n_label_bins))

    @property
    def k(self) -> int:
        """How many labels of each row."""
        return int(self.specs[0, 0])

    @property
    def n_bins(self) -> int:
        """The number of bins of scores."""
        return int(self.specs[0, 2])

    @property
    def needs_scores(self) -> bool:
        """Only the ranking is looked at."""
        return False

    def compute(self, batch: Batch, first_row: int, values: Float64) -> None:
        """Add the rows from `first_row` on to values [n_rows, n_outputs, SLOTS], which are 0."""
        some = slice(first_row, first_row + len(values))
        (indptr, indices, grades), _ = batch.relevant(self.rel)
        truth = Rows(indptr[first_row : first_row + len(values) + 1], indices, grades)
        n_ranked = np.where(batch.is_counted(truth), np.minimum(batch.ranking.n_ranked[some], self.k), 0)
        labels = batch.ranking.labels[some]
        ranking = Ranking(Arrays((labels, batch.ranking.scores[some], n_ranked)), 0)
        self._add(truth, ranking, values, 0)
        bins, n_outputs = batch.terms.bins, 2 * self.n_bins + 1
        if bins is None or self.n_outputs == n_outputs:
            return
        is_ranked = np.arange(labels.shape[1]) < n_ranked[:, None]
        codes = batch.terms.propensities.codes_of(np.where(is_ranked, labels, 0).ravel())
        bin_of = bins.by_code[codes].reshape(labels.shape)
        for number in range(len(bins)):
            self._add(truth, _keep(ranking, is_ranked & (bin_of == number)), values, (1 + number) * n_outputs)

    def _add(self, truth: Rows, ranking: Ranking, values: Float64, first_output: int) -> None:
        """Add the ranked labels of some rows to their values, from one output on."""
        specs = self.specs + np.array([0, first_output, 0])
        compute_bins(truth, ranking, 0, specs, values)
        # Without any true label the difference is the score.
        nothing = Rows(np.zeros(len(values) + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
        scores_only = np.array([(self.k, first_output + self.n_bins + 1, self.n_bins)], dtype=np.int64)
        compute_bins(nothing, ranking, 0, scores_only, values)

    def check(self, batch: Batch) -> None:
        """Refuse scores of the k best labels that are no probabilities."""
        ranking = batch.ranking
        scores = ranking.scores[:, : self.k]
        is_ranked = np.arange(scores.shape[1]) < ranking.n_ranked[:, None]
        wrong = is_ranked & ~((scores >= 0) & (scores <= 1))
        if wrong.any():
            i, j = (int(each) for each in np.argwhere(wrong)[0])
            row = batch.block.first_row + (i if batch.kept is None else int(batch.kept[i]))
            raise Fault(
                row,
                f"row {row}, counted from 0: label {ranking.labels[i, j]} has score {scores[i, j]:g}; the picture "
                "'calibration': expected probabilities, from 0 to 1 (hint: apply a sigmoid to logits)",
            )

    def find_reliability(self, part: Sums, weight_unit: float) -> list[Reliability]:
        """Return the reliability of a system, from what was counted: of all labels, then of each bin of them."""
        n = 2 * self.n_bins + 1
        return [self._find(part.sums[i : i + n], weight_unit) for i in range(0, self.n_outputs, n)]

    def _find(self, words: Int64, weight_unit: float) -> Reliability:
        """Return the reliability of some labels; `words` are their sums, int64 [n_outputs, MOMENTS, WORDS]."""
        n = self.n_bins
        sums = [(exact(each[NUM]), exact(each[DEN])) for each in words]
        total = sum((weight for _, weight in sums[:n]), Fraction(0))
        bins = [
            ScoreBin(
                low=i / n,
                high=(i + 1) / n,
                weight=float(weight) * weight_unit,
                mean_score=float(score / weight),
                hit_rate=float((score - excess) / weight),
            )
            for i, ((excess, weight), (score, _)) in enumerate(zip(sums[:n], sums[n + 1 :], strict=True))
            if weight
        ]
        error = sum((abs(excess) for excess, _ in sums[:n]), Fraction(0))
        squares, weight = sums[n]
        return Reliability(
            self.k, tuple(bins), float(error / total) if total else 0.0, float(squares / weight) if weight else 0.0
        )


def _keep(ranking: Ranking, kept: NDArray[np.bool_]) -> Ranking:
    """Return a ranking of some of its labels only: those `kept`, bool [n_rows, depth]."""
    order = np.argsort(~kept, axis=1, kind="stable")
    labels, scores = (
        np.take_along_axis(ranking.labels, order, axis=1),
        np.take_along_axis(ranking.scores, order, axis=1),
    )
    return Ranking(Arrays((labels, scores, kept.sum(axis=1))), 0)
