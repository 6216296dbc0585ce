"""Scoring cells of a data set in one pass of its truth; those that cannot be scored are found and left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.errors import UsageError, XmcevalError, describe_failure
from xmceval.report.comparison import Comparison
from xmceval.rows.threads import Progress
from xmceval.scoring.comparing.testoptions import Testing

if TYPE_CHECKING:
    from xmceval.api.comparing.pairtests import Watch
    from xmceval.api.scoring.setup import Named, Setup

FAILURES = (XmcevalError, OSError, MemoryError)


@dataclass(frozen=True)
class CellScorer:
    """Scores cells of one data set together.

    Attributes
    ----------
    testing : Testing
    engine : mapping
        The arguments of Setup that choose where rows are scored.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    watch : callable, optional
        Shows the cost of resampling.
    """

    testing: Testing
    engine: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    watch: Watch | None = None

    def score(
        self, dataset: PlannedDataset, cells: Sequence[PlannedCell]
    ) -> tuple[Comparison | None, Mapping[str, str]]:
        """Compare the systems that can be scored; return why each of the others cannot."""
        if not cells:
            return None, {}
        try:
            return self._compare(dataset, cells), {}
        except FAILURES as error:
            failures = self._find_failures(dataset, cells) if len(cells) > 1 else {}
            if not failures and isinstance(error, UsageError) and len(cells) > 1:
                raise
            failures = failures or {cell.system: describe_failure(error) for cell in cells}
        found, more = self.score(dataset, [cell for cell in cells if cell.system not in failures])
        return found, {**failures, **more}

    def _compare(self, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> Comparison:
        """Compare systems, as `xmceval.compare` does."""
        from xmceval.api.comparing.compare import compare_systems

        systems = _systems_of(cells)
        return compare_systems(
            *(self._open(dataset, systems), systems, self.testing),
            progress=self.progress,
            watch=self.watch,
            needs_pairs=False,
        )

    def _find_failures(self, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> dict[str, str]:
        """Return why systems fail by themselves, by name."""
        failures: dict[str, str] = {}
        for check in (self._open_runs, self._compare):
            for cell in cells if not failures else ():
                try:
                    check(dataset, [cell])
                except FAILURES as error:
                    failures[cell.system] = describe_failure(error)
        return failures

    def _open(self, dataset: PlannedDataset, systems: Sequence[Named]) -> Setup:
        """Open a truth."""
        from xmceval.api.scoring.setup import Setup

        return Setup.of(dataset.truth, dataset.options, systems, **self.engine)

    def _open_runs(self, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> None:
        """Open the truth and systems, and read no rows."""
        from xmceval.api.comparing.runs import Lineup

        runs = Lineup.of(_systems_of(cells)).runs
        self._open(dataset, runs).open_systems(runs)


def _systems_of(cells: Sequence[PlannedCell]) -> list[Named]:
    """Return what is scored of cells, as `compare` takes it: of a system with one run, the run itself."""
    from xmceval.api.scoring.setup import Named

    return [Named(list(cell.runs) if len(cell.runs) > 1 else cell.runs[0], cell.system) for cell in cells]
