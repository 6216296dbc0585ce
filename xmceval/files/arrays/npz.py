"""npz files of scipy.sparse: CSR in a stream, row by row; CSC and COO held whole and brought into rows."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, listed
from xmceval.files.arrays.npy import ArrayStream
from xmceval.files.arrays.pieces import PieceSource
from xmceval.files.streams import all_bytes, is_plain
from xmceval.rows.block import Source
from xmceval.rows.matrices import BLOCK_ENTRIES, Csr, MatrixSource

AnyArray = NDArray[Any]

ROWS_AT_ONCE = 1 << 16

SMALL = 1 << 10  # items of `shape` and `format`, which are read whole

# Arrays of the formats of scipy.sparse.save_npz that are read here, each with the kinds of numbers that it may hold.
_COMMON = {"shape": "iu", "data": "biuf"}

_FORMATS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "csr": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "csc": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "coo": {**_COMMON, "row": "iu", "col": "iu"},
    }
)


@dataclass(frozen=True)
class Archive:
    """The members of a npz file; opened anew for each pass."""

    path: Path
    held: bytes | None = None

    def open(self) -> zipfile.ZipFile:
        """Open it."""
        try:
            return zipfile.ZipFile(self.path if self.held is None else io.BytesIO(self.held))
        except Exception as error:  # zipfile raises nearly anything over damaged bytes
            raise DataError(
                f"{self.path}: cannot be read as arrays; is it damaged or cut short? ({error or type(error).__name__})"
            ) from None

    def stream(self, opened: zipfile.ZipFile, name: str) -> ArrayStream:
        """Open a member."""
        try:
            member: Any = opened.open(f"{name}.npy")
        except Exception as error:
            raise DataError(f"{self.path}: its {name!r} cannot be read; is the file damaged? ({error})") from None
        try:
            return ArrayStream(member, f"{self.path} ({name})")
        except DataError:
            member.close()
            raise

    def whole(self, opened: zipfile.ZipFile, name: str) -> AnyArray:
        """Read a whole member."""
        with self.stream(opened, name) as stream:
            return stream.rest()


def npz_source(path: Path, *, are_scores: bool) -> tuple[Source, str]:
    """Read a matrix that ``scipy.sparse.save_npz`` wrote; also say what was found.

    Raises
    ------
    DataError
        Another kind of npz file, or a damaged one.
    """
    archive = Archive(path, None if is_plain(path) else all_bytes(path))
    with archive.open() as opened:
        parts = {name.removesuffix(".npy") for name in opened.namelist()}
        if not _COMMON.keys() <= parts:
            raise DataError(f"{path}: not a sparse matrix; expected a file of scipy.sparse.save_npz")
        form = _format(archive, opened) if "format" in parts else "csr"
        if form not in _FORMATS:
            raise DataError(
                f"{path}: a sparse matrix of format {form!r}; expected one of {listed(_FORMATS)} (hint: .tocsr())"
            )
        missing = _FORMATS[form].keys() - parts
        if missing:
            raise DataError(f"{path}: it lacks {min(missing)!r}; a {form} matrix has {listed(_FORMATS[form])}")
        sizes = {part: _check(archive, opened, part, kinds) for part, kinds in _FORMATS[form].items()}
        shape = archive.whole(opened, "shape").tolist() if sizes["shape"] == 2 else []
        if len(shape) != 2 or min(shape) < 0:
            raise DataError(f"{path}: its shape is {tuple(shape)}; expected rows and columns")
        if form != "csr":
            held = {part: archive.whole(opened, part) for part in _FORMATS[form]}
            indptr, indices, values = by_rows(str(path), form, held, shape)
            matrix = Csr(indptr, indices, values, are_scores)
            source = MatrixSource(str(path), shape[0], shape[1], matrix, may_have_extra=are_scores)
            return source, f"npz, scipy.sparse {form} matrix, held whole"
    n_stored = min(sizes["indices"], sizes["data"])
    if sizes["indptr"] != shape[0] + 1:
        raise DataError(f"{path}: its indptr does not describe {shape[0]:,} rows of {n_stored:,} stored entries")
    csr = _StreamedCsr(archive, shape[0], n_stored, are_scores)
    return PieceSource(
        str(path), shape[0], shape[1], csr.pieces, may_have_extra=are_scores
    ), "npz, scipy.sparse csr matrix"


def _format(archive: Archive, opened: zipfile.ZipFile) -> str:
    with archive.stream(opened, "format") as stream:
        if stream.header.shape != () or stream.header.dtype.kind not in "SU" or stream.header.dtype.itemsize > SMALL:
            raise DataError(f"{archive.path}: its 'format' is no word; expected a file of scipy.sparse.save_npz")
        form = stream.rest().tolist()[0]
    return form.decode(errors="replace") if isinstance(form, bytes) else str(form)


def _check(archive: Archive, opened: zipfile.ZipFile, part: str, kinds: str) -> int:
    """Check the kind of one array and return its length."""
    with archive.stream(opened, part) as stream:
        shape, _, dtype = stream.header
    if dtype.kind not in kinds or len(shape) != 1:
        raise DataError(
            f"{archive.path}: its {part!r} has shape {shape} and dtype {dtype}; expected "
            f"{'whole numbers' if kinds == 'iu' else 'numbers'} in one dimension"
        )
    return int(shape[0])


@dataclass(frozen=True)
class _StreamedCsr:
    """Three members that are read side by side."""

    archive: Archive
    n_rows: int
    n_stored: int
    are_scores: bool

    def pieces(self) -> Iterator[tuple[int, Csr]]:
        """Yield pieces of about BLOCK_ENTRIES entries."""
        with ExitStack() as stack:
            opened = stack.enter_context(self.archive.open())
            ends, indices, values = (
                stack.enter_context(self.archive.stream(opened, part)) for part in ("indptr", "indices", "data")
            )
            last = int(ends.read(1)[0])
            if last != 0:
                raise self._wrong()
            for row in range(0, self.n_rows, ROWS_AT_ONCE):
                # int64 holds what a uint64 of a damaged file may not: it is then negative, and refused
                piece = ends.read(min(ROWS_AT_ONCE, self.n_rows - row)).astype(np.int64)
                indptr = np.concatenate([[last], piece])
                if np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > self.n_stored:
                    raise self._wrong()
                start = 0
                while start < piece.size:
                    stop = int(np.searchsorted(indptr, indptr[start] + BLOCK_ENTRIES, side="right")) - 1
                    stop = min(max(stop, start + 1), piece.size)
                    n = int(indptr[stop] - indptr[start])
                    part = indptr[start : stop + 1] - indptr[start]
                    yield stop - start, Csr(part, indices.read(n), values.read(n), self.are_scores)
                    start = stop
                last = int(indptr[-1])
            if last == self.n_stored:
                for stream in (ends, indices, values):
                    stream.check_end()

    def _wrong(self) -> DataError:
        return DataError(
            f"{self.archive.path}: its indptr does not describe {self.n_rows:,} rows of {self.n_stored:,} stored "
            "entries"
        )


def by_rows(
    name: str, form: str, arrays: Mapping[str, AnyArray], shape: list[int]
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return indptr, indices and values of the rows; unlike scipy's conversions this adds no duplicates up."""
    from xmceval.kernels.repairs import count_entries, order_entries

    if form == "coo":
        rows, columns = arrays["row"], arrays["col"]
    else:
        rows, lengths = arrays["indices"], _lengths(arrays["indptr"])
        ends = arrays["indptr"][:1].tolist() == [0] and arrays["indptr"][-1:].tolist() == [rows.size]
        if lengths.size != shape[1] or np.any(lengths < 0) or not ends:
            raise DataError(f"{name}: its indptr does not describe {shape[1]:,} columns")
        columns = np.repeat(np.arange(shape[1]), lengths)
    if not rows.size == columns.size == arrays["data"].size:
        raise DataError(f"{name}: its arrays of rows, columns and data have different lengths")
    if shape[0] > max(rows.size * 2**10, 2**22):
        raise DataError(f"{name}: its shape announces {shape[0]:,} rows for {rows.size:,} stored entries")
    rows = rows.astype(np.int64, copy=False)
    indptr = np.zeros(shape[0] + 1, dtype=np.int64)
    wrong = int(count_entries(rows, indptr))
    if wrong >= 0:
        raise DataError(f"{name}: a stored entry is in row {rows[wrong]}; its shape has {shape[0]:,} rows")
    order = np.empty(rows.size, dtype=np.int64)
    order_entries(rows, indptr.copy(), order)
    return indptr, columns[order], arrays["data"][order]


def _lengths(indptr: AnyArray) -> AnyArray:
    ends = indptr.astype(np.int64)
    lengths: AnyArray = ends[1:] - ends[:-1]
    return lengths
