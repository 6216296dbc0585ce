"""Read dicts of queries, documents and values, as used by ranking tools, in memory or as JSON.

JSON is ``{query: {document: score}}``, as from ranx, BEIR and MTEB, or lines as from sentence-transformers.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, describe_type, listed
from xmceval.files.formats import FORMATS
from xmceval.files.io.chunks import read_lines
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.ranking.queries import Lines, QuerySource
from xmceval.files.tables.columns import find_graded, find_roles, without_texts
from xmceval.files.text.jsonlines import LAYOUT, RepeatedKeyError, load_row, to_dict
from xmceval.files.text.words import PADDING
from xmceval.rows.block import Int64

PART_SIZE = 1 << 16  # documents to read at a time
NUMBERS = (Real, np.bool_)
_FIRST_KEY = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*([\[{])')
META = "mteb_model_meta"  # a key of JSON next to the subsets of a task


def is_by_query(value: Any) -> bool:
    """Return whether a value is a dict of what belongs to a query: documents with values, or in order."""
    if not is_dict(value) or not value:
        return False
    return any(map(is_dict, value.values())) or all(map(_are_documents, value.values()))


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict, but not a sparse matrix in DOK format."""
    return isinstance(value, Mapping) and not hasattr(value, "tocsr")


def _are_documents(row: Any) -> bool:
    """Return whether a value is a dict, set or list of documents, or a list of pairs or records of them."""
    if is_dict(row) or isinstance(row, (set, frozenset)) or _are_names(row):
        return True
    return isinstance(row, (list, tuple)) and (_is_pair(row[0]) or _is_document(_fields_of(row[0])))


def _is_pair(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], (str, Integral))


def _is_document(fields: Mapping[str, Any]) -> bool:
    roles = find_roles(fields)
    return bool(roles["document"] or roles["label"])


def _is_of_query(fields: Mapping[str, Any]) -> bool:
    """Return whether a record has a query and its document, documents or results."""
    roles = find_roles(fields, fields)
    has_query = bool(roles["query"]) and not isinstance(fields[roles["query"][0]], (dict, list))
    return has_query and ("results" in fields or bool(roles["document"]))


def find_records(value: Any, name: str, noun: str) -> QuerySource | None:
    """Return what names queries as records of a grade or score (`noun`); None for others.

    This is a dict by query, a ranx Qrels or Run, or a list of records with a query and its documents in each, such as
    named tuples.
    """
    if hasattr(value, "get_doc_ids_and_scores"):
        return records_of(value.to_dict(), name, noun)
    if is_by_query(value):
        return records_of(value, name, noun)
    if is_dict(value):
        refuse_columns(value, name)
        raise DataError(
            f"{name}: is a dict of other values than documents (hint: pass {{query: {{document: {noun}}}}} or {{query: "
            "[document, ...]})"
        )
    if not (isinstance(value, (list, tuple)) and value and _is_of_query(_fields_of(value[0]))):
        return None
    return records_of(_by_query(enumerate(value), lambda i: f"{name}[{i}]", noun), name, noun)


def is_record(value: Any) -> bool:
    """Return whether a value is a dict with names of fields, or a named tuple."""
    return bool(_fields_of(value))


def _fields_of(record: Any) -> Mapping[str, Any]:
    """Return the fields of a dict or named tuple; none of other values."""
    if isinstance(record, Mapping):
        if all(isinstance(key, str) for key in record):
            return record
        return {}
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        return record._asdict()  # type: ignore[no-any-return]
    return {}


def _name_fields(fields: Mapping[str, Any], noun: str) -> list[str]:
    """Return the field of a record that has its document, or documents, and the field of their values, if any."""
    if "results" in fields:
        return ["results"]
    roles = find_roles(fields, fields)
    values = roles["score"] or roles["number"]
    if noun == "grade":
        values = find_graded(roles) or roles["number"] or roles["score"]
    return [without_texts(roles["document"] or roles["label"])[0], *values[:1]]


