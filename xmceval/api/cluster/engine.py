"""Engine: rows scored in parts by tasks that run anywhere, with the totals, faults and bits of one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xmceval.api.cluster.runparts import Tasks, run_parts
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.byteranges import (
    check_end,
    count_range,
    extent_of,
    list_files,
    range_bytes,
    ranges_of,
)
from xmceval.rows.block import Source
from xmceval.rows.progress import phase
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import shards_of
from xmceval.rows.spans import Facts, SpanSource, core_of, is_in_memory, starting_at
from xmceval.rows.threads import Progress
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.mergeable import Mergeable
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.partitions.parttasks import Job, PartResult, make_job, score_part
from xmceval.scoring.partitions.plan import Part, ShardedRows, check_rows, make_parts
from xmceval.scoring.program import Program
from xmceval.scoring.system import System
from xmceval.scoring.totals import Totals


class Engine:
    """Scores systems by tasks, as `evaluate` does in this process.

    Parameters
    ----------
    tasks : Tasks
    part_bytes : int, optional
        About how many bytes of all files a task reads.
    """

    def __init__(self, tasks: Tasks, part_bytes: int | None = None) -> None:
        self._tasks, self._part_bytes = tasks, part_bytes

    def __call__(
        self,
        truth: Source,
        systems: Sequence[System],
        program: Program,
        *,
        observers: Sequence[Observer] = (),
        threads: int | None = None,  # noqa: ARG002 - the workers have their own
        progress: Progress | None = None,
    ) -> list[Totals]:
        """Return the totals of each system; see `evaluate`."""
        program.check_mergeable("Dask")
        if systems[0].terms.groups is not None:
            raise UsageError(f"{argument('by_group')} is not available for Dask (hint: score files in one process)")
        _check_observers(observers)
        sources = [truth, *(system.scores for system in systems)]
        terms = [system.terms for system in systems]
        shards = [shard for source in sources for shard in shards_of(source)]
        self._tasks.check(list(list_files(shards)))
        try:
            sharded = self._count(sources)
            self._check_sizes(sharded, terms)
            parts = make_parts(sharded, self._tasks.n_threads, self._part_bytes)
            if not parts:
                return evaluate(truth, systems, program, observers=observers)
            job = make_job(truth, sources[1:], terms, program, observers)
            result = self._score(job, parts, sharded, progress)
        finally:
            self._tasks.cancel()
        result.check()
        return _take(result, sources, observers)

    def _count(self, sources: Sequence[Source]) -> list[ShardedRows]:
        """Count the rows of all shards, in ranges of bytes."""
        shards = [shard for source in sources for shard in shards_of(source)]
        n_bytes = range_bytes(shards)
        ranges = [(shard, span) for shard in shards for span in ranges_of(shard, n_bytes)]
        tasks = [
            self._tasks.submit("xmceval-count", i, count_range, core_of(shard), *span)
            for i, (shard, span) in enumerate(ranges)
        ]
        found = dict[int, Any]()
        with phase("counting rows", len(tasks), "ranges") as add:
            for place, counts in self._tasks.results(tasks):
                found[place] = counts
                add(1)
        counted_by: dict[int, list[Any]] = {}
        for place, (shard, _) in enumerate(ranges):
            counted_by.setdefault(id(shard), []).append(found[place])
        extents = {id(shard): check_end(shard, extent_of(shard, counted_by.get(id(shard), []))) for shard in shards}
        sharded = [ShardedRows(source, [extents[id(shard)] for shard in shards_of(source)]) for source in sources]
        return [sharded[0], *(_without_blanks(sharded[0], rows) for rows in sharded[1:])]

    def _check_sizes(self, sharded: Sequence[ShardedRows], terms: Sequence[Any]) -> None:
        check_rows(sharded)
        truth, weights, pairs = sharded[0], terms[0].weights, terms[0].filter
        if weights is not None and weights.size != truth.n_rows:
            raise DataError(
                f"there are {counted(weights.size, 'sample weight')} for {counted(truth.n_rows, 'row')}; "
                "expected one per row"
            )
        if pairs is not None:
            pairs.check_rows(truth.n_rows, truth.source.name)

    def _score(
        self, job: Job, parts: Sequence[Part], sharded: Sequence[ShardedRows], progress: Progress | None
    ) -> PartResult:
        """Score all parts, and merge their results."""

        def start(shared: Any) -> list[Any]:
            rows = (_rows_in_memory(part, sharded) for part in parts)
            arguments = zip(parts, rows, strict=True)
            return [
                self._tasks.submit("xmceval-score", part.number, score_part, shared, part, held)
                for part, held in arguments
            ]

        return run_parts(self._tasks, job, start, counted(len(parts), "part"), sharded[0].n_rows, progress)


def _check_observers(observers: Sequence[Observer]) -> None:
    """Refuse observers that hold rows."""
    if not all(isinstance(each, Mergeable) for each in observers):
        raise UsageError(
            "per-instance values are not available with Dask, as they stay on the workers (hint: leave out "
            f"{argument('save_rows')} and {argument('test', 'randomization')}, or score in one process)"
        )


def _without_blanks(truth: ShardedRows, system: ShardedRows) -> ShardedRows:
    """Leave out blank lines at the end of predictions without a header, beyond the rows of the truth."""
    n_surplus, last = system.n_rows - truth.n_rows, len(system.extents) - 1
    shard = shards_of(system.source)[last]
    is_paired = len(truth.extents) == len(system.extents)
    if is_paired:
        n_surplus = system.extents[last].n_rows - truth.extents[last].n_rows
    if n_surplus <= 0 or shard.n_rows is not None or is_in_memory(shard):
        return system
    extent = system.extents[last]
    first = extent.n_rows - n_surplus
    if first < 0:
        return system
    rest = SpanSource(starting_at(shard, extent.start_before(first)), Facts.of(shard), first, extent.n_rows)
    filled = max((block.first_row + at for block in rest.blocks() if (at := block.blank_from())), default=first)
    return replace(system, extents=[*system.extents[:last], extent._replace(n_rows=filled)])


def _rows_in_memory(part: Part, sharded: Sequence[ShardedRows]) -> list[Source | None]:
    """Return the rows of a part by source, where they are in memory."""
    held = list[Source | None]()
    for place, rows in zip(part.places, sharded, strict=True):
        shard: Any = shards_of(rows.source)[place.shard]
        span = part.first_row - place.before, part.stop_row - place.before
        held.append(shard.sliced(*span) if is_in_memory(shard) else None)
    return held


def _take(result: PartResult, sources: Sequence[Source], observers: Sequence[Any]) -> list[Totals]:
    """Give observers and sources what was found for them, and return the totals."""
    for observer, observed in zip(observers, result.observed, strict=True):
        observer.absorb(observed)
    for source, removed in zip(sources, result.removed, strict=True):
        for shard, number in zip(shards_of(source), removed, strict=True):
            if isinstance(shard, RepairedSource):
                shard.count_removed(number)
    return list(result.totals)
