"""Judged tasks: metrics of the labels that were judged: true, or stored in the truth with value 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64
from xmceval.scoring.batch import Batch, longest
from xmceval.scoring.tasks.task import NO_SHARES, TREATMENTS, RowTask, RowValues, by_rel, look_up


def _count_judged(batch: Batch, judged: tuple[Any, Any], measure: Measure, values: Float64, o: int) -> None:
    from xmceval.kernels.metrics.judged import count_judged  # at each start, kernels cost time to load

    count_judged(*judged, batch.ranking.arrays, measure.k or 0, values, o)


def _prefer_true(batch: Batch, judged: tuple[Any, Any], measure: Measure, values: Float64, o: int) -> None:
    from xmceval.kernels.metrics.judged import prefer_true

    size = sum(longest(rows) for rows in (batch.truth, batch.zeros) if rows is not None)
    labels, scores = (batch.scratch.array(f"judged {kind}", size, kind) for kind in (np.int64, np.float64))
    prefer_true(*judged, tuple(batch.scores), measure.rel, labels, scores, values, o)


# What writes the values of a measure into output `o` of values [n_rows, n_outputs, SLOTS].
FOLDS: Mapping[str, Callable[[Batch, tuple[Any, Any], Measure, Float64, int], None]] = MappingProxyType(
    {"judged": _count_judged, "Bpref": _prefer_true}
)
TIE_BOUNDS = frozenset({"Bpref"})


@dataclass(frozen=True)
class Judged(RowTask):
    """Measures of judgments with the same `rel`."""

    measures: tuple[Measure, ...]
    rel: int

    needs_zeros = True
    follows_ties = False

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure is of judged labels."""
        return measure.metric.family == "judged"

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Judged]:
        """Return one task for each `rel`."""
        measures = list(measures)
        for measure in measures:
            look_up(FOLDS, measure.metric.fold, "rule of judgments", measure)
        return [cls(group, rel) for rel, group in by_rel(measures)]

    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of rows."""
        truth, n_dropped = batch.relevant(self.rel)
        values = batch.values("outputs", batch.n_rows, len(self.measures))
        values.fill(0.0)
        if batch.zeros is not None:
            judged = tuple(batch.truth), tuple(batch.zeros)
            for o, measure in enumerate(self.measures):
                FOLDS[measure.metric.fold](batch, judged, measure, values, o)
        is_counted = batch.is_counted(truth)
        values[:, :, 1] = 1.0
        values *= is_counted[:, None, None]
        return RowValues(values, NO_SHARES, np.full(len(self.measures), n_dropped))

    @property
    def tied_by_label(self) -> Mapping[str, Sequence[Measure]]:
        """The measures that follow the order by label, by the treatment of ties that they cannot follow."""
        unbounded = [measure for measure in self.measures if measure.metric.fold not in TIE_BOUNDS]
        return {ties: self.measures if ties == "expected" else unbounded for ties in TREATMENTS}