def _by_query(
    records: Iterable[tuple[int, Any]], place: Callable[[int], str], noun: str, *, are_json: bool = False
) -> dict[Any, Any]:
    """Return the documents of numbered records by query: the list of each, or a dict of all of a query.

    The first record decides which fields are read.
    """
    table = dict[Any, Any]()
    keys = list[str]()
    for number, record in records:
        fields = _fields_of(record)
        if not keys:
            keys = [without_texts(find_roles(fields, fields)["query"])[0], *_name_fields(fields, noun)]
        try:
            query, documents, *values = [fields[key] for key in keys]
        except KeyError as error:
            raise DataError(f"{place(number)}: lacks {error}, which the first record has") from None
        if len(keys) == 2:
            for other in _name_fields(fields, noun)[1:]:
                raise DataError(f"{place(number)}: has {other!r}, which the first record lacks")
        if are_json:
            query = _as_name(query)
            documents = _as_name(documents)
        documents, *values = (cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in (documents, *values))
        if not (isinstance(query, Hashable) and isinstance(documents, (Hashable, list, tuple))):
            raise DataError(f"{place(number)}: expected names of a query and of documents, found {ascii(record)[:60]}")
        if not isinstance(documents, (list, tuple)):
            if noun == "score" and not values:
                raise DataError(f"{place(number)}: has no score (hint: name it score)")
            of_query = table.setdefault(query, {})
            if not isinstance(of_query, dict) or documents in of_query:
                raise DataError(f"{place(number)}: query {query!r} has document {documents!r} twice; expected it once")
            of_query[documents] = next(iter(values), 1)
            continue
        if query in table:
            raise DataError(f"{place(number)}: the query {query!r} appears twice")
        if values and isinstance(values[0], (list, tuple)):
            if len(values[0]) != len(documents):
                raise DataError(f"{place(number)}: expected lists of equal length in {keys[1]!r} and {keys[2]!r}")
            documents = list(zip(documents, values[0], strict=True))
        table[query] = documents
    return table


def _as_name(value: Any) -> Any:
    """Return the name of a query or document in JSON, where numbers are names too."""
    if isinstance(value, NUMBERS):
        return str(value)
    return value


def refuse_columns(table: Mapping[Any, Any], name: str) -> None:
    """Refuse a dict whose keys are names of columns, not queries."""
    if _find_columns(list(map(str, table))):
        raise DataError(
            f"{name}: has the columns {', '.join(map(str, list(table)[:6]))}; expected queries as keys (hint: pass "
            f"pandas.DataFrame({'...' if '.' in name else name}))"
        )


def _find_columns(keys: Sequence[str]) -> list[str]:
    roles = find_roles(keys, keys)
    return roles["label"] + roles["document"] + roles["score"] + roles["grade"]


def records_of(table: Mapping[Any, Any], name: str, noun: str, *, are_json: bool = False) -> QuerySource:
    """Return the records of a dict by query."""
    refuse_columns(table, name)
    rows = dict[Any, Mapping[Any, Any]]()
    for query, row in table.items():
        rows[query] = _with_values(row, f"{name}: query {query!r}", noun, are_json=are_json)
    form = FORMATS["json-queries"]
    if not are_json:
        form = FORMATS["qrels"]
        if noun == "score":
            form = FORMATS["run"]
    is_ranked = noun == "score" and any(_are_names(row) and row for row in table.values())
    facts = (f"{noun}s by query and document",)
    return QuerySource(name, form, facts, "document", partial(read_dict, rows, name, noun), is_ranked=is_ranked)


def _are_names(row: Any) -> bool:
    """Return whether a value is a list of documents, without values."""
    return isinstance(row, (list, tuple)) and isinstance(next(iter(row), ""), (str, Integral))


def _with_values(row: Any, place: str, noun: str, *, are_json: bool) -> Mapping[Any, Any]:
    """Return the documents of a query with a grade or score of each: in a list, scores fall from the first on."""
    if isinstance(row, Mapping):
        return row
    if isinstance(row, (set, frozenset)):
        if noun == "score" and len(row) > 1:
            raise DataError(f"{place}: is a set, and a ranking has an order (hint: pass a list, the best first)")
        return dict.fromkeys(row, 1)
    if not _are_documents(row):
        raise DataError(f"{place}: expected {{document: {noun}}} or a list of documents, got {describe_type(row)}")
    if not row:
        return {}
    fields = _fields_of(row[0])
    if _is_document(fields):
        keys = _name_fields(fields, noun)
        if len(keys) == 1:
            raise DataError(f"{place}: has records of {', '.join(fields)}; expected a document and a {noun} in each")
        pairs = [(record.get(keys[0]), record.get(keys[1])) for record in map(_fields_of, row)]
    elif _is_pair(row[0]):
        pairs = [(*item,) if _is_pair(item) else (item, None) for item in row]
    elif noun == "grade":
        pairs = [(document, 1) for document in row]
    else:
        pairs = list(zip(row, range(len(row), 0, -1), strict=True))
    if are_json:
        pairs = [(_as_name(document), value) for document, value in pairs]
    for document, _ in pairs:
        if not isinstance(document, Hashable):
            raise DataError(f"{place}: expected the name of a document, found {ascii(document)[:60]}")
    documents = dict(pairs)
    if len(documents) < len(pairs):
        twice, _ = Counter(document for document, _ in pairs).most_common(1)[0]
        raise DataError(f"{place}: document {twice!r} appears twice; expected it once")
    return documents


