"""A file that may be truth or predictions: opened by what its content can only be, else as predictions."""

from __future__ import annotations

from pathlib import Path

from xmceval.errors import DataError
from xmceval.readers import Opened, open_scores, open_truth
from xmceval.readers.names import Names


def open_either(path: str | Path, kind: str | None = None, *, names: Names | None = None) -> tuple[Opened, bool]:
    """Open a file as `kind`, ``truth`` or ``scores``, or as whichever it can be; also return whether as scores.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    if kind == "truth":
        return open_truth(path, names=names), False
    try:
        return open_scores(path, names=names), True
    except DataError as error:
        if kind == "scores":
            raise
        try:
            return open_truth(path, names=names), False
        except DataError:
            raise error from None
