"""Inputs: arrays or paths in; truth, scores, propensities, weights and filters out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.api.scoring.openshards import (
    Input,
    check_threshold,
    open_lean,
    open_shards,
    refuse_judgments,
)
from xmceval.errors import AmbiguousError, DataError, Doubt, argument, counted
from xmceval.files.io.addresses import is_address
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.recordlines import Records, find_records
from xmceval.files.sidecars.labelnames import Names, names_beside_ids, read_names
from xmceval.files.sidecars.numbers import read_numbers
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter
from xmceval.rows.matrices.arrays import as_array
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.frames import Frame, as_frame, check_agreement, is_frame
from xmceval.rows.matrices.lists import are_ranked_lists, are_triples
from xmceval.rows.matrices.matrices import AS_MATRIX, MatrixSource, as_scores, as_truth
from xmceval.rows.matrices.storage import Csr, Matrix, PaddedLists, is_wide
from xmceval.rows.repairs import RepairedSource, merge_duplicate_labels
from xmceval.rows.shards import Shards
from xmceval.rows.sources import ShardedSource, shards_of
from xmceval.rows.width import Width
from xmceval.scoring.batch import UNKNOWN_WIDTH
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.files.tables.rownumbers import ByRow
    from xmceval.files.tables.table import Table


@dataclass(frozen=True)
class Opener:
    """Opens truth and scores as the options ask: names of labels, duplicates, number of labels."""

    options: Options
    names: Names | None = None
    train: Any = None
    kept: Judgments | None = None
    columns: Frame | None = None  # of a truth that is a data frame
    by_row: ByRow | None = None  # the truth, if it is a table by row, for training labels

    @classmethod
    def of(cls, options: Options, train: Any = None) -> Opener:
        """Read the names of the labels, if they are passed; the shards of the training labels are found."""
        names = None if options.labels is None else read_names(options.labels)
        return cls(options, names, train)

    def truth(self, matrix: Any, name: str, width: Width = UNKNOWN_WIDTH, *, is_shard: bool = False) -> Input:
        """Open a truth, or training labels, whose shards are found."""
        if isinstance(matrix, Shards):

            def open_part(part: Any, number: int) -> Input:
                return self.truth(part, f"{name}[{number}]", width, is_shard=True)

            return open_shards(matrix, open_part, are_scores=False)
        frame = None
        if not isinstance(matrix, (str, Path)):
            table = table_of(matrix, name) or find_records(matrix, name, "grade")
            if table is None:
                _refuse_ids(self.by_row, name)
                frame = as_frame(matrix, name) if is_frame(matrix) else None
                values = matrix if frame is None else frame.values
                source = as_truth(values, name, width.or_none or self.options.n_labels)
                return replace(self._as_input(source), frame=frame)
            matrix, frame = table, _frame_of(table)
        kept = None if name == "train" else self.kept
        open_file = partial(
            open_truth,
            matrix,
            names=self.names,
            kept=kept,
            are_ids=bool(self.options.sources),
            by_row=self.by_row,
            max_line=self.options.max_line,
        )
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        lists = to_path(matrix) if opened.are_lists else None
        if name == "train" and opened.by_row is not None:
            from xmceval.files.tables.rownumbers import check_numbers  # not loaded for other files

            opened.source.warnings.extend(check_numbers(opened.by_row))
            if opened.by_row.labels is not None and (self.by_row is None or self.by_row.labels is None):
                raise names_beside_ids(name, "y_true" if self.by_row is None else self.by_row.table.name)
        repaired, by_row = self._repaired(opened.source), opened.by_row
        return Input(
            repaired, opened.description, str(matrix), opened.judgments, frame=frame, lists=lists, by_row=by_row
        )

    def scores(self, matrix: Any, truth: Input, width: Width) -> Input:
        """Open predictions, whose shards are found."""
        if not isinstance(matrix, Shards):
            return self._scores(matrix, truth, width, truth.source.n_rows)
        refuse_judgments(truth.judgments, matrix)
        # Beside one file of truth, nobody knows how many rows a shard should have.
        is_paired = len(truth.parts) == len(matrix)
        n_rows = [part.source.n_rows for part in truth.parts] if is_paired else [None] * len(matrix)

        def open_part(part: Any, number: int) -> Input:
            own = truth.parts[number] if is_paired else replace(truth, frame=None, by_row=None)
            whole = replace(truth, frame=own.frame, by_row=own.by_row)
            return self._scores(part, whole, width, n_rows[number], f"y_score[{number}]", is_shard=True)

        opened = open_shards(matrix, open_part, are_scores=True)
        if self.options.threshold is not None:
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
        """Open one file or matrix of predictions."""
        if not isinstance(matrix, (str, Path)):
            if hasattr(matrix, "iloc"):
                from xmceval.files.tables.objects import refuse_columns_of_sets  # not loaded for other matrices

                refuse_columns_of_sets(matrix, name)
            table = table_of(matrix, name) or find_records(matrix, name, "score")
            if table is None:
                _refuse_array(truth, name)
                _refuse_ids(truth.by_row, name)
                if is_frame(matrix):
                    frame = as_frame(matrix, name)
                    check_agreement(truth.frame, frame)
                    matrix = frame.values
                matrix_source = as_scores(matrix, name, width.or_none, ranks_all=self.options.n_labels is not None)
                _check_lists(truth, matrix_source)
                _check_triples(truth, matrix_source)
                _check_ids(truth, matrix_source)
                return self._as_input(matrix_source)
            check_agreement(truth.frame, _frame_of(table))
            matrix = table
        open_file = partial(
            open_scores,
            matrix,
            names=self.names,
            n_rows=n_rows,
            n_labels=width.or_none,
            judgments=truth.judgments,
            by_row=truth.by_row,
            max_line=self.options.max_line,
            ties=self.options.ties,
            missing=self.options.missing,
            ranks_all=self.options.n_labels is not None,
        )
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        if truth.judgments is not None and not opened.is_joined:
            raise DataError(
                f"{matrix}: has rows without queries, and {truth.judgments.name} has grades by query and document, "
                "whose order they cannot follow (hint: pass a TREC run, or a table of query_id, doc_id and score)"
            )
        _check_documents(truth, width)
        if opened.are_lists and truth.lists is not None:
            from xmceval.files.tables.headerless import check_lists  # not loaded for rows of idx:value

            check_lists(truth.lists, to_path(matrix))
        _check_triples(truth, opened.source)
        source = self._repaired(opened.fit_width(width.or_none))
        return Input(source, opened.description, str(matrix), lacking=opened.lacking)

    def _as_input(self, source: MatrixSource) -> Input:
        """Return a matrix as an input."""
        return Input(self._repaired(source), source.note, source.name, may_be_ids=source.may_be_ids)

    def _repaired(self, source: Source) -> Source:
        return merge_duplicate_labels(source) if self.options.duplicates == "max" else source

    def width(self, truth: Source | None) -> Width:
        """Return the number of labels that the truth, the caller and the names of labels declare."""
        n_labels = self.options.n_labels
        if truth is None or truth.n_labels is None:
            width = Width() if n_labels is None else Width(n_labels, f"{argument('n_labels')} is")
        else:
            width = Width(truth.n_labels, f"{truth.name} has")
            width = width if n_labels is None else width.agree(n_labels, argument("n_labels"))
        return width if self.names is None else width.agree(len(self.names), self.names.source)


def table_of(matrix: Any, name: str) -> Table | None:
    """Return the table that a matrix is, if it is one; most are none, for which nothing is loaded."""
    if isinstance(matrix, (np.ndarray, list, tuple, dict)) or hasattr(matrix, "tocsr"):
        return None
    from xmceval.files.tables.objects import find_table

    return find_table(matrix, name)


def _frame_of(table: Table | Records) -> Frame | None:
    """Return the index of a table whose lines are rows in order, if it has one."""
    return None if isinstance(table, Records) else table.frame


def _refuse_array(truth: Input, name: str) -> None:
    """Refuse scores by row beside grades by query and document: neither rows nor columns name what they are of."""
    if truth.judgments is not None:
        raise DataError(
            f"{name}: is an array, and {truth.judgments.name} has grades by query and document, whose order it cannot "
            "follow (hint: pass {query: {document: score}})"
        )


def _refuse_ids(truth: ByRow | None, name: str) -> None:
    """Refuse numbers of labels beside a truth whose labels are text."""
    if truth is not None and truth.labels is not None:
        raise names_beside_ids(truth.table.name, name)


def _check_documents(truth: Input, width: Width) -> None:
    """Refuse more documents than there are labels."""
    n_mentioned = None if truth.judgments is None else truth.judgments.n_mentioned
    if n_mentioned is not None and width.is_known and n_mentioned > width.n_labels:
        raise DataError(f"{truth.name} and what is scored mention {counted(n_mentioned, 'document')}, but {width}")


def _check_lists(truth: Input, scores: MatrixSource) -> None:
    """Refuse lists that were read as a matrix of another width than that of the scores: they may be ids of labels."""
    if hint_at_lists(truth) and scores.is_exact and scores.n_labels != truth.source.n_labels:
        raise DataError(
            f"{scores.name} has {counted(scores.n_labels or 0, 'column')}, but {truth.source.name} has "
            f"{counted(truth.source.n_labels or 0, 'label')}{hint_at_lists(truth)}"
        )


def _check_ids(truth: Input, scores: MatrixSource) -> None:
    """Refuse integers that were read as scores of fewer labels than lists in the truth have: they may be ids.

    Where the truth is as many columns of integers, both may be grades and scores after all: a warning says so.
    """
    are_integers = scores.is_exact and scores.dtype is not None and scores.dtype.kind in "iu"
    source = _unrepaired(truth.source)
    pieces = source.pieces if isinstance(source, MatrixSource) else ()
    if not are_integers or not isinstance(pieces, Sequence) or not isinstance(scores.pieces, Sequence):
        return
    n_columns = scores.n_labels or 0
    if truth.source.n_labels is None:
        labels = [piece.indices[:] for piece in pieces if isinstance(piece, Csr)]
        largest = max((int(np.max(ids, initial=-1)) for ids in labels), default=-1)
        if largest >= n_columns:
            raise DataError(
                f"{truth.source.name} has label {largest}, but {scores.name}, whose integers are read as scores, "
                f"has {counted(n_columns, 'column')} (hint: pass n_labels if they are ids of labels)"
            )
    elif n_columns > 1 and all(map(_look_like_ids, (*scores.pieces, *pieces))):
        scores.warnings.append(
            Doubt(
                f"{truth.source.name} and {scores.name} were read as grades and scores of {n_columns:,} labels, but "
                "look like ids of labels (hint: of ids pass the truth as a list of sets, and n_labels)"
            )
        )


def _check_triples(truth: Input, scores: Source) -> None:
    """Refuse matrices of three labels that may be lines of a row, a label and a value."""
    tables = []
    for source in map(_unrepaired, (truth.source, scores)):
        if not isinstance(source, MatrixSource) or source.n_labels != 3:
            return
        piece = next(iter(source.pieces), None)
        if not isinstance(piece, Dense):
            return
        tables.append(piece.values[:])
    if are_triples(*tables):
        raise AmbiguousError(
            f"{truth.source.name} and {scores.name} may be matrices of three labels, or have a row, a label and a "
            "value in each line (hint: pass a matrix as scipy.sparse.csr_array, and a table as a data frame with "
            "columns query_id, doc_id and score)"
        )


def _unrepaired(source: Source) -> Source:
    """Return a source as it was opened."""
    return source.source if isinstance(source, RepairedSource) else source


def _look_like_ids(matrix: Matrix) -> bool:
    """Return whether the rows of a matrix are different integers, with some that its columns do not reach."""
    if not isinstance(matrix, Dense) or matrix.values.dtype.kind not in "iu":
        return False
    labels = matrix.values[:]
    return bool(labels.size) and int(labels.max()) >= labels.shape[1] and are_ranked_lists(labels)


def hint_at_lists(truth: Input) -> str:
    """Return a hint for the message on a wrong number of labels, where lists of their ids were read as a matrix."""
    return f"; {AS_MATRIX} (hint: pass sets if they are ids of labels)" if truth.may_be_ids else ""


def is_same(path: str | Path, source: Source) -> bool:
    """Return whether a path is that of the file of a source."""
    addresses = _addresses_of(source)
    return _have_same_name(path, source.name) and (not addresses or to_path(path) in addresses)


def are_same(first: Source, second: Source) -> bool:
    """Return whether two sources are of the same files."""
    names = [[shard.name for shard in shards_of(source)] for source in (first, second)]
    if len(names[0]) != len(names[1]) or not all(map(_have_same_name, *names)):
        return False
    return _addresses_of(first) == _addresses_of(second)


def _have_same_name(first: str | Path, second: str) -> bool:
    """Return whether two names are of the same file, as far as names without credentials show it."""
    path, other = to_path(first), to_path(second)
    if isinstance(path, RemotePath) or isinstance(other, RemotePath):
        return str(path) == str(other)
    return other.exists() and path.exists() and path.samefile(other)


def _addresses_of(source: Source) -> list[Path]:
    """Return the addresses of remote files: names do not have their query strings, which may tell files apart."""
    shards = [shard for shard in shards_of(source) if is_address(shard.name)]
    paths = dict.fromkeys(path for shard in shards for path in shard.files())
    return [path for path in paths if isinstance(path, RemotePath)]


def take_numbers(values: Any, name: str, per: str = "label") -> tuple[Float64, str]:
    """Take one number per label, or per row, from a file or an array; also return the name for messages."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), to_path(values).name
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number per {per}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


def find_filter(pairs: Any, truth: Source | None, width: Width) -> Filter | None:
    """Take the pairs of a filter, and check them against the size of the truth, where known."""
    if pairs is None:
        return None
    from xmceval.files.sidecars.filterfile import take_filter  # not loaded by a score without it

    checked = take_filter(pairs)
    if truth is not None and truth.n_rows is not None:
        checked.check_rows(truth.n_rows, truth.name)
    checked.check_labels(width)
    return checked


def _held_pieces(scores: Source) -> list[Any]:
    """Return what is in memory of scores, or of their shards."""
    if isinstance(scores, ShardedSource):
        return [piece for shard in scores.shards for piece in _held_pieces(shard)]
    source = _unrepaired(scores)
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
