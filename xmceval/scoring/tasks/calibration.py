"""Calibration tasks: how far scores that are probabilities are from hits, among the best labels of each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from xmceval.errors import listed
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.kernels.metrics.totals import add_values
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.batch import Batch, Ranking, Terms
from xmceval.scoring.estimates import Estimate, exact
from xmceval.scoring.sums import Pending, Sums, no_extremes
from xmceval.scoring.tasks.task import NO_SHARES, Estimates, RowTask, RowValues, ScoredRows, Task, by_rel

STEP = 1 << 15  # values of rows that are held at a time
FOLDS = frozenset({"ECE"})
SQUARES, ADAPTIVE = "Brier", "adaptiveECE"
NUM, DEN = 0, 1  # moments


@dataclass(frozen=True)
class Squares(RowTask):
    """Brier scores with the same `rel`: their numerators and denominators add up over rows."""

    measures: tuple[Measure, ...]
    rel: int

    follows_ties = False

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is a mean of squared differences."""
        return measure.metric.family == "calibration" and measure.metric.fold == SQUARES

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Squares]:
        """Return one task for each `rel`."""
        return [cls(group, rel) for rel, group in by_rel(measures)]

    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of rows."""
        check_probabilities(batch, self.measures)
        truth, n_dropped = batch.relevant(self.rel)
        values = batch.values("outputs", batch.n_rows, len(self.measures))
        specs = np.array([(measure.k or 0, o, 0) for o, measure in enumerate(self.measures)], dtype=np.int64)
        values.fill(0.0)
        compute_bins(truth, batch.ranking, 0, specs, values, drop_empty=batch.terms.drop_empty)
        return RowValues(values, NO_SHARES, np.full(len(self.measures), n_dropped))


@dataclass(frozen=True)
class Calibration(Task):
    """Calibration errors with the same `rel`: what adds up over rows is the difference of each bin of scores.

    Attributes
    ----------
    measures : tuple of Measure
    rel : int
    specs : int64 array [n_measures, 3]
        Cutoff, first output, and number of bins.
    n_outputs : int
        One for each bin of each measure.
    """

    measures: tuple[Measure, ...]
    rel: int
    specs: Int64
    n_outputs: int

    follows_ties = False

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure compares scores with hits, bin by bin."""
        return measure.metric.family == "calibration" and measure.metric.fold in FOLDS

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Calibration]:
        """Return one task for each `rel`."""
        return [cls._of(group, rel) for rel, group in by_rel(measures)]

    @classmethod
    def _of(cls, measures: tuple[Measure, ...], rel: int) -> Calibration:
        specs, n_outputs = [], 0
        for measure in measures:
            n_bins = int(measure.number("bins"))
            specs.append((measure.k or 0, n_outputs, n_bins))
            n_outputs += n_bins
        return cls(measures, rel, np.array(specs, dtype=np.int64), n_outputs)

    def empty(self, terms: Terms) -> Sums:  # noqa: ARG002 - tasks share one signature
        """Return sums of no rows."""
        return Sums(self.n_outputs)

    def add(self, batch: Batch, part: Sums | Pending) -> None:
        """Add the rows of a batch, some at a time: every bin of every row has a value."""
        self.check(batch)
        (sums, shares), none_kept = part.begin(), no_extremes(self.n_outputs, np.inf)
        step = max(STEP // self.n_outputs, 1)
        for first_row in range(0, batch.n_rows, step):
            n_rows = min(step, batch.n_rows - first_row)
            values = batch.scratch.array("calibration", n_rows * self.n_outputs * SLOTS, np.float64)
            values = values.reshape(n_rows, self.n_outputs, SLOTS)
            values.fill(0.0)
            self.compute(batch, first_row, values)
            add_values(values, batch.weights[first_row : first_row + n_rows], sums, none_kept)
        part.combine(sums=sums, shares=shares)

    def check(self, batch: Batch) -> None:
        """Refuse scores that are no probabilities."""
        check_probabilities(batch, self.measures)

    def compute(self, batch: Batch, first_row: int, values: Float64) -> None:
        """Add the rows from `first_row` on to values [n_rows, n_outputs, SLOTS], which are 0."""
        truth, _ = batch.relevant(self.rel)
        compute_bins(truth, batch.ranking, first_row, self.specs, values, drop_empty=batch.terms.drop_empty)

    def finish(self, part: Sums, scored: ScoredRows) -> Estimates:  # noqa: ARG002 - tasks share one signature
        """Divide; a sum of differences has no interval."""
        return {
            measure.name: Estimate.plain(mean_gap(part.sums[first : first + n_bins]))
            for measure, (_, first, n_bins) in zip(self.measures, self.specs, strict=True)
        }


def mean_gap(sums: Int64) -> float | None:
    """Return the sum of the absolute differences of bins over that of their predictions; None without predictions."""
    moments = [(exact(each[NUM]), exact(each[DEN])) for each in sums]
    n_predictions = sum((den for _, den in moments), Fraction(0))
    error = sum((abs(num) for num, _ in moments), Fraction(0))
    return float(error / n_predictions) if n_predictions else None


def compute_bins(
    truth: Rows, ranking: Ranking, first_row: int, specs: Int64, values: Float64, *, drop_empty: bool = False
) -> None:
    """Add the rows from `first_row` on to values [n_rows, n_outputs, SLOTS], which are 0."""
    from xmceval.kernels.metrics.calibration import compute_calibration  # at each start, kernels cost time to load

    compute_calibration(tuple(truth), ranking.arrays, first_row, drop_empty, specs, values)


def check_probabilities(batch: Batch, measures: Iterable[Measure]) -> None:
    """Refuse scores that are no probabilities.

    Raises
    ------
    Fault
        The first such score.
    """
    scores = batch.scores
    values = scores.values[: scores.indptr[-1]]
    wrong = (values < 0) | (values > 1)
    if wrong.any():
        entry = int(np.argmax(wrong))
        raise batch.fault(
            int(np.searchsorted(scores.indptr, entry, side="right")) - 1,
            f"label {scores.indices[entry]} has score {values[entry]:g}; {listed(measures)}: expected probabilities, "
            "from 0 to 1 (hint: apply a sigmoid to logits, or leave these metrics out)",
            of_scores=True,
        )
