"""Intervals by cluster: those of rows that belong together, such as the sessions of a user."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.errors import counted
from xmceval.report.result import Result
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.comparing.outputs import RunSums
from xmceval.scoring.comparing.pairsums import ValueColumns
from xmceval.scoring.estimates import with_clusters, without_interval
from xmceval.scoring.observing.clusterrows import NO_WEIGHTS, ClusterRows, ClusterValues
from xmceval.scoring.summary import Figure, Slice
from xmceval.scoring.sums import no_extremes


class ClusterIntervals(Extra):
    """Replace the intervals of results by those over clusters of rows; values without any keep none."""

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the observer."""
        self._rows = watch_clusters(scoring)
        self.observers = [self._rows]
        self._columns = ValueColumns.of(scoring.setup.program, scoring.opened[0].terms.bins)

    def finish(self, outcome: Outcome) -> Outcome:
        """Return the results with their intervals by cluster."""
        found = self._rows.finish()
        results = [self._finish(result, found, run) for run, result in enumerate(outcome.results)]
        return replace(outcome, results=tuple(results))

    def _finish(self, result: Result, found: ClusterValues, run: int) -> Result:
        n_clusters, n_rows = found.n_clusters[run], found.n_rows[run]
        places = self._list_places()
        sums, extremes = zip(*(_add(each[run]) for each in (found.block.values, found.block.shares)), strict=True)

        def by_cluster(figure: Figure, bin_: str = "") -> Figure:
            place = places.get((figure.name, bin_))
            if place is None:
                return replace(figure, estimate=without_interval(figure.estimate))
            kind, at, column = place
            n = int(n_clusters[column])
            are_rows = n == n_rows[column]
            own = sums[kind][at], n, extremes[kind][at]
            return replace(figure, estimate=with_clusters(figure.estimate, figure.measure, *own, are_rows=are_rows))

        slices = (
            Slice(each.bin, tuple(by_cluster(figure, each.bin.name) for figure in each.figures))
            for each in result.slices
        )
        clusters = counted(found.block.n_rows, "cluster")
        options = {
            **result.options,
            "cluster_rows": f"{result.options['cluster_rows']}, intervals by cluster ({clusters})",
        }
        return replace(result, figures=tuple(map(by_cluster, result.figures)), slices=tuple(slices), options=options)

    def _list_places(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Return where a metric, and it in a bin, is: among values or shares, at which place, and its column."""
        columns, n_bins = self._columns, len(self._columns.bins)
        places = {(measure.name, ""): (0, column, column) for column, measure in enumerate(columns.measures)}
        for m, measure in enumerate(columns.in_bins):
            column = columns.measures.index(measure)
            places |= {(measure.name, bin_): (1, m * n_bins + b, column) for b, bin_ in enumerate(columns.bins)}
        return places


def watch_clusters(scoring: Scoring) -> ClusterRows:
    """Make the observer that adds up the rows of clusters, which the options have."""
    setup = scoring.setup
    if setup.clusters is None:
        raise ValueError("there are no clusters")
    drop_empty = setup.options.empty_rows == "drop"
    return ClusterRows(setup.clusters, setup.program.row_measures, drop_empty=drop_empty)


def _add(values: Float64) -> tuple[Int64, Float64]:
    """Return sums and extremes of clusters [n_clusters, n_columns, 2], as if these were rows."""
    n_columns = values.shape[1]
    found = RunSums.of_values(values, NO_WEIGHTS, np.zeros(n_columns, dtype=np.int64))
    return found.sums, no_extremes(n_columns) if found.extremes is None else found.extremes
