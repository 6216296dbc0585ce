"""TREC qrels and runs: rows are queries, labels are documents; a line is a comment only if it begins with ``#``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.files.arrays.csr import coo_to_csr
from xmceval.files.formats.format import Format
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import quote, read_first_bytes
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.ranking.judgments import Documents, Judgments
from xmceval.files.ranking.letor import open_letor, open_score_column, read_number
from xmceval.rows.block import Float64, Int64
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr


class Lines(NamedTuple):
    """The lines of a file: queries, documents, and their grades or scores."""

    queries: list[bytes]
    documents: list[bytes]
    values: Float64
    numbers: list[int]

    def of_queries(self, queries: Mapping[bytes, int]) -> Lines:
        """Return the lines of some queries."""
        kept = [query in queries for query in self.queries]
        if all(kept):
            return self
        documents, numbers = list(compress(self.documents, kept)), list(compress(self.numbers, kept))
        return Lines(list(compress(self.queries, kept)), documents, self.values[kept], numbers)


class LineColumns(NamedTuple):
    """The columns of a kind of file; queries come first."""

    names: str
    document: int
    value: int
    separator: bytes | None = None  # None: blanks


QRELS, RUN = LineColumns("query 0 document grade", 2, 3), LineColumns("query Q0 document rank score tag", 2, 4)
BEIR = LineColumns("query-id corpus-id score", 1, 2, separator=b"\t")

LONGEST_LINE = 1 << 12  # bytes, of a line whose tag is looked for

_INTEGER, _NUMBER = re.compile(rb"[-+]?\d+"), re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def open_trec(head: Head, request: Request) -> Opened | None:
    """Open a file of the ranking field; return None if it is not one."""
    open_file = _OPENERS.get(detect_format(head.lines, request))
    if open_file is not None:
        return open_file(head.path, request)
    if request.judgments is not None and request.judgments.documents is None:
        return open_score_column(head.path, request.judgments)
    return None


def detect_format(lines: Sequence[bytes], request: Request) -> str:
    """Return ``qrels``, ``beir``, ``run`` or ``letor`` by the first lines of a file, or an empty string."""
    filled = [line for line in lines[:1000] if line.strip() and not line.lstrip().startswith(b"#")]
    rows = [line.split(None, 6) for line in filled]
    if not rows:
        return ""
    if all(len(row) >= 2 and row[1].startswith(b"qid:") for row in rows):
        return "letor"
    is_joined = request.judgments is not None and request.judgments.documents is not None
    if 2 * sum(_is_of_run(row, is_joined=is_joined) for row in rows) > len(rows):  # bad lines are reported later
        return "run"
    if _is_beir_header(filled[0]):
        return "beir"
    return "qrels" if _are_qrels(rows, request) else ""


def _is_of_run(row: list[bytes], *, is_joined: bool) -> bool:
    """Return whether a line is of a run; without Q0, a tag or a score tells it from a list of ids."""
    if len(row) < 6:
        return False
    if row[1].upper() == b"Q0":
        return True
    if not (row[1] == b"0" or is_joined) or not _INTEGER.fullmatch(row[3]) or not _NUMBER.fullmatch(row[4]):
        return False
    return not all(_INTEGER.fullmatch(word) for word in row[:6])


def _are_qrels(rows: list[list[bytes]], request: Request) -> bool:
    """Return whether most lines can only be of qrels; in truth also whether all can be, with 0 in the second column."""
    if request.names is not None and request.names.has_all(rows[0]):
        return False
    graded = [row for row in rows if len(row) == 4 and _INTEGER.fullmatch(row[3])]
    usual = [row for row in graded if row[1].upper() in {b"0", b"Q0"}]
    if len(usual) == len(rows) > 1 and not request.are_scores:
        return True
    certain = sum(not row[0].isdigit() or not row[2].isdigit() for row in usual)
    certain += sum(
        bool(_NUMBER.fullmatch(row[1])) and row[1] != b"0" and not _NUMBER.fullmatch(row[2]) for row in graded
    )
    return 2 * certain > len(rows)


def _is_beir_header(line: bytes) -> bool:
    return [field.strip().lower() for field in line.split(b"\t")] == BEIR.names.encode().split()


def find_tag(path: Path) -> str | None:
    """Return the tag in the first line of a run; None where it is none, or cannot be read."""
    try:
        words = read_first_bytes(path, LONGEST_LINE).split(b"\n", 1)[0].split()
    except (DataError, OSError):
        return None
    is_run = len(words) == 6 and words[1].upper() == b"Q0"
    return words[5].decode(errors="replace") if is_run else None


def open_qrels(path: Path, request: Request, columns: LineColumns = QRELS) -> Opened:
    """Read judgments; queries become rows in the order in which they first appear, grades below 0 become 0.

    Raises
    ------
    DataError
        Another line, with its place.
    """
    if request.are_scores:
        raise DataError(f"{path}: looks like TREC qrels, which hold truth; expected predictions, such as a TREC run")
    lines = _read_lines(path, columns)
    documents = Documents.of(lines.documents, request.names)
    queries = _number(lines.queries)
    is_negative = lines.values < 0
    lines.values[is_negative] = 0
    csr = _to_csr(path, lines, queries, documents)
    form = FORMATS["beir" if columns is BEIR else "qrels"]
    opened = _held(path, csr, form, [form.title, f"documents {documents.meaning}"], request)
    if is_negative.any():
        n = int(np.count_nonzero(is_negative))
        treatment = "counts" if n == 1 else "count"
        opened.source.warnings.append(f"{path}: {counted(n, 'grade')} below 0 {treatment} as not relevant")
    return replace(opened, judgments=Judgments(str(path), queries, csr.indptr, documents))


def open_beir(path: Path, request: Request) -> Opened:
    """Read judgments below the header of BEIR's qrels.tsv."""
    return open_qrels(path, request, BEIR)


