"""Exact sums over rows: the same bits for any order of rows, any blocks, any number of threads, any split into shards.

Each row's contribution is rounded once to a multiple of 2^-60 and added as an integer; its square is exact. Beside the
sums are the rows furthest from any ratio of them, as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.kernels.metrics.totals import KEPT, LARGEST_TOP, MASK, MOMENTS, WORD, WORDS
from xmceval.rows.block import Float64, Int64
from xmceval.rows.locked import Locked
from xmceval.scoring.limbs import join, join_words, split, split_like
from xmceval.scoring.states.stored import MOST_ROWS, take

OUT_OF_RANGE = "a sum of squares left the range of exact sums: are the weights or grades too large?"


class Sums(Locked):
    """Sums of the values of some rows; threads may add at the same time.

    Attributes
    ----------
    sums : int64 array [n_outputs, MOMENTS, WORDS]
    shares : int64 array [n_shares, MOMENTS, WORDS]
        Sums of the parts that bins of labels have, bin by bin for each output.
    extremes : float64 array [n_outputs + n_shares, 2, KEPT, 2]
        The rows of each output, then of each share, that gain and lose most, as `add_values` keeps them; minus infinity
        for those that are not there. Of no output where none are kept.
    left_out : int64 array [n_outputs]
        Rows without a value.
    unscored_true : int
        True labels without a score; counted where whole rows are scored.
    n_true : int
        True labels, counted there too.
    """

    def __init__(self, n_outputs: int, n_shares: int = 0, *, keeps_rows: bool = False) -> None:
        super().__init__()
        self.sums, self.shares = self.zeros(n_outputs), self.zeros(n_shares)
        self.extremes = no_extremes(n_outputs + n_shares if keeps_rows else 0)
        self.left_out = np.zeros(n_outputs, dtype=np.int64)
        self.unscored_true = self.n_true = 0

    @staticmethod
    def zeros(n: int) -> Int64:
        """Return `n` sums of nothing."""
        return np.zeros((n, MOMENTS, WORDS), dtype=np.int64)

    def begin(self, sums: Int64) -> Int64:
        """Prepare working space for sums of some rows, and return sums of no shares."""
        sums.fill(0)
        return self.zeros(len(self.shares))

    def add(self, sums: Int64, shares: Int64, left_out: Int64, unscored_true: int = 0, n_true: int = 0) -> None:
        """Add other sums in place."""
        with self._lock:
            self.sums = add_words(self.sums, sums)
            if shares.size:
                self.shares = add_words(self.shares, shares)
            self.left_out += left_out
            self.unscored_true += unscored_true
            self.n_true += n_true

    def begin_extremes(self) -> Float64:
        """Return extremes that are each the last row that is kept: others are not worth keeping.

        Given to `keep` they change nothing, as so many rows are kept that are as extreme or more.
        """
        return np.repeat(self.extremes[:, :, -1:], KEPT, axis=2)

    def keep(self, extremes: Float64) -> None:
        """Keep the most extreme of these rows and of those that are kept already."""
        with self._lock:
            if not np.array_equal(extremes[:, :, 0], self.extremes[:, :, -1]):
                self.extremes = merge_extremes(self.extremes, extremes)

    def merge(self, other: Sums) -> Sums:
        """Return the sums of the rows of both."""
        merged = Sums(len(self.sums), len(self.shares))
        for each in (self, other):
            merged.add(each.sums, each.shares, each.left_out, each.unscored_true, each.n_true)
        merged.extremes = merge_extremes(self.extremes, other.extremes)
        return merged

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them."""
        return {**self._numbers(), "extremes": self.extremes.view(np.int64)}

    def _numbers(self) -> dict[str, Int64]:
        """Return the numbers that add up."""
        counts = np.array([self.unscored_true, self.n_true], dtype=np.int64)
        return {"sums": self.sums, "shares": self.shares, "left_out": self.left_out, "true": counts}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state."""
        self.sums, self.shares = (
            take_words(arrays, name, own) for name, own in (("sums", self.sums), ("shares", self.shares))
        )
        self.left_out = take(arrays, "left_out", self.left_out.shape, 0, MOST_ROWS)
        self.unscored_true, self.n_true = take(arrays, "true", (2,), 0).tolist()
        if self.unscored_true > self.n_true:
            raise ValueError(f"true has {self.unscored_true:,} labels of {self.n_true:,}")
        self.extremes = take_extremes(arrays, self.extremes.shape)

    def limbs(self) -> Int64:
        """Return all numbers that add up as limbs: without the rows that are kept."""
        return np.concatenate([split(array) for array in self._numbers().values()])

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the numbers that sums of limbs stand for."""
        arrays = self._numbers()
        sums, shares, left_out, true = split_like(limbs, [2 * array.size for array in arrays.values()])
        self.sums, self.shares = join_words(sums, self.sums.shape), join_words(shares, self.shares.shape)
        self.left_out = join(left_out)
        self.unscored_true, self.n_true = map(int, join(true))


