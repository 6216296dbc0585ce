"""Judgments: the queries and documents of a truth in the ranking field's formats, to which predictions are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xmceval.files.names import LARGEST_ID, Names, is_id, unknown_name
from xmceval.rows.block import Int64


@dataclass(frozen=True)
class Documents:
    """How documents become labels: by the names of --labels, as numbers, or by their places in a sorted list.

    Documents are strings: 007 is not 7, and where documents are numbers, 007 gets a label beyond them.

    Attributes
    ----------
    names : Names or None
        The label names, where they were given.
    places : dict or None
        The label of each document, where documents are neither label names nor numbers.
    largest : int
        The largest of the judged documents, where they are numbers.
    """

    names: Names | None = None
    places: dict[str, int] | None = None
    largest: int = -1

    @classmethod
    def of(cls, judged: Iterable[str], names: Names | None) -> Documents:
        """Return how the judged documents become labels."""
        if names is not None:
            return cls(names)
        distinct = set(judged)
        if all(map(is_plain_number, distinct)):
            return cls(largest=max(map(int, distinct), default=-1))
        ordered = sorted(distinct, key=as_bytes)
        return cls(places={document: place for place, document in enumerate(ordered)})

    @property
    def meaning(self) -> str:
        """What the label of a document is, in words."""
        if self.names is not None:
            return "are label names"
        return "are label ids" if self.places is None else "are numbered in sorted order"

    def labels(self, documents: Iterable[str]) -> dict[str, int]:
        """Return the label of each document; those that were not judged get labels beyond the others.

        Raises
        ------
        ValueError
            An unknown name.
        """
        distinct = dict.fromkeys(documents)
        if self.names is not None:
            unknown = next((document for document in distinct if document not in self.names.labels), None)
            if unknown is not None:
                raise ValueError(unknown_name(unknown[:40], self.names))
            return {document: self.names.labels[document] for document in distinct}
        if self.places is not None:
            return {document: self.places.setdefault(document, len(self.places)) for document in distinct}
        labels = {document: int(document) for document in distinct if is_plain_number(document)}
        beyond = max(self.largest, max(labels.values(), default=-1)) + 1
        others = [document for document in distinct if document not in labels]
        if beyond + len(others) > LARGEST_ID:
            raise ValueError(f"{others[0][:40]!r} cannot be numbered beyond documents as large as {beyond - 1}")
        return labels | {document: beyond + place for place, document in enumerate(others)}


def is_plain_number(document: str) -> bool:
    """Return whether a document is the id of a label, written without leading zeros."""
    return is_id(document) and (document == "0" or document[0] != "0")


def as_bytes(word: str) -> bytes:
    """Return the bytes of a word of a file, by which trec_eval compares documents."""
    return word.encode(errors="surrogateescape")


@dataclass(frozen=True)
class Judgments:
    """The rows and labels of a truth in qrels or LETOR lines.

    Attributes
    ----------
    name : str
        The truth, for messages.
    queries : mapping of str to int
        The row of each query, in order.
    indptr : int64 array [n_queries + 1]
        The bounds of each query's documents.
    documents : Documents or None
        The labels of documents; None in LETOR lines, where label l is the l-th document of its query.
    """

    name: str
    queries: Mapping[str, int]
    indptr: Int64
    documents: Documents | None = None

    @property
    def has_own_labels(self) -> bool:
        """Whether the labels are numbers that only this file gives to its documents."""
        return self.documents is None or self.documents.places is not None
