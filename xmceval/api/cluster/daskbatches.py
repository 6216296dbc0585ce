"""Dask batches: collections of Dask whose rows are scored where they are, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from xmceval.api.cluster.dasktasks import DaskTasks, LazyTasks
from xmceval.api.cluster.runparts import run_parts
from xmceval.api.loops.updates import add_batch, begin_state
from xmceval.api.scoring.finishing import finish_state
from xmceval.errors import DataError, UsageError, XmcevalError, counted
from xmceval.report.result import Result
from xmceval.rows.matrices.arrays import as_array
from xmceval.rows.threads import Progress
from xmceval.scoring.options import Options
from xmceval.scoring.partitions.parttasks import PartResult
from xmceval.scoring.states.accumulator import Accumulator
from xmceval.scoring.states.state import State
from xmceval.scoring.totals import empty

NAME = "the batches"


class CollectionBatch(NamedTuple):
    """Rows that come as values of Dask: (truth, scores, weights), or a list of such; and those before them, if known.

    Attributes
    ----------
    rows : tuple of Delayed or array, or Delayed
        A Delayed is that of a list of tuples.
    before : int
        The rows before them.
    """

    rows: Any
    before: int = 0


@dataclass(frozen=True)
class SentState:
    """A state that goes to other processes as bytes, as files have it."""

    state: State

    def merge(self, other: SentState) -> SentState:
        """Return the state of the rows of both; see `State.merge`."""
        return SentState(self.state.merge(other.state))

    def __reduce__(self) -> tuple[Any, ...]:
        return _receive, (self.state.to_bytes(),)


def _receive(content: bytes) -> SentState:
    return SentState(State.from_bytes(content, NAME))


def kind_of(value: Any) -> str:
    """Return ``"array"``, ``"bag"`` or ``"delayed"`` for a collection of Dask or a list of them; else ``""``."""
    if isinstance(value, (list, tuple)):
        kinds = {kind_of(each) for each in value}
        return kinds.pop() if len(kinds) == 1 else ""
    module = str(getattr(type(value), "__module__", ""))
    kinds_by_module = {"dask.array": "array", "dask.bag": "bag", "dask.delayed": "delayed"}
    return next((kind for name, kind in kinds_by_module.items() if module.startswith(name)), "")


def score_batches(
    y_true: Any,
    y_score: Any,
    options: Options,
    *,
    client: Any = None,
    max_weight: float | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score collections of Dask; see `xmceval.distributed.score`."""
    if options.filter is not None:
        raise UsageError("filter: its pairs refer to rows by their number, which batches of Dask do not have")
    batches = _find_batches(y_true, y_score)
    weights, options = _take_weights(options)
    if weights is not None:
        max_weight = float(weights.max(initial=0.0)) if max_weight is None else max_weight
        batches = _with_weights(batches, weights)
    job = SentState(replace(begin_state(options, max_weight), name=NAME))
    tasks = LazyTasks() if client is None else DaskTasks(client)
    return finish_state(_score(tasks, job, batches, progress))


