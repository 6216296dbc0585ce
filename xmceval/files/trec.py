"""The ranking field's formats: TREC qrels and runs, and LETOR lines; rows are queries, labels are documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.arrays.csr import coo_to_csr
from xmceval.files.chunks import LineChunks
from xmceval.files.judgments import Documents, Judgments
from xmceval.files.names import is_id
from xmceval.files.opened import Opened, Request
from xmceval.files.signatures import UTF8_BOM
from xmceval.files.streams import quote
from xmceval.rows.block import Int64
from xmceval.rows.matrices import MatrixSource
from xmceval.rows.storage import Csr

Entry = tuple[str, str, float]  # query, document, value

QRELS_FIELDS, RUN_FIELDS = "query 0 document grade", "query Q0 document rank score tag"


def open_trec(path: Path, request: Request, head: bytes, *, is_whole: bool) -> Opened | None:
    """Open a file of the ranking field; return None if it is not one.

    Parameters
    ----------
    path : Path
        The file.
    request : Request
        Whether it is opened as truth or as predictions, and the judgments of the truth.
    head : bytes
        Its first bytes.
    is_whole : bool
        Whether these are all of it.
    """
    lines = head.removeprefix(UTF8_BOM).split(b"\n")
    open_file = _OPENERS.get(detect_format(lines if is_whole else lines[:-1], are_scores=request.are_scores))
    if open_file is not None:
        return open_file(path, request)
    if request.judgments is not None and request.judgments.documents is None:
        return open_score_column(path, request.judgments)
    return None


def detect_format(lines: Sequence[bytes], *, are_scores: bool) -> str:
    """Return ``qrels``, ``run`` or ``letor`` by the first lines of a file, or an empty string."""
    rows = [line.split(None, 6) for line in lines[:1000] if line.strip() and not line.lstrip().startswith(b"#")]
    if not rows:
        return ""
    if all(len(row) >= 2 and row[1].startswith(b"qid:") for row in rows):
        return "letor"
    if 2 * sum(len(row) == 6 and row[1].upper() == b"Q0" for row in rows) > len(rows):  # bad lines are reported later
        return "run"
    if not are_scores and len(rows) > 1 and all(len(row) == 4 and row[1].upper() in {b"0", b"Q0"} for row in rows):
        return "qrels"
    return ""


def open_qrels(path: Path, request: Request) -> Opened:
    """Read ``query 0 document grade`` lines; queries become rows in the order in which they first appear.

    Raises
    ------
    DataError
        Another line, with its place.
    """
    entries = [_parse_entry(path, number, words, QRELS_FIELDS, 3) for number, words in _split_lines(path)]
    documents, meaning = Documents(request.names), "are label names" if request.names is not None else "are label ids"
    if request.names is None and not all(is_id(document) for _, document, _ in entries):
        names = sorted({document for _, document, _ in entries})
        documents, meaning = Documents(None, {name: i for i, name in enumerate(names)}), "are numbered in sorted order"
    queries: dict[str, int] = {}
    for query, _, _ in entries:
        queries.setdefault(query, len(queries))
    csr = _to_csr(path, entries, queries, documents)
    judgments = Judgments(str(path), queries, csr.indptr, documents)
    return replace(_held(path, csr, f"TREC qrels, documents {meaning}", request), judgments=judgments)


def open_run(path: Path, request: Request) -> Opened:
    """Read ``query Q0 document rank score tag`` lines and put them into the order of the judged queries.

    Raises
    ------
    DataError
        Another line, with its place; a run as truth, or a run whose truth is not a qrels file.
    """
    if not request.are_scores:
        raise DataError(f"{path}: is a TREC run, which holds predictions; expected truth, such as TREC qrels")
    judgments = request.judgments
    if judgments is None or judgments.documents is None:
        raise DataError(f"{path}: is a TREC run, whose rows are the queries of the truth; expected TREC qrels as truth")
    entries = [_parse_entry(path, number, words, RUN_FIELDS, 4) for number, words in _split_lines(path)]
    judged, description = [entry for entry in entries if entry[0] in judgments.queries], "TREC run"
    if judgments.documents.places is not None:
        judged, description = _break_ties(path, judged), "TREC run, ties broken by document as in trec_eval"
    opened = _held(path, _to_csr(path, judged, judgments.queries, judgments.documents), description, request)
    unjudged = {query for query, _, _ in entries} - judgments.queries.keys()
    if unjudged:
        opened.source.warnings.append(
            f"{path}: ignored {counted(len(unjudged), 'query')} not in {judgments.name}, such as "
            f"{min(unjudged)[:40]!r} ({counted(len(entries) - len(judged), 'line')})"
        )
    return opened


def open_letor(path: Path, request: Request) -> Opened:
    """Read ``grade qid:7 1:0.5 ...`` lines; label l is the l-th document of its query, and the grade may be a score.

    Raises
    ------
    DataError
        Another line, a query whose lines are not consecutive, or other queries than the truth has.
    """
    queries: dict[str, int] = {}
    values, ends, last = list[float](), [0], ""
    for number, words in _split_lines(path):
        if len(words) < 2 or not words[1].startswith("qid:"):
            raise DataError(f"{path}:{number}: expected 'grade qid:n ...', found {' '.join(words)[:40]!r}")
        if words[1] != last:
            last = words[1]
            if last in queries:
                raise DataError(
                    f"{path}:{number}: {last} appears in two places; the lines of a query must be consecutive"
                )
            queries[last] = len(queries)
            ends.append(ends[-1])
        values.append(_parse_number(path, number, words[0]))
        ends[-1] += 1
    judgments = request.judgments
    if judgments is not None and request.are_scores and list(judgments.queries) != list(queries):
        raise DataError(f"{path}: expected the same queries as {judgments.name}, in the same order")
    csr = _number_within_rows(values, np.array(ends), are_scores=request.are_scores)
    opened = _held(path, csr, "LETOR lines, labels are positions within the query", request)
    return replace(opened, judgments=Judgments(str(path), queries, csr.indptr))


def open_score_column(path: Path, judgments: Judgments) -> Opened:
    """Read one score per line, or RankLib's ``query document score``, for the lines of a LETOR truth.

    Raises
    ------
    DataError
        Another line, with its place; more or fewer lines than the truth has.
    """
    values = []
    for number, words in _split_lines(path):
        if len(words) not in {1, 3}:
            raise DataError(f"{path}:{number}: expected one score per line, or 'query document score'")
        values.append(_parse_number(path, number, words[-1]))
    n_documents = int(judgments.indptr[-1])
    if len(values) != n_documents:
        raise DataError(
            f"{path}: has {counted(len(values), 'score')} for the {counted(n_documents, 'document')} of "
            f"{judgments.name}"
        )
    csr = _number_within_rows(values, judgments.indptr, are_scores=True)
    return _held(path, csr, "one score per line, in the order of the LETOR lines", Request("scores"))


_OPENERS = {"qrels": open_qrels, "run": open_run, "letor": open_letor}


def _held(path: Path, csr: Csr, description: str, request: Request) -> Opened:
    """Return an opened file whose rows are in memory."""
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False)
    return Opened(source, f"{description}, held in memory", request.role)


def _split_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and words, without comments and blank lines."""
    number = 0
    for chunk in LineChunks(path):
        for line in bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n")[:-1]:
            number += 1
            words = line.removeprefix(UTF8_BOM).decode(errors="surrogateescape").split("#", 1)[0].split()
            if words:
                yield number, words


