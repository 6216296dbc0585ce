"""Totals: the mergeable sums of an evaluation, and the estimates that they come to.

Sums are exact: each row's contribution is rounded once to a multiple of 2^-60 and added as an integer, so that totals
are the same bits for any order of rows, any blocks, any number of threads, any split into shards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.scoring.labelwise import LabelTotals
from xmceval.scoring.labelwise import merge as merge_labels
from xmceval.scoring.program import MOMENTS, Program
from xmceval.statistics.intervals import t_quantile

WORD = 60

# Slots of `counts`, as in kernels/rows.py.
ROWS, EMPTY_ROWS, TRUE_LABELS, PREDICTIONS, INSIDE_TIES, FIRST_CUTOFF = range(6)


@dataclass(frozen=True)
class Totals:
    """Sums of some rows.

    Attributes
    ----------
    sums : int64 array [n_outputs, MOMENTS, 3]
        Words of 60 bits: fractions of 2^-60, ones, and multiples of 2^60.
    counts : int64 array
        Rows, rows without truth, true labels, predictions, rows whose ties lie within a cut only; then for each cut
        the rows with fewer predictions and the rows with a tie across it.
    left_out : int64 array [n_outputs]
        Rows that have no value there.
    explicit_zeros : int
        Stored zeros of the truth, which are no labels.
    shares : int64 array [n_top_k_outputs * n_bins, MOMENTS, 3]
        Sums of the shares that bins of labels have, bin by bin for each output of the top-k parts.
    labels : sequence of LabelTotals
        Counts by label, one for each of the program's label-wise parts; none in the totals of one thread.
    unlisted : int
        True labels without a score; counted where whole rows are scored.
    filtered : tuple of three int
        Predictions that a filter took out, rows they stood in, true labels that are pairs of it.
    """

    sums: NDArray[np.int64]
    counts: NDArray[np.int64]
    left_out: NDArray[np.int64]
    explicit_zeros: int = 0
    unlisted: int = 0
    filtered: tuple[int, int, int] = (0, 0, 0)
    shares: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, MOMENTS, 3), dtype=np.int64))
    labels: tuple[LabelTotals, ...] = ()


@dataclass(frozen=True)
class Estimate:
    """One number of a report: value, bounds of its interval, bounds over orders of ties; None where there are none.

    ``ceiling`` is the best value that any ranking could reach on the same truth, for metrics at a cutoff.
    """

    value: float
    low: float | None
    high: float | None
    tie_low: float | None
    tie_high: float | None
    undefined: bool = False
    ceiling: float | None = None


def empty(program: Program, n_bins: int = 0) -> Totals:
    """Totals of no rows."""
    n_outputs = len(program.outputs)
    n_shares = n_bins * len(program.top_k_outputs)
    return Totals(
        np.zeros((n_outputs, MOMENTS, 3), dtype=np.int64),
        np.zeros(FIRST_CUTOFF + 2 * len(program.cutoffs), dtype=np.int64),
        np.zeros(n_outputs, dtype=np.int64),
        shares=np.zeros((n_shares, MOMENTS, 3), dtype=np.int64),
    )


def merge(left: Totals, right: Totals) -> Totals:
    """Add two totals of the same program; associative, and commutative."""
    return Totals(
        _added(left.sums, right.sums),
        left.counts + right.counts,
        left.left_out + right.left_out,
        left.explicit_zeros + right.explicit_zeros,
        left.unlisted + right.unlisted,
        (
            left.filtered[0] + right.filtered[0],
            left.filtered[1] + right.filtered[1],
            left.filtered[2] + right.filtered[2],
        ),
        _added(left.shares, right.shares),
        tuple(map(merge_labels, left.labels, right.labels))
        if left.labels and right.labels
        else left.labels + right.labels,
    )


def _added(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add exact sums, and carry what is above 60 bits into the next word."""
    sums: NDArray[np.int64] = left + right
    for word in (0, 1):
        sums[..., word + 1] += sums[..., word] >> WORD
        sums[..., word] &= (1 << WORD) - 1
    if np.any(np.abs(sums[..., 2]) >= 1 << 61):
        raise DataError("a sum of squared weights left the range of exact sums: are the weights or grades too large?")
    return sums


def finish(totals: Totals) -> list[Estimate]:
    """Divide: one estimate for each of the program's outputs, in their order.

    The interval of a mean is mean ± t s / sqrt(n); that of a ratio of sums comes from the delta method (Cochran,
    Sampling Techniques, 1977, ch. 6): with e = num - R den, SE = sqrt(sum e^2 / (n (n - 1))) / mean(den).
    With sample weights w, num and den are w times the row's: the delta method of the weighted mean.
    """
    rows = int(totals.counts[ROWS]) - totals.left_out
    sums = [[_exact(words) for words in moments] for moments in totals.sums]
    return [_estimate(moments, int(n)) for moments, n in zip(sums, rows, strict=True)]


def finish_shares(totals: Totals, n_bins: int) -> list[list[Estimate]]:
    """Divide: for each output of the program's top-k parts, one estimate for each bin of labels."""
    n = int(totals.counts[ROWS])
    shares = [_estimate([_exact(words) for words in moments], n) for moments in totals.shares]
    return [shares[at : at + n_bins] for at in range(0, len(shares), n_bins)]


def _exact(words: NDArray[np.int64]) -> Fraction:
    low, middle, high = (int(word) for word in words)
    return Fraction((((high << WORD) + middle) << WORD) + low, 1 << WORD)


def _estimate(moments: list[Fraction], n: int) -> Estimate:
    num, den, num2, cross, den2, best, worst, most = moments
    if den == 0:
        return Estimate(0.0, None, None, 0.0, 0.0, undefined=True)
    value, ceiling = num / den, float(most / den)
    low, high = sorted(float((num + move) / den) for move in (best, worst))
    if n < 2:
        return Estimate(float(value), None, None, low, high, ceiling=ceiling)
    squares = max(num2 - 2 * value * cross + value * value * den2, Fraction(0))
    error = math.sqrt(squares / (n * (n - 1))) / float(den / n)
    margin = t_quantile(n - 1) * error
    return Estimate(float(value), float(value) - margin, float(value) + margin, low, high, ceiling=ceiling)
