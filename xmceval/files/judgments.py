"""Judgments: the queries and documents of a truth in the ranking field's formats, to which predictions are joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xmceval.files.names import Names, is_id, unknown_name
from xmceval.rows.block import Int64


@dataclass(frozen=True)
class Documents:
    """How documents become labels: by the names of --labels, as numbers, or by their places in a sorted list.

    Attributes
    ----------
    names : Names or None
        The label names, if any.
    places : dict or None
        The label of each document, if documents are neither label names nor numbers.
    """

    names: Names | None
    places: dict[str, int] | None = None

    def label(self, document: str) -> int:
        """Return the label of a document; one that was not judged gets the next label.

        Raises
        ------
        ValueError
            An unknown name, or a document that is not a number.
        """
        if self.names is not None:
            if document not in self.names.labels:
                raise ValueError(unknown_name(document[:40], self.names))
            return self.names.labels[document]
        if self.places is None:
            if not is_id(document):
                raise ValueError(f"expected a document number, as in the qrels, found {document[:40]!r}")
            return int(document)
        return self.places.setdefault(document, len(self.places))


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
