"""Label values: what systems made of each label, at every cutoff and among the decisions, as columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.labels.counts import DENSE_IDS
from xmceval.metrics.entry import format_number
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import Cells
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Terms
from xmceval.scoring.per_label.counttable import CountTable
from xmceval.scoring.per_label.labelcells import LabelCells, LabelRate
from xmceval.scoring.program import Program
from xmceval.scoring.tasks.areas import Areas
from xmceval.scoring.tasks.labelareas import LabelAreas
from xmceval.scoring.tasks.labelwise import Labelwise
from xmceval.scoring.totals import Totals

Read = Callable[[Int64], NDArray[Any]]  # of some labels: [n_labels, n_systems]

RATE_NAMES = {
    "precision": "precision",
    "recall": "recall",
    "F": "F1",
    "Jaccard": "Jaccard",
    "accuracy": "accuracy",
    "specificity": "specificity",
    "fall-out": "FPR",
    "balanced": "balanced_accuracy",
    "matthews": "MCC",
}


USUAL_RATES = (LabelRate("precision"), LabelRate("recall"), LabelRate("F"))


class LabelValues:
    """Values of labels for each system, computed for some labels at a time.

    The columns are ``n_true``, the rows in which a label is true; at each cutoff ``hits@k`` and ``predicted@k``, the
    rows that rank it within k, and those of them in which it is true; of decisions ``tp``, ``fp`` and ``fn``; and the
    rates of these counts, NaN where they are 0/0. Those of a grade above 1 have ``(rel=N)`` in their names.

    Parameters
    ----------
    program : Program
        That counts labels.
    totals : sequence of Totals
        Of each system.
    terms : sequence of Terms
        On which each was scored, with the number of labels known.

    Attributes
    ----------
    columns : mapping of str to callable
        By name: takes labels, and returns their values [n_labels, n_systems].
    """

    def __init__(self, program: Program, totals: Sequence[Totals], terms: Sequence[Terms]) -> None:
        self._program, self._terms = program, terms[0]
        self.columns: dict[str, Read] = {}
        self._by_system: list[CountTable] = []
        areas: dict[str, Read] = {}
        for t, task in enumerate(program.tasks):
            parts = [each.parts[t] for each in totals]
            if isinstance(task, Labelwise):
                by_system = [part.table() for part in parts]
                self._by_system += by_system
                self.columns |= dict(self._counted(task, [_CellsOfSystem(each, task.n_spans) for each in by_system]))
            elif isinstance(task, LabelAreas):
                by_label = [task.by_label(*of_system) for of_system in zip(parts, terms, strict=True)]
                areas |= dict(_area_columns(by_label, _rel(task.rel)))
        self.columns |= areas

    @property
    def deciding(self) -> str:
        """The column by which labels are won: the hits at the deepest cutoff, else F1 of decisions, else the last."""
        at_cutoffs = [name for name in self.columns if name.startswith("hits")]
        of_decisions = [name for name in self.columns if name.startswith("F1")]
        return [*self.columns, *of_decisions, *at_cutoffs][-1]

    def labels(self, n_labels: int) -> Int64:
        """Return the labels that have values, int64 [n]: all, or where there are more than 2^27 those with a count."""
        if n_labels <= DENSE_IDS:
            return np.arange(n_labels, dtype=np.int64)
        counted = [each.counted for each in self._by_system]
        labels: Int64 = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *counted]))
        return labels

    def _counted(self, task: Labelwise, by_system: Sequence[_CellsOfSystem]) -> Iterator[tuple[str, Read]]:
        """Yield the columns of the counts of a task, and their rates."""
        rel = _rel(task.rel)
        yield f"n_true{rel}", lambda labels: self._numbers([each(labels).true for each in by_system])
        for span, k in enumerate(task.cutoffs.tolist() or [None]):
            at, counts = (rel, DECISION_COUNTS) if k is None else (f"{rel}@{k}", RANKED_COUNTS)
            for name, count in counts.items():
                yield f"{name}{at}", self._count(by_system, span, count)
            for rate in dict.fromkeys([*USUAL_RATES, *self._rates(task.rel, k)]):
                yield f"{_name_of(rate)}{at}", _rate(by_system, span, rate)

    def _rates(self, rel: int, k: int | None) -> Iterator[LabelRate]:
        """Yield the rates that measures are means of, at a cutoff or of decisions."""
        for measure in self._program.measures:
            is_of_labels = measure.metric.family in {"label", "confusion"} and measure.metric.fold in RATE_NAMES
            if is_of_labels and (measure.rel, measure.k) == (rel, k):
                yield _rate_of(measure)

    def _count(self, by_system: Sequence[_CellsOfSystem], span: int, count: Callable[[Cells], Float64]) -> Read:
        return lambda labels: self._numbers([count(each(labels).cells(span)) for each in by_system])

    def _numbers(self, by_system: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return counts: whole numbers, or sums of sample weights."""
        counts, bits = np.stack(by_system, axis=1), self._by_system[0].bits
        return np.ldexp(counts.astype(np.float64), -bits) * self._terms.weight_unit if bits else counts.astype(np.int64)


