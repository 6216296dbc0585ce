"""Judgments: the queries and documents of a truth in the ranking field's formats, to which predictions are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xmceval.files.io.streams import quote
from xmceval.files.sidecars.labelnames import LARGEST_ID, Names, unknown_name
from xmceval.rows.block import Int64
from xmceval.rows.rowids import RowIds


@dataclass(frozen=True)
class Documents:
    """How documents become labels: by the names of --labels, as numbers, or by their places in a sorted list.

    Documents are strings: 007 is not 7, and where documents are numbers, 007 gets a label beyond them.

    Attributes
    ----------
    names : Names or None
        The label names, if any.
    places : dict or None
        The label of each document, if documents are neither label names nor numbers.
    largest : int
        The largest of the judged documents, if they are numbers.
    """

    names: Names | None = None
    places: dict[bytes, int] | None = None
    largest: int = -1

    @classmethod
    def of(cls, judged: Iterable[bytes], names: Names | None) -> Documents:
        """Return how the judged documents become labels."""
        if names is not None:
            return cls(names)
        distinct = set(judged)
        if all(map(is_plain_number, distinct)):
            return cls(largest=max(map(int, distinct), default=-1))
        return cls(places={document: place for place, document in enumerate(sorted(distinct))})

    @property
    def meaning(self) -> str:
        """What the label of a document is, in words."""
        if self.names is not None:
            return "are label names"
        return "are label ids" if self.places is None else "are numbered in sorted order"

    def labels(self, documents: Iterable[bytes]) -> dict[bytes, int]:
        """Return the label of each document; those that were not judged get labels beyond the others.

        Raises
        ------
        ValueError
            An unknown name.
        """
        distinct = dict.fromkeys(documents)
        if self.names is not None:
            named = {document: document.decode(errors="surrogateescape") for document in distinct}
            unknown = next((name for name in named.values() if name not in self.names.labels), None)
            if unknown is not None:
                raise ValueError(unknown_name(unknown[:40], self.names))
            return {document: self.names.labels[name] for document, name in named.items()}
        if self.places is not None:
            return {document: self.places.setdefault(document, len(self.places)) for document in distinct}
        labels = {document: int(document) for document in distinct if is_plain_number(document)}
        beyond = max(self.largest, max(labels.values(), default=-1)) + 1
        others = [document for document in distinct if document not in labels]
        if beyond + len(others) > LARGEST_ID:
            raise ValueError(f"{quote(others[0])} cannot be numbered beyond documents as large as {beyond - 1}")
        return labels | {document: beyond + place for place, document in enumerate(others)}


def is_plain_number(document: bytes) -> bool:
    """Return whether a document is the id of a label, written without leading zeros."""
    return (
        document.isdigit()
        and len(document) <= 19
        and (document == b"0" or document[:1] != b"0")
        and int(document) <= LARGEST_ID
    )


@dataclass(frozen=True)
class Judgments:
    """The rows and labels of a truth in qrels or LETOR lines.

    Attributes
    ----------
    name : str
        The truth, for messages.
    queries : mapping of bytes to int
        The row of each query, in order.
    indptr : int64 array [n_queries + 1]
        The bounds of each query's documents.
    documents : Documents or None
        The labels of documents; None in LETOR lines, where label l is the l-th document of its query.
    """

    name: str
    queries: Mapping[bytes, int]
    indptr: Int64
    documents: Documents | None = None

    @property
    def row_ids(self) -> RowIds:
        """The queries, as ids of the rows."""
        return RowIds([query.decode(errors="surrogateescape") for query in self.queries], self.name)

    @property
    def has_own_labels(self) -> bool:
        """Whether the labels are numbers that only this file gives to its documents."""
        return self.documents is None or self.documents.places is not None
