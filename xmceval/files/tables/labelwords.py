"""Labels of tables by row that are text: truth, predictions and training labels are joined by them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmceval.errors import DataError, Doubt, counted
from xmceval.files.io.streams import quote
from xmceval.files.opened import Request
from xmceval.files.ranking.judgments import Documents
from xmceval.files.sidecars.labelnames import names_beside_ids
from xmceval.files.tables.arrays import AnyArray, flatten, is_text, to_float, to_whole
from xmceval.files.tables.table import Table
from xmceval.files.text.words import Words
from xmceval.rows.block import EntryNames, Float64, Int64
from xmceval.rows.matrices.storage import Csr

LEAST_ROWS = 3  # whose labels are none of the truth's, that give reason for a doubt


def find_words(table: Table, label: str, request: Request) -> Words | None:
    """Return what takes the labels of a table that are text: the words of the truth, or none so far; else None."""
    head = table.head([label])
    if request.names is not None or not head:
        return None
    column = flatten(head[0])[0] if table.is_list(label) else head[0]
    if not is_text(column):
        return None
    if request.by_row is not None and request.by_row.labels is not None:
        return request.by_row.labels.words
    if request.are_scores and not request.is_alone:
        return None
    try:
        to_whole(column)
    except DataError:
        words = (word for word in column.array.to_pylist() if word is not None)
        return Words() if any(to_float(word) is None for word in words) else None
    return None


def join_words(name: str, csr: Csr, labels: Documents, request: Request) -> tuple[Csr, list[str], list[Doubt]]:
    """Return rows with the numbers of labels instead of those of their words, with facts and doubts.

    Equal scores are put into the order of documents that tie.
    """
    words, numbers, values, facts = labels.words or Words(), csr.indices[:], csr.values[:], list[str]()
    truth = None if request.by_row is None else request.by_row.table.name
    doubts = [] if truth is None else list(_doubt_labels(name, csr.indptr, numbers, labels, truth))
    if request.are_scores and request.ties == "label":
        values = values.astype(np.float64, copy=False)
        facts.append(f"{counted(_break_ties(words, csr.indptr, numbers, values), 'tie')} broken by label")
    return Csr(csr.indptr, labels.labels(words)[numbers], values, csr.are_scores), facts, doubts


def _break_ties(words: Words, indptr: Int64, numbers: AnyArray, values: Float64) -> int:
    """Raise equal scores of a row by the least steps; return how many were equal."""
    from xmceval.kernels.text.runs import raise_ties

    if np.isnan(values).any():  # which are refused when they are scored
        return 0
    keys, entries = np.empty((2, int(np.diff(indptr).max(initial=0))), dtype=np.int64)
    numbers, bits = numbers.astype(np.int32, copy=False), values.view(np.int64)
    return int(raise_ties(indptr, numbers, bits, words.ends, words.blob, keys, entries))


def _doubt_labels(name: str, indptr: Int64, numbers: AnyArray, labels: Documents, truth: str) -> Iterator[Doubt]:
    """Yield the doubt that labels have other names in the truth, where none is one of its; refuse numbers."""
    words, n_true = labels.words, labels.places.size
    if words is None or not n_true or not numbers.size or numbers.min() < n_true:
        return
    if (words.plain_numbers()[numbers] >= 0).all():
        raise names_beside_ids(truth, name)
    if np.count_nonzero(np.diff(indptr)) >= LEAST_ROWS:
        here, there = quote(words[int(numbers[0])]), quote(words[0])
        yield Doubt(f"{name}: has no label of {truth}: are they named alike, such as {here} here and {there} there?")


@dataclass(frozen=True)
class LabelNames:
    """The labels that are text, for messages."""

    name: str
    labels: Documents

    def __call__(self, row: int, label: int) -> EntryNames:
        """Return how messages name the entries of a label in a row."""
        words = self.labels.words or Words()
        word = words[int(np.argmax(self.labels.labels(words) == label))]
        return EntryNames([f"{self.name} row {row}"], f"label {quote(word)}", "in this row")

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        """Leave names out of what goes to another process."""
        return type(None), ()
