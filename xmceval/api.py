"""The public functions: score matrices or files, and one function for each metric that people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.blocks import UNKNOWN, Float64, Source, Width
from xmceval.catalogue import Dataset, find
from xmceval.door import DUPLICATES, Door
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.evaluate import Progress, count_labels, evaluate
from xmceval.filters import Filter, FilterReport, as_filter
from xmceval.metrics import DECISION_NAMES, DEFAULT_CUTS, DEFAULT_NAMES
from xmceval.names import check_cut, parse
from xmceval.program import Program, compile_program
from xmceval.propensity import DEFAULT_A, DEFAULT_B, Propensities, from_counts, given, of_table
from xmceval.readers import read_names, read_numbers
from xmceval.readers.filters import read_filter
from xmceval.report.result import Result, make_result
from xmceval.totals import EMPTY_ROWS as EMPTY
from xmceval.totals import ROWS, Totals
from xmceval.worker import Terms

EMPTY_ROWS = ("zero", "drop")
UNSCORED = ("bottom", "zero")


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
    labels: Any = None,
    duplicates: str = "error",
    empty_rows: str = "zero",
    unscored: str = "bottom",
    threshold: float | None = None,
    sample_weight: Any = None,
    filter: Any = None,  # noqa: A002 - the field's word
    filter_truth: bool = False,
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
        Name of a public data set: for its A and B, and for warnings where the sizes are not those of the catalogue.
    a, b : float, optional
        Constants of the propensity model; default 0.55 and 1.5.
    n_labels : int, optional
        The number of labels where `y_true` does not tell it.
    labels : path, optional
        A file with the name of label l in line l, from 0 on, for files that have names instead of numbers.
    duplicates : {"error", "max"}
        What becomes of a label that stands twice in a row: an error, or its greatest value counts, and it is told.
    empty_rows : {"zero", "drop"}
        Whether rows without truth count as 0 or are left out.
    unscored : {"bottom", "zero"}
        For metrics of whole rows: labels without a score stand below all that have one (also below -inf), as one
        group of ties; or have score 0, as a dense copy of a sparse matrix would.
    threshold : float, optional
        For metrics of decisions: stored labels whose score is at least this are decided on; without it, all stored
        labels are. The default metrics are then those of decisions.
    sample_weight : array of float or path, optional
        One weight a row, at least 0: a row of weight 0 is as good as absent, one of weight 2 counts twice. Intervals
        take weights as fixed, not as numbers of repetitions.
    filter : array of int [n_pairs, 2] or path, optional
        Pairs of row and label that are taken out of the predictions before they are ranked, such as the reciprocal
        pairs of the LF-Amazon sets; for metrics of whole rows they are labels without a score.
    filter_truth : bool
        Take those pairs out of the truth too.
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
        labels=labels,
        duplicates=duplicates,
        empty_rows=empty_rows,
        unscored=unscored,
        threshold=threshold,
        sample_weight=sample_weight,
        filter=filter,
        filter_truth=filter_truth,
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
    labels: Any = None,
    duplicates: str = "error",
    empty_rows: str = "zero",
    unscored: str = "bottom",
    threshold: float | None = None,
    sample_weight: Any = None,
    filter: Any = None,  # noqa: A002 - the field's word
    filter_truth: bool = False,
    threads: int | None = None,
) -> Setup:
    """Do once what several systems on the same truth share; the parameters are those of `score`."""
    cuts = list(k) if isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) else [check_cut(k)]
    names = (DEFAULT_NAMES if threshold is None else DECISION_NAMES) if metrics is None else metrics
    program = compile_program(parse(names, cuts))
    if empty_rows not in EMPTY_ROWS:
        raise UsageError(f"empty_rows must be one of {listed(EMPTY_ROWS)}, got {empty_rows!r}")
    if unscored not in UNSCORED:
        raise UsageError(f"unscored must be one of {listed(UNSCORED)}, got {unscored!r}")
    if duplicates not in DUPLICATES:
        raise UsageError(f"duplicates must be one of {listed(DUPLICATES)}, got {duplicates!r}")
    entry = None if dataset is None else find(dataset)
    notes, warnings = list[str](), list[str]()
    if threshold is not None:
        if np.isnan(threshold):
            raise UsageError("the threshold is NaN; expected a number")
        if not any(measure.metric.family == "confusion" for measure in program.measures):
            warnings.append("the threshold is of no account: no metric of decisions was asked for")
    door = Door(None if labels is None else read_names(labels), duplicates, n_labels, notes)
    truth = door.truth(y_true, "y_true")
    width = _width(truth, n_labels)
    if door.names is not None:
        width = _fit(width, len(door.names), door.names.source)
    propensities: Propensities | None = None
    if program.needs_propensities:
        model = Model.of(entry, a, b)
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
            width, propensities = model.of_matrix(truth, train, width, threads, door, warnings)
    _check_training(program, propensities)
    if propensities is None and program.needs_propensities:
        program = _without_propensities(program, warnings)
    if program.deepest > width.n_labels:
        raise DataError(f"k = {program.deepest} is above the number of labels, {width.n_labels} ({width.said_by})")
    weights, weight_unit = (None, 1.0) if sample_weight is None else _weights(sample_weight, truth)
    pairs = _filter(filter, filter_truth, truth, width)
    return Setup(
        *(truth, width, program, propensities, empty_rows, threads, tuple(notes), tuple(warnings)),
        weights=weights,
        weight_unit=weight_unit,
        unscored=unscored,
        threshold=threshold,
        filter=pairs,
        filter_truth=filter_truth,
        entry=entry,
        door=door,
    )


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
    weights: Float64 | None = None
    weight_unit: float = 1.0
    unscored: str = "bottom"
    threshold: float | None = None
    filter: Filter | None = None
    filter_truth: bool = False
    entry: Dataset | None = None
    door: Door = field(default_factory=Door)

    def score(self, y_score: Any, *, name: str | None = None, progress: Progress | None = None) -> Result:
        """Score one system; the parameters are those of `score`."""
        notes = list(self.notes)
        scores, width = self.door.scores(y_score, self.truth, self.width.n_labels, notes), self.width
        if scores.is_exact and scores.n_labels is not None:
            if width.n_labels == UNKNOWN:
                width = Width(scores.n_labels, f"{scores.name} has")
            elif scores.n_labels != width.n_labels:
                raise DataError(
                    f"{scores.name} has {counted(scores.n_labels, 'column')}, "
                    f"but {width.said_by} {counted(width.n_labels, 'label')}"
                )
        if self.program.needs_labels and width.n_labels == UNKNOWN:
            names = [str(measure) for measure in self.program.measures if measure.metric.needs_labels]
            raise DataError(
                f"{listed(names)}: nothing announces the number of labels, which is needed (mend: n_labels, --n-labels)"
            )
        totals, seen = evaluate(
            self.truth,
            scores,
            self.program,
            self.propensities,
            width=width,
            threads=self.threads,
            terms=Terms(
                drop_empty=self.empty_rows == "drop",
                weights=self.weights,
                zero_unscored=self.unscored == "zero",
                threshold=-np.inf if self.threshold is None else self.threshold,
                filter=self.filter,
                filter_truth=self.filter_truth,
            ),
            progress=progress,
        )
        if self.filter is not None:
            self.filter.check_labels(width)
        doubts = self._doubts(totals, None if width.n_labels == UNKNOWN else width.n_labels)
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
            warnings=(*self.warnings, *doubts, *self.truth.warnings, *scores.warnings),
            has_threshold=self.threshold is not None,
            weight_unit=self.weight_unit,
            notes=tuple(notes),
            filtered=self._filtered(totals),
        )

    def _doubts(self, totals: Totals, n_labels: int | None) -> tuple[str, ...]:
        """Say where the data do not fit the data set that was named."""
        if self.entry is None:
            return ()
        known = self.propensities
        n_train = known.n if known is not None and not known.from_truth else None
        n_test = int(totals.counts[ROWS]) + (int(totals.counts[EMPTY]) if self.empty_rows == "drop" else 0)
        is_filtered = self.filter is not None
        return tuple(self.entry.doubts(n_train=n_train, n_test=n_test, n_labels=n_labels, is_filtered=is_filtered))

    def _filtered(self, totals: Totals) -> FilterReport | None:
        known = self.filter
        if known is None:
            return None
        return FilterReport(known.name, known.rows.size, known.n_rows, *totals.filtered, self.filter_truth)


@dataclass(frozen=True)
class Model:
    """The constants of the propensity model."""

    a: float
    b: float

    @classmethod
    def of(cls, entry: Dataset | None, a: float | None, b: float | None) -> Model:
        """Take the constants of a data set, those given going first."""
        known_a = DEFAULT_A if entry is None or entry.a is None else entry.a
        known_b = DEFAULT_B if entry is None or entry.b is None else entry.b
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
        self, truth: Source, train: Any, width: Width, threads: int | None, door: Door, warnings: list[str]
    ) -> tuple[Width, Propensities | None]:
        """Estimate from the frequencies of the training labels, or of the truth where there are none."""
        matrix = truth if train is None else door.truth(train, "train", width.n_labels)
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


def _numbers(values: Any, name: str, what: str = "label") -> tuple[Float64, str]:
    """Take one number a label, or a row, from a file or an array."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), Path(values).name
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number a {what}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


