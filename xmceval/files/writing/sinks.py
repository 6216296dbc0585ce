"""Sinks: where converted rows go; one class per family of formats."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault
from xmceval.files.io.copies import write_all
from xmceval.rows.block import Block, Rows, Scratch

COPY_ENTRIES = 1 << 17


class Sink(Protocol):
    """Where rows go: blocks are prepared in any thread, and written in order."""

    def prepare(self, block: Block, rows: Rows, scratch: Scratch) -> Any:
        """Return the payload that `write` takes; it may live in `scratch`."""

    def write(self, payload: Any) -> None:
        """Write the next block."""

    def finish(self, n_rows: int, n_labels: int) -> None:
        """Write the parts that depend on all rows."""

    def close(self) -> None:
        """Close temporary files."""


class TextSink:
    """A text file, compressed block by block; its header is certain only at the end."""

    def __init__(
        self,
        file: BinaryIO,
        colon: bytes,
        blank: bytes,
        size: tuple[int, int] | None,
        compress: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._file, self._compress, self._has_header = file, compress, size is not None
        self._colon, self._blank = (ord(byte) if byte else 0 for byte in (colon, blank))
        self._header = self._make_header(*(size or (0, 0)))
        file.write(self._header)

    def _make_header(self, n_rows: int, n_labels: int) -> bytes:
        header = f"{n_rows} {n_labels}\n".encode() if self._has_header else b""
        return self._compress(header) if self._compress and header else header

    def prepare(self, block: Block, rows: Rows, scratch: Scratch) -> Any:
        """Return the text of a block."""
        from xmceval.kernels.text import writing as kernels

        indptr, indices, values = rows
        n_entries = int(indptr[-1])
        if not self._colon and (values[:n_entries] != 1).any():
            row = int(np.searchsorted(indptr, np.argmax(values[:n_entries] != 1), side="right")) - 1
            raise Fault(block.first_row + row, f"{block.place(row)}: a list of labels cannot hold grades other than 1")
        size = n_entries * kernels.ENTRY_BYTES + indptr.size + kernels.EXTRA_BYTES
        out = scratch.array("text", size, np.uint8)
        bits = values.view(np.uint64)
        n_bytes = kernels.format_rows(indptr, indices, values, bits, self._colon, self._blank, out)
        text = out[:n_bytes].data
        return self._compress(bytes(text)) if self._compress else text

    def write(self, payload: Any) -> None:
        """Write the text of a block."""
        self._file.write(payload)

    def finish(self, n_rows: int, n_labels: int) -> None:
        """Correct the header, if it was not certain."""
        header = self._make_header(n_rows, n_labels)
        if header == self._header:
            return
        with tempfile.TemporaryFile() as rest:
            self._file.seek(len(self._header))
            shutil.copyfileobj(self._file, rest, 1 << 20)
            rest.seek(0)
            self._file.seek(0)
            self._file.write(header)
            shutil.copyfileobj(rest, self._file, 1 << 20)
            self._file.truncate()

    def close(self) -> None:
        """Do nothing: the file is the caller's."""

    def copy_to(self, stream: BinaryIO) -> None:
        """Copy the whole file to a stream."""
        self._file.seek(0)
        shutil.copyfileobj(self._file, stream, 1 << 20)


class _Arrays:
    """Rows as three temporary files of numbers; arrays of the right dtype and shape are made from them at the end."""

    def __init__(self, place: Path | None) -> None:
        self._parts = [tempfile.TemporaryFile(dir=place, buffering=0) for _ in range(3)]  # noqa: SIM115 - close() closes them
        self._n_entries = self._longest = 0
        self._is_single = True  # float32 holds all values

    def prepare(self, block: Block, rows: Rows, scratch: Scratch) -> Any:  # noqa: ARG002 - sinks share one signature
        """Return the row lengths, labels and values of a block, and whether float32 holds the values."""
        lengths = np.diff(rows.indptr)
        labels, values = rows.indices[: rows.indptr[-1]], rows.values[: rows.indptr[-1]]
        with np.errstate(over="ignore"):
            is_single = np.array_equal(values.astype(np.float32), values)
        return lengths, labels, values, is_single

    def write(self, payload: Any) -> None:
        """Write the arrays of a block."""
        *arrays, is_single = payload
        for file, array in zip(self._parts, arrays, strict=True):
            write_all(file, array.data)
        self._n_entries += arrays[1].size
        self._longest = max(self._longest, int(arrays[0].max(initial=0)))
        self._is_single &= is_single

    def _read(self, part: int, dtype: Any, count: int = COPY_ENTRIES) -> Iterator[NDArray[Any]]:
        """Yield the numbers of a file, `count` at a time."""
        self._parts[part].seek(0)
        while text := self._parts[part].read(8 * count):
            yield np.frombuffer(text, dtype=dtype)

    def close(self) -> None:
        """Close the temporary files, which deletes them."""
        for file in self._parts:
            file.close()


class NpzSink(_Arrays):
    """A file as ``scipy.sparse.save_npz`` writes it, with uncompressed members."""

    def __init__(self, file: BinaryIO, place: Path | None) -> None:
        super().__init__(place)
        self._file = file

    def finish(self, n_rows: int, n_labels: int) -> None:
        """Write the archive."""
        narrow = max(self._n_entries, n_labels) < 2**31
        index, value = (np.dtype(np.int32 if narrow else np.int64), np.dtype("f4" if self._is_single else "f8"))
        with zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED) as archive:
            write_member(archive, "indices", index, (self._n_entries,), self._read(1, np.int64))
            write_member(archive, "indptr", index, (n_rows + 1,), self._ends())
            write_member(archive, "format", np.dtype("S3"), (), iter([np.array(b"csr")]))
            write_member(archive, "shape", np.dtype(np.int64), (2,), iter([np.array([n_rows, n_labels])]))
            write_member(archive, "data", value, (self._n_entries,), self._read(2, np.float64))

    def _ends(self) -> Iterator[NDArray[Any]]:
        end = 0
        yield np.zeros(1, dtype=np.int64)
        for lengths in self._read(0, np.int64):
            ends = np.cumsum(lengths) + end
            end = int(ends[-1])
            yield ends


class PairSink(_Arrays):
    """Two npy files as wide as the longest row, padded with label -1 and score -inf."""

    def __init__(self, files: list[BinaryIO], place: Path | None) -> None:
        super().__init__(place)
        self._files = files

    def finish(self, n_rows: int, n_labels: int) -> None:
        """Write both files."""
        width = self._longest
        label, score = np.dtype(np.int32 if n_labels < 2**31 else np.int64), np.dtype("f4" if self._is_single else "f8")
        for part, file, dtype, padding in ((1, self._files[0], label, -1), (2, self._files[1], score, -np.inf)):
            _write_header(file, dtype, (n_rows, width))
            self._parts[part].seek(0)
            for lengths in self._read(0, np.int64, max(COPY_ENTRIES // max(width, 1), 1)):
                text = self._parts[part].read(8 * int(lengths.sum()))
                cells = np.full((lengths.size, width), padding, dtype=dtype)
                cells[np.arange(width) < lengths[:, None]] = np.frombuffer(text, np.int64 if part == 1 else np.float64)
                file.write(cells.data)


def _write_header(file: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Write the header of an npy array."""
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    )


def write_member(
    archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], arrays: Iterator[NDArray[Any]]
) -> None:
    """Write an array of a dtype and shape as a member of an npz archive, piece by piece, in C order."""
    info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))  # the same bytes at any time
    with archive.open(info, "w", force_zip64=True) as member:
        _write_header(member, dtype, shape)
        for array in arrays:
            member.write(np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8).data)
