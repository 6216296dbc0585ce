"""Read matrices (scipy, numpy, DLPack, array files in pieces) as blocks of rows, without modifying them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmceval.errors import DataError, Fault
from xmceval.rows.block import Block, EntryNames, Int64, Rows, Scratch, Selected, StoredRows
from xmceval.rows.matrices import storage, tensors
from xmceval.rows.matrices.dense import Dense, lowest_labels, select
from xmceval.rows.matrices.lists import as_list, find_lists, find_pair, join_lists, refuse_dicts, refuse_sets
from xmceval.rows.matrices.rankings import are_ids, doubt_ids, in_memory
from xmceval.rows.matrices.sparse import csr_arrays
from xmceval.rows.matrices.storage import Csr, Matrix, PaddedLists
from xmceval.rows.matrices.tensors import as_values, shape_of
from xmceval.rows.source import Blocks, Source

BLOCK_ENTRIES = 1 << 17  # entries per block, which then stays in the processor's cache
AS_MATRIX = "lists of equal length, read as a dense matrix"
RANKED = "ids of labels without scores, the best first"

BLOCK_ROWS = 1 << 15  # rows per block, so that nearly empty rows do not make long blocks


@dataclass
class MatrixRows(StoredRows):
    """A slice of rows of one piece of a matrix."""

    source: Source
    piece: Matrix
    start: int  # range of rows in the piece
    n_rows: int
    row: int  # the number of the first row in the matrix

    @property
    def n_columns(self) -> int | None:
        """The number of columns of dense rows; None for other rows."""
        if not isinstance(self.piece, Dense):
            return None
        return int(self.piece.values.shape[1])

    def split(self, n_rows: int) -> tuple[MatrixRows, MatrixRows]:
        """Return the first rows, and the rest."""
        rest = replace(self, start=self.start + n_rows, row=self.row + n_rows, n_rows=self.n_rows - n_rows)
        return replace(self, n_rows=n_rows), rest

    def parse(self, scratch: Scratch) -> Rows:
        """Copy the rows into the scratch arrays, as int64 and float64."""
        return self.piece.copy_rows(self.start, self.start + self.n_rows, scratch)

    def place(self, row: int) -> str:
        """Return the name of the matrix and the number of a row in it."""
        return f"{self.source.name} row {self.row + row}"

    def entry_names(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row."""
        names = self.source.names
        if names is None:
            return super().entry_names(row, label)
        return names(self.row + row, label)

    def lowest_labels(self, n_rows: int) -> Int64 | None:
        """Return the label with the lowest score in each of the first rows, for dense rows with a selection."""
        if self.source.depth is None or not isinstance(self.piece, Dense):
            return None
        return lowest_labels(self.piece.values, slice(self.start, self.start + min(n_rows, self.n_rows)))

    def select(self, truth: Rows, scratch: Scratch) -> Selected | None:
        """Select the `depth` best labels of each row, and the true labels that tie with the last."""
        if self.source.depth is None or not isinstance(self.piece, Dense):
            return None
        rows = slice(self.start, self.start + self.n_rows)
        nan = np.array([-1, -1], dtype=np.int64)
        selected = select(self.piece.values, rows, self.source.depth, truth, scratch, nan)
        row, label = nan.tolist()
        if row >= 0:
            raise Fault(row, f"{self.place(row)}: the score value of label {label} is NaN; expected a number")
        return selected


def read_matrix(source: Source) -> Blocks:
    """Yield blocks of about BLOCK_ENTRIES entries, and of at most BLOCK_ROWS rows.

    Blocks of dense matrices that are read without a copy have many more entries.
    """
    first_row = source.start
    for piece in pieces_of(source, first_row):
        start = 0
        n_rows = piece.n_rows
        while start < n_rows:
            stop = _stop_block(source, piece, start, n_rows)
            row = first_row + start
            yield Block(MatrixRows(source, piece, start, stop - start, row), row)
            start = stop
        first_row += n_rows


def pieces_of(source: Source, first_row: int = 0) -> Iterable[Matrix]:
    """Return the rows of a matrix in order, those in files from a row on."""
    stored = source.stored
    if stored is None:
        return ()
    if isinstance(stored, Matrix):
        return (stored,)
    return stored(first_row)