def _weights(values: Any, truth: Source) -> tuple[Float64, float]:
    """Take sample weights and scale them by a power of two, so that the largest lies in [1, 2); also return that power.

    So the values that are summed do not depend on the unit of the weights, and no precision is lost.
    """
    weights, name = _numbers(values, "sample_weight", "row")
    if truth.n_rows is not None and weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} {counted(truth.n_rows, 'row')}; "
            "one weight a row is expected"
        )
    wrong = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{name}:{row + 1}: the weight of row {row} is {weights[row]:g}; expected a number of at least 0"
        )
    if weights.size and not weights.any():
        raise DataError(f"{name}: every weight is 0, no row is left")
    exponent = int(np.frexp(np.max(weights, initial=1.0 if not weights.size else 0.0))[1]) - 1
    return np.ldexp(weights, -exponent), float(np.ldexp(1.0, exponent))


def _filter(pairs: Any, filter_truth: bool, truth: Source, width: Width) -> Filter | None:
    """Take the pairs of a filter and hold them against the truth, as far as its size is known."""
    if pairs is None:
        if filter_truth:
            raise UsageError("filter_truth needs a filter beside it (--filter FILE)")
        return None
    known = read_filter(pairs) if isinstance(pairs, (str, Path)) else as_filter(pairs)
    if truth.n_rows is not None:
        known.check_rows(truth.n_rows, truth.name)
    known.check_labels(width)
    return known


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


