"""Top-k tasks: metrics at a cutoff, from the k best labels of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels import topk as kernels
from xmceval.kernels.ties import expect_rows
from xmceval.lazily import dataclass
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.batch import Batch, Terms, longest
from xmceval.scoring.estimates import Estimate, estimate
from xmceval.scoring.sums import Sums
from xmceval.scoring.task import Estimates, RowTask, RowValues, by_rel, look_up

GAINS = MappingProxyType(
    {"hit": kernels.HIT, "propensity": kernels.PROPENSITY, "grade": kernels.GRADE, "exp": kernels.EXP_GRADE}
)
FOLDS = MappingProxyType(
    {"sum": kernels.SUM, "any": kernels.ANY, "first": kernels.FIRST, "precision": kernels.PRECISION}
)


def _letor(rank: Float64, _: float) -> Float64:
    discounts = np.ones(rank.size)
    discounts[1:] = 1 / np.log2(rank[1:])
    return discounts


# The discount of each rank 1, 2, ..., and of the number `p` that a discount may take.
DISCOUNTS: Mapping[str, Callable[[Float64, float], Float64]] = MappingProxyType(
    {
        "none": lambda rank, _: np.ones(rank.size),
        "log2": lambda rank, _: 1 / np.log2(rank + 1),
        "ln": lambda rank, _: 1 / np.log(rank + 1),
        "letor": _letor,
        "geometric": lambda rank, p: (1 - p) * p ** (rank - 1),
    }
)


# How rows come together; a micro average is a ratio whose denominators are counted here.
OVER = MappingProxyType({"mean": 0, "ratio": 1, "micro": 0})


class Divisor(NamedTuple):
    """A row's divisor: slope * n + level[min(k, n)], with levels for min(k, n) = 0..k."""

    slope: float
    levels: Float64


BY_ORDER = "hits"  # a divisor that depends on the order of the labels: such measures go along the list, hit by hit

IDEAL = -1.0  # the slope that stands for the ideal ranking's sum


def _constant(value: float, k: int) -> Float64:
    return np.full(k + 1, value)


def _f_divisor(k: int, beta: float) -> Divisor:
    """(k + beta^2 n) / (1 + beta^2), which is (k + n) / 2 for beta = 1."""
    square = beta * beta
    return Divisor(square / (1 + square), _constant(k / (1 + square), k))


# The divisor from k, the sums D(0), D(1), ... of the discounts, and beta.
DIVISORS: Mapping[str, Callable[[int, Float64, float], Divisor]] = MappingProxyType(
    {
        "1": lambda k, _, __: Divisor(0.0, _constant(1.0, k)),
        "k": lambda k, _, __: Divisor(0.0, _constant(float(k), k)),
        "n": lambda k, _, __: Divisor(1.0, _constant(0.0, k)),
        "(k+n)/2": lambda k, _, beta: _f_divisor(k, beta),
        "min(k,n)": lambda k, _, __: Divisor(0.0, np.arange(k + 1.0)),
        "D(k)": lambda k, sums, _: Divisor(0.0, _constant(float(sums[k]), k)),
        "D(min(k,n))": lambda k, sums, _: Divisor(0.0, sums[: k + 1]),
        "ideal": lambda k, _, __: Divisor(IDEAL, _constant(0.0, k)),
    }
)


@dataclass(frozen=True)
class Micro:
    """An output that is a sum of hits over a weighted sum of true labels and predictions within the cutoff."""

    output: int
    of_true: float
    of_predicted: float