def _stop_block(source: Source, piece: Matrix, start: int, n_rows: int) -> int:
    """Return the row of a piece where the block from `start` on ends."""
    n_entries = BLOCK_ENTRIES
    if isinstance(piece, Dense):
        n_entries = piece.entries_at_once(BLOCK_ENTRIES, are_selected=source.depth is not None)
    return min(max(piece.stop_after(start, n_entries), start + 1), start + BLOCK_ROWS, n_rows)


def whole_block(source: Source, first_row: int = 0, prefix: str = "") -> Block | None:
    """Return all rows of a matrix in memory as one block, shifted as by `Block.shifted`.

    None if there are no rows, too many, or repairs.
    """
    stored = source.stored
    n_rows = source.n_rows
    if not isinstance(stored, Matrix) or not n_rows:
        return None
    if source.repairs or _stop_block(source, stored, 0, n_rows) < n_rows:
        return None
    return Block(MatrixRows(source, stored, 0, n_rows, 0), first_row, prefix)


def ordered(source: Source, rows: Int64 | None = None, columns: Int64 | None = None) -> Source:
    """Return the same matrix, in memory, with its rows, and the columns if dense, in another order."""
    stored: Any = source.stored
    if not isinstance(stored, Matrix):
        stored = storage.join_pieces(pieces_of(source))
    if columns is not None:
        stored = Dense(stored.values[:][:, columns], stored.are_scores)
    if rows is not None:
        stored = stored.taken(rows)
    return replace(source, stored=stored, files=(), can_start=None)


def is_sparse(matrix: Any) -> bool:
    """Return whether it is a sparse matrix, of scipy or with the same attributes."""
    return hasattr(matrix, "tocsr")  # not `nnz`, which reads unchecked arrays


def count_columns(y_score: Any) -> int | None:
    """Return the number of labels of a matrix of scores in memory; None for other predictions."""
    if is_sparse(y_score):
        shape = y_score.shape
        has_scores = True
    else:
        shape = shape_of(as_list(y_score))
        has_scores = "float" in str(getattr(y_score, "dtype", "float"))  # integers may be ids
    if not has_scores or len(shape) != 2:
        return None
    return int(shape[1])


def as_truth(y_true: Any, name: str = "y_true", n_labels: int | None = None, *, has_grades: bool = False) -> Source:
    """Wrap a truth matrix.

    Any scipy.sparse matrix or array, a sparse tensor of PyTorch, or a dense indicator [n_rows, n_labels] of any
    library that exports DLPack; or the ids of each row's labels, as a list of lists, sets, arrays or tensors,
    or as a nested tensor. With `has_grades`, lists of equal length are rows of a matrix.
    """
    y_true = _take_sparse(y_true, name, are_scores=False)
    if isinstance(y_true, Source):
        return y_true
    lists = find_lists(y_true, name, n_labels, are_scores=False, has_grades=has_grades)
    if lists is not None:
        return Source(name, read_matrix, lists.n_rows, stored=lists, reading="lists of ids of labels")
    values = as_values(y_true, name)
    if isinstance(y_true, (list, tuple)):
        reading = AS_MATRIX
    else:
        reading = f"dense array of {storage.name_of(values.dtype)}"
    dense = Dense(values, are_scores=False)
    n_rows, width = values.shape
    return Source(name, read_matrix, n_rows, width, stored=dense, reading=reading)


