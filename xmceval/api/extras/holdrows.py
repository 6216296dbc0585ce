"""Values of rows: held in memory while systems are scored, then in the results (`rows`), in a file, or both."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import UsageError
from xmceval.files.saved.rowtable import RowTable
from xmceval.files.saved.rowvalues import open_row_file
from xmceval.report.result import Result
from xmceval.report.resultrows import ResultRows
from xmceval.scoring.observing.heldrows import HeldRows

# Options that change the values of rows, and that a digest of truth or propensities does not cover.
RULES = frozenset({"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth", "missing"})


class HoldRows(Extra):
    """Hold the values of every row, for `Result.rows` where `in_results`, and for a file where there is a path."""

    def __init__(self, *, in_results: bool, path: str | Path | None, force: bool = False) -> None:
        self._in_results, self._path, self._force = in_results, path, force

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Open the file, and make the observer that holds the values."""
        setup = scoring.setup
        if not setup.program.columns:
            raise UsageError(f"{self._path or 'rows'}: none of the metrics has per-instance values")
        if self._path is not None:
            opened = open_row_file(self._path, force=self._force, inputs=scoring.files)
            self._write = files.enter_context(opened)
        self._held = HeldRows(setup.program, drop_empty=setup.terms.drop_empty)
        self.observers = [self._held]

    def finish(self, outcome: Outcome) -> Outcome:
        """Write the values, and add them to the results."""
        setup, results, n_rows = outcome.scoring.setup, outcome.results, self._held.n_rows
        measures, ids = tuple(setup.program.columns), setup.row_ids
        if ids is not None:
            ids.check_number(n_rows)
        rows, weights, values = self._held.join()
        is_ratio = [measure.norm.over in {"ratio", "micro", "cells"} for measure in measures]
        if self._path is not None:
            table = RowTable(
                name=str(self._path),
                systems=tuple(system.name for system in outcome.scoring.opened),
                metrics=tuple(measure.name for measure in measures),
                rows=tuple(rows.tolist() if ids is None else ids.of_rows(rows.tolist())),
                values=values,
                weights=weights,
                has_ideal=tuple(is_ratio),
                meta=_describe_data(results, self._held.digest),
            )
            self._write(table)
        if not self._in_results:
            return outcome
        all_weights = np.zeros(n_rows)
        all_weights[rows] = weights
        names = None if ids is None else tuple(ids.ids)
        with_rows = []
        for system, result in enumerate(results):
            numerators, denominators = np.full((2, n_rows, len(measures)), np.nan)
            numerators[rows] = values[:, system, :, 0]
            denominators[rows] = np.where(np.isnan(values[:, system, :, 0]), np.nan, values[:, system, :, 1])
            ideals = {measures[m].name: denominators[:, m] for m in np.flatnonzero(is_ratio)}
            held_rows = ResultRows(measures, numerators, ideals, all_weights, names)
            with_rows.append(replace(result, held_rows=held_rows))
        return replace(outcome, results=tuple(with_rows))


def _describe_data(results: tuple[Result, ...], truth: str) -> dict[str, Any]:
    """Return what files that are compared must share, digests of truth and propensities and rules, and the counts."""
    first = results[0]
    rules = {name: value for name, value in first.options.items() if name in RULES}
    propensities = {} if first.propensities is None else {"propensities": first.propensities.digest}
    counts = [asdict(result.counts) for result in results]
    return {"truth": truth, "rules": rules, **propensities, "counts": counts}
