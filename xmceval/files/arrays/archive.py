"""Archives of arrays: the members of an npz file, read in order, from any item on, or by threads where they are."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.arrays.npy import ArrayStream
from xmceval.files.arrays.storedmembers import CAN_READ, StoredArray, StoredFile
from xmceval.files.io.inputfiles import stored_at
from xmceval.files.io.streams import open_bytes

AnyArray = NDArray[Any]

LOCAL_HEADER = 30  # bytes before the name of a member; the last four are two lengths


@dataclass(frozen=True)
class Archive:
    """The members of an npz file, which is opened anew for each pass."""

    path: Path
    content: bytes | None = None

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
            except Exception as error:  # zipfile raises nearly anything over damaged bytes
                raise DataError(
                    f"{self.path}: cannot be read as an npz file; is it damaged or truncated? "
                    f"({error or type(error).__name__})"
                ) from None
            if not isinstance(file, Path):
                stack.callback(file.close)
            yield opened

    def open_array(self, opened: zipfile.ZipFile, name: str) -> ArrayStream:
        """Open a member."""
        try:
            member: Any = opened.open(f"{name}.npy")
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{self.path}: its {name!r} cannot be read; is the file damaged? ({error})") from None
        try:
            return ArrayStream(member, f"{self.path} ({name})")
        except DataError:
            member.close()
            raise

    @property
    def can_start(self) -> bool:
        """Whether its members are stored as they are, so that reading can begin at any item of them."""
        if self.content is not None:
            return False
        with self.open() as opened:
            return all(member.compress_type == zipfile.ZIP_STORED for member in opened.infolist())

    def open_stored(self, opened: zipfile.ZipFile, name: str) -> ArrayStream:
        """Open a member that is stored as it is, in which items can be left out; its checksum is not checked."""
        stream = open_bytes(self.path)
        try:
            start = opened.getinfo(f"{name}.npy").header_offset
            stream.seek(start)
            head = stream.read(LOCAL_HEADER)
            n_name, n_extra = struct.unpack("<HH", head[-4:])
            stream.seek(start + LOCAL_HEADER + n_name + n_extra)
            return ArrayStream(
                cast(BinaryIO, _Until(stream, opened.getinfo(f"{name}.npy").file_size)), f"{self.path} ({name})"
            )
        except BaseException:
            stream.close()
            raise

    def find_stored(self, opened: zipfile.ZipFile, names: Sequence[str]) -> list[StoredArray] | None:
        """Return members that threads can read where they are in the file; None where they cannot."""
        if self.content is not None or not CAN_READ:
            return None
        file, arrays = StoredFile(stored_at(self.path)), list[StoredArray]()
        for name in names:
            with self.open_array(opened, name) as stream:  # checks what is before its items
                header, n_head = stream.header, stream.stream.tell()
            info, head = opened.getinfo(f"{name}.npy"), np.empty(LOCAL_HEADER, dtype=np.uint8)
            is_read = file.read(info.header_offset, head) == head.size
            offset = info.header_offset + LOCAL_HEADER + sum(struct.unpack("<HH", head[-4:].tobytes()))
            n_items = (info.file_size - n_head) // header.dtype.itemsize
            is_whole = offset + info.file_size <= file.size and header.shape[0] <= n_items
            if info.compress_type != zipfile.ZIP_STORED or not (is_read and is_whole):
                return None
            where = offset, n_head, info.file_size, info.CRC
            arrays.append(StoredArray(file, f"{self.path} ({name})", info.filename, header, *where))
        return arrays

    def read_array(self, opened: zipfile.ZipFile, name: str) -> AnyArray:
        """Read a whole member as an array [n_items]."""
        with self.open_array(opened, name) as stream:
            items = stream.read_rest()
            stream.check_end()
        return items


def refuse_repeated_members(opened: zipfile.ZipFile) -> None:
    """Refuse an archive with two members of one name: readers take the last, or the first, without a word."""
    members = Counter(opened.namelist()).most_common(1)
    if members and members[0][1] > 1:
        raise zipfile.BadZipFile(f"{members[0][0]} appears twice")


class _Until(io.RawIOBase):
    """The next so many bytes of a stream, as a stream."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, view: Any) -> int:
        """Read into a buffer."""
        n_read = self._stream.readinto(memoryview(view)[: self._left])  # type: ignore[attr-defined]
        self._left -= n_read
        return int(n_read)

    def seek(self, offset: int, whence: int = os.SEEK_CUR) -> int:
        """Leave bytes out."""
        self._left = max(self._left - offset, 0)
        return self._stream.seek(offset, whence)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        super().close()
