"""Tables of results: as papers have them, and in every form in which this package writes its own."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xmceval.errors import DataError, UsageError
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.records.tablecells import CellLine, split_cells
from xmceval.metrics.names import parse

Number = tuple[float, int]

_VALUE = re.compile(r"(\d+(?:\.(\d*))?|\.(\d+))")
_CUTOFF = re.compile(r"@[A-Za-z0-9.]+\Z")
_TITLE_END = re.compile(r" · |: |, ")
_SIZE = re.compile(r"[\d,]+ instances?\b")
_RANKS = "mean rank"  # its values are none of metrics
_LONG = frozenset({"system", "metric", "k", "bin", "value"})  # columns of CSV with one value per line
_EXACT = 9  # places of values that are not rounded
_OTHER = "-"  # a metric that is no share, which no rule is about
_TWO_NUMBERS = re.compile(r"[0-9]\s+[0-9]")
_ORNAMENT = re.compile(r"\(%?\)|[^\w@().=,-]")  # arrows, percent signs, blanks


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    Attributes
    ----------
    line : int
    name : str
        Its cells before the first metric: data set, method; after the title of its part of the table.
    values : dict of str to (value, places)
        By canonical name of the metric, as printed.
    """

    line: int
    name: str
    values: dict[str, Number]


def read_table(path: str | Path) -> list[TableRow]:
    """Read the rows of a table whose header names metrics, such as ``P@1``, ``N@3``, ``PSP@5``.

    Raises
    ------
    DataError
        No header with metrics, or a row without the cells of the header, with its place.
    """
    path = to_path(path)
    text = read_all_bytes(path).decode("utf-8-sig", errors="replace")
    table = _Table(str(path))
    rows = list(_read_long(str(path), text))
    if not rows:
        for line in split_cells(text, is_tex=path.suffix == ".tex", is_header=lambda cells: bool(_find_head(cells))):
            table.add(line)
        rows = table.rows
    if not rows:
        raise DataError(f"{path}: no table of results: expected a header with names such as P@1, nDCG@3, PSP@5")
    return rows


def _read_long(path: str, text: str) -> Iterable[TableRow]:
    """Read CSV with one value per line, or no rows of other text."""
    lines = text.splitlines()
    if not (lines and set(lines[0].split(",")) >= _LONG):
        return ()
    reader, rows = csv.DictReader(lines, restval=""), dict[tuple[str, ...], TableRow]()
    try:
        for each in reader:
            for system, metric, value in _find_values(each):
                key = each.get("dataset", ""), each["bin"], system
                row = rows.setdefault(key, TableRow(reader.line_num, " ".join(filter(None, key)), {}))
                row.values.setdefault(metric, (float(value), _EXACT))
    except (csv.Error, ValueError) as error:
        raise DataError(f"{path}:{reader.line_num}: {error}") from None
    return rows.values()


