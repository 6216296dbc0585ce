"""Logs: CSV files of ``group,label,score``, compressed or not, as arrays."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.inputfiles import claim_pipe
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import UTF8_BOM

COLUMNS = ("group", "label", "score")


class Log(NamedTuple):
    """The rows of a log; groups have arbitrary but distinct numbers."""

    groups: NDArray[np.int64]
    labels: NDArray[np.bool_]
    scores: NDArray[np.float64]
    header: str


def read_log(path: str | Path, columns: str | Sequence[str | int] | None = None) -> Log:
    """Read a CSV of ``group,label,score``.

    Groups are compared as they are written: 7 and 07 are two groups. Labels are 0 and 1 (also 0.0, 1.0, true, false).
    The first line is a header if both its label and its score are words: not empty, not a label, not a number.

    Parameters
    ----------
    path : path
    columns : str or sequence, optional
        The columns of the group, the label and the score, where there are others or another order: names in the
        header, or numbers from 1 on; as text separated by commas.

    Raises
    ------
    DataError
        A line that is not this, with its place; a column that the header lacks.
    UsageError
        Other than three columns.
    """
    path = to_path(path)
    claim_pipe(path)
    reader = _LogReader(path, None if columns is None else parse_columns(columns))
    for chunk in LineChunks(path):
        reader.add(chunk.text, chunk.start, chunk.stop)
    if not reader.parts:
        raise DataError(f"{path}: has no rows; expected lines of {','.join(COLUMNS)}")
    groups, labels, scores = (np.concatenate(column) for column in zip(*reader.parts, strict=True))
    return Log(groups, labels, scores, reader.header)


class _LogReader:
    """The rows that were read, and what is carried from one chunk to the next."""

    def __init__(self, path: Path, columns: tuple[str, ...] | None) -> None:
        self.path = path
        self._selection = None if columns is None else _Selection(path, columns)
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]] = []
        self.header = ""
        self._n_lines = 0
        self._numbering = _GroupNumbering()

    def add(self, text: NDArray[np.uint8], start: int, stop: int) -> None:
        """Parse a chunk of whole lines, ``text[start:stop]`` of uint8 [n_bytes]."""
        from xmceval.kernels.text import logs as kernels

        if self._n_lines == 0:
            start = self._skip_header(text, start, stop)
        if self._selection is not None:
            text, start, stop = self._selection.select(text, start, stop, self._n_lines)
        n = kernels.count_lines(text, start, stop)
        groups, labels, scores = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_), np.empty(n)
        kind, fields = np.empty(n, dtype=np.uint8), np.empty((n, 4), dtype=np.int64)
        raw = np.empty((n, kernels.SCORE_BYTES), dtype=np.uint8)
        kernels.parse_lines(text, start, stop, groups, labels, scores, kind, fields, raw)
        is_unparsed = self._parse_odd_scores(kind, fields, raw, scores)
        self._numbering.add(text, fields, kind, groups)
        is_same = (kind & kernels.SAME_GROUP) != 0
        is_row = np.ones(n, dtype=bool)
        is_empty = fields[:, 0] == fields[:, 1]
        is_odd = (kind & (kernels.ODD_LABEL | kernels.WRONG)) != 0
        for row in np.flatnonzero(is_odd | is_unparsed | is_empty).tolist():
            line = text[fields[row, 0] : fields[row, 3]].tobytes()
            if not line.strip():
                is_row[row] = False
                continue
            group, labels[row], scores[row] = self._parse_line(line, self._n_lines + row)
            if not is_same[row]:
                groups[row] = self._numbering.number(group)
        if is_same.any():  # take the group of the last line before it that has a group of its own
            own = np.where(is_same, -1, np.arange(n))
            groups = groups[np.maximum.accumulate(own)]
        self._n_lines += n
        if is_row.any():
            self.parts.append((groups[is_row], labels[is_row], scores[is_row]))

    def _parse_odd_scores(
        self,
        kind: NDArray[np.uint8],
        fields: NDArray[np.int64],
        raw: NDArray[np.uint8],
        scores: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Parse scores of many digits all at once; return which rows must be parsed one by one."""
        from xmceval.kernels.text import logs as kernels

        is_unparsed = np.zeros(kind.size, dtype=bool)
        rows = np.flatnonzero((kind & (kernels.ODD_SCORE | kernels.WRONG)) == kernels.ODD_SCORE)
        if not rows.size:
            return is_unparsed
        is_long = fields[rows, 3] - fields[rows, 2] > kernels.SCORE_BYTES
        is_strange = ~np.isin(raw[rows], np.frombuffer(b"0123456789+-.eE\0", dtype=np.uint8)).all(axis=1)
        is_unparsed[rows[is_long | is_strange]] = True
        rows = rows[~(is_long | is_strange)]
        try:
            scores[rows] = np.ascontiguousarray(raw[rows]).view(f"S{kernels.SCORE_BYTES}")[:, 0].astype(np.float64)
        except ValueError:  # parsing one by one finds which of them is wrong
            is_unparsed[rows] = True
        return is_unparsed

    def _skip_header(self, text: NDArray[np.uint8], start: int, stop: int) -> int:
        """Return where the first row starts."""
        line = text[start:stop].tobytes().partition(b"\n")[0]
        if line.startswith(UTF8_BOM):
            start += len(UTF8_BOM)
            line = line.removeprefix(UTF8_BOM)
        names = [name.strip() for name in _split_fields(line)]
        if self._selection is not None:
            names = self._selection.find(names)
        if len(names) != len(COLUMNS) or not all(map(_is_word, names[1:])):
            if self._selection is not None:
                self._selection.require_numbers()
            return start
        lowered = [name.lower() for name in names]
        if self._selection is None and set(lowered) == set(COLUMNS) and lowered != list(COLUMNS):
            raise DataError(
                f"{self.path}:1: the columns are {','.join(names)}; expected {','.join(COLUMNS)} "
                f"(hint: pass {argument('columns', ','.join(COLUMNS))})"
            )
        self.header = ",".join(names)
        self._n_lines = 1
        return min(start + len(line) + 1, stop)

    def _parse_line(self, line: bytes, row: int) -> tuple[bytes, bool, float]:
        """Parse one line as CSV, slowly, and report what is wrong with it."""
        fields = _split_fields(line)
        place = f"{self.path}:{row + 1}"
        if len(fields) != len(COLUMNS):
            n_fields = counted(len(fields), "field")
            raise DataError(
                f"{place}: expected {','.join(COLUMNS)}, found {n_fields}: {_quote_line(line)} "
                f"(hint: pass {argument('columns')} where there are others)"
            )
        group, label, score = fields[0], fields[1].strip().lower(), fields[2].strip()
        if not group.strip():
            raise DataError(f"{place}: the group is empty: {_quote_line(line)}")
        if label not in _LABELS:
            raise DataError(f"{place}: the label is {fields[1]!r}; expected 0 or 1")
        if not _is_number(score) or math.isnan(float(score)):
            raise DataError(f"{place}: the score is {fields[2]!r}; expected a number")
        return group.encode("utf-8", "surrogateescape"), _LABELS[label], float(score)


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
            f"{argument('columns')} must be three different names or positions (from 1), for {listed(COLUMNS)}, "
            f"got {columns!r}"
        )
    return words


