"""Values of rows: what ``--save-rows`` writes, and the per-query files of other tools, read back."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.files.arrays.archive import Archive
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.metrics.names import parse
from xmceval.version import ROWS_SCHEMA

EARLIER = "xmceval-rows/1"  # the name of the same schema before all had one grammar
IDEAL = "ideal of "
ALL = "all"  # trec_eval's word for the mean over queries
OWN_WORDS = ("row", "system", "weight")
ROW_WORDS = ("row", "query_id", "query", "qid", "topic", "id")
MEASURE_WORDS = ("measure", "metric")
VALUE_WORDS = ("value", "score")
OTHER_MEASURE = re.compile(  # of trec_eval, then of ir_measures, that the table of metrics lacks
    r"(num_(q|rel|ret|rel_ret|nonrel_judged_ret)|set_(F|P|map|recall|relative_P)|gm_(map|bpref)|bpref|infAP|11pt_avg"
    r"|iprec_at_recall|map_avgjg|ndcg_rel|Rndcg|Rprec_mult|relative_P|relstring|runid|utility|binG|G"
    r"|Num(Q|Rel|Ret)|Set(AP|F|P|R|RelP)|Bpref|IPrec|Compat|ERR_IA|alpha_nDCG)([@(.].*|_[0-9].*)?"
)


@dataclass(frozen=True)
class RowTable:
    """Values of rows of one or more systems.

    Attributes
    ----------
    name : str
        The file.
    systems, metrics : tuple of str
    rows : tuple of str
        Names of the rows.
    values : float64 array [n_rows, n_systems, n_metrics, 2]
        Numerator and denominator; the numerator is NaN where a row does not count.
    weights : float64 array [n_rows]
    has_ideal : tuple of bool
        By metric: whether it is a ratio of sums.
    meta : dict
        What the writer knew: digest of the truth, counts, options; empty for other tools' files.
    """

    name: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    has_ideal: tuple[bool, ...]
    meta: dict[str, Any] = field(default_factory=dict)


def read_row_values(path: str | Path) -> RowTable:
    """Read values of rows: .npz, .csv or .jsonl of this package, or a per-query file of another tool.

    Other tools' files have three columns, query, measure and value in any order that a header names (ir_measures), or
    measure, query and value (``trec_eval -q``), or one column per measure below a header. Without a header the column
    of measures is the one with more of the names that are known.

    Raises
    ------
    DataError
        A file of another form, one that lacks values, with the place, or one whose column of measures cannot be told.
    """
    path = to_path(path)
    content = read_all_bytes(path)
    if content.startswith(b"PK"):
        return _read_npz(path, content)
    text = content.decode("utf-8", errors="replace")
    if text.lstrip().startswith("{"):
        return _read_jsonl(path, text)
    return _read_table(path, text)


def _read_npz(path: Path, content: bytes) -> RowTable:
    archive = Archive(path, content)
    with archive.open() as opened:
        if "meta.npy" not in opened.namelist():
            raise DataError(
                f"{path}: this npz file has no values of rows (hint: write it with {argument('save_rows')})"
            )
        meta = json.loads(archive.read_array(opened, "meta").tobytes())
        _check_schema(path, meta)
        rows, weights, values = (archive.read_array(opened, name) for name in ("rows", "weights", "values"))
    n, shape = rows.size, (len(meta["systems"]), len(meta["metrics"]), 2)
    if weights.shape != (n,) or values.size != n * int(np.prod(shape)):
        raise DataError(f"{path}: its arrays do not fit together; is the file damaged?")
    names = tuple(map(str, rows.tolist()))
    return _table(path, meta, names, values.reshape(n, *shape), weights)


def _check_schema(path: Path, meta: dict[str, Any]) -> None:
    if meta.get("schema") not in (ROWS_SCHEMA, EARLIER):
        raise DataError(f"{path}: values of rows under the schema {meta.get('schema')!r}; expected {ROWS_SCHEMA}")
    missing = [key for key in ("systems", "metrics", "has_ideal") if key not in meta]
    if missing:
        raise DataError(f"{path}: its 'meta' lacks {listed(missing)}; is the file damaged?")


def _table(
    path: Path, meta: dict[str, Any], rows: tuple[str, ...], values: NDArray[Any], weights: NDArray[Any]
) -> RowTable:
    heads = (tuple(meta["systems"]), tuple(meta["metrics"]))
    if np.isinf(values).any() or np.isnan(values[..., 1]).any() or not np.isfinite(weights).all():
        raise DataError(f"{path}: some values are infinite or missing; is the file damaged?")
    return RowTable(str(path), *heads, rows, values, weights, tuple(map(bool, meta["has_ideal"])), meta)


def _read_jsonl(path: Path, text: str) -> RowTable:
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            raise DataError(f"{path}:{number}: expected a JSON object ({error})") from None
    meta = lines.pop().get("meta") if lines and isinstance(lines[-1], dict) else None
    if not isinstance(meta, dict):
        raise DataError(f"{path}: its last line has no 'meta'; is the file truncated?")
    _check_schema(path, meta)
    cells: dict[tuple[str, str], list[tuple[float, float]]] = {}
    weights: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        try:
            row, ideals = str(line["row"]), line.get("ideals", {})
            values = [(name, line["values"][name]) for name in meta["metrics"]]
            weights[row] = float(line["weight"])
            cells[row, line["system"]] = [
                (math.nan, 0.0) if value is None else (float(value), float(ideals.get(name, 1.0)))
                for name, value in values
            ]
        except (KeyError, TypeError, AttributeError, ValueError):
            raise DataError(
                f"{path}:{number}: expected an object with row, system, weight and a value of each metric"
            ) from None
    return _table(path, meta, tuple(weights), *_assemble(path, cells, meta["systems"], weights))


def _read_table(path: Path, text: str) -> RowTable:
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
        raise DataError(f"{path}: cannot be read as CSV ({error}); expected values of rows") from None
    if not lines:
        raise DataError(f"{path}: the file is empty")
    if set(OWN_WORDS) <= set(lines[0]):
        return _own_csv(path, lines)
    if _is_long(lines):
        return _long(path, lines)
    return _wide(path, lines)


def _own_csv(path: Path, lines: Sequence[Sequence[str]]) -> RowTable:
    """Read the CSV of this package."""
    head = list(lines[0])
    ideals = {name.removeprefix(IDEAL): i for i, name in enumerate(head) if name.startswith(IDEAL)}
    of_row, of_system, of_weight = (head.index(name) for name in OWN_WORDS)
    metrics = {name: i for i, name in enumerate(head) if name not in OWN_WORDS and not name.startswith(IDEAL)}
    cells: dict[tuple[str, str], list[tuple[float, float]]] = {}
    weights: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
        row, system, weight = line[of_row], line[of_system], _number(path, number, line[of_weight])
        if (row, system) in cells:
            raise DataError(f"{path}:{number}: row {row} of {system} appears twice")
        if weights.setdefault(row, weight) != weight:
            raise DataError(f"{path}:{number}: row {row} has weight {weight:g}, and {weights[row]:g} in a line above")
        cells[row, system] = [
            (_number(path, number, line[i]), _number(path, number, line[ideals[name]]) if name in ideals else 1.0)
            if line[i]
            else (math.nan, 0.0)
            for name, i in metrics.items()
        ]
    systems = list(dict.fromkeys(system for _, system in cells))
    meta = {"systems": systems, "metrics": list(metrics), "has_ideal": [name in ideals for name in metrics]}
    table = _table(path, meta, tuple(weights), *_assemble(path, cells, systems, weights))
    return RowTable(*(getattr(table, name) for name in table.__dataclass_fields__ if name != "meta"))


def _is_long(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether lines are query, measure and value, or measure, query and value; not so below a wide header."""
    head, *body = lines
    if any(len(line) != 3 for line in lines):
        return False
    if any(word.lower() in MEASURE_WORDS for word in head) or any(ALL in line[:2] for line in lines):
        return True
    return _is_number(head[1]) or _is_number(head[2]) or not any(_is_number(line[1]) for line in body)


