"""Matrices stored as CSR or padded lists, from which rows are copied as CSR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.kernels.rows.checks import NOT_NOTICED, notice
from xmceval.kernels.rows.dense import find_true_bytes, find_true_long_words, find_true_words
from xmceval.rows.block import AnyArray, Float64, Int64, Rows, Scratch, SortedRows

LARGEST_WHOLE = 2.0**53  # from here on, float64 cannot represent all whole numbers

MASKED = -3.38e38  # masked labels may have scores this low: the lowest 32-bit or 64-bit float

BY_NAME = (
    " (hint: labels by name are {row: {name: value}} in both inputs, or a column of lists in a table, with labels=)"
)

# Kernels that find true cells, and the bits that are set in some true cell, by item size and whether cells are
# floats, whose sign does not count: -0.0 is 0. The bits have the type as which the kernels view cells.
FINDERS: Mapping[tuple[int, bool], tuple[Any, Any]] = MappingProxyType(
    {
        (1, False): (find_true_bytes, np.uint8(0xFF)),
        (4, False): (find_true_words, np.uint32(0xFFFF_FFFF)),
        (4, True): (find_true_words, np.uint32(0x7FFF_FFFF)),
        (8, False): (find_true_long_words, np.uint64(0xFFFF_FFFF_FFFF_FFFF)),
        (8, True): (find_true_long_words, np.uint64(0x7FFF_FFFF_FFFF_FFFF)),
    }
)

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # numpy lacks this type; only its name is needed


def as_plain(values: Any, name: str) -> NDArray[Any]:
    """Return values as a plain numpy array; refuse masked cells, which would count."""
    if isinstance(values, np.ma.MaskedArray):
        n_masked = int(np.count_nonzero(values.mask))
        if n_masked:
            raise DataError(
                f"{name}: is an array with {counted(n_masked, 'masked cell')}, whose value is not known "
                "(hint: fill masked cells; in scores .filled(-numpy.inf) means not predicted)"
            )
    elif isinstance(values, (list, tuple)) and np.ma.MaskedArray in set(map(type, values)):
        values = [as_plain(row, f"{name}[{i}]") for i, row in enumerate(values)]
    return np.asarray(values)


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a type, cached since numpy computes it slowly."""
    return "bfloat16" if dtype == BFLOAT16 else str(dtype)


def explain_text(words: AnyArray) -> str:
    """Explain why an array with numbers as text [n_rows, n_columns] is refused; empty if it has names."""
    try:
        words.astype(float)
    except ValueError:
        return ""
    if not words.size:
        return ""
    return f"has numbers as text, such as {str(words.ravel()[0])[:40]!r} (hint: .astype(float))"


def check_dtype(dtype: np.dtype[Any], name: str) -> None:
    """Refuse types that are not numbers."""
    if dtype.kind not in "biuf" and dtype != BFLOAT16:
        kind = f"dtype {dtype}"
        if dtype.kind == "U":
            kind = f"text, as names of labels are{BY_NAME}"
        raise DataError(f"{name}: expected numbers, got {kind}")


@dataclass(frozen=True)
class BFloat16Matrix:
    """A matrix of bfloat16 numbers, the upper halves of float32; slices of rows become float32."""

    bits: AnyArray  # uint16 array [n_rows, n_columns]
    dtype = BFLOAT16

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.bits.shape

    def __getitem__(self, rows: slice) -> AnyArray:
        """Return a slice of rows."""
        return self.widen(self.bits[rows])

    @staticmethod
    def widen(bits: AnyArray) -> AnyArray:
        """Convert the upper halves, uint16 of any shape, to float32 numbers."""
        return (bits.astype(np.uint32) << 16).view(np.float32)


