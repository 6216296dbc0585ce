"""The public functions: score matrices or files, and one function for each metric that people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.blocks import UNKNOWN, Float64, Source, Width
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.evaluate import Progress, count_labels, evaluate
from xmceval.matrices import as_scores, as_truth
from xmceval.metrics import DEFAULT_CUTS, DEFAULT_NAMES, check_cut, parse
from xmceval.program import Program, compile_program
from xmceval.propensity import DEFAULT_A, DEFAULT_B, Propensities, from_counts, given, of_table, preset
from xmceval.readers import open_scores, open_truth, read_numbers
from xmceval.report.result import Result, make_result

EMPTY_ROWS = ("zero", "drop")


def score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | Iterable[int] = DEFAULT_CUTS,
    metrics: str | Iterable[str] | None = None,
    train: Any = None,
    counts: Any = None,
    n_train: int | None = None,
    inverse_propensities: Any = None,
    dataset: str | None = None,
    a: float | None = None,
    b: float | None = None,
    n_labels: int | None = None,
    empty_rows: str = "zero",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score predictions against the truth.

    Parameters
    ----------
    y_true : sparse matrix, array or path [n_rows, n_labels]
        Non-zero entries are the true labels; whole values above 1 are grades. Any scipy.sparse format, a dense
        indicator, or a file in one of XMLRepository's formats or npz, also gzipped.
    y_score : sparse matrix, array, pair of arrays or path [n_rows, n_labels]
        Scores: stored entries of a sparse matrix are the predictions; in a dense array -inf means not predicted;
        ``(labels, scores)`` are two arrays [n_rows, any width] in which label -1 is padding. Or a file.
    k : int or iterable of int
        Cuts of the metrics that name none.
    metrics : str or iterable of str
        Names such as ``"PSP"``, ``"nDCG(discount=ln)@1,3"``; default P, nDCG, PSP and PSnDCG. See ``METRICS``.
    train : like y_true, optional
        Training labels, from whose frequencies propensities are estimated.
    counts, n_train : array of int or path, int, optional
        Instead of `train`: rows in which each label is true, and the number of training rows.
    inverse_propensities : array of float or path, optional
        Instead of `train`: 1/p of each label.
    dataset : str, optional
        Name of a public data set, for its A and B.
    a, b : float, optional
        Constants of the propensity model; default 0.55 and 1.5.
    n_labels : int, optional
        The number of labels where `y_true` does not tell it.
    empty_rows : {"zero", "drop"}
        Whether rows without truth count as 0 or are left out.
    threads : int, optional
        Default: one per processor. The values are the same bits for any number.
    progress : callable, optional
        Is called with a number of rows each time so many more are done.

    Returns
    -------
    Result
        A mapping: ``result["P@5"]`` is a fraction; ``result.interval("P@5")`` its 95 % interval.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        An argument that is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.array([[1, 0, 1], [0, 1, 0]])
    >>> y_score = np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.4]])
    >>> result = score(y_true, y_score, k=1, metrics=["P", "R"])
    >>> result["P@1"], result["R@1"]
    (1.0, 0.75)
    """
    setup = prepare(
        y_true,
        k=k,
        metrics=metrics,
        train=train,
        counts=counts,
        n_train=n_train,
        inverse_propensities=inverse_propensities,
        dataset=dataset,
        a=a,
        b=b,
        n_labels=n_labels,
        empty_rows=empty_rows,
        threads=threads,
    )
    return setup.score(y_score, progress=progress)


