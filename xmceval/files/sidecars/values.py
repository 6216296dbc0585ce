"""Read files with one line per label or row: names of labels, counts, weights, ids and groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from copy import copy
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, argument, counted, describe_type
from xmceval.files.arrays.npy import ArrayFile, is_npy, read_array
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, PICKLE, UTF16_BOMS
from xmceval.files.io.streams import check_is_text, quote, read_first_bytes, read_short_lines
from xmceval.files.shards import find_shards
from xmceval.files.text.words import Words, text_of
from xmceval.rows.block import Float64, Int64
from xmceval.rows.groups import RowGroups
from xmceval.rows.ids import RowIds, join_by_id
from xmceval.rows.matrices.frames import is_frame, rows_of
from xmceval.rows.matrices.storage import as_plain
from xmceval.rows.names import Axis, find_order
from xmceval.rows.shards import Shards, parts_of
from xmceval.rows.width import BEYOND

LARGEST_ID = 2**63 - 2  # one more means that the number of labels is unknown
_numbering = Lock()


class Names:
    """The names of labels 0, 1, ..., in UTF-8, with a hash table; `source` says where they come from."""

    def __init__(self, names: Sequence[bytes], source: str, *, is_list: bool = False) -> None:
        self.source = source
        self._is_list = is_list
        self.others: Words | None = None  # names that are no label, if predictions may have them
        self.hint = ""  # of the error for such a name
        self.words = Words()
        numbers = self.words.number(*text_of(names))
        if len(self) < len(names):
            label = int(np.argmax(numbers != np.arange(len(names))))
            name = names[label].decode(errors="backslashreplace")[:40]
            raise DataError(f"{self.place(label)}: {name!r} appears twice, first at {self.place(int(numbers[label]))}")

    @classmethod
    def of(cls, labels: Any, source: str = "labels") -> Names:
        """Take the names from a sequence, label 0 first; whole numbers are names like their text."""
        is_list = (
            isinstance(labels, Iterable) and not isinstance(labels, (Mapping, AbstractSet)) and not is_frame(labels)
        )
        if not is_list or getattr(labels, "ndim", 1) != 1:
            raise UsageError(
                f"{source}: expected a path, or names in their order, got {describe_type(labels)} (hint: pass a list)"
            )
        find_order(Axis("y_true", "label"), replace(rows_of(labels, source), noun="label", is_index=True))
        words = labels
        if isinstance(labels, np.ndarray):
            words = as_plain(labels, source).tolist()
        names = list[bytes]()
        for label, word in enumerate(words):
            text = word
            if isinstance(word, Integral) and not isinstance(word, bool):
                text = str(word)
            if isinstance(text, str):
                text = text.encode(errors="surrogateescape")
            if not isinstance(text, bytes) or not text:
                raise DataError(f"{source}[{label}]: expected the name of a label, got {word!r}")
            names.append(text)
        return cls(names, source, is_list=True)

    def __len__(self) -> int:
        return len(self.words)

    def place(self, label: int) -> str:
        """Return the place of a name."""
        if self._is_list:
            return f"{self.source}[{label}]"
        return f"{self.source}:{label + 1}"

    def for_predictions(self, unknown_labels: str) -> Names:
        """Return the names as predictions look them up: others are an error, or labels from BEYOND on."""
        names = copy(self)
        if unknown_labels == "miss":
            names.others = Words()
        else:
            option = argument("unknown_labels", "miss")
            names.hint = f" (hint: pass {option} to count such names as wrong predictions)"
        return names

    @cached_property
    def labels(self) -> dict[str, int]:
        """The label of each name, for readers of strings."""
        return {name.decode(errors="surrogateescape"): label for label, name in enumerate(self.words.tolist())}

    @cached_property
    def axis(self) -> Axis:
        """The labels in the order of the names."""
        return Axis.of(self.source, "label", list(self.labels))

    @property
    def listed(self) -> list[str]:
        """The names, label 0 first."""
        return [*self.labels]

    @cached_property
    def are_reordered(self) -> bool:
        """Whether the names are the label numbers in another order."""
        return self.axis.is_reordered

    @cached_property
    def are_other_numbers(self) -> bool:
        """Whether the names are whole numbers, but not label ids."""
        return all(map(is_id, self.labels)) and any(int(name) != label for name, label in self.labels.items())

    def number(self, text: NDArray[np.uint8], begins: Int64, ends: Int64) -> Int64:
        """Return the labels of words in a padded text, given their bounds [n]; -1 for others that are an error."""
        labels = self.words.find(text, begins, ends)
        unknown = labels < 0
        if self.others is not None and unknown.any():
            with _numbering:
                labels[unknown] = self.others.number(text, begins[unknown], ends[unknown])
            labels[unknown] += BEYOND
        return labels

    def label_of(self, name: str) -> int:
        """Return the label of a name, as `number` does."""
        if name in self.labels or self.others is None:
            return self.labels.get(name, -1)
        return int(self.number(*text_of([name.encode(errors="surrogatepass")]))[0])

    def find(self, words: Sequence[bytes]) -> Int64:
        """Return the label of each word, -1 for words that are not names."""
        return self.words.find(*text_of(words))

    def has_all(self, words: Sequence[bytes]) -> bool:
        """Return whether all words are names."""
        return bool((self.find(words) >= 0).all())


def read_names(labels: Any, source: str = "labels") -> Names:
    """Take label names from a sequence, or read them: text with one per line, or an npy array of strings."""
    if isinstance(labels, Names):
        return labels
    if not isinstance(labels, (str, Path)):
        return Names.of(labels, source)
    path = to_path(labels)
    head = read_first_bytes(path, 64)
    if head.startswith(NPY):
        with ArrayFile(path).open() as array:
            if len(array.header.shape) != 1:
                raise DataError(
                    f"{path}: has shape {array.header.shape}; expected one label name per entry of an array of one "
                    f"dimension (hint: a pair NAME-labels.npy and NAME-scores.npy is predictions, not "
                    f"{argument('labels')})"
                )
            if array.header.dtype.kind in "iu":
                return Names.of(array.read_whole().tolist(), str(path))
            return Names([name.encode(errors="surrogateescape") for name in array.read_strings()], str(path))
    if b"\0" in head or head.startswith((*UTF16_BOMS, PICKLE)):
        raise DataError(f"{path}: expected text with one label name per line")
    names = read_short_lines(path)
    empty = [number for number, name in enumerate(names, 1) if not name]
    if empty:
        raise DataError(
            f"{path}:{empty[0]}: {counted(len(empty), 'line')} without a name; expected one label name per line"
        )
    form = _other_form(names)
    if form:
        raise DataError(f"{path}: {form}; expected text with one label name per line")
    return Names(names, str(path))


def _other_form(lines: Sequence[bytes]) -> str:
    """Describe a list or mapping in JSON, or a table of numbers and names; empty for names."""
    if lines and lines[0][:1] in {b"[", b"{"}:
        try:
            content = json.loads(b"\n".join(lines))
        except ValueError:
            return ""
        kind = "an object"
        if isinstance(content, list):
            kind = "a list"
        return f"looks like JSON, {kind}"
    if not (lines and all(b"\t" in line for line in lines)):  # the usual case, without splitting millions of names
        return ""
    columns = zip(*(line.split(b"\t") for line in lines[1:] or lines), strict=False)
    if any(all(map(bytes.isdigit, column)) for column in columns):
        return "looks like a table, whose lines have a tab and a number"
    return ""


def names_beside_ids(name: str, other: str) -> DataError:
    """Return the error for labels that are text when another input has numbers."""
    return DataError(
        f"{name}: its labels are text, and {other} has them by number or by column (hint: pass "
        f"{argument('labels', kind='FILE')}, with the name of each label)"
    )


def is_id(word: str) -> bool:
    """Return whether a word is a label id: ASCII digits, and not too large."""
    return word.isascii() and word.isdigit() and len(word) <= 19 and int(word) <= LARGEST_ID


def unknown_name(name: str, names: Names | None, hint: str = "") -> str:
    """Return the message for a name without a label."""
    if names is None:
        option = argument("labels", kind="FILE")
        return f"{name!r} is a name, not a label id (hint: pass {option}, with the name of each label)"
    return f"{name!r} is not in {names.source}, which has {counted(len(names), 'label name')}{hint or names.hint}"


def read_numbers(path: str | Path) -> Float64:
    """Read one number per line, or a one-dimensional npy array."""
    path = to_path(path)
    if is_npy(path):
        array = read_array(path)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise DataError(f"{path}: expected numbers in one dimension, got shape {array.shape} of {array.dtype}")
        return array.astype(np.float64)
    check_is_text(path)
    lines = read_short_lines(path) or [b""]
    numbers = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            numbers[i] = float(line)
        except ValueError:
            raise DataError(f"{path}:{i + 1}: expected one number per line, found {quote(line)}") from None
    return numbers


def read_row_ids(path: str | Path | Shards) -> RowIds:
    """Read one id per line from one file, or from several whose rows continue each other."""
    lines, source = _read_words(path)
    ids = RowIds([line for _, line in lines], source)
    ids.check_each([place for place, _ in lines])
    return ids


def read_row_groups(path: str | Path | Shards, ids: RowIds | None, named: RowIds | None) -> tuple[RowGroups, bool]:
    """Read the group of each row, one per line; if rows have ids and lines two words, these are id and group.

    Also return whether they are. A tab between id and group allows spaces in the group, and means that the ids
    are names in an index.
    """
    lines, source = _read_words(path)
    pairs = [line.split("\t") if "\t" in line else line.split() for _, line in lines]
    if pairs and all(len(pair) == 2 for pair in pairs) and (ids is not None or all("\t" in line for _, line in lines)):
        groups: dict[str, str] = {}
        for (place, _), (name, group) in zip(lines, pairs, strict=True):
            if groups.setdefault(name, group) != group:
                raise DataError(f"{place}: the group of {name[:40]!r} is {group!r}, but {groups[name]!r} above")
        names = join_by_id(groups, ids or named, source, "group")
        return RowGroups.of_names(names, [source] * len(names), source), True
    return RowGroups.of_names([line for _, line in lines], (place for place, _ in lines), source), False


def _read_words(path: str | Path | Shards) -> tuple[list[tuple[str, str]], str]:
    """Return the lines of one or several files, each with its place, and a name for messages."""
    shards = find_shards(path)
    files = [to_path(part) for part in parts_of(shards)]
    lines = list[tuple[str, str]]()
    for file in files:
        check_is_text(file)
        texts = enumerate(read_short_lines(file), 1)
        lines += [(f"{file}:{number}", text.decode(errors="surrogateescape")) for number, text in texts]
    source = str(files[0])
    if len(files) > 1:
        source = shards.name
    return lines, source
