"""Files that may be truth or predictions: opened as what their content allows, else as predictions."""

from __future__ import annotations

import re
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import claim_pipe, is_started
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import read_first_bytes
from xmceval.files.opened import Opened, Request
from xmceval.files.opening import open_as
from xmceval.files.sidecars.labelnames import Names

HEAD_BYTES = 1 << 20

_TARGETS = re.compile(rb'"target_ind"\s*:')


def open_either(
    path: str | Path, kind: str | None = None, *, names: Names | None = None, max_line: int = MAX_LINE
) -> Opened:
    """Open a file as `kind`, ``truth`` or ``scores``, or without it as whichever it can be.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    path = to_path(path)
    claim_pipe(path)
    truth, scores = Request("truth", names, max_line=max_line), Request("scores", names, max_line=max_line)
    if kind == "truth" or (kind is None and _is_json_truth(path)):
        return open_as(path, truth)
    try:
        return open_as(path, scores)
    except DataError as error:
        if kind == "scores" or is_started(path):
            raise
        try:
            return open_as(path, truth)
        except DataError:
            raise error from None


def _is_json_truth(path: Path) -> bool:
    """Return whether a file has JSON lines of true labels, even if some of them are wrong."""
    try:
        head = read_first_bytes(path, HEAD_BYTES).removeprefix(UTF8_BOM).lstrip()
    except DataError:  # a pair of npy files by their stem, or an error that opening reports
        return False
    return head.startswith(b"{") and _TARGETS.search(head) is not None
