"""Filters: one `row label` pair per line, as integers or as floats with whole values; arrays and tables of pairs."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.chunks import Chunk, LineChunks
from xmceval.files.io.lines import without_comment
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY
from xmceval.files.io.streams import check_is_text, is_empty, quote, read_first_bytes
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
    rows, labels = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    last_row, last_label = Largest(), Largest()
    first_line = 1
    for chunk in LineChunks(path):
        pairs = _parse_chunk(path, chunk, first_line)
        rows.append(pairs[:, 0].astype(np.int64))
        labels.append(pairs[:, 1].astype(np.int64))
        last_row = _farther(last_row, path, chunk, first_line, pairs, 0)
        last_label = _farther(last_label, path, chunk, first_line, pairs, 1)
        first_line += chunk.buffer.count(b"\n", chunk.start, chunk.stop)
    return ordered(path.name, np.concatenate(rows), np.concatenate(labels), last_row, last_label)


def _parse_chunk(path: Path, chunk: Chunk, first_line: int) -> Float64:
    """Parse a chunk of lines into pairs."""
    text = bytes(chunk.buffer[chunk.start : chunk.stop])
    plain = b"\n".join(map(without_comment, text.split(b"\n"))) if b"#" in text else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # for a chunk of blank lines, which is fine
            pairs: Float64 = np.loadtxt(io.BytesIO(plain), dtype=np.float64, comments=None, ndmin=2)
        if pairs.size == 0:
            return pairs.reshape(0, 2)
        if pairs.shape[1] == 2 and first_wrong(pairs) is None:
            return pairs
    except ValueError:
        pass
    for number, words in _split_lines(text, first_line):
        if not _is_pair(words):
            raise DataError(
                f"{path}:{number}: expected 'row label', two whole numbers of at least 0, "
                f"found {quote(b' '.join(words))}{_explain_names(words)}"
            )
    return np.array([words for _, words in _split_lines(text, first_line)], dtype=np.float64)


def _split_lines(text: bytes, first_line: int) -> list[tuple[int, list[bytes]]]:
    """Return the number and the words of each line that has words."""
    lines = ((number, without_comment(line).split()) for number, line in enumerate(text.split(b"\n"), first_line))
    return [(number, words) for number, words in lines if words]


def _explain_names(words: list[bytes]) -> str:
    """Return the end of a message about a line of a row and a name."""
    if len(words) != 2 or not words[0].isdigit() or to_float(words[1].decode(errors="replace")) is not None:
        return ""
    return " (hint: names of labels are not read in a filter; their numbers are those of the lines of labels, from 0)"


def _is_pair(words: list[bytes]) -> bool:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return False
    return len(numbers) == 2 and first_wrong(np.array([numbers])) is None


def _farther(farthest: Largest, path: Path, chunk: Chunk, first_line: int, pairs: Float64, column: int) -> Largest:
    """Return the pair with the largest number in a column, so far or in this chunk."""
    if pairs.size == 0 or pairs[:, column].max() <= farthest.value:
        return farthest
    at = int(np.argmax(pairs[:, column]))
    number = first_line + at
    if pairs.shape[0] != chunk.buffer.count(b"\n", chunk.start, chunk.stop):  # there are comments or blank lines
        number, _ = _split_lines(bytes(chunk.buffer[chunk.start : chunk.stop]), first_line)[at]
    return Largest(int(pairs[at, column]), f"{path}:{number}")
