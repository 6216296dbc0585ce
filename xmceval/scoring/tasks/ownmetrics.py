"""Own metrics: values of rows that a user's function makes of their ranked hits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Rows
from xmceval.scoring.batch import Batch, Ranking
from xmceval.scoring.tasks.task import NO_SHARES, RowTask, RowValues, by_rel


@dataclass(frozen=True)
class OwnMetrics(RowTask):
    """Users' own metrics with the same `rel`."""

    measures: tuple[Measure, ...]
    rel: int

    needs_scores = False
    follows_ties = False

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is a user's own."""
        return measure.metric.family == "own"

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[OwnMetrics]:
        """Return one task for each `rel`."""
        return [cls(group, rel) for rel, group in by_rel(measures)]

    def compute(self, batch: Batch) -> RowValues:
        """Call the function of each measure for each row that counts."""
        truth, n_dropped = batch.relevant(self.rel)
        values = batch.values("outputs", batch.n_rows, len(self.measures))
        values.fill(0.0)
        is_counted, n_true, found = batch.is_counted(truth), np.diff(truth.indptr).tolist(), find_hits(batch, truth)
        for o, measure in enumerate(self.measures):
            hits = found[:, : measure.k].copy()
            for row in np.flatnonzero(is_counted).tolist():
                values[row, o, :2] = _call(batch, measure, row, hits[row], n_true[row]), 1.0
        return RowValues(values, NO_SHARES, np.full(len(self.measures), n_dropped))


def find_hits(batch: Batch, truth: Rows) -> NDArray[np.bool_]:
    """Return whether the labels of each rank are true, bool [n_rows, depth]; those that are not there are not."""
    ranking: Ranking = batch.ranking
    n_entries, depth = int(truth.indptr[-1]), ranking.labels.shape[1]
    is_ranked = np.arange(depth) < ranking.n_ranked[:, None]
    labels, of_truth = np.where(is_ranked, ranking.labels, 0), truth.indices[:n_entries]
    width = 1 + max(int(labels.max(initial=0)), int(of_truth.max(initial=0)))
    rows = np.arange(batch.n_rows)
    places = rows[:, None] * width + labels
    true_places = np.repeat(rows, np.diff(truth.indptr)) * width + of_truth
    return np.isin(places, true_places) & is_ranked


def _call(batch: Batch, measure: Measure, row: int, hits: NDArray[np.bool_], n_true: int) -> float:
    """Return the value of a row.

    Raises
    ------
    Fault
        An error of the function, or a value outside of the bounds.
    """
    function: Any = measure.metric.function
    (low, high), given = measure.metric.bounds, f"{measure} of {hits.astype(int).tolist()} and n_true {n_true}"
    try:
        value = float(function(hits, n_true))
    except Exception as error:
        raise batch.fault(row, f"{given}: its function raised {type(error).__name__}: {error}") from error
    if math.isnan(value) or not low <= value <= high:
        raise batch.fault(row, f"{given} is {value:g}; expected a number from {low:g} to {high:g}")
    return value


def check_none_own(measures: Iterable[Measure], what: str) -> None:
    """Refuse users' own metrics, for what keeps values beyond the process in which their functions are.

    Raises
    ------
    UsageError
        Names the first.
    """
    for measure in measures:
        if OwnMetrics.computes(measure):
            raise UsageError(f"{measure}: {what} does not take own metrics, whose functions may change unnoticed")