def _find_batches(y_true: Any, y_score: Any) -> list[CollectionBatch]:
    kinds = kind_of(y_true), kind_of(y_score)
    if kinds[0] == "bag":
        return _batches_of_bag(y_true, y_score)
    if kinds == ("delayed", "delayed"):
        truths, scores = _as_list(y_true), _as_list(y_score)
        if len(truths) != len(scores):
            raise UsageError(f"y_true has {counted(len(truths), 'batch')}, y_score has {len(scores):,}")
        return [CollectionBatch((*pair, None)) for pair in zip(truths, scores, strict=True)]
    if kinds[0] == "array" and kinds[1] == "array":
        return _batches_of_arrays(y_true, y_score)
    raise UsageError(
        "y_true and y_score must both be arrays of Dask, both bags, both lists of delayed, or files and matrices; got "
        f"{type(y_true).__name__} and {type(y_score).__name__}"
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _batches_of_bag(y_true: Any, y_score: Any) -> list[CollectionBatch]:
    """Take a bag of pairs, or of triples with weights; or two bags of as many elements."""
    bag = y_true
    if y_score is not None:
        import dask.bag

        if kind_of(y_score) != "bag":
            raise UsageError(
                f"y_true is a bag of Dask, but y_score a {type(y_score).__name__}; expected both, or pairs"
            )
        if y_true.npartitions != y_score.npartitions:
            raise UsageError(
                f"y_true has {counted(y_true.npartitions, 'partition')}, y_score has {y_score.npartitions:,}"
            )
        bag = dask.bag.zip(y_true, y_score)
    return [CollectionBatch(partition) for partition in bag.to_delayed()]


def _batches_of_arrays(y_true: Any, y_score: Any) -> list[CollectionBatch]:
    """Take arrays in chunks of the same rows, each with all columns; the scores may be a pair of arrays."""
    arrays = [y_true, *(y_score if isinstance(y_score, (list, tuple)) else [y_score])]
    for array in arrays:
        if array.ndim != 2:
            raise UsageError(f"arrays of Dask must have two dimensions, got {array.ndim}")
    arrays = [array.rechunk({1: -1}) if array.numblocks[1] > 1 else array for array in arrays]
    rows = arrays[0].chunks[0]
    are_known = not any(np.isnan(size) for array in arrays for size in array.chunks[0])
    if are_known:
        sizes = [int(array.shape[0]) for array in arrays]
        if len(set(sizes)) > 1:
            raise DataError(f"y_true has {counted(sizes[0], 'row')}, y_score has {counted(sizes[-1], 'row')}")
        arrays = [array if array.chunks[0] == rows else array.rechunk({0: rows}) for array in arrays]
    elif len({array.numblocks[0] for array in arrays}) > 1:
        raise UsageError("the chunks of y_true and y_score are not of the same rows (hint: rechunk one of them)")
    columns = [array.to_delayed().ravel().tolist() for array in arrays]
    starts = np.cumsum([0, *rows[:-1]]).astype(int).tolist() if are_known else [0] * len(rows)
    pairs = zip(*columns, strict=True)
    return [
        CollectionBatch((truth, scores[0] if len(scores) == 1 else tuple(scores), None), start)
        for (truth, *scores), start in zip(pairs, starts, strict=True)
    ]


def _take_weights(options: Options) -> tuple[Any, Options]:
    """Take the weights of all rows out of the options; batches have their own."""
    if options.sample_weight is None:
        return None, options
    values = options.sample_weight
    array = as_array(values.compute() if kind_of(values) == "array" else values, "sample_weight")
    rest = {name: getattr(options, name) for name in Options.__dataclass_fields__}
    return array.astype(np.float64), Options(**{**rest, "sample_weight": ()})


def _with_weights(batches: Sequence[CollectionBatch], weights: Any) -> list[CollectionBatch]:
    starts = [batch.before for batch in batches]
    if (len(batches) > 1 and not any(starts)) or not all(isinstance(batch.rows, tuple) for batch in batches):
        raise UsageError(
            "sample_weight needs arrays of Dask with known numbers of rows (hint: bags may have triples of truth, "
            "scores and weights, with max_weight)"
        )
    stops = [*starts[1:], weights.size]
    return [
        CollectionBatch((*batch.rows[:2], weights[start:stop]), start)
        for batch, start, stop in zip(batches, starts, stops, strict=True)
    ]


def _score(
    tasks: DaskTasks | LazyTasks, job: SentState, batches: Sequence[CollectionBatch], progress: Progress | None
) -> State:
    """Score all batches, and merge their states."""
    import dask

    if not batches:
        raise UsageError("there is no batch")
    token, score = uuid4().hex[:8], dask.delayed(score_collection_batch, pure=False)

    def start(shared: Any) -> list[Any]:
        return tasks.compute(
            [
                score(shared, batch.rows, number, batch.before, dask_key_name=(f"xmceval-score-{token}", number))
                for number, batch in enumerate(batches)
            ]
        )

    tasks.check([])
    try:
        result = run_parts(tasks, job, start, counted(len(batches), "batch"), progress=progress)
    finally:
        tasks.cancel()
    result.check()
    sent: SentState = result.totals[0]
    return sent.state


def score_collection_batch(job: SentState, rows: Any, number: int, rows_before: int) -> PartResult:
    """Score a batch, or a list of them; what is wrong with one is returned, so that nobody tries again."""
    state = job.state
    try:
        accumulator = Accumulator(replace(state, totals=empty(state.program, state.terms)), threads=1)
        is_one = isinstance(rows, tuple)
        for i, batch in enumerate([rows] if is_one else rows, start=1):
            first_row = rows_before + accumulator.n_rows
            add_batch(accumulator, *_check_batch(batch), number=number + 1 if is_one else i, first_row=first_row)
    except XmcevalError as error:
        place = "" if isinstance(rows, tuple) else f"partition {number + 1}: "
        return PartResult(0, error=type(error)(*f"{place}{error}".split("\n")))
    state = accumulator.state
    return PartResult(state.n_rows, (SentState(state),))


def _check_batch(batch: Any) -> tuple[Any, Any, Any]:
    if isinstance(batch, Mapping) or not isinstance(batch, (tuple, list)) or len(batch) not in {2, 3}:
        raise UsageError(
            f"expected batches (y_true, y_score) or (y_true, y_score, weights), got {type(batch).__name__}"
        )
    y_true, y_score, weights = (*batch, None)[:3]
    return y_true, y_score, weights
