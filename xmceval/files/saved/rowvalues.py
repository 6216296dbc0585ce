"""Values of rows: what ``--save-rows`` writes, and reads back; the per-query files of other tools are read too."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, argument, counted, listed
from xmceval.files.arrays.archive import Archive
from xmceval.files.io.copies import write_all
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.saved.perquery import parse_number, read_foreign
from xmceval.files.saved.rowtable import RowHead, RowTable
from xmceval.files.writing.sinks import write_member
from xmceval.files.writing.targets import check_new_file, open_targets
from xmceval.version import ROWS_SCHEMA

EARLIER = "xmceval-rows/1"  # the name of the same schema before all had one grammar
READ_ROWS = 1 << 14
IDEAL = "ideal of "
OWN_WORDS = ("row", "system", "weight")
N_ROWS = "n_rows"  # the last column of a CSV: how many rows it has, in its last line only
DIGEST_SIZE = 16
_BEFORE_DIGEST = b', "digest": "'  # in the last line of JSON lines: of all that is before it


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
    """Open a file for values of rows: .npz, .csv or .jsonl."""
    path = check_new_file(path, WRITERS, "per-instance values")
    with open_targets([path], force=False) as [file]:
        writer = WRITERS[path.suffix](file, head)
        try:
            yield writer
        finally:
            writer.close()


def read_row_values(path: str | Path) -> RowTable:
    """Read values of rows: .npz, .csv or .jsonl of this package, or a per-query file of another tool.

    Other tools' files have three columns, query, measure and value in any order that a header names (ir_measures), or
    measure, query and value (``trec_eval -q``), or one column per measure below a header. Without a header the column
    of measures is the one with more of the names that are known.
    """
    path = to_path(path)
    content = read_all_bytes(path)
    if content.startswith(b"PK"):
        return _read_npz(path, content)
    text = content.decode("utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        return _read_jsonl(path, content)
    return _read_lines(path, text)


class _Npz:
    """An npz archive: rows, weights, values [n_rows, n_systems, n_metrics, 2], and meta as JSON."""

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head
        folder = Path(file.name).parent
        self._spool = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - close() closes it
        self._width = 2 + 2 * len(head.systems) * len(head.metrics)
        self._n_rows = 0

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows: numbers and weights [n_rows], and values [n_rows, n_systems, n_metrics, 2]."""
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
            write_member(archive, "rows", self._type_of_rows(), (n,), self._names())
            write_member(archive, "weights", np.dtype(np.float64), (n,), (table[:, 1] for table in self._tables()))
            write_member(archive, "values", np.dtype(np.float64), shape, (table[:, 2:] for table in self._tables()))

    def close(self) -> None:
        """Delete the temporary file."""
        self._spool.close()

    def _type_of_rows(self) -> np.dtype[Any]:
        ids = self._head.ids
        return np.dtype(np.int64) if ids is None else np.dtype(f"U{max(map(len, ids.ids), default=1)}")

    def _names(self) -> Iterator[NDArray[Any]]:
        for table in self._tables():
            yield np.array(self._head.name_rows(table[:, 0].astype(np.int64)), dtype=self._type_of_rows())

    def _tables(self) -> Iterator[NDArray[np.float64]]:
        self._spool.seek(0)
        while text := self._spool.read(8 * self._width * READ_ROWS):
            yield np.frombuffer(text).reshape(-1, self._width)


def _read_npz(path: Path, content: bytes) -> RowTable:
    archive = Archive(path, content)
    with archive.open() as opened:
        if "meta.npy" not in opened.namelist():
            raise DataError(
                f"{path}: this npz file has no values of rows (hint: write it with {argument('save_rows')})"
            )
        meta = json.loads(archive.read_array(opened, "meta").tobytes())
        head = _read_head(path, meta)
        rows, weights, values = (archive.read_array(opened, name) for name in ("rows", "weights", "values"))
    n, shape = rows.size, (len(head.systems), len(head.metrics), 2)
    if weights.shape != (n,) or values.size != n * int(np.prod(shape)):
        raise DataError(f"{path}: its arrays do not fit together; is the file damaged?")
    names = tuple(map(str, rows.tolist()))
    return _table(path, head, names, values.reshape(n, *shape), weights, meta)


class _Line(NamedTuple):
    """The values of a row and a system: a value and an ideal per metric, NaN where the row does not count."""

    row: str
    system: str
    weight: float
    cells: Sequence[tuple[float, float]]


def _split_rows(
    head: RowHead, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]
) -> Iterator[tuple[int | str, str, float, dict[str, float | None], dict[str, float]]]:
    """Yield row, system, weight, values and ideals of each line; a value is None where the row does not count."""
    for row, weight, of_row in zip(head.name_rows(rows), weights.tolist(), values, strict=True):
        for system, cells in zip(head.systems, of_row.tolist(), strict=True):
            numbers = {name: None if math.isnan(n) else n for name, (n, _) in zip(head.metrics, cells, strict=True)}
            named = zip(head.metrics, cells, head.has_ideal, strict=True)
            yield row, system, weight, numbers, {name: ideal for name, (_, ideal), has in named if has}


