"""npz files: of scipy.sparse, of which CSC and COO are held in memory, or of arrays of labels and scores."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted, listed, names_flags
from xmceval.files.arrays.archive import Archive
from xmceval.files.arrays.npy import ArrayStream, Header, take_row_pieces, take_strings
from xmceval.files.arrays.npypairs import open_lists
from xmceval.files.arrays.storedmembers import StoredArray
from xmceval.files.formats import FORMATS
from xmceval.files.io.streams import is_uncompressed, read_all_bytes
from xmceval.files.opened import Opened, Request
from xmceval.rows.matrices.matrices import BLOCK_ENTRIES, MatrixSource
from xmceval.rows.matrices.sparse import coo_to_csr, csc_to_csr, early_end_error, indptr_error
from xmceval.rows.matrices.storage import Csr

AnyArray = NDArray[Any]

ROWS_AT_ONCE = 1 << 16

LONGEST_FORMAT = 1 << 10  # bytes of `format`, which is read whole

# The arrays of each format of scipy.sparse.save_npz, with the kinds of dtype that they may have.
_COMMON = {"shape": "iu", "data": "biuf"}
_FORMATS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "csr": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "csc": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "coo": {**_COMMON, "row": "iu", "col": "iu"},
    }
)

_CSR_ARRAYS = ("indptr", "indices", "data")

# Names of an array of labels beside one of scores: that of NAME-labels.npy, and that of pyxclib's dict.
_LISTS = frozenset({"labels", "indices"})


def open_npz(path: Path, request: Request) -> Opened:
    """Open a matrix that ``scipy.sparse.save_npz`` wrote, or predictions of ``numpy.savez(labels=, scores=)``."""
    archive = Archive(path, None if is_uncompressed(path) else read_all_bytes(path))
    with archive.open() as opened:
        parts = {name.removesuffix(".npy") for name in opened.namelist()}
        if request.are_scores and not _COMMON.keys() <= parts and parts & _LISTS:
            return _open_lists(archive, parts, request)
        form, lengths, shape, dtype = _check(archive, opened)
        if form == "csr":
            n_stored = lengths["data"]
            if lengths["indices"] != n_stored:
                raise DataError(f"{path}: its arrays of indices and data have different lengths")
            if lengths["indptr"] != shape[0] + 1:
                raise indptr_error(str(path), shape[0], n_stored)
            pieces = _CsrPieces(archive, *shape, n_stored, request.are_scores)
            is_held = archive.content is not None
            source = MatrixSource(str(path), *shape, pieces, dtype=dtype)
        else:
            arrays = {part: archive.read_array(opened, part) for part in _FORMATS[form]}
            if form == "csc":
                csr = csc_to_csr(str(path), arrays["indptr"], arrays["indices"], arrays["data"], shape)
            else:
                csr = coo_to_csr(str(path), arrays["row"], arrays["col"], arrays["data"], shape[0])
            source = MatrixSource(str(path), *shape, [Csr(*csr, request.are_scores)], dtype=dtype)
            is_held = True
    npz, has_extra = FORMATS["npz"], request.are_scores
    facts = (f"{npz.title} {form} matrix",)
    return Opened(source, npz, facts, request.role, is_held=is_held, may_have_extra_column=has_extra)


def _open_lists(archive: Archive, parts: set[str], request: Request) -> Opened:
    """Open the arrays of labels and scores of an archive as a pair."""
    labels, *others = sorted(parts & _LISTS)
    if others:
        raise DataError(f"{archive.path}: has both {labels!r} and {others[0]!r}; expected labels=, scores=")
    scores = Member(archive, "scores") if "scores" in parts else None
    is_held = archive.content is not None
    form, missing = FORMATS["npz-arrays"], "array 'scores'"
    return open_lists(Member(archive, labels), scores, request, form, missing=missing, is_held=is_held)


@dataclass(frozen=True)
class Member:
    """An array of an archive."""

    archive: Archive
    part: str

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.archive.path} ({self.part})"

    @property
    def path(self) -> Path:
        """The archive."""
        return self.archive.path

    def header(self) -> Header:
        """Read its header."""
        with self.archive.open() as opened, self.archive.open_array(opened, self.part) as stream:
            return stream.header

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any row."""
        return self.archive.can_start

    def row_pieces(self, n_entries: int, first_row: int = 0) -> Iterator[AnyArray]:
        """Yield the rows of a matrix in pieces [n, n_columns] of about `n_entries` entries."""
        if first_row:
            with self.archive.open() as opened, self.archive.open_stored(opened, self.part) as stream:
                yield from take_row_pieces(stream, n_entries, first_row)
            return
        with self.archive.open() as opened, self.archive.open_array(opened, self.part) as stream:
            yield from take_row_pieces(stream, n_entries)

    def strings(self) -> NDArray[np.object_]:
        """Read it as an array of strings."""
        with self.archive.open() as opened, self.archive.open_array(opened, self.part) as stream:
            return take_strings(stream)


