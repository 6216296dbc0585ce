"""Values of rows: held in memory while systems are scored, then in the results (`rows`), in a file, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from xmceval.api.scoring.saving import Saving
from xmceval.api.scoring.setup import OpenedTruth
from xmceval.files.savedrows import RowTable, write_row_file
from xmceval.metrics.measure import Measure
from xmceval.report.result import Result
from xmceval.report.resultrows import ResultRows
from xmceval.rows.block import Float64, Int64
from xmceval.rows.rowids import RowIds
from xmceval.scoring.observing.heldrows import HeldRows
from xmceval.scoring.system import System

# Options that change the values of rows, and that a digest of truth or propensities does not cover.
RULES = frozenset({"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth", "missing"})


def keep_rows(
    held_rows: HeldRows, saving: Saving, truth: OpenedTruth, systems: Sequence[System], results: tuple[Result, ...]
) -> tuple[Result, ...]:
    """Write the values of rows where they are saved, and return the results with them where they are asked for."""
    ids = truth.row_ids
    if ids is not None:
        ids.check_number(held_rows.n_rows)
    by_measure = truth.setup.program.columns
    measures, columns = tuple(by_measure), [*by_measure.values()]
    held = held_rows.join()
    values = held.values[:, :, columns]
    values[~held.counts[:, :, columns], 0] = np.nan
    if saving.save_rows is not None:
        table = RowTable(
            str(saving.save_rows),
            systems=tuple(system.name for system in systems),
            metrics=tuple(measure.name for measure in measures),
            rows=tuple(row if ids is None else ids.ids[row] for row in held.rows.tolist()),
            values=values,
            weights=held.weights,
            has_ideal=tuple(_is_ratio(measure) for measure in measures),
            meta=_describe_data(results, held_rows.digest),
        )
        write_row_file(saving.save_rows, table, force=saving.force)
    if not saving.rows:
        return results
    weights = np.zeros(held_rows.n_rows)
    weights[held.rows] = held.weights
    return tuple(
        replace(result, held_rows=_rows_of_system(measures, held.rows, values[:, number], weights, ids))
        for number, result in enumerate(results)
    )


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
