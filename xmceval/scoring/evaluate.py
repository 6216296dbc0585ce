"""Evaluate: blocks of the truth and of systems, in step and in threads, through workers into totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xmceval.errors import DataError, counted
from xmceval.rows.block import Block, Source
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.progress import phase
from xmceval.rows.threads import Progress, each_block
from xmceval.scoring.batch import Terms
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Totals, empty
from xmceval.scoring.worker import Run, Worker

MOST_NUMBERS = 1 << 20  # that the rows of a block are ranked and valued with: 8 MiB per thread
MANY_PREDICTIONS = 100  # per row: with so many, one prediction for every label but one is likelier a wrong header


@dataclass(frozen=True)
class System:
    """The scores of one system, and on what terms they are scored."""

    scores: Source
    terms: Terms


def evaluate(
    truth: Source,
    systems: Sequence[System],
    program: Program,
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
    program : Program
        What to compute.
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

    Raises
    ------
    DataError
        Anything wrong with a row, or different numbers of rows.
    """
    runs, sources = [], list[Source]()
    for system in systems:
        terms = with_row_length(truth, system)
        sources.append(select_scores(program, terms, system.scores))
        runs.append(Run(terms, empty(program, terms)))
    first = systems[0].terms
    n_weights = None if first.weights is None else first.weights.size
    steps = Lockstep(truth, sources, n_weights, most_rows=rows_at_once(program, runs))

    def work(worker: Worker, blocks: tuple[Block, ...]) -> None:
        n_rows = blocks[0].n_rows
        worker.add(blocks)
        add(n_rows)
        if progress is not None:
            progress(n_rows)

    name = systems[0].scores.name if len(systems) == 1 else counted(len(systems), "system")
    with phase(name, truth.n_rows) as add:
        each_block(iter(steps), lambda: Worker(program, runs, observers), work, threads, all_faults=True)
    if first.filter is not None:
        first.filter.check_rows(steps.n_rows, truth.name)
    return [run.totals for run in runs]


def select_scores(program: Program, terms: Terms, scores: Source) -> Source:
    """Return dense scores as a source that selects those that count, where all metrics are at cutoffs."""
    if program.needs_scores or terms.filter is not None or not isinstance(scores, MatrixSource):
        return scores
    return scores.selecting(program.deepest + 1)


def rows_at_once(program: Program, runs: Sequence[Run]) -> int:
    """Return how many rows make MOST_NUMBERS numbers: those of a ranking, and those of the task with the most."""
    most = max((n for run in runs for n in program.numbers_per_row(run.terms)), default=0)
    return max(MOST_NUMBERS // (2 * (program.deepest + 1) + most), 1)


def doubt_header(truth: Source, system: System, totals: Totals) -> Iterator[str]:
    """Warn of a second number in a header that was read as predictions per row, but is hardly that."""
    scores, width, longest = system.scores, system.terms.width, totals.tally.longest_row
    columns = scores.n_labels
    if columns is None or not width.is_known or columns >= width.n_labels:
        return
    is_unused = longest < columns and 2 * columns > width.n_labels
    if is_unused or columns == width.n_labels - 1 >= MANY_PREDICTIONS:
        yield (
            f"{scores.name} declares {columns:,} columns, {truth.name} {counted(width.n_labels, 'label')}, and the "
            f"longest row has {counted(longest, 'prediction')}: do they belong to the same data set?"
        )


def with_row_length(truth: Source, system: System) -> Terms:
    """Add the longest row, where the second number of a header can only be that: `rows k`."""
    scores, width = system.scores, system.terms.width
    if scores.n_labels in {None, width.n_labels}:
        return system.terms
    n_columns = scores.n_labels or 0
    if n_columns > width.n_labels:
        raise DataError(f"{scores.name} declares {counted(n_columns, 'label')}, but {width}")
    declaration = f"{scores.name} declares {n_columns} columns, {truth.name} {width.n_labels}"
    return replace(system.terms, longest_row=n_columns, declaration=declaration)
