"""Open a file with the reader of its format, which is detected from its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from xmceval.errors import AmbiguousError, DataError, UsageError, listed
from xmceval.files.io import signatures
from xmceval.files.io.chunks import NUMBER
from xmceval.files.io.paths import MAX_LINE, is_pair, to_path
from xmceval.files.io.streams import quote, read_first_bytes, stored_at
from xmceval.files.opened import Head, Opened, Request, Role
from xmceval.files.ranking import queries
from xmceval.files.ranking.dicts import read_records
from xmceval.files.ranking.queries import LineColumns, QuerySource, line_file
from xmceval.files.sidecars.label_names import Names, names_beside_ids
from xmceval.files.text.foreign import refuse_decimals, refuse_foreign, refuse_headerless
from xmceval.files.text.grammars import FASTTEXT_PREFIX, NO_PREDICTION
from xmceval.files.text.source import BLANK, LINES_LOOKED_AT, TextLayout, find_rows, open_text

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

Reading: TypeAlias = Callable[[Head, Request], "Opened | None"]  # opens a file that has evidence of its format
ROLES: tuple[Role, Role] = ("truth", "scores")
LONGEST_LINE = 1 << 12  # bytes of a line to search for a tag
_TARGETS, _TITLE = re.compile(rb'"target_ind"\s*:'), re.compile(rb"(?is)<title[^>]*>(.*?)</title")
_MULAN = re.compile(rb"<label\s+name\s*=")
_INTEGER = re.compile(rb"[-+]?\d+")
_GRADE = re.compile(rb"[-+]?\d+(\.\d*)?")  # fractions are refused later, when they are read
_BY_QUERY = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_BY_LINE = re.compile(rb'\s*\{\s*"query_id"\s*:')
_FASTTEXT_LABEL = re.compile(rb"(?:\A|[ \t])__label__")
_FASTTEXT_LIST = re.compile(rb"__label__\S*(?:[ \t]+__label__\S*)*\Z")
_JSON_ROW = re.compile(rb'"row"\s*:\s*(\d+)')
_JSON_IDS = re.compile(rb'"(?:label"\s*:|(?:target_ind|data)"\s*:\s*\[[\s\[]*)\s*\d')


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
    """Open a file as `kind`, by default as its content decides; with `is_alone`, only to describe it."""
    check_kind(kind)
    path = to_path(path)
    truth, scores = (
        Request(role, names, max_line=max_line, is_alone=is_alone, are_all_ids=are_all_ids) for role in ROLES
    )
    if kind is None:
        with suppress(DataError):  # a pair of npy files named by its stem, or an error that opening reports
            content = Head.of(path).text.lstrip()
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
        from xmceval.files.arrays.pairs import open_pair

        return open_pair(path, request)
    head = Head.of(path)
    if not head.content:
        raise DataError(f"{path}: the file is empty")
    open_signed = (opener for signature, opener in SIGNED.items() if head.content.startswith(signature))
    opened = next(open_signed, _open_text)(head, request)
    return replace(opened, is_copied=stored_at(path) != path)


def _open_npz(head: Head, request: Request) -> Opened:
    from xmceval.files.arrays.npz import open_npz

    return open_npz(head.path, request)


def _open_npy(head: Head, request: Request) -> Opened:
    from xmceval.files.arrays.pairs import open_npy

    return open_npy(head.path, request)


def _open_table(name: str, head: Head, request: Request) -> Opened:
    from xmceval.files.tables.open import open_table
    from xmceval.files.tables.table import file_table

    return open_table(file_table(head.path, name), request)


def _refuse(what: str, hint: str, head: Head, _: Request) -> Opened:
    raise DataError(f"{head.path}: is {what}; expected UTF-8 text, npz or npy (hint: {hint})")


# What is done with a file that begins with the signature of its format.
SIGNED: Mapping[bytes, Callable[[Head, Request], Opened]] = MappingProxyType(
    {
        signatures.ZIP: _open_npz,
        signatures.NPY: _open_npy,
        **{signature: partial(_open_table, name) for signature, name in signatures.TABLES.items()},
        **{
            signature: partial(_refuse, what, "save the matrix with scipy.sparse.save_npz")
            for signature, what in (
                (signatures.MATLAB, "a MATLAB file"),
                (signatures.PICKLE, "a pickle, which runs code when it is loaded"),
                (signatures.HDF5, "an HDF5 file"),
                (signatures.EMPTY_ZIP, "an empty zip archive"),
            )
        },
        **dict.fromkeys(
            signatures.UTF16_BOMS, partial(_refuse, "UTF-16 text", "convert it with iconv -f UTF-16 -t UTF-8")
        ),
        signatures.LFS: partial(_refuse, "a pointer of Git LFS, not the data", "git lfs pull"),
    }
)


def _open_text(head: Head, request: Request) -> Opened:
    """Open a text file as the first of the formats whose evidence it has, or else as rows of some kind."""
    content = head.text.lstrip()
    if content[: max(map(len, signatures.PAGES))].lower().startswith(signatures.PAGES):
        if _MULAN.search(content):
            raise DataError(
                f"{head.path}: is XML with names of labels, as Mulan has it; expected rows (hint: the rows are in the "
                "ARFF file beside it)"
            )
        titled = _TITLE.search(content)
        title = f", titled {quote(b' '.join(titled[1].split()))}" if titled else ""
        raise DataError(f"{head.path}: is a web page{title}; expected data (hint: check the address it came from)")
    for open_if_evident in READINGS.values():
        opened = open_if_evident(head, request)
        if opened is not None:
            return opened
    refuse_foreign(head, request)
    if _may_have_header(head):
        from xmceval.files.tables.open import refuse_header

        refuse_header(head, request)
    refuse_headerless(head, request)
    return _open_rows(head, request)


def _open_run(head: Head, request: Request) -> Opened | None:
    """Open a TREC run if most of the first lines match; other lines are reported later."""
    rows, n_of_run = [row.fields for row in head.rows], 0
    for row in rows:
        if len(row) >= 5 and row[1].upper() == b"Q0":
            n_of_run += 1
        elif len(row) >= 6 and (row[1] == b"0" or request.judgments is not None):
            # without Q0, a tag or a score distinguishes it from a list of ids
            is_ranked = _INTEGER.fullmatch(row[3]) and NUMBER.fullmatch(row[4])
            n_of_run += bool(is_ranked) and not all(map(_INTEGER.fullmatch, row[:6]))
    if 2 * n_of_run <= len(rows):
        return None
    return _open_lines(head, request, queries.RUN if any(len(row) > 5 for row in rows) else queries.UNTAGGED)


def _open_beir(head: Head, request: Request) -> Opened | None:
    """Open BEIR qrels, recognised by their header."""
    header = head.rows[0].text if head.rows else b""
    is_beir = [field.strip().lower() for field in header.split(b"\t")] == queries.BEIR.names.encode().split()
    return _open_lines(head, request, queries.BEIR) if is_beir else None


def _open_qrels(head: Head, request: Request) -> Opened | None:
    """Open qrels if most lines can be nothing else, or, for truth, if all lines match."""
    rows = [row.fields for row in head.rows]
    grade = _INTEGER if request.are_scores else _GRADE
    graded = [row for row in rows if len(row) == 4 and grade.fullmatch(row[3])]
    usual = [row for row in graded if row[1].upper() in {b"0", b"Q0"}]
    if request.are_scores or not len(usual) == len(rows) > 1:
        if not rows or request.are_names(rows[0]):
            return None
        certain = sum(not row[0].isdigit() or not row[2].isdigit() for row in usual)
        certain += sum(
            bool(NUMBER.fullmatch(row[1])) and row[1] != b"0" and not NUMBER.fullmatch(row[2]) for row in graded
        )
        if 2 * certain <= len(rows):
            return None
    return _open_lines(head, request, queries.QRELS)


def _open_json_by_query(head: Head, request: Request) -> Opened | None:
    """Open JSON with queries as keys of one object, or with one query per line."""
    if _BY_QUERY.match(head.text):
        place = "keys"
    elif _BY_LINE.match(head.text) and b'"results"' in head.text:
        place = "lines"
    else:
        return None
    from xmceval.files.ranking.runs import open_by_query

    return open_by_query(read_records(head.path, place, "score" if request.are_scores else "grade"), request)


def _may_have_header(head: Head) -> bool:
    return bool(head.rows) and not head.rows[0].text[:1].isdigit()  # a header does not begin with a number


def _open_csv(head: Head, request: Request) -> Opened | None:
    """Open a table as text, if the names in its header are known."""
    if not _may_have_header(head):
        return None
    from xmceval.files.tables.open import open_csv

    return open_csv(head, request)


def _open_short_run(head: Head, request: Request) -> Opened | None:
    """Open headerless lines of query, document and rank or score, which only judgments show to be a run."""
    rows = [row.fields for row in head.rows]
    if request.judgments is None or not request.are_scores or not rows or len(rows[0]) not in {3, 4}:
        return None
    if any(len(row) != len(rows[0]) or not NUMBER.fullmatch(row[-1]) for row in rows):
        return None
    if len(rows[0]) == 4:
        return _open_lines(head, request, queries.RANKED_AND_SCORED) if _are_ranks(rows) else None
    if not all(_INTEGER.fullmatch(row[2]) for row in rows):
        return _open_lines(head, request, queries.SCORED)
    if _are_ranks(rows):
        return _open_lines(head, request, queries.RANKED)
    # Ranks are 1, 2, ... for each query, as in runs of MS MARCO; other whole numbers could also be scores.
    raise DataError(
        f"{head.path}: the third column may have ranks or scores, as it has whole numbers that are not 1, 2, ... for "
        "each query (hint: write a first line 'query_id document_id rank' or 'query_id document_id score' between tabs)"
    )


def _are_ranks(rows: Sequence[list[bytes]]) -> bool:
    """Return whether the third words of each query's lines are 1, 2, ... or 0, 1, ... in any order."""
    if not all(row[2].isdigit() for row in rows):
        return False
    ranks: dict[bytes, list[int]] = {}
    for row in rows:
        ranks.setdefault(row[0], []).append(int(row[2]))
    first = min(min(of_query) for of_query in ranks.values())
    return first in {0, 1} and all(
        sorted(of_query) == list(range(first, first + len(of_query))) for of_query in ranks.values()
    )


