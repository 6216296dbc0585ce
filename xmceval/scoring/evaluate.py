"""Evaluate: blocks of the truth and of systems, in step and in threads, through workers into totals."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.errors import counted
from xmceval.rows.block import Block, Source
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.progress import phase
from xmceval.rows.threads import Progress, each_block
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.setup import Setup
from xmceval.scoring.system import System
from xmceval.scoring.totals import Totals, empty
from xmceval.scoring.worker import Worker

MOST_NUMBERS = 1 << 20  # that the rows of a block are ranked and valued with: 8 MiB per thread


def evaluate(
    truth: Source,
    systems: Sequence[System],
    *,
    observers: Sequence[Observer] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Totals]:
    """Score systems on the same truth, which is read once.

    Parameters
    ----------
    truth : Source
    systems : sequence of System
        Of the same rows, weights and filter; each may have a width of its own where the truth has none.
    observers : sequence of Observer
        See the values of rows of all systems.
    threads : int, optional
        Default: one per processor.
    progress : callable, optional
        Called with a number of rows each time that many more are done.

    Returns
    -------
    list of Totals
        One per system; the same bits as if each were scored alone.
    """
    totals = [empty(system.setup) for system in systems]
    sources = [select_scores(system.setup, system.scores) for system in systems]
    first = systems[0].setup
    n_weights = None if first.weights is None else first.weights.size
    steps = Lockstep(truth, sources, n_weights, most_rows=rows_at_once([system.setup for system in systems]))
    workers: list[Worker] = []

    def start() -> Worker:
        workers.append(Worker(systems, totals, observers))
        return workers[-1]

    def work(worker: Worker, blocks: tuple[Block, ...]) -> None:
        n_rows = blocks[0].n_rows
        worker.add(blocks)
        add(n_rows)
        if progress is not None:
            progress(n_rows)

    name = systems[0].scores.name if len(systems) == 1 else counted(len(systems), "system")
    with phase(name, truth.n_rows) as add:
        each_block(iter(steps), start, work, threads, all_faults=True)
    for worker in workers:
        worker.close()
    if first.filter is not None:
        first.filter.check_rows(steps.n_rows, truth.name)
    if first.groups is not None:
        first.groups.check_number(steps.n_rows)
    return totals


def select_scores(setup: Setup, scores: Source) -> Source:
    """Return dense scores as a source that selects those that count, where all metrics are at cutoffs."""
    program = setup.program
    if program.needs_scores or setup.filter is not None or not isinstance(scores, MatrixSource):
        return scores
    return scores.selecting(program.deepest + 1)


def rows_at_once(setups: Sequence[Setup]) -> int:
    """Return how many rows make MOST_NUMBERS numbers: those of a ranking, and those of the task with the most."""
    most = max([task.numbers_per_row(setup) for setup in setups for task in setup.program.row_tasks], default=0)
    return max(MOST_NUMBERS // (2 * (setups[0].program.deepest + 1) + most), 1)
