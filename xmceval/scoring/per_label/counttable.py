"""Count tables: what each label was in some rows: true, predicted, and both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.labelwise import FIRST_SPAN
from xmceval.rows.block import Int64

Counts = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class CountTable:
    """Counts by label of some rows; labels that are not in it have none."""

    ids: Int64  # int64 array [n]; the labels, ascending; empty where they are 0..n-1
    # int array [n, n_slots]; of each label: true, then for each span of ranks predicted and hit, and where they are
    # counted the rows in whose ideal ranking the label is
    counts: Counts
    rows: int = 0  # the rows, without those that are left out
    bits: int = 0  # counts are multiples of 2^-bits: 0 without sample weights

    @property
    def labels(self) -> Int64:
        """The labels of the counts, int64 [n]."""
        return self.ids if self.ids.size else np.arange(len(self.counts), dtype=np.int64)

    def where(self, kept: NDArray[np.bool_]) -> CountTable:
        """Return the counts of some labels only: those `kept`, bool [n]."""
        return CountTable(self.labels[kept], self.counts[kept], self.rows, self.bits)

    def in_turn(self, n: int) -> Iterator[tuple[Int64, Counts]]:
        """Yield labels, int64 [at most n], and their counts [at most n, n_slots], `n` at a time."""
        for start in range(0, len(self.counts), n):
            counts = self.counts[start : start + n]
            yield self.ids[start : start + n] if self.ids.size else np.arange(start, start + len(counts)), counts


def n_slots(n_spans: int, *, in_ideal: bool = False) -> int:
    """Return how many counts a label has."""
    return FIRST_SPAN + 2 * n_spans + (n_spans if in_ideal else 0)
