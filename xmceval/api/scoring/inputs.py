"""Inputs: arrays or paths in; truth, scores, propensities, weights and filters out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.files.fuse import Fused
from xmceval.api.scoring.openshards import (
    Input,
    check_threshold,
    fused_shards,
    open_lean,
    open_shards,
    refuse_judgments,
)
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.addresses import is_address
from xmceval.files.io.byteranges import list_files
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.sidecars.filterfile import read_filter
from xmceval.files.sidecars.labelnames import Names, read_names
from xmceval.files.sidecars.numbers import read_numbers
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import Propensities, constants, from_counts, from_label_counts, from_values
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter, as_filter
from xmceval.rows.matrices.arrays import as_array
from xmceval.rows.matrices.matrices import AS_MATRIX, MatrixSource, as_scores, as_truth
from xmceval.rows.matrices.storage import PaddedLists, is_wide
from xmceval.rows.repairs import RepairedSource, merge_duplicate_labels
from xmceval.rows.shards import Shards
from xmceval.rows.sources import ShardedSource, shards_of
from xmceval.rows.width import Width
from xmceval.scoring.batch import UNKNOWN_WIDTH
from xmceval.scoring.options import Options

LEAST_WEIGHT = 2.0**-30  # of the largest; below, few digits are left of a weight


@dataclass(frozen=True)
class Opener:
    """Opens truth and scores as the options ask: names of labels, duplicates, number of labels."""

    options: Options
    names: Names | None = None

    @classmethod
    def of(cls, options: Options) -> Opener:
        """Read the names of the labels, if they are passed."""
        return cls(options, None if options.labels is None else read_names(options.labels))

    def truth(self, matrix: Any, name: str, width: Width = UNKNOWN_WIDTH, *, is_shard: bool = False) -> Input:
        """Open a truth, or training labels."""
        matrix = find_shards(matrix)
        if isinstance(matrix, Shards):

            def open_part(part: Any, number: int) -> Input:
                return self.truth(part, f"{name}[{number}]", width, is_shard=True)

            return open_shards(matrix, open_part, are_scores=False)
        if not isinstance(matrix, (str, Path)):
            source = as_truth(matrix, name, width.or_none or self.options.n_labels)
            return self._as_input(source)
        n_labels = width.or_none or self.options.n_labels or (None if self.names is None else len(self.names))
        open_file = partial(open_truth, matrix, names=self.names, n_labels=n_labels, max_line=self.options.max_line)
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        if name == "train" and opened.judgments is not None:
            check_common_labels(opened.judgments, opened.judgments.name)
        return Input(self._repaired(opened.source), opened.description, str(matrix), opened.judgments)

    def scores(self, matrix: Any, truth: Input, width: Width) -> Input:
        """Open predictions."""
        matrix = fused_shards(matrix) if isinstance(matrix, Fused) else find_shards(matrix, are_scores=True)
        if not isinstance(matrix, Shards):
            return self._scores(matrix, truth, width, truth.source.n_rows)
        refuse_judgments(truth.judgments, matrix)
        # Beside one file of truth, nobody knows how many rows a shard should have.
        is_paired = len(truth.parts) == len(matrix)
        n_rows = [part.source.n_rows for part in truth.parts] if is_paired else [None] * len(matrix)

        def open_part(part: Any, number: int) -> Input:
            return self._scores(part, truth, width, n_rows[number], f"y_score[{number}]", is_shard=True)

        opened = open_shards(matrix, open_part, are_scores=True)
        check_threshold(self.options.threshold, opened)
        return opened

    def _scores(
        self,
        matrix: Any,
        truth: Input,
        width: Width,
        n_rows: int | None,
        name: str = "y_score",
        *,
        is_shard: bool = False,
    ) -> Input:
        """Open one file or matrix of predictions, or the fused predictions of several."""
        if isinstance(matrix, Fused):
            open_one = partial(self._scores, n_rows=n_rows, is_shard=True) if is_shard else self.scores
            systems = [open_one(each, truth=truth, width=width) for each in matrix.systems]
            notes = "; ".join(each.note for each in systems if each.note)
            return Input(matrix.source([each.source for each in systems]), notes)
        if not isinstance(matrix, (str, Path)):
            matrix_source = as_scores(matrix, name, width.or_none)
            _check_lists(truth, matrix_source)
            return self._as_input(matrix_source)
        open_file = partial(
            open_scores,
            matrix,
            names=self.names,
            n_rows=n_rows,
            n_labels=width.or_none,
            judgments=truth.judgments,
            max_line=self.options.max_line,
            ties=self.options.ties,
        )
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        return Input(self._repaired(opened.fit_width(width.or_none)), opened.description, str(matrix))

    def _as_input(self, source: MatrixSource) -> Input:
        """Return a matrix as an input."""
        return Input(self._repaired(source), source.note, source.name, may_be_ids=source.may_be_ids)

    def _repaired(self, source: Source) -> Source:
        return merge_duplicate_labels(source) if self.options.duplicates == "max" else source

    def width(self, truth: Source) -> Width:
        """Return the number of labels that the truth, the caller and the names of labels declare."""
        n_labels = self.options.n_labels
        if truth.n_labels is None:
            width = Width() if n_labels is None else Width(n_labels, f"{argument('n_labels')} is")
        else:
            width = Width(truth.n_labels, f"{truth.name} has")
            width = width if n_labels is None else width.agree(n_labels, argument("n_labels"))
        return width if self.names is None else width.agree(len(self.names), self.names.source)


def _check_lists(truth: Input, scores: MatrixSource) -> None:
    """Refuse lists that were read as a matrix of another width than that of the scores: they may be ids of labels."""
    if hint_at_lists(truth) and scores.is_exact and scores.n_labels != truth.source.n_labels:
        raise DataError(
            f"{scores.name} has {counted(scores.n_labels or 0, 'column')}, but {truth.source.name} has "
            f"{counted(truth.source.n_labels or 0, 'label')}{hint_at_lists(truth)}"
        )


def hint_at_lists(truth: Input) -> str:
    """Return a hint for the message on a wrong number of labels, where lists of their ids were read as a matrix."""
    return f"; {AS_MATRIX} (hint: pass sets if they are ids of labels)" if truth.may_be_ids else ""


def check_common_labels(judgments: Judgments | None, *others: object) -> None:
    """Refuse inputs by label beside documents whose labels are numbers that only their own file gives them."""
    passed = [other for other in others if other is not None]
    if judgments is not None and judgments.has_own_labels and passed:
        other = passed[0] if isinstance(passed[0], (str, Path)) else "an array"
        hint = (
            ""
            if judgments.documents is None
            else f" (hint: pass {argument('labels', kind='FILE')}, with one document per line)"
        )
        raise DataError(
            f"{other}: cannot be matched by label, as the documents of {judgments.name} are only numbered by their "
            f"places in it{hint}"
        )


@dataclass(frozen=True)
class Weighing:
    """Where the weights of labels come from.

    Attributes
    ----------
    width : Width
        The number of labels, which the source may declare.
    propensities : Propensities or None
        None where there are too few rows to estimate them.
    notes, warnings : tuple of str
    """

    width: Width
    propensities: Propensities | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def find_propensities(opener: Opener, truth: Source, width: Width) -> Weighing:
    """Find inverse propensities in the one source that the options name, or else estimate them from the truth."""
    options = opener.options
    a, b = constants(None if options.dataset is None else find_dataset(options.dataset), options.a, options.b)
    if options.inverse_propensities is not None:
        values, name = numbers(options.inverse_propensities, "inverse_propensities")
        return Weighing(width.agree(values.size, name), from_values(values, name))
    if options.counts is not None:
        values, name = numbers(options.counts, "counts")
        return Weighing(width.agree(values.size, name), from_counts(values, options.n_train or 0, name, a, b))
    return _estimate_propensities(opener, truth, width, a, b)


def _estimate_propensities(opener: Opener, truth: Source, width: Width, a: float, b: float) -> Weighing:
    """Estimate from the frequencies of the training labels, or of the truth where there are none."""
    train, warnings = opener.options.train, list[str]()
    training = Input(truth) if train is None else opener.truth(train, "train", width)
    source = training.source
    if train is not None and source.n_labels is not None:
        width = width.agree(source.n_labels, source.name)
    is_truth = train is None or _are_same(source, truth)
    if train is None:
        warnings.append(
            "no training labels were passed: propensities come from the label frequencies of "
            f"{truth.name} itself, and such values are not comparable with published ones "
            f"(hint: pass {argument('train', kind='FILE')})"
        )
    elif is_truth:
        warnings.append(
            f"the training labels are {truth.name} itself: such values are not comparable with published ones"
        )
    counts = count_labels(source, width=width, threads=opener.options.threads, may_merge=True)
    if train is not None:
        warnings.extend(source.warnings)
    if counts.n_rows < 3:
        warnings.append(
            f"{source.name} has {counted(counts.n_rows, 'row')}: propensities are not defined below 3, "
            "and the metrics that need them are left out"
        )
        return Weighing(width, None, training.notes, tuple(warnings))
    propensities = from_label_counts(counts, to_path(source.name).name, a, b, from_truth=is_truth)
    return Weighing(width, propensities, training.notes, tuple(warnings))


def is_same(path: str | Path, source: Source) -> bool:
    """Return whether a path is that of the file of a source."""
    return _have_same_name(path, source.name) and _is_any_of(to_path(path), _addresses_of(source))


def _are_same(first: Source, second: Source) -> bool:
    """Return whether two sources are of the same files."""
    names = [[each.name for each in shards_of(source)] for source in (first, second)]
    if len(names[0]) != len(names[1]) or not all(map(_have_same_name, *names)):
        return False
    return _addresses_of(first) == _addresses_of(second)


def _have_same_name(first: str | Path, second: str) -> bool:
    """Return whether two names are of the same file, as far as names without credentials show it."""
    path, other = to_path(first), to_path(second)
    if isinstance(path, RemotePath) or isinstance(other, RemotePath):
        return str(path) == str(other)
    return other.exists() and path.exists() and path.samefile(other)


def _is_any_of(path: Path, addresses: Sequence[Path]) -> bool:
    return not addresses or path in addresses


def _addresses_of(source: Source) -> list[Path]:
    """Return the addresses of remote files: names do not have their query strings, which may tell files apart."""
    shards = [each for each in shards_of(source) if is_address(each.name)]
    return [path for path in list_files(shards) if isinstance(path, RemotePath)]


def numbers(values: Any, name: str, per: str = "label") -> tuple[Float64, str]:
    """Take one number per label, or per row, from a file or an array; also return the name for messages."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), to_path(values).name
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number per {per}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


