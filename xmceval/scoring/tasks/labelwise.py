"""Task for label-wise metrics: means of rates that are computed from the counts of each label, in one pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.labelwise import FIRST_SPAN, TRUE
from xmceval.labels.propensity import NO_IDS
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, Cells, rate_values
from xmceval.rows.block import Float64, Int64
from xmceval.rows.width import UNKNOWN, Width
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate, exact_parts, exact_total
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.curves import Bools
from xmceval.scoring.tasks.label_counts import Counts, CountTable, LabelCounters, LabelRows, bits_of
from xmceval.scoring.tasks.task import TREATMENTS, Estimates, Task, rule_of

COUNTS_AT_ONCE = 1 << 19  # these and derived arrays stay in the processor's cache
FEWEST_LABELS = 1 << 10

COUNTS: Mapping[str, Callable[[Cells], Float64]] = MappingProxyType(
    {
        "tp": lambda cells: cells.tp,
        "fp": lambda cells: cells.fp,
        "fn": lambda cells: cells.fn,
        "tn": lambda cells: cells.tn,
        "NumRet": lambda cells: cells.tp + cells.fp,
        "NumRel": lambda cells: cells.tp + cells.fn,
    }
)
RULES = frozenset({*RATES, *COUNTS, "coverage"})


class LabelRate(NamedTuple):
    """A rate of the cells of labels; `zero` is the value of 0/0."""

    rule: str
    beta: float = 1.0
    zero: str = "0"

    def of(self, cells: Cells) -> tuple[Float64, Any]:
        """Return the rate of each label, float64, and whether it is defined, bool, shaped like the cells."""
        return rate_values(RATES[self.rule], cells, self.beta, self.zero)


class LabelCells:
    """Counts of a set of labels; results for the last requested span are cached."""

    def __init__(self, labels: Int64, counts: Counts, n_spans: int, rows: int, *, are_filtered: bool) -> None:
        self.labels = labels  # int64 [n]
        by_slot = np.array(counts.T, dtype=np.int64, order="C")
        self.left_out: Int64 = NO_IDS  # int64 [n]; the rows that leave each label out, if there is a filter
        self.rows: Int64 | int = rows  # all others
        if are_filtered:
            self.left_out = by_slot[-1]
            self.rows = rows - self.left_out
            by_slot = by_slot[:-1]
        stop = FIRST_SPAN + 2 * n_spans
        self.true: Int64 = by_slot[TRUE]  # int64 [n]; the rows in which each label is true
        # int64 [n_spans, n]; the rows that predict the label up to the end of each span, the rows among these
        # in which it is true, and, if counted, the rows whose ideal ranking has it up to there
        self.predicted = by_slot[FIRST_SPAN:stop:2]
        self.hits = by_slot[FIRST_SPAN + 1 : stop : 2]
        self.in_ideal = by_slot[stop:]
        for by_span in (self.predicted, self.hits, self.in_ideal):
            for span in range(1, len(by_span)):
                by_span[span] += by_span[span - 1]
        self._span = -1
        self._of_span: dict[Any, Any] = {}

    @cached_property
    def is_true(self) -> Bools:
        """Which labels are true in any row, bool [n]."""
        return self.true > 0

    def is_seen(self, span: int) -> Bools:
        """Return which labels are true in any row, or predicted up to the end of a span, bool [n]."""
        seen: Bools = self._once(span, "seen", lambda: self.is_true | (self.predicted[span] > 0))
        return seen

    def rates(self, rate: LabelRate, span: int) -> tuple[Float64, Any]:
        """Return each label's rate up to the end of a span, float64 [n], and if it is defined, bool [n]."""

        def count() -> Cells:
            return Cells.of(self.hits[span], self.predicted[span], self.true, self.rows)

        rates: tuple[Float64, Any] = self._once(span, rate, lambda: rate.of(self._once(span, "cells", count)))
        return rates

    def _once(self, span: int, key: Any, compute: Callable[[], Any]) -> Any:
        if span != self._span:
            self._span = span
            self._of_span = {}
        if key not in self._of_span:
            self._of_span[key] = compute()
        return self._of_span[key]


# Accumulators: `add` takes a set of labels, `finish` returns one number, or None if no label contributes.


@dataclass
class _LabelSum:
    rates: Sequence[LabelRate]  # one, or precision and recall, whose means give the F measure
    span: int
    table: CountTable
    setup: Setup
    over: str = "all"  # the labels that count
    is_weighted: bool = False  # by the number of rows in which a label is true


