"""Columns of a log: which of a CSV are the group, the label and the score."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed

COLUMNS = ("group", "label", "score")


def parse_columns(columns: str | Sequence[str | int]) -> tuple[str, ...]:
    """Return three columns as words.

    Raises
    ------
    UsageError
        Another number of columns, an empty name, a number below 1, or a column twice.
    """
    parts = columns.split(",") if isinstance(columns, str) else columns
    words = tuple(str(part).strip() for part in parts)
    are_numbers = all(word.isdecimal() for word in words)
    distinct = {int(word) for word in words} if are_numbers else set(words)
    if not len(words) == len(distinct) == len(COLUMNS) or not all(words) or (are_numbers and 0 in distinct):
        raise UsageError(
            f"columns must be three different names or numbers from 1 on, of {listed(COLUMNS)}, got {columns!r}"
        )
    return words


class Selection:
    """The three columns of a wider file, or of one in another order."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self._path = path
        self._columns = columns
        self._are_numbers = all(word.isdecimal() for word in columns)
        self._n_columns = 0
        self._places = np.zeros(len(columns), dtype=np.int64)

    def find(self, first_line: list[str]) -> list[str]:
        """Find the columns in the first line; return its fields in them."""
        n_columns = counted(len(first_line), "column")
        for i, word in enumerate(self._columns):
            if self._are_numbers and int(word) > len(first_line):
                raise DataError(f"{self._path}:1: there is no column {word}; the line has {n_columns}")
            if not self._are_numbers and first_line.count(word) != 1:
                times = "no column" if word not in first_line else "more than one column"
                raise DataError(f"{self._path}:1: {times} {word!r}; the line has {','.join(first_line)}")
            self._places[i] = int(word) - 1 if self._are_numbers else first_line.index(word)
        self._n_columns = len(first_line)
        return [first_line[place] for place in self._places]

    def require_numbers(self) -> None:
        """Refuse names of columns where there is no header."""
        if not self._are_numbers:
            raise DataError(
                f"{self._path}:1: the first line is a row, not a header; expected names of columns "
                f"(hint: pass {argument('columns')} as numbers from 1 on)"
            )

    def select(
        self, text: NDArray[np.uint8], start: int, stop: int, n_lines: int
    ) -> tuple[NDArray[np.uint8], int, int]:
        """Return lines of the three columns only, as text and its bounds."""
        from xmceval.kernels.text import logs as kernels

        out = np.empty(stop - start, dtype=np.uint8)
        written, wrong = kernels.select_fields(text, start, stop, self._places, self._n_columns, out)
        if wrong >= 0:
            line = text[start:stop].tobytes().split(b"\n", wrong + 1)[wrong]
            n_fields = counted(len(split_fields(line)), "field")
            raise DataError(
                f"{self._path}:{n_lines + wrong + 1}: expected {counted(self._n_columns, 'field')} as in line 1, "
                f"found {n_fields}: {quote_line(line)}"
            )
        return out, 0, written


def split_fields(line: bytes) -> list[str]:
    """Split a line of a CSV into its fields."""
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a lone carriage return, or a field of more than 131,072 characters
        return [text]


def quote_line(line: bytes) -> str:
    """Quote the beginning of a line for a message."""
    return repr(line.strip()[:40].decode(errors="backslashreplace"))
