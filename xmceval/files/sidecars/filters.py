"""Read filters: pairs of row and label, or of query and document, to remove from the predictions.

They are text with one pair per line, arrays, lists or tables; numbers may be floats with whole values.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.chunks import Places, without_comment
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, UTF8_BOM
from xmceval.files.io.streams import check_is_text, is_empty, quote, read_all_bytes, read_first_bytes
from xmceval.files.ranking.dicts import add_records
from xmceval.files.ranking.queries import Documents, Entries, Judgments, Lines, name_queries
from xmceval.files.tables.columns import find_pairs, find_roles
from xmceval.files.tables.objects import find_table
from xmceval.files.tables.open import query_table, table_at
from xmceval.files.tables.table import Table, to_float
from xmceval.rows.block import Float64
from xmceval.rows.filters import Filter, Largest, as_filter, first_wrong, ordered

BEYOND = 1 << 62  # labels from here on stand for documents that are not in a list of labels


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
        return ordered(name, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if read_first_bytes(path, len(NPY)) == NPY:
        return as_filter(read_array(path), name)
    numbers, lines = _read_pairs(path)
    farthest = [int(np.argmax(column)) for column in numbers.T] if len(numbers) else []
    largest = (Largest(int(numbers[at, i]), f"{path}:{lines[at]}") for i, at in enumerate(farthest))
    return ordered(name, numbers[:, 0].astype(np.int64), numbers[:, 1].astype(np.int64), *largest)


def _open(pairs: Any) -> tuple[str, Path | None, Table | None]:
    """Return the name of a filter for messages, and its path and its table, if any."""
    if isinstance(pairs, (str, Path)):
        path = to_path(pairs)
        return path.name, path, table_at(path)
    return "filter", None, find_table(pairs, "filter")


def _read_pairs(path: Path) -> tuple[Float64, Sequence[int]]:
    """Read lines of pairs, float64 [n_pairs, 2], and the number of the line of each."""
    check_is_text(path)
    text = read_all_bytes(path).removeprefix(UTF8_BOM)
    n_lines = text.count(b"\n") + (not text.endswith(b"\n"))
    plain = b"\n".join(map(without_comment, text.split(b"\n"))) if b"#" in text else text
    pairs: Float64 | None = None
    with warnings.catch_warnings(), suppress(ValueError):
        warnings.simplefilter("ignore", UserWarning)  # blank text is allowed
        pairs = np.loadtxt(io.BytesIO(plain), dtype=np.float64, comments=None, ndmin=2)
        pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
    is_right = pairs is not None and pairs.shape[1] == 2 and first_wrong(pairs) is None
    if pairs is not None and is_right and len(pairs) == n_lines:
        return pairs, range(1, n_lines + 1)
    numbered = ((number, line.split()) for number, line in enumerate(plain.split(b"\n"), 1))
    lines = [(number, words) for number, words in numbered if words]
    if pairs is not None and is_right:
        return pairs, [number for number, _ in lines]
    pairs = np.empty((len(lines), 2))
    for i, (number, words) in enumerate(lines):
        try:
            pairs[i] = [float(word) for word in words]
            is_pair = len(words) == 2 and first_wrong(pairs[i : i + 1]) is None
        except ValueError:
            is_pair = False
        if not is_pair:
            hint = ""
            if len(words) == 2 and words[0].isdigit() and to_float(words[1].decode(errors="replace")) is None:
                hint = (
                    " (hint: names of labels are not read in a filter; their numbers are those of the lines of labels, "
                    "from 0)"
                )
            raise DataError(
                f"{path}:{number}: expected 'row label', two whole numbers of at least 0, "
                f"found {quote(b' '.join(words))}{hint}"
            )
    return pairs, [number for number, _ in lines]


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
        lines = query_table(table, columns, are_scores=False).lines(judgments.queries)
    else:
        words = list(_listed_pairs(pairs) if path is None else _read_words(path))
        queries, documents = map(list, zip(*words, strict=True)) if words else ([], [])
        lines, ones = Lines("document", judgments.queries), np.ones(len(queries), dtype=np.int64)
        add_records(lines, name, "pair", queries, ones, documents, np.zeros(len(queries)))
    unknown = set(lines.queries.tolist()) - judgments.queries.keys() - judgments.left_out
    if unknown:
        raise DataError(
            f"{name}: has {counted(len(unknown), 'query')} that {judgments.name} lacks, {name_queries(unknown)} (hint: "
            "for queries, a filter has names of query and document, not numbers of row and label)"
        )
    return NamedPairs(name, lines, lines.gather(len(judgments.queries)))


def _read_words(path: Path) -> Iterable[tuple[str, str]]:
    """Yield the pairs in text, separated by blanks or a tab; comments are lines that begin with a hash."""
    if not is_empty(path) and read_first_bytes(path, len(NPY)) == NPY:
        raise DataError(f"{path}: is an array; expected text of lines 'query document', or a table")
    check_is_text(path)
    for number, line in Places(path, has_comments=True).filled_lines():
        words = line.split(b"\t") if line.count(b"\t") == 1 else line.split()
        if len(words) != 2:
            raise DataError(f"{path}:{number}: expected 'query document', found {quote(line)}")
        query, document = (word.strip().decode(errors="surrogateescape") for word in words)
        yield query, document


def _listed_pairs(pairs: Any) -> Iterable[tuple[Any, Any]]:
    """Yield the pairs of a list or an array."""
    rows = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
    for i, pair in enumerate(rows):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise DataError(f"filter[{i}]: expected names of a query and a document, got {pair!r}")
        yield tuple(pair)
