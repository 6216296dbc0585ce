"""Parts: what a task does where it runs: score the rows of a part, or merge the results of some parts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

from xmceval.errors import DataError, Fault, XmcevalError
from xmceval.kernels import start_quickly
from xmceval.rows.block import Source
from xmceval.rows.faults import COUNTED, as_error
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import shards_of
from xmceval.rows.spans import Facts, SpanSource, is_in_memory, starting_at
from xmceval.rows.threads import run_alone
from xmceval.scoring.batch import Terms
from xmceval.scoring.evaluate import rows_at_once, select_scores
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.partitions.plan import Part
from xmceval.scoring.program import Program
from xmceval.scoring.system import System
from xmceval.scoring.worker import Worker
from xmceval.version import VERSION


@dataclass(frozen=True)
class Job:
    """What all parts share; it can be pickled.

    Attributes
    ----------
    program : Program
        What to compute.
    sources : sequence of sequence of Source or None
        The shards by source, the truth first; None for those in memory, whose rows go with each part.
    wholes : sequence of Facts
        By source: of what the shards are parts of.
    terms : sequence of Terms
        By system.
    observers : sequence of Observer
        Of no rows; each is a Mergeable.
    version : str
        Of xmceval.
    """

    program: Program
    sources: Sequence[Sequence[Source | None]]
    wholes: Sequence[Facts]
    terms: Sequence[Terms]
    observers: Sequence[Any]
    version: str


@dataclass(frozen=True)
class PartResult:
    """The totals of some rows, or what is wrong with them.

    Attributes
    ----------
    n_rows : int
    totals : tuple of Totals
        By system; of batches of Dask, the one SentState of their rows.
    observed : tuple of Mergeable
        The observers.
    removed : tuple of tuple of int
        By source and shard: entries that repairs removed.
    faults : tuple of (row, message, doubt)
        Rows that are wrong.
    error : XmcevalError, optional
        What else is wrong, after those rows; nothing is known of rows behind it.
    """

    n_rows: int
    totals: tuple[Any, ...] = ()
    observed: tuple[Any, ...] = ()
    removed: tuple[tuple[int, ...], ...] = ()
    faults: tuple[tuple[int, str, str], ...] = ()
    error: XmcevalError | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether there are no totals."""
        return bool(self.faults) or self.error is not None

    def check(self) -> None:
        """Raise what is wrong."""
        if self.faults:
            raise as_error([Fault(*each) for each in self.faults])
        if self.error is not None:
            raise self.error


def score_part(job: Job, part: Part, shards: Sequence[Source | None]) -> PartResult:
    """Score the rows of a part; what is wrong with them is returned, so that nobody tries again.

    Parameters
    ----------
    job : Job
    part : Part
    shards : sequence of Source or None
        By source: the rows themselves, where they come from memory.
    """
    if job.version != VERSION:
        problem = DataError(f"a worker has xmceval {VERSION}; expected {job.version}")
        return PartResult(part.n_rows, error=problem)
    start_quickly()
    program, opened = job.program, [_open(job, part, number, held) for number, held in enumerate(shards)]
    truth, *scores = (span for span, _ in opened)
    terms = [_terms_of(each, part) for each in job.terms]
    observers = deepcopy(job.observers)
    systems = [System(*each).begin(program) for each in zip(scores, terms, strict=True)]
    steps = Lockstep(truth, scores, most_rows=rows_at_once(program, systems))
    try:
        faults, error = run_alone(iter(steps), lambda: Worker(program, systems, observers), Worker.add)
    except DataError as problem:
        faults, error = [], problem
    if error is None and not faults and steps.n_rows != part.n_rows:
        error = DataError(f"{truth.name}: has changed since its rows were counted")
    if faults or error is not None:
        return PartResult(
            part.n_rows,
            faults=tuple(sorted((fault.row, fault.message, fault.doubt) for fault in faults)[:COUNTED]),
            error=error,
        )
    removed = tuple(_removed_from(job, part, number, source) for number, (_, source) in enumerate(opened))
    totals = tuple(system.totals for system in systems)
    return PartResult(part.n_rows, totals, tuple(observers), removed)


def merge_results(results: Sequence[PartResult]) -> PartResult:
    """Merge the results of some parts, in their order; or join what is wrong with them up to the first error."""
    if any(each.is_wrong for each in results):
        return reduce(_join_faults, results)
    try:
        return reduce(_merge, results)
    except XmcevalError as error:
        return PartResult(sum(each.n_rows for each in results), error=error)


def status_of_part(result: PartResult) -> PartResult:
    """Return the result of a part without totals: the rows, and what is wrong with them."""
    return PartResult(result.n_rows, faults=result.faults, error=result.error)


def _open(job: Job, part: Part, number: int, held: Source | None) -> tuple[Source, Source]:
    """Return the rows of a part as a source, and the shard that they are in."""
    place, whole = part.places[number], job.wholes[number]
    shard = held or starting_at(cast(Source, job.sources[number][place.shard]), place.start)
    read = shard if number == 0 else select_scores(job.program, job.terms[number - 1], shard)
    span = SpanSource(read, whole, part.first_row, part.stop_row, place.before)
    return span, shard


def _terms_of(terms: Terms, part: Part) -> Terms:
    """Return terms with the weights of some rows only."""
    if terms.weights is None:
        return terms
    return replace(terms, weights=terms.weights[part.first_row : part.stop_row], weights_from=part.first_row)


def _removed_from(job: Job, part: Part, number: int, source: Source) -> tuple[int, ...]:
    removed = [0] * len(job.sources[number])
    if isinstance(source, RepairedSource):
        removed[part.places[number].shard] = source.n_removed
    return tuple(removed)


def _merge(first: PartResult, second: PartResult) -> PartResult:
    return PartResult(
        first.n_rows + second.n_rows,
        tuple(one.merge(two) for one, two in zip(first.totals, second.totals, strict=True)),
        tuple(one.merge(two) for one, two in zip(first.observed, second.observed, strict=True)),
        tuple(
            tuple(a + b for a, b in zip(*pair, strict=True)) for pair in zip(first.removed, second.removed, strict=True)
        ),
    )


def _join_faults(first: PartResult, second: PartResult) -> PartResult:
    if first.error is not None:
        return replace(first, n_rows=first.n_rows + second.n_rows)
    faults = (*first.faults, *second.faults)[:COUNTED]
    return PartResult(first.n_rows + second.n_rows, faults=faults, error=second.error)


def make_job(
    truth: Source, scores: Sequence[Source], terms: Sequence[Terms], program: Program, observers: Sequence[Observer]
) -> Job:
    """Return what all parts share."""
    sources = [truth, *scores]
    return Job(
        program,
        [[None if is_in_memory(shard) else shard for shard in shards_of(each)] for each in sources],
        [Facts.of(each) for each in sources],
        list(terms),
        list(observers),
        VERSION,
    )