@dataclass
class MacroMean(_LabelSum):
    """The mean of a rate over a set of labels; its sum is rounded once, so that the order has no effect."""

    n_inside: int = 0
    largest: int = -1

    def __post_init__(self) -> None:
        self.parts: list[list[float]] = [[] for _ in self.rates]
        self.n_defined = [0 for _ in self.rates]
        if self.over == "largest":
            seen = self.table.counts[:, : FIRST_SPAN + 2 * self.span + 2].any(axis=1)
            self.largest = int(self.table.labels[seen].max(initial=-1))

    def add(self, cells: LabelCells) -> None:
        """Add the labels of the set that have counts; labels without counts are added by `finish`."""
        weights = self.weigh(cells)
        if weights is None:
            self.n_inside += cells.labels.size
        elif not self.is_weighted:
            self.n_inside += int(np.count_nonzero(weights))
        for number, rate in enumerate(self.rates):
            values, defined = cells.rates(rate, self.span)
            if weights is not None:
                values = values * weights
                defined = defined * weights
            if self.is_weighted:
                self.n_defined[number] += exact_total(defined)
            else:
                self.n_defined[number] += int(np.count_nonzero(defined))
            self.parts[number] += exact_parts(values)  # 0 if the rate is undefined

    def weigh(self, cells: LabelCells) -> Any:
        """Return the weights of labels, or which of them count; None if all count the same."""
        if self.is_weighted:
            return cells.true
        if self.over == "truth":
            return cells.is_true
        if self.over == "seen":
            return cells.is_seen(self.span)
        if self.over == "train":
            return self.setup.propensities.codes_of(cells.labels) > 0
        if self.over == "largest":
            return cells.labels <= self.largest
        return None

    def fractions(self) -> list[tuple[float, int]]:
        """Return the sum of each rate over the labels where it is defined, and their number or weight."""
        n_labels = self.n_inside
        if self.over == "largest":
            n_labels = self.largest + 1
        elif self.over == "all" and not self.is_weighted:
            n_labels = self.setup.n_labels
        elif self.over == "train":
            n_labels = int(np.count_nonzero(self.setup.propensities.codes))
        fractions = []
        for rate, parts, n_defined in zip(self.rates, self.parts, self.n_defined, strict=True):
            value, is_defined = rate.of(Cells.of(0, 0, 0, self.table.rows))
            n_unseen = int(is_defined) * (n_labels - self.n_inside)
            fractions.append((math.fsum([*parts, float(value) * n_unseen]), n_defined + n_unseen))
        return fractions

    def combine(self, means: Sequence[Any]) -> Any:
        """Return the mean, or the F measure of mean precision and mean recall; means may be arrays."""
        if len(means) == 1:
            return means[0]
        precision, recall = means
        square = self.rates[0].beta ** 2
        divisor = square * precision + recall
        return (1 + square) * precision * recall / np.where(divisor, divisor, 1.0)

    def finish(self) -> float | None:
        """Divide; None if no label contributes."""
        fractions = self.fractions()
        if not all(n for _, n in fractions):
            return None
        return float(self.combine([total / n for total, n in fractions]))


@dataclass
class MicroRate(_LabelSum):
    """The rate of all cells together, or their number in whole rows."""

    hits: int = 0
    predicted: int = 0
    true: int = 0
    left_out: int = 0

    def add(self, cells: LabelCells) -> None:
        """Add the cells of labels."""
        self.hits += exact_total(cells.hits[self.span])
        self.predicted += exact_total(cells.predicted[self.span])
        self.true += exact_total(cells.true)
        self.left_out += exact_total(cells.left_out)

    def finish(self) -> float | None:
        """Divide; None for 0/0 that is left out."""
        n_cells = self.table.rows * self.setup.n_labels - self.left_out
        cells = Cells.of(self.hits, self.predicted, self.true, n_cells)
        [rate] = self.rates
        if rate.rule in COUNTS:
            number = COUNTS[rate.rule](cells)
            return math.ldexp(float(number), -self.table.bits) * self.setup.weight_unit
        value, is_defined = rate.of(cells)
        if not is_defined:
            return None
        return float(value)


