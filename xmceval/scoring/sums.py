"""Exact sums over rows, bit-identical for any order, block size, number of threads or split into shards.

The contribution of each row is rounded once to a multiple of 2^-60 and added as an integer; its square is
exact. The rows furthest from any ratio of the sums are also kept, unrounded.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from xmceval.errors import DataError
from xmceval.kernels.metrics.sums import KEPT, LARGEST_TOP, MASK, MOMENTS, WORD, WORDS, add_values
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.rows.block import Float64, Int64, read_only
from xmceval.scoring.totals import MOST_ROWS, Field, Part

LARGEST_ROW = float(1 << 62)  # limit for a row's gain or loss, below which squares can be summed
ROWS_AT_ONCE = 65_536  # rows whose values are copied together
OUT_OF_RANGE = "a sum of squares left the range of exact sums: are the weights or grades too large?"


def no_sums(n: int) -> Int64:
    """Return `n` empty sums, int64 [n, MOMENTS, WORDS]."""
    return np.zeros((n, MOMENTS, WORDS), dtype=np.int64)


def no_extremes(n: int) -> Float64:
    """Return the empty extremes of `n` outputs, [n, 2, KEPT, 2]."""
    return np.full((n, 2, KEPT, 2), -np.inf)


def merge_extremes(left: Float64, right: Float64) -> Float64:
    """Return the most extreme rows of both, float64 [n, 2, KEPT, 2]; `left` itself if they are all in it."""
    if (left[:, :, 0, 0] == -np.inf).all():  # of no rows
        return right
    if (right[:, :, 0] == left[:, :, -1]).all():
        return left
    both = np.concatenate([left, right], axis=2)
    order = np.lexsort((both[..., 1], -both[..., 0]), axis=-1)[..., :KEPT, None]
    return np.take_along_axis(both, order, axis=2)


def add_words(left: Int64, right: Int64) -> Int64:
    """Add exact sums, int64 [..., WORDS], and carry the bits above 60 into the next word."""
    if not right.size:
        return left
    if not left.any():  # of no rows
        return right
    sums: Int64 = left + right
    carries = sums[..., :-1] >> WORD
    while carries.any():
        sums[..., :-1] &= MASK
        sums[..., 1:] += carries
        carries = sums[..., :-1] >> WORD
    tops = sums[..., -1]
    if tops.max() >= LARGEST_TOP or tops.min() <= -LARGEST_TOP:
        raise DataError(OUT_OF_RANGE)
    return sums


def check_words(name: str, words: Int64) -> None:
    """Refuse exact sums, int64 [..., WORDS], unless they are words of 60 bits with the sign in the last."""
    if words.size and not 0 <= int(words[..., :-1].min()) <= int(words[..., :-1].max()) <= MASK:
        raise ValueError(f"{name} has words of more than {WORD} bits")
    if words.size and not -LARGEST_TOP < int(words[..., -1].min()) <= int(words[..., -1].max()) < LARGEST_TOP:
        raise ValueError(f"{name} has sums out of range")


def check_true(name: str, true: Int64) -> None:
    """Refuse `true`, int64 [2], with more unscored true labels than true labels."""
    if true[0] > true[1]:
        raise ValueError(f"{name} has {true[0]:,} labels of {true[1]:,}")


def check_extremes(name: str, extremes: Float64) -> None:
    """Refuse extreme rows, float64 [n, 2, KEPT, 2], that are out of order; missing rows must come last."""
    first, second = extremes[..., 0], extremes[..., 1]
    is_missing = np.isneginf(first) & np.isneginf(second)
    is_in_order = (first[..., :-1] > first[..., 1:]) | (
        (first[..., :-1] == first[..., 1:]) & (second[..., :-1] <= second[..., 1:])
    )
    if not (is_missing | (np.isfinite(first) & np.isfinite(second))).all() or not is_in_order.all():
        raise ValueError(f"{name} has rows that are not finite, or not in their order")
    if extremes.max(initial=0) >= LARGEST_ROW or extremes[np.isfinite(extremes)].min(initial=0) <= -LARGEST_ROW:
        raise ValueError(f"{name} has rows out of range")


class Sums(Part):
    """Sums of per-row values: of `n_outputs` measures, and of the shares of label bins in them.

    The int64 arrays are `sums` and `shares` [n, MOMENTS, WORDS], bin by bin for each output; `left_out`
    [n_outputs], the number of rows without a value; and `true` [2], the numbers of unscored and of all true
    labels if whole rows are scored, or for decisions, twice the number of decisions. The float64 array
    `extremes` [n_outputs + n_shares, 2, KEPT, 2] has the rows of each output, then of each share, that gain and
    lose most, as kept by `add_values`, and minus infinity for missing rows.
    """

    fields = MappingProxyType(
        {
            "sums": Field(add_words, check=check_words),
            "shares": Field(add_words, check=check_words),
            "left_out": Field(np.add, 0, MOST_ROWS),
            "true": Field(np.add, 0, check=check_true),
            "extremes": Field(merge_extremes, check=check_extremes),
        }
    )

    def __init__(self, n_outputs: int, n_shares: int = 0) -> None:
        super().__init__(
            sums=no_sums(n_outputs),
            shares=no_sums(n_shares),
            left_out=np.zeros(n_outputs, dtype=np.int64),
            true=np.zeros(2, dtype=np.int64),
            extremes=no_extremes(n_outputs + n_shares),
        )

    def begin(self) -> Sums:
        """Return empty sums, to be added to these later."""
        sums = Sums(len(self["sums"]), len(self["shares"]))
        # Rows less extreme than the last one kept here need not be kept: merging them would change nothing.
        sums.values["extremes"] = self["extremes"][:, :, -1:].repeat(KEPT, axis=2)
        return sums


def add_rows(values: Float64, weights: Float64) -> tuple[Int64, Float64]:
    """Return the sums and extremes, as in `Sums`, of values [n_rows, n_outputs, 2], optionally weighted."""
    n_rows, n_outputs, n_slots = values.shape
    sums, extremes = no_sums(n_outputs), no_extremes(n_outputs)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        padded = np.zeros((len(values[some]), n_outputs, SLOTS))
        padded[:, :, :n_slots] = values[some]
        if add_values(padded, read_only(weights[some]), sums, extremes) >= 0:
            raise DataError(OUT_OF_RANGE)
    return sums, extremes
