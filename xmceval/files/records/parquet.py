"""Parquet files of row, label and score columns, found by their names; pyarrow is imported only here."""

from __future__ import annotations

import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, missing_package
from xmceval.files.formats import FORMATS
from xmceval.files.io.pipes import stored_at
from xmceval.files.io.streams import is_uncompressed, read_all_bytes
from xmceval.files.opened import Opened, Request
from xmceval.files.records.columns import are_whole
from xmceval.files.records.entries import explain_columns, find_roles, open_entries
from xmceval.files.sidecars.labelnames import Names, unknown_name

ROWS_AT_ONCE = 1 << 16


def open_parquet(path: Path, request: Request) -> Opened:
    """Read the entries of a Parquet file into memory."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise missing_package(f"{path}: is a Parquet file; reading it", "pyarrow", "parquet") from None
    try:
        stored = stored_at(path) if is_uncompressed(path) else io.BytesIO(read_all_bytes(path))
        with nullcontext() if isinstance(stored, Path) else stored:
            return _read(path, request, parquet.ParquetFile(stored))
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, MemoryError, OverflowError) as error:
        raise DataError(f"{path}: cannot be read as a Parquet file; is it damaged or truncated? ({error})") from None


def _read(path: Path, request: Request, file: Any) -> Opened:
    columns = [str(name) for name in file.schema_arrow.names]
    roles = find_roles(columns, request)
    if roles is None:
        found = ", ".join(columns[:10]) or "none"
        raise DataError(f"{path}: expected the columns {explain_columns(request)}; found {found}")
    names = [columns[place] for place in roles if place is not None]
    parts, first, used = list[tuple[NDArray[Any], ...]](), 0, None
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=names):
        rows, labels, *values = (_to_numpy(path, batch.column(name), name, first) for name in names)
        if labels.dtype == object:
            used = request.names
            labels = _look_up(path, labels, used, first)
        _check_whole(path, rows, names[0], first)
        _check_whole(path, labels, names[1], first)
        parts.append((rows, labels, *(each.astype(np.float64) for each in values)))
        first += rows.size
    form = FORMATS["parquet"]
    facts = [form.title, f"columns {', '.join(names)}"]
    facts += [] if used is None else [f"label names from {used.source}"]
    return open_entries(path, request, form, facts, parts)


def _to_numpy(path: Path, column: Any, name: str, first: int) -> NDArray[Any]:
    """Return a column of numbers, or of strings as objects."""
    if column.null_count:
        place = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{path}: entry {place} has no {name}")
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    if array.dtype.kind not in "iufbO" or (array.dtype == object and any(type(word) is not str for word in array)):
        raise DataError(f"{path}: column {name!r} is of type {column.type}; expected numbers, or names of labels")
    return array


def _look_up(path: Path, words: NDArray[Any], names: Names | None, first: int) -> NDArray[np.int64]:
    labels = {} if names is None else names.labels
    for place, word in enumerate(words.tolist(), first):
        if word not in labels:
            raise DataError(f"{path}: entry {place}: {unknown_name(word[:40], names)}")
    return np.array([labels[word] for word in words.tolist()], dtype=np.int64)


def _check_whole(path: Path, numbers: NDArray[Any], name: str, first: int) -> None:
    if numbers.dtype == object or not are_whole(numbers):
        place = 0 if numbers.dtype == object else int(np.argmin((numbers >= 0) & (numbers == np.floor(numbers))))
        found = ascii(numbers.tolist()[place])[:40]
        raise DataError(f"{path}: entry {first + place} has {name} {found}; expected a 0-based number below 2^53")
