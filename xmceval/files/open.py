"""Open a file with the reader of its format, which is detected from its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.errors import AmbiguousError, DataError, UsageError, listed
from xmceval.files.arrays.pairs import is_pair, open_npy, open_pair
from xmceval.files.io import signatures
from xmceval.files.io.paths import MAX_LINE, to_path
from xmceval.files.io.streams import quote, stored_at
from xmceval.files.opened import Head, Opened, Request, Role
from xmceval.files.ranking.detect import find_beir, find_by_query, find_qrels, find_run, find_short_run
from xmceval.files.ranking.dicts import read_records
from xmceval.files.ranking.queries import LineColumns, QuerySource, line_file
from xmceval.files.sidecars.label_names import Names, names_beside_ids
from xmceval.files.text.foreign import refuse_decimals, refuse_foreign, refuse_graded_features, refuse_headerless
from xmceval.files.text.source import BLANK, TextLayout, find_fasttext, find_json, find_rows, open_text

if TYPE_CHECKING:
    from xmceval.files.tables.open import HeaderLine
    from xmceval.files.tables.table import Table

ROLES: tuple[Role, Role] = ("truth", "scores")

_TARGETS, _TITLE = re.compile(rb'"target_ind"\s*:'), re.compile(rb"(?is)<title[^>]*>(.*?)</title")

_MULAN = re.compile(rb"<label\s+name\s*=")

_SAVE = "save the matrix with scipy.sparse.save_npz"
_RECODE = "convert it with iconv -f UTF-16 -t UTF-8"
REFUSED = {  # signatures of unsupported files, with their kind and a hint
    signatures.MATLAB: ("a MATLAB file", _SAVE),
    signatures.PICKLE: ("a pickle, which runs code when it is loaded", _SAVE),
    signatures.HDF5: ("an HDF5 file", _SAVE),
    signatures.EMPTY_ZIP: ("an empty zip archive", _SAVE),
    **dict.fromkeys(signatures.UTF16_BOMS, ("UTF-16 text", _RECODE)),
    signatures.LFS: ("a pointer of Git LFS, not the data", "git lfs pull"),
}
SIGNED = (
    *(signatures.ZIP, signatures.NPY, signatures.PARQUET, signatures.ARROW_FILE, signatures.ARROW_STREAM),
    *REFUSED,
)


def open_truth(path: str | Path, *, names: Names | None = None, max_line: int = MAX_LINE) -> Opened:
    """Open a file of truth or of training labels."""
    return open_source(path, Request("truth", names, max_line=max_line))


def open_source(path: str | Path | QuerySource | Table, request: Request) -> Opened:
    """Open a file, or records or a table in memory; refuse numeric labels if those of the truth are text."""
    if isinstance(path, QuerySource):
        from xmceval.files.ranking.runs import open_by_query

        opened = open_by_query(path, request)
    elif isinstance(path, (str, Path)):
        opened = _open(to_path(path), request)
    else:
        from xmceval.files.tables.open import open_table

        opened = open_table(path, request)
    truth = request.by_row
    if truth is not None and truth.labels is not None and (opened.by_row is None or opened.by_row.labels is None):
        raise names_beside_ids(truth.table.name, str(path))
    return opened


def check_kind(kind: str | None) -> None:
    """Refuse an unknown kind of file."""
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
    """Open a file as `kind`, ``truth`` or ``scores``; by default its content decides.

    With `is_alone` it is only described, and a TREC run has its own rows.
    """
    check_kind(kind)
    path = to_path(path)
    truth, scores = (
        Request(role, names, max_line=max_line, is_alone=is_alone, are_all_ids=are_all_ids) for role in ROLES
    )
    if kind is None:
        with suppress(DataError):  # a pair of npy files named by its stem, or an error that opening reports
            content = Head.of(path).content.removeprefix(signatures.UTF8_BOM).lstrip()
            if content.startswith(b"{") and _TARGETS.search(content):  # truth, even if some lines are wrong
                kind = "truth"
    if kind == "truth":
        return _open(path, truth)
    try:
        return _open(path, scores)
    except DataError as error:
        if kind == "scores" or isinstance(error, AmbiguousError):
            raise
        try:
            return _open(path, truth)
        except DataError:
            raise error from None


def _open(path: Path, request: Request) -> Opened:
    """Open a file, or a pipe that was copied before, according to a request."""
    if request.are_scores and is_pair(path):
        return open_pair(path, request)
    head = Head.of(path)
    if not head.content:
        raise DataError(f"{path}: the file is empty")
    opened = _open_signed(head, request) or _open_text(head, request)
    return replace(opened, is_copied=stored_at(path) != path)


def _open_signed(head: Head, request: Request) -> Opened | None:
    """Open a file that begins with the signature of its format, or refuse it; None for text."""
    signature = next((start for start in SIGNED if head.content.startswith(start)), None)
    if signature is None:
        return None
    if signature == signatures.ZIP:
        from xmceval.files.arrays.npz import open_npz

        return open_npz(head.path, request)
    if signature == signatures.NPY:
        return open_npy(head.path, request)
    if signature in REFUSED:
        name, hint = REFUSED[signature]
        raise DataError(f"{head.path}: is {name}; expected UTF-8 text, npz or npy (hint: {hint})")
    from xmceval.files.tables.open import open_table
    from xmceval.files.tables.table import file_table

    return open_table(file_table(head.path, "parquet" if signature == signatures.PARQUET else "arrow"), request)


def _open_text(head: Head, request: Request) -> Opened:
    """Open a text file as the first of the formats whose evidence it has, or else as rows of some kind."""
    content = head.content[head.start :].lstrip()
    if content[: max(map(len, signatures.PAGES))].lower().startswith(signatures.PAGES):
        if _MULAN.search(content):
            raise DataError(
                f"{head.path}: is XML with names of labels, as Mulan has it; expected rows (hint: the rows are in the "
                "ARFF file beside it)"
            )
        titled = _TITLE.search(content)
        title = f", titled {quote(b' '.join(titled[1].split()))}" if titled else ""
        raise DataError(f"{head.path}: is a web page{title}; expected data (hint: check the address it came from)")
    for reading in READINGS:
        evidence = reading.find(head, request)
        if evidence is not None:
            return reading.open(head, request, evidence)
    refuse_foreign(head, request)
    refuse_graded_features(head, request)
    if _may_have_header(head):
        from xmceval.files.tables.open import refuse_header

        refuse_header(head, request)
    refuse_headerless(head, request)
    return _open_rows(head, request)


def _open_lines(head: Head, request: Request, columns: LineColumns) -> Opened:
    """Open lines of query, document and grade or score."""
    from xmceval.files.ranking.runs import open_by_query

    return open_by_query(line_file(head.path, columns), request)


def _open_json(head: Head, request: Request, place: str) -> Opened:
    """Open JSON by query."""
    from xmceval.files.ranking.runs import open_by_query

    return open_by_query(read_records(head.path, place, "score" if request.are_scores else "grade"), request)


def _may_have_header(head: Head) -> bool:
    return bool(head.rows) and not head.rows[0].text[:1].isdigit()  # a header does not begin with a number


def _find_header(head: Head, request: Request) -> HeaderLine | None:
    """Return the header of a table as text, if its names are known."""
    if not _may_have_header(head):
        return None
    from xmceval.files.tables.open import find_header

    return find_header(head, request)


def _open_csv(head: Head, request: Request, header: HeaderLine) -> Opened:
    """Open a table as text."""
    from xmceval.files.tables.open import open_csv

    return open_csv(head, request, header)


def _open_rows(head: Head, request: Request, layout: TextLayout | None = None) -> Opened:
    """Open rows of labels in a layout that was recognised by a mark, or else is inferred."""
    if request.are_scores:
        refuse_decimals(head)
    if b"\0" in head.lines[0]:
        raise DataError(f"{head.path}: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy")
    if b"\r" in head.lines[0].rstrip():
        raise DataError(f"{head.path}: its lines end with carriage returns only; expected newlines")
    if head.is_whole and not head.content[head.start :].strip():
        raise DataError(f"{head.path}: {BLANK}")
    return open_text(head, request, layout or find_rows(head, request.names))


class Reading(NamedTuple):
    """A text format that the head of a file can show."""

    name: str
    find: Callable[[Head, Request], Any]  # returns evidence of the format, or None
    open: Callable[[Head, Request, Any], Opened]  # opens a file, given the evidence


# The first format with evidence in the file is taken; FORMATS describes the evidence in words. Any other text
# has rows, whose kind is found by the table KINDS.
READINGS = (
    Reading("run", find_run, _open_lines),
    Reading("beir", find_beir, _open_lines),
    Reading("qrels", find_qrels, _open_lines),
    Reading("json-queries", find_by_query, _open_json),
    Reading("csv", _find_header, _open_csv),
    Reading("short-run", find_short_run, _open_lines),
    Reading("json", find_json, _open_rows),
    Reading("fasttext-lists", partial(find_fasttext, are_lists=True), _open_rows),
    Reading("fasttext", partial(find_fasttext, are_lists=False), _open_rows),
)