def _parse_entry(path: Path, number: int, words: list[str], fields: str, value_at: int) -> Entry:
    if len(words) != len(fields.split()):
        raise DataError(f"{path}:{number}: expected {fields!r}, found {' '.join(words)[:40]!a}")
    return words[0], words[2], _parse_number(path, number, words[value_at], fields, value_at)


def _parse_number(path: Path, number: int, word: str, fields: str = "", at: int = 0) -> float:
    try:
        if not word.isascii() or "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        field = f" as the {fields.split()[at]} of {fields!r}" if fields else ""
        found = quote(word.encode(errors="replace"))
        raise DataError(f"{path}:{number}: expected a number{field}, found {found}") from None


def _break_ties(path: Path, entries: list[Entry]) -> list[Entry]:
    """Replace scores by their order within the query: of equal scores the later document name goes first."""
    if any(math.isnan(score) for _, _, score in entries):
        raise DataError(f"{path}: a score is NaN; expected a number")
    ordered = sorted(entries, key=lambda entry: (entry[0], entry[2], entry[1]))
    return [(query, document, float(i)) for i, (query, document, _) in enumerate(ordered)]


def _to_csr(path: Path, entries: list[Entry], queries: Mapping[str, int], documents: Documents) -> Csr:
    rows = np.array([queries[query] for query, _, _ in entries], dtype=np.int64)
    try:
        labels = np.array([documents.label(document) for _, document, _ in entries], dtype=np.int64)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    values = np.array([value for _, _, value in entries])
    return Csr(*coo_to_csr(str(path), rows, labels, values, len(queries)), are_scores=True)


def _number_within_rows(values: list[float], indptr: Int64, *, are_scores: bool) -> Csr:
    """Give each value the label of its position within its row."""
    labels = np.arange(len(values)) - np.repeat(indptr[:-1], np.diff(indptr))
    return Csr(indptr, labels, np.array(values, dtype=np.float64), are_scores)