@dataclass
class Coverage(MacroMean):
    """The share of labels with at least one hit, of those that `over` names.

    ``truth``: labels that are true in any row; ``all``: all labels; ``ideal``: labels within the cutoff of any
    row's ideal ranking, which has the true labels by inverse propensity.
    """

    of_recommended: bool = False  # if so, the share predicted at least once, true or not
    n_covered: int = 0

    def add(self, cells: LabelCells) -> None:
        """Count which of these labels are covered."""
        inside = self._are_inside(cells)
        covered = cells.hits[self.span] > 0
        if self.of_recommended:
            covered = cells.predicted[self.span] > 0
        counts = self.weigh(cells)
        if counts is not None:
            covered = covered & counts
        self.n_inside += int(np.count_nonzero(inside))
        self.n_covered += int(np.count_nonzero(covered))

    def weigh(self, cells: LabelCells) -> Any:
        """Return which labels may be covered, bool [n]; None for all."""
        if not self.of_recommended or self.over == "all":
            return None
        return self._are_inside(cells)

    def _are_inside(self, cells: LabelCells) -> Any:
        if self.over == "ideal":
            return cells.in_ideal[self.span] > 0
        return cells.is_true

    def fractions(self) -> list[tuple[float, int]]:
        """Return the number of covered labels, and of all."""
        if self.over == "all":
            return [(self.n_covered, self.setup.n_labels)]
        return [(self.n_covered, self.n_inside)]


Means = dict[Measure, Any]  # MacroMean or MicroRate


def _mean_of(measure: Measure, table: CountTable, cutoffs: Int64, setup: Setup) -> MacroMean | MicroRate:
    """Return an empty accumulator for a measure."""
    fold = measure.metric.fold
    of = measure.option("of")
    span = int(np.searchsorted(cutoffs, measure.k or 0))
    rate = LabelRate(fold, measure.number("beta"), measure.option("zero", "0"))
    common = span, table, setup, measure.option("over", "all")
    if fold == "coverage":
        return Coverage([rate], *common, of_recommended=of == "recommended")
    if fold in COUNTS or measure.average == "micro":
        return MicroRate([rate], *common)
    rates = [rate]
    if of == "means":
        rates = [rate._replace(rule="precision"), rate._replace(rule="recall")]
    return MacroMean(rates, *common, is_weighted=measure.average == "weighted")


