"""Opening files: READERS are tried in turn, and the one that recognizes the content returns a source of rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xmceval.errors import AmbiguousError, DataError, UsageError, listed
from xmceval.files.arrays.npypairs import is_pair, open_npy, open_pair
from xmceval.files.io import signatures
from xmceval.files.io.inputfiles import input_at
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import take_pipe
from xmceval.files.io.streams import quote, read_first_bytes
from xmceval.files.opened import Head, Opened, Request, Role
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.kinds import open_short_run, open_trec, refuse_graded_features
from xmceval.files.ranking.recordlines import Records
from xmceval.files.sidecars.labelnames import Names, names_beside_ids
from xmceval.files.text.textsource import open_text

if TYPE_CHECKING:
    from xmceval.files.tables.rownumbers import ByRow
    from xmceval.files.tables.table import Table

HEAD_BYTES = 1 << 16

JSON_HEAD_BYTES = 1 << 20

LINES_LOOKED_AT = 1000  # for a word with a colon

ROLES: tuple[Role, Role] = ("truth", "scores")

_TARGETS, _TITLE = re.compile(rb'"target_ind"\s*:'), re.compile(rb"(?is)<title[^>]*>(.*?)</title")

_PAIR = re.compile(rb"[ \t,;][^ \t,;]*:").search  # a word with a colon that is not the first


def open_truth(
    path: str | Path | Records | Table,
    *,
    names: Names | None = None,
    kept: Judgments | None = None,
    are_ids: bool = False,
    by_row: ByRow | None = None,
    max_line: int = MAX_LINE,
) -> Opened:
    """Open a truth file or a file of training labels.

    Parameters
    ----------
    path : path, Records or Table
        A file, or a pipe such as ``-``, standard input, which is copied to a temporary file.
    names : Names, optional
        Label names, for files that have them instead of ids.
    kept : Judgments, optional
        The queries that are kept, of a truth that has queries.
    are_ids : bool
        Whether documents are label ids, since other inputs are by label.
    by_row : ByRow, optional
        The truth, if it is a table by row, for training labels.
    max_line : int
        The longest line of a text file, in MiB.
    """
    request = Request("truth", names, judgments=kept, by_row=by_row, are_ids=are_ids, max_line=max_line)
    return _open_any(path, request)


def open_scores(
    path: str | Path | Records | Table,
    *,
    names: Names | None = None,
    n_rows: int | None = None,
    n_labels: int | None = None,
    judgments: Judgments | None = None,
    by_row: ByRow | None = None,
    ties: str = "label",
    missing: str = "zero",
    are_all_ids: bool | None = None,
    n_seen: int | None = None,
    max_line: int = MAX_LINE,
) -> Opened:
    """Open a file of predictions, or a pair of files by either name or their stem.

    Parameters
    ----------
    path : path, Records or Table
        A file, or a pipe such as ``-``, standard input.
    names : Names, optional
        Label names, for files that have them instead of ids.
    n_rows, n_labels : int, optional
        The expected size, for files that do not declare it.
    judgments : Judgments, optional
        Those of the truth, for predictions in the ranking field's formats.
    by_row : ByRow, optional
        The truth, if it is a table by row.
    ties : str
        The rule for equal scores; with ``label``, those of TREC runs are put into the order of trec_eval.
    missing : str
        The rule for queries that only one of truth and predictions has.
    are_all_ids : bool
        Whether whole numbers that may be ids of labels or scores are ids.
    n_seen : int, optional
        One more than the largest label of a truth that does not declare their number.
    max_line : int
        The longest line of a text file, in MiB.
    """
    request = Request(
        "scores",
        names,
        n_rows,
        n_labels,
        judgments,
        by_row,
        ties,
        max_line,
        missing=missing,
        are_all_ids=are_all_ids,
        n_seen=n_seen,
    )
    return _open_any(path, request)


def _open_any(path: str | Path | Records | Table, request: Request) -> Opened:
    """Open a file or what is in memory, and refuse numbers of labels beside labels that are text."""
    if isinstance(path, (str, Path)):
        path = to_path(path)
        take_pipe(path)
        opened = open_as(path, request)
    else:
        opened = _open_in_memory(path, request)
    truth = request.by_row
    if truth is not None and truth.labels is not None and (opened.by_row is None or opened.by_row.labels is None):
        raise names_beside_ids(truth.table.name, str(path))
    return opened


def _open_in_memory(value: Records | Table, request: Request) -> Opened:
    """Open grades or scores of other libraries' objects."""
    if isinstance(value, Records):
        from xmceval.files.ranking.trec import open_by_query

        return open_by_query(value, request)
    from xmceval.files.tables.opening import open_table

    return open_table(value, request)


def check_kind(kind: str | None) -> None:
    """Refuse a kind of file that is none."""
    if kind not in {None, *ROLES}:
        raise UsageError(f"kind must be one of {listed(ROLES)}, got {kind!r}")


def open_either(
    path: str | Path,
    kind: str | None = None,
    *,
    names: Names | None = None,
    max_line: int = MAX_LINE,
    is_alone: bool = False,
    are_all_ids: bool | None = None,
) -> Opened:
    """Open a file as `kind`, ``truth`` or ``scores``, or without it as whichever it can be.

    With `is_alone` it is only described, so a TREC run has rows of its own.
    """
    check_kind(kind)
    path = to_path(path)
    take_pipe(path)
    truth, scores = (
        Request(role, names, max_line=max_line, is_alone=is_alone, are_all_ids=are_all_ids) for role in ROLES
    )
    if kind == "truth" or (kind is None and _is_json_truth(path)):
        return open_as(path, truth)
    try:
        return open_as(path, scores)
    except DataError as error:
        if kind == "scores" or isinstance(error, AmbiguousError):
            raise
        try:
            return open_as(path, truth)
        except DataError:
            raise error from None


