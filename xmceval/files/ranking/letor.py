"""LETOR lines and the scores of their documents: rows are queries, label l is the l-th document of its query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.files.formats.format import Format
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.chunks import Chunk, LineChunks
from xmceval.files.io.lines import without_comment
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import quote
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.records.decimals import explain_decimal
from xmceval.files.text.words import Words
from xmceval.rows.block import Float64, Int64, Scratch
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr


def open_letor(path: Path, request: Request) -> Opened:
    """Read ``grade qid:7 1:0.5 ...`` lines; label l is the l-th document of its query, and the grade may be a score.

    Raises
    ------
    DataError
        Another line, a query whose lines are not consecutive, or other queries than the truth has.
    """
    queries, values, sizes = Words(), list[Float64](), np.zeros(0, dtype=np.int64)
    for part in _read_first_words(path, 2, number=0):
        begins, ends = part.words[1]
        n_before, numbers = len(queries), queries.number(part.chunk.text, begins, ends)
        is_new = np.diff(numbers, prepend=n_before - 1) != 0
        # Queries are numbered as they come: the next one to begin has the next number.
        is_wrong = is_new & (numbers != n_before - 1 + np.cumsum(is_new))
        is_wrong |= (part.counts < 2) | ~_begin_with(part.chunk.text, begins, ends, b"qid:")
        for row in np.flatnonzero(is_wrong | part.are_hard).tolist():
            number, words = part.split(row)
            if len(words) < 2 or not words[1].startswith(b"qid:"):
                raise DataError(f"{path}:{number}: expected 'grade qid:n ...', found {quote(b' '.join(words))}")
            query = quote(words[1])
            if is_wrong[row]:
                raise DataError(
                    f"{path}:{number}: {query} appears in two places; the lines of a query must be consecutive"
                )
            part.values[row] = read_number(path, number, words[0])
        sizes = np.concatenate([sizes, np.zeros(len(queries) - n_before, dtype=np.int64)])
        sizes += np.bincount(numbers, minlength=sizes.size)
        values.append(part.values)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    judgments = Judgments(str(path), {query: row for row, query in enumerate(queries.tolist())}, indptr)
    if request.judgments is not None and request.are_scores:
        _check_same_documents(judgments, request.judgments)
    form = FORMATS["letor"]
    facts = form.title, "labels are positions within the query"
    opened = _held(path, np.concatenate([np.empty(0), *values]), indptr, form, facts, request)
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
    values, first_rows = np.zeros(n_documents), np.full(n_documents, -1, dtype=np.int64)
    queries, rows, n_scores, n_words = Words(), np.empty(0, dtype=np.int64), 0, 0
    for part in _read_first_words(path, 3, number=-1):
        if n_words == 0 and part.counts.size:
            n_words = 3 if part.counts[0] == 3 else 1
        is_wrong, n_inside = part.counts != n_words, part.counts.size
        places: slice | Int64 = slice(n_scores, n_scores + n_inside)
        if n_words == 3:
            numbers = queries.number(part.chunk.text, *part.words[0])
            rows = np.concatenate([rows, _rows_of(queries.tolist(rows.size), judgments)])
            places = _find_documents(part, rows[numbers], judgments)
            is_wrong |= places < 0
            is_wrong[~is_wrong] |= _are_again(places[~is_wrong], first_rows, n_scores)
        else:
            n_inside = max(0, min(n_inside, n_documents - n_scores))
            part.are_hard[n_inside:] = False
        for row in np.flatnonzero(is_wrong | part.are_hard).tolist():
            number, words = part.split(row)
            if len(words) != n_words:
                raise DataError(
                    f"{path}:{number}: expected one score per line, or 'query document score' in every line, found "
                    f"{quote(b' '.join(words))}"
                )
            if is_wrong[row]:
                _check_document(path, number, words, judgments)
                query, document = (quote(word) for word in words[:2])
                raise DataError(f"{path}:{number}: document {document} of query {query} appears twice")
            part.values[row] = read_number(path, number, words[-1])
        values[places] = part.values[:n_inside]
        n_scores += part.counts.size
    if n_scores != n_documents:
        raise DataError(
            f"{path}: has {counted(n_scores, 'score')} for the {counted(n_documents, 'document')} of {judgments.name}"
        )
    form = FORMATS["ranklib" if n_words == 3 else "score-column"]
    return _held(path, values, judgments.indptr, form, (form.title,), Request("scores"))


def _rows_of(queries: Sequence[bytes], judgments: Judgments) -> Int64:
    """Return the rows of RankLib's queries, -1 where the truth has none."""
    names = (b"qid:" + query.removeprefix(b"qid:") for query in queries)
    return np.array([judgments.queries.get(name, -1) for name in names], dtype=np.int64)


