"""Label-wise means: the values that counts by label amount to, all of them in one pass over the labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from xmceval.labels.bins import Bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, Cells
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.per_label.counttable import CountTable
from xmceval.scoring.per_label.labelcells import Bools, LabelCells, LabelRate, cells_in_turn
from xmceval.scoring.setup import Setup
from xmceval.statistics.intervals import exact_parts, exact_total

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


@dataclass(frozen=True)
class Context:
    """The number of labels, their training counts, and the unit of sample weights."""

    n_labels: int
    training: Propensities = NO_PROPENSITIES  # tells which labels have a training row
    weight_unit: float = 1.0  # the sample weight that a count of 1 stands for

    @classmethod
    def of(cls, setup: Setup) -> Context:
        """Return what a setup has of it, with the number of labels known."""
        return cls(setup.width.n_labels, setup.propensities, setup.weight_unit)


def label_values(
    measures: Sequence[Measure], table: CountTable, cutoffs: Int64, context: Context
) -> dict[str, float | None]:
    """Return the values of label-wise measures by name, None where one is the mean of nothing.

    `cutoffs`, int64 [n_cutoffs], ascend; there are none for decisions.
    """
    means = {measure.name: _mean_of(measure, table, cutoffs, context) for measure in measures}
    by_span = sorted(means.values(), key=lambda mean: mean.span)
    for cells in cells_in_turn(table, max(cutoffs.size, 1)):
        for mean in by_span:
            mean.add(cells)
    return {name: mean.finish() for name, mean in means.items()}


def bin_values(
    measures: Sequence[Measure], table: CountTable, cutoffs: Int64, context: Context, bins: Bins
) -> list[dict[str, float | None]]:
    """Return the values of measures within each bin of labels; `over=largest` has none there.

    `cutoffs`, int64 [n_cutoffs], are as in `label_values`.
    """
    codes, training = context.training.codes_of(table.labels), context.training
    inside = [measure for measure in measures if measure.option("over") != "largest"]
    values = []
    for number, each in enumerate(bins.bins):
        own_codes = np.where(bins.by_code[training.codes] == number, training.codes, 0).astype(np.int32)
        of_bin = replace(context, n_labels=each.n_labels, training=replace(training, codes=own_codes))
        values.append(label_values(inside, table.where(bins.by_code[codes] == number), cutoffs, of_bin))
    return values


@dataclass
class _Mean(ABC):
    """A number to which labels are added."""

    rate: LabelRate
    span: int
    table: CountTable
    context: Context

    @abstractmethod
    def add(self, cells: LabelCells) -> None:
        """Add some labels."""

    @abstractmethod
    def finish(self) -> float | None:
        """Return the number, or None where it is the mean of nothing."""


@dataclass
class _Macro(_Mean):
    """The mean of a rate over a set of labels; its sum is rounded once, so that the order has no effect."""

    over: str
    parts: list[float] = field(default_factory=list)
    n_inside: int = 0
    n_defined: int = 0
    largest: int = -1

    def add(self, cells: LabelCells) -> None:
        """Add the labels of the set that have counts; those of `largest` that have none are like those beyond."""
        values, defined = cells.rates(self.rate, self.span)
        inside = self._inside(cells)
        if inside is not None:
            self.n_inside += int(np.count_nonzero(inside))
            values, defined = values * inside, defined & inside
        else:
            self.n_inside += cells.labels.size
        if self.over == "largest":
            seen = np.flatnonzero(cells.is_seen(self.span))
            self.largest = max(self.largest, int(cells.labels[seen[-1]]) if seen.size else -1)
        self.n_defined += int(np.count_nonzero(defined))
        self.parts += exact_parts(values)  # 0 where the rate is not defined

    def finish(self) -> float | None:
        """Divide the sum, with that of labels without any count, by the number of labels."""
        value, n_unseen = self._unseen()
        n = self.n_defined + n_unseen
        return math.fsum([*self.parts, value * n_unseen]) / n if n else None

    def _unseen(self) -> tuple[float, int]:
        """Return the value of labels without any count, and how many there are in the set."""
        value, is_defined = self.rate.of(Cells.of(0, 0, 0, self.table.rows))
        return float(value), self._n_labels() - self.n_inside if is_defined else 0

    def _inside(self, cells: LabelCells) -> Bools | None:
        """Which labels are in the set; None for all."""
        if self.over == "truth":
            return cells.is_true
        if self.over == "train":
            return self.context.training.codes_of(cells.labels) > 0
        return None if self.over == "all" else cells.is_seen(self.span)

    def _n_labels(self) -> int:
        """How many labels the set has, those without any count too."""
        if self.over == "all":
            return self.context.n_labels
        if self.over == "train":
            return int(np.count_nonzero(self.context.training.codes))
        return self.largest + 1 if self.over == "largest" else self.n_inside


@dataclass
class _FOfMeans(_Mean):
    """The F measure of the mean precision and the mean recall over a set of labels."""

    precision: _Macro
    recall: _Macro

    def add(self, cells: LabelCells) -> None:
        """Add labels to both means."""
        self.precision.add(cells)
        self.recall.add(cells)

    def finish(self) -> float | None:
        """Combine the means."""
        precision, recall = self.precision.finish(), self.recall.finish()
        if precision is None or recall is None:
            return None
        square = self.rate.beta**2
        divisor = square * precision + recall
        return (1 + square) * precision * recall / divisor if divisor else 0.0


@dataclass
class _Weighted(_Mean):
    """The mean of a rate over labels, each weighted by the rows in which it is true."""

    parts: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, cells: LabelCells) -> None:
        """Add labels; those whose rate is not defined have no weight."""
        values, defined = cells.rates(self.rate, self.span)
        self.parts += exact_parts(values * cells.support)
        self.weights += exact_parts(cells.support * defined)

    def finish(self) -> float | None:
        """Divide."""
        weight = math.fsum(self.weights)
        return math.fsum(self.parts) / weight if weight else None


@dataclass
class _Micro(_Mean):
    """The rate of all cells together, or their number."""

    hits: int = 0
    predicted: int = 0
    true: int = 0

    def add(self, cells: LabelCells) -> None:
        """Add up counts."""
        self.hits += exact_total(cells.hits[self.span])
        self.predicted += exact_total(cells.predicted[self.span])
        self.true += exact_total(cells.true)

    def finish(self) -> float | None:
        """Divide, or undo the units of the counts."""
        cells = Cells.of(self.hits, self.predicted, self.true, self.table.rows * self.context.n_labels)
        if self.rate.rule in COUNTS:
            number = COUNTS[self.rate.rule](cells)
            return math.ldexp(float(number), -self.table.bits) * self.context.weight_unit
        value, is_defined = self.rate.of(cells)
        return float(value) if is_defined else None


@dataclass
class _Coverage(_Mean):
    """The share of labels with at least one hit, of those that `over` names.

    With `of_recommended` it is the share that is predicted at least once, true or not.

    ``truth``: labels true in some row; ``all``: all labels; ``ideal``: labels within the cutoff of some row's ideal
    ranking, the true labels by inverse propensity.
    """

    over: str
    of_recommended: bool
    n_covered: int = 0
    n_inside: int = 0

    def add(self, cells: LabelCells) -> None:
        """Count labels."""
        span = self.span
        inside = cells.in_ideal[span] > 0 if self.over == "ideal" else cells.is_true
        self.n_inside += int(np.count_nonzero(inside))
        covered = cells.hits[span] > 0
        if self.of_recommended:
            covered = cells.predicted[span] > 0
            covered = covered if self.over == "all" else covered & inside
        self.n_covered += int(np.count_nonzero(covered))

    def finish(self) -> float | None:
        """Divide."""
        n = self.context.n_labels if self.over == "all" else self.n_inside
        return self.n_covered / n if n else None


def _mean_of(measure: Measure, table: CountTable, cutoffs: Int64, context: Context) -> _Mean:
    """Return what computes a measure, of no labels yet."""
    fold, over = measure.metric.fold, measure.option("over", "all")
    span = 0 if measure.k is None else int(np.searchsorted(cutoffs, measure.k))
    rate = LabelRate(fold, measure.number("beta"), measure.option("zero", "0"))
    common = rate, span, table, context
    if fold == "coverage":
        return _Coverage(*common, measure.option("over"), measure.option("of") == "recommended")
    if fold in COUNTS or measure.average == "micro":
        return _Micro(*common)
    if measure.option("of") == "means":
        halves = (_Macro(rate._replace(rule=rule), *common[1:], over) for rule in ("precision", "recall"))
        return _FOfMeans(*common, *halves)
    if measure.average == "macro":
        return _Macro(*common, over)
    return _Weighted(*common)
