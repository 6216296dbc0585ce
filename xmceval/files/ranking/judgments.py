"""The queries and documents of a truth in a ranking format, to which predictions are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xmceval.errors import Doubt, argument
from xmceval.files.io.streams import quote
from xmceval.files.sidecars.label_names import Names, unknown_name
from xmceval.rows.block import EntryNames, Int64
from xmceval.rows.ids import RowIds

if TYPE_CHECKING:
    from xmceval.files.text.words import Words

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
    def role(self) -> str:
        """The role of the values, for messages."""
        return f" as the {self.names.split()[self.value]} of {self.names!r}"

    @property
    def places(self) -> Int64:
        """The column numbers, in the form that kernels take."""
        return np.array([0, self.document, self.value, self.number, self.has_header], dtype=np.int64)

    def explain(self, text: bytes) -> str:
        """Return the message about a line with other columns."""
        words = text.split(b"\t" if self.has_header else None)
        many = f"{len(words):,} columns: " if len(words) > self.number else ""
        return f"expected {self.names!r}, found {many}{quote(text)}"


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
    """How documents become labels: by the names of --labels, by position in a sorted list, or as label ids.

    Documents are names even if all are whole numbers: they are label ids only if other inputs are by label.
    """

    names: Names | None = None  # the label names, if any
    # the documents in truth and runs, if they are neither label names nor ids: first those of the truth, then
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
        return "are label ids" if self.words is None else "are numbered in sorted order"

    def labels(self, documents: Words) -> Int64:
        """Return the label of each document, int64 [n]; refuse a document without a label.

        If documents are `words`, pass these: documents that the truth lacks get labels beyond those of the
        truth.
        """
        labels = self._numbered() if documents is self.words else self.find(documents)
        if (labels < 0).any():
            unknown = documents[int(np.argmin(labels))].decode(errors="surrogateescape")[:40]
            if self.names:
                raise ValueError(unknown_name(unknown, self.names))
            raise ValueError(
                f"the document {unknown!r} is no label id, and what propensities come from is by label id (hint: pass "
                f"{argument('labels', kind='FILE')}, with one document per line)"
            )
        return labels

    def find(self, documents: Words) -> Int64:
        """Return the label of each document, int64 [n], or -1."""
        text = documents.blob, documents.ends[:-1], documents.ends[1:]
        if self.names is not None:
            return self.names.words.find(*text)
        if self.words is None:
            return documents.plain_numbers()
        return np.append(self._numbered(), -1)[self.words.find(*text)]

    def _numbered(self) -> Int64:
        """Return the labels of `words`."""
        return np.append(self.places, np.arange(self.places.size, len(self.words or ())))


@dataclass(frozen=True)
class Judgments:
    """The rows and labels of a truth in qrels."""

    name: str  # the truth, for messages
    queries: Mapping[bytes, int]  # the row of each query, in order
    documents: Documents  # the labels of documents
    left_out: frozenset[bytes] = frozenset()  # queries of the file that are dropped since a run lacks them
    path: Path | None = None  # the file, if it is JSON
    # its documents, if every query of a dict has all of them, so that it may be a data frame by column
    full: frozenset[bytes] | None = None

    @property
    def row_ids(self) -> RowIds:
        """The queries as row ids."""
        return RowIds([query.decode(errors="surrogateescape") for query in self.queries], self.name)

    @property
    def has_own_labels(self) -> bool:
        """Whether the labels are numbers that this file alone assigns to its documents."""
        return self.documents.words is not None

    @property
    def n_mentioned(self) -> int | None:
        """The number of distinct documents in truth and runs; None if other inputs define the documents."""
        return None if self.documents.words is None else len(self.documents.words)


def name_queries(queries: Iterable[bytes]) -> str:
    """Name the first of these queries: ``such as 'q1', 'q7'``."""
    return f"such as {', '.join(map(quote, sorted(queries)[:MOST_NAMED]))}"


def doubt_names(name: str, noun: str, truth: str, here: bytes, there: bytes) -> Doubt:
    """Return the doubt that queries, documents or labels are named differently in the truth, with examples."""
    return Doubt(
        f"{name}: has no {noun} of {truth}: are they named alike, such as {quote(here)} here and {quote(there)} there?"
    )


@dataclass(frozen=True)
class EntryNamer:
    """Names the entries of a label in a row for messages; pickling, for another process, drops the names."""

    name: Callable[[int, int], EntryNames]

    def __call__(self, row: int, label: int) -> EntryNames:
        """Return the names of the entries of a label in a row."""
        return self.name(row, label)

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()
