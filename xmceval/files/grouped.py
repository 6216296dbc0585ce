"""Flat files: CSV of ``group,label,score``, plain or gzipped, as arrays."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.files.chunks import LineChunks

COLUMNS = ("group", "label", "score")


class Log(NamedTuple):
    """The rows of a file; groups are numbered in any way that tells them apart."""

    groups: NDArray[np.int64]
    labels: NDArray[np.bool_]
    scores: NDArray[np.float64]
    has_header: bool


def read_log(path: str | Path) -> Log:
    """Read a CSV of ``group,label,score``; a first line whose score is no number is a header.

    Groups are compared as they are written: 7 and 07 are two groups. Labels are 0 and 1 (also 0.0, 1.0, true, false).

    Raises
    ------
    DataError
        A line that is not this, with its place.
    """
    reader = _Reader(Path(path))
    for chunk in LineChunks(Path(path)):
        reader.add(chunk.text, chunk.start, chunk.stop)
    if not reader.parts:
        raise DataError(f"{path}: has no rows; expected lines of {','.join(COLUMNS)}")
    groups, labels, scores = (np.concatenate(column) for column in zip(*reader.parts, strict=True))
    return Log(groups, labels, scores, reader.has_header)


class _Reader:
    """What is known from one chunk to the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]] = []
        self.has_header = False
        self._n_lines = 0
        self._names = _Names()

    def add(self, text: NDArray[np.uint8], start: int, stop: int) -> None:
        """Parse a chunk of whole lines."""
        from xmceval.kernels import grouped as kernels

        if self._n_lines == 0:
            start = self._skip_header(text, start, stop)
        n = kernels.count_lines(text, start, stop)
        groups, labels, scores = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_), np.empty(n)
        kind, fields = np.empty(n, dtype=np.uint8), np.empty((n, 4), dtype=np.int64)
        raw = np.empty((n, kernels.WIDTH), dtype=np.uint8)
        kernels.parse(text, start, stop, groups, labels, scores, kind, fields, raw)
        later = self._add_odd_scores(kind, fields, raw, scores)
        self._names.add(text, fields, kind, groups)
        same = (kind & kernels.SAME_GROUP) != 0
        whole = np.ones(n, dtype=bool)
        empty = fields[:, 0] == fields[:, 1]
        for row in np.flatnonzero((kind & (kernels.ODD_LABEL | kernels.WRONG) != 0) | later | empty).tolist():
            line = text[fields[row, 0] : fields[row, 3]].tobytes()
            if not line.strip():
                whole[row] = False
                continue
            group, labels[row], scores[row] = self._fields(line, self._n_lines + row)
            if not same[row]:
                groups[row] = self._names.number(group)
        if same.any():  # the group of the last line before it that has one of its own
            own = np.where(same, -1, np.arange(n))
            groups = groups[np.maximum.accumulate(own)]
        self._n_lines += n
        if whole.any():
            self.parts.append((groups[whole], labels[whole], scores[whole]))

    def _add_odd_scores(
        self,
        kind: NDArray[np.uint8],
        fields: NDArray[np.int64],
        raw: NDArray[np.uint8],
        scores: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Parse the scores of many digits all at once; return the rows for which that was too much."""
        from xmceval.kernels import grouped as kernels

        later = np.zeros(kind.size, dtype=bool)
        rows = np.flatnonzero((kind & (kernels.ODD_SCORE | kernels.WRONG)) == kernels.ODD_SCORE)
        if not rows.size:
            return later
        long = fields[rows, 3] - fields[rows, 2] > kernels.WIDTH
        strange = ~np.isin(raw[rows], np.frombuffer(b"0123456789+-.eE\0", dtype=np.uint8)).all(axis=1)
        later[rows[long | strange]] = True
        rows = rows[~(long | strange)]
        try:
            scores[rows] = np.ascontiguousarray(raw[rows]).view(f"S{kernels.WIDTH}")[:, 0].astype(np.float64)
        except ValueError:  # which one it is, is told line by line
            later[rows] = True
        return later

    def _skip_header(self, text: NDArray[np.uint8], start: int, stop: int) -> int:
        """Return where the first row starts."""
        line = text[start:stop].tobytes().partition(b"\n")[0]
        if line.startswith(b"\xef\xbb\xbf"):
            start += 3
            line = line[3:]
        names = [name.strip().lower() for name in _split(line)]
        if len(names) != len(COLUMNS) or _is_number(names[2]):
            return start
        if set(names) == set(COLUMNS) and names != list(COLUMNS):
            raise DataError(f"{self.path}:1: the columns are {','.join(names)}; expected {','.join(COLUMNS)}")
        self.has_header = True
        self._n_lines = 1
        return min(start + len(line) + 1, stop)

    def _fields(self, line: bytes, row: int) -> tuple[bytes, bool, float]:
        """Take one line apart, slowly, as CSV, and tell what is wrong with it."""
        fields = _split(line)
        place = f"{self.path}:{row + 1}"
        if len(fields) != len(COLUMNS):
            raise DataError(f"{place}: expected {','.join(COLUMNS)}, found {len(fields)} fields: {_shown(line)}")
        group, label, score = fields[0], fields[1].strip().lower(), fields[2].strip()
        if not group.strip():
            raise DataError(f"{place}: the group is empty: {_shown(line)}")
        if label not in _LABELS:
            raise DataError(f"{place}: the label is {fields[1]!r}; expected 0 or 1")
        if not _is_number(score) or math.isnan(float(score)):
            raise DataError(f"{place}: the score is {fields[2]!r}; expected a number")
        return group.encode("utf-8", "surrogateescape"), _LABELS[label], float(score)


class _Names:
    """Groups that are no plain integers, numbered from -1 down: a hash table that a kernel fills."""

    def __init__(self) -> None:
        self._n_known = 0
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
        """Number the groups of some lines."""
        from xmceval.kernels import grouped as kernels

        odd = (kind & (kernels.ODD_GROUP | kernels.WRONG)) == kernels.ODD_GROUP
        n_more = int(np.count_nonzero(odd))
        if not n_more:
            return
        self._make_room(n_more, int((fields[odd, 1] - fields[odd, 0]).sum()))
        tables = (self._slots, self._hashes, self._ends, self._arena)
        self._n_known = kernels.intern_groups(text, fields, kind, groups, *tables, self._n_known)

    def number(self, group: bytes) -> int:
        """Number one group, which may be a plain integer in quotes."""
        from xmceval.kernels import grouped as kernels

        if group.isdigit() and len(group) <= 18 and (group[:1] != b"0" or len(group) == 1):
            return int(group)
        text = np.frombuffer(bytearray(group), dtype=np.uint8)
        number = np.zeros(1, dtype=np.int64)
        fields = np.array([[0, len(group), 0, 0]], dtype=np.int64)
        self.add(text, fields, np.full(1, kernels.ODD_GROUP, dtype=np.uint8), number)
        return int(number[0])

    def _make_room(self, n_more: int, n_bytes: int) -> None:
        from xmceval.kernels import grouped as kernels

        n_groups = self._n_known + n_more
        if n_groups + 1 > self._ends.size:
            self._ends = _longer(self._ends, 2 * n_groups)
            self._hashes = _longer(self._hashes, 2 * n_groups)
        if self._ends[self._n_known] + n_bytes > self._arena.size:
            self._arena = _longer(self._arena, 2 * int(self._ends[self._n_known] + n_bytes))
        if 2 * n_groups > self._slots.size:
            self._slots = np.full(1 << int(4 * n_groups).bit_length(), -1, dtype=np.int64)
            kernels.fill_slots(self._hashes, self._n_known, self._slots)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, dtype=array.dtype)
    longer[: array.size] = array
    return longer


_LABELS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def _split(line: bytes) -> list[str]:
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    return next(csv.reader([text]), [])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _shown(line: bytes) -> str:
    return repr(line.strip()[:40].decode(errors="backslashreplace"))
