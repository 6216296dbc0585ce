"""Group the lines of TREC files into rows by query, numbering queries and documents as they first appear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Doubt, argument, counted
from xmceval.files.formats import FORMATS, Format
from xmceval.files.io.chunks import Chunk, LineChunks, Places, explain_decimal
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import quote, read_first_bytes
from xmceval.files.sidecars.values import Names, unknown_name
from xmceval.files.text.words import Words, text_of
from xmceval.rows.block import Float64, Int64, Scratch
from xmceval.rows.ids import RowIds
from xmceval.rows.names import doubt_alike

Int32 = NDArray[np.int32]
LONGEST_LINE = 1 << 12  # bytes at the end of a file to search for its last line
BYTES_WITH_RANKS = 1 << 16  # bytes of a file in which ranks are compared with scores


class Entries(NamedTuple):
    """All lines by row: row pointers [n_rows + 1], document numbers, and grades or scores."""

    indptr: Int64
    documents: Int32
    values: Float64


Ranked = tuple[Any, float, float]  # query, rank and score


@dataclass(frozen=True, eq=False)
class QuerySource:
    """Queries with documents and values: a file of lines, a dict in memory or as JSON, or a table."""

    name: str
    form: Format
    facts: tuple[str, ...]  # facts about it, in words
    noun: str  # what a line is called
    read: Callable[[Lines], None]  # adds all lines
    is_line_file: bool = False
    is_ranked: bool = False  # whether it has lists without values, which as predictions are ranked best first
    has_ranks: bool = False  # whether the values are ranks, with 1 as the best

    def __str__(self) -> str:
        return self.name

    def lines(self, judged: Mapping[bytes, int] | None = None, documents: Words | None = None) -> Lines:
        """Read the lines; `Lines` has the same arguments."""
        if documents is None:
            documents = Words()
        lines = Lines(self.noun, judged, documents)
        self.read(lines)
        return lines


@dataclass(eq=False)
class Lines:
    """Lines of queries, documents and values, which are added in parts."""

    noun: str  # what a line is called
    # the row of each query; lines of other queries are dropped; without it, queries are rows in order of
    # appearance
    judged: Mapping[bytes, int] | None = None
    documents: Words = field(default_factory=Words)  # may already contain numbered documents; others are added
    queries: Words = field(default_factory=Words)
    n_ignored: int = 0  # number of dropped lines
    place: Callable[[int], str] | None = None  # returns the place of a line, counted from 0
    systems: Callable[[Sequence[int]], str] | None = None  # describes two lines of two systems; else empty
    ranked: Iterable[Ranked] = ()  # ranks and scores of the first lines, if there are both
    doubts: list[Doubt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows: Int32 = np.empty(0, dtype=np.int32)  # rows of queries, -1 if their lines are dropped
        self._parts: list[tuple[Int32, Int32, Float64]] = []  # rows, documents and values, by part
        self._runs: list[tuple[Int32, Int64]] = []  # rows of consecutive lines, and their number

    def find(self, row: int, numbers: Int64) -> list[int]:
        """Return the positions of lines among all, given their `numbers` within a row, int64 [n] from 0."""
        rows, lengths = (np.concatenate(column) for column in zip(*self._runs, strict=True))
        runs = np.flatnonzero(rows == row)
        ends = np.cumsum(lengths[runs])
        at = np.searchsorted(ends, numbers, side="right")
        first = (np.cumsum(lengths) - lengths)[runs]
        positions: list[int] = (first[at] + numbers - (ends - lengths[runs])[at]).tolist()
        return positions

    def gather(self, n_rows: int) -> Entries:
        """Return the lines by row, with document numbers instead of labels, and free them here."""
        from xmceval.kernels.text.order import place_entries

        indptr = np.zeros(n_rows + 1, dtype=np.int64)
        for rows, _, _ in self._parts:
            indptr[1:] += np.bincount(rows, minlength=n_rows)
        np.cumsum(indptr, out=indptr)
        documents = np.empty(indptr[-1], dtype=np.int32)
        values = np.empty(indptr[-1])
        following = indptr[:-1].copy()
        self._parts.reverse()
        while self._parts:
            place_entries(*self._parts.pop(), following, documents, values)
        return Entries(indptr, documents, values)

    def rows_of(self, queries: Int32) -> Int32:
        """Return the rows of queries, -1 for those without a row."""
        if self.judged is None:
            return queries
        new = [self.judged.get(query, -1) for query in self.queries.tolist(self._rows.size)]
        self._rows = np.append(self._rows, np.array(new, dtype=np.int32))
        return self._rows[queries]

    def add(self, text: NDArray[np.uint8], rows: Int32, documents: Int64, values: Float64) -> None:
        """Add lines; the documents are at positions int64 [2, n] of a text."""
        starts = np.flatnonzero(np.diff(rows, prepend=-2))
        self._runs.append((rows[starts], np.diff(starts, append=rows.size)))
        is_kept = rows >= 0
        if not is_kept.all():
            self.n_ignored += int(np.count_nonzero(~is_kept))
            rows = rows[is_kept]
            documents = documents[:, is_kept]
            values = values[is_kept]
        self._parts.append((rows, self.documents.number(text, *documents), values.copy()))


def line_file(path: Path, columns: LineColumns, n_header_lines: int = 0) -> QuerySource:
    """Return a file of lines in a ranking format, below a header or none."""
    form = FORMATS[columns.format]
    read = partial(_read, path, columns, n_header_lines)
    return QuerySource(str(path), form, (form.title,), "line", read, is_line_file=True, has_ranks=columns.are_ranks)


def _read(path: Path, columns: LineColumns, n_header_lines: int, lines: Lines) -> None:
    """Add the lines of a file."""
    lines.ranked = _first_ranks(path, columns)
    scratch = Scratch()
    number = 1
    last = b""
    for chunk in LineChunks(path):
        if number == 1:
            if chunk.buffer.startswith(UTF8_BOM):
                chunk.start = len(UTF8_BOM)
            for _ in range(n_header_lines):
                chunk.start = chunk.buffer.index(b"\n", chunk.start, chunk.stop) + 1
            number += n_header_lines
        number += _add_chunk(path, columns, chunk, number, lines, scratch)
        tail = bytes(chunk.buffer[max(chunk.start, chunk.stop - LONGEST_LINE) : chunk.stop]).split(b"\n")
        filled = (line for line in reversed(tail) if len(line.split()) == columns.number and line[:1] != b"#")
        last = next(filled, last)
    lines.place = places = Places(path, n_header_lines, has_comments=True)
    if columns is RUN and last:
        lines.systems = partial(_describe_lines, places)
        _, first = next(places.filled_lines())
        systems = _describe_tags(first, last)
        if systems:
            lines.doubts.append(Doubt(f"{path}: has {systems}"))


def _describe_lines(places: Places, numbers: Sequence[int]) -> str:
    """Describe two lines of a run if their tags differ, with the hint to split the run."""
    first, last = numbers
    lines = islice(places.filled_lines(), first, last + 1, last - first)
    return _describe_tags(*(line for _, line in lines))


def _describe_tags(*lines: bytes) -> str:
    first, last = (line.split()[5].decode(errors="replace") for line in lines)
    if first == last:
        return ""
    return (
        f"lines of two systems: {first!r} and {last!r} (hint: write a file for each of the tags, which end the lines)"
    )


def _first_ranks(path: Path, columns: LineColumns) -> Iterator[Ranked]:
    """Yield query, rank and score of the first lines of a file that has both ranks and scores."""
    names = columns.names.split()
    if "rank" not in names or columns.are_ranks:
        return
    rank = names.index("rank")
    for line in read_first_bytes(path, BYTES_WITH_RANKS).split(b"\n")[:-1]:
        words = line.split()
        if len(words) == columns.number and words[rank].isdigit():
            yield words[0], int(words[rank]), float(words[columns.value])


def _add_chunk(path: Path, columns: LineColumns, chunk: Chunk, line: int, lines: Lines, scratch: Scratch) -> int:
    """Add the lines of a chunk, the first of which has the number `line`, and return their number."""
    from xmceval.kernels.text import fields as kernel

    most = (chunk.stop - chunk.start) // (2 * columns.number) + 1
    runs, fields, hard = (
        scratch.array(name, size * most, np.int64).reshape(shape)
        for name, size, shape in (("runs", 3, (3, -1)), ("fields", 2, (2, -1)), ("hard", 4, (-1, 4)))
    )
    values = scratch.array("values", most, np.float64)
    status = np.empty(kernel.STATUS_SIZE, dtype=np.int64)
    region = chunk.text, chunk.start, chunk.stop
    kernel.split_fields(*region, columns.places, runs, fields, values, hard, status)
    n_runs, n_rows, n_lines, n_hard, wrong = status.tolist()
    nans = list[tuple[int, int]]()  # positions and numbers of lines
    for row, place, begin, end in hard[:n_hard].tolist():
        word = bytes(chunk.buffer[begin:end])
        try:
            if not word.isascii() or b"_" in word:
                raise ValueError
            values[row] = float(word)
        except ValueError:
            expected = f"expected a number as the {columns.value_name} of {columns.names!r}"
            raise DataError(f"{path}:{line + place}: {expected}, found {quote(word)}{explain_decimal(word)}") from None
        if math.isnan(values[row]):
            nans.append((row, line + place))
    if wrong >= 0:
        text = bytes(chunk.buffer[wrong : chunk.buffer.index(b"\n", wrong)])
        raise DataError(f"{path}:{line + n_lines}: {columns.explain(text)}")
    if columns.are_ranks:
        np.negative(values[:n_rows], out=values[:n_rows])
    lengths = np.diff(runs[2, :n_runs], append=n_rows)
    rows = np.repeat(lines.rows_of(lines.queries.number(chunk.text, *runs[:2, :n_runs])), lengths)
    for row, number in nans:
        if rows[row] >= 0:
            raise DataError(f"{path}:{number}: the {columns.value_name} is NaN; expected a number")
    lines.add(chunk.text, rows, fields[:, :n_rows], values[:n_rows])
    return n_lines


def break_ties(documents: Words, indptr: Int64, numbers: NDArray[Any], values: Float64) -> int:
    """Raise equal scores of a row by the least steps, in trec_eval's order of documents; return their number."""
    from xmceval.kernels.text.order import raise_ties

    keys, order = np.empty((2, int(np.diff(indptr).max(initial=0))), dtype=np.int64)
    numbers = numbers.astype(np.int32, copy=False)
    bits = values.view(np.int64)
    return int(raise_ties(indptr, numbers, bits, documents.ends, documents.blob, keys, order))


