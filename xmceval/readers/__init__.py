"""The door: tells what kind of file a path is, by its content, and opens it as a source of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmceval.blocks import Float64, Source
from xmceval.errors import DataError
from xmceval.readers.arrays import is_pair, npz_source, pair_source
from xmceval.readers.streams import first_bytes
from xmceval.readers.text import TextSource, sniff


@dataclass(frozen=True)
class Opened:
    """A source, and what was inferred of its file."""

    source: Source
    description: str


@dataclass(frozen=True)
class Binary:
    """A kind of file that its first bytes tell; `mend` says what to do where it is refused."""

    magic: bytes
    what: str
    open: Callable[..., Source] | None = None
    mend: str = ""


BINARIES = (
    Binary(b"PK\x03\x04", "npz, scipy.sparse matrix", npz_source),
    Binary(
        b"\x93NUMPY", "npy, one array", mend="give the pair NAME-labels.npy and NAME-scores.npy, or NAME itself"
    ),
    Binary(b"\x80", "a pickle", mend="a pickle runs code when it is read; write it with scipy.sparse.save_npz"),
    Binary(b"\x89HDF", "an HDF5 file", mend="write the matrix with scipy.sparse.save_npz"),
)


def open_truth(path: str | Path) -> Opened:
    """Open a truth file or a file of training labels.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    return _open(Path(path), are_scores=False)


def open_scores(path: str | Path) -> Opened:
    """Open a file of predictions, or a pair of files by either name or their stem.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    if is_pair(Path(path)):
        return Opened(pair_source(Path(path)), "npy pair, labels and scores")
    opened = _open(Path(path), are_scores=True)
    if isinstance(opened.source, TextSource) and opened.source.layout.kind == "labels":
        raise DataError(
            f"{path}: rows of labels with features ({opened.description}); expected predictions as rows of idx:score"
        )
    return opened


def _open(path: Path, *, are_scores: bool) -> Opened:
    head = first_bytes(path, 64)
    for kind in BINARIES:
        if head.startswith(kind.magic):
            if kind.open is None:
                raise DataError(f"{path}: this is {kind.what}; {kind.mend}")
            return Opened(kind.open(path, are_scores=are_scores), kind.what)
    layout = sniff(path)
    return Opened(TextSource(path, layout), layout.description)


def read_numbers(path: str | Path) -> Float64:
    """Read one number a line, or an npy array of one dimension: counts or inverse propensities by label.

    Raises
    ------
    DataError
        A line that is no number, with its place.
    """
    path = Path(path)
    head = first_bytes(path, 64)
    if head.startswith(b"\x93NUMPY"):
        array = np.load(path, allow_pickle=False)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise DataError(f"{path}: expected one number a label, got shape {array.shape} of {array.dtype}")
        return array.astype(np.float64)
    from xmceval.readers.streams import open_bytes

    with open_bytes(path) as stream:
        lines = stream.read().split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    values = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            values[i] = float(line)
        except ValueError:
            shown = line.strip()[:40].decode(errors="backslashreplace")
            raise DataError(f"{path}:{i + 1}: expected one number a line, found {shown!r}") from None
    return values
