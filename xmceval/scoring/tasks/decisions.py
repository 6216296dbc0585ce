"""Task for metrics of decisions at a threshold, from numerators and denominators summed over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from xmceval.kernels.metrics.topk import SLOTS
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, RATIOS, Cells, rate_values
from xmceval.rows.block import Float64
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.task import NO_SHARES, Estimates, RowTask, RowValues, rule_of
from xmceval.scoring.totals import Sums

# Per-row values that are not rates.
ROW_VALUES: Mapping[str, Callable[[Cells], Float64]] = MappingProxyType(
    {
        "subset": lambda cells: ((cells.fp == 0) & (cells.fn == 0)).astype(np.float64),
        "mismatch": lambda cells: ((cells.fp > 0) | (cells.fn > 0)).astype(np.float64),
        "hamming": lambda cells: cells.fp + cells.fn,
    }
)


def adds_up_over_rows(measure: Measure) -> bool:
    """Return whether a measure of decisions is a mean or a ratio over rows, rather than a mean over labels."""
    if measure.average == "micro":
        return measure.metric.fold in RATIOS
    return measure.average in {"samples", "rows"}


@dataclass(frozen=True)
class Decisions(RowTask):
    """Measures of decisions that are means or ratios over rows, with the same `rel`, at a threshold or all at n."""

    measures: tuple[Measure, ...]
    rel: float

    place = 2

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> Decisions:
        """Return the task of these measures, whose rates are known."""
        for measure in measures:
            rules: Mapping[str, Any] = ROW_VALUES if measure.average == "rows" else RATES
            rule_of(rules, measure.metric.fold, "rate", measure)
        return cls(measures, rel)

    def compute(self, batch: Batch) -> RowValues:
        """Compute numerator and denominator of each measure per row; ties do not affect decisions at a threshold."""
        truth, n_dropped = batch.relevant(self.rel)
        decided = batch.decided(self.rel, is_at_n=self.is_at_n)
        hits, decisions = decided.counts.T
        cells = Cells.of(hits, decisions, np.diff(truth.indptr), batch.n_labels(self.rel))
        values = batch.values(f"values of decisions {self.rel} {self.is_at_n}", batch.n_rows, len(self.measures))
        values.fill(0.0)
        for o, measure in enumerate(self.measures):
            fold = measure.metric.fold
            beta = measure.number("beta")
            if measure.average == "rows":
                fraction: tuple[Any, Any] = ROW_VALUES[fold](cells), 1.0
            elif measure.average == "samples":
                rates, defined = rate_values(RATES[fold], cells, beta, measure.option("zero", "0"))
                fraction = np.where(defined, rates, 0.0), defined
            else:
                (fraction,) = RATES[fold](cells, beta)
            values[:, o, 0], values[:, o, 1] = fraction
        values[:, :, :2] *= batch.is_counted(truth)[:, None, None]
        n_decided = np.full(2, decisions.sum(), dtype=np.int64)
        shares = NO_SHARES
        bins = batch.setup.bins
        if self.is_at_n and bins is not None:  # numerators are multiples of hits, which are in bins
            n_rows = batch.n_rows
            labels = decided.labels[: decisions.sum()]
            of_bin = bins.by_code[batch.setup.propensities.codes_of(labels >> 1)]
            hits_of_bins = np.zeros((n_rows, len(bins)))
            np.add.at(hits_of_bins, (np.repeat(np.arange(n_rows), decisions), of_bin), labels & 1)
            parts = np.zeros((n_rows, len(self.measures), len(bins), SLOTS))
            parts[..., 0] = values[:, :, :1] / np.maximum(hits, 1)[:, None, None] * hits_of_bins[:, None]
            parts[..., 1] = values[:, :, 1:2]
            shares = parts.reshape(n_rows, -1, SLOTS)
        return RowValues(values, shares, n_dropped, n_decided)

    def n_decided(self, part: Sums) -> int:
        """Return the number of decisions."""
        return int(part["true"][0])

    def finish(self, part: Sums, setup: Setup, n_rows: int) -> Estimates:
        """Divide; 0/0 counts as specified by the option of the measure."""
        estimates = super().finish(part, setup, n_rows)
        ones = [measure.name for measure in self.measures if measure.option("zero") == "1"]
        return estimates | {name: Estimate(1.0) for name in ones if estimates[name].undefined}
