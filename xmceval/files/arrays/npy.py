"""Read npy arrays as streams, from plain or compressed files or members of npz archives, whole or some rows at a time.

Strings that numpy pickled are read without running any code that the pickle contains.
"""

from __future__ import annotations

import io
import lzma
import math
import os
import pickle
import pickletools
import struct
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.io.signatures import NPY
from xmceval.files.io.streams import is_uncompressed, open_bytes, read_first_bytes, stored_at
from xmceval.rows.block import AnyArray

PIECE_BYTES = 1 << 20
MOST_DIMENSIONS = 4  # for an array of strings

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

# What numpy, zipfile, zlib and lzma raise over damaged bytes.
DAMAGE = (
    *(AttributeError, LookupError, OverflowError, SyntaxError, TypeError, ValueError),
    *(EOFError, OSError, RuntimeError, lzma.LZMAError, struct.error, zlib.error),
    *(tokenize.TokenError, zipfile.BadZipFile),
)


class RepeatedMemberError(zipfile.BadZipFile):
    """An archive has two members of one name."""


def explain_damage(error: Exception) -> str:
    """Return what is known of damage, in brackets; the error of the library is the cause of the one that is raised."""
    if isinstance(error, RepeatedMemberError):
        return f" ({error})"
    if isinstance(error, zipfile.BadZipFile):
        if "CRC" in str(error):
            return " (its checksum differs)"
        return " (it is no whole zip archive)"
    if isinstance(error, (EOFError, zlib.error, lzma.LZMAError)):
        return " (its compressed data is wrong or ends too early)"
    if "encrypted" in str(error):
        return " (it is encrypted)"
    return ""


@contextmanager
def _in_words(problem: str) -> Iterator[None]:
    """Convert exceptions over damaged bytes, for which numpy, zipfile and zlib raise nearly anything."""
    try:
        yield
    except DataError:
        raise
    except DAMAGE as error:
        raise DataError(f"{problem}{explain_damage(error)}") from error


