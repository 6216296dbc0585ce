"""Task for metrics over all labels of a row, over its whole list, or at each of its first ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.kernels.metrics import wholerow as kernels
from xmceval.kernels.metrics.hits import FEW
from xmceval.kernels.rows.order import BASE, N_DIGITS
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.batch import Batch, longest
from xmceval.scoring.tasks.task import NO_SHARES, RowTask, RowValues, Unscored, rule_of
from xmceval.scoring.tasks.topk import BY_ORDER, DISCOUNTS, GAINS, weight_of_recall
from xmceval.scoring.totals import Sums

KINDS: Mapping[str, int] = MappingProxyType(
    {
        "LRAP": kernels.LRAP,
        "coverage": kernels.COVERAGE,
        "loss": kernels.LOSS,
        "AUC": kernels.AUC,
        "GAUC": kernels.GAUC,
        "AP": kernels.AP,
        "RR": kernels.RR,
        "P": kernels.SET,
        "R": kernels.SET,
        "F1": kernels.SET,
        "R@n": kernels.RECALL_AT_N,
        "DCG": kernels.DCG,
        "nDCG": kernels.NDCG,
        "ERR": kernels.ERR,
        "AUC@k": kernels.AUC_AT_K,
        "RBP": kernels.RBP,
        "AP/hits": kernels.AP_OF_HITS,
        "IPrec": kernels.IPREC,
    }
)
# Kinds of top-k metrics when computed along the list, by gain, fold and divisor.
WHOLE_LIST: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {
        ("hit", "precision", "n"): "AP",
        ("hit", "precision", "min(k,n)"): "AP",
        ("hit", "precision", BY_ORDER): "AP/hits",
        ("hit", "first", "1"): "RR",
        ("hit", "sum", "k"): "P",
        ("hit", "sum", "min(k,m)"): "P",
        ("hit", "sum", "n"): "R",
        ("hit", "sum", "(k+n)/2"): "F1",
        ("hit", "sum", "1"): "RBP",
        ("grade", "sum", "1"): "DCG",
        ("grade", "sum", "ideal"): "nDCG",
    }
)
DISCOUNTED = frozenset({"DCG", "nDCG", "RBP"})  # kinds that multiply by the discount of a rank
# The number of a kind; for P, R and F1 the weight of true labels in the divisor, the rest being for
# predictions.
NUMBERS: Mapping[str, Callable[[Measure], float]] = MappingProxyType(
    {
        "ERR": lambda measure: float(1 << int(measure.number("max"))),
        "IPrec": lambda measure: measure.number("recall"),
        "R": lambda _: 1.0,
        "F1": lambda measure: weight_of_recall(measure.number("beta")),
    }
)
# Kinds that use the order by label along the list, so that no other treatment of ties is available.
NO_EXPECTED_TIES = frozenset({"AP", "AP/hits", "RR", "R@n", "DCG", "nDCG", "ERR", "RBP", "AUC@k", "IPrec"})
NO_TIE_BOUNDS = frozenset({"AUC@k", "AP/hits"})
NO_CUTOFF = 1 << 62  # a rank below every list


def kind_of(measure: Measure) -> str:
    """Return the kind of a measure over a whole row, a key of KINDS."""
    metric = measure.metric
    if metric.family == "row":
        return metric.fold
    kind = WHOLE_LIST.get((metric.gain, metric.fold, measure.norm.divisor))
    if kind is None:
        raise UsageError(f"{measure} needs a cutoff: its divisor is {measure.norm.divisor}")
    return kind


@dataclass(frozen=True)
class WholeRow(RowTask):
    """Measures of whole rows with the same `rel`."""

    measures: tuple[Measure, ...]  # one per output
    rel: float
    # int64 array [n_outputs, 5]; kind, cutoff, place in `discounts`, gain, 1 for a ratio of sums
    specs: Int64
    numbers: Float64  # float64 array [n_outputs]; the number that each kind takes
    discounts: tuple[tuple[str, float], ...]  # names of discounts, and the number that each takes

    place = 1

    @classmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> WholeRow:
        """Return the task of these measures, with the arrays that tell the kernel what to compute."""
        places: dict[tuple[str, float], int] = {}
        specs = []
        numbers = []
        for measure in measures:
            kind = kind_of(measure)
            place = 0
            if kind in DISCOUNTED:
                rule_of(DISCOUNTS, measure.discount, "discount of whole lists", measure)
                place = places.setdefault((measure.discount, measure.number("p")), len(places))
            gain = GAINS[measure.option("gain", "hit")]
            is_ratio = measure.norm.over == "ratio"
            number = rule_of(KINDS, kind, "kind of row", measure)
            specs.append((number, measure.k or NO_CUTOFF, place, gain, int(is_ratio)))
            numbers.append(NUMBERS[kind](measure) if kind in NUMBERS else 0.0)
        return cls(measures, rel, np.array(specs, dtype=np.int64), np.array(numbers), tuple(places))

    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of rows."""
        setup = batch.setup
        truth, n_dropped = batch.relevant(self.rel)
        values = batch.values(f"values of whole rows {self.rel}", batch.n_rows, len(self.measures))
        values.fill(0.0)
        left_out = np.full(len(self.measures), n_dropped)
        status = np.zeros(3, dtype=np.int64)
        n_ranks = max(longest(truth), longest(batch.scores)) if self.discounts else 0
        kernels.compute_whole_rows(
            tuple(truth),
            tuple(batch.scores),
            batch.n_labels(self.rel),
            setup.zero_unscored,
            setup.drop_empty,
            self.specs,
            self.numbers,
            discount_ranks(self.discounts, n_ranks.bit_length()),
            *working_space(batch.scratch.array, truth, batch.scores),
            left_out,
            status,
            values,
        )
        if status[kernels.FAULT]:
            raise batch.fault(
                int(status[kernels.ROW]),
                "a grade is above the greatest of ERR; expected at most its max "
                "(hint: pass the greatest grade of the scale, such as ERR(max=4)@5)",
            )
        true = np.array([status[kernels.UNLISTED], truth.indptr[-1]], dtype=np.int64)
        return RowValues(values, NO_SHARES, left_out, true)

    def unscored(self, part: Sums) -> Unscored:
        """Return the true labels without a score, and all true labels."""
        return Unscored(*part["true"].tolist())

    @property
    def tied_by_label(self) -> Mapping[str, Sequence[Measure]]:
        """The measures that depend on the order by label, for each treatment of ties that they lack."""
        return {
            ties: [measure for measure in self.measures if kind_of(measure) in kinds]
            for ties, kinds in (("expected", NO_EXPECTED_TIES), ("best", NO_TIE_BOUNDS), ("worst", NO_TIE_BOUNDS))
        }