MOST_NAMED = 3  # queries named in a message


class LineColumns(NamedTuple):
    """The columns of a file format; queries come first."""

    names: str
    document: int  # column numbers
    value: int
    format: str  # the name of the format
    has_header: bool = False  # whether the first line has the names; then tabs separate columns, not blanks
    are_ranks: bool = False  # whether the values are ranks, with 1 as the best

    @property
    def number(self) -> int:
        """The number of columns."""
        return len(self.names.split())

    @property
    def value_name(self) -> str:
        """What the values are, for messages."""
        return self.names.split()[self.value]

    @property
    def places(self) -> Int64:
        """The column numbers, in the form that kernels take."""
        return np.array([0, self.document, self.value, self.number, self.has_header], dtype=np.int64)

    def explain(self, text: bytes) -> str:
        """Return the message about a line with other columns."""
        separator = None
        if self.has_header:
            separator = b"\t"
        n_words = len(text.split(separator))
        columns = ""
        if n_words > self.number:
            columns = f"{n_words:,} columns: "
        return f"expected {self.names!r}, found {columns}{quote(text)}"


QRELS = LineColumns("query 0 document grade", 2, 3, "qrels")
RUN = LineColumns("query Q0 document rank score tag", 2, 4, "run")
UNTAGGED = LineColumns("query Q0 document rank score", 2, 4, "run")
BEIR = LineColumns("query-id corpus-id score", 1, 2, "beir", has_header=True)
SCORED, RANKED, RANKED_AND_SCORED = (  # as from Tevatron, MS MARCO and ColBERT
    LineColumns("query document score", 1, 2, "short-run"),
    LineColumns("query document rank", 1, 2, "short-run", are_ranks=True),
    LineColumns("query document rank score", 1, 3, "short-run"),
)