def open_as(path: Path, request: Request) -> Opened:
    """Open a file, or a pipe that was taken before, as what a request says."""
    if request.are_scores and is_pair(path):
        return open_pair(path, request)
    opened = _open(path, request)
    return replace(opened, is_copied=input_at(path).is_copied)


def _open(path: Path, request: Request) -> Opened:
    content = read_first_bytes(path, HEAD_BYTES)
    if not content:
        raise DataError(f"{path}: the file is empty")
    head = Head(path, content, is_whole=len(content) < HEAD_BYTES)
    readers = (reader.open for reader in READERS if content.startswith(reader.signature))
    return next(opened for open_file in readers if (opened := open_file(head, request)) is not None)


def _is_json_truth(path: Path) -> bool:
    """Return whether a file has JSON lines of true labels, even if some of them are wrong."""
    try:
        head = read_first_bytes(path, JSON_HEAD_BYTES).removeprefix(signatures.UTF8_BOM).lstrip()
    except DataError:  # a pair of npy files by their stem, or an error that opening reports
        return False
    return head.startswith(b"{") and _TARGETS.search(head) is not None


class Reader(NamedTuple):
    """A reader of one or more formats, for files that begin with a signature.

    `open` returns None for a file of another format, or refuses it with a hint.
    """

    signature: bytes
    open: Callable[[Head, Request], Opened | None]


def _open_npz(head: Head, request: Request) -> Opened:
    from xmceval.files.arrays.npz import open_npz

    return open_npz(head.path, request)


def _open_npy(head: Head, request: Request) -> Opened:
    return open_npy(head.path, request)


def _open_json_queries(head: Head, request: Request) -> Opened | None:
    from xmceval.files.ranking.jsonruns import open_json_queries

    return open_json_queries(head, request)


def _open_parquet(head: Head, request: Request) -> Opened:
    from xmceval.files.tables.opening import open_parquet

    return open_parquet(head, request)


def _open_arrow(head: Head, request: Request) -> Opened:
    from xmceval.files.tables.opening import open_arrow

    return open_arrow(head, request)


def _open_csv(head: Head, request: Request) -> Opened | None:
    if head.first_line[1].lstrip()[:1].isdigit():  # no header has a number first
        return None
    from xmceval.files.tables.opening import open_csv

    return open_csv(head, request)


def _refuse_headerless(head: Head, request: Request) -> None:
    stripped = map(bytes.strip, head.lines[:LINES_LOOKED_AT])
    filled = [line for line in stripped if line and not line.startswith(b"#")]
    if any(map(_PAIR, filled[1:])):  # rows of idx:value
        return
    from xmceval.files.tables.headerless import refuse_headerless

    refuse_headerless(head, request)


def _open_text(head: Head, request: Request) -> Opened:
    return open_text(head.path, request)


def _refuse(name: str, hint: str) -> Callable[[Head, Request], None]:
    def refuse(head: Head, _: Request) -> None:
        raise DataError(f"{head.path}: is {name}; expected UTF-8 text, npz or npy (hint: {hint})")

    return refuse


def _refuse_pages(head: Head, _: Request) -> None:
    """Refuse a page, such as a server's message that was downloaded instead of data."""
    content = head.content.removeprefix(signatures.UTF8_BOM).lstrip()
    if content[: max(map(len, signatures.PAGES))].lower().startswith(signatures.PAGES):
        found = _TITLE.search(content)
        title = f", titled {quote(b' '.join(found[1].split()))}" if found else ""
        raise DataError(f"{head.path}: is a web page{title}; expected data (hint: check the address it came from)")


_SAVE = "save the matrix with scipy.sparse.save_npz"
_RECODE = "convert it with iconv -f UTF-16 -t UTF-8"

READERS = (  # in the order in which they are tried: the last one reads any text
    Reader(signatures.ZIP, _open_npz),
    Reader(signatures.NPY, _open_npy),
    Reader(signatures.MATLAB, _refuse("a MATLAB file", _SAVE)),
    Reader(signatures.PARQUET, _open_parquet),
    Reader(signatures.ARROW_FILE, _open_arrow),
    Reader(signatures.ARROW_STREAM, _open_arrow),
    Reader(signatures.PICKLE, _refuse("a pickle, which runs code when it is loaded", _SAVE)),
    Reader(signatures.HDF5, _refuse("an HDF5 file", _SAVE)),
    Reader(signatures.EMPTY_ZIP, _refuse("an empty zip archive", _SAVE)),
    *(Reader(mark, _refuse("UTF-16 text", _RECODE)) for mark in signatures.UTF16_BOMS),
    Reader(signatures.LFS, _refuse("a pointer of Git LFS, not the data", "git lfs pull")),
    Reader(b"", _refuse_pages),
    Reader(b"", refuse_graded_features),
    Reader(b"", open_trec),
    Reader(b"", _open_json_queries),
    Reader(b"", _open_csv),
    Reader(b"", open_short_run),
    Reader(b"", _refuse_headerless),
    Reader(b"", _open_text),
)
