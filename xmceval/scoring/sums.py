"""Exact sums over rows: the same bits for any order of rows, any blocks, any number of threads, any split into shards.

Each row's contribution is rounded once to a multiple of 2^-60 and added as an integer; its square is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.kernels.totals import LARGEST_TOP, MASK, MOMENTS, WORD, WORDS
from xmceval.rows.block import Int64
from xmceval.rows.locked import Locked
from xmceval.scoring.limbs import join, join_words, split, split_like

OUT_OF_RANGE = "a sum of squares left the range of exact sums: are the weights or grades too large?"


class Sums(Locked):
    """Sums of the values of some rows; threads may add at the same time.

    Attributes
    ----------
    sums : int64 array [n_outputs, MOMENTS, WORDS]
    shares : int64 array [n_shares, MOMENTS, WORDS]
        Sums of the parts that bins of labels have, bin by bin for each output.
    left_out : int64 array [n_outputs]
        Rows without a value.
    unscored_true : int
        True labels without a score; counted where whole rows are scored.
    n_true : int
        True labels, counted there too.
    """

    def __init__(self, n_outputs: int, n_shares: int = 0) -> None:
        super().__init__()
        self.sums, self.shares = self.zeros(n_outputs), self.zeros(n_shares)
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

    def merge(self, other: Sums) -> Sums:
        """Return the sums of the rows of both."""
        merged = Sums(len(self.sums), len(self.shares))
        for each in (self, other):
            merged.add(each.sums, each.shares, each.left_out, each.unscored_true, each.n_true)
        return merged

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them."""
        counts = np.array([self.unscored_true, self.n_true], dtype=np.int64)
        return {"sums": self.sums, "shares": self.shares, "left_out": self.left_out, "true": counts}

    def fill(self, arrays: Mapping[str, Int64]) -> None:
        """Take the numbers of a state."""
        for name, own in self.arrays().items():
            if arrays[name].shape != own.shape:
                raise ValueError(f"{name} has shape {arrays[name].shape}, expected {own.shape}")
        self.sums, self.shares = arrays["sums"].copy(), arrays["shares"].copy()
        self.left_out = arrays["left_out"].copy()
        self.unscored_true, self.n_true = map(int, arrays["true"])

    def limbs(self) -> Int64:
        """Return all numbers as limbs."""
        return np.concatenate([split(array) for array in self.arrays().values()])

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the numbers that sums of limbs stand for."""
        arrays = self.arrays()
        sums, shares, left_out, true = split_like(limbs, [2 * array.size for array in arrays.values()])
        self.sums, self.shares = join_words(sums, self.sums.shape), join_words(shares, self.shares.shape)
        self.left_out = join(left_out)
        self.unscored_true, self.n_true = map(int, join(true))


class Pending:
    """Sums to which one batch is added in the end, or not at all; a kernel goes on from the sums so far."""

    def __init__(self, to: Sums) -> None:
        self._to = to
        self._added: tuple[Any, ...] = ()

    def begin(self, sums: Int64) -> Int64:
        """Copy the sums so far, and return a copy of the shares."""
        sums[:] = self._to.sums
        return self._to.shares.copy()

    def add(self, sums: Int64, shares: Int64, left_out: Int64, unscored_true: int = 0, n_true: int = 0) -> None:
        """Keep what the sums become; called once."""
        self._added = sums.copy(), shares, left_out, unscored_true, n_true

    def commit(self) -> None:
        """Make it so."""
        own = self._to
        own.sums, own.shares, left_out, unscored_true, n_true = self._added
        own.left_out += left_out
        own.unscored_true += unscored_true
        own.n_true += n_true


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
