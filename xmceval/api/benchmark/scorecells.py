"""Scoring cells of a data set in one pass of its truth; those that cannot be scored are found and left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.errors import UsageError, XmcevalError, describe_failure
from xmceval.report.comparison import Comparison
from xmceval.rows.threads import Progress
from xmceval.scoring.comparing.testoptions import Testing

if TYPE_CHECKING:
    from xmceval.api.comparing.pairtests import Watch
    from xmceval.api.extras.extra import Extra
    from xmceval.api.scoring.setup import Named, Setup

T = TypeVar("T")
Files = Sequence[Path | None]  # where runs are kept
Work = Callable[[PlannedDataset, Sequence[PlannedCell], Files], T]

FAILURES = (XmcevalError, OSError, MemoryError)


@dataclass
class CellScorer:
    """Scores cells of one data set together.

    Attributes
    ----------
    testing : Testing
    begin : callable
        Called before anything is scored; returns the arguments of Setup that choose where that is done.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    watch : callable, optional
        Shows the cost of resampling.
    unkept : list of str
        Why runs could not be kept.
    """

    testing: Testing
    begin: Callable[[], Mapping[str, Any]] = dict
    progress: Progress | None = None
    watch: Watch | None = None
    unkept: list[str] = field(default_factory=list)

    @cached_property
    def engine(self) -> Mapping[str, Any]:
        """The arguments of Setup that choose where rows are scored."""
        return self.begin()

    def compare(self, dataset: PlannedDataset, cells: Sequence[PlannedCell], files: Files = ()) -> Comparison:
        """Compare systems, as `xmceval.compare` does; each run is kept in a file, where there are any."""
        from xmceval.api.comparing.compare import compare_systems

        systems = systems_of(cells)
        return compare_systems(
            *(self._open(dataset, systems), systems, self.testing, _keepers(files)),
            progress=self.progress,
            watch=self.watch,
            needs_pairs=False,
        )

    def keep(self, dataset: PlannedDataset, cells: Sequence[PlannedCell], files: Files) -> None:
        """Score systems, and keep each run in a file."""
        from xmceval.api.comparing.runs import Lineup
        from xmceval.api.scoring.score import score_systems

        systems = systems_of(cells)
        runs = Lineup.of(systems).runs
        score_systems(self._open(dataset, systems), runs, _keepers(files), progress=self.progress)

    def attempt(
        self, work: Work[T], dataset: PlannedDataset, cells: Sequence[PlannedCell], files: Mapping[str, Files]
    ) -> tuple[T | None, Mapping[str, str]]:
        """Work on the systems that can be scored; return why each of the others cannot.

        Parameters
        ----------
        work : callable
            Such as `compare`.
        dataset : PlannedDataset
        cells : sequence of PlannedCell
        files : mapping
            Where the runs of each system are kept, if they are.

        Raises
        ------
        UsageError
            Systems that can be scored, but not be compared as they should.
        """
        if not cells:
            return None, {}
        _ = self.engine  # what fails here is no failure of a system
        kept = [file for cell in cells for file in files.get(cell.system, ())]
        try:
            return work(dataset, cells, kept), {}
        except FAILURES as error:
            failures = self._find_failures(dataset, cells) if len(cells) > 1 else {}
            if not failures and any(kept):  # so it may be that they cannot be written
                found, still = self.attempt(work, dataset, cells, {})
                if not still:
                    self.unkept.append(describe_failure(error))
                return found, still
            if not failures and isinstance(error, UsageError) and len(cells) > 1:
                raise
            failures = failures or {cell.system: describe_failure(error) for cell in cells}
        found, more = self.attempt(work, dataset, [cell for cell in cells if cell.system not in failures], files)
        return found, {**failures, **more}

    def _find_failures(self, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> dict[str, str]:
        """Return why systems fail by themselves, by name."""
        failures: dict[str, str] = {}
        for check in (self._open_runs, self.compare):
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

        runs = Lineup.of(systems_of(cells)).runs
        self._open(dataset, runs).open_systems(runs)


def systems_of(cells: Sequence[PlannedCell]) -> list[Named]:
    """Return what is scored of cells, as `compare` takes it: of a system with one run, the run itself."""
    from xmceval.api.scoring.setup import Named

    return [Named(list(cell.runs) if len(cell.runs) > 1 else cell.runs[0], cell.system) for cell in cells]


def _keepers(files: Files) -> list[Extra]:
    """Return what keeps runs while they are scored."""
    if not any(files):
        return []
    from xmceval.api.extras.keeprows import KeepRows

    return [KeepRows(files)]
