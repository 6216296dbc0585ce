"""Filters: one `row label` pair per line, as integers or as floats with whole values; arrays and tables of pairs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.lines import without_comment
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, UTF8_BOM
from xmceval.files.io.streams import check_is_text, is_empty, quote, read_all_bytes, read_first_bytes
from xmceval.files.tables.arrays import to_float, to_whole
from xmceval.files.tables.columns import find_roles
from xmceval.files.tables.objects import find_table
from xmceval.files.tables.opening import table_at
from xmceval.files.tables.table import Table
from xmceval.rows.block import Float64
from xmceval.rows.filters import Filter, Largest, as_filter, first_wrong, ordered


def take_filter(pairs: Any) -> Filter:
    """Take pairs of row and label from a file, a table or an array."""
    if isinstance(pairs, (str, Path)):
        return read_filter(pairs)
    table = find_table(pairs, "filter")
    return as_filter(pairs) if table is None else _of_table(table, "filter")


def _of_table(table: Table, name: str) -> Filter:
    """Return the pairs of a table, whose columns are known by name."""
    roles = find_roles(table.names)
    if len(roles["row"]) != 1 or len(roles["label"]) != 1:
        raise DataError(
            f"{table}: found the columns {', '.join(table.names[:10])}; expected one of rows, such as 'row', and one "
            "of labels, such as 'label', both 0-based numbers"
        )
    pairs = [np.column_stack(list(map(to_whole, columns))) for columns in table.batches(roles["row"] + roles["label"])]
    return as_filter(np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs]), name)


def read_filter(path: str | Path) -> Filter:
    """Read pairs of row and label, in any order, compressed or not; an empty file is a filter without pairs."""
    path = to_path(path)
    table = table_at(path)
    if table is not None:
        return _of_table(table, path.name)
    if is_empty(path):
        return ordered(path.name, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if read_first_bytes(path, len(NPY)) == NPY:
        return as_filter(read_array(path), path.name)
    check_is_text(path)
    text = read_all_bytes(path).removeprefix(UTF8_BOM)
    pairs = _parse_pairs(path, text)
    numbers: Sequence[int] = range(1, len(pairs) + 1)
    if len(pairs) != text.count(b"\n") + (not text.endswith(b"\n")):  # there are comments or blank lines
        numbers = [number for number, _ in _split_lines(text)]
    farthest = [int(np.argmax(column)) for column in pairs.T] if len(pairs) else []
    largest = (Largest(int(pairs[at, i]), f"{path}:{numbers[at]}") for i, at in enumerate(farthest))
    return ordered(path.name, pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64), *largest)


def _parse_pairs(path: Path, text: bytes) -> Float64:
    """Parse lines into pairs [n_pairs, 2]."""
    plain = b"\n".join(map(without_comment, text.split(b"\n"))) if b"#" in text else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # for text of blank lines, which is fine
            pairs: Float64 = np.loadtxt(io.BytesIO(plain), dtype=np.float64, comments=None, ndmin=2)
        if pairs.size == 0:
            return pairs.reshape(0, 2)
        if pairs.shape[1] == 2 and first_wrong(pairs) is None:
            return pairs
    except ValueError:
        pass
    lines = _split_lines(text)
    for number, words in lines:
        try:
            numbers = np.array([[float(word) for word in words]])
        except ValueError:
            numbers = np.empty((1, 0))
        if numbers.shape[1] != 2 or first_wrong(numbers) is not None:
            hint = ""
            if len(words) == 2 and words[0].isdigit() and to_float(words[1].decode(errors="replace")) is None:
                hint = (
                    " (hint: names of labels are not read in a filter; their numbers are those of the lines of labels, "
                    "from 0)"
                )
            raise DataError(
                f"{path}:{number}: expected 'row label', two whole numbers of at least 0, "
                f"found {quote(b' '.join(words))}{hint}"
            )
    return np.array([words for _, words in lines], dtype=np.float64)


def _split_lines(text: bytes) -> list[tuple[int, list[bytes]]]:
    """Return the number and the words of each line that has words."""
    lines = ((number, without_comment(line).split()) for number, line in enumerate(text.split(b"\n"), 1))
    return [(number, words) for number, words in lines if words]