def _find_documents(part: FirstWords, rows: Int64, judgments: Judgments) -> Int64:
    """Return the line of the truth for RankLib's document of each line, whose row is given; -1 where there is none."""
    from xmceval.kernels.text.firstwords import parse_places

    places = np.empty(rows.size, dtype=np.int64)
    parse_places(part.chunk.text, *part.words[1], places)
    is_known = (rows >= 0) & (places >= 0) & (places < np.diff(judgments.indptr)[rows])
    return np.where(is_known, judgments.indptr[rows] + places, -1)


def _are_again(places: Int64, first_rows: Int64, n_before: int) -> NDArray[np.bool_]:
    """Return which places appeared before; `first_rows` says where each first did, or -1, and is updated."""
    numbers, was_there = n_before + np.arange(places.size), first_rows[places] >= 0
    first_rows[places[::-1]] = numbers[::-1]  # of equal places the last one stays
    again: NDArray[np.bool_] = was_there | (first_rows[places] != numbers)
    return again


def _check_document(path: Path, number: int, words: list[bytes], judgments: Judgments) -> None:
    """Refuse RankLib's query and document where the truth has no such line."""
    query = words[0].removeprefix(b"qid:")
    row = judgments.queries.get(b"qid:" + query)
    if row is None:
        raise DataError(f"{path}:{number}: query {quote(query)} is not in {judgments.name}")
    size = int(judgments.indptr[row + 1] - judgments.indptr[row])
    if not words[1].isdigit() or len(words[1]) > 18 or int(words[1]) >= size:
        raise DataError(
            f"{path}:{number}: expected the document's position within query {quote(query)}, from 0 to {size - 1:,}, "
            f"found {quote(words[1])}"
        )


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


@dataclass(frozen=True)
class FirstWords:
    """The first words of the lines of a chunk that have any.

    Attributes
    ----------
    chunk : Chunk
    words : int64 array [n_words, 2, n_rows]
        Where each word begins and ends in the chunk.
    counts : int64 array [n_rows]
        How many words a line has, one more than n_words where it has more.
    lines : int64 array [n_rows]
        The numbers of the lines in the file.
    values : float64 array [n_rows]
        The number of each line.
    are_hard : bool array [n_rows]
        Whether that has to be read from its word.
    """

    chunk: Chunk
    words: Int64
    counts: Int64
    lines: Int64
    values: Float64
    are_hard: NDArray[np.bool_]

    def split(self, row: int) -> tuple[int, list[bytes]]:
        """Return the number of a line, and all of its words."""
        buffer, word = self.chunk.buffer, int(self.words[0, 0, row])
        begin = max(buffer.rfind(b"\n", 0, word) + 1, self.chunk.start)
        return int(self.lines[row]), without_comment(bytes(buffer[begin : buffer.index(b"\n", word)])).split()


def _read_first_words(path: Path, n_words: int, *, number: int) -> Iterator[FirstWords]:
    """Yield the first words of the lines of a file by chunks; `number` says which of them is a number, -1 the last."""
    from xmceval.kernels.text import firstwords as kernel

    scratch, first = Scratch(), 1
    for chunk in LineChunks(path):
        if first == 1 and chunk.buffer.startswith(UTF8_BOM):
            chunk.start = len(UTF8_BOM)
        most = (chunk.stop - chunk.start) // 2 + 1
        words = scratch.array("words", 2 * n_words * most, np.int64).reshape(n_words, 2, most)
        counts, lines = (scratch.array(name, most, np.int64) for name in ("counts", "lines"))
        values, are_hard = scratch.array("values", most, np.float64), scratch.array("hard", most, np.uint8)
        status = np.empty(2, dtype=np.int64)
        found = words, counts, lines, values, are_hard
        kernel.split_first_words(chunk.text, chunk.start, chunk.stop, number, *found, status)
        n_rows, n_lines = status.tolist()
        rest = counts[:n_rows], first + lines[:n_rows], values[:n_rows].copy(), are_hard[:n_rows] != 0
        yield FirstWords(chunk, words[:, :, :n_rows], *rest)
        first += n_lines


def _begin_with(text: NDArray[np.uint8], begins: Int64, ends: Int64, start: bytes) -> NDArray[np.bool_]:
    """Return which words of text begin with some bytes."""
    are_equal = ends - begins >= len(start)
    for offset, byte in enumerate(start):
        are_equal &= text[begins + offset] == byte
    return are_equal


def _held(path: Path, values: Float64, indptr: Int64, form: Format, facts: tuple[str, ...], request: Request) -> Opened:
    """Return an opened file whose rows are in memory; each value has the label of its position within its row."""
    labels = np.arange(values.size)
    labels -= np.repeat(indptr[:-1], np.diff(indptr))
    csr = Csr(indptr, labels, values, request.are_scores)
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False)
    return Opened(source, form, facts, request.role, is_held=True)
