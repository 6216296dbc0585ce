"""Label cells: the counts of some labels down to the end of any span of ranks, each number computed once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.labelwise import FIRST_SPAN, TRUE
from xmceval.metrics.rates import RATES, Cells, rate_values
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.per_label.counttable import Counts, CountTable

COUNTS_AT_ONCE = 1 << 19  # so that they and what is made of them stay in the processor's cache
FEWEST_LABELS = 1 << 10

Bools = NDArray[np.bool_]


class LabelRate(NamedTuple):
    """A rate of the cells of labels; `zero` is what 0/0 counts as."""

    rule: str
    beta: float = 1.0
    zero: str = "0"

    def of(self, cells: Cells) -> tuple[Float64, Any]:
        """Return the rate of each label, float64, and where it is defined, bool; both have the shape of the cells."""
        return rate_values(RATES[self.rule], cells, self.beta, self.zero)


class LabelCells:
    """Counts of some labels; of the spans, the one that was asked for last is kept.

    Parameters
    ----------
    labels : int64 array [n]
    counts : int array [n, n_slots]
    n_spans : int
    rows : int
        The number of all rows, in units of the counts.

    Attributes
    ----------
    labels : int64 array [n]
    true : int64 array [n]
        The rows in which each label is true.
    predicted, hits : int64 arrays [n_spans, n]
        The rows that predict it down to the end of each span, and those of them in which it is true.
    in_ideal : int64 array [n_spans or 0, n]
        The rows in whose ideal ranking it is down to there, where they are counted.
    """

    def __init__(self, labels: Int64, counts: Counts, n_spans: int, rows: int) -> None:
        self.labels, self.rows = labels, rows
        by_slot = np.array(counts.T, dtype=np.int64, order="C")
        stop = FIRST_SPAN + 2 * n_spans
        self.true: Int64 = by_slot[TRUE]
        self.predicted, self.hits = by_slot[FIRST_SPAN:stop:2], by_slot[FIRST_SPAN + 1 : stop : 2]
        self.in_ideal = by_slot[stop:]
        for by_span in (self.predicted, self.hits, self.in_ideal):
            for span in range(1, len(by_span)):
                by_span[span] += by_span[span - 1]
        self._span = -1
        self._of_span: dict[Any, Any] = {}

    @cached_property
    def is_true(self) -> Bools:
        """Which labels are true in some row, bool [n]."""
        return self.true > 0

    @cached_property
    def support(self) -> Float64:
        """The rows in which each label is true, float64 [n]."""
        return self.true.astype(np.float64)

    def is_seen(self, span: int) -> Bools:
        """Return which labels are true in some row, or predicted down to the end of a span, bool [n]."""
        of_span = self._at(span)
        if "seen" not in of_span:
            of_span["seen"] = self.is_true | (self.predicted[span] > 0)
        return of_span["seen"]  # type: ignore[no-any-return]

    def cells(self, span: int) -> Cells:
        """Return the cells of each label down to the end of a span."""
        of_span = self._at(span)
        if "cells" not in of_span:
            of_span["cells"] = Cells.of(self.hits[span], self.predicted[span], self.true, self.rows)
        return of_span["cells"]  # type: ignore[no-any-return]

    def rates(self, rate: LabelRate, span: int) -> tuple[Float64, Any]:
        """Return a rate of each label down to the end of a span, float64 [n], and where it is defined, bool [n]."""
        of_span = self._at(span)
        if rate not in of_span:
            of_span[rate] = rate.of(self.cells(span))
        return of_span[rate]  # type: ignore[no-any-return]

    def _at(self, span: int) -> dict[Any, Any]:
        if span != self._span:
            self._span, self._of_span = span, {}
        return self._of_span


def cells_in_turn(table: CountTable, n_spans: int) -> Iterator[LabelCells]:
    """Yield the cells of all labels with counts, of some labels at a time."""
    for labels, counts in table.in_turn(max(COUNTS_AT_ONCE // table.counts.shape[1], FEWEST_LABELS)):
        yield LabelCells(labels, counts, n_spans, table.rows)
