"""Saving the values of rows while systems are scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xmceval.api.scoring.setup import Setup
from xmceval.errors import UsageError
from xmceval.report.result import Result
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.system import System

if TYPE_CHECKING:  # loaded where a file is named: each start pays for what it loads
    from xmceval.files.saved.rowwriting import RowWriter
    from xmceval.scoring.observing.savedrows import SavedRows

# Options that change the values of rows, and that a digest of truth or propensities does not cover.
RULES = frozenset({"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth"})


@dataclass(frozen=True)
class Saving:
    """Values of rows that are being written, or nothing."""

    writer: RowWriter | None = None
    rows: SavedRows | None = None

    @property
    def observers(self) -> tuple[Observer, ...]:
        """What sees the rows."""
        return () if self.rows is None else (self.rows,)

    def finish(self, results: Sequence[Result]) -> None:
        """Write what is known at the end: digests of truth and propensities, rules, and the counts of each system."""
        if self.writer is None or self.rows is None:
            return
        counts = [asdict(result.counts) for result in results]
        propensities = results[0].propensities
        rules = {name: value for name, value in results[0].options.items() if name in RULES}
        meta = {"truth": str(self.rows.digest), "rules": rules, "counts": counts}
        self.writer.finish(meta if propensities is None else meta | {"propensities": propensities.digest})


@contextmanager
def saving_rows(setup: Setup, opened: Sequence[System], path: str | Path | None) -> Iterator[Saving]:
    """Write the values of rows to a file, if one is named.

    Raises
    ------
    UsageError
        Another ending than .npz, .csv or .jsonl, a file that exists, or no metric that has values of rows.
    """
    if path is None:
        yield Saving()
        return
    from xmceval.files.saved.rowwriting import RowHead, open_row_writer
    from xmceval.scoring.observing.savedrows import SavedRows, row_measures

    measures = row_measures(setup.program)
    if not measures:
        raise UsageError(f"{path}: none of the metrics has values of rows")
    names = tuple(each.name for each in opened)
    has_ideal = tuple(measure.norm.over in {"ratio", "micro", "cells"} for measure in measures)
    head = RowHead(names, tuple(measure.name for measure in measures), has_ideal)
    with open_row_writer(path, head) as writer:
        yield Saving(writer, SavedRows(setup.program, writer, drop_empty=setup.terms.drop_empty))
