"""Per-query files of other tools: values of metrics by row, in three columns or in one column per measure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.files.saved.rowtable import RowTable
from xmceval.metrics.names import parse

ALL = "all"  # trec_eval's word for the mean over queries
ROW_WORDS = ("row", "query_id", "query", "qid", "topic", "id")
MEASURE_WORDS = ("measure", "metric")
VALUE_WORDS = ("value", "score")
OTHER_MEASURE = re.compile(  # of trec_eval, then of ir_measures, that the table of metrics lacks
    r"(num_(q|rel|ret|rel_ret|nonrel_judged_ret)|set_(F|P|map|recall|relative_P)|gm_(map|bpref)|bpref|infAP|11pt_avg"
    r"|iprec_at_recall|map_avgjg|ndcg_rel|Rndcg|Rprec_mult|relative_P|relstring|runid|utility|binG|G"
    r"|Num(Q|Rel|Ret)|Set(AP|F|P|R|RelP)|Bpref|IPrec|Compat|ERR_IA|alpha_nDCG)([@(.].*|_[0-9].*)?"
)


def read_foreign(path: Path, lines: Sequence[Sequence[str]]) -> RowTable:
    """Make a table of one system, named after its file, from the cells of its lines."""
    return _long(path, lines) if _is_long(lines) else _wide(path, lines)


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
        values[row][measure] = parse_number(path, number, value)
    for measure in (measure for of_row in values.values() for measure in of_row):
        if measure in texts:
            parse_number(path, *texts[measure])
    return _make_table(path, values)


def _find_row_column(path: Path, lines: Sequence[Sequence[str]]) -> int:
    """Return which of the first two columns names rows: by ``all``, by the metrics in the other, or by numeric ids."""
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
        raise DataError(f"{path}: expected per-instance values: a header, then an id and one value per metric")
    values: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(head):
            raise DataError(f"{path}:{number}: expected {counted(len(head), 'cell')}, got {len(line)}")
        if line[0] in values:
            raise DataError(f"{path}:{number}: row {line[0]!r} appears twice")
        cells = zip(head[1:], line[1:], strict=True)
        values[line[0]] = {name: parse_number(path, number, cell) for name, cell in cells}
    return _make_table(path, values)


def _make_table(path: Path, values: dict[str, dict[str, float]]) -> RowTable:
    """Make the table of one system, named after its file."""
    metrics = tuple(dict.fromkeys(name for of_row in values.values() for name in of_row))
    for row, of_row in values.items():
        missing = [name for name in metrics if name not in of_row]
        if missing:
            raise DataError(f"{path}: row {row!r} has no value of {listed(missing)}")
    if not values:
        raise DataError(f"{path}: no per-instance values; expected query, measure and value")
    array = np.ones((len(values), 1, len(metrics), 2))
    array[:, 0, :, 0] = [[of_row[name] for name in metrics] for of_row in values.values()]
    no_ideal = (False,) * len(metrics)
    return RowTable(str(path), (path.name,), metrics, tuple(values), array, np.ones(len(values)), no_ideal)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_number(path: Path, number: int, text: str) -> float:
    """Return a finite number of a line."""
    if not _is_number(text) or not math.isfinite(float(text)):
        raise DataError(f"{path}:{number}: expected a number, found {text!r}")
    return float(text)
