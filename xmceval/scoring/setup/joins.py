"""Join the rows and labels of an input to the inputs that were opened before it.

What both name is joined by name, in the order of the input that named it first; anything else by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from xmceval.errors import AmbiguousError, DataError, argument
from xmceval.files.opened import Opened
from xmceval.files.sidecars.values import Names, read_names, unknown_name
from xmceval.rows.filters import LabelSubset, Largest
from xmceval.rows.matrices.source import ordered
from xmceval.rows.names import Axis, find_order, first_named, say_how, unnamed_error
from xmceval.rows.source import Source, repaired
from xmceval.rows.width import Width
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import UNKNOWN_WIDTH


@dataclass(frozen=True)
class KnownLabels:
    """What is known of the labels before an input is opened: how many there are, and how they are named."""

    width: Width = UNKNOWN_WIDTH
    listed: Names | None = None  # the names in ``labels=``, label 0 first
    axis: Axis | None = None  # the labels as the first input that names them does, otherwise as the truth
    unnamed: str = ""  # an input that shares the order of this axis without naming it
    moved: Axis | None = None  # the labels of an input that were put into this order
    n_columns: int | None = None  # the number of labels of predictions in memory, if these have one

    def named_by(self, axis: Axis | None) -> KnownLabels:
        """Return what is known after predictions or training labels with this axis."""
        if axis is None or axis.names is None:
            return self
        return replace(self, axis=first_named(self.axis, axis))

    def after(self, truth: Opened) -> KnownLabels:
        """Return what is known after a truth, or one of its shards."""
        unnamed = self.unnamed
        if self.listed is None and not truth.names_labels:
            unnamed = next(part.name for part in truth.parts or (truth,) if not part.names_labels)
        return replace(
            self,
            axis=first_named(self.axis or truth.labels or Axis(truth.name, "label"), truth.labels),
            unnamed=unnamed,
            moved=self.moved or truth.reordered,
        )

    def axis_for(self, labels: Axis) -> Axis | None:
        """Return the labels to which an input's are joined; None if its numbers are label numbers."""
        if self.listed is None:
            return self.axis
        are_names = labels.are_text and self.listed.are_other_numbers  # columns "0" to "4" beside names "4" to "0"
        if labels.is_numbered and not are_names:
            return None
        return self.listed.axis

    @property
    def named_axis(self) -> Axis | None:
        """The axis, if it has names."""
        return first_named(None, self.axis)


def join_matrix(source: Source, rows: Axis, labels: Axis, known: KnownLabels) -> Opened:
    """Return a matrix in memory with its labels in the known order; its rows are not joined yet."""
    axis = known.axis_for(labels)
    order = None
    if axis is not None:
        order = find_order(axis, labels, known.unnamed)
        was_moved = known.moved is not None and known.listed is None
        if known.moved is not None and was_moved and not labels.is_named:
            raise unnamed_error(axis, known.moved, labels.source)
    reading = source.reading
    if labels.names is not None:
        reading = reading.replace("dense array", "data frame")
    opened = Opened(
        source,
        facts=(reading,),
        name=source.name,
        is_ranked=source.is_ranked,
        rows=rows,
        labels=labels,
        labels_by=say_how(axis, labels, "number"),
    )
    if order is None:
        return opened
    return replace(opened, source=ordered(source, None, order), labels=axis, reordered=labels)


def join_rows(opened: Opened, options: Options, truth: Opened | None = None) -> Opened:
    """Return an input with its rows in the order of the truth's, and its duplicate labels merged if they may be."""
    may_be_named = opened.may_name_rows or (truth is not None and truth.may_name_rows)
    if may_be_named and opened.rows_by != "query":  # queries were joined when they were read
        opened = _in_order_of_rows(opened, truth)
    if options.duplicates == "max":
        opened = replace(opened, source=repaired(opened.source))
    return opened


def _in_order_of_rows(opened: Opened, truth: Opened | None) -> Opened:
    """Return an input with its rows in the order of the truth's, if both name them."""
    rows = opened.rows or Axis(opened.name, "row")
    if truth is None:
        return replace(opened, rows=rows, rows_by=say_how(None, rows, "position"))
    ours, rows = named_rows(truth, opened)
    source = opened.source
    order = find_order(ours, rows)
    if order is not None:
        if source.stored is None:
            raise DataError(
                f"{opened.name}: its {rows.holder} has the ids of {truth.name} in another order; a text file is "
                "read in its own order (hint: sort the lines of both by it)"
            )
        source = ordered(source, order)
    return replace(opened, source=source, rows=rows, rows_by=say_how(ours, rows, "position"))


def named_rows(truth: Opened, opened: Opened) -> tuple[Axis, Axis]:
    """Return the rows of the truth and of predictions: by name if both name them, in a column or an index.

    Else a column beside the labels that both have must have the same values, since it may name the rows.
    """
    if truth.names_rows and opened.names_rows:
        return truth.named_rows, opened.named_rows
    for name in truth.columns.keys() & opened.columns.keys():
        if truth.columns[name]().listed != opened.columns[name]().listed:
            raise DataError(
                f"{opened.name}: its {name!r} differs from {name!r} of {truth.name}, and nothing else names the rows "
                "of both (hint: name it id to join the rows by it, or leave it out of one)"
            )
    for named, other in ((truth, opened), (opened, truth)):
        if named.names_rows and named.named_rows.column is None:  # columns of two names may be of two things
            refuse_reordered(named.named_rows, other)
    return truth.rows or Axis(truth.name, "row"), opened.rows or Axis(opened.name, "row")


