"""Read matrices (scipy, numpy, DLPack, array files in pieces) as blocks of rows, without modifying them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Fault
from xmceval.rows.block import Block, EntryNames, Int64, Rows, Scratch, Selected, Source, StoredRows
from xmceval.rows.matrices import storage, tensors
from xmceval.rows.matrices.dense import Dense, lowest_labels, select
from xmceval.rows.matrices.lists import as_list, find_lists, find_pair, join_lists, refuse_dicts, refuse_sets
from xmceval.rows.matrices.rankings import InMemory, are_ids, doubt_ids
from xmceval.rows.matrices.sparse import csr_arrays
from xmceval.rows.matrices.storage import Csr, FilePieces, Matrix, PaddedLists
from xmceval.rows.matrices.tensors import as_values, shape_of
from xmceval.rows.repairs import unrepaired
from xmceval.rows.sources import shards_of

BLOCK_ENTRIES = 1 << 17  # entries per block, which then stays in the processor's cache
AS_MATRIX = "lists of equal length, read as a dense matrix"
RANKED = "ids of labels without scores, the best first"

BLOCK_ROWS = 1 << 15  # rows per block, so that nearly empty rows do not make long blocks


@dataclass
class MatrixRows(StoredRows):
    """A slice of rows of one piece of a matrix."""

    source: MatrixSource
    piece: Matrix
    start: int  # range of rows in the piece
    n_rows: int
    row: int  # the number of the first row in the matrix

    @property
    def n_columns(self) -> int | None:
        """The number of columns of dense rows; None for other rows."""
        return int(self.piece.values.shape[1]) if isinstance(self.piece, Dense) else None

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
        return super().entry_names(row, label) if names is None else names(self.row + row, label)

    def lowest_labels(self, n_rows: int) -> Int64 | None:
        """Return the label with the lowest score in each of the first rows, for dense rows with a selection."""
        if self.source.depth is None or not isinstance(self.piece, Dense):
            return None
        return lowest_labels(self.piece.values, slice(self.start, self.start + min(n_rows, self.n_rows)))

    def select(self, truth: Rows, scratch: Scratch) -> Selected | None:
        """Select the `depth` best labels of each row, and the true labels that tie with the last."""
        if self.source.depth is None or not isinstance(self.piece, Dense):
            return None
        rows, nan = slice(self.start, self.start + self.n_rows), np.array([-1, -1], dtype=np.int64)
        selected = select(self.piece.values, rows, self.source.depth, truth, scratch, nan)
        row, label = nan.tolist()
        if row >= 0:
            raise Fault(row, f"{self.place(row)}: the score value of label {label} is NaN; expected a number")
        return selected


@dataclass(eq=False)  # not frozen, as two are made for each small batch
class MatrixSource:
    """A matrix as a source of blocks."""

    name: str  # the name of the matrix in messages
    n_rows: int  # the number of rows
    n_labels: int | None  # the number of labels, if the matrix defines it
    stored: Matrix | FilePieces  # the rows, in memory or in files that are reread for each pass
    warnings: list[str] = field(default_factory=list)  # warnings from reading
    dtype: np.dtype[Any] | None = None  # the type of the stored values
    is_dense: bool = False  # whether the pieces are dense scores
    depth: int | None = None  # labels to select per dense row, if all metrics are at cutoffs
    reading: str = ""  # how the matrix was read, and on what evidence
    is_ranked: bool = False  # whether it has labels without scores, ranked only by their order
    first_row: int = 0  # the number of the first row of `stored`, if earlier rows are skipped
    # names the entries of a label in a row for messages, if they have names
    names: Callable[[int, int], EntryNames] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "names": None}  # which would take whole tables to another process

    @property
    def is_exact(self) -> bool:
        """Whether `n_labels` must be the number of labels."""
        return self.n_labels is not None

    @property
    def pieces(self) -> Iterable[Matrix]:
        """The rows in order."""
        return (self.stored,) if isinstance(self.stored, Matrix) else self.stored

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any row."""
        if isinstance(self.stored, Matrix):
            return True
        return self.stored.starts_anywhere is not None and self.stored.starts_anywhere()

    def starting_at(self, row: int) -> MatrixSource:
        """Return the same source, starting at a row."""
        if isinstance(self.stored, Matrix):
            return self.sliced(row, self.n_rows)
        return replace(self, stored=replace(self.stored, first_row=row), first_row=row)

    def sliced(self, start: int, stop: int) -> MatrixSource:
        """Return a slice of rows of a matrix in memory, keeping their numbers."""
        if not isinstance(self.stored, Matrix):
            raise TypeError(f"{self.name}: is not in memory")
        return replace(self, stored=self.stored.taken(slice(start, stop)), first_row=start)

    @property
    def n_bytes(self) -> int:
        """The size in bytes of a matrix in memory."""
        arrays = self.stored.arrays() if isinstance(self.stored, Matrix) else {}
        return sum(int(np.prod(array.shape)) * array.dtype.itemsize for array in arrays.values())

    def ordered(self, rows: Int64 | None = None, columns: Int64 | None = None) -> MatrixSource:
        """Return the same matrix, in memory, with its rows, and the columns if dense, in another order."""
        stored: Any = self.stored if isinstance(self.stored, Matrix) else storage.join_pieces(self.stored)
        if columns is not None:
            stored = Dense(stored.values[:][:, columns], stored.are_scores)
        return replace(self, stored=stored if rows is None else stored.taken(rows))

    def files(self) -> tuple[Path, ...]:
        """Return the files that the pieces are read from; none for pieces in memory."""
        return () if isinstance(self.stored, Matrix) else self.stored.files

    def selecting(self, depth: int) -> MatrixSource:
        """Return dense scores with a selection of the `depth` best labels (at least 2) per row."""
        return replace(self, depth=depth) if self.is_dense else self

    def whole_block(self, first_row: int = 0, prefix: str = "") -> Block | None:
        """Return all rows as one block, shifted as by `Block.shifted`; None if there are none, or too many."""
        if not isinstance(self.stored, Matrix) or not self.n_rows:
            return None
        if self._stop_block(self.stored, 0, self.n_rows) < self.n_rows:
            return None
        rows = MatrixRows(self, self.stored, 0, self.n_rows, self.first_row)
        return Block(rows, self.first_row + first_row, prefix)

    def blocks(self) -> Generator[Block, None, None]:
        """Yield blocks of about BLOCK_ENTRIES entries, and of at most BLOCK_ROWS rows.

        Blocks of dense matrices that are read without a copy have many more entries.
        """
        first_row = self.first_row
        for piece in self.pieces:
            start, n_rows = 0, piece.n_rows
            while start < n_rows:
                stop, row = self._stop_block(piece, start, n_rows), first_row + start
                yield Block(MatrixRows(self, piece, start, stop - start, row), row)
                start = stop
            first_row += n_rows

    def _stop_block(self, piece: Matrix, start: int, n_rows: int) -> int:
        """Return the row of a piece where the block from `start` on ends."""
        n_entries = BLOCK_ENTRIES
        if isinstance(piece, Dense):
            n_entries = piece.entries_at_once(BLOCK_ENTRIES, are_selected=self.depth is not None)
        return min(max(piece.stop_after(start, n_entries), start + 1), start + BLOCK_ROWS, n_rows)