@dataclass(frozen=True)
class Weights:
    """Sample weights, divided by a power of two so that the largest lies in [1, 2).

    So the values that are summed do not depend on the unit of the weights, and no precision is lost.
    """

    values: Float64 | None = None
    unit: float = 1.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning where weights differ so much that the small ones leave the range of exact sums."""
        used = np.empty(0) if self.values is None else self.values[self.values > 0]
        return doubt_small_weights(used.min(initial=np.inf), used.max(initial=0.0))


def doubt_small_weights(least: float, greatest: float) -> tuple[str, ...]:
    """Warn where the least weight above 0 leaves the range of exact sums; infinity where there is none."""
    if least >= LEAST_WEIGHT * greatest:
        return ()
    warning = (
        f"the smallest weight is {least / greatest:.1g} of the largest: sums are exact to 2^-60 of the "
        "largest (counts by label to 2^-40), which leaves few digits of small weights, and too narrow an interval"
    )
    return (warning,)


def check_any_weight(name: str, greatest: float, n_rows: int) -> None:
    """Refuse rows of which none has a weight above 0."""
    if n_rows and not greatest:
        raise DataError(f"{name}: every weight is 0, no row is left")


def read_weights(values: Any, truth: Source, max_weight: float | None = None) -> Weights:
    """Take sample weights, one per row of the truth; their scale is that of `max_weight`, or of the largest.

    Raises
    ------
    UsageError
        A `max_weight` without weights, or that is not a number above 0.
    DataError
        Another number of weights than rows, a negative or infinite weight, or only zeros.
    """
    unit = None if max_weight is None else unit_of(max_weight)
    if values is None:
        if unit is not None:
            raise UsageError(f"{argument('max_weight')} has no effect without {argument('sample_weight')}")
        return Weights()
    weights, name = numbers(values, "sample_weight", "row")
    if truth.n_rows is not None and weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} {counted(truth.n_rows, 'row')}; "
            "expected one weight per row"
        )
    wrong = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{name}:{row + 1}: the weight of row {row} is {weights[row]:g}; expected a number of at least 0"
        )
    greatest = float(weights.max(initial=0.0))
    check_any_weight(name, greatest, weights.size)
    if max_weight is not None and greatest > max_weight:
        row = int(np.argmax(weights))
        limit = f"{argument('max_weight')}, {max_weight:g}"
        raise DataError(f"{name}:{row + 1}: the weight of row {row} is {greatest:g}, above {limit}")
    unit = unit or unit_of(greatest or 1.0)
    return Weights(weights / unit, unit)


def unit_of(max_weight: Any) -> float:
    """Return the power of two below the largest weight that may come.

    Raises
    ------
    UsageError
        Anything but a number above 0.
    """
    is_number = isinstance(max_weight, (int, float, np.number)) and not isinstance(max_weight, bool)
    if not is_number or not 0 < max_weight < math.inf:
        raise UsageError(f"{argument('max_weight')} must be a number above 0, got {max_weight!r}")
    return math.ldexp(1.0, math.frexp(float(max_weight))[1] - 1)


def find_filter(pairs: Any, truth: Source | None, width: Width) -> Filter | None:
    """Take the pairs of a filter and check them against the truth, as far as its size is known."""
    if pairs is None:
        return None
    checked = read_filter(pairs) if isinstance(pairs, (str, Path)) else as_filter(pairs)
    if truth is not None and truth.n_rows is not None:
        checked.check_rows(truth.n_rows, truth.name)
    checked.check_labels(width)
    return checked


def _held_pieces(scores: Source) -> list[Any]:
    """Return what is in memory of scores, or of their shards."""
    if isinstance(scores, ShardedSource):
        return [piece for shard in scores.shards for piece in _held_pieces(shard)]
    source = scores.source if isinstance(scores, RepairedSource) else scores
    return source.pieces if isinstance(source, MatrixSource) and isinstance(source.pieces, list) else []


def check_narrow(scores: Source) -> None:
    """Refuse scores that cannot be compared with a threshold, because float64 would round them."""
    for piece in _held_pieces(scores):
        stored = piece.scores if isinstance(piece, PaddedLists) else piece.values
        if stored.dtype.kind in "iuf" and stored.dtype.itemsize >= 8 and is_wide(stored[:]):
            raise DataError(
                f"y_score has values that float64 would round ({stored.dtype}), so they cannot be compared with a "
                "threshold (hint: scale them, or pass float64)"
            )