def prepare(
    y_true: Any,
    *,
    k: int | Iterable[int] = DEFAULT_CUTS,
    metrics: str | Iterable[str] | None = None,
    train: Any = None,
    counts: Any = None,
    n_train: int | None = None,
    inverse_propensities: Any = None,
    dataset: str | None = None,
    a: float | None = None,
    b: float | None = None,
    n_labels: int | None = None,
    empty_rows: str = "zero",
    threads: int | None = None,
) -> Setup:
    """Do once what several systems on the same truth share; the parameters are those of `score`."""
    cuts = [check_cut(k)] if isinstance(k, (int, str)) else list(k)
    names = DEFAULT_NAMES if metrics is None else metrics
    program = compile_program(parse(names, cuts))
    if empty_rows not in EMPTY_ROWS:
        raise UsageError(f"empty_rows must be one of {listed(EMPTY_ROWS)}, got {empty_rows!r}")
    notes, warnings = list[str](), list[str]()
    truth = _source(y_true, "y_true", notes)
    width = _width(truth, n_labels)
    propensities: Propensities | None = None
    if program.needs_propensities:
        model = Model.of(dataset, a, b, warnings)
        given_by = {"train": train, "counts": counts, "inverse_propensities": inverse_propensities}
        sources = [name for name, value in given_by.items() if value is not None]
        if len(sources) > 1:
            raise UsageError(f"give one of {listed(given_by)}, not {' and '.join(sources)}")
        if inverse_propensities is not None:
            values, name = _numbers(inverse_propensities, "inverse_propensities")
            width = _fit(width, values.size, name)
            propensities = given(values, name)
        elif counts is not None:
            values, name = _numbers(counts, "counts")
            width = _fit(width, values.size, name)
            propensities = model.of_counts(values, n_train, name)
        else:
            width, propensities = model.of_matrix(truth, train, width, threads, notes, warnings)
    if propensities is None and program.needs_propensities:
        program = _without_propensities(program, warnings)
    if program.deepest > width.n_labels:
        raise DataError(f"k = {program.deepest} is above the number of labels, {width.n_labels} ({width.said_by})")
    return Setup(truth, width, program, propensities, empty_rows, threads, tuple(notes), tuple(warnings))


@dataclass(frozen=True)
class Setup:
    """A truth and how to score systems on it."""

    truth: Source
    width: Width
    program: Program
    propensities: Propensities | None
    empty_rows: str
    threads: int | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def score(self, y_score: Any, *, name: str | None = None, progress: Progress | None = None) -> Result:
        """Score one system; the parameters are those of `score`."""
        notes = list(self.notes)
        scores, width = _scores(y_score, notes), self.width
        if scores.is_exact and scores.n_labels is not None:
            if width.n_labels == UNKNOWN:
                width = Width(scores.n_labels, f"{scores.name} has")
            elif scores.n_labels != width.n_labels:
                raise DataError(
                    f"{scores.name} has {counted(scores.n_labels, 'column')}, "
                    f"but {width.said_by} {counted(width.n_labels, 'label')}"
                )
        totals, seen = evaluate(
            self.truth,
            scores,
            self.program,
            self.propensities,
            width=width,
            threads=self.threads,
            drop_empty=self.empty_rows == "drop",
            progress=progress,
        )
        if width.n_labels == UNKNOWN:
            width = Width(seen, "the largest label in any file + 1 is")
            notes.append(f"nothing announces the number of labels: {width.said_by} {seen:,}")
            if self.program.deepest > seen:
                raise DataError(f"k = {self.program.deepest} is above the number of labels, {seen} ({width.said_by})")
        return make_result(
            name or scores.name,
            self.program,
            totals,
            width.n_labels,
            self.propensities,
            empty_rows=self.empty_rows,
            warnings=(*self.warnings, *self.truth.warnings, *scores.warnings),
            notes=tuple(notes),
        )


@dataclass(frozen=True)
class Model:
    """The constants of the propensity model."""

    a: float
    b: float

    @classmethod
    def of(cls, dataset: str | None, a: float | None, b: float | None, warnings: list[str]) -> Model:
        """Take the constants of a data set, those given going first."""
        known_a, known_b = DEFAULT_A, DEFAULT_B
        if dataset is not None:
            name, constants = preset(dataset)
            known_a, known_b = constants.a, constants.b
            if constants.has_filter:
                warnings.append(
                    f"{name} is scored with a filter of reciprocal pairs: published values leave those pairs out"
                )
        return cls(known_a if a is None else a, known_b if b is None else b)

    def of_counts(self, values: Float64, n_train: int | None, name: str) -> Propensities:
        """Estimate from counts by label."""
        if n_train is None:
            raise UsageError("counts need the number of training rows beside them: n_train (--n-train)")
        wrong = np.flatnonzero(~((values >= 0) & (values <= n_train) & (values == np.floor(values))))
        if wrong.size:
            label = int(wrong[0])
            raise DataError(
                f"{name}:{label + 1}: the count of label {label} is {values[label]:g}; "
                f"expected a whole number from 0 to {n_train:,}, the training rows"
            )
        return of_table(values.astype(np.int64), n_train, name, self.a, self.b)

    def of_matrix(
        self, truth: Source, train: Any, width: Width, threads: int | None, notes: list[str], warnings: list[str]
    ) -> tuple[Width, Propensities | None]:
        """Estimate from the frequencies of the training labels, or of the truth where there are none."""
        matrix = truth if train is None else _source(train, "train", notes)
        if train is None:
            warnings.append(
                f"no training labels were given: propensities come from the label frequencies of {truth.name} itself, "
                "such values are not comparable with published ones (mend: --train FILE)"
            )
        elif matrix.n_labels is not None:
            width = _fit(width, matrix.n_labels, matrix.name)
        counts = count_labels(matrix, width=width, threads=threads)
        warnings.extend(said for said in matrix.warnings if train is not None)
        if counts.n_rows < 3:
            warnings.append(
                f"{matrix.name} has {counted(counts.n_rows, 'row')}: propensities are not defined below 3, "
                "the metrics that need them are left out"
            )
            return width, None
        source = Path(matrix.name).name
        return width, from_counts(counts, source, self.a, self.b, from_truth=train is None)