def is_sparse(matrix: Any) -> bool:
    """Return whether it is a sparse matrix, of scipy or with the same attributes."""
    return hasattr(matrix, "tocsr")  # not `nnz`, which reads unchecked arrays


def count_columns(y_score: Any) -> int | None:
    """Return the number of labels of a matrix of scores in memory; None for other predictions."""
    shape: Any = shape_of(as_list(y_score))
    is_matrix = len(shape) == 2 and (is_sparse(y_score) or "float" in str(getattr(y_score, "dtype", "float")))
    return int(shape[1]) if is_matrix else None


def as_truth(
    y_true: Any, name: str = "y_true", n_labels: int | None = None, *, has_grades: bool = False
) -> MatrixSource:
    """Wrap a truth matrix.

    Any scipy.sparse matrix or array, a sparse tensor of PyTorch, or a dense indicator [n_rows, n_labels] of any
    library that exports DLPack; or the ids of each row's labels, as a list of lists, sets, arrays or tensors,
    or as a nested tensor. With `has_grades`, lists of equal length are rows of a matrix.
    """
    y_true = _take_sparse(y_true, name, are_scores=False)
    if isinstance(y_true, MatrixSource):
        return y_true
    lists = find_lists(y_true, name, n_labels, are_scores=False, has_grades=has_grades)
    if lists is not None:
        return MatrixSource(name, lists.n_rows, None, lists, reading="lists of ids of labels")
    values = as_values(y_true, name)
    is_of_lists = isinstance(y_true, (list, tuple))
    reading = AS_MATRIX if is_of_lists else f"dense array of {storage.name_of(values.dtype)}"
    dense, (n_rows, width) = Dense(values, are_scores=False), values.shape
    return MatrixSource(name, n_rows, width, dense, reading=reading)


