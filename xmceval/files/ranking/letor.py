"""LETOR lines and the scores of their documents: rows are queries, label l is the l-th document of its query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.formats.format import Format
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.lines import without_comment
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import quote
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.records.decimals import explain_decimal
from xmceval.rows.block import Float64, Int64
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr


def open_letor(path: Path, request: Request) -> Opened:
    """Read ``grade qid:7 1:0.5 ...`` lines; label l is the l-th document of its query, and the grade may be a score.

    Raises
    ------
    DataError
        Another line, a query whose lines are not consecutive, or other queries than the truth has.
    """
    queries: dict[bytes, int] = {}
    values, ends, last = list[float](), [0], b""
    for number, words in _split_lines(path):
        if len(words) < 2 or not words[1].startswith(b"qid:"):
            raise DataError(f"{path}:{number}: expected 'grade qid:n ...', found {quote(b' '.join(words))}")
        if words[1] != last:
            last = words[1]
            if last in queries:
                raise DataError(
                    f"{path}:{number}: {quote(last)} appears in two places; the lines of a query must be consecutive"
                )
            queries[last] = len(queries)
            ends.append(ends[-1])
        values.append(read_number(path, number, words[0]))
        ends[-1] += 1
    judgments = Judgments(str(path), queries, np.array(ends, dtype=np.int64))
    if request.judgments is not None and request.are_scores:
        _check_same_documents(judgments, request.judgments)
    form = FORMATS["letor"]
    facts = form.title, "labels are positions within the query"
    opened = _held(path, np.array(values), judgments.indptr, form, facts, request)
    return replace(opened, judgments=judgments)


def _check_same_documents(scored: Judgments, judged: Judgments) -> None:
    """Refuse scores of other documents than those of the truth, as far as LETOR lines tell them apart."""
    if list(judged.queries) != list(scored.queries):
        raise DataError(f"{scored.name}: expected the same queries as {judged.name}, in the same order")
    sizes = np.diff(scored.indptr), np.diff(judged.indptr)
    for query, own, expected in zip(judged.queries, *(size.tolist() for size in sizes), strict=True):
        if own != expected:
            raise DataError(
                f"{scored.name}: has {counted(own, 'document')} for {quote(query)}, but {judged.name} has {expected:,}"
            )


def open_score_column(path: Path, judgments: Judgments) -> Opened:
    """Read one score per line in the order of a LETOR truth, or RankLib's ``query document score`` in any order.

    RankLib's document is its position within the query, from 0 on.

    Raises
    ------
    DataError
        Another line, with its place; more or fewer lines than the truth has, or a document that appears twice.
    """
    n_documents = int(judgments.indptr[-1])
    values, joined = np.zeros(n_documents), np.zeros(n_documents, dtype=np.bool_)
    n_scores = n_words = 0
    for number, words in _split_lines(path):
        if len(words) not in {1, 3} or n_words not in {0, len(words)}:
            raise DataError(
                f"{path}:{number}: expected one score per line, or 'query document score' in every line, found "
                f"{quote(b' '.join(words))}"
            )
        n_words = len(words)
        at = n_scores if n_words == 1 else _find_document(path, number, words, judgments)
        if at < n_documents:
            if joined[at]:
                query, document = (quote(word) for word in words[:2])
                raise DataError(f"{path}:{number}: document {document} of query {query} appears twice")
            values[at], joined[at] = read_number(path, number, words[-1]), True
        n_scores += 1
    if n_scores != n_documents:
        raise DataError(
            f"{path}: has {counted(n_scores, 'score')} for the {counted(n_documents, 'document')} of {judgments.name}"
        )
    form = FORMATS["ranklib" if n_words == 3 else "score-column"]
    return _held(path, values, judgments.indptr, form, (form.title,), Request("scores"))


def _find_document(path: Path, number: int, words: list[bytes], judgments: Judgments) -> int:
    """Return the line of the truth for RankLib's query and document."""
    query = words[0].removeprefix(b"qid:")
    row = judgments.queries.get(b"qid:" + query)
    if row is None:
        raise DataError(f"{path}:{number}: query {quote(query)} is not in {judgments.name}")
    start, stop = (int(end) for end in judgments.indptr[row : row + 2])
    place = int(words[1]) if words[1].isdigit() and len(words[1]) < 19 else -1
    if not 0 <= place < stop - start:
        raise DataError(
            f"{path}:{number}: expected the document's position within query {quote(query)}, from 0 to "
            f"{stop - start - 1:,}, found {quote(words[1])}"
        )
    return start + place


def read_number(path: Path, number: int, word: bytes, role: str = "") -> float:
    """Read a number of a line; `role` says in a message what it is.

    Raises
    ------
    DataError
        Another word, with its place.
    """
    try:
        if not word.isascii() or b"_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        raise DataError(
            f"{path}:{number}: expected a number{role}, found {quote(word)}{explain_decimal(word)}"
        ) from None


def _split_lines(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield line numbers and words, without comments and blank lines."""
    number = 0
    for chunk in LineChunks(path):
        for line in bytes(chunk.buffer[chunk.start : chunk.stop]).split(b"\n")[:-1]:
            number += 1
            text = line.removeprefix(UTF8_BOM) if number == 1 else line
            words = without_comment(text).split()
            if words:
                yield number, words


def _held(path: Path, values: Float64, indptr: Int64, form: Format, facts: tuple[str, ...], request: Request) -> Opened:
    """Return an opened file whose rows are in memory; each value has the label of its position within its row."""
    labels = np.arange(values.size) - np.repeat(indptr[:-1], np.diff(indptr))
    csr = Csr(indptr, labels, values, request.are_scores)
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False)
    return Opened(source, form, facts, request.role, is_held=True)
