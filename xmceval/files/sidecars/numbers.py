"""Columns of numbers: counts, inverse propensities or weights, one per line or in an npy array, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.inputfiles import claim_pipe
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, UTF8_BOM
from xmceval.files.io.streams import quote, read_all_bytes, read_first_bytes
from xmceval.files.writing.targets import check_targets, open_targets
from xmceval.files.writing.writtenformats import COMPRESSORS, FOREIGN_ENDINGS, split_endings
from xmceval.rows.block import Float64

NUMBERS_AT_ONCE = 1 << 16


def read_numbers(path: str | Path) -> Float64:
    """Read one number per line, or an npy array of one dimension.

    Raises
    ------
    DataError
        A line that is not a number, with its place.
    """
    path = to_path(path)
    claim_pipe(path)
    if read_first_bytes(path, len(NPY)) == NPY:
        array = read_array(path)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise DataError(f"{path}: expected numbers in one dimension, got shape {array.shape} of {array.dtype}")
        return array.astype(np.float64)
    lines = read_all_bytes(path).removeprefix(UTF8_BOM).rstrip().split(b"\n")
    numbers = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            numbers[i] = float(line)
        except ValueError:
            raise DataError(f"{path}:{i + 1}: expected one number per line, found {quote(line)}") from None
    return numbers


def check_numbers_target(dst: str | Path | BinaryIO, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Check that numbers can be written, before they are computed from some inputs.

    Raises
    ------
    UsageError
        A file that exists, without `force`, or that is one of the inputs, or an ending of another format.
    """
    if not isinstance(dst, (str, Path)):
        return
    path = to_path(dst)
    ending, compression = split_endings(path)
    if ending in FOREIGN_ENDINGS | {".npz"}:
        raise UsageError(f"{path}: cannot write numbers as {ending} (hint: use a name ending in .txt or .npy)")
    if ending == ".npy" and compression:
        raise UsageError(f"{path}: npy cannot be compressed; only text can")
    check_targets([path], force=force, inputs=inputs)


def write_numbers(dst: str | Path | BinaryIO, numbers: NDArray[Any], *, force: bool = False) -> None:
    """Write numbers [n], one per line, or as an npy array of their type where the name ends in .npy.

    Text is the shortest that reads back as the same number.

    Raises
    ------
    UsageError
        A file that exists, or an ending of another format.
    """
    if not isinstance(dst, (str, Path)):
        dst.writelines(_format_numbers(numbers))
        return
    check_numbers_target(dst, force=force)
    path = to_path(dst)
    ending, compression = split_endings(path)
    with open_targets([path], force=force) as files:
        if ending == ".npy":
            np.save(files[0], numbers)
            return
        compress = COMPRESSORS.get(compression)
        for text in _format_numbers(numbers):
            files[0].write(compress(text) if compress else text)


def _format_numbers(numbers: NDArray[Any]) -> Iterator[bytes]:
    """Yield the text of many lines at a time."""
    for start in range(0, numbers.size, NUMBERS_AT_ONCE):
        yield "".join(f"{number!r}\n" for number in numbers[start : start + NUMBERS_AT_ONCE].tolist()).encode()
