"""Columns of numbers: counts, inverse propensities or weights, one per line or in an npy array."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xmceval.errors import DataError
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.inputfiles import take_pipe
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, UTF8_BOM
from xmceval.files.io.streams import check_is_text, quote, read_all_bytes, read_first_bytes
from xmceval.rows.block import Float64


def read_numbers(path: str | Path) -> Float64:
    """Read one number per line, or an npy array of one dimension."""
    path = to_path(path)
    take_pipe(path)
    if read_first_bytes(path, len(NPY)) == NPY:
        array = read_array(path)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise DataError(f"{path}: expected numbers in one dimension, got shape {array.shape} of {array.dtype}")
        return array.astype(np.float64)
    check_is_text(path)
    lines = read_all_bytes(path).removeprefix(UTF8_BOM).rstrip().split(b"\n")
    numbers = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            numbers[i] = float(line)
        except ValueError:
            raise DataError(f"{path}:{i + 1}: expected one number per line, found {quote(line)}") from None
    return numbers