class Header(NamedTuple):
    """The header of an npy array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]


class ArrayStream:
    """The items of one array, in order; the file is closed if its header cannot be read."""

    def __init__(self, stream: BinaryIO, name: str, path: Path | None = None) -> None:
        """Read the header, where the stream starts; `path` names an npy file, and messages use `name`."""
        self.stream = stream
        self.name = name
        self._path = path
        self._damage = f"{name}: cannot be read as an array; is the file damaged or truncated?"
        with ExitStack() as stack, _in_words(self._damage):
            stack.callback(stream.close)
            version = np.lib.format.read_magic(stream)
            if version not in _HEADERS:
                raise DataError(f"{name}: has version {version} of the npy format; expected 1.0 or 2.0")
            self.header = Header(*_HEADERS[version](stream))
            shape = self.header.shape
            problem = ""
            if any(type(n) is not int or n < 0 for n in shape):
                problem = f"shape is {shape}"
            elif math.prod(max(n, 1) for n in shape) * self.header.dtype.itemsize > np.iinfo(np.intp).max:
                problem = f"shape {shape} is larger than any array"  # numpy refuses it even without items
            elif self.header.dtype.itemsize == 0:
                problem = f"dtype {self.header.dtype} has no size"
            if problem:
                raise DataError(f"{name}: cannot be read as an array; its {problem}")
            stack.pop_all()
        self._n_left = math.prod(shape)
        self._row = 0  # the next row to take
        # Whether its rows are not stored one after the other, and all rows if so.
        self._is_whole = self.header.is_fortran or self.header.dtype.hasobject
        self._whole: AnyArray | None = None

    def take(self, first: int, n_rows: int) -> AnyArray:
        """Return rows of a matrix from `first` on, [n_rows, n_columns], which come after those taken before."""
        if not self._is_whole:
            width = self.header.shape[1]
            if first > self._row:
                self.skip((first - self._row) * width)
            self._row = first + n_rows
            return self.read(n_rows * width).reshape(n_rows, width)
        if self._whole is None:  # in Fortran order: memory-mapped, or read whole if it is compressed or in an archive
            if self.header.dtype.hasobject:
                self._whole = self.read_strings()
            elif self._path is None or not is_uncompressed(self._path):
                self._whole = self.read_whole()
            else:
                with _in_words(self._damage):
                    self._whole = np.load(stored_at(self._path), mmap_mode="r", allow_pickle=False)
                self.skip(self._n_left)
                self.check_end()
        return self._whole[first : first + n_rows]

    def read(self, n_items: int) -> AnyArray:
        """Read the next items as an array [n_items] of the dtype in the header."""
        n_bytes = n_items * self.header.dtype.itemsize
        filled = 0
        buffer = np.empty(min(n_bytes, PIECE_BYTES), dtype=np.uint8)
        with _in_words(self._damage):
            while filled < n_bytes:
                if filled == buffer.size:  # a damaged header may declare any size: grow only as bytes arrive
                    buffer.resize(min(2 * filled, n_bytes), refcheck=False)
                n_read = self.stream.readinto(buffer[filled:].data)  # type: ignore[attr-defined]
                if not n_read:
                    shape = self.header.shape
                    raise DataError(f"{self.name}: the file is truncated; its header declares shape {shape}")
                filled += n_read
        self._n_left -= n_items
        return buffer.view(self.header.dtype)

    def skip(self, n_items: int) -> None:
        """Skip items of a seekable file."""
        with _in_words(self._damage):
            self.stream.seek(n_items * self.header.dtype.itemsize, os.SEEK_CUR)
        self._n_left -= n_items

    def read_whole(self) -> AnyArray:
        """Read all items as an array of the shape in the header, and check that nothing follows."""
        items = self.read(self._n_left)
        self.check_end()
        return items.reshape(self.header.shape, order="F" if self.header.is_fortran else "C")

    def read_strings(self) -> NDArray[np.object_]:
        """Read strings: with a unicode dtype, or Python strings in a pickle that contains nothing else."""
        if self.header.dtype.hasobject:
            try:
                strings = load_strings(self.stream)
            except RefusedError as error:
                raise DataError(
                    f"{self.name}: has objects in a pickle, which can run code; only strings are read from it, but "
                    f"{error} (hint: save the names with dtype str)"
                ) from error
            if strings.shape != self.header.shape:
                raise DataError(
                    f"{self.name}: its header declares shape {self.header.shape}, but it holds shape {strings.shape}"
                )
            return strings
        if self.header.dtype.kind != "U":
            raise DataError(f"{self.name}: expected an array of strings, got dtype {self.header.dtype}")
        with _in_words(self._damage):  # an invalid code point is an error
            return self.read_whole().astype(object)

    def check_end(self) -> None:
        """Check that nothing follows, which also verifies the checksum of an archive member."""
        with _in_words(self._damage):
            more = self.stream.read(1)
        if more:
            raise DataError(f"{self.name}: has more data than shape {self.header.shape}, which its header declares")


@dataclass(frozen=True)
class ArrayFile:
    """An array that is reread for each pass: an npy file, or a member of an npz archive."""

    path: Path
    member: str = ""
    content: bytes | None = None  # of an archive that is compressed itself

    @property
    def name(self) -> str:
        """Its name in messages."""
        if self.member:
            return f"{self.path} ({self.member})"
        return str(self.path)

    def can_start(self) -> bool:
        """Return whether reading can begin at any row, without reading the rows before."""
        if not self.member:
            return is_uncompressed(self.path)
        with open_archive(self.path, self.content) as archive:
            is_stored = archive.getinfo(f"{self.member}.npy").compress_type == zipfile.ZIP_STORED
        return is_stored and self.content is None

    @contextmanager
    def open(self) -> Iterator[ArrayStream]:
        """Open it."""
        # A pipe is first copied to a temporary file, as header and rows are read separately.
        with ExitStack() as stack:
            if not self.member:
                array = ArrayStream(open_bytes(self.path), self.name, self.path)
            else:
                archive = stack.enter_context(open_archive(self.path, self.content))
                with _in_words(f"{self.path}: its {self.member!r} cannot be read; is the file damaged?"):
                    member = archive.open(f"{self.member}.npy")  # checks its header
                array = ArrayStream(cast(BinaryIO, member), self.name)
            stack.callback(array.stream.close)
            yield array

    def header(self) -> Header:
        """Read its header."""
        with self.open() as array:
            return array.header

    def head(self, n_entries: int) -> AnyArray:
        """Read the first rows of a matrix, about `n_entries` entries."""
        with self.open() as array:
            n_rows, width = array.header.shape
            return array.take(0, min(max(n_entries // max(width, 1), 1), n_rows))

    def read(self) -> AnyArray:
        """Read it whole."""
        with self.open() as array:
            return array.read_whole()


@contextmanager
def open_archive(path: Path, content: bytes | None = None) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive, or its content if it is compressed itself."""
    with ExitStack() as stack:
        with _in_words(f"{path}: cannot be read as an npz file; is it damaged or truncated?"):
            file: Any = stored_at(path)
            if content is not None:
                file = io.BytesIO(content)
            archive = stack.enter_context(zipfile.ZipFile(file))
            refuse_repeated_members(archive)
        yield archive