def take_extremes(arrays: dict[str, Int64], shape: tuple[int, ...]) -> Float64:
    """Remove the most extreme rows from the arrays of a state: in their order, those that are not there last."""
    extremes = take(arrays, "extremes", shape).view(np.float64)
    first, second = extremes[..., 0], extremes[..., 1]
    is_missing = np.isneginf(first) & np.isneginf(second)
    is_in_order = (first[..., :-1] > first[..., 1:]) | (
        (first[..., :-1] == first[..., 1:]) & (second[..., :-1] <= second[..., 1:])
    )
    if not (is_missing | (np.isfinite(first) & np.isfinite(second))).all() or not is_in_order.all():
        raise ValueError("extremes has rows that are not finite, or not in their order")
    return extremes


def take_words(arrays: dict[str, Int64], name: str, own: Int64) -> Int64:
    """Remove exact sums from the arrays of a state: words of 60 bits, of which the last has the sign."""
    words = take(arrays, name, own.shape)
    if words.size and not 0 <= int(words[..., :-1].min()) <= int(words[..., :-1].max()) <= MASK:
        raise ValueError(f"{name} has words of more than {WORD} bits")
    if words.size and not -LARGEST_TOP < int(words[..., -1].min()) <= int(words[..., -1].max()) < LARGEST_TOP:
        raise ValueError(f"{name} has sums out of range")
    return words


class Pending:
    """Sums to which one batch is added in the end, or not at all; a kernel goes on from the sums so far."""

    def __init__(self, to: Sums) -> None:
        self._to = to
        self._added: tuple[Any, ...] = ()
        self.begin_extremes = to.begin_extremes
        self._kept: Float64 | None = None

    def begin(self, sums: Int64) -> Int64:
        """Copy the sums so far, and return a copy of the shares."""
        sums[:] = self._to.sums
        return self._to.shares.copy()

    def add(self, sums: Int64, shares: Int64, left_out: Int64, unscored_true: int = 0, n_true: int = 0) -> None:
        """Keep what the sums become; called once."""
        self._added = sums.copy(), shares, left_out, unscored_true, n_true

    def keep(self, extremes: Float64) -> None:
        """Keep the rows of the batch; called once, or not at all."""
        self._kept = extremes

    def commit(self) -> None:
        """Make it so."""
        own = self._to
        if self._kept is not None:
            own.keep(self._kept)
        own.sums, own.shares, left_out, unscored_true, n_true = self._added
        own.left_out += left_out
        own.unscored_true += unscored_true
        own.n_true += n_true


def no_extremes(n: int, nothing: float = -np.inf) -> Float64:
    """Return the extremes of `n` outputs of no rows; infinite ones where none are to be kept."""
    return np.full((n, 2, KEPT, 2), nothing)


def merge_extremes(left: Float64, right: Float64) -> Float64:
    """Return the most extreme rows of both."""
    both = np.concatenate([left, right], axis=2)
    order = np.lexsort((both[..., 1], -both[..., 0]), axis=-1)[..., :KEPT, None]
    return np.take_along_axis(both, order, axis=2)


def add_words(left: Int64, right: Int64) -> Int64:
    """Add exact sums, and carry what is above 60 bits into the next word.

    Raises
    ------
    DataError
        A sum beyond 2^181.
    """
    sums: Int64 = left + right
    carries = sums[..., :-1] >> WORD
    while carries.any():
        sums[..., :-1] &= MASK
        sums[..., 1:] += carries
        carries = sums[..., :-1] >> WORD
    tops = sums[..., -1]
    if tops.size and (tops.max() >= LARGEST_TOP or tops.min() <= -LARGEST_TOP):
        raise DataError(OUT_OF_RANGE)
    return sums
