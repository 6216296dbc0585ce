"""Run parts: tasks that score parts of rows, tell how far they are, and merge their results in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from xmceval.rows.faults import COUNTED
from xmceval.rows.progress import phase
from xmceval.rows.threads import Progress
from xmceval.scoring.partitions.parttasks import PartResult, merge_results, status_of_part

FAN_IN = 8  # results that one task merges


class Tasks(Protocol):
    """Runs functions somewhere, and runs them again where a worker is lost."""

    def check(self, paths: Sequence[Path]) -> None:
        """Refuse workers that cannot do the work."""

    @property
    def n_threads(self) -> int:
        """How many tasks run at the same time."""

    def submit(self, name: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task, whose arguments may be the results of others; return what stands for its result."""

    def results(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the places of tasks and their results as they come, in any order."""

    def result(self, task: Any) -> Any:
        """Wait for a result."""

    def cancel(self) -> None:
        """Stop all tasks."""


def run_parts(
    tasks: Tasks,
    job: Any,
    start: Callable[[Any], Sequence[Any]],
    name: str,
    n_rows: int | None = None,
    progress: Progress | None = None,
) -> PartResult:
    """Score parts and merge their results; with rows that are wrong, only until all that an error reports is known.

    Parameters
    ----------
    tasks : Tasks
    job : object
        What all parts share; it can be pickled.
    start : callable
        ``start(shared)`` starts one task for each part, given what stands for the job; there is at least one.
    name : str
        Of the parts, for progress.
    n_rows : int, optional
        Of all parts, where it is known.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    """
    shared = tasks.submit("xmceval-job", 0, _return, job)
    root, statuses = _submit(tasks, start(shared))
    done = dict[int, PartResult]()
    with phase(name, n_rows) as add:
        for number, status in tasks.results(statuses):
            add(status.n_rows)
            if progress is not None:
                progress(status.n_rows)
            done[number] = status
            if n_needed := _find_enough(done):
                return merge_results([done[i] for i in range(n_needed)])
    result: PartResult = tasks.result(root)
    return result


def _submit(tasks: Tasks, parts: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return the task of the merged result, and those of the status of each part; no result of a part is held."""
    statuses = [tasks.submit("xmceval-status", i, status_of_part, part) for i, part in enumerate(parts)]
    level, n_merges = list(parts), 0
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [tasks.submit("xmceval-merge", n_merges + i, merge_results, group) for i, group in enumerate(groups)]
        n_merges += len(level)
    return level[0], statuses


def _return(value: Any) -> Any:
    """Return a value: as the result of a task it is moved to each worker once, and made again if one is lost."""
    return value


def _find_enough(done: Mapping[int, PartResult]) -> int:
    """Return how many of the first parts have all that an error reports; 0 while that is not known."""
    n_faults = number = 0
    while number in done:
        status = done[number]
        n_faults, number = n_faults + len(status.faults), number + 1
        if status.error is not None or n_faults >= COUNTED:
            return number
    return 0
