"""Writers: a source of rows as a file of another form, streamed; what is read back is the same bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.files.writing.forms import COMPRESSIONS, FOREIGN
from xmceval.files.writing.targets import _beside

NUMBERS = 1 << 16  # so many are formatted at a time


def write_numbers(dst: str | Path | BinaryIO, values: NDArray[Any], *, force: bool = False) -> None:
    """Write one number a line, or an npy array where the name ends in .npy: the shortest text that reads back the same.

    Raises
    ------
    UsageError
        A file that is there already, or an ending of another form.
    """
    if not isinstance(dst, (str, Path)):
        dst.writelines(_lines(values))
        return
    path = Path(dst)
    if path.suffix.lower() in FOREIGN | {".npz"}:
        raise UsageError(f"{path}: numbers are not written as {path.suffix} (hint: a name in .txt or .npy)")
    with _beside([path], force=force) as files:
        if path.suffix == ".npy":
            np.save(files[0], values)
            return
        compress = COMPRESSIONS.get(path.suffix)
        for text in _lines(values):
            files[0].write(compress(text) if compress else text)


def _lines(values: NDArray[Any]) -> Iterator[bytes]:
    """Yield lines of one number, many at a time."""
    for start in range(0, values.size, NUMBERS):
        yield "".join(f"{value!r}\n" for value in values[start : start + NUMBERS].tolist()).encode()
