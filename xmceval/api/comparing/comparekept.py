"""Compare kept systems: from the values of their rows that were kept while they were scored, as if they were scored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.comparing.matches import Matches
from xmceval.api.comparing.pairtests import Watch
from xmceval.api.extras.extra import Drawn
from xmceval.api.extras.keeprows import DRAWN
from xmceval.api.scoring.setup import Named
from xmceval.errors import DataError
from xmceval.files.saved.keptrows import KeptFile, open_kept
from xmceval.labels.catalogue import Sizes
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.result import Result
from xmceval.rows.block import Float64
from xmceval.rows.threads import each_block
from xmceval.scoring.comparing.outputs import Output, RunSums, collect_outputs
from xmceval.scoring.comparing.pairsums import Pairs, ValueColumns
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.observing.observers import NO_TRUTH, BlockValues, Observer
from xmceval.scoring.observing.rowsinmemory import RowsInMemory

# What files of one comparison have in common, by the name in `meta`.
ALIKE = {
    "truth": "truths",
    "propensities": "propensities",
    "rules": "options of scoring",
    "measures": "metrics",
    "in_bins": "metrics",
    "bins": "bins of labels",
    "has_weights": "sample weights",
    "n_rows": "numbers of rows",
    "rows_of_chunk": "versions of xmceval",
}


@dataclass(frozen=True)
class KeptSystem:
    """A system that was scored before.

    Attributes
    ----------
    name : str
    y_score : matrix, path, shards, or list of these
        As `compare` takes it; it is not read.
    files : tuple of Path or bytes
        One per run, as `KeepRows` writes them, or what one has.
    """

    name: str
    y_score: Any
    files: tuple[Path | bytes, ...]


def compare_kept(
    systems: Sequence[KeptSystem],
    testing: Testing,
    *,
    threads: int | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems by the values of rows that were kept of them; the Comparison is that of `compare_systems`.

    Raises
    ------
    DataError
        Files of other rows, metrics or propensities, or a damaged one.
    """
    matches = Matches.of([Named(each.y_score, each.name) for each in systems], testing, needs_pairs=needs_pairs)
    with ExitStack() as files:
        kept = [_KeptRun.of(files.enter_context(open_kept(path, each.name))) for each in systems for path in each.files]
        for other in kept[1:]:
            kept[0].check_beside(other)
        outputs = _collect(kept, matches, threads)
        drawn = [run.drawn for run in kept if DRAWN in run.file.meta]
    results = tuple(
        replace(run.result, name=str(named.name)) for run, named in zip(kept, matches.lineup.runs, strict=True)
    )
    differences: Sequence[Difference] = ()
    if drawn:
        from xmceval.api.extras.bootstrap import drawn_differences  # not loaded by a comparison without it

        differences = list(drawn_differences(matches.lineup, results, drawn, matches.by_rows))
    return matches.compare(results, outputs, differences, threads=threads, watch=watch)


@dataclass(frozen=True)
class _KeptRun:
    """A file of kept rows, the result that is kept with it, and what its values are of."""

    file: KeptFile
    result: Result
    columns: ValueColumns

    @classmethod
    def of(cls, file: KeptFile) -> _KeptRun:
        """Read the result, which has all measures."""
        result = replace(Result.from_dict(file.meta["result"]), sizes=Sizes(*file.meta["sizes"]))
        measures = {figure.name: figure.measure for figure in result.figures}
        of_values, in_bins = (tuple(measures[name] for name in file.meta[key]) for key in ("measures", "in_bins"))
        return cls(file, result, ValueColumns(of_values, in_bins, tuple(file.meta["bins"])))

    @property
    def drawn(self) -> Drawn:
        """The values in resamples that were kept."""
        known = self.file.meta[DRAWN]
        return Drawn(dict(zip(known["metrics"], self.file.array(DRAWN), strict=True)), known["n"])

    @property
    def sums(self) -> RunSums:
        """The sums that were kept."""
        return RunSums(*map(self.file.array, ("sums", "shares", "n_valued")))

    def check_beside(self, other: _KeptRun) -> None:
        """Refuse another file that is not of the same rows and rules."""
        for key, what in ALIKE.items():
            if self.file.meta.get(key) != other.file.meta.get(key):
                raise DataError(f"{self.file.name} and {other.file.name} are kept values of different {what}")

    def read(self, number: int, n_rows: int) -> tuple[Float64, Float64, Float64]:
        """Read a chunk: weights [n_rows] or none, values [n_rows, n_columns, 2], and shares [n_rows, n_shares, 2]."""
        n_values, n_shares = 2 * len(self.columns.measures), 2 * self.columns.n_shares
        weights, values, shares = self.file.read(number, n_rows, int(self.file.meta["has_weights"]), n_values, n_shares)
        return weights.ravel(), values.reshape(n_rows, -1, 2), shares.reshape(n_rows, -1, 2)


def _collect(kept: Sequence[_KeptRun], matches: Matches, threads: int | None) -> list[Output]:
    """Read the values of rows, chunk by chunk, and return what is known of each metric."""
    columns, meta, groups = kept[0].columns, kept[0].file.meta, matches.lineup.groups
    pairs, held = Pairs(columns, groups, matches.by_rows), RowsInMemory() if matches.holds_rows else None
    observers: list[Observer] = [pairs, *([] if held is None else [held])]
    n_rows, size = meta["n_rows"], meta["rows_of_chunk"]

    def read(_: None, first_row: int) -> None:
        n = min(size, n_rows - first_row)
        weights, values, shares = zip(*(run.read(first_row // size, n) for run in kept), strict=True)
        if any(not np.array_equal(each, weights[0]) for each in weights):
            raise DataError(f"{kept[0].file.name} and files beside it are kept values of different sample weights")
        for observer in observers:
            observer.add(BlockValues(first_row, n, None, weights[0], NO_TRUTH, values, shares))

    if matches.by_rows:
        each_block((row for row in range(0, n_rows, size)), lambda: None, read, threads)
    n_all = max(run.file.meta["n_all"] for run in kept)
    return collect_outputs(columns, [run.sums for run in kept], n_all, groups, pairs, held)
