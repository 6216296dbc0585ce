"""npy arrays as streams of items: in order, in pieces, from plain or compressed files and members of archives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.arrays.strings import RefusedError, load_strings
from xmceval.files.streams import is_plain, open_bytes

AnyArray = NDArray[Any]

MAGIC = b"\x93NUMPY"

PIECE_BYTES = 1 << 20


class Header(NamedTuple):
    """What stands before the items."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]


@dataclass
class ArrayStream:
    """The items of one array, in order.

    Attributes
    ----------
    stream : binary file
        Where it is read from.
    name : str
        What messages call it.
    """

    stream: BinaryIO
    name: str

    def __post_init__(self) -> None:
        try:
            version = np.lib.format.read_magic(self.stream)
            if version not in {(1, 0), (2, 0)}:
                raise ValueError(f"version {version} of the npy format")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.header = Header(*read(self.stream))
        except Exception as error:  # numpy raises nearly anything over damaged bytes
            raise _damaged(self.name, error) from None
        if any(type(n) is not int or n < 0 for n in self.header.shape):
            raise DataError(f"{self.name}: cannot be read as an array; its shape is {self.header.shape}")
        if self.header.dtype.itemsize == 0:
            raise DataError(f"{self.name}: cannot be read as an array; its items of {self.header.dtype} have no size")
        self._left = int(np.prod([1, *self.header.shape], dtype=object))

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def read(self, n_items: int) -> AnyArray:
        """Return the next items, exactly so many.

        Raises
        ------
        DataError
            A damaged file, or one that ends before.
        """
        wanted, filled = n_items * self.header.dtype.itemsize, 0
        if wanted == 0:
            return np.empty(n_items, dtype=self.header.dtype)
        buffer = bytearray(min(wanted, PIECE_BYTES))
        try:
            while True:
                with memoryview(buffer)[filled:] as view:
                    self._fill(view)
                filled = len(buffer)
                if filled == wanted:
                    break
                # A wrong header may announce any size: memory grows only as bytes come.
                buffer.extend(bytes(min(wanted - filled, filled)))
        except DataError:
            raise
        except Exception as error:  # zipfile and zlib raise nearly anything over damaged bytes
            raise _damaged(self.name, error) from None
        self._left -= n_items
        return np.frombuffer(buffer, dtype=self.header.dtype)

    def _fill(self, view: memoryview) -> None:
        filled = 0
        while filled < len(view):
            got = self.stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                raise DataError(f"{self.name}: the file is cut short; its header announces {self.header.shape}")
            filled += got

    def rest(self) -> AnyArray:
        """Return all items that are left."""
        return self.read(self._left)

    def check_end(self) -> None:
        """Make sure that nothing follows, which also checks the sum of a member of an archive."""
        try:
            more = self.stream.read(1)
        except Exception as error:
            raise _damaged(self.name, error) from None
        if more:
            raise DataError(f"{self.name}: there is more in it than the {self.header.shape} that its header announces")


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: cannot be read as arrays; is it damaged or cut short? ({error or type(error).__name__})")


def open_array(path: Path) -> ArrayStream:
    """Open a npy file.

    Raises
    ------
    DataError
        Another kind of file, or a damaged one.
    """
    stream = open_bytes(path)
    try:
        return ArrayStream(stream, str(path))
    except DataError:
        stream.close()
        raise


def read_header(path: Path) -> Header:
    """Read what stands before the items of a npy file."""
    array = open_array(path)
    array.stream.close()
    return array.header


def read_array(path: Path) -> AnyArray:
    """Read a whole npy file of numbers; strings and objects are refused."""
    header = read_header(path)
    if header.dtype.kind not in "biuf":
        raise DataError(f"{path}: expected numbers, got dtype {header.dtype}")
    array = open_array(path)
    with array:
        items = array.rest()
        array.check_end()
    return items.reshape(header.shape, order="F" if header.is_fortran else "C")


def read_strings(path: Path) -> NDArray[np.object_]:
    """Read an array of strings: of a unicode dtype, or of Python's strings in a pickle that holds nothing else.

    Raises
    ------
    DataError
        Anything else, with the reason.
    """
    array = open_array(path)
    with array:
        if array.header.dtype.hasobject:
            try:
                found = load_strings(array.stream)
            except RefusedError as error:
                raise DataError(
                    f"{path}: its objects are a pickle, which could run code: only strings are read from it, but "
                    f"{error} (hint: save the names with numpy's dtype str)"
                ) from None
            if found.shape != array.header.shape:
                raise DataError(f"{path}: its header announces {array.header.shape}, it holds {found.shape}")
            return found
        if array.header.dtype.kind != "U":
            raise DataError(f"{path}: expected an array of strings, got dtype {array.header.dtype}")
        items = array.rest()
        array.check_end()
    order = "F" if array.header.is_fortran else "C"
    try:
        return items.astype(object).reshape(array.header.shape, order=order)  # type: ignore[call-overload, no-any-return]
    except ValueError as error:  # a letter that Unicode has not
        raise _damaged(str(path), error) from None


def row_pieces(path: Path, entries: int) -> Iterator[AnyArray]:
    """Yield a matrix in pieces of whole rows, of about so many entries.

    One in Fortran's order is mapped, or held whole if it is compressed.
    """
    header = read_header(path)
    n_rows, width = header.shape
    n_piece = max(entries // max(width, 1), 1)
    if header.is_fortran:
        try:
            whole = np.load(path, mmap_mode="r", allow_pickle=False) if is_plain(path) else read_array(path)
        except ValueError as error:
            raise error if isinstance(error, DataError) else _damaged(str(path), error) from None
        yield from (whole[i : i + n_piece] for i in range(0, n_rows, n_piece))
        return
    array = open_array(path)
    with array:
        if width == 0:
            yield np.empty((n_rows, 0), dtype=header.dtype)
        else:
            for start in range(0, n_rows, n_piece):
                n = min(n_piece, n_rows - start)
                yield array.read(n * width).reshape(n, width)
        array.check_end()
