"""Read filters: pairs of row and label, or of query and document, to remove from the predictions.

They are text with one pair per line, arrays, lists or tables; numbers may be floats with whole values.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, UsageError, counted, describe_type
from xmceval.files.arrays.npy import is_npy, read_array
from xmceval.files.io.chunks import Places, without_comment
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import check_is_text, is_empty, quote, read_all_bytes
from xmceval.files.ranking.dicts import read_dict
from xmceval.files.ranking.queries import Documents, Entries, Judgments, Lines, name_queries
from xmceval.files.tables.columns import find_pairs, find_roles
from xmceval.files.tables.objects import find_table
from xmceval.files.tables.open import query_table, table_at
from xmceval.files.tables.table import Table, to_float
from xmceval.rows.block import Float64
from xmceval.rows.filters import Filter, as_filter, first_wrong, ordered
from xmceval.rows.width import BEYOND


def take_filter(pairs: Any) -> Filter:
    """Read pairs of row and label from a file, a table or an array; an empty file means no pairs."""
    name, path, table = _open(pairs)
    if table is not None:
        roles = find_roles(table.names)
        if len(roles["row"]) != 1 or len(roles["label"]) != 1:
            raise DataError(
                f"{table}: found the columns {', '.join(table.names[:10])}; expected one of rows, such as 'row', and "
                "one of labels, such as 'label', both 0-based numbers"
            )
        batches = table.batches(roles["row"] + roles["label"])
        parts = [np.column_stack([column.to_whole() for column in batch]) for batch in batches]
        return as_filter(np.concatenate([np.empty((0, 2), dtype=np.int64), *parts]), name)
    if path is None:
        return as_filter(pairs)
    if is_empty(path):
        return as_filter(np.empty((0, 2)), name)
    if is_npy(path):
        return as_filter(read_array(path), name)
    numbers, place = _read_pairs(path)
    return as_filter(numbers, name, place)


def _open(pairs: Any) -> tuple[str, Path | None, Table | None]:
    """Return the name of a filter for messages, and its path and its table, if any."""
    if isinstance(pairs, (str, Path)):
        path = to_path(pairs)
        return path.name, path, table_at(path)
    return "filter", None, find_table(pairs, "filter")


def _read_pairs(path: Path) -> tuple[Float64, Callable[[int], str]]:
    """Read lines of pairs, float64 [n_pairs, 2], and return what finds the place of each."""
    check_is_text(path)
    text = read_all_bytes(path).removeprefix(UTF8_BOM)
    if b"#" in text:
        text = b"\n".join(map(without_comment, text.split(b"\n")))

    def filled() -> Iterator[tuple[str, list[bytes]]]:
        return ((f"{path}:{number}", line.split()) for number, line in enumerate(text.split(b"\n"), 1) if line.strip())

    pairs = None
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore", UserWarning)  # blank text is allowed
        pairs = np.loadtxt(io.BytesIO(text), dtype=np.float64, comments=None, ndmin=2)
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2)
    if pairs is None or pairs.shape[1] != 2 or first_wrong(pairs) is not None:
        for place, words in filled():
            _check_pair(place, words)
        raise DataError(f"{path}: expected lines of 'row label', two whole numbers of at least 0")
    return pairs, lambda entry: next(islice(filled(), entry, None))[0]


def _check_pair(place: str, words: Sequence[bytes]) -> None:
    numbers = [to_float(word.decode(errors="replace")) for word in words]
    is_pair = len(words) == 2
    if is_pair and None not in numbers and first_wrong(np.array([numbers], dtype=np.float64)) is None:
        return
    hint = ""
    if is_pair and words[0].isdigit() and numbers[1] is None:
        hint = " (hint: a filter has numbers of labels, not names: line numbers in the file of labels, from 0)"
    raise DataError(
        f"{place}: expected 'row label', two whole numbers of at least 0, found {quote(b' '.join(words))}{hint}"
    )


@dataclass(frozen=True)
class NamedPairs:
    """Pairs of a query, by its row, and the name of a document."""

    name: str
    lines: Lines
    entries: Entries

    def filter(self, documents: Documents) -> Filter:
        """Return rows and labels; call this after reading predictions, which may name unjudged documents.

        Documents in neither truth nor predictions get the next labels, since a collection has them too.
        """
        labels = documents.find(self.lines.documents)
        following = BEYOND if documents.words is None else len(documents.words)
        labels = np.where(labels < 0, following + np.arange(labels.size), labels)
        rows = np.repeat(np.arange(self.entries.indptr.size - 1), np.diff(self.entries.indptr))
        return ordered(self.name, rows, labels[self.entries.documents])


def read_named_pairs(pairs: Any, judgments: Judgments) -> NamedPairs:
    """Read pairs from text, a table, a data frame or a list; refuse queries that the truth lacks."""
    name, path, table = _open(pairs)
    if table is not None:
        lists = [column for column in table.names if table.is_list(column)]
        columns, _ = find_pairs(table.name, table.names, lists, are_scores=False)
        if not columns.has_queries:
            raise DataError(f"{table}: has numbers of rows, and {judgments.name} has queries; expected names of these")
        lines = query_table(table, columns).lines(judgments.queries)
    else:
        by_query = dict[str, dict[str, float]]()
        for query, document in _listed_pairs(pairs) if path is None else _read_words(path):
            by_query.setdefault(query, {})[document] = 1.0
        lines = Lines("document", judgments.queries)
        read_dict(by_query, name, "pair", lines)
    unknown = set(lines.queries.tolist()) - judgments.queries.keys() - judgments.left_out
    if unknown:
        raise DataError(
            f"{name}: has {counted(len(unknown), 'query')} that {judgments.name} lacks, {name_queries(unknown)} (hint: "
            "for queries, a filter has names of query and document, not numbers of row and label)"
        )
    return NamedPairs(name, lines, lines.gather(len(judgments.queries)))


def _read_words(path: Path) -> Iterable[tuple[str, str]]:
    """Yield the pairs in text, separated by blanks or a tab; comments are lines that begin with a hash."""
    if not is_empty(path) and is_npy(path):
        raise DataError(f"{path}: is an array; expected text of lines 'query document', or a table")
    check_is_text(path)
    for number, line in Places(path, has_comments=True).filled_lines():
        words = line.split(b"\t")
        if len(words) != 2:
            words = line.split()
        if len(words) != 2:
            raise DataError(f"{path}:{number}: expected 'query document', found {quote(line)}")
        query, document = (word.strip().decode(errors="surrogateescape") for word in words)
        yield query, document


def _listed_pairs(pairs: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(pairs, np.ndarray):
        pairs = pairs.tolist()
    if not isinstance(pairs, Iterable):
        raise UsageError(f"filter: expected pairs of query and document, got {describe_type(pairs)}")
    for i, pair in enumerate(pairs):
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not (is_pair and all(isinstance(word, str) for word in pair)):  # also words of numpy
            raise DataError(f"filter[{i}]: expected names of a query and a document, got {pair!r}")
        yield tuple(pair)
