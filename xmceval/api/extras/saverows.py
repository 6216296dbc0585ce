"""Saving the values of rows while systems are scored."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import UsageError
from xmceval.files.saved.rowtable import RowHead
from xmceval.files.saved.rowvalues import RowWriter, open_row_writer
from xmceval.report.result import Result
from xmceval.scoring.observing.orderedrows import OrderedRows

# Options that change the values of rows, and that a digest of truth or propensities does not cover.
RULES = frozenset({"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth", "missing"})


class SaveRows(Extra):
    """Write the values of every row to a file."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Open the file, and make the observer that writes to it."""
        setup = scoring.setup
        measures = setup.program.columns
        if not measures:
            raise UsageError(f"{self._path}: none of the metrics has per-instance values")
        names = tuple(each.name for each in scoring.opened)
        has_ideal = tuple(measure.norm.over in {"ratio", "micro", "cells"} for measure in measures)
        head = RowHead(names, tuple(measure.name for measure in measures), has_ideal, setup.row_ids)
        self._writer = self._open(head, files)
        self._rows = OrderedRows(setup.program, self._writer, drop_empty=setup.terms.drop_empty)
        self.observers = [self._rows]

    def _open(self, head: RowHead, files: ExitStack) -> RowWriter:
        return files.enter_context(open_row_writer(self._path, head))

    def finish(self, outcome: Outcome) -> Outcome:
        """Write what is known at the end: digests of truth and propensities, rules, and the counts of each system."""
        ids = outcome.scoring.setup.row_ids
        if ids is not None:
            ids.check_number(self._rows.n_rows)
        counts = [asdict(result.counts) for result in outcome.results]
        self._writer.finish({**identify_data(outcome.results[0], self._rows.digest), "counts": counts})
        return outcome


def identify_data(result: Result, truth: str) -> dict[str, Any]:
    """Return what values of rows that are compared have in common: digests of truth and propensities, and rules."""
    rules = {name: value for name, value in result.options.items() if name in RULES}
    propensities = {} if result.propensities is None else {"propensities": result.propensities.digest}
    return {"truth": truth, "rules": rules, **propensities}
