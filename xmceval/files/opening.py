"""Opening files: the content tells the kind of file, and a reader of that kind returns a source of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.arrays.npypairs import is_pair, open_npy, open_pair
from xmceval.files.io import signatures
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import claim_pipe, copy_pipe, is_copied
from xmceval.files.io.streams import read_first_bytes
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.trec import open_trec
from xmceval.files.records.jsonarray import open_json_array
from xmceval.files.records.matrixmarket import open_matrix_market
from xmceval.files.records.triples import open_triples
from xmceval.files.sidecars.labelnames import Names
from xmceval.files.text.textsource import open_text

HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class BinaryKind:
    """A kind of file with a signature: either `open` reads it, or it is refused with a hint."""

    signature: bytes
    name: str
    open: Callable[[Path, Request], Opened] | None = None
    hint: str = ""


def _open_npz(path: Path, request: Request) -> Opened:
    from xmceval.files.arrays.npz import open_npz

    return open_npz(path, request)


def _open_mat(path: Path, request: Request) -> Opened:
    from xmceval.files.arrays.mat import open_mat

    return open_mat(path, request)


def _open_parquet(path: Path, request: Request) -> Opened:
    from xmceval.files.records.parquet import open_parquet

    return open_parquet(path, request)


_SAVE = "save the matrix with scipy.sparse.save_npz"
_RECODE = "convert it with iconv -f UTF-16 -t UTF-8"

BINARY_KINDS = (
    BinaryKind(signatures.ZIP, "an npz file", _open_npz),
    BinaryKind(signatures.NPY, "an npy file", open_npy),
    BinaryKind(signatures.MATLAB, "a MATLAB file", _open_mat),
    BinaryKind(signatures.PARQUET, "a Parquet file", _open_parquet),
    BinaryKind(signatures.PICKLE, "a pickle, which runs code when it is loaded", hint=_SAVE),
    BinaryKind(signatures.HDF5, "an HDF5 file", hint=_SAVE),
    BinaryKind(signatures.EMPTY_ZIP, "an empty zip archive", hint=_SAVE),
    *(BinaryKind(bom, "UTF-16 text", hint=_RECODE) for bom in signatures.UTF16_BOMS),
)


def open_truth(
    path: str | Path, *, names: Names | None = None, n_labels: int | None = None, max_line: int = MAX_LINE
) -> Opened:
    """Open a truth file or a file of training labels.

    Parameters
    ----------
    path : path
        A file, or a pipe such as ``-``, standard input, which is copied to a temporary file.
    names : Names, optional
        Label names, for files that have them instead of ids.
    n_labels : int, optional
        The expected number of labels, for files that may be transposed.
    max_line : int
        The longest line of a text file, in MiB.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    path = to_path(path)
    claim_pipe(path)
    return open_as(path, Request("truth", names, n_labels=n_labels, max_line=max_line))


def open_scores(
    path: str | Path,
    *,
    names: Names | None = None,
    n_rows: int | None = None,
    n_labels: int | None = None,
    judgments: Judgments | None = None,
    ties: str = "label",
    max_line: int = MAX_LINE,
) -> Opened:
    """Open a file of predictions, or a pair of files by either name or their stem.

    Parameters
    ----------
    path : path
        A file, or a pipe such as ``-``, standard input.
    names : Names, optional
        Label names, for files that have them instead of ids.
    n_rows, n_labels : int, optional
        The expected size, for files that may be transposed.
    judgments : Judgments, optional
        Those of the truth, for predictions in the ranking field's formats.
    ties : str
        The rule for equal scores; with ``label``, those of TREC runs are put into the order of trec_eval.
    max_line : int
        The longest line of a text file, in MiB.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    path = to_path(path)
    request = Request("scores", names, n_rows, n_labels, judgments, ties, max_line)
    claim_pipe(path)
    return open_as(path, request)


def open_as(path: Path, request: Request) -> Opened:
    """Open a file, or a pipe that was claimed before, as what a request says.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    if request.are_scores and is_pair(path):
        return open_pair(path, request)
    if not request.are_scores:  # truth may be read several times
        copy_pipe(path)
    opened = _open(path, request)
    return replace(opened, is_copied=is_copied(path))


def _open(path: Path, request: Request) -> Opened:
    head = read_first_bytes(path, HEAD_BYTES)
    if not head:
        raise DataError(f"{path}: the file is empty")
    for kind in BINARY_KINDS:
        if head.startswith(kind.signature):
            if kind.open is None:
                raise DataError(f"{path}: is {kind.name}; expected UTF-8 text, npz or npy (hint: {kind.hint})")
            return kind.open(path, request)
    is_whole = len(head) < HEAD_BYTES
    return (
        open_matrix_market(path, request, head)
        or open_json_array(path, request, head)
        or open_trec(path, request, head, is_whole=is_whole)
        or open_triples(path, request, head, is_whole=is_whole)
        or open_text(path, request)
    )
