"""Saved rows: values of rows in files, npz or CSV, which ``--save-rows`` writes and ``compare`` reads back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.files.io.outputs import check_output, open_output
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.rows.shards import Shards
from xmceval.version import ROWS_SCHEMA

ENDINGS = (".npz", ".csv")
MEMBERS = ("meta", "rows", "weights", "values")  # of an npz
FIRST_COLUMNS = ("row", "system", "weight")  # of a CSV, before the metrics
IDEAL = "ideal of "  # before the names of metrics that are ratios of sums, in columns of their denominators
N_ROWS = "n_rows"  # the last column: the number of rows, in the last line only


@dataclass(frozen=True)
class RowTable:
    """Values of rows of one or more systems."""

    name: str  # of the file
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Any, ...]  # their ids, or their numbers
    values: NDArray[np.float64]  # [n_rows, n_systems, n_metrics, 2]; the numerator is NaN where a row does not count
    weights: NDArray[np.float64]  # [n_rows]
    has_ideal: tuple[bool, ...]  # by metric: whether it is a ratio of sums, so that each row has a denominator
    meta: dict[str, Any] = field(default_factory=dict)  # digests of truth and propensities, rules, counts, if known


def check_row_file(path: str | Path, *, force: bool, inputs: Iterable[Path]) -> None:
    """Refuse a file for values of rows before anything is scored."""
    if to_path(path).suffix not in ENDINGS:
        raise UsageError(f"{path}: per-instance values are written as {listed(ENDINGS)}")
    check_output(to_path(path), force=force, inputs=inputs)


def write_row_file(path: str | Path, table: RowTable, *, force: bool) -> None:
    """Write values of rows as npz or CSV."""
    with open_output(to_path(path), force=force) as file:
        if to_path(path).suffix == ".csv":
            _write_csv(file, table)
            return
        names = {"systems": table.systems, "metrics": table.metrics, "has_ideal": table.has_ideal}
        document = json.dumps({"schema": ROWS_SCHEMA, **names, **table.meta}).encode()
        meta, rows = np.frombuffer(document, dtype=np.uint8), np.array(table.rows)
        np.savez(file, meta=meta, rows=rows, weights=table.weights, values=table.values)


def _write_csv(file: BinaryIO, table: RowTable) -> None:
    """Write one line per row and system; the number of rows in the last line shows whether a file was truncated."""
    ideals = [IDEAL + name for name, has in zip(table.metrics, table.has_ideal, strict=True) if has]
    text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*FIRST_COLUMNS, *table.metrics, *ideals, N_ROWS])
    n_left = len(table.rows) * len(table.systems)
    for row, weight, of_row in zip(table.rows, table.weights.tolist(), table.values, strict=True):
        for system, fractions in zip(table.systems, of_row.tolist(), strict=True):
            n_left -= 1
            numerators = [None if math.isnan(numerator) else numerator for numerator, _ in fractions]
            denominators = [ideal for (_, ideal), has in zip(fractions, table.has_ideal, strict=True) if has]
            writer.writerow([row, system, weight, *numerators, *denominators, None if n_left else len(table.rows)])
    text.detach()


def read_rows(source: str | Path | Shards) -> RowTable:
    """Read values of rows from a path, or from all shards."""
    if isinstance(source, Shards):
        return _join_shards(source.name, [read_rows(part) for part in source.parts])
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
    names = tuple(map(str, rows.ravel().tolist()))
    shape = (rows.size, len(systems), len(metrics), 2)
    expected = [(rows, "iU", shape[:1]), (weights, "f", shape[:1]), (values, "f", shape)]
    if any(array.dtype.kind not in kinds or array.shape != of for array, kinds, of in expected) or (
        len(set(names)) < rows.size
    ):
        raise DataError(f"{path}: its arrays do not fit together; is the file damaged?")
    values, weights = values.astype(float), weights.astype(float)
    return RowTable(str(path), systems, metrics, names, values, weights, has_ideal, document)


def _parse_meta(path: Path, meta: NDArray[Any]) -> dict[str, Any]:
    """Return the JSON of an npz, with lists of systems, metrics and has_ideal."""
    try:
        document = json.loads(meta.tobytes())
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise DataError(f"{path}: its 'meta' is not a JSON object; is the file damaged?")
    schema = document.pop("schema", None)
    if schema != ROWS_SCHEMA:
        raise DataError(f"{path}: values of rows under the schema {schema!r}; expected {ROWS_SCHEMA}")
    for name, kind in (("systems", str), ("metrics", str), ("has_ideal", bool)):
        values = document.get(name)
        if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
            break
    else:
        if len(document["metrics"]) == len(document["has_ideal"]):
            return document
    raise DataError(f"{path}: its 'meta' lacks systems, metrics or has_ideal; is the file damaged?")


def _read_csv(path: Path, content: bytes) -> RowTable:
    """Read a CSV whose columns are in any order, and which may lack ideals and the number of rows."""
    text = content.decode("utf-8", errors="surrogateescape")
    try:
        head, *lines = [line for line in csv.reader(io.StringIO(text)) if line] or [[]]
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV ({error}); expected per-instance values") from None
    if not set(FIRST_COLUMNS) <= set(head):
        raise DataError(
            f"{path}: expected per-instance values, npz or CSV with the columns {listed(FIRST_COLUMNS)} and one per "
            f"metric (hint: write them with {argument('save_rows')})"
        )
    others = {*FIRST_COLUMNS, N_ROWS}
    metrics = tuple(name for name in dict.fromkeys(head) if name not in others and not name.startswith(IDEAL))
    values = dict[tuple[str, str], list[tuple[float, float]]]()
    weights = dict[str, float]()
    n_rows = list[str]()
    for number, line in enumerate(lines, 2):
        place = f"{path}:{number}"
        if len(line) != len(head):
            raise DataError(f"{place}: expected {counted(len(head), 'cell')}, got {len(line)}")
        cells = dict(zip(head, line, strict=True))
        row, system, weight = cells["row"], cells["system"], _parse_number(place, cells["weight"])
        if (row, system) in values:
            raise DataError(f"{place}: row {row} of {system} appears twice")
        if weights.setdefault(row, weight) != weight:
            raise DataError(f"{place}: row {row} has weight {weight:g}, and {weights[row]:g} in a line above")
        values[row, system] = [_parse_fraction(place, cells, metric) for metric in metrics]
        n_rows += [cells[N_ROWS]] if cells.get(N_ROWS) else []
    systems = tuple(dict.fromkeys(system for _, system in values))
    for row in weights:
        lacking = [system for system in systems if (row, system) not in values]
        if lacking:
            raise DataError(f"{path}: row {row} has no values of {listed(lacking)}")
    if lines and N_ROWS in head:
        _check_n_rows(path, n_rows, len(weights))
    return RowTable(
        str(path),
        systems,
        metrics,
        rows=tuple(weights),
        values=np.array([[values[row, system] for system in systems] for row in weights]),
        weights=np.array(list(weights.values())),
        has_ideal=tuple(IDEAL + name in head for name in metrics),
    )


def _check_n_rows(path: Path, numbers: Sequence[str], n_rows: int) -> None:
    """Check the number of rows that one line of a CSV has."""
    if len(numbers) == 1 and numbers[0].removesuffix(".0") == str(n_rows):
        return
    problem = f"its column {N_ROWS} has {listed(numbers)}" if numbers else f"no line has {N_ROWS}"
    raise DataError(
        f"{path}: {problem}, but there are {counted(n_rows, 'row')}; is the file truncated? "
        f"(hint: leave out the column {N_ROWS} of a file of chosen rows)"
    )


def _parse_fraction(place: str, cells: Mapping[str, str], metric: str) -> tuple[float, float]:
    """Return the numerator and denominator of a metric; its cell is empty where the row does not count."""
    if not cells[metric]:
        return math.nan, 0.0
    return _parse_number(place, cells[metric]), _parse_number(place, cells.get(IDEAL + metric, "1"))


def _parse_number(place: str, text: str) -> float:
    """Return a finite number of a line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{place}: expected a number, found {text!r}")
    return value


