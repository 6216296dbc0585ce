"""TREC qrels and runs: rows are queries, labels are documents; a line is a comment only if it begins with ``#``.

Records in memory are read as files with the same lines would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, Doubt, argument, counted
from xmceval.files.formats import BOTH, FORMATS, SCORES, Format
from xmceval.files.io.streams import quote, read_first_bytes
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.bycolumn import find_full, refuse_full
from xmceval.files.ranking.judgments import QRELS, RUN, Documents, Judgments, LineColumns, name_queries
from xmceval.files.ranking.recordlines import RecordLines, Records
from xmceval.files.ranking.trecrows import Entries, Lines, TrecLines
from xmceval.files.tables.byquery import QueryTable, TableLines
from xmceval.files.text.words import Words
from xmceval.rows.block import EntryNames
from xmceval.rows.matrices.matrices import MatrixSource
from xmceval.rows.matrices.storage import Csr, count_rounded

# What is looked at of a run: the ranks and scores in its first bytes, and the scores of its first queries.
BYTES_WITH_RANKS, QUERIES_WITH_TIES = 1 << 16, 1000
LEAST_QUERIES = 3  # of which most give reason for a doubt


def open_qrels(path: Path | Records | QueryTable, request: Request, columns: LineColumns = QRELS) -> Opened:
    """Read judgments; queries become rows in the order in which they first appear.

    A grade below 0 says that the document was in the pool but not judged, as in trec_eval: it counts as 0.
    """
    if request.are_scores:
        raise DataError(f"{path}: looks like TREC qrels, which hold truth; expected predictions, such as a TREC run")
    kept = request.judgments
    lines = _read(path, columns, None if kept is None else kept.queries)
    documents = Documents.of(lines.documents, request.names, are_ids=request.are_ids)
    queries = {query: row for row, query in enumerate(lines.queries.tolist())} if kept is None else kept.queries
    entries = lines.gather(len(queries))
    is_unjudged = entries.values < 0
    n_unjudged = int(np.count_nonzero(is_unjudged))
    entries.values[is_unjudged] = 0
    form, facts = _describe(path, columns)
    opened = _held(path, lines, queries, entries, documents, form, [*facts, f"documents {documents.meaning}"], request)
    if n_unjudged:
        treatment = "counts" if n_unjudged == 1 else "count"
        opened.source.warnings.append(f"{path}: {counted(n_unjudged, 'grade')} below 0 {treatment} as not judged")
    left_out = frozenset() if kept is None else kept.left_out
    full = find_full(path, lines, entries)
    return replace(opened, judgments=Judgments(str(path), queries, documents, left_out, full))


def open_by_query(source: Path | Records | QueryTable, request: Request, columns: LineColumns | None = None) -> Opened:
    """Open a file, records or a table by query: as truth or predictions, unless its columns are those of one only."""
    holds = BOTH if columns is None else FORMATS[columns.format].holds
    if holds == (SCORES,) or (holds == BOTH and request.are_scores):
        return open_run(source, request, columns or RUN)
    return open_qrels(source, request, columns or QRELS)


def open_run(path: Path | Records | QueryTable, request: Request, columns: LineColumns = RUN) -> Opened:
    """Read lines of query, document and score, and put them into the order of the judged queries.

    Equal scores are put into the order of trec_eval.
    """
    if not request.are_scores:
        raise DataError(f"{path}: is a TREC run, which holds predictions; expected truth, such as TREC qrels")
    if request.is_alone:
        return _open_own_run(path, request, columns)
    judgments = request.judgments
    if not isinstance(path, Path) and judgments is None:
        raise DataError(
            f"{path}: has scores by query and document, so the truth must have grades by query and document "
            "(hint: pass {query: {document: grade}}, TREC qrels, or a table with the same columns)"
        )
    if judgments is None:
        raise DataError(
            f"{path}: is a TREC run, so the truth must be TREC qrels (hint: their lines are {QRELS.names!r})"
        )
    lines, (form, facts) = _read(path, columns, judgments.queries, judgments.documents.words), _describe(path, columns)
    entries = lines.gather(len(judgments.queries))
    refuse_full(judgments.full, find_full(path, lines, entries))
    doubts = [*_doubt_equal_scores(path, entries), *_doubt_rounded(path, entries)]
    doubts += _doubt_documents(path, entries, judgments)
    if request.ties == "label":
        facts.append(f"{counted(_break_ties(path, lines, entries), 'tie')} broken by document as in trec_eval")
    opened = _held(path, lines, judgments.queries, entries, judgments.documents, form, facts, request)
    opened.source.warnings.extend([*_doubt_ranks(path, columns, lines), *doubts])
    queries = set(lines.queries.tolist())
    unjudged = queries - judgments.queries.keys() - judgments.left_out
    lacking = judgments.queries.keys() - queries
    if request.missing == "error":
        _refuse_differences(path, lines, judgments, unjudged, lacking)
    opened.source.warnings.extend(_tell_differences(path, lines, judgments, unjudged, lacking))
    return replace(opened, is_joined=True, lacking=tuple(lacking))


def _doubt_ranks(path: Path | Records | QueryTable, columns: LineColumns, lines: Lines) -> Iterator[Doubt]:
    """Yield the doubt that low scores are the best, where scores rise with the rank in most of the first queries.

    The ranks are not read otherwise: scores alone order the documents, as in trec_eval.
    """
    queries: dict[bytes | int, list[tuple[int, float]]] = {}
    for query, rank, score in lines.ranked if isinstance(lines, TableLines) else _first_ranks(path, columns):
        if score == -np.inf:
            continue
        queries.setdefault(query, []).append((rank, score))
    n_ranked = n_against = 0
    for ranking in queries.values():
        ranks, scores = zip(*sorted(ranking), strict=True)
        if len(set(ranks)) == len(ranks) and len(set(scores)) > 1:
            n_ranked += 1
            n_against += sum(b > a for a, b in pairwise(scores)) > sum(b < a for a, b in pairwise(scores))
    if 2 * n_against > n_ranked >= LEAST_QUERIES:
        yield Doubt(
            f"{path}: in {n_against:,} of {counted(n_ranked, 'query')} the ranks run against the scores: "
            "are low scores the best?"
        )


def _first_ranks(path: Path | Records | QueryTable, columns: LineColumns) -> Iterator[tuple[bytes, int, float]]:
    """Yield query, rank and score of the first lines of a file that has both ranks and scores."""
    names = columns.names.split()
    if not isinstance(path, Path) or "rank" not in names or columns.are_ranks:
        return
    for line in read_first_bytes(path, BYTES_WITH_RANKS).split(b"\n")[:-1]:
        words = line.split()
        if len(words) == columns.number and words[names.index("rank")].isdigit():
            yield words[0], int(words[names.index("rank")]), float(words[columns.value])


def _doubt_equal_scores(path: Path | Records | QueryTable, entries: Entries) -> Iterator[Doubt]:
    """Yield the doubt that scores say nothing, where all are equal in most queries: ties are broken afterwards."""
    ends = entries.indptr[: QUERIES_WITH_TIES + 1]
    rows = [entries.values[start:end] for start, end in pairwise(ends.tolist())]
    rows = [scores[scores > -np.inf] for scores in rows]
    n_several = sum(scores.size > 1 for scores in rows)
    n_equal = sum(bool(scores.size > 1 and (scores == scores[0]).all()) for scores in rows)
    if 2 * n_equal > n_several >= LEAST_QUERIES:
        yield Doubt(
            f"{path}: in {n_equal:,} of {counted(n_several, 'query')} with two or more documents all scores are equal: "
            "they rank no document above another"
        )


def _doubt_rounded(path: Path | Records | QueryTable, entries: Entries) -> Iterator[Doubt]:
    """Yield the doubt that scores of a query were different whole numbers, and are equal in 64-bit floats."""
    n_rounded = count_rounded(entries.indptr, entries.values)
    if n_rounded:
        yield Doubt(
            f"{path}: in {counted(n_rounded, 'query')} scores of 2^53 or more are equal, where whole numbers are "
            "rounded when they are read: are they different? (hint: pass smaller numbers)"
        )


def _doubt_documents(path: Path | Records | QueryTable, entries: Entries, judgments: Judgments) -> Iterator[Doubt]:
    """Yield the doubt that documents have other names in the truth, where a run of some queries has none of its."""
    words, n_judged = judgments.documents.words, judgments.documents.places.size
    n_answered = np.count_nonzero(np.diff(entries.indptr))
    if words is not None and n_judged and n_answered >= LEAST_QUERIES and entries.documents.min() >= n_judged:
        there, here = (quote(words[int(number)]) for number in (0, entries.documents[0]))
        yield Doubt(
            f"{path}: has no document of {judgments.name}: are they named alike, such as {here} here and {there} there?"
        )


def _break_ties(path: Path | Records | QueryTable, lines: Lines, entries: Entries) -> int:
    """Raise equal scores of a query by the least possible steps, the bytewise greatest document highest.

    So trec_eval orders them. Return how many scores were equal to another one.
    """
    from xmceval.kernels.text.runs import raise_ties

    line = lines.first_nan()
    if line is not None:
        raise DataError(f"{path}:{line}: the score is NaN; expected a number")
    longest = int(np.diff(entries.indptr).max(initial=0))
    keys, order = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    words = lines.documents
    bits = entries.values.view(np.int64)
    return int(raise_ties(entries.indptr, entries.documents, bits, words.ends, words.blob, keys, order))


def _open_own_run(path: Path | Records | QueryTable, request: Request, columns: LineColumns) -> Opened:
    """Read a run by itself: rows are its own queries."""
    lines, (form, facts) = _read(path, columns), _describe(path, columns)
    documents = Documents.of(lines.documents, request.names)
    entries, facts = lines.gather(len(lines.queries)), [*facts, "rows are queries", f"documents {documents.meaning}"]
    opened = _held(path, lines, lines.queries.tolist(), entries, documents, form, facts, request)
    opened.source.warnings.extend(_doubt_ranks(path, columns, lines))
    return opened


def _tell_differences(
    path: Path | Records | QueryTable, lines: Lines, judgments: Judgments, unjudged: Set[bytes], lacking: Set[bytes]
) -> Iterator[str]:
    """Report queries that only one of run and qrels has; it is a doubt if they have none in common."""
    if unjudged and len(lacking) == len(judgments.queries):
        here, there = (quote(min(queries)) for queries in (unjudged, lacking))
        yield Doubt(
            f"{path}: has no query of {judgments.name}: are they named alike, such as {here} here and {there} there?"
        )
    if unjudged:
        rest = "" if judgments.left_out else f" ({counted(lines.n_ignored, lines.noun)})"
        named = name_queries(unjudged)
        yield f"{path}: ignored {counted(len(unjudged), 'query')} not in {judgments.name}, {named}{rest}"
    if lacking:
        it_has = "it has" if len(lacking) == 1 else "they have"
        yield (
            f"{path}: has no {lines.noun} for {len(lacking):,} of the {counted(len(judgments.queries), 'query')} of "
            f"{judgments.name}, {name_queries(lacking)}: {it_has} no prediction (trec_eval leaves them out)"
        )


def _refuse_differences(
    path: Path | Records | QueryTable, lines: Lines, judgments: Judgments, unjudged: Set[bytes], lacking: Set[bytes]
) -> None:
    """Refuse queries that only one of run and qrels has."""
    ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
    if lacking:
        raise DataError(
            f"{path}: has no {lines.noun} for {len(lacking):,} of the {counted(len(judgments.queries), 'query')} of "
            f"{judgments.name}, {name_queries(lacking)} (hint: pass {ways} to score it all the same)"
        )
    if unjudged:
        raise DataError(
            f"{path}: has {counted(len(unjudged), 'query')} that {judgments.name} lacks, {name_queries(unjudged)} "
            f"(hint: pass {ways} to ignore such queries)"
        )


def _read(
    path: Path | Records | QueryTable,
    columns: LineColumns,
    judged: Mapping[bytes, int] | None = None,
    documents: Words | None = None,
) -> Lines:
    """Read the lines of a file, of a table or of records."""
    if isinstance(path, Records):
        return RecordLines(path, judged, documents)
    if isinstance(path, QueryTable):
        return TableLines(path, judged, documents)
    return TrecLines(path, columns, judged, documents)


def _describe(path: Path | Records | QueryTable, columns: LineColumns) -> tuple[Format, list[str]]:
    """Return the format, and what people are told of it."""
    if isinstance(path, QueryTable):
        return path.table.form, [*path.table.facts, f"columns {', '.join(path.columns.names)}"]
    form = FORMATS["json-queries" if isinstance(path, Records) and path.path is not None else columns.format]
    return form, [f"{path.noun}s by query and document" if isinstance(path, Records) else form.title]


def _held(
    path: Path | Records | QueryTable,
    lines: Lines,
    queries: Iterable[bytes],
    entries: Entries,
    documents: Documents,
    form: Format,
    facts: Sequence[str],
    request: Request,
) -> Opened:
    """Return an opened file whose rows are in memory, with labels instead of the numbers of documents."""
    try:
        labels = documents.labels(lines.documents)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    if labels.max(initial=0) < 2**31:
        labels = labels.astype(np.int32)
    csr = Csr(entries.indptr, labels[entries.documents], entries.values, are_scores=True)
    names = QueryNames(str(path), lines, queries, csr, documents)
    source = MatrixSource(str(path), csr.n_rows, None, [csr], is_exact=False, names=names)
    are_lists = isinstance(path, QueryTable) and path.columns.are_lists and path.columns.value is None
    return Opened(source, form, tuple(facts), request.role, is_held=True, is_ranked=request.are_scores and are_lists)


@dataclass(frozen=True)
class QueryNames:
    """The queries and documents of rows and labels, for messages."""

    name: str
    lines: Lines
    queries: Iterable[bytes]
    csr: Csr
    documents: Documents

    def __call__(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a document for a query."""
        query = next(islice(self.queries, row, None))
        document = self.lines.documents[int(np.argmax(self.documents.labels(self.lines.documents) == label))]
        labels = self.csr.indices[self.csr.indptr[row] : self.csr.indptr[row + 1]]
        places = [f"{self.name}: query {quote(query)}"]
        if self.lines.place is not None:
            places = list(map(self.lines.place, self.lines.find(row, np.flatnonzero(labels == label))))
        return EntryNames(places, f"document {quote(document)}", f"for query {quote(query)}")

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        """Leave names out of what goes to another process."""
        return _no_names, ()


def _no_names() -> None:
    return None