def refuse_reordered(rows: Axis, other: Opened) -> None:
    """Refuse an input that does not name its rows, but has a column with the names of `rows` in another order."""
    for name, read in other.columns.items():
        listed = read().listed
        if listed != rows.listed and set(listed) == set(rows.listed):
            raise DataError(
                f"{other.name}: its {name!r} has the names of {rows.source} in another order (hint: rename {name!r} to "
                "id to join the rows by it)"
            )


def refuse_order_of_shards(truth: Opened, shards: Opened) -> Opened:
    """Refuse shards whose rows are named in another order than in the truth; return how their rows are joined."""
    ours, rows = named_rows(truth, shards)
    if find_order(ours, rows) is not None:
        raise DataError(
            f"{rows.source}: its shards have the rows of {truth.source.name} in another order; expected the same order"
        )
    return replace(shards, rows_by=say_how(ours, rows, "position"))


def join_named_rows(parts: Sequence[Opened], name: str) -> Axis | None:
    """Return the rows of all shards, if each shard's index names its rows."""
    rows = [axis for axis in (part.rows for part in parts) if axis is not None and axis.names is not None]
    if len(rows) < len(parts) or all(axis.is_numbered for axis in rows):
        return None
    return Axis.of(name, "row", list(chain.from_iterable(axis.listed for axis in rows)))


def join_columns(parts: Sequence[Opened], name: str) -> dict[str, Any]:
    """Return the columns beside the labels that all shards have."""
    shared = [column for column in parts[0].columns if all(column in part.columns for part in parts)]
    return {column: partial(_join_column, parts, name, column) for column in shared}


def _join_column(parts: Sequence[Opened], name: str, column: str) -> Axis:
    """Return the rows of all shards as a column beside the labels names them."""
    values = chain.from_iterable(part.columns[column]().listed for part in parts)
    return Axis.of(name, "row", list(values), column=column)


def check_numbers(names: Names | None, first: Opened, other: Opened) -> None:
    """Refuse labels by number if the names in ``labels=`` are whole numbers in another order: they may be these names.

    Lines of idx:value have column numbers, as matrices have, unless the labels of the other input are names.
    """
    if names is None:
        return
    kinds = {_labels_are(first), _labels_are(other)}
    if len(kinds) == 1:
        are_stored = _in_memory(first) and _in_memory(other)
        is_doubtful = kinds == {"number"} and are_stored and names.are_other_numbers
    elif "number" in kinds:
        is_doubtful = names.are_other_numbers
    else:
        is_doubtful = names.are_reordered
    if is_doubtful:
        numbered = other
        if _labels_are(first) == "number" or _labels_are(other) == "name":
            numbered = first
        raise AmbiguousError(
            f"{numbered.name}: has numbers, and the names in {names.source} are other numbers: are these names too, or "
            "do they count the names from 0? (hint: write the labels of both as names, or of both as numbers without "
            "a list of names)"
        )


def _labels_are(opened: Opened) -> str:
    """Return whether labels are written as a ``"number"`` or a ``"name"``, or are a ``"column"`` of a matrix."""
    if opened.labels_by != "number":
        return "name"
    if _in_memory(opened) and opened.source.n_labels is not None:
        return "column"
    return "number"


def _in_memory(opened: Opened) -> bool:
    """Return whether the rows come from a matrix, lists or a table."""
    return opened.source.parts[0].stored is not None


def find_subset(only_labels: Any, known: KnownLabels, truth: Opened | None) -> LabelSubset:
    """Return the labels that count: by name if the labels have names, else by number.

    Documents of which the truth has none are new labels, as they may be in the predictions.
    """
    listed = read_names(only_labels)
    words = listed.words.tolist()
    if not words:
        raise DataError(f"{listed.source}: has no labels; expected at least one")
    names = known.listed
    if names is None and known.named_axis is not None:
        names = Names.of(known.named_axis.listed, known.named_axis.source)
    if names is not None:
        labels = names.find(words)
    elif truth is not None and truth.documents is not None:
        labels = truth.documents.add(words)
    else:
        labels = listed.words.plain_numbers()
    first = int(np.argmin(labels))
    if labels[first] < 0:
        name = words[first].decode(errors="backslashreplace")
        raise DataError(f"{listed.place(first)}: {unknown_name(name[:40], names)}")
    last = int(np.argmax(labels))
    return LabelSubset(np.sort(labels), listed.source, Largest(int(labels[last]), listed.place(last)))


def find_width(options: Options, truth: Opened | None, names: Names | None) -> Width:
    """Return the number of labels declared by the truth, the caller and the label names."""
    width = Width()
    if truth is not None and truth.source.n_labels is not None:
        width = Width(truth.source.n_labels, f"{truth.source.name} has")
    if options.n_labels is not None:
        if width.is_known:
            width = width.agree(options.n_labels, argument("n_labels"))
        else:
            width = Width(options.n_labels, f"{argument('n_labels')} is")
    if names is None:
        return width
    return width.agree(len(names), names.source)
