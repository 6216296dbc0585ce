"""Values of rows in files: what ``--save-rows`` writes, npz or CSV, and ``compare`` reads back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.files.io.outputs import open_output
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.saved.rowtable import RowTable, join_shards
from xmceval.rows.shards import Shards
from xmceval.version import ROWS_SCHEMA

ENDINGS = (".npz", ".csv")
MEMBERS = ("meta", "rows", "weights", "values")  # of an npz
OWN_WORDS = ("row", "system", "weight")  # columns of a CSV, before the metrics
IDEAL = "ideal of "  # and after them, of those that are ratios of sums
N_ROWS = "n_rows"  # its last column: how many rows it has, in its last line only


@contextmanager
def open_row_file(
    path: str | Path, *, force: bool = False, inputs: Iterable[Path] = ()
) -> Iterator[Callable[[RowTable], None]]:
    """Open a file for values of rows before anything is scored; what this yields writes them, as npz or CSV."""
    path = to_path(path)
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path}: per-instance values are written as {listed(ENDINGS)}")
    with open_output(path, force=force, inputs=inputs) as file:
        yield partial(_write_npz if path.suffix == ".npz" else _write_csv, file)


def _write_npz(file: BinaryIO, table: RowTable) -> None:
    """Write an npz archive: rows, weights, values [n_rows, n_systems, n_metrics, 2], and meta as JSON."""
    names = {"systems": table.systems, "metrics": table.metrics, "has_ideal": table.has_ideal}
    meta = json.dumps({"schema": ROWS_SCHEMA, **names, **table.meta}).encode()
    np.savez(
        file,
        meta=np.frombuffer(meta, dtype=np.uint8),
        rows=np.array(table.rows),
        weights=table.weights,
        values=table.values,
    )


def _write_csv(file: BinaryIO, table: RowTable) -> None:
    """Write one line per row and system; the number of rows in the last line tells a file that was cut short."""
    ideals = [IDEAL + name for name, has in zip(table.metrics, table.has_ideal, strict=True) if has]
    text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*OWN_WORDS, *table.metrics, *ideals, N_ROWS])
    n_lines = len(table.rows) * len(table.systems)
    for row, weight, of_row in zip(table.rows, table.weights.tolist(), table.values, strict=True):
        for system, fractions in zip(table.systems, of_row.tolist(), strict=True):
            n_lines -= 1
            numerators = [None if math.isnan(numerator) else numerator for numerator, _ in fractions]
            denominators = [ideal for (_, ideal), has in zip(fractions, table.has_ideal, strict=True) if has]
            n_rows = None if n_lines else len(table.rows)
            writer.writerow([row, system, weight, *numerators, *denominators, n_rows])
    text.detach()


def read_rows(source: Any) -> RowTable:
    """Read values of rows from a path, or from all shards."""
    if isinstance(source, Shards):
        return join_shards(source.name, [read_rows(part) for part in source.parts])
    path = to_path(source)
    content = read_all_bytes(path)
    table = _read_npz(path, content) if content.startswith(b"PK") else _read_csv(path, content)
    if not table.rows:
        raise DataError(f"{path}: has no values of rows")
    if np.isinf(table.values).any() or np.isnan(table.values[..., 1]).any() or not np.isfinite(table.weights).all():
        raise DataError(f"{path}: some values are infinite or missing; is the file damaged?")
    return table


def _read_npz(path: Path, content: bytes) -> RowTable:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in MEMBERS if name in archive}
    except Exception as error:  # numpy and zipfile raise nearly anything over damaged bytes
        raise DataError(f"{path}: cannot be read as npz; is it damaged or truncated? ({error})") from None
    if len(arrays) < len(MEMBERS):
        raise DataError(f"{path}: this npz file has no values of rows (hint: write it with {argument('save_rows')})")
    meta, rows, weights, values = arrays.values()
    document = _parse_meta(path, meta)
    systems, metrics, has_ideal = (tuple(document.pop(name)) for name in ("systems", "metrics", "has_ideal"))
    n_rows = rows.size
    kinds = [(rows, "iU", (n_rows,)), (weights, "f", (n_rows,)), (values, "f", (n_rows, len(systems), len(metrics), 2))]
    names = tuple(map(str, rows.ravel().tolist()))
    if any(a.dtype.kind not in kind or a.shape != shape for a, kind, shape in kinds) or len(set(names)) < n_rows:
        raise DataError(f"{path}: its arrays do not fit together; is the file damaged?")
    return RowTable(
        str(path), systems, metrics, names, values.astype(float), weights.astype(float), has_ideal, document
    )


def _parse_meta(path: Path, meta: NDArray[Any]) -> dict[str, Any]:
    """Return the JSON of an npz, with systems, metrics and has_ideal."""
    try:
        document = json.loads(meta.tobytes())
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise DataError(f"{path}: its 'meta' is not a JSON object; is the file damaged?")
    schema = document.pop("schema", None)
    if schema != ROWS_SCHEMA:
        raise DataError(f"{path}: values of rows under the schema {schema!r}; expected {ROWS_SCHEMA}")
    lists = [document.get(key) for key in ("systems", "metrics", "has_ideal")]
    kinds = (str, str, bool)
    are_lists = all(
        isinstance(each, list) and all(isinstance(item, kind) for item in each)
        for each, kind in zip(lists, kinds, strict=True)
    )
    if not are_lists or len(document["metrics"]) != len(document["has_ideal"]):
        raise DataError(f"{path}: its 'meta' lacks systems, metrics or has_ideal; is the file damaged?")
    return document


def _read_csv(path: Path, content: bytes) -> RowTable:
    """Read a CSV whose columns are in any order, and which may lack some: ideals, and the number of rows."""
    text = content.decode("utf-8", errors="surrogateescape")
    try:
        head, *lines = [line for line in csv.reader(io.StringIO(text)) if line]
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV ({error}); expected per-instance values") from None
    if not set(OWN_WORDS) <= set(head):
        raise DataError(
            f"{path}: expected per-instance values, npz or CSV with the columns {listed(OWN_WORDS)} and one per metric "
            f"(hint: write them with {argument('save_rows')})"
        )
    of_row, of_system, of_weight = map(head.index, OWN_WORDS)
    ideals = {name.removeprefix(IDEAL): i for i, name in enumerate(head) if name.startswith(IDEAL)}
    metrics = {
        name: i for i, name in enumerate(head) if name not in {*OWN_WORDS, N_ROWS} and not name.startswith(IDEAL)
    }
    columns = [(i, ideals.get(name)) for name, i in metrics.items()]  # of values and, where there are any, of ideals
    values = dict[tuple[str, str], list[tuple[float, ...]]]()
    weights = dict[str, float]()
    for number, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
        row, system, weight = line[of_row], line[of_system], _parse_number(path, number, line[of_weight])
        if (row, system) in values:
            raise DataError(f"{path}:{number}: row {row} of {system} appears twice")
        if weights.setdefault(row, weight) != weight:
            raise DataError(f"{path}:{number}: row {row} has weight {weight:g}, and {weights[row]:g} in a line above")
        values[row, system] = [
            tuple(_parse_number(path, number, cell) for cell in (line[i], line[ideal] if ideal is not None else "1"))
            if line[i]
            else (math.nan, 0.0)
            for i, ideal in columns
        ]
    systems = tuple(dict.fromkeys(system for _, system in values))
    for row in weights:
        lacking = [system for system in systems if (row, system) not in values]
        if lacking:
            raise DataError(f"{path}: row {row} has no values of {listed(lacking)}")
    if lines and N_ROWS in head:
        _check_n_rows(path, [line[head.index(N_ROWS)] for line in lines], len(weights))
    array = np.array([[values[row, system] for system in systems] for row in weights])
    has_ideal = tuple(name in ideals for name in metrics)
    return RowTable(
        str(path), systems, tuple(metrics), tuple(weights), array, np.array(list(weights.values())), has_ideal
    )


def _check_n_rows(path: Path, cells: Sequence[str], n_rows: int) -> None:
    """Check the number of rows that one line of a CSV has."""
    numbers = [cell for cell in cells if cell]
    if len(numbers) == 1 and numbers[0].removesuffix(".0") == str(n_rows):
        return
    problem = f"its column {N_ROWS} has {listed(numbers)}" if numbers else f"no line has {N_ROWS}"
    raise DataError(
        f"{path}: {problem}, but there are {counted(n_rows, 'row')}; is the file truncated? "
        f"(hint: leave out the column {N_ROWS} of a file of chosen rows)"
    )


def _parse_number(path: Path, number: int, text: str) -> float:
    """Return a finite number of a line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{path}:{number}: expected a number, found {text!r}")
    return value
