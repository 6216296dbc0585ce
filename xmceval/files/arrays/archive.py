"""Read npy files and members of npz archives in order, or from any row if they are stored uncompressed."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from xmceval.errors import DataError
from xmceval.files.arrays.npy import DAMAGE, ArrayStream, Header, RepeatedMemberError, explain_damage, open_array
from xmceval.files.io.streams import is_uncompressed, open_bytes, stored_at
from xmceval.rows.block import AnyArray

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