def _long(path: Path, lines: Sequence[Sequence[str]]) -> RowTable:
    """Read three columns: query, measure and value."""
    head = [cell.lower() for cell in lines[0]]
    has_head = not _is_number(lines[0][2]) and head[2] in VALUE_WORDS
    body = lines[1:] if has_head else lines
    if has_head:
        of_measure = next((i for i, word in enumerate(head) if word in MEASURE_WORDS), 1)
        of_row = next((i for i, word in enumerate(head) if word in ROW_WORDS), 1 - of_measure)
    else:
        of_row = _find_row_column(path, body)
        of_measure = 1 - of_row
    values: dict[str, dict[str, float]] = {}
    texts: dict[str, tuple[int, str]] = {}  # trec_eval has measures whose values are all texts
    for number, line in enumerate(body, 2 if has_head else 1):
        row, measure, value = line[of_row], line[of_measure], line[2]
        if row == ALL:
            continue
        if not _is_number(value):
            texts.setdefault(measure, (number, value))
            continue
        if measure in values.setdefault(row, {}):
            raise DataError(f"{path}:{number}: {measure} of row {row!r} appears twice")
        values[row][measure] = _number(path, number, value)
    for measure in (measure for of_row in values.values() for measure in of_row):
        if measure in texts:
            _number(path, *texts[measure])
    return _foreign(path, values)