@lru_cache(maxsize=16)
def discount_ranks(discounts: tuple[tuple[str, float], ...], n_bits: int) -> Float64:
    """Return each discount at ranks 1 to 2^n_bits - 1, [n_discounts, n_ranks], computed once."""
    ranks = np.arange(1.0, 1 << n_bits)
    table = np.empty((len(discounts), ranks.size))
    for row, (name, number) in zip(table, discounts, strict=True):
        row[:] = DISCOUNTS[name](ranks, number)
    return table


def working_space(array: Any, truth: Rows, scores: Rows) -> tuple[tuple[NDArray[Any], ...], ...]:
    """Return the working space of the kernel for rows; ``array(name, size, dtype)`` makes an array.

    These are N_SPACE int64 arrays and N_REAL_SPACE float64 arrays, each longer than the longest row of the
    truth, and arrays for sorting rows if the truth has rows with many labels.
    """
    size = longest(truth) + 1
    longest_scores = longest(scores) if size > FEW else 0
    keys, spare_keys = (array(f"whole_row_keys_{i}", longest_scores, np.uint64) for i in range(2))
    places, spare_places = (array(f"whole_row_places_{i}", longest_scores, np.int64) for i in range(2))
    counters = array("whole_row_counters", N_DIGITS * BASE, np.int64)
    return (
        tuple(array(f"whole_row_{i}", size, np.int64) for i in range(kernels.N_SPACE)),
        tuple(array(f"whole_row_real_{i}", size, np.float64) for i in range(kernels.N_REAL_SPACE)),
        (keys, keys.view(np.float64), places, spare_keys, spare_places, counters),
    )
