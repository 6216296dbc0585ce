"""Read npy arrays as streams, from plain or compressed files or archive members, whole or some rows at a time.

Strings that numpy pickled are read without running any code that the pickle contains.
"""

from __future__ import annotations

import io
import lzma
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
from xmceval.files.io.streams import is_uncompressed, open_bytes, stored_at
from xmceval.rows.block import AnyArray

PIECE_BYTES = 1 << 20

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
        return " (its checksum differs)" if "CRC" in str(error) else " (it is no whole zip archive)"
    if isinstance(error, (EOFError, zlib.error, lzma.LZMAError)):
        return " (its compressed data is wrong or ends too early)"
    return " (it is encrypted)" if "encrypted" in str(error) else ""


MOST_DIMENSIONS = 4  # for an array of strings


class Header(NamedTuple):
    """The header of an npy array."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]


class ArrayStream:
    """The items of one array, in order; the file is closed if its header cannot be read."""

    def __init__(self, stream: BinaryIO, name: str, path: Path | None = None) -> None:
        """Read the header, where the stream starts; `path` is that of an npy file, and messages use `name`."""
        self.stream, self.name, self._path = stream, name, path
        with ExitStack() as stack, self._in_words():
            stack.callback(stream.close)
            version = np.lib.format.read_magic(stream)
            if version not in {(1, 0), (2, 0)}:
                raise DataError(f"{name}: has version {version} of the npy format; expected 1.0 or 2.0")
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.header = Header(*read(stream))
            if any(type(n) is not int or n < 0 for n in self.header.shape):
                raise DataError(f"{name}: cannot be read as an array; its shape is {self.header.shape}")
            if self.header.dtype.itemsize == 0:
                raise DataError(f"{name}: cannot be read as an array; its dtype {self.header.dtype} has no size")
            stack.pop_all()
        self._n_left = int(np.prod([1, *self.header.shape], dtype=object))
        self._whole: AnyArray | None = None  # all rows, if they are not stored one after the other
        self._row = 0  # the next row to take from them

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def take(self, n_rows: int) -> AnyArray:
        """Return the next rows of a matrix, [n_rows, n_columns].

        An array in Fortran order is memory-mapped, or read whole if it is compressed or in an archive.
        """
        if not self._is_whole:
            width = self.header.shape[1]
            return self.read(n_rows * width).reshape(n_rows, width)
        if self._whole is None:
            if self.header.dtype.hasobject:
                self._whole = self.read_strings()
            elif self._path is None or not is_uncompressed(self._path):
                self._whole = self.read_whole()
            else:
                with self._in_words():
                    self._whole = np.load(stored_at(self._path), mmap_mode="r", allow_pickle=False)
                self.skip(self._n_left)
                self.check_end()
        self._row += n_rows
        return self._whole[self._row - n_rows : self._row]

    def skip_rows(self, n_rows: int) -> None:
        """Skip the first rows of a matrix."""
        if self._is_whole:
            self._row = n_rows
        elif n_rows:
            self.skip(n_rows * self.header.shape[1])

    @property
    def _is_whole(self) -> bool:
        """Whether its rows are not stored one after the other."""
        return self.header.is_fortran or self.header.dtype.hasobject

    def read(self, n_items: int) -> AnyArray:
        """Read the next items as an array [n_items] of the dtype in the header."""
        n_bytes, filled = n_items * self.header.dtype.itemsize, 0
        buffer = np.empty(min(n_bytes, PIECE_BYTES), dtype=np.uint8)
        with self._in_words():
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
                ) from None
            if strings.shape != self.header.shape:
                raise DataError(
                    f"{self.name}: its header declares shape {self.header.shape}, but it holds shape {strings.shape}"
                )
            return strings
        if self.header.dtype.kind != "U":
            raise DataError(f"{self.name}: expected an array of strings, got dtype {self.header.dtype}")
        with self._in_words():  # an invalid code point is an error
            return self.read_whole().astype(object)

    def check_end(self) -> None:
        """Check that nothing follows, which also verifies the checksum of an archive member."""
        with self._in_words():
            more = self.stream.read(1)
        if more:
            raise DataError(f"{self.name}: has more data than shape {self.header.shape}, which its header declares")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Convert exceptions over damaged bytes, for which numpy, zipfile and zlib raise nearly anything."""
        try:
            yield
        except DataError:
            raise
        except DAMAGE as error:
            problem = explain_damage(error)
            raise DataError(
                f"{self.name}: cannot be read as an array; is the file damaged or truncated?{problem}"
            ) from error


def open_array(path: Path) -> ArrayStream:
    """Open an npy file; a pipe is first copied to a temporary file, as header and rows are read separately."""
    return ArrayStream(open_bytes(path), str(path), path)


def read_array(path: Path) -> AnyArray:
    """Read a whole npy file of numbers, with the shape and dtype of its header."""
    with open_array(path) as array:
        if array.header.dtype.kind not in "biuf":
            raise DataError(f"{path}: expected numbers, got dtype {array.header.dtype}")
        return array.read_whole()


class RefusedError(ValueError):
    """A pickle that contains anything other than an array of strings."""


