"""Queries, documents and values in memory, as other tools for ranking have them: dicts by query and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, listed
from xmceval.files.ranking.trecrows import Lines
from xmceval.files.text.words import PADDING
from xmceval.rows.block import Float64, Int64

QUERIES, DOCUMENTS = ("query_id", "qid", "query", "q_id"), ("doc_id", "docno", "docid", "document")
VALUES = {"grade": ("relevance", "rel", "label", "grade"), "score": ("score",)}  # columns of data frames


@dataclass(frozen=True, eq=False)
class Records:
    """Queries with documents, and their grades or scores.

    Attributes
    ----------
    name : str
        What messages call them.
    noun : str
        What a value is: a grade or a score.
    queries : sequence of str
    lengths : int64 array [n_queries]
        How many documents belong to each; a query may come several times.
    documents : sequence of str
    values : float64 array [n_documents]
    """

    name: str
    noun: str
    queries: Sequence[str]
    lengths: Int64
    documents: Sequence[str]
    values: Float64

    def __str__(self) -> str:
        return self.name


class RecordLines(Lines):
    """Records as lines; each document is one.

    Raises
    ------
    DataError
        A value that is NaN, or a name that is empty or no text, with its place.
    """

    noun = "document"

    def __init__(self, records: Records, judged: Mapping[bytes, int] | None = None) -> None:
        super().__init__(judged)
        text, places = _encode(records.queries, f"{records}: a query")
        rows = np.repeat(self._rows_of(self.queries.number(text, *places)), records.lengths)
        wrong = np.flatnonzero(np.isnan(records.values) & (rows >= 0))
        if wrong.size:
            query = records.queries[int(np.repeat(np.arange(records.lengths.size), records.lengths)[wrong[0]])]
            place = _place(records.name, query, records.documents[int(wrong[0])])
            raise DataError(f"{place}: the {records.noun} is NaN; expected a number")
        text, places = _encode(records.documents, f"{records}: a document")
        self._add(text, rows, places, records.values)


def is_by_query(value: Any) -> bool:
    """Return whether a value is a dict with dicts."""
    return is_dict(value) and any(map(is_dict, value.values()))


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict; sparse matrices in dok form are dicts too, but none here."""
    return isinstance(value, Mapping) and not hasattr(value, "tocsr")


def find_records(value: Any, name: str, noun: str) -> Records | None:
    """Return the records in a dict by query, a data frame, or a Qrels or Run of ranx; None if it is neither.

    Parameters
    ----------
    value : object
    name : str
        What messages call it.
    noun : {"grade", "score"}
        What its values are.

    Raises
    ------
    DataError
        Names that are no text, or values that are no numbers, with their place.
    """
    if isinstance(value, (np.ndarray, list, tuple)) or hasattr(value, "tocsr"):
        return None
    if hasattr(value, "get_doc_ids_and_scores"):
        value = value.to_dict()
    if is_by_query(value):
        return _of_dict(value, name, noun)
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        return _of_frame(value, name, noun)
    return None


def _of_dict(table: Mapping[Any, Any], name: str, noun: str) -> Records:
    rows = list(table.values())
    for query, row in zip(table, rows, strict=True):
        if not isinstance(row, Mapping):
            raise DataError(f"{_place(name, query)}: expected a dict of {noun}s by document, got {type(row).__name__}")
    wrong = _wrong_types(table, str)
    if wrong:
        query = next(each for each in table if type(each) in wrong)
        raise DataError(f"{name}: the query {query!r} is not a str but {type(query).__name__} (hint: use str(query))")
    documents, values = (list(chain.from_iterable(each)) for each in (rows, (row.values() for row in rows)))
    wrong = _wrong_types(documents, str)
    if wrong:
        query, document = next((q, d) for q, row in table.items() for d in row if type(d) in wrong)
        raise DataError(
            f"{_place(name, query)}: the document {document!r} is not a str but {type(document).__name__} "
            "(hint: use str(document))"
        )
    wrong = _wrong_types(values, Real, np.bool_)
    if wrong:
        place, value = next(
            (_place(name, q, d), v) for q, row in table.items() for d, v in row.items() if type(v) in wrong
        )
        hint = " (hint: score_all takes several systems by name)" if isinstance(value, Mapping) else ""
        raise DataError(f"{place}: the {noun} is not a number but {type(value).__name__}{hint}")
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return Records(name, noun, list(table), lengths, documents, _as_floats(values, name, noun))


def _of_frame(frame: Any, name: str, noun: str) -> Records | None:
    """Return the records in the rows of a data frame; None if it has no columns of queries and documents."""
    columns = list(frame.columns)
    found = [next((each for each in names if each in columns), None) for names in (QUERIES, DOCUMENTS, VALUES[noun])]
    if found[0] is None or found[1] is None:
        return None
    if found[2] is None and "score" in columns and frame["score"].to_numpy().dtype.kind in "iu":
        found[2] = "score"  # as ranx calls grades; other numbers would be the scores of a run
    if found[2] is None:
        raise DataError(f"{name}: is a data frame without {noun}s; expected a column {listed(VALUES[noun], 'or')}")
    queries, documents = (_column_of_text(frame, str(each), name) for each in found[:2])
    values = frame[found[2]].to_numpy()
    if values.ndim != 1 or _wrong_types(values.tolist(), Real):
        raise DataError(f"{name}: the column {found[2]!r} is not of numbers but {values.dtype}")
    lengths = np.ones(len(queries), dtype=np.int64)
    return Records(name, noun, queries, lengths, documents, _as_floats(values.tolist(), name, noun))


def _column_of_text(frame: Any, column: str, name: str) -> list[str]:
    """Return a column of names; integers are names as they would be written."""
    values = frame[column].to_numpy()
    names: list[Any] = values.tolist()
    if values.ndim == 1 and values.dtype.kind in "iu":
        return list(map(str, names))
    wrong = _wrong_types(names, str)
    if wrong:
        row = next(i for i, each in enumerate(names) if type(each) in wrong)
        raise DataError(f"{name}: {column!r} of row {row} is {names[row]!r}; expected text or integers")
    return names


def _as_floats(values: list[Any], name: str, noun: str) -> Float64:
    try:
        return np.fromiter(values, dtype=np.float64, count=len(values))
    except OverflowError:
        raise DataError(f"{name}: a {noun} is an integer too large for float64") from None


def _wrong_types(values: Any, *expected: type) -> set[type]:
    """Return the types of some values that are none of the expected ones."""
    return {each for each in set(map(type, values)) if not issubclass(each, expected)}


def _encode(names: Sequence[str], what: str) -> tuple[NDArray[np.uint8], Int64]:
    """Return the bytes of some names one after the other, and where each begins and ends, int64 [2, n]."""
    joined = "".join(names)
    try:
        parts: Sequence[str | bytes] = names
        if not joined.isascii():
            parts = [each.encode(errors="surrogateescape") for each in names]
        text = joined.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise DataError(f"{what} has characters that cannot be written as UTF-8") from None
    lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    if not lengths.all():
        raise DataError(f"{what} has an empty name; expected at least one character")
    ends = np.cumsum(lengths)
    return np.frombuffer(text + bytes(PADDING), dtype=np.uint8), np.stack([ends - lengths, ends])


def _place(name: str, query: object, document: object = None) -> str:
    """Return the place of a query, or of a document within it, for messages."""
    return f"{name}: query {query!r}" if document is None else f"{name}: query {query!r}, document {document!r}"
