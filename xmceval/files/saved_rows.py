"""Write the per-row values of ``--save-rows`` as npz or CSV, and read them back for `compare_rows`."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.files.arrays.npy import DAMAGE, explain_damage, refuse_repeated_members
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import ZIP, begins_with_member
from xmceval.files.io.streams import pipe_key, read_all_bytes, read_first_bytes
from xmceval.files.io.write import check_output, csv_writer, open_output
from xmceval.files.text.jsonlines import RepeatedKeyError, to_dict
from xmceval.metrics.names import parse
from xmceval.rows.progress import in_turn
from xmceval.rows.shards import Shards
from xmceval.version import ROWS_SCHEMA

ENDINGS = (".npz", ".csv")
FIRST_COLUMNS = ("row", "system", "weight")  # of a CSV file, before the metrics
QUERY = "query"  # the first column where rows are queries
IDEAL = "ideal of "  # prefix of columns with the denominators of ratios of sums
HEAD_BYTES = 1 << 16  # of a file that is asked for its columns
N_ROWS = "n_rows"  # the last column: the number of rows, in the last line only


@dataclass(frozen=True)
class RowTable:
    """Per-row values of one or more systems."""

    name: str  # name of the file
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Any, ...]  # row ids, or row numbers
    values: NDArray[np.float64]  # [n_rows, n_systems, n_metrics, 2]; the numerator is NaN where a row does not count
    weights: NDArray[np.float64]  # [n_rows]
    has_ideal: tuple[bool, ...]  # by metric: whether it is a ratio of sums, with a denominator per row
    meta: dict[str, Any] = field(default_factory=dict)  # digests of truth and propensities, rules, counts
    n_shards: int = 1
    is_by_shard: bool = False  # whether rows are numbered within each shard


def check_values_file(
    path: str | Path, endings: Sequence[str] = ENDINGS, *, force: bool, inputs: Iterable[Path]
) -> None:
    """Refuse an output file for values of rows or labels before scoring."""
    if to_path(path).suffix not in endings:
        raise UsageError(f"{path}: values are written as {listed(endings)}")
    check_output(to_path(path), force=force, inputs=inputs)


def write_row_file(path: str | Path, table: RowTable, *, force: bool) -> None:
    """Write per-row values as npz or CSV."""
    with open_output(to_path(path), force=force) as file:
        if to_path(path).suffix == ".csv":
            _write_csv(file, table)
            return
        names = {"systems": table.systems, "metrics": table.metrics, "has_ideal": table.has_ideal}
        document = json.dumps({"schema": ROWS_SCHEMA, **names, **table.meta}).encode()
        meta = np.frombuffer(document, dtype=np.uint8)
        rows = np.array(table.rows, dtype=None if table.rows else int)
        np.savez(file, meta=meta, rows=rows, weights=table.weights, values=table.values)


def _write_csv(file: BinaryIO, table: RowTable) -> None:
    """Write one line per row and system; the number of rows in the last line reveals truncated files."""
    ideals = [IDEAL + name for name, has in zip(table.metrics, table.has_ideal, strict=True) if has]
    text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
    writer = csv_writer(text)
    first, *others = FIRST_COLUMNS
    if table.meta.get("has_queries"):
        first = QUERY
    writer.writerow([first, *others, *table.metrics, *ideals, N_ROWS])
    n_left = len(table.rows) * len(table.systems)
    for row, weight, of_row in zip(table.rows, table.weights.tolist(), table.values, strict=True):
        for system, fractions in zip(table.systems, of_row.tolist(), strict=True):
            n_left -= 1
            numerators = [None if math.isnan(numerator) else numerator for numerator, _ in fractions]
            denominators = [ideal for (_, ideal), has in zip(fractions, table.has_ideal, strict=True) if has]
            n_rows = None
            if n_left == 0:
                n_rows = len(table.rows)
            writer.writerow([row, system, weight, *numerators, *denominators, n_rows])
    text.detach()


def is_row_file(path: Path) -> bool:
    """Return whether a file has per-row values: an archive that begins with their description, or a CSV of metrics."""
    if pipe_key(path) is not None:  # its bytes are for whoever reads it first
        return False
    try:
        head = read_first_bytes(path, HEAD_BYTES)
    except (DataError, OSError):  # a missing file, or another error that opening reports
        return False
    if head.startswith(ZIP):
        return begins_with_member(head, b"meta.npy")
    line = head.partition(b"\n")[0].decode("utf-8", errors="surrogateescape")
    try:
        columns = next(csv.reader([line]), [])
        return not {"row", QUERY}.isdisjoint(columns) and bool(_find_metrics(path, _list_metrics(columns)))
    except (DataError, csv.Error):
        return False


def read_rows(source: str | Path | Shards) -> RowTable:
    """Read per-row values from a path, or from all shards."""
    if isinstance(source, Shards):
        return _join_shards(source.name, [read_rows(part) for part in in_turn(source.name, source.parts)])
    path = to_path(source)
    content = read_all_bytes(path)
    if content.startswith(b"PK"):
        table = _read_npz(path, content)
    else:
        table = _read_csv(path, content)
    if not table.rows:
        raise DataError(f"{path}: has no values of rows")
    if np.isinf(table.values).any() or np.isnan(table.values[..., 1]).any() or not np.isfinite(table.weights).all():
        raise DataError(f"{path}: some values are infinite or missing; is the file damaged?")
    return table


def _read_npz(path: Path, content: bytes) -> RowTable:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            refuse_repeated_members(archive.zip)
            numbers, weights, values = (archive[name] for name in ("rows", "weights", "values"))
            meta = json.loads(archive["meta"].tobytes(), object_pairs_hook=to_dict)
            schema = meta.pop("schema")
            systems, metrics, has_ideal = (tuple(meta.pop(name)) for name in ("systems", "metrics", "has_ideal"))
    except DAMAGE as error:
        problem = explain_damage(error)
        if isinstance(error, RepeatedKeyError):
            problem = f" ({error})"
        raise DataError(
            f"{path}: cannot be read as per-instance values; is the file damaged?{problem} "
            f"(hint: write them with {argument('save_rows')})"
        ) from error
    if schema != ROWS_SCHEMA:
        raise DataError(f"{path}: values of rows under the schema {schema!r}; expected {ROWS_SCHEMA}")
    rows = tuple(map(str, numbers.ravel().tolist()))
    fits = (
        all(isinstance(name, str) for name in (*systems, *metrics))
        and (numbers.dtype.kind in "iU" and weights.dtype.kind == values.dtype.kind == "f")
        and numbers.shape == weights.shape == (len(set(rows)),)
        and values.shape == (len(rows), len(systems), len(metrics), 2)
        and len(has_ideal) == len(metrics)
    )
    if not fits:
        raise DataError(f"{path}: its arrays do not fit together; is the file damaged?")
    values = values.astype(float)
    weights = weights.astype(float)
    names = _find_metrics(path, metrics)
    return RowTable(str(path), systems, names, rows, values, weights, has_ideal, meta)


def _read_csv(path: Path, content: bytes) -> RowTable:
    """Read a CSV with a column ``row`` or ``query`` and one per metric; other columns and any order are allowed."""
    text = content.decode("utf-8", errors="surrogateescape")
    try:
        head, *lines = [line for line in csv.reader(io.StringIO(text)) if line] or [[]]
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV; expected per-instance values") from error
    first = next((name for name in ("row", QUERY) if name in head), None)
    names = _list_metrics(head)
    if first is None or not names:
        raise DataError(
            f"{path}: expected per-instance values, npz or CSV with the column row or query and one per metric "
            f"(hint: write them with {argument('save_rows')})"
        )
    for number, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
    ones = ["1"] * len(lines)
    columns = {name: [line[place] for line in lines] for place, name in enumerate(head)}
    of_lines = columns[first], columns.get("system", [path.stem.removesuffix(".rows")] * len(lines))
    rows, systems = (tuple(dict.fromkeys(names)) for names in of_lines)
    keys = zip(*of_lines, strict=True)
    for number, (key, expected) in enumerate(itertools.zip_longest(keys, itertools.product(rows, systems)), 2):
        if key != expected:
            raise DataError(f"{path}:{number}: expected one line per system for each row, the same systems in each")
    n_rows = [number for number in columns.get(N_ROWS, ()) if number]
    if N_ROWS in head and [number.removesuffix(".0") for number in n_rows] != [str(len(rows))]:
        raise DataError(
            f"{path}: its column {N_ROWS} has {listed(n_rows) or 'no number'}, but there are "
            f"{counted(len(rows), 'row')}; is the file truncated? (hint: leave out the column {N_ROWS} of a file of "
            "chosen rows)"
        )
    numbers = [[_parse_numbers(path, columns.get(column, ones)) for column in (name, IDEAL + name)] for name in names]
    values = np.moveaxis(np.array(numbers), -1, 0).reshape(len(rows), len(systems), len(names), 2)
    values[np.isnan(values[..., 0]), 1] = 0.0  # such rows do not count
    weights = _parse_numbers(path, columns.get("weight", ones)).reshape(len(rows), len(systems))
    if (weights != weights[:, :1]).any():
        raise DataError(f"{path}: expected one weight per row, the same for all systems")
    has_ideal = tuple(IDEAL + name in head for name in names)
    meta = dict[str, Any]()
    if first == QUERY:
        meta["has_queries"] = True
    metrics = _find_metrics(path, names)
    return RowTable(str(path), systems, metrics, rows, values, weights[:, :1].ravel(), has_ideal, meta)


def _list_metrics(columns: Sequence[str]) -> list[str]:
    """Return the columns of a CSV that are named after metrics, known or not."""
    others = {*FIRST_COLUMNS, QUERY, N_ROWS}
    return [name for name in columns if name not in others and not name.startswith(IDEAL)]


def _parse_numbers(path: Path, texts: Sequence[str]) -> NDArray[np.float64]:
    """Parse a column of numbers; empty cells are NaN."""
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        try:
            numbers[i] = text or math.nan
        except ValueError:
            numbers[i] = math.inf
        if math.isinf(numbers[i]):
            raise DataError(f"{path}:{i + 2}: expected a number, found {text!r}")
    return numbers


def _find_metrics(path: Path, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the canonical names of the metrics in these columns."""
    names = list[str]()
    for column in columns:
        try:
            names += [measure.name for measure in parse(column)]
        except UsageError as error:
            raise DataError(f"{path}: the column {column!r} is of no metric: {error}") from None
    if len(set(names)) != len(columns):
        raise DataError(f"{path}: expected one column per metric and cutoff, got {listed(columns)}")
    return tuple(names)


