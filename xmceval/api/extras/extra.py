"""Extra: something that scoring does besides, such as saving the values of rows; a plain score has none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from xmceval.api.scoring.setup import Setup
from xmceval.report.result import Result
from xmceval.scoring.observing.firstrows import FirstRows
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.system import System
from xmceval.scoring.tasks.task import Task
from xmceval.scoring.totals import Totals


@dataclass(frozen=True)
class Scoring:
    """Systems that are about to be scored.

    Attributes
    ----------
    setup : Setup
    opened : sequence of System
        By run; most systems have one.
    names : sequence of str
        Of the systems, where they are compared; so are the following.
    groups : sequence of Runs
        The runs of each system.
    pairs : sequence of (system, baseline)
        By number.
    """

    setup: Setup
    opened: Sequence[System]
    names: Sequence[str] = ()
    groups: Sequence[tuple[int, ...]] = ()
    pairs: Sequence[tuple[int, int]] = ()

    @property
    def has_runs(self) -> bool:
        """Whether a system has several runs."""
        return len(self.opened) > len(self.groups) > 0


@dataclass(frozen=True)
class Outcome:
    """What came of scoring; extras add to it.

    Attributes
    ----------
    scoring : Scoring
    totals : sequence of Totals
        By run.
    results : tuple of Result
        By run.
    parts : sequence of (Task, sequence of parts)
        What the tasks of extras counted, by run.
    """

    scoring: Scoring
    totals: Sequence[Totals]
    results: tuple[Result, ...]
    parts: Sequence[tuple[Task, Sequence[Any]]] = ()

    @classmethod
    def of(cls, scoring: Scoring, totals: Sequence[Totals], tasks: Sequence[Task], first_rows: FirstRows) -> Outcome:
        """Finish totals by run, of which the last parts are those of the tasks of extras."""
        n = len(scoring.setup.program.tasks)
        own = [each.of_tasks(n) for each in totals] if tasks else totals
        parts = [(task, [each.parts[n + i] for each in totals]) for i, task in enumerate(tasks)]
        return cls(scoring, own, tuple(scoring.setup.results(scoring.opened, own, first_rows)), parts)

    def parts_of(self, task: Task) -> Sequence[Any]:
        """Return what a task of an extra counted, by run."""
        return next(parts for each, parts in self.parts if each is task)


class Extra:
    """Something that scoring does besides: `start` is called before, and `finish` after.

    Attributes
    ----------
    tasks : sequence of Task
        They count rows in addition to those of the program, from `start` on.
    observers : sequence of Observer
        They see the values of rows, from `start` on.
    """

    tasks: Sequence[Task] = ()
    observers: Sequence[Observer] = ()

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Make tasks and observers, and open files, which are completed or removed when `files` is closed."""

    def finish(self, outcome: Outcome) -> Outcome:
        """Write what was found, or return an outcome that has it."""
        return outcome