class _Selection:
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
        """Return lines of the three columns only, as text, uint8 [stop - start], and its bounds."""
        from xmceval.kernels.text import logs as kernels

        out, bounds = np.empty(stop - start, dtype=np.uint8), np.empty((2, self._n_columns), dtype=np.int64)
        written, wrong = kernels.select_fields(text, start, stop, self._places, bounds, out)
        if wrong >= 0:
            line = text[start:stop].tobytes().split(b"\n", wrong + 1)[wrong]
            n_fields = counted(len(_split_fields(line)), "field")
            raise DataError(
                f"{self._path}:{n_lines + wrong + 1}: expected {counted(self._n_columns, 'field')} as in line 1, "
                f"found {n_fields}: {_quote_line(line)}"
            )
        return out, 0, written


class _GroupNumbering:
    """Numbers from -1 down for groups that are not plain integers: a hash table that a kernel fills."""

    def __init__(self) -> None:
        self._n_groups = 0
        self._slots = np.full(1 << 12, -1, dtype=np.int64)
        self._hashes = np.zeros(1 << 11, dtype=np.uint64)
        self._ends = np.zeros(1 << 11, dtype=np.int64)
        self._arena = np.zeros(1 << 16, dtype=np.uint8)

    def add(
        self,
        text: NDArray[np.uint8],
        fields: NDArray[np.int64],
        kind: NDArray[np.uint8],
        groups: NDArray[np.int64],
    ) -> None:
        """Number the groups of some lines, in place in `groups`, int64 [n_lines].

        `fields` are int64 [n_lines, 4] and `kind` uint8 [n_lines], as `parse_lines` writes them.
        """
        from xmceval.kernels.text import logs as kernels

        is_odd = (kind & (kernels.ODD_GROUP | kernels.WRONG)) == kernels.ODD_GROUP
        n_more = int(np.count_nonzero(is_odd))
        if not n_more:
            return
        self._make_room(n_more, int((fields[is_odd, 1] - fields[is_odd, 0]).sum()))
        tables = (self._slots, self._hashes, self._ends, self._arena)
        self._n_groups = kernels.intern_groups(text, fields, kind, groups, *tables, self._n_groups)

    def number(self, group: bytes) -> int:
        """Number one group, which may be a plain integer in quotes."""
        from xmceval.kernels.text import logs as kernels

        if group.isdigit() and len(group) <= 18 and (group[:1] != b"0" or len(group) == 1):
            return int(group)
        text = np.frombuffer(bytearray(group), dtype=np.uint8)
        number = np.zeros(1, dtype=np.int64)
        fields = np.array([[0, len(group), 0, 0]], dtype=np.int64)
        self.add(text, fields, np.full(1, kernels.ODD_GROUP, dtype=np.uint8), number)
        return int(number[0])

    def _make_room(self, n_more: int, n_bytes: int) -> None:
        """Make the tables long enough for more groups, whose names have so many bytes."""
        from xmceval.kernels.text import logs as kernels

        n_groups = self._n_groups + n_more
        if n_groups + 1 > self._ends.size:
            self._ends = _extend(self._ends, 2 * n_groups)
            self._hashes = _extend(self._hashes, 2 * n_groups)
        if self._ends[self._n_groups] + n_bytes > self._arena.size:
            self._arena = _extend(self._arena, 2 * int(self._ends[self._n_groups] + n_bytes))
        if 2 * n_groups > self._slots.size:
            self._slots = np.full(1 << int(4 * n_groups).bit_length(), -1, dtype=np.int64)
            kernels.fill_slots(self._hashes, self._n_groups, self._slots)


def _extend(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a longer copy, filled up with zeros."""
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


_LABELS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def _is_word(text: str) -> bool:
    """Return whether a field of the first line can be the name of a column, but no label and no score."""
    return bool(text) and text.lower() not in _LABELS and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _split_fields(line: bytes) -> list[str]:
    """Split a line of a CSV into its fields."""
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a lone carriage return, or a field of more than 131,072 characters
        return [text]


def _quote_line(line: bytes) -> str:
    """Quote the beginning of a line for a message."""
    return repr(line.strip()[:40].decode(errors="backslashreplace"))
