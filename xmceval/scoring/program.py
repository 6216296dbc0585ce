"""Program: a list of measures as the arrays of numbers that the row kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATIOS
from xmceval.rows.block import Float64

# The numbers below are those of kernels/rows.py and kernels/ranking.py; a test holds them against each other.
GAINS = {"hit": 0, "propensity": 1, "grade": 2, "exp": 3}

FOLDS = {"sum": 0, "any": 1, "first": 2, "precision": 3}

DISCOUNTS = ("none", "log2", "ln", "letor")

KINDS = {
    "LRAP": 0, "coverage": 1, "loss": 2, "AUC": 3, "GAUC": 4, "AP": 5, "RR": 6, "R": 7, "R@n": 8, "DCG": 9, "nDCG": 10,
    "ERR": 11, "AUC@k": 12,
}  # fmt: skip

MOMENTS = 8  # sums kept of an output: num, den, num^2, num den, den^2, best - num, worst - num, ceiling

SLOTS = 5  # numbers of a row for an output: num, den, best - num, worst - num, ceiling

MAX_CUTOFF = 10_000

# A row's divisor is slope * n + level, the level by m = min(k, n); where the slope is negative it is the ideal.
_SLOPES = {"n": 1.0, "(k+n)/2": 0.5, "ideal": -1.0}

# What metrics of the top-k family become over the whole list, by fold and divisor.
_WHOLE = {
    ("precision", "n"): "AP",
    ("precision", "min(k,n)"): "AP",
    ("first", "1"): "RR",
    ("sum", "n"): "R",
    ("sum", "1"): "DCG",
    ("sum", "ideal"): "nDCG",
}


def _levels(divisor: str, k: int, discounts: Float64) -> Float64:
    """Levels of a divisor by m = 0..k, from the discounts by rank."""
    m = np.arange(k + 1.0)
    sums = np.concatenate([[0.0], np.cumsum(discounts[:k])])
    levels = {
        "1": np.ones(k + 1),
        "k": np.full(k + 1, float(k)),
        "(k+n)/2": np.full(k + 1, k / 2),
        "min(k,n)": m,
        "D(k)": np.full(k + 1, sums[k]),
        "D(min(k,n))": sums,
    }
    return levels.get(divisor, np.zeros(k + 1))


@dataclass(frozen=True)
class TopK:
    """What kernels/rows.py computes for measures with the same `rel`: the grade from which on a label is true.

    Attributes
    ----------
    measures : sequence of Measure
        One per output.
    rel : int
    curves : int64 array [n_curves, 3]
        Gain, discount and fold of each running sum along the ranks.
    discounts : float64 array [n_discounts, deepest cut]
        d at each rank.
    outputs : int64 array [n_outputs, 4]
        Curve, cut, 1 for a ratio of sums, 1 for a complement.
    slopes, levels : float64 array [n_outputs], [n_outputs, deepest cut + 1]
        The divisor of a row with n true labels is slope * n + level[min(k, n)], or the ideal where the slope is -1.
    micro : sequence of (output, share of true labels, share of predictions)
        Outputs that are sums of hits over sums of true labels and predictions within the cutoff.
    """

    measures: tuple[Measure, ...]
    rel: int
    curves: NDArray[np.int64]
    discounts: Float64
    outputs: NDArray[np.int64]
    slopes: Float64
    levels: Float64
    micro: tuple[tuple[int, float, float], ...] = ()

    def working_space(self) -> tuple[NDArray[Any], ...]:
        """Return what the row kernel writes between rows: used gains, gains, ideals, running sums, keys, bins."""
        depth = self.discounts.shape[1]
        used = np.isin(np.arange(len(GAINS)), self.curves[:, 0]).astype(np.int64)
        gains, ideals = np.zeros((2, len(GAINS), depth))
        running = np.zeros((4, len(self.curves), depth))
        return used, gains, ideals, running, *np.zeros((2, depth), dtype=np.int64)


@dataclass(frozen=True)
class WholeRow:
    """What kernels/ranking.py computes for measures with the same `rel`.

    Attributes
    ----------
    measures : sequence of Measure
        One per output.
    rel : int
    specs : int64 array [n_outputs, 5]
        Kind, cut (0: none), discount, 1 for exponential gains, 1 for a ratio of sums.
    params : float64 array [n_outputs]
        The number that a kind takes: 2^max of ERR.
    """

    measures: tuple[Measure, ...]
    rel: int
    specs: NDArray[np.int64]
    params: Float64


@dataclass(frozen=True)
class Decisions:
    """Measures of decisions, with the same `rel`, that are means or ratios over rows."""

    measures: tuple[Measure, ...]
    rel: int


@dataclass(frozen=True)
class Labelwise:
    """Measures that come from counts by label, with the same `rel`, of the best labels or of decisions.

    Attributes
    ----------
    measures : sequence of Measure
    rel : int
    cutoffs : int64 array
        The distinct cutoffs, ascending; none for decisions.
    reach : bool
        Whether labels within the ideal rankings are counted too.
    """

    measures: tuple[Measure, ...]
    rel: int
    cutoffs: NDArray[np.int64]
    reach: bool = False


Part = TopK | WholeRow | Decisions


@dataclass(frozen=True)
class Program:
    """What is computed: by which kernels, and at which cutoffs.

    Attributes
    ----------
    measures : sequence of Measure
        As asked for.
    cutoffs : int64 array [n_cutoffs]
        The distinct cutoffs, ascending; the last is the number of ranks looked at.
    parts : sequence of TopK and WholeRow
        Runs of a row kernel; their measures, one part after the other, are the program's outputs.
    labelwise : sequence of Labelwise
        Counts by label, from which the other measures come.
    """

    measures: tuple[Measure, ...]
    cutoffs: NDArray[np.int64]
    parts: tuple[Part, ...]
    labelwise: tuple[Labelwise, ...] = ()

    @property
    def outputs(self) -> tuple[Measure, ...]:
        """The measures that come from values of rows, in the order of their sums."""
        return tuple(measure for part in self.parts for measure in part.measures)

    @property
    def top_k_outputs(self) -> tuple[Measure, ...]:
        """Those of them that kernels/rows.py computes: they come first."""
        return tuple(measure for part in self.parts if isinstance(part, TopK) for measure in part.measures)

    @property
    def whole_row_outputs(self) -> tuple[tuple[Measure, str], ...]:
        """Those that kernels/ranking.py computes, each with its kind."""
        return tuple(
            (measure, _kind(measure)) for part in self.parts if isinstance(part, WholeRow) for measure in part.measures
        )

    @property
    def deepest(self) -> int:
        """The largest cut, 0 where there is none."""
        return int(self.cutoffs[-1]) if self.cutoffs.size else 0

    @property
    def needs_propensities(self) -> bool:
        """Whether any measure weighs hits by inverse propensities."""
        return any(measure.needs_propensities for measure in self.measures)

    @property
    def needs_labels(self) -> bool:
        """Whether any measure needs the number of labels."""
        return any(measure.metric.needs_labels for measure in self.measures)


def compile_program(measures: Sequence[Measure]) -> Program:
    """Turn measures into a program.

    Raises
    ------
    UsageError
        No measure at all, a cut above 10,000, or a whole list where the metric needs a cut.
    """
    if not measures:
        raise UsageError("no metric was asked for")
    cutoffs = sorted({measure.k for measure in measures if measure.k is not None})
    if cutoffs and cutoffs[-1] > MAX_CUTOFF:
        raise UsageError(f"k = {cutoffs[-1]:,} is above {MAX_CUTOFF:,}, the deepest cut")
    groups: dict[tuple[bool, int], list[Measure]] = {}
    for measure in measures:
        if measure.metric.family in {"top-k", "row"}:
            is_whole = measure.metric.family == "row" or measure.k is None
            groups.setdefault((is_whole, measure.rel), []).append(measure)
    parts: list[Part] = [
        _whole_row(tuple(group), rel) if is_whole else _top_k(tuple(group), rel)
        for (is_whole, rel), group in sorted(groups.items(), key=lambda item: item[0])
    ]
    decided, labelwise = _counted(measures)
    return Program(tuple(measures), np.array(cutoffs, dtype=np.int64), (*parts, *decided), labelwise)


def _counted(measures: Sequence[Measure]) -> tuple[list[Decisions], tuple[Labelwise, ...]]:
    """Sort measures made of counts of cells into those that rows add up to, and those that labels do."""
    decided: dict[int, list[Measure]] = {}
    by_label: dict[tuple[bool, int], list[Measure]] = {}
    for measure in measures:
        if measure.metric.family not in {"label", "confusion"}:
            continue
        average, is_decision = measure.average, measure.metric.family == "confusion"
        if is_decision and measure.option("over", "all") != "all" and average != "macro":
            raise UsageError(f"{measure}: over= names the labels of a macro average, add average=macro")
        if is_decision and (average in {"samples", "rows"} or (average == "micro" and measure.metric.fold in RATIOS)):
            decided.setdefault(measure.rel, []).append(measure)
        else:
            by_label.setdefault((is_decision, measure.rel), []).append(measure)
    return (
        [Decisions(tuple(group), rel) for rel, group in sorted(decided.items())],
        tuple(
            Labelwise(
                tuple(group),
                rel,
                np.array(sorted({measure.k for measure in group if measure.k is not None}), dtype=np.int64),
                reach=any(measure.option("over") == "ideal" for measure in group),
            )
            for (_, rel), group in sorted(by_label.items(), key=lambda item: item[0])
        ),
    )


def _top_k(measures: tuple[Measure, ...], rel: int) -> TopK:
    curves: dict[tuple[int, int, int], int] = {}
    outputs = []
    micro = []
    deepest = max(measure.k or 0 for measure in measures)
    discounts = list(discount_table(deepest))
    rows = {(name, 0.0): i for i, name in enumerate(DISCOUNTS)}
    slopes, levels = np.zeros(len(measures)), np.zeros((len(measures), deepest + 1))
    for o, measure in enumerate(measures):
        metric, divisor, k = measure.metric, measure.norm.divisor, measure.k or 0
        if measure.norm.over == "micro":
            square = measure.number("beta") ** 2
            of_true = {"predicted": 0.0, "n": 1.0, "F": square / (1 + square)}[divisor]
            micro.append((o, of_true, 1 - of_true))
            divisor = "1"
        square = measure.number("beta") ** 2 if divisor == "(k+n)/2" else 1.0
        discount = (measure.discount, measure.number("p"))
        if discount not in rows:
            rows[discount] = len(discounts)
            discounts.append((1 - discount[1]) * discount[1] ** np.arange(deepest))
        gain = "exp" if measure.option("gain") == "exp" else metric.gain
        curve = curves.setdefault((GAINS[gain], rows[discount], FOLDS[metric.fold]), len(curves))
        outputs.append((curve, k, int(measure.norm.over == "ratio"), int(metric.complement)))
        slopes[o] = _SLOPES.get(divisor, 0.0)
        levels[o, : k + 1] = _levels(divisor, k, discounts[rows[discount]])
        if square != 1:  # (k + beta^2 n) / (1 + beta^2), which is (k + n) / 2 for beta = 1
            slopes[o], levels[o, : k + 1] = square / (1 + square), k / (1 + square)
    return TopK(
        measures,
        rel,
        curves=np.array(list(curves), dtype=np.int64),
        discounts=np.stack(discounts),
        outputs=np.array(outputs, dtype=np.int64),
        slopes=slopes,
        levels=levels,
        micro=tuple(micro),
    )


def _whole_row(measures: tuple[Measure, ...], rel: int) -> WholeRow:
    specs, params = [], []
    for measure in measures:
        kind = _kind(measure)
        discount = DISCOUNTS.index(measure.discount)
        is_exp, is_ratio = int(measure.option("gain") == "exp"), int(measure.norm.over == "ratio")
        specs.append((KINDS[kind], measure.k or 0, discount, is_exp, is_ratio))
        params.append(2.0 ** measure.number("max"))
    return WholeRow(measures, rel, np.array(specs, dtype=np.int64), np.array(params))


def _kind(measure: Measure) -> str:
    """What a measure is over a whole row."""
    metric = measure.metric
    kind = metric.fold if metric.family == "row" else _WHOLE.get((metric.fold, measure.norm.divisor))
    if kind is None:
        raise UsageError(f"{measure} needs a cut: its divisor is {measure.norm.divisor}")
    return kind


def discount_table(depth: int) -> Float64:
    """Discounts d by rank 1..depth, one row for each entry of DISCOUNTS."""
    rank = np.arange(1, depth + 1, dtype=np.float64)
    letor = np.ones(depth)
    letor[1:] = 1 / np.log2(rank[1:])
    return np.stack([np.ones(depth), 1 / np.log2(rank + 1), 1 / np.log(rank + 1), letor])
