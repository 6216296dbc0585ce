"""A file that may be truth or predictions: opened by what its content can only be, else as predictions."""

from __future__ import annotations

import re
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.names import Names
from xmceval.files.opening import Opened, open_scores, open_truth
from xmceval.files.streams import UTF8_BOM, first_bytes

_SNIFFED = 1 << 20

_TARGETS = re.compile(rb'"target_ind"\s*:')


def open_either(path: str | Path, kind: str | None = None, *, names: Names | None = None) -> tuple[Opened, bool]:
    """Open a file as `kind`, ``truth`` or ``scores``, or as whichever it can be; also return whether as scores.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    if kind == "truth" or (kind is None and _is_json_truth(Path(path))):
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


def _is_json_truth(path: Path) -> bool:
    """Tell JSON lines of true labels from those of predictions, also where some of them are wrong."""
    try:
        head = first_bytes(path, _SNIFFED).removeprefix(UTF8_BOM).lstrip()
    except DataError:  # a pair of npy files by their stem, or what opening will tell
        return False
    return head.startswith(b"{") and _TARGETS.search(head) is not None
