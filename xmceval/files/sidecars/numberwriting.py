"""Columns of numbers, such as inverse propensities, as text with one per line or as an npy array."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.files.io.paths import to_path
from xmceval.files.writing.targets import open_targets
from xmceval.files.writing.writtenformats import COMPRESSORS, FOREIGN_ENDINGS, split_endings

NUMBERS_AT_ONCE = 1 << 16


def write_numbers(dst: str | Path | BinaryIO, numbers: NDArray[Any], *, force: bool = False) -> None:
    """Write one number per line, or an npy array where the name ends in .npy.

    Text is the shortest that reads back as the same number.

    Raises
    ------
    UsageError
        A file that exists, or an ending of another format.
    """
    if not isinstance(dst, (str, Path)):
        dst.writelines(_format_numbers(numbers))
        return
    path = to_path(dst)
    ending, compression = split_endings(path)
    if ending in FOREIGN_ENDINGS | {".npz"}:
        raise UsageError(f"{path}: cannot write numbers as {ending} (hint: use a name ending in .txt or .npy)")
    if ending == ".npy" and compression:
        raise UsageError(f"{path}: npy cannot be compressed; only text can")
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