def _find_values(line: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the systems of a line of CSV, each with the metric and the value, where these are shares."""
    metric = _find_metric(f"{line['metric']}@{line['k']}" if line["k"] else line["metric"])
    if metric not in {"", _OTHER} and line.get("kind") != "rank":
        for system, column in (("system", "value"), ("baseline", "baseline_value")):
            if line.get(column):
                yield line[system], metric, line[column]


@dataclass
class _Table:
    """The rows of a table, and what holds for its next line.

    Attributes
    ----------
    head : list of str
        For each column its metric, its cutoff where metrics are in rows, or nothing.
    over : list of str
        For each column what stands above its metric, such as a data set.
    title : str
        Of the part of the table.
    """

    path: str
    rows: list[TableRow] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    over: list[str] = field(default_factory=list)
    spans: tuple[tuple[int, int], ...] = ()
    title: str = ""
    n_heads: int = 0
    _by_name: dict[str, tuple[int, TableRow]] = field(default_factory=dict)

    def add(self, line: CellLine) -> None:
        """Read a line: a title, a header, or a row."""
        if line.is_title:
            self.title = _shorten(line.cells[0])
            return
        head = _find_head(line.cells)
        if head:
            self._begin(line, head)
            return
        if line.begins:
            self.head, self.over = [], []
        if not any(map(_number, line.cells)) and (not line.cells[0] or not self.head):
            self.over = ["", *line.cells[1:]]
        elif self.head:
            self._add_row(line)

    def _begin(self, line: CellLine, head: list[str]) -> None:
        """Begin a part of the table with a header."""
        above = [_split_metric(cell)[0] for cell in line.cells]
        self.over = above if any(above) else _spread(self.over, len(head), is_placed=not line.spans)
        self.title = self.title if line.keeps_title and not any(above) else ""
        self.head, self.spans = head, line.spans
        self.n_heads += 1

    def _add_row(self, line: CellLine) -> None:
        cells = _place(line, self.spans)
        if len(cells) != len(self.head):
            if len(cells) > 1 and any(map(_number, cells)):
                raise DataError(
                    f"{self.path}:{line.number}: expected {len(self.head)} cells as in the header, got {len(cells)}"
                )
            return
        first = next(i for i, name in enumerate(self.head) if name)
        name = " ".join(cell for cell in cells[:first] if cell)
        if self.head[first].startswith("@"):
            found = (_find_metric(f"{name}{cutoff}") if cutoff else "" for cutoff in self.head)
            metrics = ["" if metric == _OTHER else metric for metric in found]
            self._keep(line.number, self.title, _values(metrics, cells), are_metrics=True)
            return
        for label, block in _blocks(self.head, self.over):
            if not self.title.startswith(_RANKS) and not label.startswith(_RANKS):
                parts = (self.title, name, label) if label.startswith("(") else (self.title, label, name)
                self._keep(line.number, " ".join(filter(None, parts)), _values(block, cells))

    def _keep(self, line: int, name: str, values: dict[str, Number], *, are_metrics: bool = False) -> None:
        """Keep the values of a row, together with those that it has below another header."""
        if not values:
            return
        n_heads, row = self._by_name.get(name, (0, TableRow(line, name, {})))
        is_same = are_metrics or (bool(name) and n_heads != self.n_heads)
        if n_heads == 0 or not is_same or row.values.keys() & values.keys():
            row = TableRow(line, name, {})
            self.rows.append(row)
        row.values.update(values)
        self._by_name[name] = self.n_heads, row


def _shorten(title: str) -> str:
    """Return the name at the start of a title; how many instances there are is none."""
    name = _TITLE_END.split(title)[0].strip()
    return "" if _SIZE.match(name) else name


def _find_head(cells: Sequence[str]) -> list[str]:
    """Return the metric of each column, or its cutoff where metrics are in rows; nothing if this is no header."""
    metrics = [_split_metric(cell)[1] for cell in cells]
    if any(_number(cell) for cell, metric in zip(cells, metrics, strict=True) if metric):
        return []
    if sum(map(bool, metrics)) > 1 or (len(cells) > 1 and all(metrics[1:])):
        return metrics
    cutoffs = [cell if _CUTOFF.match(cell) else "" for cell in cells[1:]]
    return ["", *cutoffs] if any(cutoffs) and cutoffs == list(cells[1:]) else []


def _split_metric(cell: str) -> tuple[str, str]:
    """Return what a cell has before a metric, and its canonical name; ``-`` for one that is no share."""
    above, _, last = cell.rpartition(" ")
    name = _find_metric(cell)
    if name or "@" not in last:
        return "", name
    name = _find_metric(last)
    return (above.strip(), name) if name else ("", "")


def _find_metric(text: str) -> str:
    if _TWO_NUMBERS.search(text):
        return ""
    try:
        measures = parse(_ORNAMENT.sub("", text))
    except UsageError:
        return ""
    if len(measures) != 1 or ("@" not in text and measures[0].metric.cutoff != "none"):
        return ""
    return measures[0].name if measures[0].metric.unit == "share" else _OTHER


def _spread(over: Sequence[str], n: int, *, is_placed: bool) -> list[str]:
    """Return what stands above each of `n` columns: as placed, or each of several above as many columns."""
    names = [name for name in over[1:] if name]
    if not is_placed and names and (n - 1) % len(names) == 0:
        return ["", *(name for name in names for _ in range((n - 1) // len(names)))]
    if not is_placed or len(over) != n:
        return []
    spread = [""]
    for name in over[1:]:
        spread.append(name or spread[-1])
    return spread


def _place(line: CellLine, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return the cells of a row of aligned text below those of the header, with those that are empty."""
    if not line.spans or not spans or len(line.cells) == len(spans):
        return line.cells
    placed = [line.cells[0], *[""] * (len(spans) - 1)]
    for cell, (start, _) in zip(line.cells[1:], line.spans[1:], strict=True):
        stop = start + len(cell.split(" ")[0])
        below = [i for i, (first, last) in enumerate(spans) if first < stop and start < last and not placed[i]]
        if below:  # else its column is of a metric without a cutoff
            placed[below[0]] = cell
    return placed


def _blocks(head: Sequence[str], over: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the header of each block of columns, such as those of several data sets, and what it is called.

    Blocks are what stands above columns tells apart, or else a metric repeats in the next one.
    """
    names = ["" if name == _OTHER else name for name in head]
    labels = list(over) if any(over) else [f"({names[:i].count(name) + 1})" for i, name in enumerate(names)]
    shares = [(label, name) for label, name in zip(labels, names, strict=True) if name]
    blocks = list(dict.fromkeys(label for label, _ in shares))
    return [
        (
            label if any(over) or len(blocks) > 1 else "",
            [name if own == label else "" for own, name in zip(labels, names, strict=True)],
        )
        for label in blocks
    ]


def _values(head: Sequence[str], cells: Sequence[str]) -> dict[str, Number]:
    pairs = ((name, _number(cell)) for name, cell in zip(head, cells, strict=False) if name)
    return {name: number for name, number in pairs if number is not None}


def _number(cell: str) -> Number | None:
    """Return the first number of a cell and its decimal places; what follows, such as ±0.3, is not read."""
    found = _VALUE.match(cell.strip())
    return None if found is None else (float(found[1]), len(found[2] or found[3] or ""))
