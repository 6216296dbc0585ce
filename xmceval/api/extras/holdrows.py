"""Values of rows: held in memory while systems are scored, then in the results (`rows`), in a file, or both."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import UsageError
from xmceval.files.savedrows import RowTable, check_row_file, write_rows
from xmceval.metrics.measure import Measure
from xmceval.report.result import Result
from xmceval.report.resultrows import ResultRows
from xmceval.rows.block import Float64, Int64
from xmceval.rows.rowids import RowIds
from xmceval.scoring.observing.heldrows import HeldRows

# Options that change the values of rows, and that a digest of truth or propensities does not cover.
RULES = frozenset({"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth", "missing"})


class HoldRows(Extra):
    """Hold the values of every row, for `Result.rows` where `in_results`, and for a file where there is a path."""

    def __init__(self, *, in_results: bool, path: str | Path | None, force: bool = False) -> None:
        self._in_results, self._path, self._force = in_results, path, force

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Check the file, and make the observer that holds the values."""
        setup = scoring.setup
        if not setup.program.columns:
            raise UsageError(f"{self._path or 'rows'}: none of the metrics has per-instance values")
        if self._path is not None:
            check_row_file(self._path, force=self._force, inputs=scoring.files)
        self._held = HeldRows(setup.program.row_measures, drop_empty=setup.terms.drop_empty)
        self.observers = [self._held]

    def finish(self, outcome: Outcome) -> Outcome:
        """Write the values, and add them to the results."""
        setup, results, ids = outcome.scoring.setup, outcome.results, outcome.scoring.setup.row_ids
        if ids is not None:
            ids.check_number(self._held.n_rows)
        measures, columns = tuple(setup.program.columns), [*setup.program.columns.values()]
        held = self._held.join()
        values = held.values[:, :, columns]
        values[~held.counts[:, :, columns], 0] = np.nan
        if self._path is not None:
            table = RowTable(
                str(self._path),
                systems=tuple(system.name for system in outcome.scoring.opened),
                metrics=tuple(measure.name for measure in measures),
                rows=tuple(row if ids is None else ids.ids[row] for row in held.rows.tolist()),
                values=values,
                weights=held.weights,
                has_ideal=tuple(_is_ratio(measure) for measure in measures),
                meta=_describe_data(results, self._held.digest),
            )
            write_rows(self._path, table, force=self._force)
        if not self._in_results:
            return outcome
        weights = np.zeros(self._held.n_rows)
        weights[held.rows] = held.weights
        with_rows = [
            replace(result, held_rows=_rows_of_system(measures, held.rows, values[:, system], weights, ids))
            for system, result in enumerate(results)
        ]
        return replace(outcome, results=tuple(with_rows))


def _is_ratio(measure: Measure) -> bool:
    """Return whether a metric is a ratio of sums, so that each row has a denominator of its own."""
    return measure.norm.over in {"ratio", "micro", "cells"}


def _rows_of_system(
    measures: Sequence[Measure], rows: Int64, values: Float64, weights: Float64, ids: RowIds | None
) -> ResultRows:
    """Return values [n_held, n_metrics, 2] of the rows of a system as those of all rows; `weights` are of all."""
    every_row = np.full((weights.size, len(measures), 2), np.nan)
    every_row[rows] = values
    every_row[np.isnan(every_row[..., 0]), 1] = np.nan
    ideals = {measure.name: every_row[:, m, 1] for m, measure in enumerate(measures) if _is_ratio(measure)}
    return ResultRows(measures, every_row[..., 0], ideals, weights, None if ids is None else tuple(ids.ids))


def _describe_data(results: Sequence[Result], truth: int) -> dict[str, Any]:
    """Return what files that are compared must share, digests of truth and propensities and rules, and the counts."""
    first = results[0]
    return {
        "truth": f"{truth:016x}",
        "rules": {name: value for name, value in first.options.items() if name in RULES},
        **({} if first.propensities is None else {"propensities": first.propensities.digest}),
        "counts": [asdict(result.counts) for result in results],
    }
