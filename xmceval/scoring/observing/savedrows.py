"""Saved rows: an observer that hands the values of rows to a writer, in the order of the rows."""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Rows
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.program import Program
from xmceval.scoring.states.rowdigests import TruthDigest, digest_rows


class RowSink(Protocol):
    """What takes the rows: their numbers, weights, and values [n_rows, n_systems, n_metrics, 2]."""

    def put(self, rows: Int64, weights: Float64, values: Float64) -> None:
        """Take the next rows."""


def row_measures(program: Program) -> list[Measure]:
    """Return the measures that have values of rows, in the order in which they were asked for."""
    computed = {measure.name for task in program.row_tasks for measure in task.measures}
    return [measure for measure in program.measures if measure.name in computed]


class SavedRows(Observer):
    """An observer that writes the values of rows in order; blocks that come early wait.

    Attributes
    ----------
    digest : TruthDigest
        Of the truth that was scored.
    """

    def __init__(self, program: Program, sink: RowSink, *, drop_empty: bool = False) -> None:
        self._measures, self._drop_empty = row_measures(program), drop_empty
        places = [measure.name for task in program.row_tasks for measure in task.measures]
        self._order = [places.index(measure.name) for measure in self._measures]
        self._sink, self._next, self._lock = sink, 0, threading.Lock()
        self._waiting: dict[int, tuple[int, Int64, Float64, Float64]] = {}
        self.digest = TruthDigest()

    def add(self, block: BlockValues) -> None:
        """Take the values of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        rows = (block.first_row + kept).astype(np.int64)
        weights = block.weights if block.weights.size else np.ones(rows.size)
        values = np.stack([np.concatenate(of_system, axis=1)[:, self._order] for of_system in block.values], axis=1)
        values[:, :, :, 0][~self._counts(block.truth, values[:, :, :, 1])] = np.nan
        digest = digest_rows(rows, block.truth)
        with self._lock:
            self.digest.add(rows.size, digest)
            self._waiting[block.first_row] = block.n_rows, rows, weights.copy(), values
            while self._next in self._waiting:
                n_rows, rows, weights, values = self._waiting.pop(self._next)
                self._sink.put(rows, weights, values)
                self._next += n_rows

    def _counts(self, truth: Rows, denominators: Float64) -> NDArray[np.bool_]:
        """Return which values [n_rows, n_systems, n_metrics] count: the others are left out."""
        counts = np.ones(denominators.shape, dtype=np.bool_)
        for m, measure in enumerate(self._measures):
            if measure.metric.left_out or measure.average in {"mean", "rows", "samples"}:
                counts[:, :, m] = denominators[:, :, m] != 0
            if self._drop_empty:
                is_true = truth.values[: truth.indptr[-1]] >= measure.rel
                ends = np.concatenate([[0], np.cumsum(is_true)])[truth.indptr]
                counts[:, :, m] &= (np.diff(ends) > 0)[:, None]
        return counts