def _join_shards(name: str, shards: Sequence[RowTable]) -> RowTable:
    """Return the rows of all shards, in their order; rows that are numbered in each have the shard in their names."""
    first = shards[0]
    for shard in shards[1:]:
        pair = f"{first.name} and {shard.name}, shards of {name},"
        if (shard.metrics, shard.has_ideal) != (first.metrics, first.has_ideal):
            raise DataError(f"{pair} have different metrics")
        for what in ("propensities", "rules"):
            if shard.meta.get(what) != first.meta.get(what):
                raise DataError(f"{pair} were scored with different {what}")
        if len(shard.systems) != len(first.systems) or (len(first.systems) > 1 and shard.systems != first.systems):
            raise DataError(f"{pair} have different systems")
    rows = tuple(row for shard in shards for row in shard.rows)
    if len(set(rows)) < len(rows):
        rows = tuple(f"{number}:{row}" for number, shard in enumerate(shards, 1) for row in shard.rows)
    meta: dict[str, Any] = {key: first.meta[key] for key in ("rules", "propensities") if key in first.meta}
    digests = [shard.meta.get("truth") for shard in shards]
    if None not in digests:
        meta["truth"] = json.dumps(digests)
    return RowTable(
        name,
        first.systems if all(shard.systems == first.systems for shard in shards) else (name,),
        first.metrics,
        rows,
        np.concatenate([shard.values for shard in shards]),
        np.concatenate([shard.weights for shard in shards]),
        first.has_ideal,
        meta,
    )
