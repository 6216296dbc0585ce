"""npy arrays as streams of items: from plain or compressed files, or members of archives, whole or in pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.arrays.strings import RefusedError, load_strings
from xmceval.files.io.inputfiles import stored_at
from xmceval.files.io.streams import is_uncompressed, open_bytes

AnyArray = NDArray[Any]

PIECE_BYTES = 1 << 20


class Header(NamedTuple):
    """The header of an npy array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]


@dataclass
class ArrayStream:
    """The items of one array, in order."""

    stream: BinaryIO  # the file, read from the header on
    name: str  # the name of the array in messages

    def __post_init__(self) -> None:
        try:
            version = np.lib.format.read_magic(self.stream)
            if version not in {(1, 0), (2, 0)}:
                raise ValueError(f"version {version} of the npy format")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.header = Header(*read(self.stream))
        except DataError:
            raise
        except Exception as error:  # numpy raises nearly anything over damaged bytes
            raise damage_error(self.name, error) from None
        if any(type(n) is not int or n < 0 for n in self.header.shape):
            raise DataError(f"{self.name}: cannot be read as an array; its shape is {self.header.shape}")
        if self.header.dtype.itemsize == 0:
            raise DataError(f"{self.name}: cannot be read as an array; its dtype {self.header.dtype} has no size")
        self._n_left = int(np.prod([1, *self.header.shape], dtype=object))

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def read(self, n_items: int) -> AnyArray:
        """Read the next items, as an array [n_items] of the type in the header."""
        n_bytes, filled = n_items * self.header.dtype.itemsize, 0
        if n_bytes == 0:
            return np.empty(n_items, dtype=self.header.dtype)
        buffer = bytearray(min(n_bytes, PIECE_BYTES))
        try:
            while True:
                with memoryview(buffer)[filled:] as view:
                    self._fill(view)
                filled = len(buffer)
                if filled == n_bytes:
                    break
                # A wrong header may declare any size: memory grows only as bytes come.
                buffer.extend(bytes(min(n_bytes - filled, filled)))
        except DataError:
            raise
        except Exception as error:  # zipfile and zlib raise nearly anything over damaged bytes
            raise damage_error(self.name, error) from None
        self._n_left -= n_items
        return np.frombuffer(buffer, dtype=self.header.dtype)

    def skip(self, n_items: int) -> None:
        """Leave items out, of a file in which bytes can be left out."""
        self.stream.seek(n_items * self.header.dtype.itemsize, os.SEEK_CUR)
        self._n_left -= n_items

    def _fill(self, view: memoryview) -> None:
        filled = 0
        while filled < len(view):
            n_read = self.stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not n_read:
                raise DataError(f"{self.name}: the file is truncated; its header declares shape {self.header.shape}")
            filled += n_read

    def read_rest(self) -> AnyArray:
        """Read all items that are left, as an array [n_items]."""
        return self.read(self._n_left)

    def check_end(self) -> None:
        """Check that nothing follows, and with it the checksum of a member of an archive."""
        try:
            more = self.stream.read(1)
        except DataError:
            raise
        except Exception as error:
            raise damage_error(self.name, error) from None
        if more:
            raise DataError(f"{self.name}: has more data than shape {self.header.shape}, which its header declares")


def open_array(path: Path) -> ArrayStream:
    """Open an npy file, or a pipe, which is copied to a temporary file: its header is read before its rows."""
    stream = open_bytes(path)
    try:
        return ArrayStream(stream, str(path))
    except DataError:
        stream.close()
        raise


def read_header(path: Path) -> Header:
    """Read the header of an npy file."""
    array = open_array(path)
    array.stream.close()
    return array.header


def read_array(path: Path) -> AnyArray:
    """Read a whole npy file of numbers, of the shape and type in its header."""
    header = read_header(path)
    if header.dtype.kind not in "biuf":
        raise DataError(f"{path}: expected numbers, got dtype {header.dtype}")
    array = open_array(path)
    with array:
        items = array.read_rest()
        array.check_end()
    return items.reshape(header.shape, order="F" if header.is_fortran else "C")


def read_strings(path: Path) -> NDArray[np.object_]:
    """Read an array of strings: of a unicode dtype, or of Python strings in a pickle with nothing else in it."""
    with open_array(path) as array:
        return take_strings(array)


