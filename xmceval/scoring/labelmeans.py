"""Label-wise means: what counts by label come to."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xmceval.labels.bins import Bins
from xmceval.labels.propensity import NOT_NEEDED, Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, Cells, rate_values
from xmceval.rows.block import Int64
from xmceval.scoring.labelwise import FIRST_SPAN, TRUE, LabelTotals
from xmceval.scoring.program import Labelwise

COUNTS = ("tp", "fp", "fn", "tn")


def label_values(part: Labelwise, totals: LabelTotals, around: Surroundings) -> dict[str, float | None]:
    """Return the value of each measure of a part by its name, None where it is the mean of nothing."""
    return {str(measure): _value(part, measure, totals, around) for measure in part.measures}


def bin_values(part: Labelwise, totals: LabelTotals, around: Surroundings, bins: Bins) -> list[dict[str, float | None]]:
    """Return the values of each measure within each bin of labels; `over=largest` has none there."""
    codes, training = around.training.codes_of(totals.labels), around.training
    measures = tuple(measure for measure in part.measures if measure.option("over") != "largest")
    found = []
    for number, each in enumerate(bins.bins):
        known = np.where(bins.by_code[training.codes] == number, training.codes, 0).astype(np.int32)
        inside = replace(around, n_labels=each.n_labels, training=replace(training, codes=known))
        found.append(
            label_values(replace(part, measures=measures), totals.where(bins.by_code[codes] == number), inside)
        )
    return found


def _value(part: Labelwise, measure: Measure, totals: LabelTotals, around: Surroundings) -> float | None:
    span = 0 if measure.k is None else int(np.searchsorted(part.cutoffs, measure.k))
    fold = measure.metric.fold
    if fold == "coverage":
        return coverage(totals, span, max(part.cutoffs.size, 1), measure.option("over"), around)
    if fold in COUNTS:
        cells = float(getattr(cells_of(totals, span, around.n_labels), fold))
        return math.ldexp(cells, -totals.bits) * around.weight_unit
    over, zero = measure.option("over", "all"), measure.option("zero", "0")
    return finish(totals, LabelMean(fold, span, measure.average, over, zero, measure.number("beta")), around)


@dataclass(frozen=True)
class LabelMean:
    """What one label-wise number is: a rate, the labels of its mean, their weights, what 0/0 counts as."""

    rate: str
    span: int = 0
    average: str = "macro"
    over: str = "all"
    zero: str = "0"
    beta: float = 1.0


@dataclass(frozen=True)
class Surroundings:
    """What the counts do not tell: how many labels there are, which have a training row, what a weight of 1 was."""

    n_labels: int
    training: Propensities = NOT_NEEDED
    weight_unit: float = 1.0


@dataclass(frozen=True)
class _Columns:
    """Of every label down to a cut: hits, predictions, truth."""

    hits: Int64
    predicted: Int64
    true: Int64

    @classmethod
    def of(cls, totals: LabelTotals, span: int) -> _Columns:
        """Add up the spans above the cut."""
        stop = FIRST_SPAN + 2 * span + 2
        return cls(
            totals.column(slice(FIRST_SPAN + 1, stop, 2)),
            totals.column(slice(FIRST_SPAN, stop, 2)),
            totals.column(TRUE),
        )


def cells_of(totals: LabelTotals, span: int, n_labels: int | None = None) -> Cells:
    """Return the counts of cells down to a cut, of every label, or of all `n_labels` together."""
    columns = _Columns.of(totals, span)
    if n_labels is None:
        return Cells.of(columns.hits, columns.predicted, columns.true, totals.rows)
    hits, predicted, true = (sum(each.tolist()) for each in (columns.hits, columns.predicted, columns.true))
    return Cells.of(hits, predicted, true, totals.rows * n_labels)


def finish(totals: LabelTotals, mean: LabelMean, around: Surroundings) -> float | None:
    """Return one number, or None where it is the mean of nothing.

    ``macro`` is the mean over a set of labels, ``weighted`` weighs each label by the rows in which it is true,
    ``micro`` is the rate of all cells together. Sums are rounded once, so that their order has no effect.
    """
    rate = RATES[mean.rate]
    if mean.average == "micro":
        value, known = rate_values(rate, cells_of(totals, mean.span, around.n_labels), mean.beta, mean.zero)
        return float(value) if known else None
    columns = _Columns.of(totals, mean.span)
    cells = Cells.of(columns.hits, columns.predicted, columns.true, totals.rows)
    values, known = rate_values(rate, cells, mean.beta, mean.zero)
    if mean.average == "weighted":
        support = columns.true[known].astype(np.float64)
        weight = math.fsum(support)
        return math.fsum(values[known] * support) / weight if weight else None
    inside = _inside(totals, columns, mean.over, around)
    unseen, defined = rate_values(rate, Cells.of(0, 0, 0, totals.rows), mean.beta, mean.zero)
    n_unseen = _n_labels(totals, columns, mean.over, around) - int(np.count_nonzero(inside)) if defined else 0
    inside &= known
    n = int(np.count_nonzero(inside)) + n_unseen
    values = values[inside]
    return math.fsum([*values[values != 0].tolist(), float(unseen) * n_unseen]) / n if n else None


def coverage(totals: LabelTotals, span: int, n_spans: int, over: str, around: Surroundings) -> float | None:
    """Return the share of labels with at least one hit down to a cut, among those that `over` names.

    ``truth``: labels true in some row; ``all``: all labels; ``ideal``: labels within the cutoff of some row's ideal
    ranking, the true labels by inverse propensity.
    """
    columns = _Columns.of(totals, span)
    if over == "ideal":
        first = FIRST_SPAN + 2 * n_spans
        n = int(np.count_nonzero(totals.column(slice(first, first + span + 1))))
    else:
        n = around.n_labels if over == "all" else int(np.count_nonzero(columns.true))
    return int(np.count_nonzero(columns.hits)) / n if n else None


def _inside(totals: LabelTotals, columns: _Columns, over: str, around: Surroundings) -> NDArray[np.bool_]:
    """Which of the counted labels are in the set."""
    if over == "truth":
        return columns.true > 0
    if over == "seen":
        return (columns.true > 0) | (columns.predicted > 0)
    labels = totals.labels
    if over == "train":
        return around.training.codes_of(labels) > 0
    if over == "largest":
        return labels <= _largest(totals, columns)
    return np.ones(labels.size, dtype=np.bool_)


def _n_labels(totals: LabelTotals, columns: _Columns, over: str, around: Surroundings) -> int:
    """How many labels the set has, those without any count too."""
    if over == "all":
        return around.n_labels
    if over == "train":
        return int(np.count_nonzero(around.training.codes))
    if over == "largest":
        return _largest(totals, columns) + 1
    return int(np.count_nonzero(_inside(totals, columns, over, around)))


def _largest(totals: LabelTotals, columns: _Columns) -> int:
    """The largest label that is true or predicted."""
    return int(totals.labels[(columns.true > 0) | (columns.predicted > 0)].max(initial=-1))