def open_run(path: Path, request: Request) -> Opened:
    """Read ``query Q0 document rank score tag`` lines and put them into the order of the judged queries.

    The second and the fourth column are not read. Equal scores are put into the order of trec_eval.

    Raises
    ------
    DataError
        Another line, with its place; a run as truth, or a run whose truth is not a qrels file.
    """
    if not request.are_scores:
        raise DataError(f"{path}: is a TREC run, which holds predictions; expected truth, such as TREC qrels")
    if request.is_alone:
        return _open_own_run(path, request)
    judgments = request.judgments
    if judgments is None or judgments.documents is None:
        raise DataError(
            f"{path}: is a TREC run, so the truth must be TREC qrels (hint: their lines are {QRELS.names!r})"
        )
    lines, form = _read_lines(path, RUN), FORMATS["run"]
    facts = [form.title]
    judged = lines.of_queries(judgments.queries)
    if request.ties == "label":
        n_tied = _break_ties(path, judged, judgments.queries)
        facts.append(f"{counted(n_tied, 'tie')} broken by document as in trec_eval")
    csr = _to_csr(path, judged, judgments.queries, judgments.documents)
    opened = _held(path, csr, form, facts, request)
    opened.source.warnings.extend(_compare_queries(path, lines, len(judged.queries), judgments))
    return opened


def _open_own_run(path: Path, request: Request) -> Opened:
    """Read a run by itself: rows are its own queries."""
    lines, form = _read_lines(path, RUN), FORMATS["run"]
    documents = Documents.of(lines.documents, request.names)
    csr = _to_csr(path, lines, _number(lines.queries), documents)
    return _held(path, csr, form, [form.title, "rows are queries", f"documents {documents.meaning}"], request)


def _number(queries: Sequence[bytes]) -> dict[bytes, int]:
    """Number queries in the order in which they first appear."""
    return {query: row for row, query in enumerate(dict.fromkeys(queries))}


def _compare_queries(path: Path, lines: Lines, n_judged: int, judgments: Judgments) -> Iterator[str]:
    """Report queries that only one of run and qrels has."""
    queries = set(lines.queries)
    unjudged, missing = queries - judgments.queries.keys(), judgments.queries.keys() - queries
    if unjudged:
        yield (
            f"{path}: ignored {counted(len(unjudged), 'query')} not in {judgments.name}, such as "
            f"{quote(min(unjudged))} ({counted(len(lines.queries) - n_judged, 'line')})"
        )
    if missing:
        it_counts = "it counts" if len(missing) == 1 else "they count"
        yield (
            f"{path}: has no line for {len(missing):,} of the {counted(len(judgments.queries), 'query')} of "
            f"{judgments.name}, such as {quote(min(missing))}: {it_counts} as 0 (trec_eval leaves them out)"
        )


