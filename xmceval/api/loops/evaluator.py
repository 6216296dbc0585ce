"""Evaluator: the metrics of rows that come batch by batch, in a loop or on several machines.

Examples for training loops and other libraries: the guide ``xmceval/guide/loops.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from xmceval.api.loops.updates import NAME, add_batch, begin_state
from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.score import finish_state
from xmceval.errors import UsageError, listed, warn
from xmceval.files.io.outputs import write_output
from xmceval.report.result import Result
from xmceval.rows.filters import Filter
from xmceval.scoring.options import Options, specs
from xmceval.scoring.states.accumulator import Accumulator
from xmceval.scoring.states.file import load_state, pack_state, unpack_state
from xmceval.scoring.states.state import State

OF_FILES = frozenset({"labels", "max_line", "row_ids", "missing", "sample_weight"})  # options that a loop does not have


class Evaluator:
    """Score predictions batch by batch: the same bits as one `score` over all rows, in constant memory.

    Batches may have any number of rows. Rows and labels that both inputs name are joined by name, as in `score`; labels
    are put into the order of the first batch that names them. Threads may share an Evaluator: one batch is added at a
    time.

    Parameters
    ----------
    metrics : str or iterable of str
        Names such as ``"P"``, ``"P,nDCG@1,3"``; default P, nDCG, PSP and PSnDCG. Metrics that need all rows at once,
        such as macroAUC, are refused.
    k : int, str or iterable of int, optional
        Cutoffs of metrics that name none; default as in `score`.
    n_labels : int, optional
        The number of labels; default that of the first batch.
    train : sparse matrix, array or path [n_train, n_labels], optional
        Training labels, from whose frequencies propensities are estimated. PSP and its family, and `by_frequency`, need
        this, `counts` or `inverse_propensities`: nothing is estimated from batches.
    counts, n_train : array of int or path, int, optional
        Instead of `train`: the training rows in which each label is true, and the number of training rows.
    inverse_propensities : array of float or path, optional
        Instead of `train`: 1/p of each label.
    max_weight : float, optional
        The largest sample weight that may come, which is the scale of exact sums; every batch then has weights. The
        bits are those of `score` where the largest weight that comes lies between the same powers of two.
    threads : int, optional
        For batches of more than some 130,000 entries; default one per processor.
    **options
        Any other option of `score`, but for those that only files or whole matrices have: labels, max_line,
        sample_weight. The rows of a filter are counted over all batches, from 0 on. Files do not keep its pairs, so no
        rows can be added to what was loaded.

    Raises
    ------
    UsageError
        An argument that is wrong, metrics that cannot be merged, or that need propensities without a source of them.
    TypeError
        An unknown option.
    DataError
        Training labels, counts or pairs that are wrong.

    See Also
    --------
    score : All rows at once.
    merge : Of shards and saved states.

    Examples
    --------
    The same with tensors of PyTorch on any device:

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

    The guide ``xmceval/guide/loops.md`` has loops in PyTorch, also with several processes, Lightning, Hugging Face,
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
        unknown = set(options) - set(specs()) | set(options) & OF_FILES
        if unknown:
            raise TypeError(f"Evaluator() got an unexpected option {listed(sorted(unknown))}")
        weights = None if max_weight is None else ()  # recorded as an array, as `score` does
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
        self._begin(begin_state(chosen, max_weight), threads)

    @classmethod
    def _of(cls, state: State, threads: int | None) -> Evaluator:
        evaluator = cls.__new__(cls)
        evaluator._begin(state, threads)
        return evaluator

    def _begin(self, state: State, threads: int | None) -> None:
        self._accumulator, self._n_batches = Accumulator(state, threads), 0
        self._threads, self._lock = threads, threading.RLock()

    def update(self, y_true: MatrixLike, y_score: MatrixLike, sample_weight: ArrayLike | None = None) -> None:
        """Add a batch of rows; after an error nothing of it was added.

        Parameters
        ----------
        y_true : sparse matrix, array, tensor or lists [n_rows, n_labels]
            As in `score`, but no path. Lists are the ids of each row's labels; pass `n_labels` with them.
        y_score : sparse matrix, array, tensor, pair or lists [n_rows, n_labels]
            Likewise: dense logits as they are, also those that require grad or are on another device, or what
            ``logits.topk(100)`` returns.
        sample_weight : array of float [n_rows]
            From 0 to `max_weight`, where that was passed; otherwise there must be none.

        Raises
        ------
        DataError
            Data that is wrong, with its batch and row, both counted as messages of `score` count them: batches from 1,
            rows from 0; another number of labels than in earlier batches, or other names of them.
        UsageError
            A path, grades or scores by query and document, or weights without `max_weight`.
        """
        with self._lock:
            add_batch(self._accumulator, y_true, y_score, sample_weight, number=self._n_batches + 1)
            self._n_batches += 1

    def result(self) -> Result:
        """Return the values of all rows so far, with intervals and counts as `score` has them.

        More batches may follow. Its doubts are those of `score`, but for those about the first rows: shuffled rows,
        shifted labels, swapped inputs, scores in ascending order.

        Raises
        ------
        UsageError
            No batch yet.

        Warns
        -----
        XmcevalWarning
            What puts the numbers in doubt; see `score`.
        """
        with self._lock:
            result = finish_state(self._state)
        warn(result.doubts)
        return result

    def compute(self) -> Result:
        """Return `result()`, under the name that it has in torchmetrics."""
        return self.result()

    def flat(self, *, sep: str = "@") -> dict[str, float]:
        """Return the values of all rows so far as plain numbers, by names that loggers take.

        Parameters
        ----------
        sep : str
            What stands for the ``@``; see `Result.flat`.
        """
        return self.result().flat(sep=sep)

    def reset(self) -> None:
        """Forget all rows; the configuration and the number of labels are kept."""
        with self._lock:
            self._accumulator.clear()
            self._n_batches = 0

    def merge(self, other: Evaluator) -> Evaluator:
        """Add the rows of another Evaluator of the same configuration, and return this one.

        Parameters
        ----------
        other : Evaluator
            It is left as it is.

        Returns
        -------
        Evaluator
            This one.

        Raises
        ------
        DataError
            Other metrics, options, propensities, weights or numbers of labels, a filter, or the same shard.
        UsageError
            The Evaluator itself.
        """
        if not isinstance(other, Evaluator) or other is self:
            what = "itself" if other is self else f"a {type(other).__name__}"
            raise UsageError(f"an Evaluator is merged with another one, not with {what}")
        first, second = sorted((self, other), key=id)  # so that two threads cannot wait for each other
        with first._lock, second._lock:
            theirs = other._state
            if theirs.name == NAME:
                theirs = replace(theirs, name="the other one")
            self._accumulator.take(self._state.merge(theirs))
        return self

    def _emptied(self) -> Evaluator:
        """Return a new Evaluator of this configuration, and number of labels, without rows."""
        with self._lock:
            return self._of(self._state.emptied(), self._threads)

    def save(self, path: str | Path) -> None:
        """Write configuration and totals to a file, in the form of ``xmceval score --save-state``.

        As with ``torch.save``, a file of that name is replaced, so a loop may save after each epoch. It is replaced at
        once when the new one is complete: where the process is killed before, the old file is left as it was.

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
            state = self._state
        write_output(path, pack_state(state), force=True)

    @classmethod
    def load(cls, path: str | Path, *, threads: int | None = None) -> Evaluator:
        """Return the Evaluator that was saved to a file.

        Parameters
        ----------
        path : path
            A file of `save`, or of ``xmceval score --save-state``.
        threads : int, optional
            As of `Evaluator`.

        Raises
        ------
        DataError
            A file that is no state.
        """
        return cls._of(load_state(path), threads)

    @property
    def _state(self) -> State:
        with self._lock:
            return self._accumulator.state

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_evaluator, (self._packed(), self._threads, self._state.setup.filter)

    def _packed(self) -> bytes:
        """Return the rows so far and the configuration, but for the pairs of a filter."""
        return pack_state(_without_filter(self._state))

    def _unpacked(self, content: bytes, name: str) -> Evaluator:
        """Return an Evaluator of this configuration, with the filter of this one, that has the rows which were packed.

        `name` is that of messages.
        """
        own, state = self._state, unpack_state(content, name)
        _without_filter(own).check_compatible(state)
        return self._of(replace(state, name=NAME, setup=replace(state.setup, filter=own.setup.filter)), self._threads)

    def __repr__(self) -> str:
        state = self._state
        return f"<Evaluator of {', '.join(map(str, state.setup.program.measures))}: {state.n_rows:,} rows>"


def _without_filter(state: State) -> State:
    return replace(state, setup=replace(state.setup, filter=None))


def restore_evaluator(content: bytes, threads: int | None, pairs: Filter | None) -> Evaluator:
    """Rebuild a pickled Evaluator; unlike a file, a pickle has the pairs of its filter."""
    state = unpack_state(content, NAME)
    return Evaluator._of(replace(state, setup=replace(state.setup, filter=pairs)), threads)