def _check(archive: Archive, opened: zipfile.ZipFile) -> tuple[str, dict[str, int], tuple[int, int], np.dtype[Any]]:
    """Return the format, the lengths of the arrays, the shape of the matrix and the dtype of its values."""
    path = archive.path
    parts = {name.removesuffix(".npy") for name in opened.namelist()}
    if not _COMMON.keys() <= parts:
        raise DataError(f"{path}: {_describe_other(archive, opened)}")
    form = _read_format(archive, opened) if "format" in parts else "csr"
    if form not in _FORMATS:
        raise DataError(
            f"{path}: is a sparse matrix of format {form!r}; expected one of {listed(_FORMATS)} "
            "(hint: convert it with .tocsr())"
        )
    missing = _FORMATS[form].keys() - parts
    if missing:
        raise DataError(f"{path}: lacks the array {min(missing)!r}; a {form} matrix has {listed(_FORMATS[form])}")
    headers = {part: _check_array(archive, opened, part, kinds) for part, kinds in _FORMATS[form].items()}
    lengths = {part: length for part, (length, _) in headers.items()}
    shape = archive.read_array(opened, "shape").tolist() if lengths["shape"] == 2 else []
    if len(shape) != 2 or min(shape) < 0:
        raise DataError(f"{path}: its shape is {tuple(shape)}; expected rows and columns")
    return form, lengths, (shape[0], shape[1]), headers["data"][1]


def _describe_other(archive: Archive, opened: zipfile.ZipFile) -> str:
    """Describe an archive that is no matrix, by what it holds."""
    names = opened.namelist()
    parts = [name.removesuffix(".npy") for name in names]
    expected = "expected a file of scipy.sparse.save_npz"
    if parts == names:
        return f"is a zip archive of {_shorten(names)}; {expected} (hint: unzip it)"
    if {"meta", "rows", "values"} <= {*parts}:
        tool = "xmceval compare, as NAME.rows.npz" if names_flags() else "compare_rows"
        return f"is not a sparse matrix; {expected} (hint: per-instance values are compared with {tool})"
    found = _shorten([_describe_array(archive, opened, part) for part in parts])
    hint = " (hint: save each matrix in a file of its own)" if len(parts) > 1 else " (hint: save it as .npy)"
    return f"is not a sparse matrix but has {'arrays' if len(parts) > 1 else 'the array'} {found}; {expected}{hint}"


def _describe_array(archive: Archive, opened: zipfile.ZipFile, part: str) -> str:
    try:
        with archive.open_array(opened, part) as stream:
            shape, _, dtype = stream.header
    except DataError:
        return part
    return f"{part} ({' x '.join(f'{n:,}' for n in shape) or 'one value'}, {dtype})"


