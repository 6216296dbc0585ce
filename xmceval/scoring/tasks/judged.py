"""Judged tasks: how many of the best labels were judged: true, or stored in the truth with value 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from xmceval.metrics.measure import Measure
from xmceval.scoring.batch import Batch
from xmceval.scoring.tasks.task import RowTask, RowValues, look_up

FOLDS = frozenset({"judged"})


@dataclass(frozen=True)
class Judged(RowTask):
    """Measures of judgments; which grade makes a label true does not matter to them."""

    measures: tuple[Measure, ...]
    rel: int = 1

    needs_zeros = True
    follows_ties = False

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure counts judged labels."""
        return measure.metric.family == "judged"

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Judged]:
        """Return one task for all measures."""
        measures = tuple(measures)
        for measure in measures:
            look_up(FOLDS, measure.metric.fold, "rule of judgments", measure)
        return [cls(measures)] if measures else []

    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of rows."""
        from xmceval.kernels.metrics.judged import count_judged  # at each start, kernels cost time to load

        values = batch.values("outputs", batch.n_rows, len(self.measures))
        values.fill(0.0)
        if batch.zeros is not None:
            cutoffs = np.array([measure.k for measure in self.measures], dtype=np.int64)
            count_judged(tuple(batch.truth), tuple(batch.zeros), batch.ranking.arrays, cutoffs, values)
        is_counted = batch.is_counted(batch.truth)
        values[:, :, 0] *= is_counted[:, None]
        values[:, :, 1] = is_counted[:, None]
        return RowValues(values, np.empty((0, 0, 0)), np.zeros(len(self.measures), dtype=np.int64))