def _open_lines(head: Head, request: Request, columns: LineColumns) -> Opened:
    """Open lines of query, document and grade or score."""
    from xmceval.files.ranking.runs import open_by_query

    return open_by_query(line_file(head.path, columns), request)


def find_tag(path: Path) -> str | None:
    """Return the tag in the first line of a run; None if there is no tag, or it cannot be read."""
    try:
        words = read_first_bytes(path, LONGEST_LINE).split(b"\n", 1)[0].split()
    except (DataError, OSError):
        return None
    is_run = len(words) == 6 and words[1].upper() == b"Q0"
    return words[5].decode(errors="replace") if is_run else None


def _open_json_lines(head: Head, request: Request) -> Opened | None:
    """Open JSON lines."""
    lines = head.lines[:LINES_LOOKED_AT]
    first = next((row for line in lines if (row := line.strip())), b"")
    if not first.startswith((b"{", b"[")):
        return None
    if len(set(_JSON_ROW.findall(first))) > 1:  # records of a table, not the labels of one row
        raise DataError(f'{head.path}: its first line has objects of several "row"; expected one row per line')
    are_ids = any(map(_JSON_IDS.search, lines))
    return _open_rows(head, request, TextLayout("json", head.start, names=request.names, are_ids=are_ids))


def _open_fasttext(head: Head, request: Request, *, are_lists: bool) -> Opened | None:
    """Open rows, or lists, of __label__name."""
    rows = [row for line in head.lines[:LINES_LOOKED_AT] if (row := line.strip())]
    if not any(FASTTEXT_PREFIX in row and _FASTTEXT_LABEL.search(row) for row in rows):
        return None
    if are_lists and not all(row == NO_PREDICTION or _FASTTEXT_LIST.match(row) for row in rows):
        return None
    kind = "fasttext-lists" if are_lists else "fasttext"
    return _open_rows(head, request, TextLayout(kind, head.start, names=request.names))


def _open_rows(head: Head, request: Request, layout: TextLayout | None = None) -> Opened:
    """Open rows of labels in a layout that was recognised by a mark, or else is inferred."""
    if request.are_scores:
        refuse_decimals(head)
    if b"\0" in head.lines[0]:
        raise DataError(f"{head.path}: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy")
    if b"\r" in head.lines[0].rstrip():
        raise DataError(f"{head.path}: its lines end with carriage returns only; expected newlines")
    if head.is_whole and not head.text.strip():
        raise DataError(f"{head.path}: {BLANK}")
    return open_text(head, request, layout or find_rows(head, request.names))


# The first format with evidence in the file is taken; FORMATS describes the evidence in words. Any other text
# has rows, whose kind is found by the table KINDS.
READINGS: Mapping[str, Reading] = MappingProxyType(
    {
        "run": _open_run,
        "beir": _open_beir,
        "qrels": _open_qrels,
        "json-queries": _open_json_by_query,
        "csv": _open_csv,
        "short-run": _open_short_run,
        "json": _open_json_lines,
        "fasttext-lists": partial(_open_fasttext, are_lists=True),
        "fasttext": partial(_open_fasttext, are_lists=False),
    }
)
