"""Kept rows: the values of rows of one run, in chunks of so many rows that threads write and read in any order.

A file is an npz archive: a packed member per chunk, further arrays, and `meta` as JSON, which comes last.
"""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.arrays.archive import Archive
from xmceval.files.io.paths import to_path
from xmceval.files.writing.sinks import write_member
from xmceval.files.writing.targets import open_targets
from xmceval.kernels.rows.packing import MOST_VALUES, PLACES, pack_columns, unpack_columns
from xmceval.rows.block import Float64, Int64
from xmceval.version import KEPT_SCHEMA

CHUNK_NUMBERS = 1 << 17
LEAST_ROWS = 1 << 10
CHUNK = "chunk {}"


def rows_of_chunk(n_columns: int) -> int:
    """Return how many rows a chunk has: the same for all files of as many columns."""
    return max(CHUNK_NUMBERS // max(n_columns, 1), LEAST_ROWS)


class KeptWriter:
    """Writes values of rows; threads may write chunks at the same time, in any order."""

    def __init__(self, file: BinaryIO) -> None:
        self._archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._lock = threading.Lock()

    def write(self, number: int, values: Float64) -> None:
        """Write a chunk: its number, and values [n_rows, n_columns]."""
        packed = _pack(values)
        with self._lock:
            self._put(CHUNK.format(number), packed)

    def finish(self, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write what is known at the end."""
        for name, array in arrays.items():
            self._put(name, array)
        text = json.dumps({"schema": KEPT_SCHEMA, **meta}).encode()
        self._put("meta", np.frombuffer(text, dtype=np.uint8))

    def close(self) -> None:
        """Write the list of what the archive has."""
        self._archive.close()

    def _put(self, name: str, array: NDArray[Any]) -> None:
        write_member(self._archive, name, array.dtype, array.shape, iter([array]))


@contextmanager
def open_kept_writer(target: Path | BytesIO) -> Iterator[KeptWriter]:
    """Open a file for the values of rows of a run, which appears under its name when it is complete; or memory."""
    with ExitStack() as files:
        file = target if isinstance(target, BytesIO) else files.enter_context(open_targets([target], force=True))[0]
        yield files.enter_context(closing(KeptWriter(file)))


@dataclass(frozen=True)
class KeptFile:
    """A file of kept rows; threads may read chunks at the same time.

    Attributes
    ----------
    archive : Archive
    opened : ZipFile
    meta : mapping
    name : str
        For messages: its path, or the system of content in memory.
    lock : Lock
        Of reading: in Python 3.12 and 3.13 zipfile reads elsewhere where threads open members at the same time.
    """

    archive: Archive
    opened: zipfile.ZipFile
    meta: Mapping[str, Any]
    name: str
    lock: threading.Lock = field(default_factory=threading.Lock)

    def array(self, name: str) -> NDArray[Any]:
        """Read an array, in the shape in which it was written."""
        with self.lock, self.archive.open_array(self.opened, name) as stream:
            return stream.read_rest().reshape(stream.header.shape)

    def read(self, number: int, n_rows: int, *counts: int) -> list[Float64]:
        """Read a chunk: values [n_rows, n] of as many columns as each of `counts` says, one after the other.

        Raises
        ------
        DataError
            A damaged file.
        """
        packed = _Packed.of(self.array(CHUNK.format(number)), n_rows, sum(counts))
        if packed is None:
            raise DataError(f"{self.name}: its chunk {number} has another size; is the file damaged?")
        return [packed.unpack(sum(counts[:i]), count) for i, count in enumerate(counts)]


@contextmanager
def open_kept(kept: Path | bytes, name: str = "") -> Iterator[KeptFile]:
    """Open a file of kept rows, or the content of one, which has a name for messages.

    Raises
    ------
    DataError
        Another kind of file, or a damaged one.
    """
    archive = Archive(Path(), kept) if isinstance(kept, bytes) else Archive(to_path(kept))
    name = name if isinstance(kept, bytes) else str(kept)
    with archive.open() as opened:
        names = set(opened.namelist())
        meta = json.loads(archive.read_array(opened, "meta").tobytes()) if "meta.npy" in names else {}
        if meta.get("schema") != KEPT_SCHEMA:
            raise DataError(f"{name}: has no kept values of rows under the schema {KEPT_SCHEMA}")
        yield KeptFile(archive, opened, meta, name)


def _pack(values: Float64) -> NDArray[np.uint8]:
    """Return the columns of values [n_rows, n_columns] in fewer bytes: their kinds, numbers and codes."""
    kinds, places = np.empty(values.shape[1], dtype=np.int64), np.empty(PLACES, dtype=np.int64)
    numbers = np.empty(values.size + MOST_VALUES, dtype=np.int64)
    codes = np.empty(values.size, dtype=np.uint8)
    with np.errstate(over="ignore"):
        n_numbers, n_codes = pack_columns(values.view(np.int64), kinds, numbers, codes, places)
    return np.concatenate([kinds.view(np.uint8), numbers[:n_numbers].view(np.uint8), codes[:n_codes]])


class _Packed(NamedTuple):
    """Packed columns: kinds and places as `unpack_columns` takes them."""

    n_rows: int
    kinds: Int64
    number_places: Int64
    code_places: Int64
    numbers: Int64
    codes: NDArray[np.uint8]

    @classmethod
    def of(cls, content: NDArray[Any], n_rows: int, n_columns: int) -> _Packed | None:
        """Find the columns in the bytes of a chunk, uint8 [n]; None where they cannot be these."""
        if content.dtype != np.uint8 or content.size < 8 * n_columns:
            return None
        kinds = content[: 8 * n_columns].view(np.int64).copy()
        n_numbers = np.where(kinds > 0, kinds, np.where(kinds == 0, n_rows, 0))
        n_codes = np.where(kinds > 1, n_rows, 0)
        ends = np.cumsum(n_numbers), np.cumsum(n_codes)
        split = 8 * (n_columns + int(n_numbers.sum()))
        if content.size != split + n_codes.sum() or kinds.max(initial=0) > MOST_VALUES:
            return None
        # What is that of another column has its kind and places.
        source = np.where(kinds < 0, -1 - kinds, np.arange(n_columns))
        if np.any(source > np.arange(n_columns)) or np.any(kinds[source] < 0):
            return None
        places = (ends[0] - n_numbers)[source], (ends[1] - n_codes)[source]
        numbers = content[8 * n_columns : split].view(np.int64)
        return cls(n_rows, kinds[source], *places, numbers, content[split:])

    def unpack(self, first: int, n: int) -> Float64:
        """Return `n` columns from the first on, float64 [n_rows, n]."""
        values = np.empty((self.n_rows, n))
        columns = slice(first, first + n)
        places = self.number_places[columns], self.code_places[columns]
        unpack_columns(self.kinds[columns], *places, self.numbers, self.codes, values.view(np.int64))
        return values