@dataclass(frozen=True)
class Labelwise(Task):
    """Label-wise measures with the same `rel`, either at cutoffs or of decisions."""

    measures: tuple[Measure, ...]
    rel: float
    cutoffs: Int64  # the distinct cutoffs, ascending; none for decisions
    in_ideal: bool = False  # whether labels of ideal rankings are also counted

    place = 3
    counts_labels = True

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> Labelwise:
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
        if self.needs_scores:
            return super().tied_by_label
        return dict.fromkeys(TREATMENTS, self.measures)

    def empty(self, setup: Setup) -> LabelCounters:
        """Return empty counters, one set for all threads."""
        n_labels = setup.n_labels
        if setup.options.unknown_labels == "miss":
            n_labels = UNKNOWN
        return LabelCounters(
            n_labels,
            max(self.cutoffs.size, 1),
            in_ideal=self.in_ideal,
            bits=bits_of(setup),
            weight_unit=setup.weight_unit,
            filtered=setup.filter is not None,
        )

    def compute(self, batch: Batch) -> LabelRows:
        """Return the truth, and either the rankings or the decisions."""
        setup = batch.setup
        truth, _ = batch.relevant(self.rel)
        _, left_out = batch.filtered(self.rel)
        rows = LabelRows(truth, batch.weights, setup.drop_empty, left_out)
        if self.needs_scores:
            return rows._replace(decided=batch.decided(self.rel, is_at_n=self.is_at_n))
        return rows._replace(
            ranked=batch.ranking.labels,
            n_ranked=batch.ranking.n_ranked,
            cutoffs=self.cutoffs,
            propensities=setup.propensities,
        )

    def add(self, batch: Batch, computed: LabelRows, part: LabelCounters) -> None:  # noqa: ARG002 - rows have all
        """Count the labels of a batch."""
        part.add(computed)

    def n_decided(self, part: LabelCounters) -> int | None:
        """Return the number of decisions, in units of sample weights."""
        if not self.needs_scores:
            return None
        return int(part.table().counts[:, FIRST_SPAN].sum())

    def finish(self, part: LabelCounters, setup: Setup, n_rows: int) -> Estimates:  # noqa: ARG002 - counters know
        """Return the value of each measure; label-wise values have no intervals."""
        return _estimate(self.find_means(part, setup))

    def finish_bins(self, part: LabelCounters, setup: Setup, n_rows: int) -> Sequence[Estimates]:  # noqa: ARG002
        """Return the values within each bin of labels, except for `over=largest`."""
        return [_estimate(means) for means in self.find_means_in_bins(part, setup)]

    def find_means(self, part: LabelCounters, setup: Setup) -> Means:
        """Return the sums over all labels, by measure; micro averages also have names that are no label."""
        means = self._sum(self.measures, table_of(part, setup), setup)
        if setup.options.unknown_labels == "miss":
            table = part.table()
            by_span = table.counts[table.labels >= setup.n_labels, FIRST_SPAN::2].sum(axis=0, dtype=np.int64).cumsum()
            for mean in means.values():
                if isinstance(mean, MicroRate):
                    mean.predicted += int(by_span[mean.span])
        return means

    def find_means_in_bins(self, part: LabelCounters, setup: Setup) -> list[Means]:
        """Return the sums over the labels of each bin, by measure, except for `over=largest`."""
        if setup.bins is None:
            return []
        table = table_of(part, setup)
        training = setup.propensities
        codes = training.codes_of(table.labels)
        inside = [measure for measure in self.measures if measure.option("over") != "largest"]
        means = []
        for number, bin_ in enumerate(setup.bins.bins):
            by_code = setup.bins.by_code == number
            bin_codes = np.where(by_code[training.codes], training.codes, 0).astype(np.int32)
            inside_bin = replace(training, codes=bin_codes)
            of_bin = replace(setup, width=Width(bin_.n_labels), subset=None, propensities=inside_bin)
            means.append(self._sum(inside, table.where(by_code[codes]), of_bin))
        return means

    def by_label(self, part: LabelCounters, n: int, n_labels: int) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield columns with the values of at most `n` labels that are true or predicted, such as ``label``, ``tp@5``.

        Names that are no label have the numbers from `n_labels` on, and are left out.
        A rate 0/0 is the `zero` of the measures if they share one, else 0; NaN for skip.
        """
        suffixes = [f"@{k}" for k in self.cutoffs] or [""]
        zero = min(measure.option("zero", "0") for measure in self.measures)
        for labels, by_slot in part.table().in_turn(n):
            counts = by_slot[:, : FIRST_SPAN + 2 * len(suffixes)] * part.unit
            used = counts.any(axis=1) & (labels < n_labels)
            true = counts[used, TRUE]
            predicted = counts[used, FIRST_SPAN::2].cumsum(axis=1).T
            tp = counts[used, FIRST_SPAN + 1 :: 2].cumsum(axis=1).T
            values = {"tp": tp, "fp": predicted - tp, "fn": true - tp}
            cells = Cells(**values, tn=tp)  # no rate below looks at it
            for name, rule in (("precision", "precision"), ("recall", "recall"), ("F1", "F")):
                rates, is_defined = LabelRate(rule, zero=zero).of(cells)
                values[name] = np.where(is_defined, rates, np.nan)
            columns = {"label": labels[used], "positives": true}
            for span, suffix in enumerate(suffixes):
                columns |= {name + suffix: by_span[span] for name, by_span in values.items()}
            yield columns

    def _sum(self, measures: Sequence[Measure], table: CountTable, setup: Setup) -> Means:
        """Sum the rates of measures over the labels of a table; the number of labels is known."""
        means = {measure: _mean_of(measure, table, self.cutoffs, setup) for measure in measures}
        by_span = sorted(means.values(), key=lambda mean: mean.span)
        for labels, counts in table.in_turn(max(COUNTS_AT_ONCE // table.counts.shape[1], FEWEST_LABELS)):
            cells = self.cells_of(labels, counts, table, setup)
            for mean in by_span:
                mean.add(cells)
        return means

    def cells_of(self, labels: Int64, counts: Counts, table: CountTable, setup: Setup) -> LabelCells:
        """Return the cells of labels, int64 [n], from their counts in a table [n, n_slots]."""
        n_spans = max(self.cutoffs.size, 1)
        return LabelCells(labels, counts, n_spans, table.rows, are_filtered=setup.filter is not None)


def _estimate(means: Means) -> Estimates:
    """Return the values of measures by name, undefined if no label contributes."""
    return {measure.name: Estimate.plain(mean.finish()) for measure, mean in means.items()}


def table_of(part: LabelCounters, setup: Setup) -> CountTable:
    """Return the counts of labels: a filter may have others, and names that are no label have counts too."""
    table = part.table()
    if setup.filter is None and setup.options.unknown_labels == "error":
        return table
    return table.where(table.labels < setup.n_labels)
