"""MatrixMarket files: coordinates of entries, 1-based and in any order, or the columns of a dense matrix."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted, listed
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.records.entries import Entries, are_whole
from xmceval.rows.block import Float64
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Dense

SIGNATURE = b"%%matrixmarket"

_WORDS = (("matrix",), ("coordinate", "array"), ("real", "double", "integer", "pattern"), ("general",))


@dataclass(frozen=True)
class Layout:
    """What the first lines declare."""

    form: str
    field: str
    sizes: tuple[int, ...]  # rows, columns, and in coordinate files entries
    first_line: int  # of the entries

    @property
    def n_numbers(self) -> int:
        """How many numbers a line of entries has."""
        if self.form == "array":
            return 1
        return 2 if self.field == "pattern" else 3

    @property
    def n_entries(self) -> int:
        """How many lines of entries there are."""
        return self.sizes[0] * self.sizes[1] if self.form == "array" else self.sizes[2]


def open_matrix_market(head: Head, request: Request) -> Opened | None:
    """Read a MatrixMarket file [n_rows, n_labels] into memory; return None if it is not one.

    Raises
    ------
    DataError
        A wrong line, with its place; a kind of matrix that is not read.
    """
    path = head.path
    if head.content[: len(SIGNATURE)].lower() != SIGNATURE:
        return None
    layout = _parse_head(path, head.content)
    if request.are_scores and layout.field == "pattern":
        raise DataError(f"{path}: is a MatrixMarket pattern, which has no scores; expected real or integer values")
    parts = list(_read_parts(path, layout))
    n_read = sum(part.shape[0] for part in parts)
    if n_read != layout.n_entries:
        raise DataError(
            f"{path}: declares {counted(layout.n_entries, 'entry')}, but has {n_read:,} (is the file truncated?)"
        )
    shape = layout.sizes[0], layout.sizes[1]
    facts = FORMATS["matrixmarket"].title, f"{layout.form} {layout.field} matrix of {shape[0]:,} x {shape[1]:,}"
    if layout.form == "array":
        values = np.concatenate([np.empty((0, 1)), *parts])[:, 0].reshape(shape, order="F")
        source = MatrixSource(str(path), *shape, [Dense(values, request.are_scores)])
        return Opened(source, FORMATS["matrixmarket"], facts, request.role, is_held=True)
    entries = Entries()
    for part in parts:
        entries.add(part[:, 0] - 1, part[:, 1] - 1, part[:, 2].copy() if part.shape[1] == 3 else None)
    return entries.open(path, request, FORMATS["matrixmarket"], facts, shape)


def _parse_head(path: Path, head: bytes) -> Layout:
    lines = head.split(b"\n")
    words = lines[0].lower().split()[1:]
    decoded = [word.decode(errors="replace") for word in words]
    for word, choices in zip([*decoded, *[""] * 4], _WORDS, strict=False):
        if word not in choices:
            raise DataError(
                f"{path}:1: is a MatrixMarket file with {word!r}, which is not read; expected {listed(choices)} there "
                "(hint: save the matrix with scipy.sparse.save_npz)"
            )
    form = decoded[1]
    for number, line in enumerate(lines[1:], 2):
        if line.startswith(b"%") or not line.strip():
            continue
        sizes = line.split()
        if len(sizes) != (3 if form == "coordinate" else 2) or not all(n.isdigit() and len(n) < 19 for n in sizes):
            break
        return Layout(form, decoded[2], tuple(map(int, sizes)), number + 1)
    raise DataError(f"{path}: expected a line of {'rows columns entries' if form == 'coordinate' else 'rows columns'}")


def _read_parts(path: Path, layout: Layout) -> Iterator[Float64]:
    """Yield the numbers of the lines of entries, chunk by chunk."""
    number = 1
    for chunk in LineChunks(path):
        text = bytes(chunk.buffer[chunk.start : chunk.stop])
        while text and number < layout.first_line:
            text, number = text[text.index(b"\n") + 1 :], number + 1
        if text.strip():
            yield _parse(path, text, number, layout)
        number += text.count(b"\n")


def _parse(path: Path, text: bytes, first_line: int, layout: Layout) -> NDArray[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table: Float64 = np.loadtxt(io.BytesIO(text), dtype=np.float64, comments=None, ndmin=2)
        if table.shape[1] == layout.n_numbers and _is_inside(table, layout):
            return table
    except ValueError:
        pass
    for number, line in enumerate(text.split(b"\n")[:-1], first_line):
        if line.strip() and not _is_entry(line, layout):
            expected = {1: "a value", 2: "'row column'", 3: "'row column value'"}[layout.n_numbers]
            size = f"{layout.sizes[0]:,} x {layout.sizes[1]:,}"
            raise DataError(
                f"{path}:{number}: expected {expected}, 1-based, of a matrix of {size}, found {quote(line)}"
            )
    raise DataError(f"{path}:{first_line}: cannot be read as lines of {counted(layout.n_numbers, 'number')}")


def _is_inside(table: Float64, layout: Layout) -> bool:
    """Return whether the rows and columns are within the matrix."""
    places = table[:, :2]
    return layout.form == "array" or bool(are_whole(places - 1) and np.all(places <= layout.sizes[:2]))


def _is_entry(line: bytes, layout: Layout) -> bool:
    try:
        numbers = np.array([[float(word) for word in line.split()]])
    except ValueError:
        return False
    return b"_" not in line and numbers.shape[1] == layout.n_numbers and _is_inside(numbers, layout)