class Matrix:
    """Rows of a matrix, in any format, that can be copied as CSR."""

    values: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and of entries per row if it is constant."""
        return tuple(self.values.shape)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.shape[0])

    @property
    def n_bytes(self) -> int:
        """The size of its arrays."""
        return sum(int(np.prod(array.shape)) * array.dtype.itemsize for array in self.arrays().values())

    def stop_after(self, start: int, n_entries: int) -> int:
        """Return the row that ends a run of about `n_entries` entries from `start` on."""
        return start + n_entries // max(int(self.shape[1]), 1)

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, as int64 and float64; faults count rows from `start` on."""
        raise NotImplementedError

    def arrays(self) -> dict[str, Any]:
        """Return its arrays by their names."""
        this: Any = self
        parts = {part.name: getattr(this, part.name) for part in fields(this)}
        return {name: array for name, array in parts.items() if hasattr(array, "shape")}

    def taken(self, rows: slice | Int64) -> Matrix:
        """Return some rows, in the order given; a slice shares memory if possible."""
        this: Any = self
        arrays = self.arrays()
        if not isinstance(rows, slice):
            arrays = {name: array[:] for name, array in arrays.items()}
        matrix: Matrix = replace(this, **{name: array[rows] for name, array in arrays.items()})
        return matrix


