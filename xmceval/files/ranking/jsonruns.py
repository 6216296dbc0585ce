"""JSON by query: ``{query: {document: score}}`` of ranx, BEIR and MTEB, and the lines of sentence-transformers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, listed
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.ranking.recordlines import records_of
from xmceval.files.ranking.trec import open_by_query
from xmceval.files.text.jsonlines import RepeatedKeyError, to_dict

META = "mteb_model_meta"  # a key beside the subsets of a task


def open_json_queries(head: Head, request: Request, place: str) -> Opened:
    """Open JSON whose queries are the keys of an object with objects, or each in a line with its results."""
    may_be_frame = False
    if place == "keys":
        table = _load(head.path)
        may_be_frame = META not in table
        table = table if may_be_frame else _subset(head.path, table)
    else:
        table = _results(head.path)
    noun = "score" if request.are_scores else "grade"
    records = records_of(table, str(head.path), noun, head.path)
    return open_by_query(replace(records, may_be_frame=may_be_frame), request)


def _load(path: Path) -> dict[str, Any]:
    """Load an object with objects; a key that appears twice is refused."""
    text = _text(path)
    try:
        loaded = json.loads(text, object_pairs_hook=to_dict)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: expected JSON ({error.msg}: character {error.colno})") from None
    except RepeatedKeyError as error:
        raise DataError(f"{path}: {error}") from None
    except (RecursionError, ValueError):
        raise DataError(f"{path}: expected JSON without deep nesting and huge numbers") from None
    return dict(loaded)


def _text(path: Path) -> str:
    try:
        return read_all_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8, {error.reason} at byte {error.start:,}") from None


def _subset(path: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Return the scores of the only subset and split of a task's predictions."""
    found = {
        f"{subset}/{split}": table
        for subset, splits in task.items()
        if subset != META and isinstance(splits, dict)
        for split, table in splits.items()
    }
    if len(found) != 1:
        names = listed([repr(name) for name in found], "and") or "none"
        raise DataError(f"{path}: has predictions of several subsets or splits, {names}; expected one (hint: keep one)")
    (table,) = found.values()
    return dict(table) if isinstance(table, dict) else {"": table}


def _results(path: Path) -> dict[str, Any]:
    """Return the scores of lines ``{"query_id": q, "results": [{"corpus_id": d, "score": s}, ...]}``."""
    table: dict[str, Any] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
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
