"""Holding the values of rows in memory while systems are scored, for `Result.rows`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.api.extras.extra import Outcome
from xmceval.api.extras.saverows import SaveRows
from xmceval.files.saved.rowtable import RowHead
from xmceval.files.saved.rowvalues import RowWriter
from xmceval.metrics.measure import Measure
from xmceval.report.resultrows import ResultRows


class HoldValues(SaveRows):
    """Hold the values of every row that `SaveRows` would write, and add them to the results."""

    def __init__(self) -> None:
        super().__init__("rows")

    def _open(self, head: RowHead, files: ExitStack) -> RowWriter:  # noqa: ARG002 - there is no file
        self._held = _HeldRows(head)
        return self._held

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the values to the results."""
        super().finish(outcome)
        held = self._held.split(self._rows.n_rows, tuple(outcome.scoring.setup.program.columns))
        pairs = zip(outcome.results, held, strict=True)
        return replace(outcome, results=tuple(replace(result, held_rows=rows) for result, rows in pairs))


class _HeldRows:
    """Takes rows as a writer does, and keeps the denominators of ratios only: all others are 1 where a row counts."""

    def __init__(self, head: RowHead) -> None:
        self._head, self._ratios = head, np.flatnonzero(head.has_ideal)
        self._blocks: list[tuple[NDArray[Any], ...]] = []

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Keep rows: numbers and weights [n_rows], and values [n_rows, n_systems, n_metrics, 2]."""
        numerators, ideals = values[..., 0].copy(), values[:, :, self._ratios, 1]
        ideals[np.isnan(numerators[:, :, self._ratios])] = np.nan
        self._blocks.append((rows, weights, numerators, ideals))

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Do nothing: what else is known is in the results."""

    def close(self) -> None:
        """Do nothing: there is no file."""

    def split(self, n_rows: int, measures: tuple[Measure, ...]) -> Iterator[ResultRows]:
        """Yield the rows of each system; those of weight 0 have no values."""
        n_systems, n_ratios = len(self._head.systems), self._ratios.size
        weights = np.zeros(n_rows)
        values = np.full((n_systems, n_rows, len(measures)), np.nan)
        ideals = np.full((n_systems, n_rows, n_ratios), np.nan)
        for rows, of_rows, numerators, denominators in self._blocks:
            weights[rows], values[:, rows] = of_rows, numerators.swapaxes(0, 1)
            ideals[:, rows] = denominators.swapaxes(0, 1)
        self._blocks = []
        ids = None if self._head.ids is None else tuple(self._head.ids.ids)
        names = [self._head.metrics[i] for i in self._ratios]
        for own, denominators in zip(values, ideals, strict=True):
            yield ResultRows(measures, own, dict(zip(names, denominators.T, strict=True)), weights, ids)