def refuse_repeated_members(archive: zipfile.ZipFile) -> None:
    """Refuse an archive with two members of the same name: readers silently take the last, or the first."""
    members = Counter(archive.namelist()).most_common(1)
    if members and members[0][1] > 1:
        raise RepeatedMemberError(f"{members[0][0]} appears twice")


def is_npy(path: Path) -> bool:
    """Return whether a file is an npy array."""
    return read_first_bytes(path, len(NPY)) == NPY


def read_array(path: Path) -> AnyArray:
    """Read a whole npy file of numbers, with the shape and dtype of its header."""
    with ArrayFile(path).open() as array:
        if array.header.dtype.kind not in "biuf":
            raise DataError(f"{path}: expected numbers, got dtype {array.header.dtype}")
        return array.read_whole()


class RefusedError(ValueError):
    """A pickle that contains anything other than an array of strings."""


class _StandIn:
    """Placeholder for a numpy class or function in a pickle; holds arguments and state, and runs nothing."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state = cast(Any, None)

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_StandIn):
    """Placeholder for an array."""


class _Dtype(_StandIn):
    """Placeholder for a dtype."""


# All names that a pickle may use, in addition to ``_codecs.encode``; the real objects are never touched.
_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, text: bytes) -> None:
        self.stream = io.BytesIO(text)
        super().__init__(self.stream)
        self._room = len(text)  # budget of bytes: a pickle may decode the same string any number of times

    def find_class(self, module: str, name: str) -> Any:
        """Return a placeholder; refuse any other name."""
        if (module, name) == ("_codecs", "encode"):
            return self._encode
        if (module, name) not in _ADMITTED:
            raise RefusedError(f"it asks for {module}.{name}")
        return _ADMITTED[module, name]

    def _encode(self, text: Any, encoding: Any = "utf-8") -> bytes:
        if type(text) is not str or encoding != "latin1":
            raise RefusedError("it holds more than an array of strings")
        self._room -= len(text)
        if self._room < 0:
            raise RefusedError("it asks for more bytes than it has")
        return text.encode("latin1")

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to external objects."""
        raise RefusedError(f"it refers to an external object, {pid!r:.40}")


def load_strings(stream: BinaryIO) -> NDArray[np.object_]:
    """Read the pickle in an npy file of dtype object: an array of str, and nothing else."""
    try:
        text = stream.read()
        codes = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
        numbers = (number or 0 for code, number, _ in pickletools.genops(text) if code.name in codes)
        if any(number > i for i, number in enumerate(numbers)):
            raise RefusedError("the objects in it are not numbered one after the other")
        unpickler = _Unpickler(text)
        content = unpickler.load()
    except RefusedError:
        raise
    except Exception as error:  # a damaged pickle may raise anything at all
        raise RefusedError("it is damaged or truncated") from error
    if unpickler.stream.read(1):
        raise RefusedError("more follows it")
    if type(content) is not _Array or type(content.state) is not tuple or len(content.state) != 5:
        raise RefusedError("it holds something other than an array")
    _, shape, dtype, is_fortran, items = content.state
    if type(dtype) is not _Dtype or dtype.arguments[:1] not in (("O8",), ("O4",), ("O",)) or type(items) is not list:
        raise RefusedError("its array is not one of strings")
    sizes = shape if type(shape) is tuple and len(shape) <= MOST_DIMENSIONS else (-1,)
    if any(type(n) is not int or n < 0 for n in sizes) or int(np.prod([1, *sizes], dtype=object)) != len(items):
        raise RefusedError("its shape does not fit its contents")
    other_types = {type(item).__name__ for item in items if type(item) is not str}
    if other_types:
        raise RefusedError(f"it holds an object of type {min(other_types)}")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(sizes, order="F" if is_fortran is True else "C")
