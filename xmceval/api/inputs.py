"""Inputs beside the matrices: where propensities, widths, weights and filters come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.files.columns import read_numbers
from xmceval.files.filters import read_filter
from xmceval.files.judgments import Judgments
from xmceval.files.names import Names
from xmceval.files.opening import open_scores, open_truth
from xmceval.labels.catalogue import Dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import Propensities, constants, from_counts, given, of_table
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter, as_filter
from xmceval.rows.matrices import as_scores, as_truth
from xmceval.rows.repairs import merge_duplicate_labels
from xmceval.rows.storage import is_wide
from xmceval.rows.width import UNKNOWN, Width
from xmceval.scoring.program import Program, compile_program

DUPLICATES = ("error", "max")

CHOICES = {
    "empty_rows": ("zero", "drop"),
    "unscored": ("bottom", "zero"),
    "duplicates": DUPLICATES,
    "ties": ("label", "expected", "best", "worst"),
}


def check_choices(**chosen: str) -> None:
    """Refuse a choice that an argument does not have."""
    for name, value in chosen.items():
        if value not in CHOICES[name]:
            raise UsageError(f"{name} must be one of {listed(CHOICES[name])}, got {value!r}")


def check_ties(program: Program, ties: str) -> None:
    """Refuse a treatment of ties for metrics that have none; where a definition settles ties itself, it stands."""
    if ties == "label":
        return
    along = {"AP", "RR", "R@n", "DCG", "nDCG", "ERR", "AUC@k"} if ties == "expected" else {"AUC@k"}
    without = [str(measure) for measure, kind in program.whole_row_outputs if kind in along]
    without += [str(measure) for part in program.labelwise for measure in part.measures if measure.k is not None]
    if without:
        raise UsageError(
            f"ties={ties} is for metrics of the k best labels; it is not available for {listed(without)}, "
            "which follow the order by label"
        )


def check_narrow(y_score: Any) -> None:
    """Refuse scores that a threshold cannot be held against, because float64 would round them."""
    values = getattr(y_score, "data", y_score) if hasattr(y_score, "tocsr") else y_score
    values = y_score[1] if isinstance(y_score, tuple) else values
    if isinstance(values, np.ndarray) and is_wide(values):
        raise DataError(
            f"y_score has values that float64 would round ({values.dtype}), so no threshold can be held against them "
            "(hint: scale them, or give float64)"
        )


def _is_same(first: str | Path, second: str) -> bool:
    return Path(second).exists() and Path(first).exists() and Path(first).samefile(second)


def numbers(values: Any, name: str, what: str = "label") -> tuple[Float64, str]:
    """Take one number a label, or a row, from a file or an array."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), Path(values).name
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number a {what}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


def weights_of(values: Any, truth: Source) -> tuple[Float64, float]:
    """Take sample weights and scale them by a power of two, so that the largest lies in [1, 2); also return that power.

    So the values that are summed do not depend on the unit of the weights, and no precision is lost.
    """
    weights, name = numbers(values, "sample_weight", "row")
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


def weight_warnings(weights: Float64 | None) -> list[str]:
    """Say where weights are so unequal that the small ones leave the range of exact sums."""
    some = np.empty(0) if weights is None else weights[weights > 0]
    if some.size == 0 or some.min() >= 2.0**-30 * some.max():
        return []
    said = (
        f"the smallest weight is {some.min() / some.max():.1g} of the largest: sums are exact to 2^-60 of the largest "
        "(counts by label to 2^-40), which leaves few digits of so small ones, and no true interval"
    )
    return [said]


def filter_of(pairs: Any, filter_truth: bool, truth: Source, width: Width) -> Filter | None:
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


def width_of(truth: Source, n_labels: int | None) -> Width:
    """Settle the number of labels from the truth and the caller."""
    if truth.n_labels is None:
        return Width() if n_labels is None else Width(n_labels, "n_labels (--n-labels) announces")
    width = Width(truth.n_labels, f"{truth.name} has")
    return width if n_labels is None else fit(width, n_labels, "n_labels (--n-labels)")


def fit(width: Width, n_labels: int, name: str) -> Width:
    """Hold a second number of labels against the first."""
    if width.n_labels == UNKNOWN:
        return Width(n_labels, f"{name} has")
    if n_labels != width.n_labels:
        raise DataError(
            f"{name} has {counted(n_labels, 'label')}, but {width.said_by} {counted(width.n_labels, 'label')}"
        )
    return width


