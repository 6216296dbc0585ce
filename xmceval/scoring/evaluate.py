"""The conductor: blocks of truth and scores, row for row, through the kernels into totals, in threads."""

from __future__ import annotations

from dataclasses import replace

from xmceval.errors import DataError, counted
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Block, Source
from xmceval.rows.lockstep import Pairs
from xmceval.rows.threads import Progress, each_block
from xmceval.rows.width import Width
from xmceval.scoring.labelwise import LabelCounters
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Totals, empty, merge
from xmceval.scoring.worker import Terms, Worker


def evaluate(
    truth: Source,
    scores: Source,
    program: Program,
    propensities: Propensities | None,
    *,
    width: Width,
    threads: int | None = None,
    terms: Terms | None = None,
    progress: Progress | None = None,
) -> tuple[Totals, int]:
    """Score one system: return the totals, and the largest label seen + 1.

    Parameters
    ----------
    truth, scores : Source
        Matrices of the same rows.
    program : Program
        What to compute.
    propensities : Propensities, optional
        Needed where the program needs them.
    width : Width
        The number of labels, as far as it is known.
    threads : int, optional
        Default: one per processor.
    terms : Terms, optional
        Sample weights, and how rows without truth and labels without a score count.
    progress : callable, optional
        Is told now and then how many rows are done.

    Raises
    ------
    DataError
        Anything wrong with a row of either matrix, or different numbers of rows.
    """
    terms = terms or Terms()
    pairs = Pairs(truth, scores, None if terms.weights is None else terms.weights.size)
    rows_width = None if scores.n_labels in {None, width.n_labels} else scores.n_labels
    if rows_width is not None and rows_width > width.n_labels:
        raise DataError(
            f"{scores.name} announces {counted(rows_width, 'label')}, "
            f"but {width.said_by} {counted(width.n_labels, 'label')}"
        )
    workers: list[Worker] = []
    counters = tuple(
        LabelCounters(width.n_labels, max(part.cutoffs.size, 1), reach=part.reach, weighted=terms.weights is not None)
        for part in program.labelwise
    )

    def start() -> Worker:
        worker = Worker(program, propensities, width, terms, counters)
        workers.append(worker)
        return worker

    def work(worker: Worker, item: tuple[Block, Block]) -> None:
        worker.add(*item, rows_width, f"{scores.name} announces {rows_width} columns, {truth.name} {width.n_labels}")
        if progress is not None:
            progress(item[0].n_rows)

    each_block(iter(pairs), start, work, threads, all_faults=True)
    if terms.filter is not None:
        terms.filter.check_rows(pairs.n_rows, truth.name)
    totals = empty(program, 0 if terms.bins is None else len(terms.bins))
    for worker in workers:
        totals = merge(totals, worker.totals)
    totals = replace(totals, labels=tuple(each.totals() for each in counters))
    return totals, max((worker.n_labels for worker in workers), default=0)
