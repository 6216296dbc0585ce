"""Entries: files that list a row, a label and a value one by one; they are held in memory to be sorted by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.files.arrays.csr import coo_to_csr
from xmceval.files.formats import Format
from xmceval.files.opened import Opened, Request
from xmceval.rows.block import Int64
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr

AnyArray = NDArray[Any]

# The names of the columns, in small letters.
ROW_NAMES = ("row", "row_id", "instance", "instance_id")
LABEL_NAMES = ("label", "label_id", "column", "col")
VALUE_NAMES = ("score", "value", "probability", "prob", "grade", "relevance")

EXPECTED = "row, label and score"


class Roles(NamedTuple):
    """The places of the row, the label and the value among columns; truth may have no values."""

    row: int
    label: int
    value: int | None


def find_roles(names: Sequence[str], request: Request) -> Roles | None:
    """Find the columns by their names; return None where one of them is missing or has several candidates."""
    lowered = [name.strip().strip('"').lower() for name in names]
    places = [[i for i, name in enumerate(lowered) if name in role] for role in (ROW_NAMES, LABEL_NAMES, VALUE_NAMES)]
    rows, labels, values = places
    if len(rows) != 1 or len(labels) != 1 or len(values) > 1 or (not values and request.are_scores):
        return None
    return Roles(rows[0], labels[0], values[0] if values else None)


def explain_columns(request: Request) -> str:
    """Return the names that columns may have, for a message."""
    value = "" if request.are_scores else ", which truth may lack"
    rows, labels, values = (" or ".join(names) for names in (ROW_NAMES, LABEL_NAMES, VALUE_NAMES))
    return f"{rows}; {labels}; {values}{value}"


def open_entries(
    path: Path,
    request: Request,
    form: Format,
    facts: Sequence[str],
    parts: Iterable[tuple[AnyArray, ...]],
) -> Opened:
    """Return entries as an opened file, sorted by row.

    The largest row is the last one, unless there are more in the truth.

    Parameters
    ----------
    path : Path
    request : Request
    form : Format
    facts : sequence of str
        What people are told of it.
    parts : iterable of tuple of array
        Rows, labels and values [n] of some entries, without values they count 1; or nothing.
    """
    filled = [part for part in parts if part]
    if not filled:
        raise DataError(f"{path}: has no entries; expected {EXPECTED}")
    empty: Int64 = np.empty(0, dtype=np.int64)
    rows, labels = (np.concatenate([empty, *(part[i].astype(np.int64, copy=False) for part in filled)]) for i in (0, 1))
    values = np.concatenate([np.empty(0), *(part[2] if len(part) == 3 else np.ones(part[0].size) for part in filled)])
    largest = int(rows.max(initial=-1))
    n_rows = largest + 1
    if request.are_scores and request.n_rows is not None:
        n_rows = request.n_rows
        if largest >= n_rows:
            raise DataError(
                f"{path}: has an entry in row {largest}, but the truth has {counted(n_rows, 'row')} (rows are 0-based)"
            )
    csr = Csr(*coo_to_csr(str(path), rows, labels, values, n_rows), request.are_scores)
    source = MatrixSource(str(path), n_rows, None, [csr], is_exact=False)
    return Opened(source, form, tuple(facts), request.role, is_held=True)
