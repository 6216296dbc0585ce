"""MatrixMarket files: coordinates of entries, 1-based and in any order, or the columns of a dense matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted, listed
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.records.columns import Columns, are_whole, read_columns
from xmceval.files.records.entries import open_entries
from xmceval.rows.block import Float64
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.matrices import MatrixSource

SIGNATURE = b"%%matrixmarket"

_WORDS = (("matrix",), ("coordinate", "array"), ("real", "double", "integer", "pattern"), ("general",))


@dataclass(frozen=True)
class Declared:
    """The kind and the size of a matrix, which the first lines declare."""

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
    lines = layout.first_line, None, partial(_from_table, layout=layout), partial(_from_line, layout=layout)
    parts = [part for part in read_columns(path, *lines) if part]
    n_read = sum(part[0].size for part in parts)
    if n_read != layout.n_entries:
        raise DataError(
            f"{path}: declares {counted(layout.n_entries, 'entry')}, but has {n_read:,} (is the file truncated?)"
        )
    shape, form = (layout.sizes[0], layout.sizes[1]), FORMATS["matrixmarket"]
    facts = form.title, f"{layout.form} {layout.field} matrix of {shape[0]:,} x {shape[1]:,}"
    if layout.form == "coordinate":
        return open_entries(path, request, form, facts, parts, shape)
    values = np.concatenate([np.empty(0), *(part[0] for part in parts)]).reshape(shape, order="F")
    source = MatrixSource(str(path), *shape, [Dense(values, request.are_scores)])
    return Opened(source, form, facts, request.role, is_held=True)


def _parse_head(path: Path, head: bytes) -> Declared:
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
        return Declared(form, decoded[2], tuple(map(int, sizes)), number + 1)
    raise DataError(f"{path}: expected a line of {'rows columns entries' if form == 'coordinate' else 'rows columns'}")


def _from_table(table: Float64, layout: Declared) -> Columns | None:
    """Return 0-based rows and labels, and values, or None where lines are not entries of the matrix."""
    n_places = 0 if layout.form == "array" else 2
    places = table[:, :n_places] - 1
    if table.shape[1] != layout.n_numbers or not are_whole(places) or np.any(places >= layout.sizes[:n_places]):
        return None
    return (*places.T, *(values.copy() for values in table[:, n_places:].T))


def _from_line(line: bytes, layout: Declared) -> tuple[float, ...] | None:
    if not line.strip():
        return None
    try:
        columns = None if b"_" in line else _from_table(np.array([[float(word) for word in line.split()]]), layout)
    except ValueError:
        columns = None
    if columns is None:
        expected = {1: "a value", 2: "'row column'", 3: "'row column value'"}[layout.n_numbers]
        size = f"{layout.sizes[0]:,} x {layout.sizes[1]:,}"
        raise ValueError(f"expected {expected}, 1-based, of a matrix of {size}, found {quote(line)}")
    return tuple(float(column[0]) for column in columns)
