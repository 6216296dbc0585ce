"""Read TREC qrels and runs, in which rows are queries, labels are documents, and ``#`` starts a comment line.

Records in memory are read as files with the same lines would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise

import numpy as np

from xmceval.errors import DataError, Doubt, agreeing, argument, counted
from xmceval.files.formats import BOTH, SCORES
from xmceval.files.io.streams import quote
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.queries import (
    QRELS,
    Documents,
    Entries,
    Judgments,
    Lines,
    QuerySource,
    break_ties,
    decoded,
    doubt_names,
    doubt_ranks,
    doubt_words,
    name_queries,
)
from xmceval.rows.block import EntryNames
from xmceval.rows.matrices.source import read_matrix
from xmceval.rows.matrices.storage import Csr, count_rounded
from xmceval.rows.names import doubt_alike
from xmceval.rows.source import Source

QUERIES_WITH_TIES = 1000  # first queries, in which ties are counted


def open_by_query(source: QuerySource, request: Request) -> Opened:
    """Open a file, records or a table by query as truth or predictions; some formats allow only one role."""
    if source.form.holds == (SCORES,) or (source.form.holds == BOTH and request.are_scores):
        return _open_run(source, request)
    if request.are_scores:
        raise DataError(f"{source}: looks like TREC qrels, which hold truth; expected predictions, such as a TREC run")
    kept = request.judgments
    if kept is None:
        lines = source.lines()
        queries: Mapping[bytes, int] = {query: row for row, query in enumerate(lines.queries.tolist())}
        left_out = frozenset[bytes]()
    else:
        lines = source.lines(kept.queries)
        queries = kept.queries
        left_out = kept.left_out
    documents = Documents.of(lines.documents, request.names, are_ids=request.are_ids)
    entries = lines.gather(len(queries))
    is_unjudged = entries.values < 0
    n_unjudged = int(np.count_nonzero(is_unjudged))
    entries.values[is_unjudged] = 0  # pooled but not judged, as in trec_eval
    opened = _held(source, lines, queries, entries, documents, [f"documents {documents.meaning}"], request)
    if n_unjudged:
        treatment = agreeing(n_unjudged, "counts", "count")
        opened.source.notes.append(f"{source}: {counted(n_unjudged, 'grade')} below 0 {treatment} as not judged")
    judgments = Judgments(str(source), queries, documents, left_out)
    return replace(opened, judgments=judgments, has_grades=True)


def _open_run(source: QuerySource, request: Request) -> Opened:
    """Read lines of query, document and score, and put them into the order of the judged queries."""
    if not request.are_scores:
        raise DataError(f"{source}: is a TREC run, which holds predictions; expected truth, such as TREC qrels")
    judgments = request.judgments
    if request.is_alone:  # rows are the queries of the run
        lines = source.lines()
        documents = Documents.of(lines.documents, request.names)
        facts = ["rows are queries", f"documents {documents.meaning}"]
        entries = lines.gather(len(lines.queries))
        return _held(source, lines, lines.queries.tolist(), entries, documents, facts, request)
    if judgments is None:
        if source.is_line_file:
            raise DataError(
                f"{source}: is a TREC run, so the truth must be TREC qrels (hint: their lines are {QRELS.names!r})"
            )
        raise DataError(
            f"{source}: has scores by query and document, so the truth must have grades by query and document "
            "(hint: pass {query: {document: grade}}, TREC qrels, or a table with the same columns)"
        )
    lines = source.lines(judgments.queries, judgments.documents.words)
    entries = lines.gather(len(judgments.queries))
    doubts = [*_doubt_scores(source, entries, judgments), *_doubt_columns(source, lines, entries)]
    facts = []
    if request.ties == "label":
        n_ties = break_ties(lines.documents, *entries)
        facts = [f"{counted(n_ties, 'tie')} broken by document as in trec_eval"]
    documents = judgments.documents
    if documents.names is not None:
        documents = Documents(request.names)
    opened = _held(source, lines, judgments.queries, entries, documents, facts, request)
    opened.source.notes.extend(doubts)
    queries = set(lines.queries.tolist())
    unjudged = queries - judgments.queries.keys() - judgments.left_out
    lacking = judgments.queries.keys() - queries
    opened.source.notes.extend(_compare_queries(source, lines, judgments, unjudged, lacking, request.missing))
    return replace(opened, lacking=tuple(lacking))


def _doubt_scores(source: QuerySource, entries: Entries, judgments: Judgments) -> Iterator[Doubt]:
    """Yield doubts about a run before ties are broken: constant or rounded scores, and documents named otherwise."""
    n_several = n_equal = 0
    for start, end in pairwise(entries.indptr[: QUERIES_WITH_TIES + 1].tolist()):
        scores = entries.values[start:end]
        scores = scores[scores > -np.inf]
        if scores.size > 1:
            n_several += 1
            n_equal += bool((scores == scores[0]).all())
    if 2 * n_equal > n_several:
        yield Doubt(
            f"{source}: in {n_equal:,} of {counted(n_several, 'query')} with two or more documents all scores are "
            "equal: they rank no document above another"
        )
    n_rounded = count_rounded(entries.indptr, entries.values)
    if n_rounded:
        yield Doubt(
            f"{source}: in {counted(n_rounded, 'query')} scores of 2^53 or more are equal, where whole numbers are "
            "rounded when they are read: are they different? (hint: pass smaller numbers)"
        )
    words = judgments.documents.words
    if words is not None:
        n_judged = judgments.documents.places.size
        yield from doubt_words(str(source), "document", judgments.name, words, n_judged, entries.documents)


def _doubt_columns(source: QuerySource, lines: Lines, entries: Entries) -> Iterator[Doubt]:
    """Yield the doubt that a dict has columns instead of queries: each key then has the line numbers 0 to n - 1."""
    if source.is_line_file:
        return
    documents = np.unique(entries.documents)
    is_full = bool((np.diff(entries.indptr) == documents.size).all())
    if documents.size < 2 or not is_full:
        return
    numbers = {str(number).encode() for number in range(documents.size)}
    if {lines.documents[i] for i in documents.tolist()} == numbers:
        yield Doubt(
            f"{source}: every query has the documents 0 to {documents.size - 1}: are the keys columns of a data frame? "
            "(hint: pass pandas.DataFrame(...) if so)"
        )


def _compare_queries(
    source: QuerySource, lines: Lines, judgments: Judgments, unjudged: Set[bytes], lacking: Set[bytes], missing: str
) -> Iterator[str]:
    """Refuse or report queries that only the run or only the qrels have; raise a doubt if none are shared."""
    ways = f"{argument('missing', 'zero')} or {argument('missing', 'drop')}"
    lacks = (
        f"{source}: has no {lines.noun} for {len(lacking):,} of the {counted(len(judgments.queries), 'query')} of "
        f"{judgments.name}, {name_queries(lacking)}"
    )
    if lacking and missing == "error":
        raise DataError(f"{lacks} (hint: pass {ways} to score it all the same)")
    if unjudged and missing == "error":
        raise DataError(
            f"{source}: has {counted(len(unjudged), 'query')} that {judgments.name} lacks, {name_queries(unjudged)} "
            f"(hint: pass {ways} to ignore such queries)"
        )
    if unjudged:
        others = decoded(sorted(lacking | judgments.left_out))
        alike = list(doubt_alike(str(source), "query", judgments.name, decoded(sorted(unjudged)), others))
        yield from alike
        if not alike and lacking and len(lacking) == len(judgments.queries):
            yield doubt_names(str(source), "query", judgments.name, min(unjudged), min(lacking))
        rest = ""
        if not judgments.left_out:
            rest = f" ({counted(lines.n_ignored, lines.noun)})"
        named = name_queries(unjudged)
        yield f"{source}: ignored {counted(len(unjudged), 'query')} not in {judgments.name}, {named}{rest}"
    if lacking:
        it = agreeing(len(lacking), "it", "them")
        yield f"{lacks}: nothing is retrieved for {it} (trec_eval leaves {it} out)"


def _held(
    source: QuerySource,
    lines: Lines,
    queries: Iterable[bytes],
    entries: Entries,
    documents: Documents,
    facts: Sequence[str],
    request: Request,
) -> Opened:
    """Return an opened source with rows in memory, with labels instead of document numbers."""
    try:
        labels = documents.labels(lines.documents)
    except ValueError as error:
        raise DataError(f"{source}: {error}") from None
    if labels.max(initial=0) < 2**31:
        labels = labels.astype(np.int32)
    csr = Csr(entries.indptr, labels[entries.documents], entries.values, are_scores=True)
    names = partial(_name_entries, str(source), lines, queries, csr, documents)
    notes: list[str] = [*lines.doubts, *doubt_ranks(str(source), lines.ranked)]
    matrix = Source(str(source), read_matrix, csr.n_rows, stored=csr, names=names, notes=notes)
    return Opened(
        matrix,
        source.form,
        (*source.facts, *facts),
        request.role,
        is_held=True,
        is_ranked=request.are_scores and source.is_ranked,
        has_ranks=source.has_ranks,
        rows_by="query",
        labels_by="name",
    )


def _name_entries(
    name: str, lines: Lines, queries: Iterable[bytes], csr: Csr, documents: Documents, row: int, label: int
) -> EntryNames:
    """Return the names, for messages, of the entries of a document for a query."""
    query = next(islice(queries, row, None))
    document = lines.documents[int(np.argmax(documents.labels(lines.documents) == label))]
    places = [f"{name}: query {quote(query)}"]
    systems = None
    if lines.place is not None:
        labels = csr.indices[csr.indptr[row] : csr.indptr[row + 1]]
        first = np.flatnonzero(labels == label)[:2]  # messages name two at most, and finding lines takes time
        numbers = lines.find(row, first)
        places = list(map(lines.place, numbers))
        if lines.systems is not None and len(numbers) > 1:
            systems = partial(lines.systems, numbers)
    return EntryNames(places, f"document {quote(document)}", f"for query {quote(query)}", systems)
