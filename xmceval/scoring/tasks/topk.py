"""Task for metrics at a cutoff, from the k best labels of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from xmceval.kernels.metrics import ties as tie_kernels, topk as kernels
from xmceval.kernels.rows.repairs import drop_pairs
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows, Scratch
from xmceval.scoring.batch import Batch, Ranking, longest, rank, rows_where
from xmceval.scoring.tasks.task import NO_SHARES, RowTask, RowValues, rule_of

GAINS = MappingProxyType(
    {
        "hit": kernels.HIT,
        "propensity": kernels.PROPENSITY,
        "linear": kernels.GRADE,
        "exp": kernels.EXP_GRADE,
        "binary": kernels.HIT,
    }
)
FOLDS = MappingProxyType(
    {"sum": kernels.SUM, "any": kernels.ANY, "first": kernels.FIRST, "precision": kernels.PRECISION}
)

# The sum along the ranks if every label is a hit, computed from the discounts.
IDEALS: Mapping[int, Callable[[Float64], Float64]] = MappingProxyType(
    {
        kernels.SUM: np.cumsum,
        kernels.ANY: np.ones_like,
        kernels.FIRST: np.ones_like,
        kernels.PRECISION: lambda discounts: np.arange(1.0, discounts.size + 1),
    }
)


def _letor(rank: Float64, _: float) -> Float64:
    discounts = np.ones(rank.size)
    discounts[1:] = 1 / np.log2(rank[1:])
    return discounts


# The discount of ranks 1, 2, ..., given the number `p` of a discount.
DISCOUNTS: Mapping[str, Callable[[Float64, float], Float64]] = MappingProxyType(
    {
        "none": lambda rank, _: np.ones(rank.size),
        "log2": lambda rank, _: 1 / np.log2(rank + 1),
        "ln": lambda rank, _: 1 / np.log(rank + 1),
        "letor": _letor,
        "geometric": lambda rank, p: (1 - p) * np.power(p, rank - 1),
    }
)


# How rows are combined; a micro average is a ratio whose denominators are counted here.
OVER = MappingProxyType({"mean": 0, "ratio": 1, "micro": 0})


class Divisor(NamedTuple):
    """A row's divisor: slope * n + constant + returned * min(k, m) + levels[min(k, n)]; 0 without levels.

    n are the true labels of the row, m its predictions.
    """

    slope: float = 0.0
    constant: float = 0.0
    returned: float = 0.0
    levels: Float64 | None = None


BY_ORDER = "hits"  # a divisor that depends on the order of labels: these measures follow the list hit by hit


def weight_of_recall(beta: float) -> float:
    """Return beta^2 / (1 + beta^2), the weight of true labels against predictions in the divisor of an F measure."""
    square = beta * beta
    return square / (1 + square)


# The divisor, given k, the sums D(0), D(1), ... of the discounts, and beta. Levels do not depend on k.
DIVISORS: Mapping[str, Callable[[int, Float64, float], Divisor]] = MappingProxyType(
    {
        "1": lambda _, __, ___: Divisor(constant=1.0),
        "k": lambda k, _, __: Divisor(constant=float(k)),
        "n": lambda _, __, ___: Divisor(slope=1.0),
        "(k+n)/2": lambda k, _, beta: Divisor(weight_of_recall(beta), k / (1 + beta * beta)),  # beta is 1 by default
        "min(k,n)": lambda _, sums, __: Divisor(levels=np.arange(float(sums.size))),
        "min(k,m)": lambda _, __, ___: Divisor(returned=1.0),
        "D(k)": lambda k, sums, _: Divisor(constant=float(sums[k])),
        "D(min(k,n))": lambda _, sums, __: Divisor(levels=sums),
    }
)

# The weight of true labels in the denominator of a micro average, given beta; the rest is for predictions.
MICRO: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"predicted": lambda _: 0.0, "n": lambda _: 1.0, "F": weight_of_recall}
)

BY_IDEAL = "ideal"  # the sum of the ideal ranking as divisor


class Micro(NamedTuple):
    """An output: hits divided by a weighted sum of true labels and predictions within the cutoff."""

    output: int
    of_true: float
    of_predicted: float


@dataclass(frozen=True)
class TopK(RowTask):
    """Measures at a cutoff with the same `rel`."""

    measures: tuple[Measure, ...]  # one per output
    rel: float
    curves: Int64  # int64 array [n_curves, 3]; gain, discount and fold of each running sum along the ranks
    discounts: Float64  # float64 array [n_discounts, deepest cutoff]; d at each rank
    # int64 array [n_outputs, 5]; curve, cutoff, 1 for a ratio of sums, 1 for a complement, and the row of `levels`,
    # or -1 where the divisor is the ideal ranking's sum
    outputs: Int64
    divisors: Float64  # float64 array [n_outputs, 3]; slope and constant; see `Divisor`
    levels: Float64  # float64 array [n_levels, deepest cutoff + 1]; the first row is 0
    micro: tuple[Micro, ...] = ()

    place = 0
    has_shares = True
    needs_scores = False

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> TopK:
        """Return the task of these measures, with the arrays that tell the kernel what to compute."""
        deepest = max(measure.k or 0 for measure in measures)
        ranks = np.arange(1, deepest + 1, dtype=np.float64)
        curves: dict[tuple[int, int, int], int] = {}
        discounts: dict[tuple[str, float], Float64] = {}
        sums: dict[tuple[str, float], Float64] = {}
        levels: dict[tuple[str, Any], int] = {}
        tables = [np.zeros(deepest + 1)]
        outputs = []
        divisors = []
        micro = []
        for o, measure in enumerate(measures):
            metric = measure.metric
            k = measure.k or 0
            beta = measure.number("beta")
            discount = measure.discount, measure.number("p")
            if discount not in discounts:
                discounts[discount] = rule_of(DISCOUNTS, discount[0], "discount", measure)(ranks, discount[1])
                sums[discount] = np.concatenate([[0.0], np.cumsum(discounts[discount])])
            rule_of(OVER, measure.norm.over, "way over rows", measure)
            gain = rule_of(GAINS, measure.option("gain", metric.gain), "gain", measure)
            curve = gain, list(discounts).index(discount), rule_of(FOLDS, metric.fold, "fold", measure)
            name = measure.norm.divisor
            if measure.norm.over == "micro":
                of_true = rule_of(MICRO, name, "micro divisor", measure)(beta)
                micro.append(Micro(o, of_true, 1 - of_true))
                name = "1"
            divisor = Divisor()
            level = -1
            if name != BY_IDEAL:
                divisor = rule_of(DIVISORS, name, "divisor", measure)(k, sums[discount], beta or 1.0)
                level = 0
            if divisor.levels is not None:
                level = levels.setdefault((name, discount), len(tables))
                tables += [divisor.levels] if level == len(tables) else []
            is_ratio = OVER[measure.norm.over]
            is_complement = int(metric.complement)
            outputs.append((curves.setdefault(curve, len(curves)), k, is_ratio, is_complement, level))
            divisors.append((divisor.slope, divisor.constant, divisor.returned))
        return cls(
            measures,
            rel,
            curves=np.array(list(curves), dtype=np.int64),
            discounts=np.stack(list(discounts.values())),
            outputs=np.array(outputs, dtype=np.int64),
            divisors=np.array(divisors),
            levels=np.stack(tables),
            micro=tuple(micro),
        )

    @cached_property
    def recipe(self) -> tuple[Any, ...]:
        """The arrays that tell the kernel what to compute: `curves`, `discounts`, `outputs`, `divisors`, `levels`."""
        return self.curves, self.discounts, self.outputs, self.divisors, self.levels

    @cached_property
    def used(self) -> Int64:
        """For each kind of gain, whether a curve has it, int64 [N_GAINS]."""
        return np.isin(np.arange(kernels.N_GAINS), self.curves[:, 0]).astype(np.int64)

    @cached_property
    def first_running(self) -> Float64:
        """The initial running sums [2, n_curves, deepest cutoff + 1]; ideals of hits are equal for all rows."""
        running = np.zeros((2, len(self.curves), self.discounts.shape[1] + 1))
        for c, (_, discount, fold) in enumerate(self.curves):
            running[kernels.IDEAL, c, 1:] = IDEALS[fold](self.discounts[discount])
        return running

    def _make_space(self, _scratch: Scratch, _measures: tuple[Measure, ...], n_keys: int) -> tuple[Any, ...]:
        """Return the scratch space of the kernel: used gains, gains, running sums, keys, bins."""
        depth = self.discounts.shape[1]
        keys = np.empty(n_keys, dtype=np.int64)
        bins = np.empty(depth, dtype=np.int64)
        return (self.used, np.empty((2, kernels.N_GAINS, depth)), self.first_running.copy(), keys, bins)

    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of rows, and the shares of bins of labels in them."""
        setup = batch.setup
        truth, n_dropped = batch.relevant(self.rel)
        n_outputs = len(self.measures)
        n_bins = setup.n_bins
        values = batch.values(f"values at cutoffs {self.rel}", batch.n_rows, n_outputs)
        shares = batch.values(f"shares {self.rel}", batch.n_rows, n_outputs * n_bins) if n_bins else NO_SHARES
        are_tied = batch.ranking.n_tied > 0
        is_expected = setup.options.ties == "expected"
        if are_tied:  # write the bounds of the numerators of rows over the orders of tied labels
            n_curves = len(self.curves)
            depth = self.discounts.shape[1]
            n_true = longest(truth)
            array = batch.scratch.array
            tie_kernels.bound_ties(
                tuple(truth),
                (*batch.scores, batch.omitted),
                batch.ranking.arrays,
                setup.propensities.table,
                self.recipe,
                is_expected,
                (
                    self.used,
                    array("tied sums", 3 * n_curves * depth, np.float64).reshape(3, n_curves, depth),
                    array("tied hits", 3 * n_curves, np.int64).reshape(3, n_curves),
                    array("tied places", n_true, np.int64),
                    array("tied gains", n_true, np.float64),
                ),
                values,
            )
        self._compute_rows(batch, truth, batch.ranking, values, shares, are_tied=are_tied)
        if setup.options.ceiling:
            self._lower_ceilings(batch, truth, values)
        for micro in self.micro:
            n_predicted = np.minimum(batch.ranking.n_ranked, self.outputs[micro.output, 1])
            total = micro.of_true * np.diff(truth.indptr) + micro.of_predicted * n_predicted
            values[:, micro.output, 1] = total * batch.is_counted(truth)
            first = micro.output * n_bins
            shares[:, first : first + n_bins, 1] = values[: len(shares), micro.output, 1:2]
        return RowValues(values, shares, n_dropped)

    def _compute_rows(
        self, batch: Batch, truth: Rows, ranking: Ranking, values: Float64, shares: Float64, *, are_tied: bool
    ) -> None:
        """Write the values of rows, given the truth and a ranking; `are_tied` as in the kernel."""
        setup = batch.setup
        n_keys = 1
        if self.used[kernels.HIT + 1 :].any():  # ideal rankings require sorting gains
            n_keys = max(int(truth.indptr[-1]), 1)
        room = 1 << (n_keys - 1).bit_length()  # the same for many blocks
        kernels.compute_rows(
            tuple(truth),
            ranking.arrays,
            setup.propensities.table,
            self.recipe,
            setup.drop_empty,
            are_tied,
            setup.options.ties == "expected",
            _NO_BINS if setup.bins is None else setup.bins.by_code,
            batch.scratch.held(f"top-k of grade {self.rel}", (self.measures, room), self._make_space),
            values,
            shares,
        )

    def _lower_ceilings(self, batch: Batch, truth: Rows, values: Float64) -> None:
        """Replace ceilings by the values of the best rankings without filtered labels."""
        (rows, labels), _ = batch.filtered(self.rel)
        if not rows.size:
            return
        scratch = Scratch()  # the scratch space of the batch holds its ranking
        best = rows_where(truth, np.ones(batch.n_rows, dtype=np.bool_), scratch, "best")
        drop_pairs(*best, 0, rows, labels, True, np.zeros(2, dtype=np.int64))
        propensities = batch.setup.propensities
        by_propensity = best._replace(values=propensities.inverse[propensities.codes_of(best.indices)])
        are_weighted = self.curves[self.outputs[:, 0], 0] == kernels.PROPENSITY
        reached = np.empty_like(values)
        for outputs, gains in ((are_weighted, by_propensity), (~are_weighted, best)):
            ranking = rank(gains, self.discounts.shape[1] + 1, scratch)
            self._compute_rows(batch, truth, ranking, reached, NO_SHARES, are_tied=False)
            values[:, outputs, -1] = reached[:, outputs, 0]

    def has_ideal(self, measure: Measure) -> bool:
        """Return whether a measure does not divide by predictions, which another ranking could reduce."""
        o = self.measures.index(measure)
        return not (self.divisors[o, 2] or any(micro.output == o and micro.of_predicted for micro in self.micro))


_NO_BINS = np.zeros(1, dtype=np.int64)
