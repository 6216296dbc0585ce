"""Task for metrics of decisions at a threshold, from numerators and denominators summed over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from xmceval.kernels.metrics.labelwise import DECISIONS
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, RATIOS, Cells, rate_values
from xmceval.rows.block import Float64
from xmceval.scoring.batch import Batch, Decided
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.task import NO_SHARES, TREATMENTS, Estimates, RowTask, RowValues, rule_of
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

    @property
    def has_shares(self) -> bool:
        """Whether labels are at a cutoff, as those of metrics at k that have shares."""
        return self.is_at_n

    @property
    def tied_by_label(self) -> Mapping[str, Sequence[Measure]]:
        """All measures at n, since the order by label decides which tied labels are within it."""
        if not self.is_at_n:
            return {}
        return dict.fromkeys(TREATMENTS, self.measures)

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
        if self.has_shares:
            shares = self._share(batch, decided, cells, values)
        return RowValues(values, shares, n_dropped, n_decided)

    def _share(self, batch: Batch, decided: Decided, cells: Cells, values: Float64) -> Float64:
        """Return the part of each bin of labels in the numerators of rows, which are of hits."""
        setup = batch.setup
        if setup.bins is None:
            return NO_SHARES
        n_bins = setup.n_bins
        n_decided = decided.counts[:, DECISIONS]
        labels = decided.labels[: n_decided.sum()]
        is_hit = labels & 1 > 0
        of_row = np.repeat(np.arange(batch.n_rows), n_decided)[is_hit]
        of_bin = setup.bins.by_code[setup.propensities.codes_of(labels[is_hit] >> 1)]
        hits = np.bincount(of_row * n_bins + of_bin, minlength=batch.n_rows * n_bins).reshape(-1, n_bins)
        shares = batch.values(f"shares of decisions {self.rel}", batch.n_rows, len(self.measures) * n_bins)
        shares.fill(0.0)
        for o, measure in enumerate(self.measures):
            for number in range(n_bins):
                column = o * n_bins + number
                inside = replace(cells, tp=hits[:, number].astype(np.float64))
                shares[:, column, 0] = RATES[measure.metric.fold](inside, measure.number("beta"))[0][0]
                shares[:, column, 1] = values[:, o, 1]
        return shares

    def n_decided(self, part: Sums) -> int | None:
        """Return the number of decisions at a threshold."""
        if self.is_at_n:
            return None
        return int(part["true"][0])

    def finish(self, part: Sums, setup: Setup, n_rows: int) -> Estimates:
        """Divide; 0/0 counts as specified by the option of the measure."""
        estimates = super().finish(part, setup, n_rows)
        ones = [measure.name for measure in self.measures if measure.option("zero") == "1"]
        return estimates | {name: Estimate(1.0) for name in ones if estimates[name].undefined}
