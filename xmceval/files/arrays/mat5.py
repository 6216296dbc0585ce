"""The numeric and sparse matrices of a MATLAB file of version 5 to 7.

Not scipy.io.loadmat: it trusts the sizes in the file and dies of a segmentation fault when they are damaged.
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

# Types of stored numbers; classes of full numeric matrices.
_TYPES: Mapping[int, str] = MappingProxyType(
    {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
)

_CLASSES: Mapping[int, str] = MappingProxyType(
    {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
)


class Columns(NamedTuple):
    """A sparse matrix by columns, as it is stored and not checked."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray


@dataclass(frozen=True)
class Variable:
    """A matrix of a file: full values in Fortran's order, or columns."""

    name: str
    shape: tuple[int, ...]
    full: AnyArray | None = None
    columns: Columns | None = None


def read_variables(held: bytes) -> Iterator[Variable]:
    """Yield the real matrices of a file; cells, structures and text are passed over.

    Raises
    ------
    ValueError
        A damaged file.
    """
    mark = held[HEADER_BYTES - 2 : HEADER_BYTES]
    if mark not in {b"IM", b"MI"}:
        raise ValueError("it has no header of version 5")
    order = "<" if mark == b"IM" else ">"
    for kind, content in _elements(memoryview(held)[HEADER_BYTES:], order, is_padded=False):
        if kind == COMPRESSED:
            try:
                inflated = zlib.decompress(content)
            except zlib.error as error:
                raise ValueError(str(error)) from None
            parts = list(_elements(memoryview(inflated), order))
        else:
            parts = [(kind, content)]
        for inner, body in parts:
            found = _variable(body, order) if inner == MATRIX else None
            if found is not None:
                yield found


def _elements(content: memoryview, order: str, *, is_padded: bool = True) -> Iterator[tuple[int, memoryview]]:
    """Yield types and contents; small ones stand within their tag, others are padded to eight bytes."""
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


def _variable(body: memoryview, order: str) -> Variable | None:
    parts = list(_elements(body, order))
    if len(parts) < 4:
        return None
    flags, dims, name = (_numbers(part, order) for part in parts[:3])
    if flags.size < 1 or dims.size < 2 or parts[0][0] != 6 or parts[1][0] != 5:
        raise ValueError("a matrix has no flags or dimensions")
    kind, marks = int(flags[0]) & 0xFF, int(flags[0]) >> 8 & 0xFF
    shape = tuple(int(n) for n in dims)
    if min(shape) < 0:
        raise ValueError("a dimension is negative")
    called = bytes(parts[2][1]).decode("latin-1") if name.size else ""
    if marks & COMPLEX:
        return None
    if kind == SPARSE:
        if len(parts) < 6:
            raise ValueError("a sparse matrix lacks a part")
        indices, indptr, data = (_numbers(part, order) for part in parts[3:6])
        n_stored = int(indptr[-1]) if indptr.size else 0
        if not 0 <= n_stored <= min(indices.size, data.size):
            raise ValueError("a sparse matrix has too few entries")
        return Variable(called, shape, columns=Columns(indptr, indices[:n_stored], data[:n_stored]))
    if kind not in _CLASSES:
        return None
    values = _numbers(parts[3], order)
    if values.size != int(np.prod(shape, dtype=object)):
        raise ValueError(f"the matrix {called!r} of {' x '.join(map(str, shape))} has {values.size} values")
    return Variable(called, shape, full=values.astype(_CLASSES[kind]).reshape(shape, order="F"))


def _numbers(part: tuple[int, memoryview], order: str) -> AnyArray:
    kind, content = part
    if kind not in _TYPES:
        raise ValueError(f"an array is of the unknown type {kind}")
    dtype = np.dtype(f"{order}{_TYPES[kind]}")
    if len(content) % dtype.itemsize:
        raise ValueError("an array ends within a number")
    if not len(content):
        return np.empty(0, dtype=dtype)
    return np.frombuffer(content, dtype=dtype)
