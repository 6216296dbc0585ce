"""Keeping the values of rows while systems are scored, for `compare_kept`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.api.extras.saverows import identify_data
from xmceval.errors import UsageError
from xmceval.files.saved.keptrows import open_kept_writer, rows_of_chunk
from xmceval.rows.block import Float64
from xmceval.scoring.comparing.outputs import RunSums
from xmceval.scoring.comparing.pairsums import ValueColumns
from xmceval.scoring.observing.chunkedrows import ChunkedRows

DRAWN = "drawn"  # values in resamples, float64 [n_metrics, n_resamples], and in `meta` what they are of


class KeepRows(Extra):
    """Write the values of rows of each run to a file of its own, with the result at the end.

    Parameters
    ----------
    paths : sequence of Path, BytesIO or None
        One per run, in their order; None where it is not kept. A file appears under its name when it is complete, in
        place of one that is there.
    """

    def __init__(self, paths: Sequence[Path | BytesIO | None]) -> None:
        self._paths = paths

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Open the files, and make the observer that writes to them."""
        if len(self._paths) != len(scoring.opened):
            raise UsageError(f"expected a path to keep rows per run, got {len(self._paths)} for {len(scoring.opened)}")
        terms = scoring.setup.terms
        self._has_weights = terms.weights is not None
        self._columns = ValueColumns.of(scoring.setup.program, scoring.opened[0].terms.bins)
        n_columns = self._has_weights + 2 * (len(self._columns.measures) + self._columns.n_shares)
        self._n_rows_of_chunk = rows_of_chunk(n_columns)
        self._writers = [None if path is None else files.enter_context(open_kept_writer(path)) for path in self._paths]
        self._rows = ChunkedRows(self._n_rows_of_chunk, self._write)
        self.observers = [self._rows]

    def _write(self, run: int, number: int, values: Float64) -> None:
        """Write a chunk of a run."""
        writer = self._writers[run]
        if writer is not None:
            writer.write(number, values)

    def finish(self, outcome: Outcome) -> Outcome:
        """Write what is known at the end: sums, what the values are of, digests, rules, and the result of each run."""
        self._rows.finish()
        columns, program = self._columns, outcome.scoring.setup.program
        shared = {
            "measures": [measure.name for measure in columns.measures],
            "in_bins": [measure.name for measure in columns.in_bins],
            "bins": columns.bins,
            "has_weights": self._has_weights,
            "n_rows": self._rows.n_rows,
            "rows_of_chunk": self._n_rows_of_chunk,
        }
        drawn = outcome.drawn or [None] * len(self._writers)
        for writer, result, totals, own in zip(self._writers, outcome.results, outcome.totals, drawn, strict=True):
            if writer is None:
                continue
            sums = RunSums.of(program, totals)
            known: dict[str, Any] = {"n_all": totals.tally.n_rows, "result": result.to_dict(), "sizes": result.sizes}
            arrays = {"sums": sums.sums, "shares": sums.shares, "n_valued": sums.n_rows}
            if own is not None:
                known[DRAWN] = {"metrics": list(own.values), "n": own.n}
                arrays[DRAWN] = np.array([*own.values.values()])
            writer.finish({**shared, **identify_data(result, self._rows.digest), **known}, arrays)
        return outcome
