"""The door: tells what kind of file a path is, by its content, and opens it as a source of blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xmceval.errors import DataError
from xmceval.files.arrays.npy import MAGIC as NPY_MAGIC, read_array
from xmceval.files.streams import STDIN, UTF8_BOM, all_bytes, first_bytes, shown, stdin
from xmceval.rows.block import Float64


def read_numbers(path: str | Path) -> Float64:
    """Read one number a line, or an npy array of one dimension: counts or inverse propensities by label.

    Raises
    ------
    DataError
        A line that is no number, with its place.
    """
    path = Path(path)
    if path == STDIN:
        stdin().claim()
        stdin().hold()
    if first_bytes(path, 6) == NPY_MAGIC:
        array = read_array(path)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise DataError(f"{path}: expected one number a label, got shape {array.shape} of {array.dtype}")
        return array.astype(np.float64)
    lines = all_bytes(path).removeprefix(UTF8_BOM).rstrip().split(b"\n")
    values = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            values[i] = float(line)
        except ValueError:
            raise DataError(f"{path}:{i + 1}: expected one number a line, found {shown(line)}") from None
    return values
