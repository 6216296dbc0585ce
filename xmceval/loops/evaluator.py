"""The Evaluator class, which scores rows batch by batch, in a loop or on several machines.

Examples for training loops and other libraries: ``xmceval guide loops``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from xmceval.api.score import finish_state
from xmceval.api.types import MatrixLike
from xmceval.errors import DataError, Fault, UsageError, counted, describe_type, warn
from xmceval.files.io.paths import to_path
from xmceval.files.io.write import write_output
from xmceval.files.ranking.queries import QuerySource
from xmceval.files.shards import check_files, find_shards
from xmceval.files.sidecars.values import Names, read_names
from xmceval.report.result import Result
from xmceval.rows.block import Block, Float64
from xmceval.rows.filters import Filter
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.matrices.source import check_narrow, open_pair
from xmceval.rows.names import EARLIER, Axis, first_named
from xmceval.rows.source import Lockstep, Source, agreed_width, as_batch, declared_width
from xmceval.rows.threads import as_error, each_block
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import (
    BlockScratch,
    add_batch,
    check_truth,
    compute_batch,
    depth_of,
    make_batch,
    rows_at_once,
    score_block,
    select_scores,
    whole_blocks,
)
from xmceval.scoring.options import SOURCES, Options, recorded_options, refuse_unknown, specs
from xmceval.scoring.setup import inputs
from xmceval.scoring.setup.joins import KnownLabels, check_numbers
from xmceval.scoring.setup.resolve import count_scored_labels, resolve_inputs
from xmceval.scoring.setup.setup import OpenedSystem, Setup
from xmceval.scoring.setup.truth import find_setup
from xmceval.scoring.state import State, each_once
from xmceval.scoring.state_file import load_state, pack_state, unpack_state
from xmceval.scoring.totals import Totals, empty
from xmceval.version import VERSION

WHAT = "Evaluator"
NAME = "this Evaluator"  # the class and an instance, in messages
OF_FILES = frozenset({"max_line", "row_ids", "missing", "sample_weight", "unknown_labels"})  # options not for loops


class Evaluator:
    """Score predictions batch by batch: bit-identical to one `score` over all rows, in constant memory.

    Batches may have any number of rows. Rows and labels that both inputs name are joined by name, as in
    `score`; labels take the order of the first batch that names them. Threads may share an Evaluator, which
    adds one batch at a time.

    Parameters
    ----------
    metrics : str or iterable of str
        Names such as ``"P"``, ``"P,nDCG@1,3"``; default P, nDCG, PSP and PSnDCG. Metrics that need all rows at once,
        such as macroAUC, are refused.
    k : int, str or iterable of int, optional
        Cutoffs for metrics that do not name their own; default as in `score`.
    n_labels : int, optional
        The number of labels; default the number in the first batch.
    train, counts, n_train, inverse_propensities : optional
        As in `score`. PSP and its family, and `by_frequency`, need one of these: nothing is estimated from
        batches.
    max_weight : float, optional
        Upper bound on the sample weights, which is the scale of exact sums; every batch then needs weights.
        Values are bit-identical to `score` if the largest actual weight lies between the same powers
        of two.
    threads : int, optional
        For batches of more than about 130,000 entries; default one per processor.
    **options
        Any other option of `score`, except those that apply only to files or whole matrices: max_line,
        sample_weight. The rows of a filter are counted over all batches, from 0. Saved files do not contain the
        pairs of a filter, so that no rows can be added after loading.

    Raises
    ------
    UsageError
        An invalid argument, metrics that cannot be merged, or metrics that need propensities without a source
        for them.
    TypeError
        An unknown option.
    DataError
        Invalid training labels, counts or pairs.

    See Also
    --------
    score : Score all rows at once.
    merge : Combine shards and saved states.

    Examples
    --------
    The same works with PyTorch tensors on any device:

    >>> import numpy as np
    >>> from xmceval import Evaluator
    >>> evaluator = Evaluator(metrics=["P", "R"], k=1)
    >>> loader = [
    ...     (np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]])),
    ...     (np.array([[0, 1, 0]]), np.array([[0.2, 0.7, 0.4]])),
    ... ]
    >>> for y_true, y_score in loader:
    ...     evaluator.update(y_true, y_score)
    >>> result = evaluator.result()
    >>> result["P@1"], result["R@1"]
    (1.0, 0.75)

    ``xmceval guide loops`` has loops in PyTorch, also with several processes, Lightning, Hugging Face,
    Keras, scikit-learn and torchmetrics.
    """

    def __init__(
        self,
        *,
        metrics: str | Iterable[str] | None = None,
        k: int | str | Iterable[int | str] | None = None,
        n_labels: int | None = None,
        train: MatrixLike | None = None,
        counts: ArrayLike | str | Path | None = None,
        n_train: int | None = None,
        inverse_propensities: ArrayLike | str | Path | None = None,
        max_weight: float | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown("Evaluator", options, [*(specs().keys() - OF_FILES), "max_weight"])
        weights = None if max_weight is None else ()  # recorded as an array, as in `score`
        chosen = Options(
            metrics=metrics,
            k=k,
            n_labels=n_labels,
            train=train,
            counts=counts,
            n_train=n_train,
            inverse_propensities=inverse_propensities,
            threads=threads,
            sample_weight=weights,
            **options,
        )
        train = resolve_inputs(None, (), chosen).train
        program = compile_program(chosen.measures)
        chosen.refuse_groups(WHAT)
        program.check_mergeable(WHAT)
        program.check_ties(chosen.ties)
        if chosen.needs_sources:
            raise UsageError(
                f"{chosen.needs_sources} {', '.join(SOURCES[:-1])} or {SOURCES[-1]}: an {WHAT} never estimates "
                "propensities from batches (hint: pass one of them, or other metrics)"
            )
        names = None
        if chosen.labels is not None:
            names = read_names(chosen.labels)
        setup = find_setup(chosen, program, train, KnownLabels(listed=names), weights=weights, max_weight=max_weight)
        if names is not None:
            setup = replace(setup, labels=names.axis)
        if setup.width.is_known:
            setup = setup.with_width(setup.width)
        setup = replace(setup, options=recorded_options(chosen.changed()))
        self._begin(State(NAME, setup, empty(setup), max_weight=max_weight), threads)

    @classmethod
    def _of(cls, state: State, threads: int | None) -> Evaluator:
        evaluator = cls.__new__(cls)
        evaluator._begin(state, threads)
        return evaluator

    def _begin(self, state: State, threads: int | None) -> None:
        self._threads = threads
        self._lock = threading.RLock()
        self._scratch = BlockScratch.take()
        self._n_batches = 0
        self._take(state)

    def _take(self, state: State) -> None:
        """Continue from another state with the same configuration."""
        self._base: State = state  # how rows are scored; its totals and rows are those when it was taken
        self._totals = state.totals  # of all rows
        self._n_rows = state.n_rows
        self._is_torn = False  # whether a batch was counted in part
        self._is_first = True  # whether no batch has been added to it
        self._most_rows = rows_at_once([state.setup])  # in a block
        self._names: Names | None = None
        labels = state.setup.labels
        if labels is not None and state.setup.options.labels is not None:
            self._names = Names.of(labels.listed)

    @property
    def _state(self) -> State:
        """The state of all rows."""
        with self._lock:
            self._check_whole()
            return replace(self._base, totals=self._totals, n_rows=self._n_rows)

    def _check_whole(self) -> None:
        if self._is_torn:
            raise UsageError("an interrupt left a batch counted in part; the totals are lost (hint: call reset)")

    def update(self, y_true: MatrixLike, y_score: MatrixLike, sample_weight: ArrayLike | None = None) -> None:
        """Add a batch of rows; after an error no part of it has been added.

        Parameters
        ----------
        y_true : sparse matrix, array, tensor or lists [n_rows, n_labels]
            As in `score`, but not a path. Lists are the ids of each row's labels; pass `n_labels` with them.
        y_score : sparse matrix, array, tensor, pair or lists [n_rows, n_labels]
            As in `score`, but not a path: dense logits, even if they require grad or are on another device, or
            the result of ``logits.topk(100)``.
        sample_weight : array of float [n_rows]
            Weights from 0 to `max_weight`, only allowed and then required if that was passed.

        Raises
        ------
        DataError
            Invalid data; the message has the batch, counted from 1, and the row, counted from 0. Or a number of
            labels, or label names, that differ from earlier batches.
        UsageError
            A path, grades or scores by query and document, or weights without `max_weight`.
        """
        with self._lock:
            self._check_whole()
            setup = self._base.setup
            pair = None
            if self._is_first:
                _check_growing(self._base)
            if self._n_rows and setup.labels is None and setup.options.duplicates == "error":  # as in earlier batches
                n_labels = setup.width.or_none
                pair = open_pair(y_true, y_score, n_labels, has_grades=setup.has_grades, depth=depth_of(setup))
            if pair is None:
                self._add_named(y_true, y_score, sample_weight)
            else:
                self._add(*pair, self._read_weights(sample_weight, pair[0]), setup)
            self._n_batches += 1

    def _add_named(self, y_true: Any, y_score: Any, sample_weight: Any) -> None:
        """Add a batch whose rows or labels may have names, and remember the names for later batches."""
        setup = self._base.setup
        for name, matrix, noun in (("y_true", y_true, "grade"), ("y_score", y_score, "score")):
            if isinstance(matrix, (str, Path)):
                raise UsageError(f"{name} is a path; an {WHAT} takes matrices (hint: xmceval.score takes files)")
            stored = inputs.find_stored(matrix, name, noun)
            if isinstance(stored, QuerySource):
                raise UsageError(
                    f"{name} has {noun}s by query and document, which each batch would number anew; an {WHAT} takes "
                    "matrices (hint: gather the batches in two dicts, with qrels.update(...) and run.update(...), and "
                    "pass these to xmceval.score)"
                )
            if stored is not None:
                raise UsageError(
                    f"{name} is a table; an {WHAT} takes matrices (hint: pass whole tables to xmceval.score)"
                )
        unnamed = ""
        if setup.labels_by == "position":
            unnamed = EARLIER
        known = KnownLabels(
            setup.width,
            self._names,
            axis=setup.labels,
            unnamed=unnamed,
            n_columns=count_scored_labels([y_score]),
        )
        truth = inputs.open_truth(find_shards(y_true), setup.options, known)
        known = known.after(truth)
        if not known.width.is_known:
            known = replace(known, width=declared_width(truth.source))
        scores = inputs.open_scores(find_shards(y_score, are_scores=True), truth, setup.options, known)
        check_numbers(self._names, truth, scores)
        weights = self._read_weights(sample_weight, truth.source, truth.rows, scores.rows)
        labels = known.named_by(scores.labels).named_axis
        if labels is not None and setup.labels is None:
            setup = replace(setup, labels=replace(labels, source=EARLIER))
        is_unnamed = self._names is None and not truth.names_labels
        if is_unnamed and setup.labels_by == "name":
            raise DataError(
                f"y_true of batch {self._n_batches + 1} does not name its labels, which earlier batches have in more "
                "than one order (hint: pass labels=, or data frames)"
            )
        if is_unnamed:
            setup = replace(setup, labels_by="position")
        elif truth.reordered is not None or scores.reordered is not None:
            setup = replace(setup, labels_by="name")
        if not self._base.truth:
            setup = replace(setup, inputs=(*setup.inputs, truth.line, scores.line))
        self._add(truth.source, select_scores(setup, scores.source), weights, setup)

    def _read_weights(
        self, sample_weight: Any, truth: Source, rows: Axis | None = None, scored_rows: Axis | None = None
    ) -> Float64 | None:
        """Check the sample weights of a batch; their index may name rows, as in truth and scores."""
        greatest = self._base.max_weight
        number = self._n_batches + 1
        name = f"sample_weight of batch {number}"
        if greatest is None or sample_weight is None:
            if sample_weight is not None:
                raise UsageError(f"{name}: pass max_weight to the {WHAT}, the largest weight that may come")
            if greatest is not None:
                raise UsageError(f"batch {number} has no sample_weight, but max_weight was passed")
            return None
        if hasattr(sample_weight, "to_numpy"):
            from xmceval.scoring.setup.per_row import join_values  # not loaded for weights without an index

            if rows is None or not rows.is_named:
                first_named(scored_rows, rows_of(sample_weight, name), truth.name)
            sample_weight, _ = join_values(sample_weight, name, "weight", None, rows)
        if isinstance(sample_weight, (str, Path)):
            check_files([to_path(sample_weight)])
        weights, _ = inputs.take_numbers(sample_weight, name, "row")
        if weights.size != truth.n_rows:
            raise DataError(
                f"{name} has {counted(weights.size, 'number')}, but {truth.name} of batch {number} has "
                f"{counted(truth.n_rows or 0, 'row')}; expected one weight per row"
            )
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= greatest)))
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                f"{name}: the weight of row {row} is {weights[row]:g}; expected a number from 0 to {greatest:g} "
                "(max_weight)"
            )
        return weights

    def _add(self, truth: Source, scores: Source, weights: Float64 | None, setup: Setup) -> None:
        """Add opened rows; afterwards the setup covers all rows.

        All rows are checked before any is added. Sums are added to a copy, counts by label to the counters of the
        totals so far, after everything that may be refused.
        """
        for matrix in scores.shards or (scores,):
            if matrix.is_ranked:
                setup.refuse_ranking(matrix.name)
        if setup.options.threshold is not None:
            check_narrow(scores, "with a threshold")
        totals = self._totals
        if not truth.n_labels == scores.n_labels == setup.width.n_labels:
            setup, totals = self._agree_on_width(truth, scores, setup)
        weighted = setup
        if weights is not None:
            weighted = replace(setup, weights=weights / setup.weight_unit, weights_from=self._n_rows)
        system = OpenedSystem(scores, weighted)
        add_to = self._check_block(truth, system)
        if add_to is None:
            add_to = self._check_blocks(truth, system)
        totals = totals.spare()
        self._is_torn = True
        try:
            add_to(totals)
        except DataError:
            self._is_torn = False
            raise
        except Fault as fault:
            self._is_torn = False
            raise as_error([fault]) from None
        changes_nothing = setup is self._base.setup and weights is None and setup.options.duplicates == "error"
        if self._is_first or not changes_nothing:
            self._base = self._describe(truth, scores, weights, setup)
        self._totals = totals
        self._n_rows += truth.n_rows or 0
        self._is_torn = self._is_first = False

    def _describe(self, truth: Source, scores: Source, weights: Float64 | None, setup: Setup) -> State:
        """Return how the rows of a batch are scored."""
        base = self._base
        weight_range = base.weight_range
        removed = base.removed
        if weights is not None:
            used = weights[weights > 0]
            least, greatest = weight_range
            weight_range = float(used.min(initial=least)), float(used.max(initial=greatest))
        if setup.options.duplicates == "max":
            removed = removed[0] + _count_removed(truth), removed[1] + _count_removed(scores)
        base = replace(base, setup=setup, weight_range=weight_range, removed=removed)
        if not self._is_first:
            return base
        return replace(
            base,
            truth=each_once(base.truth, ("array",)),
            scores=each_once(base.scores, ("array",)),
            systems=each_once(base.systems, (scores.name,)),
        )

    def _in_batch(self, truth: Source, scores: Source) -> tuple[Source, Source]:
        """Return sources whose rows are numbered over all batches, and whose messages name this batch."""
        number = self._n_batches + 1
        return as_batch(truth, self._n_rows, number), as_batch(scores, self._n_rows, number)

    def _agree_on_width(self, truth: Source, scores: Source, setup: Setup) -> tuple[Setup, Totals]:
        """Take the number of labels from a batch, or check that it agrees with earlier batches."""
        totals = self._totals
        truth, scores = self._in_batch(truth, scores)
        width = agreed_width(agreed_width(setup.width, truth), scores, "column")
        setup.require_labels(width, "batch")
        if width is setup.width:
            return setup, totals
        if totals.tally.whole.largest_label >= width.n_labels:
            raise DataError(f"earlier batches have label {totals.tally.whole.largest_label}, but {width}")
        width.check_cutoff(setup.program.deepest)
        if setup.filter is not None:
            setup.filter.check_labels(width)
        setup = setup.with_width(width)
        self._most_rows = rows_at_once([setup])
        wider = empty(setup)
        if self._n_rows:  # also rows of a file
            wider = wider.merge(totals)
        return setup, wider

    def _check_block(self, truth: Source, system: OpenedSystem) -> Callable[[Totals], None] | None:
        """Check a batch of one block; return what adds it to totals, or None for several blocks or invalid rows."""
        prefix = f"batch {self._n_batches + 1}, "
        blocks = whole_blocks((truth, system.scores), self._most_rows, self._n_rows, prefix)
        if blocks is None:
            return None
        block, other = blocks
        try:
            checked = check_truth(self._scratch, block, system.setup, system.setup.width)
            batch = make_batch(self._scratch, checked, other, system)
            return partial(add_batch, batch, compute_batch(batch))
        except Fault:  # `_check_blocks` finds and reports all faults
            return None

    def _check_blocks(self, truth: Source, system: OpenedSystem) -> Callable[[Totals], None]:
        """Check a batch, whose blocks are scored by a pool of threads; return what adds its totals to others."""
        truth, scores = self._in_batch(truth, system.scores)
        steps = Lockstep(truth, [scores], most_rows=self._most_rows)
        systems = [replace(system, scores=scores)]
        of_batch = empty(system.setup)

        def work(scratch: BlockScratch, blocks: tuple[Block, ...]) -> None:
            score_block(scratch, blocks, systems, [of_batch])

        each_block(iter(steps), BlockScratch.take, work, self._threads, all_faults=True)
        return lambda totals: totals.absorb(of_batch)

    def result(self) -> Result:
        """Return the values over all rows so far, with intervals and counts as in `score`.

        More batches may follow. Doubts are as in `score`, except those about the first rows: shuffled rows,
        shifted labels, swapped inputs, scores in ascending order.

        Raises
        ------
        UsageError
            No batch has been added.

        Warns
        -----
        XmcevalWarning
            Reasons why values may be wrong; see `score`.
        """
        with self._lock:
            result = finish_state(self._state)
        warn(result.doubts)
        return result

    def compute(self) -> Result:
        """Return `result()`, under its name in torchmetrics."""
        return self.result()

    def flat(self, *, sep: str = "@") -> dict[str, float]:
        """Return the values over all rows so far as plain numbers, with names for loggers.

        Parameters
        ----------
        sep : str
            Replaces the ``@``; see `Result.flat`.
        """
        return self.result().flat(sep=sep)

    def reset(self) -> None:
        """Forget all rows; keep the configuration and the number of labels."""
        with self._lock:
            self._take(self._base.emptied())
            self._n_batches = 0

    def merge(self, other: Evaluator) -> Evaluator:
        """Add the rows of another Evaluator with the same configuration, and return this one.

        Parameters
        ----------
        other : Evaluator
            It is not changed.

        Returns
        -------
        Evaluator
            This one.

        Raises
        ------
        DataError
            Metrics, options, propensities, weights or numbers of labels differ; there is a filter; or both have
            the same shard.
        UsageError
            `other` is this Evaluator itself.
        """
        if not isinstance(other, Evaluator) or other is self:
            what = "itself" if other is self else describe_type(other)
            raise UsageError(f"an Evaluator is merged with another one, not with {what}")
        first, second = sorted((self, other), key=id)  # a fixed order, to avoid deadlocks
        with first._lock, second._lock:
            theirs = other._state
            if theirs.name == NAME:
                theirs = replace(theirs, name="the other one")
            self._take(self._state.merge(theirs))
        return self

    def _emptied(self) -> Evaluator:
        """Return a new Evaluator with this configuration and number of labels, without rows."""
        with self._lock:
            return self._of(self._state.emptied(), self._threads)

    def save(self, path: str | Path) -> None:
        """Write configuration and totals to a file, in the format of ``xmceval score --save-state``.

        As with ``torch.save``, an existing file is replaced, so that a loop can save after each epoch. It is
        replaced atomically, once the new file is complete: if the process is killed before, the old file is
        unchanged.

        Parameters
        ----------
        path : path
            The file to write.

        Raises
        ------
        DataError
            A path that cannot be written.
        UsageError
            A path in a folder that does not exist, or that is not a file.
        """
        with self._lock:
            content = pack_state(self._state)
        write_output(path, content, force=True)

    @classmethod
    def load(cls, path: str | Path, *, threads: int | None = None) -> Evaluator:
        """Return the Evaluator that was saved to a file.

        Parameters
        ----------
        path : path
            A file written by `save`, or by ``xmceval score --save-state``.
        threads : int, optional
            As in `Evaluator`.

        Raises
        ------
        DataError
            The file is not a state.
        """
        return cls._of(load_state(path), threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_evaluator, (self._packed(), self._threads, self._state.setup.filter)

    def _packed(self) -> bytes:
        """Return the totals so far and the configuration, without the pairs of a filter."""
        return pack_state(_without_pairs(self._state))

    def _unpacked(self, content: bytes, name: str) -> Evaluator:
        """Return an Evaluator with the packed totals, and the configuration and filter of this one.

        `name` is used in messages.
        """
        current = self._state
        state = unpack_state(content, name)
        _without_pairs(current).check_compatible(state)
        setup = replace(state.setup, filter=current.setup.filter)
        return self._of(replace(state, name=NAME, setup=setup), self._threads)

    def __repr__(self) -> str:
        state = self._state
        return f"<Evaluator of {', '.join(map(str, state.setup.program.measures))}: {state.n_rows:,} rows>"


def _count_removed(source: Source) -> int:
    """Return the number of duplicate labels that were dropped in a matrix, or in its shards."""
    return sum(repair.n_removed for part in source.parts for repair in part.repairs)


def _check_growing(state: State) -> None:
    """Refuse to add rows to totals of another version, or with an unknown filter or unknown weights."""
    if state.version != VERSION:
        raise UsageError(
            f"{state.name} was saved by xmceval {state.version}, and this is {VERSION}: no rows can be added, as "
            "their values may differ (hint: score all rows with one version)"
        )
    pairs = state.setup.filter
    if pairs is not None and pairs.n_pairs and not pairs.rows.size:
        raise UsageError(
            f"{state.name} has a filter, whose pairs are not kept with the totals, so no rows can be added (hint: "
            f"update another {WHAT} with the pairs of these rows, and merge the two files)"
        )
    if state.setup.weights is not None and state.max_weight is None:
        raise UsageError(
            f"{state.name} has sample weights, whose largest is known only of its own rows, so no rows can be added "
            f"(hint: update another {WHAT} with max_weight, and merge it with this one)"
        )


def _without_pairs(state: State) -> State:
    """Return a state whose filter has no pairs, as if it had never had any; its totals have their effect."""
    pairs = state.setup.filter
    if pairs is None:
        return state
    return replace(state, setup=replace(state.setup, filter=Filter(pairs.name, 0, 0)))


def restore_evaluator(content: bytes, threads: int | None, pairs: Filter | None) -> Evaluator:
    """Rebuild a pickled Evaluator; unlike a file, a pickle includes the pairs of its filter."""
    state = unpack_state(content, NAME)
    return Evaluator._of(replace(state, setup=replace(state.setup, filter=pairs)), threads)
