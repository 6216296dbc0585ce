"""Score parts of the rows with any `concurrent.futures.Executor`, bit-identical to scoring in one process.

Uncompressed text is split at lines, npy and npz at any row, everything else only between files; a task opens
files where it runs, and reads its part. Rows in memory are sent with their task. A task returns errors in the
data as values, so that executors do not retry, and they are reported in the same words as in one process.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xmceval.errors import DataError, Fault, UsageError, XmcevalError, argument, as_here, counted
from xmceval.files.io.paths import RemotePath
from xmceval.files.io.streams import Stamp, pipe_key, size_of, stamp_of
from xmceval.rows.block import Block
from xmceval.rows.matrices.storage import Matrix
from xmceval.rows.progress import phase
from xmceval.rows.source import Lockstep, Repair, Source, as_shard, cut
from xmceval.rows.threads import COUNTED, Progress, as_error, run_alone
from xmceval.scoring.alignment import FirstRows
from xmceval.scoring.evaluate import BlockScratch, evaluate, rows_at_once, score_block, select_scores
from xmceval.scoring.options import recorded_options
from xmceval.scoring.setup.setup import OpenedSystem, Setup
from xmceval.scoring.totals import Totals, empty
from xmceval.version import VERSION

if TYPE_CHECKING:
    from xmceval.scoring.batch import JointRows

PART_BYTES = 1 << 26  # bytes that a task reads from all files
MARK_BYTES = 1 << 22  # bytes between two positions of a text file where reading may begin
MOST_WAITING = 256  # tasks submitted at a time: each carries the propensities of all labels

LocalFile = tuple[str, str, Stamp]  # its name in messages, its path, and its stamp in this process


@dataclass
class Shard:
    """A shard of an input, or the whole, and what is known of its rows before they are scored."""

    source: Source
    whole: Source  # the input with this shard
    n_rows: int
    marks: Sequence[Any]  # where reading of text may begin
    n_bytes: int
    files: Sequence[LocalFile]
    can_start: bool  # whether reading may begin at a mark, or at any row of a matrix

    def cut(self, before: int, start: int, stop: int) -> Source:
        """Return rows `start` to `stop` of the whole; earlier shards have `before` rows."""
        first = start - before
        mark = 0
        if first and self.can_start:
            mark = first
            if self.marks:
                mark = self.marks[bisect_right(self.marks, first, key=attrgetter("row")) - 1]
        return as_shard(cut(self.source, first, stop - before, mark), self.whole, before)


class Part(NamedTuple):
    """Rows that a task scores."""

    truth: Source
    systems: Sequence[OpenedSystem]
    files: Sequence[LocalFile]  # which it reads
    places: Sequence[int]  # the number of the shard with these rows, in the truth and in each system


class PartResult(NamedTuple):
    """The totals of a part of the rows, or its errors."""

    totals: Sequence[Totals] = ()  # by system
    joint: Sequence[JointRows] = ()
    first: Sequence[FirstRows] = ()
    removed: Sequence[int] = ()  # entries removed by each repair of the truth, then of the systems
    faults: Sequence[tuple[int, str, str]] = ()  # row, message, doubt
    error: DataError | None = None  # another error, after those rows


def evaluate_in_parts(
    executor: Executor,
    truth: Source,
    systems: Sequence[OpenedSystem],
    joint: Sequence[JointRows],
    *,
    first: list[FirstRows] | None,
    progress: Progress | None,
) -> list[Totals]:
    """Score systems on the same truth in tasks of an executor, whose workers see the files; see `evaluate`."""
    sources = [truth, *(system.scores for system in systems)]
    setup = systems[0].setup
    where = argument("executor")
    setup.program.check_mergeable(where)  # groups were refused when options were read
    if not all(rows.has_sums for rows in joint):
        raise UsageError(
            f"per-instance values are not available for {where}, as they stay where they are computed (hint: leave out "
            f"{argument('save_rows')} and {argument('test', 'randomization')}, or score in one process)"
        )
    for path in (path for source in sources for path in source.files):
        if pipe_key(path) is not None:
            raise DataError(f"{path}: workers cannot read a pipe (hint: save it to a file that all of them can see)")
    sharded = _find_shards(executor, [truth, *(select_scores(system.setup, system.scores) for system in systems)])
    n_rows = _agree_on_rows(sources, sharded, setup)
    if not n_rows:
        return evaluate(truth, systems, joint, first=first)
    for repair in _repairs_of(shard for source in sources for shard in source.parts):
        repair.removed = []  # of rows that were read before, such as for propensities
    totals = [empty(system.setup) for system in systems]
    no_rows = deepcopy(joint)
    faults = list[Fault]()
    error = None
    options = recorded_options(setup.options.changed())  # tasks receive no files or arrays
    lean = [
        replace(system, setup=replace(system.setup, options=options, inputs=(), labels=None, warnings=()))
        for system in systems
    ]
    calls = ((VERSION, no_rows, part) for part in _cut(sharded, lean))
    with phase("scoring in parts", n_rows) as add, closing(_run(executor, score_part, calls)) as results:
        for (_, _, part), result in results:
            faults += [Fault(*fault) for fault in result.faults]
            error = result.error
            if error is not None or len(faults) >= COUNTED:
                break
            n_scored = part.truth.n_rows
            add(n_scored)
            if progress is not None:
                progress(n_scored)
            if faults:
                continue
            totals = [one.merge(other) for one, other in zip(totals, result.totals, strict=True)]
            for sums, other in zip(joint, result.joint, strict=True):
                sums.absorb(other)
            if first is not None:
                first += result.first
            read = [shards[place].source for shards, place in zip(sharded, part.places, strict=True)]
            for repair, number in zip(_repairs_of(read), result.removed, strict=True):
                repair.removed.append(number)
    if faults:
        if any(shard.names for source in sources for shard in source.parts):
            evaluate(truth, systems)  # raises the same with names of queries, which tasks lack
        raise as_error(faults)
    if error is not None:
        raise error
    return totals


def _find_shards(executor: Executor, sources: Sequence[Source]) -> list[list[Shard]]:
    """Return the shards of each source with their numbers of rows; tasks count the rows of text files."""
    texts = [shard for source in sources for shard in source.parts if shard.mark_of is not None]
    calls = [(text, text.mark_of, _local_files(text)) for text in texts]
    counts: dict[int, tuple[int, Sequence[Any]]] = {}
    with phase("counting rows", len(texts)) as add, closing(_run(executor, count_rows, calls)) as results:
        for (text, _, _), result in results:
            if isinstance(result, DataError):
                raise result
            n_rows, marks, text.notes[:] = result
            counts[id(text)] = n_rows, marks
            add(1)

    def describe(whole: Source, shard: Source) -> Shard:
        n_bytes = sum(size_of(path) for path in shard.files)
        can_start = shard.can_start is not None and shard.can_start()
        if isinstance(shard.stored, Matrix):
            n_bytes = shard.stored.n_bytes
            can_start = True
        n_rows, marks = counts.get(id(shard), (shard.n_rows or 0, ()))
        return Shard(shard, whole, n_rows, marks, n_bytes, _local_files(shard), can_start)

    return [[describe(source, shard) for shard in source.parts] for source in sources]


def count_rows(
    text: Source, mark_of: Callable[[Block], Any], files: Sequence[LocalFile]
) -> tuple[int, list[Any], list[str]] | DataError:
    """Return the number of rows of a text file, marks to begin reading at, and warnings; or its error."""
    marks = list[Any]()
    n_rows = 0
    try:
        _check_files(files)
        for block in text.blocks():
            mark = mark_of(block)
            if not marks or mark.offset >= marks[-1].offset + MARK_BYTES:
                marks.append(mark)
            n_rows = block.first_row + block.n_rows
        _check_files(files)
    except DataError as error:
        return error
    return n_rows, marks, text.notes


def _local_files(source: Source) -> list[LocalFile]:
    """Return the local files of a source."""
    stamped = [(path, stamp_of(path)) for path in source.files if not isinstance(path, RemotePath)]
    return [(str(path), str(path.absolute()), stamp) for path, stamp in stamped if stamp is not None]


def _check_files(files: Sequence[LocalFile]) -> None:
    """Refuse files that differ where this task runs, or changed while it ran."""
    for name, place, stamp in files:
        path = Path(name)
        its_stamp = stamp_of(path)
        if str(path.absolute()) != place or its_stamp is None:
            raise DataError(
                f"{name}: a worker in {Path.cwd()} does not see this file (hint: pass its absolute path, on storage "
                "that all workers share)"
            )
        if its_stamp.n_bytes != stamp.n_bytes:
            raise DataError(
                f"{name}: has {counted(stamp.n_bytes, 'byte')}, but {its_stamp.n_bytes:,} where a worker sees it"
            )
        if its_stamp != stamp:
            raise DataError(
                f"{name}: has changed since it was opened, or is another copy where a worker sees it (hint: score "
                "again once nothing writes to it any more, on storage that all workers share)"
            )


def _agree_on_rows(sources: Sequence[Source], sharded: Sequence[list[Shard]], setup: Setup) -> int:
    """Return the number of rows, ignoring trailing blank lines of predictions."""
    numbers, *others = [[shard.n_rows for shard in shards] for shards in sharded]
    n_rows = sum(numbers)
    n_weights = None
    if setup.weights is not None:
        n_weights = setup.weights.size
    # The same rows in each shard, or other shards with as many rows in all.
    fit = [theirs == numbers or (len(theirs) != len(numbers) and sum(theirs) == n_rows) for theirs in others]
    if n_weights not in {None, n_rows} or not all(fit):
        for _ in Lockstep(sources[0], sources[1:], n_weights):  # raises unless the extra lines are blank
            pass
        for theirs, shards in zip(others, sharded[1:], strict=True):
            kept = numbers
            if len(theirs) != len(numbers):
                kept = np.diff(np.minimum(np.cumsum([0, *theirs]), n_rows)).tolist()
            for shard, number in zip(shards, kept, strict=True):
                shard.n_rows = number
    if setup.filter is not None:
        setup.filter.check_rows(n_rows, sources[0].name)
    return n_rows


def _cut(sharded: Sequence[Sequence[Shard]], systems: Sequence[OpenedSystem]) -> Iterator[Part]:
    """Yield parts of about PART_BYTES, each within a shard."""
    starts = [np.cumsum([0, *(shard.n_rows for shard in shards)]) for shards in sharded]
    for first, last in pairwise(np.unique(np.concatenate(starts)).tolist()):
        places = [int(np.searchsorted(of_source, first, side="right")) - 1 for of_source in starts]
        shards = [shards[place] for shards, place in zip(sharded, places, strict=True)]
        before = [int(of_source[place]) for of_source, place in zip(starts, places, strict=True)]
        n_bytes = sum(shard.n_bytes * (last - first) / shard.n_rows for shard in shards)
        n_parts = 1
        if all(shard.can_start for shard in shards):
            n_parts += int(n_bytes / PART_BYTES)
        for start, stop in pairwise(np.unique(np.linspace(first, last, n_parts + 1).astype(np.int64)).tolist()):
            truth, *scores = [shard.cut(n, start, stop) for shard, n in zip(shards, before, strict=True)]
            in_part = []
            for system, rows in zip(systems, scores, strict=True):
                setup = system.setup
                pairs = system.setup.filter
                if setup.weights is not None:
                    setup = replace(setup, weights=setup.weights[start:stop], weights_from=start)
                if pairs is not None:
                    of_rows, of_labels = pairs.between(start, stop)
                    setup = replace(setup, filter=replace(pairs, rows=of_rows, labels=of_labels))
                in_part.append(replace(system, scores=rows, setup=setup))
            yield Part(truth, in_part, [file for shard in shards for file in shard.files], places)


def _run(
    executor: Executor, task: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Generator[tuple[Any, Any], None, None]:
    """Yield the arguments and result of each call of a task, in order; cancel the rest when stopped early."""
    waiting = deque[tuple[tuple[Any, ...], Future[Any]]]()

    def take_first() -> tuple[Any, Any]:
        arguments, future = waiting.popleft()
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        # A task returns errors in the data as values, so an exception comes from the executor.
        if isinstance(error, Exception) and not isinstance(error, XmcevalError):
            raise _early_end(error) from error
        result = future.result()
        if not isinstance(result, (tuple, DataError)):
            raise _early_end(f"a task returned {result!r}")
        return arguments, result

    try:
        for arguments in calls:
            try:
                waiting.append((arguments, executor.submit(as_here(task), *arguments)))
            except (RuntimeError, OSError) as error:  # it was shut down, or lost its workers or connection
                raise _early_end(error) from error
            if len(waiting) == MOST_WAITING:
                yield take_first()
        while waiting:
            yield take_first()
    finally:
        for _, future in waiting:
            future.cancel()


def _early_end(reason: Exception | str) -> DataError:
    """Return the error for an executor that did not run all tasks."""
    return DataError(
        f"the executor ended before all rows were scored ({str(reason) or type(reason).__name__}); were its workers "
        "killed, or out of memory?"
    )


def score_part(version: str, joint: Sequence[JointRows], part: Part) -> PartResult:
    """Score the rows of a part in a task; return errors instead of raising them."""
    if version != VERSION:
        return PartResult(error=DataError(f"a worker has xmceval {VERSION}; this is {version}"))
    truth = part.truth
    systems = part.systems
    scores = [system.scores for system in systems]
    try:
        _check_files(part.files)
        joint = deepcopy(joint)  # threads of one process would share it
        totals = [empty(system.setup) for system in systems]
        steps = Lockstep(truth, scores, most_rows=rows_at_once([system.setup for system in systems]))
        first: list[FirstRows] = []

        def work(scratch: BlockScratch, blocks: tuple[Block, ...]) -> None:
            score_block(scratch, blocks, systems, totals, joint, first)

        faults, error = run_alone(iter(steps), BlockScratch.take, work)
        if not faults and error is None and steps.n_rows != truth.n_rows:
            error = DataError(f"{truth.name}: has changed since its rows were counted")
        _check_files(part.files)
    except DataError as problem:
        faults = []
        error = problem
    if faults or error is not None:
        ordered = sorted((fault.row, fault.message, fault.doubt) for fault in faults)
        return PartResult(faults=ordered[:COUNTED], error=error)
    removed = [repair.n_removed for repair in _repairs_of([truth, *scores])]
    return PartResult(totals, joint, first, removed)


def _repairs_of(sources: Iterable[Source]) -> list[Repair]:
    return [repair for source in sources for repair in source.repairs]
