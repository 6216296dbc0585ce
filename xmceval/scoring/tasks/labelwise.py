"""Task for label-wise metrics, from the counts of each label among the best labels or decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from xmceval.kernels.metrics.labelwise import FIRST_SPAN
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Int64
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.decisions import Decisions
from xmceval.scoring.tasks.label_counts import LabelCounters
from xmceval.scoring.tasks.label_means import RULES, bin_values, label_values
from xmceval.scoring.tasks.task import Estimates, ScoredRows, Task, by_rel, look_up


@dataclass(frozen=True)
class Labelwise(Task):
    """Label-wise measures with the same `rel`, either at cutoffs or of decisions."""

    measures: tuple[Measure, ...]
    rel: int
    cutoffs: Int64  # the distinct cutoffs, ascending; none for decisions
    in_ideal: bool = False  # whether labels of the ideal rankings are counted too

    has_bins = True

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure comes from counts by label."""
        return measure.metric.family in {"label", "confusion"} and not Decisions.computes(measure)

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Labelwise]:
        """Return one task for each `rel`, those at cutoffs first."""
        measures = list(measures)
        for measure in measures:
            look_up(RULES, measure.metric.fold, "rate", measure)
        at_cutoffs = [measure for measure in measures if measure.metric.family != "confusion"]
        decisions = [measure for measure in measures if measure.metric.family == "confusion"]
        return [
            cls(
                group,
                rel,
                np.array(sorted({measure.k for measure in group if measure.k is not None}), dtype=np.int64),
                in_ideal=any(measure.option("over") == "ideal" for measure in group),
            )
            for rel, group in (*by_rel(at_cutoffs), *by_rel(decisions))
        ]

    @property
    def needs_scores(self) -> bool:
        """Whether decisions are counted, and not the labels at cutoffs."""
        return not self.cutoffs.size

    follows_ties = needs_scores  # which labels are within a cutoff follows the order by label

    def empty(self, setup: Setup) -> LabelCounters:
        """Return counters of no rows, one set for all threads."""
        n_spans, is_weighted = max(self.cutoffs.size, 1), setup.weights is not None
        return LabelCounters(setup.width.n_labels, n_spans, in_ideal=self.in_ideal, weighted=is_weighted)

    def add(self, batch: Batch, part: LabelCounters) -> None:
        """Count the labels of a batch."""
        setup, (truth, _) = batch.setup, batch.relevant(self.rel)
        if self.cutoffs.size:
            ranking, propensities = batch.ranking, setup.propensities
            part.add_ranked(
                truth, ranking.labels, ranking.n_ranked, self.cutoffs, batch.weights, setup.drop_empty, propensities
            )
        else:
            part.add_decisions(truth, batch.decided(self.rel), batch.weights, setup.drop_empty)

    def n_decided(self, part: LabelCounters) -> int | None:
        """Return how many labels were decided on, in units of sample weights."""
        return None if self.cutoffs.size else int(part.table().counts[:, FIRST_SPAN].sum())

    def finish(self, part: LabelCounters, scored: ScoredRows) -> Estimates:
        """Return the value of each measure; there is no interval of label-wise values."""
        values = label_values(self.measures, part.table(), self.cutoffs, scored.setup)
        return {name: Estimate.plain(value) for name, value in values.items()}

    def finish_bins(self, part: LabelCounters, scored: ScoredRows) -> Sequence[Estimates]:
        """Return the values within each bin of labels."""
        bins = scored.setup.bins
        if bins is None:
            return [{} for _ in range(scored.setup.n_bins)]
        return [
            {name: Estimate.plain(value) for name, value in values.items()}
            for values in bin_values(self.measures, part.table(), self.cutoffs, scored.setup, bins)
        ]
