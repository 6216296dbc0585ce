"""Running a data set of a benchmark: its systems are scored in one pass, and those that cannot be are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.errors import UsageError, XmcevalError, describe_failure
from xmceval.report.benchmark import FAILED, MISSING, PUBLISHED, SCORED, CellOutcome, DatasetOutcome
from xmceval.report.comparison import Comparison
from xmceval.rows import progress
from xmceval.rows.threads import Progress
from xmceval.scoring.comparing.testoptions import Testing

if TYPE_CHECKING:
    from xmceval.api.comparing.pairtests import Watch

FAILURES = (XmcevalError, OSError, MemoryError)


@dataclass(frozen=True)
class Runner:
    """Runs data sets.

    Attributes
    ----------
    systems : tuple of str
        The shown names of all systems, in order.
    testing : Testing
    begin : callable
        Called before anything is scored; returns the arguments of Setup that choose where that is done.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    watch : callable, optional
        Shows the cost of resampling.
    """

    systems: Sequence[str]
    testing: Testing
    begin: Callable[[], Mapping[str, Any]] = dict
    progress: Progress | None = None
    watch: Watch | None = None

    @cached_property
    def _engine(self) -> Mapping[str, Any]:
        return self.begin()

    def run(self, planned: PlannedDataset) -> DatasetOutcome:
        """Score the systems of a data set, and compare them."""
        with progress.named(planned.name):
            comparison, failures = self._score(planned, [cell for cell in planned.cells if cell.runs])
        planned = without_unlike(planned, comparison)
        cells = {cell.system: _describe_cell(cell, failures) for cell in planned.cells}
        cells |= {name: CellOutcome(name, PUBLISHED) for name in planned.published}
        cells |= {name: CellOutcome(name, MISSING, why) for name, why in planned.unpublished.items()}
        return DatasetOutcome(
            planned.name,
            comparison,
            tuple(cells[name] for name in self.systems if name in cells),
            planned.published,
            "" if planned.entry is None else planned.entry.name,
            planned.notes,
        )

    def _score(
        self, planned: PlannedDataset, cells: Sequence[PlannedCell]
    ) -> tuple[Comparison | None, Mapping[str, str]]:
        """Compare the systems that can be scored; return why each of the others cannot."""
        if not cells:
            return None, {}
        _ = self._engine  # what fails here is no failure of a system
        try:
            return self._compare(planned, cells), {}
        except FAILURES as error:
            failures = self._find_failures(planned, cells, error)
        comparison, more = self._score(planned, [cell for cell in cells if cell.system not in failures])
        return comparison, {**failures, **more}

    def _compare(self, planned: PlannedDataset, cells: Sequence[PlannedCell]) -> Comparison:
        """Compare systems, as `xmceval.compare` does."""
        from xmceval.api.comparing.compare import compare_systems
        from xmceval.api.scoring.setup import Named, Setup

        systems = [Named(*named(cell)) for cell in cells]
        setup = Setup.of(planned.truth, planned.options, systems, **self._engine)
        return compare_systems(
            setup, systems, self.testing, progress=self.progress, watch=self.watch, needs_pairs=False
        )

    def _find_failures(self, planned: PlannedDataset, cells: Sequence[PlannedCell], error: Exception) -> dict[str, str]:
        """Return why systems fail, by name: all alike where it is for another reason than their files.

        Raises
        ------
        UsageError
            Systems that can be scored, but not be compared as they should.
        """
        for check in (_open, self._compare) if len(cells) > 1 else ():
            failures = {}
            for cell in cells:
                try:
                    check(planned, [cell])
                except FAILURES as own:
                    failures[cell.system] = describe_failure(own)
            if failures:
                return failures
        if isinstance(error, UsageError) and len(cells) > 1:
            raise error
        return {cell.system: describe_failure(error) for cell in cells}


def named(cell: PlannedCell) -> tuple[object, str]:
    """Return what is scored of a system, as `compare` takes it, and its name: of one run only, the run itself."""
    return (list(cell.runs) if len(cell.runs) > 1 else cell.runs[0]), cell.system


def _open(planned: PlannedDataset, cells: Sequence[PlannedCell]) -> None:
    """Open the truth and systems, and read no rows."""
    from xmceval.api.comparing.runs import Lineup
    from xmceval.api.scoring.setup import Named, Setup

    lineup = Lineup.of([Named(*named(cell)) for cell in cells])
    Setup.of(planned.truth, planned.options, lineup.runs).open_systems(lineup.runs)


def without_unlike(planned: PlannedDataset, comparison: Comparison | None) -> PlannedDataset:
    """Leave out published rows that are not of data of these sizes."""
    if planned.entry is None or comparison is None or not planned.published:
        return planned
    reason = planned.entry.forbids_ranking(comparison.results[0].sizes)
    if not reason:
        return planned
    return replace(
        planned, published={}, unpublished={**planned.unpublished, **dict.fromkeys(planned.published, reason)}
    )


def _describe_cell(cell: PlannedCell, failures: Mapping[str, str]) -> CellOutcome:
    """Return how a tested system fared."""
    if not cell.runs:
        return CellOutcome(cell.system, MISSING, cell.missing, 0)
    if cell.system in failures:
        return CellOutcome(cell.system, FAILED, failures[cell.system], len(cell.runs))
    return CellOutcome(cell.system, SCORED, n_runs=len(cell.runs))
