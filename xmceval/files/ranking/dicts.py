"""Read dicts of queries, documents and values, as used by ranking tools, in memory or as JSON.

JSON is ``{query: {document: score}}``, as from ranx, BEIR and MTEB, or lines as from sentence-transformers.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, listed
from xmceval.files.formats import FORMATS
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.ranking.queries import Lines, QuerySource
from xmceval.files.tables.columns import are_known
from xmceval.files.text.jsonlines import LAYOUT, RepeatedKeyError, to_dict
from xmceval.files.text.words import PADDING
from xmceval.rows.block import Float64, Int64

PART_SIZE = 1 << 16  # documents to read at a time
NUMBERS = (Real, np.bool_)
META = "mteb_model_meta"  # a key of JSON next to the subsets of a task
TOO_LARGE = "a {} is an integer too large for float64"


def is_by_query(value: Any) -> bool:
    """Return whether a value is a dict of dicts."""
    return is_dict(value) and any(map(is_dict, value.values()))


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict, but not a sparse matrix in DOK format."""
    return isinstance(value, Mapping) and not hasattr(value, "tocsr")


def find_records(value: Any, name: str, noun: str) -> QuerySource | None:
    """Return a dict by query, or a ranx Qrels or Run, as records of a grade or score (`noun`); None for others."""
    if isinstance(value, (np.ndarray, list, tuple)) or hasattr(value, "tocsr"):
        return None
    if hasattr(value, "get_doc_ids_and_scores"):
        return records_of(value.to_dict(), name, noun)
    if is_by_query(value):
        return replace(records_of(value, name, noun), may_be_frame=True)
    if not is_dict(value):
        return None
    # In truth a query may have a set of relevant documents instead of grades.
    if noun == "grade" and value and all(isinstance(documents, (set, frozenset)) for documents in value.values()):
        return records_of({query: dict.fromkeys(documents, 1) for query, documents in value.items()}, name, noun)
    sets = " or {query: {document, ...}}" if noun == "grade" else ""
    raise DataError(f"{name}: is a dict of other values than dicts (hint: pass {{query: {{document: {noun}}}}}{sets})")


def records_of(table: Mapping[Any, Any], name: str, noun: str, path: Path | None = None) -> QuerySource:
    """Return the records of a dict by query."""
    for query, row in table.items():
        if not isinstance(row, Mapping):
            raise DataError(f"{_place(name, query)}: expected a dict of {noun}s by document, got {type(row).__name__}")
    from xmceval.files.tables.table import pass_frame  # not loaded for other inputs

    first: Mapping[Any, Any] = next(iter(table.values()), {})
    if are_known(map(str, table)) and all(row.keys() == first.keys() for row in table.values()):
        raise DataError(
            f"{name}: has the columns {', '.join(map(str, table))} by the number of the line; expected {{query: "
            f"{{document: {noun}}}}} (hint: {pass_frame(frame_code(name, path), path)})"
        )
    form = FORMATS["json-queries" if path is not None else "run" if noun == "score" else "qrels"]
    facts = (f"{noun}s by query and document",)
    return QuerySource(name, form, facts, "document", partial(_read_dict, table, name, noun), path=path)


def read_records(path: Path, place: str, noun: str) -> QuerySource:
    """Read JSON with queries as keys of an object of objects, or with one query and its results per line."""
    if place == "lines":
        return records_of(_results(path), str(path), noun, path)
    text = _text(path)
    try:
        table = dict(json.loads(text, object_pairs_hook=to_dict))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise DataError(
                f"{path}:{error.lineno}: expected one object {{query: {{document: {noun}}}}} with all queries, found "
                f"another below it (hint: put all queries into one; without queries, {LAYOUT})"
            ) from None
        raise DataError(f"{path}:{error.lineno}: expected JSON ({error.msg}: character {error.colno})") from None
    except RepeatedKeyError as error:
        raise DataError(f"{path}: {error}") from None
    except (RecursionError, ValueError):
        raise DataError(f"{path}: expected JSON without deep nesting and huge numbers") from None
    if META in table:
        predictions = {
            f"{subset}/{split}": scores
            for subset, splits in table.items()
            if subset != META and isinstance(splits, dict)
            for split, scores in splits.items()
        }
        if len(predictions) != 1:
            names = listed([repr(name) for name in predictions], "and") or "none"
            raise DataError(
                f"{path}: has predictions of several subsets or splits, {names}; expected one (hint: keep one)"
            )
        (scores,) = predictions.values()
        return records_of(dict(scores) if isinstance(scores, dict) else {"": scores}, str(path), noun, path)
    return replace(records_of(table, str(path), noun, path), may_be_frame=True)


def _text(path: Path) -> str:
    try:
        return read_all_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8, {error.reason} at byte {error.start:,}") from None


