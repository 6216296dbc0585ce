"""Columns of text: numpy parses many lines of numbers at once; lines that it refuses are parsed one by one."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.rows.block import Float64

Columns = tuple[NDArray[Any], ...]


def read_columns(
    path: Path,
    first_line: int,
    delimiter: str,
    from_table: Callable[[Float64], Columns | None],
    from_line: Callable[[bytes], tuple[float, ...] | None],
) -> Iterator[Columns]:
    """Yield the columns of the entries of a file, one per line, chunk by chunk.

    Parameters
    ----------
    path : Path
    first_line : int
        The number of the first line of entries.
    delimiter : str
        What is between columns.
    from_table : callable
        Returns the columns of plain lines of numbers [n_lines, n_numbers], or None where they are not entries.
    from_line : callable
        Returns the fields of an entry, None for a line without one, or raises ValueError.
    """
    number = 1
    for chunk in LineChunks(path):
        text = bytes(chunk.buffer[chunk.start : chunk.stop])
        if number == 1:
            text = text.removeprefix(UTF8_BOM)
        while text and number < first_line:
            text, number = text[text.index(b"\n") + 1 :], number + 1
        if text.strip():
            table = _load_table(text, delimiter)
            columns = None if table is None else from_table(table)
            yield _parse_lines(path, text, number, from_line) if columns is None else columns
        number += text.count(b"\n")


def _load_table(text: bytes, delimiter: str) -> Float64 | None:
    """Return the numbers of lines of equally many, None for other lines."""
    if not text.isascii():
        return None
    try:
        return np.loadtxt(io.BytesIO(text), dtype=np.float64, delimiter=delimiter, comments=None, ndmin=2)
    except ValueError:
        return None


def _parse_lines(
    path: Path, text: bytes, first_line: int, from_line: Callable[[bytes], tuple[float, ...] | None]
) -> Columns:
    entries = []
    for number, line in enumerate(text.split(b"\n")[:-1], first_line):
        try:
            entry = from_line(line)
        except ValueError as error:
            raise DataError(f"{path}:{number}: {error}") from None
        if entry is not None:
            entries.append(entry)
    return tuple(np.array(column) for column in zip(*entries, strict=True))


def are_whole(numbers: NDArray[Any]) -> bool:
    """Return whether all numbers, of any shape, can be rows or labels: whole, at least 0, and exact in float64."""
    return bool(np.all((numbers >= 0) & (numbers < 2**53))) and bool(np.all(numbers == np.floor(numbers)))