@dataclass(frozen=True)
class Csr(Matrix):
    """The three arrays of a CSR matrix, or of a slice of its rows."""

    indptr: AnyArray
    indices: AnyArray
    values: AnyArray
    are_scores: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows only, since their lengths differ."""
        return (self.indptr.size - 1,)

    def stop_after(self, start: int, n_entries: int) -> int:
        """Return the row that ends a run of about `n_entries` entries from `start` on."""
        last = int(self.indptr[start]) + n_entries
        end = int(self.indptr[-1])
        if last >= end:
            return self.indptr.size - 1
        return int(np.searchsorted(self.indptr, self.indptr.dtype.type(last), side="right")) - 1

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, as int64 and float64."""
        first = int(self.indptr[start])
        last = int(self.indptr[stop])
        rows = scratch.rows(stop - start, last - first)
        values = self.values[first:last]
        rows.indptr[:] = self.indptr[start : stop + 1]
        if first:
            np.subtract(rows.indptr, first, out=rows.indptr)  # after the conversion, as some have no sign
        rows.indices[:] = self.indices[first:last]
        rows.values[:] = comparable(values) if self.are_scores else values
        return notice_order(rows)

    def taken(self, rows: slice | Int64) -> Csr:
        """Return some rows, in the order given."""
        if isinstance(rows, slice):
            first = int(self.indptr[rows.start])
            last = int(self.indptr[rows.stop])
            indptr = self.indptr[rows.start : rows.stop + 1] - self.indptr[rows.start]
            return Csr(indptr, self.indices[first:last], self.values[first:last], self.are_scores)
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.repeat(self.indptr[:-1][rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Csr(indptr, self.indices[:][entries], self.values[:][entries], self.are_scores)


def join_pieces(pieces: Iterable[Any]) -> Csr:
    """Return the rows of all pieces, each a Csr, as one."""
    parts: list[Csr] = [*pieces]
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    labels = np.concatenate([part.indices[: part.indptr[-1]] for part in parts])
    values = np.concatenate([part.values[: part.indptr[-1]] for part in parts])
    return Csr(np.concatenate([[0], np.cumsum(lengths)]), labels, values, parts[0].are_scores)


@dataclass(frozen=True)
class PaddedLists(Matrix):
    """Labels and their scores as two arrays [n_rows, any width]; label -1 is padding."""

    labels: AnyArray
    values: Any  # the scores [n_rows, any width], as `as_values` returns them

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, as int64 and float64."""
        labels = self.labels[start:stop]
        scores = comparable(self.values[start:stop])
        is_stored = labels != -1
        if is_stored.all():
            indptr = np.arange(stop - start + 1) * labels.shape[1]
            return Csr(indptr, labels.ravel(), scores.ravel(), are_scores=True).copy_rows(0, stop - start, scratch)
        rows, places = stored_rows(scratch, is_stored)
        rows.indices[:] = labels.ravel()[places]
        rows.values[:] = scores.ravel()[places]
        return rows


def notice_order(rows: Rows) -> Rows:
    """Return SortedRows if labels ascend in each row and no value is NaN."""
    noticed = np.empty(2, dtype=np.int64)
    notice(*rows, noticed)
    largest, has_only_ones = noticed.tolist()
    if largest == NOT_NOTICED:
        return rows
    return SortedRows.of(rows, largest, has_only_ones=bool(has_only_ones))


def stored_rows(scratch: Scratch, values: AnyArray) -> tuple[Rows, AnyArray]:
    """Return CSR arrays for the non-zero cells of dense rows, [n_rows, n_labels], and the cells' positions.

    Positions are indices into the raveled rows, int64 [n_stored]; values are not set.
    """
    dtype = values.dtype
    kind = dtype.itemsize, dtype.kind == "f"
    is_known = dtype.kind in "biuf" and kind in FINDERS and dtype.isnative
    if not (is_known and values.flags.c_contiguous):
        values = np.ascontiguousarray(values != 0)
        kind = 1, False
    find, bits = FINDERS[kind]
    n_rows, n_columns = values.shape
    places = scratch.array("places", values.size, np.int64)
    columns = scratch.array("indices", values.size, np.int64)
    indptr = scratch.array("indptr", n_rows + 1, np.int64)
    n_stored = int(find(values.reshape(-1).view(bits.dtype), bits, n_columns, places, indptr, columns))
    rows = Rows(indptr, columns[:n_stored], scratch.array("values", n_stored, np.float64))
    return rows, places[:n_stored]


def comparable(values: AnyArray) -> AnyArray:
    """Return values with the same shape whose order float64 preserves.

    Wide integers and long doubles that float64 would round are replaced by their rank within the block, as
    integers; 0 stays 0.
    """
    if not is_wide(values) or (values.dtype.kind == "f" and np.isnan(values).any()):
        return values
    distinct, order = np.unique(np.append(values.ravel(), values.dtype.type(0)), return_inverse=True)
    zero = int(np.searchsorted(distinct, values.dtype.type(0)))
    return (order[:-1] - zero).reshape(values.shape)


def rounded(number: float, dtype: np.dtype[Any] | None) -> float:
    """Round a number to the type of stored values if it is less precise than float64: 0.7 to their 0.7."""
    if dtype == BFLOAT16:  # 8 significant bits, ties to even
        with np.errstate(over="ignore"):
            bits = int(np.float32(number).view(np.uint32))
        if not np.isnan(number):
            bits += 0x7FFF + (bits >> 16 & 1)
        return float(BFloat16Matrix.widen(np.array([bits >> 16], dtype=np.uint16))[0])
    if dtype is None or dtype.kind != "f" or dtype.itemsize >= 8:
        return float(number)
    with np.errstate(over="ignore"):
        return float(np.float64(number).astype(dtype))


def may_be_wide(dtype: np.dtype[Any]) -> bool:
    """Return whether float64 would round some numbers of a type."""
    return (dtype.kind in "iu" and dtype.itemsize == 8) or (dtype.kind == "f" and dtype.itemsize > 8)


def count_rounded(indptr: Int64, values: Float64) -> int:
    """Count the rows with equal scores that may have been different whole numbers beyond 2^53."""
    if not values.size or max(values.max(), -values.min()) < LARGEST_WHOLE:
        return 0
    large = np.flatnonzero((np.abs(values) >= LARGEST_WHOLE) & (values > MASKED) & (values < np.inf))
    rows = np.searchsorted(indptr, large, side="right")
    pairs, n_equal = np.unique(np.stack([rows, values[large]]), axis=1, return_counts=True)
    return int(np.unique(pairs[0, n_equal > 1]).size)


def is_wide(values: AnyArray) -> bool:
    """Return whether float64 would round any of the values, an array of any shape."""
    if values.dtype.kind in "iu" and may_be_wide(values.dtype):
        return bool(np.max(values, initial=0) > 2**53) or bool(np.min(values, initial=0) < -(2**53))
    return may_be_wide(values.dtype)