def _shorten(names: Sequence[str], most: int = 6) -> str:
    return listed(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _read_format(archive: Archive, opened: zipfile.ZipFile) -> str:
    with archive.open_array(opened, "format") as stream:
        shape, _, dtype = stream.header
        if shape != () or dtype.kind not in "SU" or dtype.itemsize > LONGEST_FORMAT:
            raise DataError(f"{archive.path}: its 'format' is not a word; expected a file of scipy.sparse.save_npz")
        form = stream.read_rest().tolist()[0]
        stream.check_end()
    return form.decode(errors="replace") if isinstance(form, bytes) else str(form)


def _check_array(archive: Archive, opened: zipfile.ZipFile, part: str, kinds: str) -> tuple[int, np.dtype[Any]]:
    """Check the shape and dtype of one array and return its length and dtype."""
    with archive.open_array(opened, part) as stream:
        shape, _, dtype = stream.header
    if dtype.kind not in kinds or len(shape) != 1:
        raise DataError(
            f"{archive.path}: its {part!r} has shape {shape} and dtype {dtype}; expected "
            f"{'integers' if kinds == 'iu' else 'numbers'} in one dimension"
        )
    return int(shape[0]), dtype


@dataclass(frozen=True)
class _CsrPieces:
    """The rows of a CSR matrix whose three arrays are read in step."""

    archive: Archive
    n_rows: int
    n_labels: int
    n_stored: int
    are_scores: bool
    first_row: int = 0

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any row."""
        return self.archive.can_start

    def starting_at(self, row: int) -> _CsrPieces:
        """Return the rows from one on."""
        return replace(self, first_row=row)

    def files(self) -> tuple[Path, ...]:
        """Return the archive."""
        return (self.archive.path,)

    def __iter__(self) -> Iterator[Csr]:
        """Yield pieces: of many rows whose entries threads read, or of about BLOCK_ENTRIES entries."""
        with self.archive.open() as opened:
            stored = self.archive.find_stored(opened, _CSR_ARRAYS)
            yield from self._read_in_step(opened) if stored is None else self._find(*stored)

    def _find(self, ends: StoredArray, indices: StoredArray, values: StoredArray) -> Iterator[Csr]:
        last = int(ends[self.first_row : self.first_row + 1][0])
        self._check_first(last)
        for row in range(self.first_row, self.n_rows, ROWS_AT_ONCE):
            indptr = self._indptr(row, last, ends[row + 1 : min(row + ROWS_AT_ONCE, self.n_rows) + 1])
            yield Csr(indptr, indices, values, self.are_scores)
            last = int(indptr[-1])
        if not self.first_row:
            for array in (ends, indices, values):
                array.check_end()

    def _read_in_step(self, opened: zipfile.ZipFile) -> Iterator[Csr]:
        with ExitStack() as stack:
            open_part = self.archive.open_stored if self.first_row else self.archive.open_array
            ends, indices, values = (stack.enter_context(open_part(opened, part)) for part in _CSR_ARRAYS)
            last = self._skip_rows(ends, indices, values)
            for row in range(self.first_row, self.n_rows, ROWS_AT_ONCE):
                indptr = self._indptr(row, last, ends.read(min(ROWS_AT_ONCE, self.n_rows - row)))
                start, n_rows = 0, indptr.size - 1
                while start < n_rows:
                    stop = int(np.searchsorted(indptr, indptr[start] + BLOCK_ENTRIES, side="right")) - 1
                    stop = min(max(stop, start + 1), n_rows)
                    n = int(indptr[stop] - indptr[start])
                    part = indptr[start : stop + 1] - indptr[start]
                    yield Csr(part, indices.read(n), values.read(n), self.are_scores)
                    start = stop
                last = int(indptr[-1])
            if not self.first_row:
                for stream in (ends, indices, values):
                    stream.check_end()

    def _indptr(self, row: int, last: int, ends: AnyArray) -> AnyArray:
        """Return where rows from one on begin and end, int64 [n_rows + 1], once their `ends` [n_rows] are checked."""
        # A uint64 of a damaged file that int64 does not hold becomes negative, and is refused.
        indptr = np.concatenate([[last], ends.astype(np.int64)])
        if np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > self.n_stored:
            raise indptr_error(str(self.archive.path), self.n_rows, self.n_stored)
        if row + ends.size == self.n_rows and indptr[-1] < self.n_stored:
            raise early_end_error(str(self.archive.path), int(indptr[-1]), self.n_stored)
        self._check_lengths(row, indptr)
        return indptr

    def _check_first(self, last: int) -> None:
        """Check the entries before the first row."""
        if not (0 <= last <= self.n_stored if self.first_row else last == 0):
            raise indptr_error(str(self.archive.path), self.n_rows, self.n_stored)

    def _skip_rows(self, ends: ArrayStream, indices: ArrayStream, values: ArrayStream) -> int:
        """Go to the first row and return the entries before it."""
        if self.first_row:
            ends.skip(self.first_row)
        last = int(ends.read(1)[0])
        self._check_first(last)
        if last:
            indices.skip(last)
            values.skip(last)
        return last

    def _check_lengths(self, first_row: int, indptr: AnyArray) -> None:
        """Refuse a row with more entries than there are labels before it is read, if it is longer than a block."""
        lengths = np.diff(indptr)
        row = int(np.argmax(lengths > max(self.n_labels, BLOCK_ENTRIES)))
        if lengths[row] > max(self.n_labels, BLOCK_ENTRIES):
            raise DataError(
                f"{self.archive.path} row {first_row + row}: has {counted(int(lengths[row]), 'entry')}, but the matrix "
                f"has {counted(self.n_labels, 'column')}; a label appears at most once in a row"
            )
