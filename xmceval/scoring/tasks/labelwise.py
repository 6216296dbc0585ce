"""Task for label-wise metrics, from the counts of each label among the best labels or decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xmceval.kernels.metrics.labelwise import FIRST_SPAN
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Int64
from xmceval.scoring.batch import Batch
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.decisions import Decisions
from xmceval.scoring.tasks.label_counts import LabelCounters
from xmceval.scoring.tasks.label_means import RULES, bin_estimates, label_estimates
from xmceval.scoring.tasks.task import TREATMENTS, Estimates, Task, rule_of


@dataclass(frozen=True)
class Labelwise(Task):
    """Label-wise measures with the same `rel`, either at cutoffs or of decisions."""

    measures: tuple[Measure, ...]
    rel: int
    cutoffs: Int64  # the distinct cutoffs, ascending; none for decisions
    in_ideal: bool = False  # whether labels of ideal rankings are also counted

    @staticmethod
    def computes(measure: Measure) -> bool:
        """Whether a measure comes from counts by label."""
        return measure.metric.family in {"label", "confusion"} and not Decisions.computes(measure)

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: int) -> Labelwise:
        """Return the task of measures that are all at cutoffs, or all of decisions."""
        for measure in measures:
            rule_of(RULES, measure.metric.fold, "rate", measure)
        cutoffs = sorted({measure.k for measure in measures if measure.k is not None})
        in_ideal = any(measure.option("over") == "ideal" for measure in measures)
        return cls(measures, rel, np.array(cutoffs, dtype=np.int64), in_ideal)

    @property
    def needs_scores(self) -> bool:
        """Whether decisions are counted instead of labels at cutoffs."""
        return not self.cutoffs.size

    @property
    def tied_by_label(self) -> Mapping[str, Sequence[Measure]]:
        """All measures at cutoffs, since the order by label decides which tied labels are within a cutoff."""
        return dict.fromkeys(TREATMENTS, self.measures) if self.cutoffs.size else {}

    def empty(self, setup: Setup) -> LabelCounters:
        """Return empty counters, one set for all threads."""
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
        """Return the number of decisions, in units of sample weights."""
        return None if self.cutoffs.size else int(part.table().counts[:, FIRST_SPAN].sum())

    def finish(self, part: LabelCounters, setup: Setup, n_rows: int) -> Estimates:  # noqa: ARG002 - counters know
        """Return the value of each measure; label-wise values have no intervals."""
        return label_estimates(self.measures, part.table(), self.cutoffs, setup)

    def finish_bins(self, part: LabelCounters, setup: Setup, n_rows: int) -> Sequence[Estimates]:  # noqa: ARG002
        """Return the values within each bin of labels."""
        return [] if setup.bins is None else bin_estimates(self.measures, part.table(), self.cutoffs, setup, setup.bins)
