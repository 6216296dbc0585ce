"""The numeric and sparse matrices of a MATLAB file of version 5 to 7.

scipy.io.loadmat is not used, as it trusts the sizes in the file: damaged ones end in a segmentation fault.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]

HEADER_BYTES = 128

MATRIX, COMPRESSED, SPARSE = 14, 15, 5

COMPLEX = 0x08

# The dtypes of stored numbers, by type; those of full numeric matrices, by class.
_TYPES: Mapping[int, str] = MappingProxyType(
    {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
)

_CLASSES: Mapping[int, str] = MappingProxyType(
    {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
)


class CscArrays(NamedTuple):
    """The arrays of a sparse matrix by columns, as stored and unchecked."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray


@dataclass(frozen=True)
class Variable:
    """A matrix of a file: full values in Fortran order, or sparse columns."""

    name: str
    shape: tuple[int, ...]
    full: AnyArray | None = None
    columns: CscArrays | None = None


def read_variables(content: bytes) -> Iterator[Variable]:
    """Yield the real matrices of a file; cells, structures and text are skipped.

    Raises
    ------
    ValueError
        A damaged file.
    """
    order_mark = content[HEADER_BYTES - 2 : HEADER_BYTES]
    if order_mark not in {b"IM", b"MI"}:
        raise ValueError("it has no header of version 5")
    order = "<" if order_mark == b"IM" else ">"
    for outer_type, outer in _elements(memoryview(content)[HEADER_BYTES:], order, is_padded=False):
        elements = [(outer_type, outer)]
        if outer_type == COMPRESSED:
            try:
                inflated = zlib.decompress(outer)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            elements = list(_elements(memoryview(inflated), order))
        for inner_type, inner in elements:
            variable = _parse_variable(inner, order) if inner_type == MATRIX else None
            if variable is not None:
                yield variable


def _elements(content: memoryview, order: str, *, is_padded: bool = True) -> Iterator[tuple[int, memoryview]]:
    """Yield types and contents; small contents are part of their tag, others are padded to eight bytes."""
    at = 0
    while at + 8 <= len(content):
        first, size = np.frombuffer(content[at : at + 8], dtype=f"{order}u4").tolist()
        if first >> 16:
            size, first, start, after = first >> 16, first & 0xFFFF, at + 4, at + 8
            if size > 4:
                raise ValueError("a small element is too large")
        else:
            start = at + 8
            after = start + size + (-size % 8 if is_padded or first == MATRIX else 0)
        if start + size > len(content):
            raise ValueError("it ends within an element")
        yield first, content[start : start + size]
        at = after
    if len(content) - at > 0 and bytes(content[at:]).strip(b"\0"):
        raise ValueError("it ends within a tag")


def _parse_variable(content: memoryview, order: str) -> Variable | None:
    """Return the matrix of an element; None if it is complex, or not numeric."""
    parts = list(_elements(content, order))
    if len(parts) < 4:
        return None
    flags, dims, name = (_numbers(part, order) for part in parts[:3])
    if flags.size < 1 or dims.size < 2 or parts[0][0] != 6 or parts[1][0] != 5:
        raise ValueError("a matrix has no flags or dimensions")
    array_class, flag_bits = int(flags[0]) & 0xFF, int(flags[0]) >> 8 & 0xFF
    shape = tuple(int(n) for n in dims)
    if min(shape) < 0:
        raise ValueError("a dimension is negative")
    variable_name = bytes(parts[2][1]).decode("latin-1") if name.size else ""
    if flag_bits & COMPLEX:
        return None
    if array_class == SPARSE:
        return Variable(variable_name, shape, columns=_parse_columns(parts, order))
    if array_class not in _CLASSES:
        return None
    values = _numbers(parts[3], order)
    if values.size != int(np.prod(shape, dtype=object)):
        raise ValueError(f"the matrix {variable_name!r} of {' x '.join(map(str, shape))} has {values.size} values")
    return Variable(variable_name, shape, full=values.astype(_CLASSES[array_class]).reshape(shape, order="F"))


def _parse_columns(parts: list[tuple[int, memoryview]], order: str) -> CscArrays:
    """Return the arrays of a sparse matrix."""
    if len(parts) < 6:
        raise ValueError("a sparse matrix lacks a part")
    indices, indptr, data = (_numbers(part, order) for part in parts[3:6])
    n_stored = int(indptr[-1]) if indptr.size else 0
    if not 0 <= n_stored <= min(indices.size, data.size):
        raise ValueError("a sparse matrix has too few entries")
    return CscArrays(indptr, indices[:n_stored], data[:n_stored])


def _numbers(part: tuple[int, memoryview], order: str) -> AnyArray:
    type_code, content = part
    if type_code not in _TYPES:
        raise ValueError(f"an array is of the unknown type {type_code}")
    dtype = np.dtype(f"{order}{_TYPES[type_code]}")
    if len(content) % dtype.itemsize:
        raise ValueError("an array ends within a number")
    if not len(content):
        return np.empty(0, dtype=dtype)
    return np.frombuffer(content, dtype=dtype)