def _check_training(program: Program, known: Propensities | None) -> None:
    """Refuse means over the training labels where no training labels are known."""
    asking = [str(measure) for measure in program.measures if measure.option("over") == "train"]
    if asking and (known is None or known.n is None or known.from_truth):
        raise UsageError(
            f"{listed(asking)}: over=train needs training labels (mend: train or counts, --train or --counts)"
        )


def _without_propensities(program: Program, warnings: list[str]) -> Program:
    """Leave out the measures that need propensities."""
    kept = [measure for measure in program.measures if not measure.needs_propensities]
    if not kept:
        raise DataError(warnings[-1])
    return compile_program(kept)


def _one(y_true: Any, y_score: Any, metric: str, k: int, **options: Any) -> float:
    return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cut(k)}"]


def precision_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute P@k, the mean over rows of hits / k; see `score` for the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> precision_at_k(np.array([[1, 0, 1]]), np.array([[.9, .8, .1]]), k=2)
    0.5
    """
    return _one(y_true, y_score, "P", k, sample_weight=sample_weight)


def recall_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute R@k, the mean over rows of hits / number of true labels; see `score` for the arguments."""
    return _one(y_true, y_score, "R", k, sample_weight=sample_weight)


def f1_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute F1@k, the mean over rows of the harmonic mean of P and R; see `score` for the arguments."""
    return _one(y_true, y_score, "F1", k, sample_weight=sample_weight)


def hit_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute Hit@k, the share of rows with a hit; see `score` for the arguments."""
    return _one(y_true, y_score, "Hit", k, sample_weight=sample_weight)


def ndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Compute nDCG@k with log2 discounts, of grades where the truth has them; see `score` for the arguments."""
    return _one(y_true, y_score, "nDCG", k, sample_weight=sample_weight)


def psp_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSP@k as a ratio of sums; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSP", k, **weighing)


def psr_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSR@k as a ratio of sums; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSR", k, **weighing)


def psndcg_at_k(y_true: Any, y_score: Any, *, k: int = 5, **weighing: Any) -> float:
    """Compute PSnDCG(norm=row)@k; `weighing` and the other arguments are those of `score`."""
    return _one(y_true, y_score, "PSnDCG", k, **weighing)