@dataclass(frozen=True)
class TopK(RowTask):
    """Measures at a cutoff with the same `rel`.

    Attributes
    ----------
    measures : tuple of Measure
        One per output.
    rel : int
    curves : int64 array [n_curves, 3]
        Gain, discount and fold of each running sum along the ranks.
    discounts : float64 array [n_discounts, deepest cutoff]
        d at each rank.
    outputs : int64 array [n_outputs, 4]
        Curve, cutoff, 1 for a ratio of sums, 1 for a complement.
    slopes, levels : float64 array [n_outputs], [n_outputs, deepest cutoff + 1]
        See `Divisor`.
    micro : tuple of Micro
    """

    measures: tuple[Measure, ...]
    rel: int
    curves: Int64
    discounts: Float64
    outputs: Int64
    slopes: Float64
    levels: Float64
    micro: tuple[Micro, ...] = ()

    has_ceiling = True
    needs_scores = False

    @staticmethod
    def takes(measure: Measure) -> bool:
        """Whether a measure is one of the top-k family with a cutoff."""
        is_top_k = measure.metric.family == "top-k" and measure.k is not None
        return is_top_k and measure.norm.divisor != BY_ORDER

    @classmethod
    def compile(cls, measures: Iterable[Measure]) -> list[TopK]:
        """Return one task for each `rel`."""
        return [_compile(group, rel) for rel, group in by_rel(measures)]

    @property
    def recipe(self) -> tuple[NDArray[Any], ...]:
        """The arrays that tell the kernel what to compute."""
        return self.curves, self.discounts, self.outputs, self.slopes, self.levels

    def own_space(self) -> tuple[NDArray[Any], ...]:
        """Return what the kernel writes between rows: used gains, gains, ideals, running sums, keys, bins."""
        depth = self.discounts.shape[1]
        used = np.isin(np.arange(kernels.N_GAINS), self.curves[:, 0]).astype(np.int64)
        gains, ideals = np.zeros((2, kernels.N_GAINS, depth))
        running = np.zeros((4, len(self.curves), depth))
        return used, gains, ideals, running, *np.zeros((2, depth), dtype=np.int64)

    def numbers_per_row(self, terms: Terms) -> int:
        """Return how many numbers the values of a row are, and the running sums where ties are expected."""
        expected = len(self.curves) * self.discounts.shape[1] if terms.ties == "expected" else 0
        return super().numbers_per_row(terms) + expected

    def compute(self, batch: Batch, own: tuple[NDArray[Any], ...]) -> RowValues:
        """Compute the values of rows, and the shares of bins of labels in them."""
        terms, (truth, n_dropped) = batch.terms, batch.relevant(self.rel)
        n_outputs, n_bins = len(self.measures), terms.n_bins
        values = batch.values("outputs", batch.n_rows, n_outputs)
        shares = batch.values("shares", batch.n_rows if n_bins else 0, n_outputs * n_bins)
        kernels.compute_rows(
            *(tuple(truth), batch.predictions, tuple(batch.ranking), terms.propensities.table, self.recipe),
            *(terms.drop_empty, self._expected(batch, truth), _NO_BINS if terms.bins is None else terms.bins.by_code),
            *(own, batch.scratch.array("keys", longest(truth), np.int64), values, shares),
        )
        self._divide_micro(batch, truth, values, shares)
        return RowValues(values, shares, np.full(n_outputs, n_dropped))

    def _divide_micro(self, batch: Batch, truth: Rows, values: Float64, shares: Float64) -> None:
        """Write the denominators of micro averages."""
        n_bins = batch.terms.n_bins
        for micro in self.micro:
            n_predicted = np.minimum(batch.ranking.n_ranked, self.outputs[micro.output, 1])
            total = micro.of_true * np.diff(truth.indptr) + micro.of_predicted * n_predicted
            values[:, micro.output, 1] = total * batch.is_counted(truth)
            first = micro.output * n_bins
            shares[:, first : first + n_bins, 1] = values[: len(shares), micro.output, 1:2]

    def _expected(self, batch: Batch, truth: Rows) -> Float64:
        """Return the mean running sums over the orders of tied labels, or no rows where their order by label counts."""
        if batch.terms.ties != "expected":
            return np.empty((0, 1, 1))
        expected = np.empty((batch.n_rows, len(self.curves), self.discounts.shape[1]))
        expect_rows(
            *(tuple(truth), batch.predictions, tuple(batch.ranking), batch.terms.propensities.table),
            *(self.curves, self.discounts, np.empty(kernels.N_GAINS), expected),
        )
        return expected

    def finish_one(self, measure: Measure, finished: Estimate) -> Estimate:
        """Return the estimate of a measure: a micro average that divides by predictions has no ceiling."""
        is_micro = measure.norm.over == "micro" and measure.norm.divisor != "n"
        return finished.without_ceiling() if is_micro else finished

    def finish_bins(self, part: Sums, n_rows: int, terms: Terms) -> Sequence[Estimates]:
        """Return the shares of each bin; a complement has none."""
        n_bins = terms.n_bins
        counted = np.repeat(n_rows - part.left_out, n_bins)
        shares = [
            estimate(sums, int(n)).without_ceiling().without_tie_bounds()
            for sums, n in zip(part.shares, counted, strict=True)
        ]
        return [
            {
                str(measure): shares[o * n_bins + b]
                for o, measure in enumerate(self.measures)
                if not measure.metric.complement
            }
            for b in range(n_bins)
        ]


_NO_BINS = np.zeros(1, dtype=np.int64)


def _compile(measures: tuple[Measure, ...], rel: int) -> TopK:
    deepest = max(measure.k or 0 for measure in measures)
    ranks = np.arange(1, deepest + 1, dtype=np.float64)
    curves: dict[tuple[int, int, int], int] = {}
    discounts: dict[tuple[str, float], Float64] = {}
    outputs, divisors, micro = [], [], []
    for o, measure in enumerate(measures):
        metric, k, beta = measure.metric, measure.k or 0, measure.number("beta")
        discount = measure.discount, measure.number("p")
        if discount not in discounts:
            discounts[discount] = look_up(DISCOUNTS, discount[0], "discount", measure)(ranks, discount[1])
        look_up(OVER, measure.norm.over, "way over rows", measure)
        gain = look_up(GAINS, "exp" if measure.option("gain") == "exp" else metric.gain, "gain", measure)
        curve = gain, list(discounts).index(discount), look_up(FOLDS, metric.fold, "fold", measure)
        outputs.append(
            (
                curves.setdefault(curve, len(curves)),
                *(k, OVER[measure.norm.over], int(metric.complement)),
            )
        )
        divisor = measure.norm.divisor
        if measure.norm.over == "micro":
            of_true = look_up(_MICRO, divisor, "micro divisor", measure)(beta * beta)
            micro.append(Micro(o, of_true, 1 - of_true))
            divisor = "1"
        sums = np.concatenate([[0.0], np.cumsum(discounts[discount])])
        divisors.append(look_up(DIVISORS, divisor, "divisor", measure)(k, sums, beta or 1.0))
    levels = np.zeros((len(measures), deepest + 1))
    for row, each in zip(levels, divisors, strict=True):
        row[: each.levels.size] = each.levels
    return TopK(
        measures,
        rel,
        curves=np.array(list(curves), dtype=np.int64),
        discounts=np.stack(list(discounts.values())),
        outputs=np.array(outputs, dtype=np.int64),
        slopes=np.array([each.slope for each in divisors]),
        levels=levels,
        micro=tuple(micro),
    )


# The share of true labels in the denominator of a micro average, from beta^2; the rest is that of predictions.
_MICRO: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"predicted": lambda _: 0.0, "n": lambda _: 1.0, "F": lambda square: square / (1 + square)}
)