def _source(matrix: Any, name: str, notes: list[str]) -> Source:
    """Open a truth, whatever it is."""
    if not isinstance(matrix, (str, Path)):
        return as_truth(matrix, name)
    opened = open_truth(matrix)
    notes.append(f"{matrix}: {opened.description}")
    return opened.source


def _scores(y_score: Any, notes: list[str]) -> Source:
    """Open predictions, whatever they are."""
    if not isinstance(y_score, (str, Path)):
        return as_scores(y_score)
    opened = open_scores(y_score)
    notes.append(f"{y_score}: {opened.description}")
    return opened.source


def _numbers(values: Any, name: str) -> tuple[Float64, str]:
    """Take one number a label, from a file or an array."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), Path(values).name
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number a label, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


def _width(truth: Source, n_labels: int | None) -> Width:
    """Settle the number of labels from the truth and the caller."""
    if truth.n_labels is None:
        return Width() if n_labels is None else Width(n_labels, "n_labels is")
    width = Width(truth.n_labels, f"{truth.name} has")
    return width if n_labels is None else _fit(width, n_labels, "n_labels")


def _fit(width: Width, n_labels: int, name: str) -> Width:
    """Hold a second number of labels against the first."""
    if width.n_labels == UNKNOWN:
        return Width(n_labels, f"{name} has")
    if n_labels != width.n_labels:
        raise DataError(
            f"{name} has {counted(n_labels, 'label')}, but {width.said_by} {counted(width.n_labels, 'label')}"
        )
    return width


def _without_propensities(program: Program, warnings: list[str]) -> Program:
    """Leave out the measures that need propensities."""
    kept = [measure for measure in program.measures if not measure.metric.needs_propensities]
    if not kept:
        raise DataError(warnings[-1])
    return compile_program(kept)


def _one(y_true: Any, y_score: Any, metric: str, k: int, **options: Any) -> float:
    return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cut(k)}"]


def precision_at_k(y_true: Any, y_score: Any, *, k: int = 5) -> float:
    """Compute P@k, the mean over rows of hits / k; see `score` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> precision_at_k(np.array([[1, 0, 1]]), np.array([[.9, .8, .1]]), k=2)
    0.5
    """
    return _one(y_true, y_score, "P", k)


def recall_at_k(y_true: Any, y_score: Any, *, k: int = 5) -> float:
    """Compute R@k, the mean over rows of hits / number of true labels; see `score` for the arguments."""
    return _one(y_true, y_score, "R", k)


def f1_at_k(y_true: Any, y_score: Any, *, k: int = 5) -> float:
    """Compute F1@k, the mean over rows of the harmonic mean of P and R; see `score` for the arguments."""
    return _one(y_true, y_score, "F1", k)


def hit_at_k(y_true: Any, y_score: Any, *, k: int = 5) -> float:
    """Compute Hit@k, the share of rows with a hit; see `score` for the arguments."""
    return _one(y_true, y_score, "Hit", k)


def ndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5) -> float:
    """Compute nDCG@k with log2 discounts, of grades where the truth has them; see `score` for the arguments."""
    return _one(y_true, y_score, "nDCG", k)


def psp_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSP@k as a ratio of sums; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSP", k, **weighing)


def psr_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSR@k as a ratio of sums; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSR", k, **weighing)


def psndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSnDCG(norm=row)@k; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSnDCG", k, **weighing)