_OPENERS = {"qrels": open_qrels, "beir": open_beir, "run": open_run, "letor": open_letor}


def _held(path: Path, csr: Csr, form: Format, facts: Sequence[str], request: Request) -> Opened:
    """Return an opened file whose rows are in memory."""
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False)
    return Opened(source, form, tuple(facts), request.role, is_held=True)


def _read_lines(path: Path, columns: LineColumns) -> Lines:
    """Read the lines of a file."""
    names, separator = columns.names.split(), columns.separator
    n_columns, at = len(names), columns.value
    queries, documents, values, numbers = list[bytes](), list[bytes](), list[float](), list[int]()
    role = f" as the {names[at]} of {columns.names!r}"
    lines = _split_lines(path)
    if columns is BEIR:
        next(lines)  # the header
    for number, text in lines:
        words = text.split() if separator is None else [word.strip() for word in text.split(separator)]
        if len(words) != n_columns or not all(words):
            many = f"{len(words):,} columns: " if len(words) > n_columns else ""
            raise DataError(f"{path}:{number}: expected {columns.names!r}, found {many}{quote(text)}")
        queries.append(words[0])
        documents.append(words[columns.document])
        values.append(read_number(path, number, words[at], role))
        numbers.append(number)
    return Lines(queries, documents, np.array(values), numbers)


def _split_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield line numbers and lines, without comments and blank lines."""
    number = 0
    for chunk in LineChunks(path):
        for line in bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n")[:-1]:
            number += 1
            text = line.removeprefix(UTF8_BOM) if number == 1 else line
            if text.strip() and not text.startswith(b"#"):
                yield number, text


def _break_ties(path: Path, lines: Lines, queries: Mapping[bytes, int]) -> int:
    """Raise equal scores of a query by the least possible steps, the bytewise greatest document highest.

    So trec_eval orders them. Return how many scores were equal to another one.
    """
    scores, is_nan = lines.values, np.isnan(lines.values)
    if is_nan.any():
        raise DataError(f"{path}:{lines.numbers[int(np.argmax(is_nan))]}: the score is NaN; expected a number")
    rows = np.array([queries[query] for query in lines.queries], dtype=np.int64)
    order = np.lexsort((scores, rows))
    same = (rows[order][1:] == rows[order][:-1]) & (scores[order][1:] == scores[order][:-1])
    starts, stops = _find_runs(same)
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        order[start:stop] = sorted(order[start:stop].tolist(), key=lines.documents.__getitem__)
    in_order = order.tolist()
    for start in starts.tolist():  # the raised scores stay below those that follow
        _move(scores, rows, in_order, start, 1)
    for stop in stops.tolist():  # nothing is above infinity: the others go below it
        if scores[in_order[stop - 1]] == math.inf:
            _move(scores, rows, in_order, stop - 1, -1)
    return int((stops - starts).sum())


def _find_runs(same: NDArray[np.bool_]) -> tuple[Int64, Int64]:
    """Return the bounds of runs of elements that equal the one before them."""
    changes = np.diff(np.concatenate([[False], same, [False]]).astype(np.int8))
    return np.flatnonzero(changes == 1), np.flatnonzero(changes == -1) + 1


def _move(scores: Float64, rows: Int64, order: list[int], at: int, step: int) -> None:
    """Move each score of a row beyond the one before it, up to the first that is there already."""
    while 0 <= at + step < len(order):
        last, this = order[at], order[at + step]
        if rows[this] != rows[last] or step * scores[this] > step * scores[last]:
            return
        scores[this] = math.nextafter(scores[last], step * math.inf)
        at += step


def _to_csr(path: Path, lines: Lines, queries: Mapping[bytes, int], documents: Documents) -> Csr:
    rows = np.array([queries[query] for query in lines.queries], dtype=np.int64)
    try:
        labels = documents.labels(lines.documents)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    columns = np.array([labels[document] for document in lines.documents], dtype=np.int64)
    return Csr(*coo_to_csr(str(path), rows, columns, lines.values, len(queries)), are_scores=True)