class _Csv:
    """One line per row and system: the value of each metric, and the ideal of ratios; the last line counts the rows.

    So a file that was truncated is told from a whole one, and no reader has to skip a line.
    """

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head
        self._n_rows, self._last = 0, list[Any]()
        ideals = [IDEAL + name for name, has in zip(head.metrics, head.has_ideal, strict=True) if has]
        self._write([[*OWN_WORDS, *head.metrics, *ideals, N_ROWS]])

    def _write(self, lines: Iterable[Sequence[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        self._file.write(text.getvalue().encode(errors="surrogateescape"))

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows: numbers and weights [n_rows], and values [n_rows, n_systems, n_metrics, 2]."""
        of_rows = _split_rows(self._head, rows, weights, values)
        lines = [[*line, *numbers.values(), *ideals.values(), None] for *line, numbers, ideals in of_rows]
        if lines:
            self._write([self._last, *lines[:-1]] if self._last else lines[:-1])
            self._n_rows, self._last = self._n_rows + rows.size, lines[-1]

    def finish(self, meta: Mapping[str, Any]) -> None:  # noqa: ARG002 - a CSV has no room for it
        """Write the last line, with the number of rows."""
        if self._last:
            self._write([[*self._last[:-1], self._n_rows]])

    def close(self) -> None:
        """Do nothing: the file is the caller's."""


def _read_csv(path: Path, lines: Sequence[Sequence[str]]) -> RowTable:
    head = list(lines[0])
    ideals = {name.removeprefix(IDEAL): i for i, name in enumerate(head) if name.startswith(IDEAL)}
    of_row, of_system, of_weight = (head.index(name) for name in OWN_WORDS)
    no_metrics = {*OWN_WORDS, N_ROWS}
    metrics = {name: i for i, name in enumerate(head) if name not in no_metrics and not name.startswith(IDEAL)}

    def parse(number: int, line: Sequence[str]) -> _Line:
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
        to_number, no_value = partial(parse_number, path, number), (math.nan, 0.0)
        weight = to_number(line[of_weight])
        cells = [
            (to_number(line[i]), to_number(line[ideals[name]]) if name in ideals else 1.0) if line[i] else no_value
            for name, i in metrics.items()
        ]
        return _Line(line[of_row], line[of_system], weight, cells)

    parsed = [parse(number, line) for number, line in enumerate(lines[1:], 2)]
    if parsed and N_ROWS in head:
        counts = [line[head.index(N_ROWS)] for line in lines[1:]]
        _check_n_rows(path, [cell for cell in counts if cell], len({line.row for line in parsed}))
    systems = tuple(dict.fromkeys(line.system for line in parsed))
    return _join(path, RowHead(systems, tuple(metrics), tuple(name in ideals for name in metrics)), parsed, 2)


def _check_n_rows(path: Path, counts: Sequence[str], n_rows: int) -> None:
    """Check the number of rows that one line of a CSV has."""
    if len(counts) == 1 and counts[0].removesuffix(".0") == str(n_rows):
        return
    found = f"its column {N_ROWS} has {listed(counts)}" if counts else f"no line has {N_ROWS}"
    raise DataError(
        f"{path}: {found}, but there are {counted(n_rows, 'row')}; is the file truncated? "
        f"(hint: leave out the column {N_ROWS} of a file of chosen rows)"
    )


class _Jsonl:
    """One object per row and system; the last line is an object with `meta`, and a digest of all before it."""

    def __init__(self, file: BinaryIO, head: RowHead) -> None:
        self._file, self._head = file, head
        self._digest = hashlib.blake2b(digest_size=DIGEST_SIZE)

    def _write(self, text: bytes) -> None:
        self._digest.update(text)
        self._file.write(text)

    def put(self, rows: NDArray[np.int64], weights: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Write rows: numbers and weights [n_rows], and values [n_rows, n_systems, n_metrics, 2]."""
        for row, system, weight, numbers, ideals in _split_rows(self._head, rows, weights, values):
            line = {"row": row, "system": system, "weight": weight, "values": numbers}
            self._write(json.dumps(line | ({"ideals": ideals} if ideals else {})).encode() + b"\n")

    def finish(self, meta: Mapping[str, Any]) -> None:
        """Write the last line."""
        self._write(json.dumps({"meta": _meta(self._head, meta)}).encode().removesuffix(b"}"))
        self._file.write(_BEFORE_DIGEST + self._digest.hexdigest().encode() + b'"}\n')

    def close(self) -> None:
        """Do nothing: the file is the caller's."""


def _read_jsonl(path: Path, content: bytes) -> RowTable:
    text = content.decode("utf-8", errors="replace")
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            raise DataError(f"{path}:{number}: expected a JSON object ({error})") from None
    meta = lines.pop().get("meta") if lines and isinstance(lines[-1], dict) else None
    if not isinstance(meta, dict):
        raise DataError(f"{path}: its last line has no 'meta'; is the file truncated?")
    head = _read_head(path, meta)

    def parse(number: int, line: Any) -> _Line:
        try:
            values, ideals = line["values"], line.get("ideals", {})
            cells = [
                (math.nan, 0.0) if values[name] is None else (float(values[name]), float(ideals.get(name, 1.0)))
                for name in head.metrics
            ]
            return _Line(str(line["row"]), line["system"], float(line["weight"]), cells)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise DataError(
                f"{path}:{number}: expected an object with row, system, weight and a value of each metric"
            ) from None

    table = _join(path, head, [parse(number, line) for number, line in enumerate(lines, 1)], 1, meta)
    before, is_digested, after = content.rpartition(_BEFORE_DIGEST)
    if is_digested and not after.startswith(hashlib.blake2b(before, digest_size=DIGEST_SIZE).hexdigest().encode()):
        raise DataError(
            f"{path}: does not match its digest; was it damaged? (hint: leave out 'digest' if it was edited)"
        )
    return table


def _join(
    path: Path, head: RowHead, lines: Sequence[_Line], first_line: int, meta: dict[str, Any] | None = None
) -> RowTable:
    """Put the lines of rows and systems together."""
    if not lines:
        raise DataError(f"{path}: has no values of rows")
    cells: dict[tuple[str, str], Sequence[tuple[float, float]]] = {}
    weights: dict[str, float] = {}
    for number, (row, system, weight, of_line) in enumerate(lines, first_line):
        if (row, system) in cells:
            raise DataError(f"{path}:{number}: row {row} of {system} appears twice")
        if weights.setdefault(row, weight) != weight:
            raise DataError(f"{path}:{number}: row {row} has weight {weight:g}, and {weights[row]:g} in a line above")
        cells[row, system] = of_line
    for row in weights:
        missing = [system for system in head.systems if (row, system) not in cells]
        if missing:
            raise DataError(f"{path}: row {row} has no values of {listed(missing)}")
    values = np.array([[cells[row, system] for system in head.systems] for row in weights])
    return _table(path, head, tuple(weights), values, np.array(list(weights.values())), meta)


def _meta(head: RowHead, meta: Mapping[str, Any]) -> dict[str, Any]:
    own = {"systems": head.systems, "metrics": head.metrics, "has_ideal": head.has_ideal}
    return {"schema": ROWS_SCHEMA, **own, **meta}


def _read_head(path: Path, meta: dict[str, Any]) -> RowHead:
    if meta.get("schema") not in (ROWS_SCHEMA, EARLIER):
        raise DataError(f"{path}: values of rows under the schema {meta.get('schema')!r}; expected {ROWS_SCHEMA}")
    missing = [key for key in ("systems", "metrics", "has_ideal") if key not in meta]
    if missing:
        raise DataError(f"{path}: its 'meta' lacks {listed(missing)}; is the file damaged?")
    return RowHead(tuple(meta["systems"]), tuple(meta["metrics"]), tuple(map(bool, meta["has_ideal"])))


def _table(
    path: Path,
    head: RowHead,
    rows: tuple[str, ...],
    values: NDArray[Any],
    weights: NDArray[Any],
    meta: dict[str, Any] | None = None,
) -> RowTable:
    if np.isinf(values).any() or np.isnan(values[..., 1]).any() or not np.isfinite(weights).all():
        raise DataError(f"{path}: some values are infinite or missing; is the file damaged?")
    return RowTable(str(path), head.systems, head.metrics, rows, values, weights, head.has_ideal, meta or {})


def _read_lines(path: Path, text: str) -> RowTable:
    """Read lines of cells between commas, tabs or blanks."""
    first = text.split("\n", 1)[0]
    reader: Iterator[list[str]]
    if "," in first:
        reader = csv.reader(io.StringIO(text))
    else:
        reader = (line.split("\t") if "\t" in first else line.split() for line in text.splitlines())
    try:
        lines = [[cell.strip() for cell in line] for line in reader if line and any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV ({error}); expected per-instance values") from None
    if not lines:
        raise DataError(f"{path}: the file is empty")
    return (_read_csv if set(OWN_WORDS) <= set(lines[0]) else read_foreign)(path, lines)


WRITERS: Mapping[str, Callable[[BinaryIO, RowHead], RowWriter]] = MappingProxyType(
    {".npz": _Npz, ".csv": _Csv, ".jsonl": _Jsonl}
)