def take_strings(array: ArrayStream) -> NDArray[np.object_]:
    """Read the strings of an opened array, an object array of the shape in its header, as `read_strings` does."""
    if array.header.dtype.hasobject:
        try:
            strings = load_strings(array.stream)
        except RefusedError as error:
            raise DataError(
                f"{array.name}: has objects in a pickle, which can run code; only strings are read from it, but "
                f"{error} (hint: save the names with dtype str)"
            ) from None
        if strings.shape != array.header.shape:
            raise DataError(
                f"{array.name}: its header declares shape {array.header.shape}, but it holds shape {strings.shape}"
            )
        return strings
    if array.header.dtype.kind != "U":
        raise DataError(f"{array.name}: expected an array of strings, got dtype {array.header.dtype}")
    items = array.read_rest()
    array.check_end()
    order = "F" if array.header.is_fortran else "C"
    try:
        return items.astype(object).reshape(array.header.shape, order=order)  # type: ignore[call-overload, no-any-return]
    except ValueError as error:  # a code point that Unicode does not have
        raise damage_error(array.name, error) from None


class ArrayFile(Protocol):
    """An array that is read anew for each pass: an npy file, or a member of an archive."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def path(self) -> Path:
        """The file that it is in."""

    def header(self) -> Header:
        """Read its header."""

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any row."""

    def row_pieces(self, n_entries: int, first_row: int = 0) -> Iterator[AnyArray]:
        """Yield the rows of a matrix in pieces [n, n_columns] of about `n_entries` entries."""

    def strings(self) -> NDArray[np.object_]:
        """Read it as an array of strings."""


@dataclass(frozen=True)
class NpyFile:
    """An npy file."""

    path: Path

    @property
    def name(self) -> str:
        """Its name in messages."""
        return str(self.path)

    def header(self) -> Header:
        """Read its header."""
        return read_header(self.path)

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any row."""
        return is_uncompressed(self.path)

    def row_pieces(self, n_entries: int, first_row: int = 0) -> Iterator[AnyArray]:
        """Yield the rows of a matrix in pieces [n, n_columns] of about `n_entries` entries."""
        return read_row_pieces(self.path, n_entries, first_row)

    def strings(self) -> NDArray[np.object_]:
        """Read it as an array of strings."""
        return read_strings(self.path)


def read_row_pieces(path: Path, n_entries: int, first_row: int = 0) -> Iterator[AnyArray]:
    """Yield the rows of a matrix, from one on, in pieces [n, n_columns] of about `n_entries` entries.

    A matrix in Fortran order is mapped into memory, or read whole if the file is compressed.
    """
    header = read_header(path)
    if header.is_fortran and is_uncompressed(path):
        try:
            whole = np.load(stored_at(path), mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise damage_error(str(path), error) from None
        with open_array(path) as array:
            array.skip(whole.size)
            array.check_end()
        yield from _cut(whole[first_row:], n_entries)
        return
    with open_array(path) as array:
        yield from take_row_pieces(array, n_entries, first_row)


def take_row_pieces(array: ArrayStream, n_entries: int, first_row: int = 0) -> Iterator[AnyArray]:
    """Yield the rows of an opened matrix, from one on, in pieces [n, n_columns]; one in Fortran order is read whole."""
    n_rows, width = array.header.shape
    if array.header.is_fortran:
        whole = array.read_rest().reshape(array.header.shape, order="F")
        array.check_end()
        yield from _cut(whole[first_row:], n_entries)
        return
    n_rows -= first_row
    if first_row:
        array.skip(first_row * width)
    n_piece = max(n_entries // max(width, 1), 1)
    if width == 0:
        yield np.empty((n_rows, 0), dtype=array.header.dtype)
    else:
        for start in range(0, n_rows, n_piece):
            n = min(n_piece, n_rows - start)
            yield array.read(n * width).reshape(n, width)
    array.check_end()


def _cut(whole: AnyArray, n_entries: int) -> Iterator[AnyArray]:
    n_piece = max(n_entries // max(whole.shape[1], 1), 1)
    return (whole[i : i + n_piece] for i in range(0, whole.shape[0], n_piece))


def damage_error(name: str, error: Exception) -> DataError:
    """Return the error for bytes that are no array."""
    return DataError(
        f"{name}: cannot be read as an array; is the file damaged or truncated? ({error or type(error).__name__})"
    )
