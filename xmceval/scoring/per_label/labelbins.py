"""Label bins: sums of scores and hits of each label in each bin of its scores, which add up exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError
from xmceval.labels.counts import DENSE_IDS
from xmceval.labels.growing import MERGE_ABOVE, GrowingTable, sum_by_id
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.limbs import BITS, MASK, join, split
from xmceval.scoring.mergeable import Mergeable
from xmceval.scoring.per_label.labelcounters import MOST_WEIGHT, WEIGHT_BITS
from xmceval.scoring.states.stored import take

# Columns of sums: the weight of the predictions, and the lower and the upper 32 bits of score - hit, in units of 2^-56.
WEIGHT, LOW, HIGH, SLOTS = 0, 1, 2, 3
EXCESS_BITS = 56  # 64 times the largest weight of a row fits

Bins = tuple[Int64, Int64]  # keys label * n_bins + bin, ascending, int64 [n], and their sums [n, SLOTS]


def bin_sums(keys: Int64, scores: Float64, is_true: NDArray[np.bool_], units: Int64) -> Bins:
    """Add up predictions [n] by key; `units`, weights in units of 2^-WEIGHT_BITS, are empty where all count 1."""
    excess = scores - is_true
    if units.size:
        excess *= np.ldexp(units.astype(np.float64), -WEIGHT_BITS)
    parts = np.ldexp(excess, EXCESS_BITS).astype(np.int64)
    sums = np.empty((keys.size, SLOTS), dtype=np.int64)
    sums[:, WEIGHT] = units if units.size else 1
    sums[:, LOW], sums[:, HIGH] = parts & MASK, parts >> BITS
    return _added(keys, sums)


def gaps_by_label(keys: Int64, sums: Int64, n_bins: int, bits: int) -> tuple[Int64, Float64]:
    """Return the labels with predictions, int64 [n], and their errors: sum of |score - hit| of bins / predictions.

    `keys` and `sums` are those of bins, with weights in units of 2^-bits.
    """
    labels = keys // n_bins
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    if not starts.size:
        return labels, np.empty(0)
    high, low = sums[:, HIGH].astype(np.float64), sums[:, LOW].astype(np.float64)
    gaps = np.abs(np.ldexp(high, BITS - EXCESS_BITS) + np.ldexp(low, -EXCESS_BITS))
    predictions = np.ldexp(np.add.reduceat(sums[:, WEIGHT], starts).astype(np.float64), -bits)
    return labels[starts], np.minimum(np.add.reduceat(gaps, starts) / predictions, 1.0)


class LabelBins(Mergeable):
    """Sums of predictions by label and bin; threads may add at the same time.

    They take 32 bytes for each label and bin with a prediction, and while rows are added up to twice as much.

    Parameters
    ----------
    n_labels : int
        Or UNKNOWN.
    n_bins : int
    weighted : bool
        Rows have sample weights.
    """

    def __init__(self, n_labels: int, n_bins: int, *, weighted: bool = False) -> None:
        super().__init__()
        self._n_labels, self._n_bins = n_labels, n_bins
        self.bits = WEIGHT_BITS if weighted else 0
        self._hold(np.empty(0, dtype=np.int64), np.empty((0, SLOTS), dtype=np.int64))

    def _hold(self, keys: Int64, sums: Int64) -> None:
        self._table = GrowingTable(_added, (keys, sums), MERGE_ABOVE)

    def add(self, keys: Int64, sums: Int64) -> None:
        """Add sums of further rows."""
        with self._lock:
            self._table.add(keys, sums)

    def pending(self) -> PendingBins:
        """Return what takes one batch, and adds it in the end or not at all."""
        return PendingBins(self)

    def columns(self) -> Bins:
        """Return keys and sums of all rows."""
        with self._lock:
            keys, sums = self._table.columns()
        if self.bits and sums.size and sums[:, WEIGHT].max() >> self.bits >= MOST_WEIGHT:
            raise DataError(f"the sample weights of a label sum to more than {MOST_WEIGHT:,} times the largest of them")
        return keys, sums

    def absorb(self, other: LabelBins) -> None:
        """Add the sums of other rows."""
        with self._lock:
            self._table = self._table.merge(other._table)

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: the int64 arrays `keys` [n], ascending, and `sums` [n, SLOTS]."""
        keys, sums = self.columns()
        return {"keys": keys, "sums": sums}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state: the int64 arrays `keys` [n], ascending, and `sums` [n, SLOTS]."""
        keys = take(arrays, "keys", (-1,), 0)
        sums = take(arrays, "sums", (keys.size, SLOTS))
        if (keys[1:] <= keys[:-1]).any():
            raise ValueError("keys do not ascend")
        if keys.size and 0 <= self._n_labels <= int(keys[-1]) // self._n_bins:
            raise ValueError("keys of labels beyond the last one")
        weights = np.ldexp(sums[:, WEIGHT].astype(np.float64), -self.bits)
        is_valid = (weights > 0) & (weights < MOST_WEIGHT if self.bits else weights >= 1)
        is_valid &= (sums[:, LOW] >= 0) & (sums[:, LOW] <= MASK)
        is_valid &= np.abs(np.ldexp(sums[:, HIGH].astype(np.float64), BITS - EXCESS_BITS)) <= 1.01 * weights + 1
        if not is_valid.all():
            raise ValueError("sums: are not those of scores from 0 to 1")
        self._hold(keys, sums)

    def limbs(self) -> Int64:
        """Return all numbers as limbs: two for each label, bin and column.

        Raises
        ------
        UsageError
            More labels and bins than an array has room for.
        """
        sums = np.zeros((self._n_keys, SLOTS), dtype=np.int64)
        keys, own = self.columns()
        sums[keys] = own
        return split(sums)

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the numbers that sums of limbs, int64 [n_limbs], stand for."""
        sums = join(limbs).reshape(self._n_keys, SLOTS)
        keys = np.flatnonzero(sums[:, WEIGHT])
        self._hold(*_added(keys, sums[keys]))

    @property
    def _n_keys(self) -> int:
        n_keys = self._n_labels * self._n_bins
        if n_keys > DENSE_IDS:
            raise UsageError(
                f"calibration errors of {self._n_labels:,} labels in {self._n_bins} bins have no state of fixed size "
                "(hint: merge evaluators instead, or save and load them)"
            )
        return n_keys


class PendingBins:
    """Sums of one batch, which are added in the end, or not at all."""

    def __init__(self, to: LabelBins) -> None:
        self._to, self.bits = to, to.bits
        self._added: list[Bins] = []

    def add(self, keys: Int64, sums: Int64) -> None:
        """Keep sums of rows of the batch."""
        self._added.append((keys, sums))

    def commit(self) -> None:
        """Add the batch to the totals."""
        for keys, sums in self._added:
            self._to.add(keys, sums)


def _added(keys: Any, sums: Int64) -> Bins:
    """Add up the sums of each key, and carry what is above 32 bits upward."""
    keys, sums = sum_by_id(keys, sums)
    sums[:, HIGH] += sums[:, LOW] >> BITS
    sums[:, LOW] &= MASK
    return keys, sums