@dataclass(frozen=True, eq=False)
class Documents:
    """How documents become labels: by the names of --labels, by position in a sorted list, or as label ids."""

    # Documents are names even if all are whole numbers: they are ids only if other inputs are by label.
    names: Names | None = None  # the label names, if any
    # the documents in truth and runs, if they are neither label names nor ids: first the truth's, then
    # others in order of appearance
    words: Words | None = None
    # int64 array [n_judged]: the positions of the truth's documents in a sorted list, which are their labels;
    # the label of any other document is its number
    places: Int64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, judged: Words, names: Names | None, *, are_ids: bool = False) -> Documents:
        """Return how the documents of a truth become labels."""
        if names is not None or are_ids:
            return cls(names)
        places = np.empty(len(judged), dtype=np.int64)
        places[judged.in_order()] = np.arange(places.size)
        return cls(words=judged, places=places)

    @property
    def meaning(self) -> str:
        """How documents become labels, in words."""
        if self.names is not None:
            return "are label names"
        if self.words is None:
            return "are label ids"
        return "are numbered in sorted order"

    def labels(self, documents: Words) -> Int64:
        """Return the label of each document, int64 [n]; refuse a document without a label.

        Documents that only predictions have get labels beyond the labels of the truth.
        """
        labels = self.find(documents)
        if (labels < 0).any():
            unknown = documents[int(np.argmin(labels))].decode(errors="surrogateescape")[:40]
            if self.names:
                raise ValueError(unknown_name(unknown, self.names))
            raise ValueError(
                f"the document {unknown!r} is no label id, and what propensities come from is by label id (hint: pass "
                f"{argument('labels', kind='FILE')}, with one document per line)"
            )
        return labels

    @property
    def listed(self) -> list[str]:
        """The documents in the order of their labels, where they are numbered in sorted order."""
        words = (self.words or Words()).tolist()
        n_judged = self.places.size
        return [*decoded(sorted(words[:n_judged]) + words[n_judged:])]

    def add(self, names: Sequence[bytes]) -> Int64:
        """Return the label of each name, int64 [n]; new names get labels as documents of predictions do."""
        words = self.words or Words()
        numbers = words.number(*text_of(names))
        return self.find(words)[numbers]

    def find(self, documents: Words) -> Int64:
        """Return the label of each document, int64 [n], or -1."""
        text = documents.blob, documents.ends[:-1], documents.ends[1:]
        if self.names is not None:
            return self.names.number(*text)
        if self.words is None:
            return documents.plain_numbers()
        labels = np.append(self.places, np.arange(self.places.size, len(self.words)))
        if documents is self.words:
            return labels
        return np.append(labels, -1)[self.words.find(*text)]