def check_training(program: Program, known: Propensities | None) -> None:
    """Refuse means over the training labels where no training labels are known."""
    asking = [str(measure) for measure in program.measures if measure.option("over") == "train"]
    if asking and (known is None or known.n is None or known.from_truth):
        raise UsageError(
            f"{listed(asking)}: over=train needs training labels (hint: train or counts, --train or --counts)"
        )


def without_propensities(program: Program, warnings: list[str]) -> Program:
    """Leave out the measures that need propensities."""
    kept = [measure for measure in program.measures if not measure.needs_propensities]
    if not kept:
        raise DataError(warnings[-1])
    return compile_program(kept)


@dataclass(frozen=True)
class Door:
    """How files are opened: names of labels, what becomes of duplicates, and where to say what was inferred."""

    names: Names | None = None
    duplicates: str = "error"
    n_labels: int | None = None
    notes: list[str] = field(default_factory=list)
    judgments: dict[str, Judgments] = field(default_factory=dict)  # by the name of the truth

    def truth(self, matrix: Any, name: str, n_labels: int = UNKNOWN) -> Source:
        """Open a truth, whatever it is."""
        if isinstance(matrix, (str, Path)):
            known = self.n_labels if n_labels == UNKNOWN else n_labels
            known = len(self.names) if known is None and self.names is not None else known
            opened = open_truth(matrix, names=self.names, n_labels=known)
            self.notes.append(f"{matrix}: {opened.description}")
            source: Source = opened.source
            if opened.judgments is not None:
                self.judgments[source.name] = opened.judgments
        else:
            source = as_truth(matrix, name)
        return self._repaired(source)

    def scores(self, y_score: Any, truth: Source, n_labels: int, notes: list[str]) -> Source:
        """Open predictions, whatever they are."""
        if not isinstance(y_score, (str, Path)):
            return self._repaired(as_scores(y_score))
        known = None if n_labels == UNKNOWN else n_labels
        judgments = self.judgments.get(truth.name)
        opened = open_scores(y_score, names=self.names, n_rows=truth.n_rows, n_labels=known, judgments=judgments)
        notes.append(f"{y_score}: {opened.description}")
        return self._repaired(opened.fit_width(known))

    def _repaired(self, source: Source) -> Source:
        return merge_duplicate_labels(source) if self.duplicates == "max" else source


@dataclass(frozen=True)
class Model:
    """The constants of the propensity model."""

    a: float
    b: float

    @classmethod
    def of(cls, entry: Dataset | None, a: float | None, b: float | None) -> Model:
        """Take the constants of a data set, those given going first."""
        return cls(*constants(entry, a, b))

    def weigh(
        self,
        truth: Source,
        given_by: Mapping[str, Any],
        n_train: int | None,
        width: Width,
        threads: int | None,
        door: Door,
        warnings: list[str],
    ) -> tuple[Width, Propensities | None]:
        """Take inverse propensities from the one source that is given, or from the truth itself."""
        sources = [name for name, value in given_by.items() if value is not None]
        if len(sources) > 1:
            raise UsageError(f"give one of {listed(given_by)}, not {' and '.join(sources)}")
        if sources and sources[0] != "train":
            values, name = numbers(given_by[sources[0]], sources[0])
            width = fit(width, values.size, name)
            is_counts = sources[0] == "counts"
            return width, self.of_counts(values, n_train, name) if is_counts else given(values, name)
        return self.of_matrix(truth, given_by["train"], width, threads, door, warnings)

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
                "such values are not comparable with published ones (hint: --train FILE)"
            )
        elif matrix.n_labels is not None:
            width = fit(width, matrix.n_labels, matrix.name)
        is_truth = train is None or (isinstance(train, (str, Path)) and _is_same(train, truth.name))
        if is_truth and train is not None:
            warnings.append(
                f"the training labels are {truth.name} itself: such values are not comparable with published ones"
            )
        counts = count_labels(matrix, width=width, threads=threads)
        warnings.extend(said for said in matrix.warnings if train is not None)
        if counts.n_rows < 3:
            warnings.append(
                f"{matrix.name} has {counted(counts.n_rows, 'row')}: propensities are not defined below 3, "
                "the metrics that need them are left out"
            )
            return width, None
        source = Path(matrix.name).name
        return width, from_counts(counts, source, self.a, self.b, from_truth=is_truth)