def as_scores(y_score: Any, name: str = "y_score", n_labels: int | None = None) -> Source:
    """Wrap a score matrix.

    Any scipy.sparse matrix or array, or a sparse tensor of PyTorch (stored entries are the predictions, zeros too); a
    dense array [n_rows, n_labels] of any library that exports DLPack, in which -inf means not predicted; a pair of
    arrays with labels and scores, both [n_rows, any width], in which label -1 is padding; or ranked labels, best first:
    a list of lists, arrays or tensors, or integers [n_rows, any width] that `are_ids` takes for labels.
    """
    y_score = _take_sparse(y_score, name, are_scores=True)
    if isinstance(y_score, Source):
        return y_score
    pair = find_pair(y_score, name)
    if pair is not None:
        joined: Csr | PaddedLists | None = join_lists(pair)
        reading = "lists of ids of labels and of their scores"
        if joined is None:
            ids = as_values(pair.labels, pair.labels_name)
            values = as_values(pair.scores, pair.scores_name)
            if ids.dtype.kind not in "iu":
                raise DataError(f"{pair.labels_name}: labels must be integers, got dtype {ids.dtype}")
            if ids.shape != values.shape:
                raise DataError(
                    f"{pair.labels_name} has shape {ids.shape}, but {pair.scores_name} has shape {values.shape}; "
                    "expected the same shape"
                )
            reading = f"ids of labels in {pair.labels_name}, scores in {pair.scores_name}"
            joined = PaddedLists(ids[:], values)
        name = pair.labels_name
        dtype = joined.values.dtype
        return Source(name, read_matrix, joined.n_rows, stored=joined, dtype=dtype, reading=reading)
    lists = find_lists(y_score, name, n_labels, are_scores=True)
    if lists is not None:
        refuse_sets(y_score, name)
        return Source(name, read_matrix, lists.n_rows, stored=lists, reading=RANKED, is_ranked=True)
    values = as_values(y_score, name)
    numbers = in_memory(values)
    if are_ids(numbers, name, n_labels):
        labels = values[:]
        ranks = np.broadcast_to(np.arange(labels.shape[1], 0.0, -1), labels.shape)
        return Source(name, read_matrix, len(labels), stored=PaddedLists(labels, ranks), reading=RANKED, is_ranked=True)
    reading = f"dense array of {storage.name_of(values.dtype)}, a score for each label"
    dense = Dense(values, are_scores=True)
    n_rows, width = values.shape
    doubts = doubt_ids(numbers, name)
    return Source(name, read_matrix, n_rows, width, stored=dense, notes=doubts, dtype=values.dtype, reading=reading)


def _take_sparse(matrix: Any, name: str, *, are_scores: bool) -> Any:
    """Wrap a sparse matrix or tensor; return anything else as a list or array of rows."""
    dtype = None
    if not is_sparse(matrix):
        matrix = as_list(matrix)
        refuse_dicts(matrix, name, are_scores=are_scores)
        if isinstance(matrix, np.ndarray) or not tensors.is_sparse(matrix := tensors.unnested(matrix)):
            return matrix
        matrix, dtype = tensors.as_scipy(matrix, name)
    elif type(matrix).__module__.startswith("cupyx"):
        matrix = matrix.get()
    csr = Csr(*csr_arrays(matrix, name), are_scores)
    reading = f"sparse matrix of {storage.name_of(matrix.dtype)}"
    storage.check_dtype(matrix.dtype, name)
    n_rows, n_labels = map(int, matrix.shape)
    return Source(name, read_matrix, n_rows, n_labels, stored=csr, dtype=dtype or matrix.dtype, reading=reading)


def open_pair(
    y_true: Any, y_score: Any, n_labels: int | None = None, *, has_grades: bool = False, depth: int | None = None
) -> tuple[Source, Source] | None:
    """Open arrays or sparse matrices as truth and predictions; None if their rows or labels may have names.

    `n_labels` is known from the caller or earlier batches; `depth` is the number of labels to select per dense row.
    """
    if not all(value.ndim == 2 if isinstance(value, np.ndarray) else is_sparse(value) for value in (y_true, y_score)):
        return None
    truth = as_truth(y_true, has_grades=has_grades)
    if n_labels is None:
        n_labels = truth.n_labels
    scores = as_scores(y_score, n_labels=n_labels)
    if isinstance(scores.stored, Dense):
        scores.depth = depth  # set, not replaced, as it was made here
    return truth, scores


def check_narrow(scores: Source, what: str = "") -> None:
    """Refuse values that float64 would round; `what` says where scores are compared, if not within their rows."""
    for matrix in scores.parts:
        if matrix.dtype is None or not storage.may_be_wide(matrix.dtype):
            continue
        for piece in pieces_of(matrix):
            values = piece.values[:]
            if isinstance(piece, Csr):
                values = values[int(piece.indptr[0]) : int(piece.indptr[-1])]
            if storage.is_wide(values):
                then = ""
                if what:
                    then = f", so they cannot be compared {what} (hint: scale them, or pass float64)"
                raise DataError(f"{matrix.name}: has values that float64 would round ({values.dtype}){then}")
