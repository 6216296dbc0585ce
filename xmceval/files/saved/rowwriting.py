"""Writing values of rows: one line, or one array row, per instance; streamed."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.files.io.copies import write_all
from xmceval.files.writing.sinks import write_member
from xmceval.files.writing.targets import check_new_file, open_targets
from xmceval.version import ROWS_SCHEMA

READ_ROWS = 1 << 14


@dataclass(frozen=True)
class RowHead:
    """What the values of rows are of.

    Attributes
    ----------
    systems, metrics : tuple of str
    has_ideal : tuple of bool
        By metric: whether its value is a ratio of sums, so that each row has an ideal as denominator.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    has_ideal: tuple[bool, ...]


class RowWriter(Protocol):
    """Writes rows in their order."""

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows: their numbers, their weights, and values [n_rows, n_systems, n_metrics, 2].

        The numerator is NaN where a row does not count: left out, not 0.
        """

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write what is known at the end."""

    def close(self) -> None:
        """Let go of temporary files."""


@contextmanager
def open_row_writer(path: str | Path, head: RowHead) -> Iterator[RowWriter]:
    """Open a file for values of rows: .npz, .csv or .jsonl.

    Raises
    ------
    UsageError
        Another ending, or a file that exists.
    """
    path = check_new_file(path, WRITERS, "values of rows")
    with open_targets([path], force=False) as [file]:
        writer = WRITERS[path.suffix](file, head)
        try:
            yield writer
        finally:
            writer.close()


class _Npz:
    """An npz archive: rows, weights, values [n_rows, n_systems, n_metrics, 2], and meta as JSON."""

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head
        folder = Path(file.name).parent
        self._spool = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - close() closes it
        self._width = 2 + 2 * len(head.systems) * len(head.metrics)
        self._n_rows = 0

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows."""
        table = np.empty((rows.size, self._width))
        table[:, 0], table[:, 1], table[:, 2:] = rows, weights, values.reshape(rows.size, self._width - 2)
        write_all(self._spool, table.data)
        self._n_rows += rows.size

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the archive."""
        n, shape = self._n_rows, (self._n_rows, len(self._head.systems), len(self._head.metrics), 2)
        text = np.frombuffer(json.dumps(_meta(self._head, meta)).encode(), dtype=np.uint8)
        with zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED) as archive:
            write_member(archive, "meta", np.dtype(np.uint8), (text.size,), iter([text]))
            write_member(archive, "rows", np.dtype(np.int64), (n,), (table[:, 0] for table in self._tables()))
            write_member(archive, "weights", np.dtype(np.float64), (n,), (table[:, 1] for table in self._tables()))
            write_member(archive, "values", np.dtype(np.float64), shape, (table[:, 2:] for table in self._tables()))

    def close(self) -> None:
        """Delete the temporary file."""
        self._spool.close()

    def _tables(self) -> Iterator[NDArray[np.float64]]:
        self._spool.seek(0)
        while text := self._spool.read(8 * self._width * READ_ROWS):
            yield np.frombuffer(text).reshape(-1, self._width)


class _Csv:
    """One line per row and system: the value of each metric, and the ideal of ratios."""

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head
        ideals = [f"ideal of {name}" for name, has in zip(head.metrics, head.has_ideal, strict=True) if has]
        self._write([["row", "system", "weight", *head.metrics, *ideals]])

    def _write(self, lines: Sequence[Sequence[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        self._file.write(text.getvalue().encode())

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows."""
        has_ideal = np.array(self._head.has_ideal)
        lines = []
        for row, weight, of_row in zip(rows.tolist(), weights.tolist(), values, strict=True):
            for system, cells in zip(self._head.systems, of_row, strict=True):
                lines.append([row, system, repr(weight), *_texts(cells[:, 0]), *_texts(cells[has_ideal, 1])])
        self._write(lines)

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Do nothing: a CSV has no room for it."""

    def close(self) -> None:
        """Do nothing: the file is the caller's."""


class _Jsonl:
    """One object per row and system; the first line is an object with `meta`."""

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows."""
        lines = []
        for row, weight, of_row in zip(rows.tolist(), weights.tolist(), values, strict=True):
            for system, cells in zip(self._head.systems, of_row, strict=True):
                numbers = {
                    name: None if number != number else number  # noqa: PLR0124 - NaN is what differs from itself
                    for name, number in zip(self._head.metrics, cells[:, 0].tolist(), strict=True)
                }
                pairs = zip(self._head.metrics, cells[:, 1].tolist(), self._head.has_ideal, strict=True)
                ideals = {name: ideal for name, ideal, has in pairs if has}
                line = {"row": row, "system": system, "weight": weight, "values": numbers}
                lines.append(json.dumps(line | ({"ideals": ideals} if ideals else {})))
        self._file.write(("\n".join(lines) + "\n").encode() if lines else b"")

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the last line."""
        self._file.write((json.dumps({"meta": _meta(self._head, meta)}) + "\n").encode())

    def close(self) -> None:
        """Do nothing: the file is the caller's."""


def _meta(head: RowHead, meta: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": ROWS_SCHEMA,
        "systems": head.systems,
        "metrics": head.metrics,
        "has_ideal": head.has_ideal,
        **meta,
    }


def _texts(numbers: NDArray[np.float64]) -> list[str]:
    return ["" if number != number else repr(number) for number in numbers.tolist()]  # noqa: PLR0124 - NaN


WRITERS: Mapping[str, Callable[[BinaryIO, RowHead], RowWriter]] = MappingProxyType(
    {".npz": _Npz, ".csv": _Csv, ".jsonl": _Jsonl}
)
