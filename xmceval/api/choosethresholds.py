"""Choose thresholds on validation data: one for all labels, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.inputs import check_narrow
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.sidecars.numbers import write_numbers
from xmceval.rows.block import Scratch
from xmceval.rows.checks import validated_scores
from xmceval.rows.matrices.matrices import as_scores
from xmceval.rows.matrices.storage import all_rounded
from xmceval.rows.width import Width
from xmceval.scoring.options import Options
from xmceval.scoring.tasks.heldcells import HoldCells
from xmceval.statistics.curves import sort_by_score
from xmceval.statistics.thresholds import StoredCells, Target, check_halves, choose, measure

MOST_LABELS = 1 << 27  # that thresholds are held for, one each


@dataclass(frozen=True)
class Thresholds:
    """Thresholds: a label is predicted where its stored score is at least its threshold.

    Attributes
    ----------
    target : str
        What they were chosen for.
    values : float64 array [n_labels] or [1]
        One per label, or one for all; each is a stored score, or +inf where nothing is predicted.
    measured : dict of str to float
        The metric of the target on the data they were chosen on, which flatters them; of precision=X and recall=X,
        micro precision and micro recall.
    held_out : dict of str to float or None
        The same without that: chosen on even instances and measured on odd ones, and the reverse, averaged. None for a
        single instance.
    n_rows, n_labels, n_true : int
        The data: its instances, labels and true labels.
    n_never : int
        Labels that are never predicted, of thresholds per label.
    warnings : tuple of str
        What was noticed in the data.
    """

    target: str
    values: NDArray[np.float64]
    measured: Mapping[str, float]
    held_out: Mapping[str, float] | None
    n_rows: int
    n_labels: int
    n_true: int
    n_never: int = 0
    warnings: tuple[str, ...] = ()

    def write(self, dst: str | Path | BinaryIO, *, force: bool = False) -> None:
        """Write one number per line: the threshold, or that of each label in their order.

        Parameters
        ----------
        dst : path or binary stream
            An npy array if it ends in .npy, else text.
        force : bool
            Overwrite `dst`.

        Raises
        ------
        UsageError
            A `dst` that exists, without `force`, or with an ending of another format.
        """
        write_numbers(dst, self.values, force=force)

    def predict(self, y_score: MatrixLike) -> sparse.csr_matrix:
        """Return the labels that are predicted, as a matrix of ones [n_rows, n_labels].

        Parameters
        ----------
        y_score : matrix [n_rows, n_labels]
            As in `score`. As there, thresholds are rounded to its type.

        Returns
        -------
        csr_matrix of int8
            For metrics of decisions of `score`, without a threshold.

        Raises
        ------
        DataError
            Another number of labels than that of the thresholds, or scores that are wrong.
        """
        source = as_scores(y_score)
        if source.n_labels is not None and source.n_labels != self.n_labels:
            own = counted(source.n_labels, "label")
            raise DataError(f"y_score has {own}, the thresholds are for {self.n_labels:,}")
        check_narrow(source)
        limits = all_rounded(self.values, source.dtype)
        scratch, width = Scratch(), Width(self.n_labels, "the thresholds have")
        lengths, chosen = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for block in source.blocks():
            rows = validated_scores(block, scratch, width)
            n = int(rows.indptr[-1])
            labels = rows.indices[:n]
            is_decided = rows.values[:n] >= (limits[labels] if limits.size > 1 else limits[0])
            lengths.append(np.diff(np.concatenate([[0], np.cumsum(is_decided)])[rows.indptr]))
            chosen.append(labels[is_decided])
        indices, indptr = np.concatenate(chosen), np.cumsum(np.concatenate(lengths))
        shape = indptr.size - 1, self.n_labels
        return sparse.csr_matrix((np.ones(indices.size, dtype=np.int8), indices, indptr), shape=shape)

    def __str__(self) -> str:
        many = self.values.size > 1 or self.n_never > 0
        chosen = f"{self.values.size:,} thresholds, one per label" if many else f"threshold {self.values[0]:.6g}"
        on = f"{counted(self.n_rows, 'instance')} with {counted(self.n_true, 'true label')}"
        lines = [
            f"{chosen}, for {self.target}",
            f"{_show(self.measured)} on the same data: {on}",
            "held out: not available for a single instance"
            if self.held_out is None
            else f"{_show(self.held_out)} held out: chosen on one half of the instances, measured on the other",
        ]
        if self.n_never:
            lines.append(f"{counted(self.n_never, 'label')} never predicted: threshold inf")
        return "\n".join(lines) + "\n"


def choose_thresholds(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    target: str = "microF1",
    per_label: bool = False,
    n_labels: int | None = None,
    labels: str | Path | None = None,
    filter: Any = None,  # noqa: A002 - as in score
    filter_truth: bool = False,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> Thresholds:
    """Choose the threshold of decisions, or one per label, that is best on validation data.

    All stored scores are held in memory. A label without a stored score is never predicted. Of equally good thresholds
    the highest is chosen; tied scores are decided together.

    Parameters
    ----------
    y_true, y_score : matrices [n_rows, n_labels], or paths
        As in `score`.
    target : str
        ``"microF1"``, ``"macroF1"`` or ``"F1"`` (the mean over instances) for the largest F1;
        ``"precision=X"`` for the highest recall with a precision of at least X; ``"recall=X"`` for the highest
        precision with a recall of at least X. One threshold looks at all cells together; per label, precision and
        recall are those of the label, and a recall that no threshold reaches is replaced by the highest.
    per_label : bool
        Choose a threshold for each label. A label without a true cell, or that cannot reach the precision, has +inf.
        Not for ``"F1"``.
    n_labels : int, optional
        The number of labels, where no input declares it.
    labels : path, optional
        Names of labels, one per line, where the files have names.
    filter : matrix of pairs or path, optional
        Pairs of row and label that are removed from the scores.
    filter_truth : bool
        Remove them from the truth too.
    max_line : int
        The longest line of a text file, in MiB.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    Thresholds
        Its `values`, the metric they reach, and `write`.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        Another target, or ``"F1"`` per label.

    See Also
    --------
    score : With ``thresholds=chosen.values``, the metrics of decisions.

    Notes
    -----
    Thresholds per label for micro F1 are found by Dinkelbach's iteration (Management Science, 1967): a ratio of sums
    over labels, each label being chosen by itself at a given price of a decision.

    Examples
    --------
    >>> y_true, y_score = [[0], [1], [0, 1]], ([[0, 1], [0, 1], [0, 1]], [[0.9, 0.2], [0.4, 0.3], [0.8, 0.1]])
    >>> chosen = choose_thresholds(y_true, y_score, target="macroF1", per_label=True)
    >>> chosen.values.tolist(), chosen.measured
    ([0.8, 0.1], {'macroF1': 0.9})
    """
    parsed = Target.parse(target)
    if per_label and parsed.kind == "F1":
        raise UsageError(
            "F1 of instances has no thresholds per label: the best of one label depends on those of all others "
            "(hint: choose them for microF1 or macroF1, or one threshold for F1)"
        )
    options = Options.of({**locals(), "metrics": "P", "k": 1})
    systems = [Named(y_score)]
    setup, holding = Setup.of(y_true, options, systems), _Holding()
    result = score_systems(setup, systems, [holding]).results[0]
    cells = holding.cells
    values = choose(parsed, cells, per_label=per_label)
    return Thresholds(
        str(parsed),
        values,
        measure(parsed, cells, values),
        check_halves(parsed, cells, per_label=per_label),
        cells.n_rows,
        cells.n_labels,
        cells.true_labels.size,
        int(np.count_nonzero(values == np.inf)) if per_label else 0,
        tuple(result.doubts),
    )


class _Holding(Extra):
    """Hold the cells of one system while it is scored."""

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the task."""
        check_narrow(scoring.opened[0].scores)
        self.tasks = [HoldCells()]

    def finish(self, outcome: Outcome) -> Outcome:
        """Sort the cells by score."""
        [part] = outcome.parts_of(self.tasks[0])
        width, n_rows = outcome.scoring.opened[0].terms.width, outcome.totals[0].tally.n_rows
        empty = np.empty(0, dtype=np.int64)
        nothing = empty, empty, np.empty(0), empty > 0, empty, empty
        rows, labels, scores, is_true, true_rows, true_labels = part.joined() or nothing
        largest = max(int(labels.max(initial=-1)), int(true_labels.max(initial=-1)))
        n_labels = width.n_labels if width.is_known else largest + 1
        if n_labels > MOST_LABELS:
            raise DataError(
                f"there are {n_labels:,} labels; thresholds are chosen for at most {MOST_LABELS:,} "
                f"(hint: pass {argument('n_labels')})"
            )
        order = sort_by_score(scores)
        self.cells = StoredCells(
            rows[order], labels[order], scores[order], is_true[order], true_rows, true_labels, n_rows, n_labels
        )
        return outcome


def _show(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {100 * value:.2f}" for name, value in values.items())