RANKED_COUNTS: Mapping[str, Callable[[Cells], Float64]] = {
    "hits": lambda cells: cells.tp,
    "predicted": lambda cells: cells.tp + cells.fp,
}
DECISION_COUNTS: Mapping[str, Callable[[Cells], Float64]] = {
    "tp": lambda cells: cells.tp,
    "fp": lambda cells: cells.fp,
    "fn": lambda cells: cells.fn,
}


class _CellsOfSystem:
    """The cells of some labels of a system; those of the last ones are kept for the next column."""

    def __init__(self, table: CountTable, n_spans: int) -> None:
        self._table, self._n_spans = table, n_spans
        self._cells = self._read(np.empty(0, dtype=np.int64))

    def __call__(self, labels: Int64) -> LabelCells:
        if not np.array_equal(labels, self._cells.labels):
            self._cells = self._read(labels)
        return self._cells

    def _read(self, labels: Int64) -> LabelCells:
        return LabelCells(labels, self._table.at(labels), self._n_spans, self._table.rows)


def _rate(by_system: Sequence[_CellsOfSystem], span: int, rate: LabelRate) -> Read:
    return lambda labels: np.stack([_defined_rates(each(labels), span, rate) for each in by_system], axis=1)


def _defined_rates(cells: LabelCells, span: int, rate: LabelRate) -> Float64:
    """Return the rate of each label down to the end of a span, NaN where it is 0/0."""
    values, is_defined = cells.rates(rate._replace(zero="skip"), span)
    if rate.zero != "skip":
        values, _ = cells.rates(rate, span)
    return np.where(is_defined, values, np.nan)


def _rate_of(measure: Measure) -> LabelRate:
    """Return the rate that a measure is the mean of; only of two fractions does `zero` matter."""
    rule = measure.metric.fold
    zero = measure.option("zero", "0") if rule == "balanced" else "0"
    return LabelRate(rule, measure.number("beta") if rule == "F" else 1.0, zero)


def _name_of(rate: LabelRate) -> str:
    """Return the name of a rate in files."""
    beta = f"(beta={format_number(rate.beta)})" if rate.rule == "F" and rate.beta != 1 else ""
    return RATE_NAMES[rate.rule] + beta


def _rel(rel: int) -> str:
    return "" if rel == 1 else f"(rel={rel})"


def _area_columns(areas: Sequence[Mapping[str, Areas]], rel: str) -> Iterator[tuple[str, Read]]:
    """Yield the columns of areas; labels that lack one have NaN."""
    for rule in areas[0]:
        yield f"{rule}{rel}", _area([each[rule] for each in areas])


def _area(areas: Sequence[Areas]) -> Read:
    return lambda labels: np.stack([_values_at(each, labels) for each in areas], axis=1)


def _values_at(areas: Areas, labels: Int64) -> Float64:
    values = np.full(labels.size, np.nan)
    if areas.labels.size:
        places = np.minimum(np.searchsorted(areas.labels, labels), areas.labels.size - 1)
        found = areas.labels[places] == labels
        values[found] = areas.values[places[found]]
    return values