def names_queries(text: bytes, lines: Sequence[bytes]) -> str | None:
    """Return where JSON has queries: as ``keys`` of one object, or in ``lines``; None for other JSON."""
    first = next((line for line in lines if line.strip()), b"")
    with suppress(ValueError):  # of an object of several lines
        if _is_of_query(_fields_of(json.loads(first))):
            return "lines"
    key = _FIRST_KEY.match(text)
    if key is None:
        return None
    name = key[1].decode(errors="replace")
    if key[2] == b"{" or not (name == "data" or _find_columns([name])):
        return "keys"
    return None


def read_records(path: Path, place: str, noun: str) -> QuerySource:
    """Read JSON with queries as keys of an object of objects, or with one query and its results per line."""
    if place == "lines":
        table = _by_query(_read_lines(path), lambda line: f"{path}:{line}", noun, are_json=True)
        return records_of(table, str(path), noun, are_json=True)
    content = read_all_bytes(path)
    try:
        table = dict(json.loads(content.decode("utf-8-sig"), object_pairs_hook=to_dict))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8, {error.reason} at byte {error.start:,}") from None
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
        table = {"": scores}
        if isinstance(scores, dict):
            table = scores
    return records_of(table, str(path), noun, are_json=True)


def _read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield lines such as ``{"query_id": q, "results": [{"corpus_id": d, "score": s}, ...]}`` with their numbers."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            try:
                yield number, load_row(line)
            except ValueError as error:
                raise DataError(f"{path}:{number}: {error}") from None


def read_dict(table: Mapping[Any, Mapping[Any, Any]], name: str, noun: str, lines: Lines) -> None:
    """Add all documents, some queries at a time: copying all names would take more memory than the dict."""
    part = dict[Any, Mapping[Any, Any]]()
    n_documents = 0
    for query, row in table.items():
        part[query] = row
        n_documents += len(row)
        if n_documents >= PART_SIZE:
            _add_part(part, name, noun, lines)
            part = {}
            n_documents = 0
    _add_part(part, name, noun, lines)


def _add_part(table: Mapping[Any, Mapping[Any, Any]], name: str, noun: str, lines: Lines) -> None:
    queries = list(table)
    lengths = np.array([len(row) for row in table.values()], dtype=np.int64)
    documents = list(chain.from_iterable(table.values()))
    values = list(chain.from_iterable(row.values() for row in table.values()))

    def place(i: int) -> str:
        query = queries[int(np.searchsorted(np.cumsum(lengths), i, side="right"))]
        return f"{name}: query {query!r}"

    def refuse(i: int, problem: str) -> DataError:
        return DataError(f"{place(i)}, document {documents[i]!r}: the {noun} is {problem}")

    try:
        numbers = np.frombuffer(array("d", values))
    except TypeError:
        i = next(i for i, value in enumerate(values) if not isinstance(value, NUMBERS))
        hint = ""
        if isinstance(values[i], Mapping):
            hint = f" (hint: pass {{query: {{document: {noun}}}}}; score_all takes several systems by name)"
        raise refuse(i, f"not a number but {type(values[i]).__name__}{hint}") from None
    except OverflowError:
        raise DataError(f"{name}: a {noun} is an integer too large for float64") from None
    text, places = _encode(queries, "query", lambda _: name, name)
    rows = np.repeat(lines.rows_of(lines.queries.number(text, *places)), lengths)
    wrong = np.flatnonzero(np.isnan(numbers) & (rows >= 0))
    if wrong.size:
        raise refuse(int(wrong[0]), "NaN; expected a number")
    text, places = _encode(documents, "document", place, name)
    lines.add(text, rows, places, numbers)


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