class _StandIn:
    """Placeholder for a numpy class or function in a pickle; holds arguments and state, and runs nothing."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments, self.state = arguments, cast(Any, None)

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
        try:
            is_wild = any(number > i for i, number in enumerate(numbers))
        except Exception:
            raise RefusedError("it is damaged or truncated") from None
        if is_wild:
            raise RefusedError("the objects in it are not numbered one after the other")
        unpickler = _Unpickler(text)
        content = unpickler.load()
    except RefusedError:
        raise
    except Exception as error:  # a damaged pickle may raise anything at all
        raise RefusedError(f"it is damaged ({type(error).__name__})") from None
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


LOCAL_HEADER = 30  # bytes before the name of a member; the last four are two lengths


@dataclass(frozen=True)
class Archive:
    """The members of an npz file, which is reopened for each pass."""

    path: Path
    content: bytes | None = None  # all bytes, if the archive itself is compressed

    @contextmanager
    def open(self) -> Iterator[zipfile.ZipFile]:
        """Open the archive."""
        with ExitStack() as stack:
            try:
                file = stored_at(self.path) if self.content is None else io.BytesIO(self.content)
                opened = stack.enter_context(zipfile.ZipFile(file))
                refuse_repeated_members(opened)
            except DataError:
                raise
            except DAMAGE as error:
                problem = explain_damage(error)
                raise DataError(
                    f"{self.path}: cannot be read as an npz file; is it damaged or truncated?{problem}"
                ) from error
            if not isinstance(file, Path):
                stack.callback(file.close)
            yield opened

    def open_array(self, opened: zipfile.ZipFile, name: str) -> ArrayStream:
        """Open a member; an uncompressed one is read directly from the file."""
        try:
            info = opened.getinfo(f"{name}.npy")
            member: Any = opened.open(info)  # checks its header
            if self.content is None and info.compress_type == zipfile.ZIP_STORED:
                member.close()
                member = _StoredMember(open_bytes(self.path), info)
        except DataError:
            raise
        except DAMAGE as error:
            problem = explain_damage(error)
            raise DataError(f"{self.path}: its {name!r} cannot be read; is the file damaged?{problem}") from error
        return ArrayStream(member, f"{self.path} ({name})")

    def can_start(self) -> bool:
        """Return whether its members are stored uncompressed, so that reading can begin at any item."""
        if self.content is not None:
            return False
        with self.open() as opened:
            return all(member.compress_type == zipfile.ZIP_STORED for member in opened.infolist())

    def read_array(self, opened: zipfile.ZipFile, name: str) -> AnyArray:
        """Read a whole member."""
        with self.open_array(opened, name) as stream:
            return stream.read_whole()


def refuse_repeated_members(opened: zipfile.ZipFile) -> None:
    """Refuse an archive with two members of the same name: readers silently take the last, or the first."""
    members = Counter(opened.namelist()).most_common(1)
    if members and members[0][1] > 1:
        raise RepeatedMemberError(f"{members[0][0]} appears twice")


class _StoredMember(io.RawIOBase):
    """An uncompressed member: bytes are read directly into the caller's memory, and can be skipped.

    As in zipfile, the checksum is verified at the end, unless bytes were skipped.
    """

    def __init__(self, stream: BinaryIO, info: zipfile.ZipInfo) -> None:
        self._stream, self._left, self._info = stream, info.file_size, info
        self._crc: int | None = 0  # None once bytes were skipped
        stream.seek(info.header_offset)
        n_name, n_extra = struct.unpack("<HH", stream.read(LOCAL_HEADER)[-4:])
        stream.seek(n_name + n_extra, os.SEEK_CUR)

    def readinto(self, view: Any) -> int:
        """Read into a buffer."""
        part = memoryview(view)[: self._left]
        n_read = int(self._stream.readinto(part))  # type: ignore[attr-defined]
        self._left -= n_read
        if self._crc is not None:
            self._crc = zlib.crc32(part[:n_read], self._crc)
            if not self._left and self._crc != self._info.CRC:
                raise zipfile.BadZipFile(f"Bad CRC-32 for file {self._info.filename!r}")
        return n_read

    def seek(self, offset: int, whence: int = os.SEEK_CUR) -> int:
        """Skip bytes."""
        self._left, self._crc = max(self._left - offset, 0), None
        return self._stream.seek(offset, whence)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


@dataclass(frozen=True)
class ArrayFile:
    """An array that is reread for each pass: an npy file, or a member of an archive."""

    path: Path
    archive: Archive | None = None
    part: str = ""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return str(self.path) if self.archive is None else f"{self.path} ({self.part})"

    def can_start(self) -> bool:
        """Return whether reading can begin at any row."""
        return is_uncompressed(self.path) if self.archive is None else self.archive.can_start()

    @contextmanager
    def open(self) -> Iterator[ArrayStream]:
        """Open it."""
        with ExitStack() as stack:
            if self.archive is None:
                yield stack.enter_context(open_array(self.path))
            else:
                opened = stack.enter_context(self.archive.open())
                yield stack.enter_context(self.archive.open_array(opened, self.part))

    def header(self) -> Header:
        """Read its header."""
        with self.open() as stream:
            return stream.header

    def head(self, n_entries: int) -> AnyArray:
        """Read the first rows of a matrix, about `n_entries` entries."""
        with self.open() as stream:
            n_rows, width = stream.header.shape
            return stream.take(min(max(n_entries // max(width, 1), 1), n_rows))
