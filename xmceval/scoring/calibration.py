"""Calibration tasks: how far scores that are probabilities are from hits, among the best labels of each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from xmceval.errors import listed
from xmceval.kernels.topk import SLOTS
from xmceval.kernels.totals import MOMENTS, add_values
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.estimates import Estimate, estimate, exact
from xmceval.scoring.sums import Sums
from xmceval.scoring.task import Estimates, Task, by_rel, look_up

STEP = 1 << 15  # values of rows that are held at a time
FOLDS = frozenset({"ECE", "Brier"})
NUM, DEN = 0, 1  # moments


@dataclass(frozen=True)
class Calibration(Task):
    """Measures of probabilities with the same `rel`.

    Attributes
    ----------
    measures : tuple of Measure
    rel : int
    specs : int64 array [n_measures, 3]
        Cutoff, first output, and number of bins, 0 for one output of squares.
    n_outputs : int
        One for each bin of each measure.
    """

    measures: tuple[Measure, ...]
    rel: int
    specs: Int64
    n_outputs: int

    @staticmethod
    def takes(measure: Measure) -> bool:
        """Whether a measure compares scores with hits."""
        return measure.metric.family == "calibration"

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Calibration]:
        """Return one task for each `rel`."""
        return [cls._of(group, rel) for rel, group in by_rel(measures)]

    @classmethod
    def _of(cls, measures: tuple[Measure, ...], rel: int) -> Calibration:
        specs, n_outputs = [], 0
        for measure in measures:
            fold = look_up(FOLDS, measure.metric.fold, "rule of calibration", measure)
            n_bins = int(measure.number("bins")) if fold == "ECE" else 0
            specs.append((measure.k or 0, n_outputs, n_bins))
            n_outputs += n_bins or 1
        return cls(measures, rel, np.array(specs, dtype=np.int64), n_outputs)

    def workspace(self) -> tuple[Float64, Int64]:
        """Return moments and sums."""
        return np.empty(MOMENTS), Sums.zeros(self.n_outputs)

    def empty(self, terms: Terms) -> Sums:  # noqa: ARG002 - tasks share one signature
        """Return sums of no rows."""
        return Sums(self.n_outputs)

    def add(self, batch: Batch, space: tuple[Float64, Int64], part: Sums) -> None:
        """Add the rows of a batch, some at a time: every bin of every row has a value."""
        from xmceval.kernels.calibration import compute_calibration  # at each start, kernels cost time to load

        self._check_probabilities(batch)
        truth, _ = batch.relevant(self.rel)
        moments, sums = space
        sums.fill(0)
        step = max(STEP // self.n_outputs, 1)
        for first_row in range(0, batch.n_rows, step):
            n_rows = min(step, batch.n_rows - first_row)
            values = batch.scratch.array("calibration", n_rows * self.n_outputs * SLOTS, np.float64)
            values = values.reshape(n_rows, self.n_outputs, SLOTS)
            values.fill(0.0)
            compute_calibration(
                tuple(truth), tuple(batch.ranking), first_row, batch.terms.drop_empty, self.specs, values
            )
            add_values(values, batch.weights[first_row : first_row + n_rows], moments, sums)
        part.add(sums, Sums.zeros(0), np.zeros(self.n_outputs, dtype=np.int64))

    def _check_probabilities(self, batch: Batch) -> None:
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
            row = int(np.searchsorted(scores.indptr, entry, side="right")) - 1
            raise batch.fault(
                row,
                f"label {scores.indices[entry]} has score {values[entry]:g}; {listed(self.measures)}: expected "
                "probabilities, from 0 to 1 (hint: apply a sigmoid to logits, or leave these metrics out)",
                of_scores=True,
            )

    @staticmethod
    def merge(left: Sums, right: Sums) -> Sums:
        """Add two sums."""
        return left.merge(right)

    def finish(self, part: Sums, n_rows: int, n_labels: int, terms: Terms) -> Estimates:  # noqa: ARG002
        """Divide."""
        return {
            str(measure): self._finish_one(part.sums[first : first + (n_bins or 1)], n_rows, is_square=n_bins == 0)
            for measure, (_, first, n_bins) in zip(self.measures, self.specs, strict=True)
        }

    def _finish_one(self, sums: Int64, n_rows: int, *, is_square: bool) -> Estimate:
        """Return a ratio of sums, or the sum of the bins' differences; the latter has no interval."""
        if is_square:
            return estimate(sums[0], n_rows).without_ceiling().without_tie_bounds()
        n_predictions = sum((exact(each[DEN]) for each in sums), Fraction(0))
        if not n_predictions:
            return Estimate.plain(None)
        return Estimate(float(sum((abs(exact(each[NUM])) for each in sums), Fraction(0)) / n_predictions))

    def tied_by_label(self, ties: str) -> Iterable[Measure]:  # noqa: ARG002
        """Return all measures: which labels are the best follows the order by label."""
        return self.measures