@dataclass(frozen=True)
class Judgments:
    """The rows and labels of a truth in qrels."""

    name: str  # the truth, for messages
    queries: Mapping[bytes, int]  # the row of each query, in order
    documents: Documents  # the labels of documents
    left_out: frozenset[bytes] = frozenset()  # queries of the file that are dropped since a run lacks them

    @property
    def row_ids(self) -> RowIds:
        """The queries as row ids."""
        return RowIds([query.decode(errors="surrogateescape") for query in self.queries], self.name)

    @property
    def n_mentioned(self) -> int | None:
        """The number of distinct documents in truth and runs; None if other inputs define the documents."""
        if self.documents.words is None:
            return None
        return len(self.documents.words)


def name_queries(queries: Iterable[bytes]) -> str:
    """Name the first of these queries: ``such as 'q1', 'q7'``."""
    return f"such as {', '.join(map(quote, sorted(queries)[:MOST_NAMED]))}"


def doubt_words(name: str, noun: str, truth: str, words: Words, n_true: int, numbers: NDArray[Any]) -> Iterator[Doubt]:
    """Doubt documents or labels that are named otherwise than in the truth, whose names are the first `n_true` words.

    `numbers` are the words that predictions have. Some may have another Unicode form or case; or none is in
    the truth.
    """
    if not n_true or not numbers.size or numbers.max() < n_true:
        return
    occurs = np.zeros(len(words), dtype=np.bool_)
    occurs[numbers] = True
    here = decoded(words[number] for number in (np.flatnonzero(occurs[n_true:]) + n_true).tolist())
    there = decoded(words[number] for number in np.flatnonzero(~occurs[:n_true]).tolist())
    alike = list(doubt_alike(name, noun, truth, here, there))
    yield from alike
    if not alike and not occurs[:n_true].any():
        yield doubt_names(name, noun, truth, words[int(numbers[0])], words[0])


def doubt_ranks(name: str, lines: Iterable[Ranked]) -> Iterator[Doubt]:
    """Yield the doubt that low scores are best, if in most of the first queries they rise with the rank."""
    # Ranks are not used otherwise: scores alone order the documents, as in trec_eval.
    queries: dict[Any, list[tuple[float, float]]] = {}
    for query, rank, score in lines:
        if score > -math.inf:
            queries.setdefault(query, []).append((rank, score))
    n_ranked = n_against = 0
    for ranking in queries.values():
        ranks, scores = zip(*sorted(ranking), strict=True)
        if len(set(ranks)) == len(ranks) and len(set(scores)) > 1:
            n_ranked += 1
            rises = [after > before for before, after in pairwise(scores) if after != before]
            n_against += 2 * sum(rises) > len(rises)
    if 2 * n_against > n_ranked:
        yield Doubt(
            f"{name}: in {n_against:,} of {counted(n_ranked, 'query')} the ranks run against the scores: "
            "are low scores the best?"
        )


def decoded(names: Iterable[bytes]) -> Iterator[str]:
    """Yield names as text."""
    return (name.decode(errors="replace") for name in names)


def doubt_names(name: str, noun: str, truth: str, here: bytes, there: bytes) -> Doubt:
    """Return the doubt that queries, documents or labels are named differently in the truth, with examples."""
    return Doubt(
        f"{name}: has no {noun} of {truth}: are they named alike, such as {quote(here)} here and {quote(there)} there?"
    )