def _join_shards(name: str, shards: Sequence[RowTable]) -> RowTable:
    """Concatenate the rows of shards; row numbers that restart in each shard are prefixed with the shard."""
    first = shards[0]
    for shard in shards[1:]:
        differing = {
            "metrics": (shard.metrics, shard.has_ideal) != (first.metrics, first.has_ideal),
            "propensities": shard.meta.get("propensities") != first.meta.get("propensities"),
            "rules": shard.meta.get("rules") != first.meta.get("rules"),
            "systems": shard.systems != first.systems and len(shard.systems) + len(first.systems) > 2,
        }
        if any(differing.values()):
            what = listed(what for what, differs in differing.items() if differs)
            raise DataError(f"{first.name} and {shard.name}, shards of {name}, have different {what}")
    rows = tuple(row for shard in shards for row in shard.rows)
    is_by_shard = len(set(rows)) < len(rows)
    if is_by_shard:
        rows = tuple(f"{number}:{row}" for number, shard in enumerate(shards, 1) for row in shard.rows)
    kept = ("rules", "propensities", "has_queries")
    meta: dict[str, Any] = {key: first.meta[key] for key in kept if key in first.meta}
    if all("truth" in shard.meta for shard in shards):
        meta["truth"] = json.dumps([shard.meta["truth"] for shard in shards])
    systems = first.systems
    if any(shard.systems != systems for shard in shards):
        systems = (name,)
    return RowTable(
        name,
        systems,
        first.metrics,
        rows,
        np.concatenate([shard.values for shard in shards]),
        np.concatenate([shard.weights for shard in shards]),
        first.has_ideal,
        meta,
        len(shards),
        is_by_shard,
    )
