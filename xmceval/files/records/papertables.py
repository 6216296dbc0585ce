"""Tables of results as papers have them: tab- or comma-separated, Markdown, or LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmceval.errors import DataError, UsageError
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.metrics.names import parse

_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?")
_VALUE = re.compile(r"(\d+(?:\.(\d*))?|\.(\d+))")
_SIGNED = re.compile(r"\A[-+]")


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    Attributes
    ----------
    line : int
    name : str
        Its cells before the first metric: data set, method.
    values : dict of str to (value, places)
        By canonical name of the metric, as printed.
    """

    line: int
    name: str
    values: dict[str, tuple[float, int]]


def read_table(path: str | Path) -> list[TableRow]:
    """Read the rows of a table whose header names metrics, such as ``P@1``, ``N@3``, ``PSP@5``.

    Raises
    ------
    DataError
        No header with metrics, or a row without the cells of the header, with its place.
    """
    path = to_path(path)
    text = read_all_bytes(path).decode("utf-8-sig", errors="replace")
    split = _split_tex if "\\\\" in text or path.suffix == ".tex" else _split_plain
    head: list[str] = []
    rows = []
    for line, cells in split(text):
        metrics = [_metric(cell) for cell in cells]
        if sum(name is not None for name in metrics) > 1 and not _values(metrics, cells):
            head = [name or "" for name in metrics]
            continue
        if not head:
            continue
        if len(cells) != len(head):
            if len(cells) > 1 and any(_number(cell) for cell in cells):
                raise DataError(f"{path}:{line}: expected {len(head)} cells as in the header, got {len(cells)}")
            continue
        first = next(i for i, name in enumerate(head) if name)
        name = " ".join(cell for cell in cells[:first] if cell)
        for number, block in enumerate(blocks := _blocks(head), 1):
            values = _values(block, cells)
            if values:
                rows.append(TableRow(line, f"{name} ({number})" if len(blocks) > 1 else name, values))
    if not rows:
        raise DataError(f"{path}: no table of results: expected a header with names such as P@1, nDCG@3, PSP@5")
    return rows


def _blocks(head: Sequence[str]) -> list[list[str]]:
    """Return the header of each block of columns, such as those of several data sets: a metric repeats in the next."""
    numbers = [head[:i].count(name) for i, name in enumerate(head)]
    n_blocks = 1 + max(number for name, number in zip(head, numbers, strict=True) if name)
    return [[name if own == b else "" for name, own in zip(head, numbers, strict=True)] for b in range(n_blocks)]


def _values(head: Sequence[str | None], cells: Sequence[str]) -> dict[str, tuple[float, int]]:
    pairs = ((name, _number(cell)) for name, cell in zip(head, cells, strict=False) if name)
    return {name: number for name, number in pairs if number is not None}


def _metric(cell: str) -> str | None:
    """Return the canonical name of a metric at a cutoff, or None."""
    if "@" not in cell:
        return None
    try:
        measures = parse(re.sub(r"[^A-Za-z0-9@_-]", "", cell))
    except UsageError:
        return None
    return str(measures[0]) if len(measures) == 1 else None


def _number(cell: str) -> tuple[float, int] | None:
    """Return the first number of a cell and its decimal places; what follows, such as ±0.3, is not read."""
    found = _VALUE.match(cell.strip())
    if found is None or _SIGNED.match(cell.strip()):
        return None
    return float(found.group(1)), len(found.group(2) or found.group(3) or "")


def _split_plain(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line, between tabs, bars or commas."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        if "\t" in line:
            cells = line.split("\t")
        elif line.count("|") > 1:
            cells = line.strip().strip("|").split("|")
        else:
            cells = _split_commas(line)
        yield number, [cell.strip().strip("*_`").strip() for cell in cells]


def _split_commas(line: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error:  # a field of more than 131,072 characters
        return [line]


def _split_tex(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row of a LaTeX table, without commands and braces."""
    line = 1
    for row in re.split(r"\\\\", text):
        start = line + len(row) - len(row.lstrip("\n"))
        line += row.count("\n")
        if "&" in row:
            body = re.sub(r"(?<!\\)%[^\n]*", "", row)
            cells = (_COMMAND.sub("", cell.replace("\\%", "").replace("\\_", "_")) for cell in body.split("&"))
            yield start, [re.sub(r"[{}$~]", " ", cell).strip() for cell in cells]