def _results(path: Path) -> dict[str, Any]:
    """Return the scores of lines ``{"query_id": q, "results": [{"corpus_id": d, "score": s}, ...]}``."""
    table: dict[str, Any] = {}
    lines = _text(path).replace("\r\n", "\n").split("\n")  # queries may contain other line separators
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=to_dict)
            pairs = [(str(hit["corpus_id"]), hit["score"]) for hit in row["results"]]
            query = str(row["query_id"])
        except RepeatedKeyError as error:
            raise DataError(f"{path}:{number}: {error}") from None
        except (ValueError, TypeError, KeyError, RecursionError):
            expected = '{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}]}'
            raise DataError(f"{path}:{number}: expected {expected}, found {ascii(line)[:60]}") from None
        documents = dict(pairs)
        if query in table or len(documents) < len(pairs):
            what = f"the query {query[:40]!r}" if query in table else "a document"
            raise DataError(f"{path}:{number}: {what} appears twice")
        table[query] = documents
    return table


def frame_code(name: str, path: Path | None, more: str = "") -> str:
    """Return the code that makes a pandas data frame of a dict by column; `more` has further arguments."""
    if path is not None:
        return f"pandas.read_json({json.dumps(name)}{more})"
    return f"pandas.DataFrame{'.from_dict' if more else ''}({name}{more})"


def _read_dict(table: Mapping[Any, Mapping[Any, Any]], name: str, noun: str, lines: Lines) -> None:
    """Add all documents, some queries at a time: copying all names would take more memory than the dict."""
    all_queries, all_rows, stop = list(table), list(table.values()), 0
    all_lengths = np.fromiter(map(len, all_rows), dtype=np.int64, count=len(all_rows))
    ends = np.cumsum(all_lengths)
    while stop < len(all_rows):
        first, n_before = stop, ends[stop] - all_lengths[stop]
        stop = int(np.searchsorted(ends, n_before + PART_SIZE)) + 1
        queries, rows, lengths = all_queries[first:stop], all_rows[first:stop], all_lengths[first:stop]
        documents = list(chain.from_iterable(rows))
        values = list(chain.from_iterable(row.values() for row in rows))
        try:
            numbers = np.frombuffer(array("d", values))
        except TypeError:
            i = next(i for i, value in enumerate(values) if not isinstance(value, NUMBERS))
            hint = " (hint: score_all takes several systems by name)" if isinstance(values[i], Mapping) else ""
            place, kind = _place(name, _query_of(queries, lengths, i), documents[i]), type(values[i]).__name__
            raise DataError(f"{place}: the {noun} is not a number but {kind}{hint}") from None
        except OverflowError:
            raise DataError(f"{name}: {TOO_LARGE.format(noun)}") from None
        add_records(lines, name, noun, queries, lengths, documents, numbers)


def add_records(
    lines: Lines,
    name: str,
    noun: str,
    queries: Sequence[Any],
    lengths: Int64,
    documents: Sequence[Any],
    values: Float64,
) -> None:
    """Add queries with their numbers of documents; `noun` is what messages call the values."""
    text, places = _encode(queries, "query", lambda _: name, name)
    rows = np.repeat(lines.rows_of(lines.queries.number(text, *places)), lengths)
    wrong = np.flatnonzero(np.isnan(values) & (rows >= 0))
    if wrong.size:
        i = int(wrong[0])
        place = _place(name, _query_of(queries, lengths, i), documents[i])
        raise DataError(f"{place}: the {noun} is NaN; expected a number")
    text, places = _encode(documents, "document", lambda i: _place(name, _query_of(queries, lengths, i)), name)
    lines.add(text, rows, places, values)


def _query_of(queries: Sequence[Any], lengths: Int64, i: int) -> Any:
    """Return the query of the i-th document."""
    return queries[int(np.searchsorted(np.cumsum(lengths), i, side="right"))]


def _encode(
    names: Sequence[Any], noun: str, place: Callable[[int], str], source: str
) -> tuple[NDArray[np.uint8], Int64]:
    """Return the bytes of all queries or documents, and their starts and ends, int64 [2, n]."""
    if not names:
        return np.zeros(PADDING, dtype=np.uint8), np.empty((2, 0), dtype=np.int64)
    try:
        joined = "\n".join(names).encode(errors="surrogateescape")
    except TypeError:
        i = next(i for i, name in enumerate(names) if not isinstance(name, str))
        raise DataError(
            f"{place(i)}: the {noun} {names[i]!r} is not a str but {type(names[i]).__name__} (hint: use str({noun}))"
        ) from None
    except UnicodeEncodeError:
        raise DataError(f"{source}: a {noun} has characters that cannot be written as UTF-8") from None
    text = np.frombuffer(joined + b"\n" + bytes(PADDING), dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    if ends.size != len(names):  # a name contains a line feed
        ends = np.cumsum([len(name.encode(errors="surrogateescape")) + 1 for name in names]) - 1
    begins = np.append(0, ends[:-1] + 1)
    if (begins == ends).any():
        raise DataError(f"{source}: a {noun} has an empty name; expected at least one character")
    return text, np.stack([begins, ends])


def _place(name: str, query: object, document: object = None) -> str:
    """Return the place of a query, or of one of its documents, for messages."""
    return f"{name}: query {query!r}" if document is None else f"{name}: query {query!r}, document {document!r}"