def _find_row_column(path: Path, lines: Sequence[Sequence[str]]) -> int:
    """Return which of the first two columns names rows: by ``all``, by the metrics in the other, or as numbers are ids.

    Raises
    ------
    DataError
        Neither of them tells.
    """
    columns = [{line[column] for line in lines} for column in (0, 1)]
    with_all = [column for column, words in enumerate(columns) if ALL in words]
    if len(with_all) == 1:
        return with_all[0]
    shares = [sum(map(_is_measure, words)) / len(words) for words in columns]
    if shares[0] != shares[1]:
        return shares.index(min(shares))
    for row, measure in ((0, 1), (1, 0)):
        if all(map(str.isdigit, columns[row])) and not any(map(_is_number, columns[measure])):
            return row
    raise DataError(
        f"{path}: it is unclear which of the first two columns names metrics "
        "(hint: put a header above them, such as query,measure,value)"
    )


def _is_measure(word: str) -> bool:
    """Return whether a word names a metric, here or in trec_eval or ir_measures."""
    if OTHER_MEASURE.fullmatch(word):
        return True
    try:
        return bool(parse(word))
    except UsageError:
        return False


def _wide(path: Path, lines: Sequence[Sequence[str]]) -> RowTable:
    """Read one column per measure, below a header; the first column names the row."""
    head = list(lines[0])
    if len(head) < 2 or all(_is_number(cell) for cell in head):
        raise DataError(f"{path}: expected values of rows: a header, then a row name and one value per metric")
    values: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
        if line[0] in values:
            raise DataError(f"{path}:{number}: row {line[0]!r} appears twice")
        cells = zip(head[1:], line[1:], strict=True)
        values[line[0]] = {name: _number(path, number, cell) for name, cell in cells}
    return _foreign(path, values)


def _foreign(path: Path, values: dict[str, dict[str, float]]) -> RowTable:
    """Make the table of one system, named after its file."""
    metrics = tuple(dict.fromkeys(name for of_row in values.values() for name in of_row))
    for row, of_row in values.items():
        missing = [name for name in metrics if name not in of_row]
        if missing:
            raise DataError(f"{path}: row {row!r} has no value of {listed(missing)}")
    if not values:
        raise DataError(f"{path}: no values of rows; expected query, measure and value")
    array = np.ones((len(values), 1, len(metrics), 2))
    array[:, 0, :, 0] = [[of_row[name] for name in metrics] for of_row in values.values()]
    no_ideal = (False,) * len(metrics)
    return RowTable(str(path), (path.name,), metrics, tuple(values), array, np.ones(len(values)), no_ideal)


def _assemble(
    path: Path,
    cells: dict[tuple[str, str], list[tuple[float, float]]],
    systems: Sequence[str],
    weights: dict[str, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    for row in weights:
        missing = [system for system in systems if (row, system) not in cells]
        if missing:
            raise DataError(f"{path}: row {row} has no values of {listed(missing)}")
    values = np.array([[cells[row, system] for system in systems] for row in weights])
    return values, np.array(list(weights.values()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(path: Path, number: int, text: str) -> float:
    if not _is_number(text) or not math.isfinite(float(text)):
        raise DataError(f"{path}:{number}: expected a number, found {text!r}")
    return float(text)
