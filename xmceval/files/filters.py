"""Filter files: one `row label` pair a line, as whole numbers or as floats that are whole."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np

from xmceval.errors import DataError
from xmceval.files.chunks import Chunk, LineChunks
from xmceval.files.streams import first_bytes
from xmceval.rows.block import Float64
from xmceval.rows.filters import Filter, Largest, as_filter, first_wrong, ordered

NPY_MAGIC = b"\x93NUMPY"


def read_filter(path: str | Path) -> Filter:
    """Read pairs of row and label, in any order and compressed or not; a file without any is a filter of none.

    Raises
    ------
    DataError
        A line that is not two whole numbers from 0, with its place.
    """
    path = Path(path)
    if path.is_file() and path.stat().st_size == 0:
        return ordered(path.name, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if first_bytes(path, 8).startswith(NPY_MAGIC):
        return as_filter(np.load(path, allow_pickle=False), path.name)
    rows, labels = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    last_row, last_label = Largest(), Largest()
    line = 1
    for chunk in LineChunks(path):
        pairs = _parse(path, chunk, line)
        rows.append(pairs[:, 0].astype(np.int64))
        labels.append(pairs[:, 1].astype(np.int64))
        last_row = _farther(last_row, path, chunk, line, pairs, 0)
        last_label = _farther(last_label, path, chunk, line, pairs, 1)
        line += chunk.buffer.count(b"\n", chunk.start, chunk.stop)
    return ordered(path.name, np.concatenate(rows), np.concatenate(labels), last_row, last_label)


def _parse(path: Path, chunk: Chunk, line: int) -> Float64:
    """Turn a chunk of lines into pairs."""
    text = bytes(chunk.buffer[chunk.start : chunk.stop])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a chunk of blank lines has no data: that is fine
            pairs: Float64 = np.loadtxt(io.BytesIO(text), dtype=np.float64, ndmin=2)
        if pairs.size == 0:
            return pairs.reshape(0, 2)
        if pairs.shape[1] == 2 and first_wrong(pairs) is None:
            return pairs
    except ValueError:
        pass
    for number, words in _lines(text, line):
        if not _is_pair(words):
            shown = b" ".join(words)[:40].decode(errors="backslashreplace")
            raise DataError(
                f"{path}:{number}: expected 'row label', two whole numbers from 0 with a blank between, found {shown!r}"
            )
    return np.array([words for _, words in _lines(text, line)], dtype=np.float64)


def _lines(text: bytes, line: int) -> list[tuple[int, list[bytes]]]:
    """Return the number and the words of each line that has any."""
    split = ((number, each.split(b"#")[0].split()) for number, each in enumerate(text.split(b"\n"), line))
    return [(number, words) for number, words in split if words]


def _is_pair(words: list[bytes]) -> bool:
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return False
    return len(numbers) == 2 and first_wrong(np.array([numbers])) is None


def _farther(known: Largest, path: Path, chunk: Chunk, line: int, pairs: Float64, column: int) -> Largest:
    """Return the pair with the largest number in a column, known or in this chunk."""
    if pairs.size == 0 or pairs[:, column].max() <= known.value:
        return known
    at = int(np.argmax(pairs[:, column]))
    number = line + at
    if pairs.shape[0] != chunk.buffer.count(b"\n", chunk.start, chunk.stop):  # there are comments or blank lines
        number, _ = _lines(bytes(chunk.buffer[chunk.start : chunk.stop]), line)[at]
    return Largest(int(pairs[at, column]), f"{path}:{number}")
