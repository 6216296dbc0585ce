"""Label-wise means: the values that counts by label amount to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmceval.labels.bins import Bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.lazily import dataclass
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, Cells, rate_values
from xmceval.rows.block import Int64
from xmceval.scoring.labeltotals import LabelTotals

COUNTS = ("tp", "fp", "fn", "tn")
RULES = frozenset({*RATES, *COUNTS, "coverage"})


@dataclass(frozen=True)
class Context:
    """What the counts do not tell.

    Attributes
    ----------
    n_labels : int
    training : Propensities
        Tells which labels have a training row.
    weight_unit : float
        The sample weight that a count of 1 stands for.
    """

    n_labels: int
    training: Propensities = NO_PROPENSITIES
    weight_unit: float = 1.0


def label_value(measure: Measure, totals: LabelTotals, cutoffs: Int64, context: Context) -> float | None:
    """Return the value of a label-wise measure, or None where it is the mean of nothing."""
    span = 0 if measure.k is None else int(np.searchsorted(cutoffs, measure.k))
    fold = measure.metric.fold
    if fold == "coverage":
        of, over = measure.option("of"), measure.option("over")
        return coverage(totals, span, max(cutoffs.size, 1), over, context, of_recommended=of == "recommended")
    if fold in COUNTS:
        cells = float(getattr(cells_of(totals, span, context.n_labels), fold))
        return math.ldexp(cells, -totals.bits) * context.weight_unit
    over, zero = measure.option("over", "all"), measure.option("zero", "0")
    return label_mean(totals, LabelMean(fold, span, measure.average, over, zero, measure.number("beta")), context)


def bin_values(
    measures: Sequence[Measure], totals: LabelTotals, cutoffs: Int64, context: Context, bins: Bins
) -> list[dict[str, float | None]]:
    """Return the values of measures within each bin of labels; `over=largest` has none there."""
    codes, training = context.training.codes_of(totals.labels), context.training
    values = []
    for number, each in enumerate(bins.bins):
        own_codes = np.where(bins.by_code[training.codes] == number, training.codes, 0).astype(np.int32)
        inside = replace(context, n_labels=each.n_labels, training=replace(training, codes=own_codes))
        of_bin = totals.where(bins.by_code[codes] == number)
        values.append(
            {
                str(measure): label_value(measure, of_bin, cutoffs, inside)
                for measure in measures
                if measure.option("over") != "largest"
            }
        )
    return values


@dataclass(frozen=True)
class LabelMean:
    """A label-wise mean: a rate, the labels that it is of, their weights, and what 0/0 counts as."""

    rate: str
    span: int = 0
    average: str = "macro"
    over: str = "all"
    zero: str = "0"
    beta: float = 1.0


@dataclass(frozen=True)
class _Columns:
    """Hits, predictions and truth of every label down to a cutoff."""

    hits: Int64
    predicted: Int64
    true: Int64

    @classmethod
    def of(cls, totals: LabelTotals, span: int) -> _Columns:
        """Add up the spans above the cutoff."""
        return cls(totals.hits(span), totals.predicted(span), totals.true)


def cells_of(totals: LabelTotals, span: int, n_labels: int | None = None) -> Cells:
    """Return the counts of cells down to a cutoff, of every label, or of all `n_labels` together."""
    columns = _Columns.of(totals, span)
    if n_labels is None:
        return Cells.of(columns.hits, columns.predicted, columns.true, totals.rows)
    hits, predicted, true = (sum(each.tolist()) for each in (columns.hits, columns.predicted, columns.true))
    return Cells.of(hits, predicted, true, totals.rows * n_labels)


def label_mean(totals: LabelTotals, mean: LabelMean, context: Context) -> float | None:
    """Return one number, or None where it is the mean of nothing.

    ``macro`` is the mean over a set of labels, ``weighted`` weighs each label by the rows in which it is true,
    ``micro`` is the rate of all cells together. Sums are rounded once, so that their order has no effect.
    """
    rate = RATES[mean.rate]
    if mean.average == "micro":
        value, is_defined = rate_values(rate, cells_of(totals, mean.span, context.n_labels), mean.beta, mean.zero)
        return float(value) if is_defined else None
    columns = _Columns.of(totals, mean.span)
    cells = Cells.of(columns.hits, columns.predicted, columns.true, totals.rows)
    values, defined = rate_values(rate, cells, mean.beta, mean.zero)
    if mean.average == "weighted":
        support = columns.true[defined].astype(np.float64)
        weight = math.fsum(support)
        return math.fsum(values[defined] * support) / weight if weight else None
    inside = _inside(totals, columns, mean.over, context)
    unseen, is_defined = rate_values(rate, Cells.of(0, 0, 0, totals.rows), mean.beta, mean.zero)
    n_unseen = _n_labels(totals, columns, mean.over, context) - int(np.count_nonzero(inside)) if is_defined else 0
    inside &= defined
    n = int(np.count_nonzero(inside)) + n_unseen
    values = values[inside]
    return math.fsum([*values[values != 0].tolist(), float(unseen) * n_unseen]) / n if n else None


def coverage(
    totals: LabelTotals, span: int, n_spans: int, over: str, context: Context, *, of_recommended: bool = False
) -> float | None:
    """Return the share of labels with at least one hit down to a cutoff, of those that `over` names.

    With `of_recommended` it is the share that is predicted at least once, true or not.

    ``truth``: labels true in some row; ``all``: all labels; ``ideal``: labels within the cutoff of some row's ideal
    ranking, the true labels by inverse propensity.
    """
    columns = _Columns.of(totals, span)
    if over == "ideal":
        inside = totals.in_ideal(span, n_spans) > 0
    else:
        inside = (columns.true > 0) | (over == "all")
    n = context.n_labels if over == "all" else int(np.count_nonzero(inside))
    covered = (columns.predicted > 0) & inside if of_recommended else columns.hits > 0
    return int(np.count_nonzero(covered)) / n if n else None


def _inside(totals: LabelTotals, columns: _Columns, over: str, context: Context) -> NDArray[np.bool_]:
    """Which of the counted labels are in the set."""
    if over == "truth":
        return columns.true > 0
    if over == "seen":
        return (columns.true > 0) | (columns.predicted > 0)
    labels = totals.labels
    if over == "train":
        return context.training.codes_of(labels) > 0
    if over == "largest":
        return labels <= _largest(totals, columns)
    return np.ones(labels.size, dtype=np.bool_)


def _n_labels(totals: LabelTotals, columns: _Columns, over: str, context: Context) -> int:
    """How many labels the set has, those without any count too."""
    if over == "all":
        return context.n_labels
    if over == "train":
        return int(np.count_nonzero(context.training.codes))
    if over == "largest":
        return _largest(totals, columns) + 1
    return int(np.count_nonzero(_inside(totals, columns, over, context)))


def _largest(totals: LabelTotals, columns: _Columns) -> int:
    """The largest label that is true or predicted."""
    return int(totals.labels[(columns.true > 0) | (columns.predicted > 0)].max(initial=-1))
