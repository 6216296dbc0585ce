"""Count the rows in which each label is true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, argument
from xmceval.kernels.rows import tally as kernels
from xmceval.labels.propensity import NO_IDS
from xmceval.rows.block import Block, Int64, Scratch
from xmceval.rows.checks import LARGEST_GRADE, SWAPPED, validated_truth
from xmceval.rows.progress import phase
from xmceval.rows.source import Source
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width

DENSE_IDS = 1 << 27  # labels below this are counted in one array, whose untouched pages take no memory
LONG_TABLE = 1 << 22  # labels; longer tables that are mostly zeros are stored by id


MERGE_ABOVE = 1 << 17  # ids


class GrowingCounts:
    """Counts [n, n_slots] by ascending id [n]; more can be added for ids in any order.

    Added counts wait until there are as many as sorted ones, so that each is sorted only a few times, however
    often counts are added.
    """

    def __init__(self, ids: Int64, counts: Int64) -> None:
        self._sorted = ids, counts
        self._waiting: list[tuple[Int64, Int64]] = []
        self._n_waiting = 0

    def add(self, ids: Int64, counts: Int64) -> None:
        """Add counts; keeps references to the arrays."""
        if ids.size:
            self._waiting.append((ids, counts))
            self._n_waiting += ids.size
        if self._n_waiting > max(self._sorted[0].size, MERGE_ABOVE):
            self.columns()

    def columns(self) -> tuple[Int64, Int64]:
        """Return all ids, ascending, and their counts."""
        if self._waiting:
            ids, counts = zip(self._sorted, *self._waiting, strict=True)
            self._sorted = sum_by_id(np.concatenate(ids), np.concatenate(counts))
            self._waiting = []
            self._n_waiting = 0
        return self._sorted


def no_counts(n_slots: int) -> GrowingCounts:
    """Return empty counts."""
    return GrowingCounts(np.zeros(0, dtype=np.int64), np.zeros((0, n_slots), dtype=np.int64))


def sum_by_id(ids: Any, counts: Int64) -> tuple[Any, Int64]:
    """Sum the counts [n, ...] of each id; return the ascending ids and the sums."""
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if not ids.size:
        return ids, counts
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    return ids[starts], np.add.reduceat(counts[order], starts, axis=0)


def count_labels(
    truth: Source,
    *,
    width: Width,
    threads: int | None = None,
    largest: float = LARGEST_GRADE,
    may_merge: bool = False,
    may_be_fractions: bool = False,
    are_training: bool = False,
) -> LabelCounts:
    """Count the rows of a truth and, for each label, the rows in which it is true.

    `largest`, `may_merge` and `may_be_fractions` are as in `validated_truth`; `are_training` means that these are
    training labels.
    """
    parts = list[tuple[Scratch, LabelCounts]]()  # one per thread

    def start() -> tuple[Scratch, LabelCounts]:
        parts.append((Scratch(), LabelCounts(width.n_labels)))
        return parts[-1]

    def work(part: tuple[Scratch, LabelCounts], block: Block) -> None:
        scratch, counts = part
        n_rows = block.n_rows
        try:
            rows, _ = validated_truth(
                block, scratch, width, largest, may_merge=may_merge, may_be_fractions=may_be_fractions
            )
        except Fault as fault:
            if are_training:
                fault.message = fault.message.replace("the truth value", "the value")
                of_training = f"{argument('train')} takes the labels of training instances"
                fault.doubt = fault.doubt.replace(SWAPPED, of_training)
            raise
        counts.add(n_rows, rows.indices[: rows.indptr[-1]])
        add(n_rows)

    with phase(truth.name, truth.n_rows) as add:
        each_block(truth.blocks(), start, work, threads, all_faults=True)
    (_, total), *others = parts
    for _, counts in others:
        total.merge(counts)
    return total


class LabelCounts:
    """The number of rows, and of rows in which each label is true; labels below `n_labels` use fast arrays."""

    def __init__(self, n_labels: int = DENSE_IDS) -> None:
        self.n_rows = 0
        self.n_labels = 0  # the largest label seen + 1
        size = min(n_labels, DENSE_IDS)
        self._low_bytes = np.zeros(size, dtype=np.uint8)
        self._wraps = np.zeros(size, dtype=np.int32)
        self._high = no_counts(1)

    def add(self, n_rows: int, indices: Int64) -> None:
        """Count `n_rows` rows, given all their labels, int64 [n_entries]."""
        self.n_rows += n_rows
        if indices.size == 0:
            return
        largest = int(kernels.count_labels(indices, self._low_bytes, self._wraps))
        self.n_labels = max(self.n_labels, largest + 1)
        if largest >= self._wraps.size:
            ids, counts = np.unique(indices[indices >= self._wraps.size], return_counts=True)
            self._high.add(ids, counts[:, None])

    def merge(self, other: LabelCounts) -> None:
        """Add the counts of other rows, with arrays of the same size."""
        self.n_rows += other.n_rows
        self.n_labels = max(self.n_labels, other.n_labels)
        for first in range(0, min(other.n_labels, self._wraps.size), LONG_TABLE):
            some = slice(first, min(first + LONG_TABLE, other.n_labels))
            if other._low_bytes[some].any() or other._wraps[some].any():  # else leave their pages untouched
                sums = self._low_bytes[some].astype(np.int32) + other._low_bytes[some]
                self._low_bytes[some] = sums & 255
                self._wraps[some] += other._wraps[some] + (sums >> 8)
        self._high.add(*other._high.columns())

    def table(self) -> tuple[Int64, NDArray[np.integer[Any]]]:
        """Return (ids, counts); ids is empty if counts is indexed by label.

        ids are int64 [n] with counts [n], or int64 [0] with counts [n_labels]; counts are int32 or int64.
        """
        size = self._wraps.size
        low_bytes = self._low_bytes[: self.n_labels]
        wraps = self._wraps[: self.n_labels]
        low = NO_IDS
        is_dense = self.n_labels <= min(size, LONG_TABLE)
        if not is_dense:
            low = np.union1d(np.flatnonzero(low_bytes), np.flatnonzero(wraps))
            is_dense = self.n_labels <= min(size, 64 * low.size)
        if is_dense:
            return NO_IDS, wraps * np.int32(256) + low_bytes
        ids, counts = self._high.columns()
        low_counts = wraps[low] * np.int32(256) + low_bytes[low]
        return np.concatenate([low, ids]), np.concatenate([low_counts, counts[:, 0]])