def as_scores(y_score: Any, name: str = "y_score", n_labels: int | None = None) -> MatrixSource:
    """Wrap a score matrix.

    Any scipy.sparse matrix or array, or a sparse tensor of PyTorch (stored entries are the predictions, zeros too); a
    dense array [n_rows, n_labels] of any library that exports DLPack, in which -inf means not predicted; a pair of
    arrays with labels and scores, both [n_rows, any width], in which label -1 is padding; or ranked labels, best first:
    a list of lists, arrays or tensors, or integers [n_rows, any width] that `are_ids` takes for labels.
    """
    y_score = _take_sparse(y_score, name, are_scores=True)
    if isinstance(y_score, MatrixSource):
        return y_score
    pair = find_pair(y_score, name)
    if pair is not None:
        joined: Csr | PaddedLists | None = join_lists(pair)
        reading = "lists of ids of labels and of their scores"
        if joined is None:
            ids, values = as_values(pair.labels, pair.labels_name), as_values(pair.scores, pair.scores_name)
            if ids.dtype.kind not in "iu":
                raise DataError(f"{pair.labels_name}: labels must be integers, got dtype {ids.dtype}")
            if ids.shape != values.shape:
                raise DataError(
                    f"{pair.labels_name} has shape {ids.shape}, but {pair.scores_name} has shape {values.shape}; "
                    "expected the same shape"
                )
            reading = f"ids of labels in {pair.labels_name}, scores in {pair.scores_name}"
            joined = PaddedLists(ids[:], values)
        return MatrixSource(pair.labels_name, joined.n_rows, None, joined, dtype=joined.values.dtype, reading=reading)
    lists = find_lists(y_score, name, n_labels, are_scores=True)
    if lists is not None:
        refuse_sets(y_score, name)
        return MatrixSource(name, lists.n_rows, None, lists, reading=RANKED, is_ranked=True)
    values = as_values(y_score, name)
    numbers = InMemory(values)
    if are_ids(numbers, name, n_labels):
        labels = values[:]
        ranks = np.broadcast_to(np.arange(labels.shape[1], 0.0, -1), labels.shape)
        return MatrixSource(name, len(labels), None, PaddedLists(labels, ranks), reading=RANKED, is_ranked=True)
    reading = f"dense array of {storage.name_of(values.dtype)}, a score for each label"
    dense, (n_rows, width) = Dense(values, are_scores=True), values.shape
    doubts = doubt_ids(numbers, name)
    return MatrixSource(name, n_rows, width, dense, warnings=doubts, dtype=values.dtype, is_dense=True, reading=reading)


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
    csr, reading = Csr(*csr_arrays(matrix, name), are_scores), f"sparse matrix of {storage.name_of(matrix.dtype)}"
    storage.check_dtype(matrix.dtype, name)
    n_rows, n_labels = map(int, matrix.shape)
    return MatrixSource(name, n_rows, n_labels, csr, dtype=dtype or matrix.dtype, reading=reading)


def open_pair(
    y_true: Any, y_score: Any, n_labels: int | None = None, *, has_grades: bool = False, depth: int | None = None
) -> tuple[MatrixSource, MatrixSource] | None:
    """Open arrays or sparse matrices as truth and predictions; None if their rows or labels may have names.

    `n_labels` is known from the caller or earlier batches, and `depth` is that of a selection, as in `selecting`.
    """
    if not all(value.ndim == 2 if isinstance(value, np.ndarray) else is_sparse(value) for value in (y_true, y_score)):
        return None
    truth = as_truth(y_true, has_grades=has_grades)
    scores = as_scores(y_score, n_labels=truth.n_labels if n_labels is None else n_labels)
    scores.depth = depth if scores.is_dense else None
    return truth, scores


def check_narrow(scores: Source, what: str = "") -> None:
    """Refuse values that float64 would round; `what` says where scores are compared, if not within their rows."""
    for matrix in find_matrices(scores):
        for piece in matrix.pieces if matrix.dtype is not None and storage.may_be_wide(matrix.dtype) else ():
            values = piece.values[:]
            if isinstance(piece, Csr):
                values = values[int(piece.indptr[0]) : int(piece.indptr[-1])]
            if storage.is_wide(values):
                then = f", so they cannot be compared {what} (hint: scale them, or pass float64)" if what else ""
                raise DataError(f"{matrix.name}: has values that float64 would round ({values.dtype}){then}")


def find_matrices(source: Source) -> list[MatrixSource]:
    """Return the matrices in a source or its shards, ignoring other kinds of sources."""
    if isinstance(source, MatrixSource):
        return [source]
    return [matrix for shard in shards_of(source) if isinstance(matrix := unrepaired(shard), MatrixSource)]
