"""Read label names, one per line in the order of the labels, which other files may use instead of ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, argument, counted
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, PICKLE, UTF16_BOMS
from xmceval.files.io.streams import read_first_bytes, read_short_lines
from xmceval.rows.block import Int64
from xmceval.rows.readings import Axis

LARGEST_ID = 2**63 - 2  # one more means that the number of labels is unknown


class Names:
    """The names of labels 0, 1, ..., in UTF-8, with a hash table; `source` says where they come from."""

    def __init__(self, names: Sequence[bytes], source: str) -> None:
        from xmceval.files.text.words import Words, text_of

        self.source, self.words = source, Words()
        numbers = self.words.number(*text_of(names))
        if len(self) < len(names):
            label = int(np.argmax(numbers != np.arange(len(names))))
            name = names[label].decode(errors="backslashreplace")[:40]
            raise DataError(
                f"{source}: labels {numbers[label]} and {label} have the same name, {name!r}; names must differ"
            )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def labels(self) -> dict[str, int]:
        """The label of each name, for readers of strings."""
        return {name.decode(errors="surrogateescape"): label for label, name in enumerate(self.words.tolist())}

    @cached_property
    def are_reordered(self) -> bool:
        """Whether the names are the label numbers in another order."""
        return Axis.of(self.source, "label", list(self.labels)).is_reordered

    def find(self, words: Sequence[bytes]) -> Int64:
        """Return the label of each word, -1 for words that are not names."""
        from xmceval.files.text.words import text_of

        return self.words.find(*text_of(words))

    def has_all(self, words: Sequence[bytes]) -> bool:
        """Return whether all words are names."""
        return bool((self.find(words) >= 0).all())


def read_names(path: str | Path) -> Names:
    """Read label names: text with one per line, or an npy array of strings."""
    path = to_path(path)
    head = read_first_bytes(path, 64)
    if head.startswith(NPY):
        from xmceval.files.arrays.npy import ArrayFile

        with ArrayFile(path).open() as array:
            if len(array.header.shape) != 1:
                raise DataError(
                    f"{path}: has shape {array.header.shape}; expected one label name per entry of an array of one "
                    f"dimension (hint: a pair NAME-labels.npy and NAME-scores.npy is predictions, not "
                    f"{argument('labels')})"
                )
            return Names([name.encode(errors="surrogateescape") for name in array.read_strings()], str(path))
    if b"\0" in head or head.startswith((*UTF16_BOMS, PICKLE)):
        raise DataError(f"{path}: expected text with one label name per line")
    names = read_short_lines(path)
    empty = [number for number, name in enumerate(names, 1) if not name]
    if empty:
        raise DataError(
            f"{path}:{empty[0]}: {counted(len(empty), 'line')} without a name; expected one label name per line"
        )
    return Names(names, str(path))


def names_beside_ids(name: str, other: str) -> DataError:
    """Return the error for labels that are text when another input has numbers."""
    return DataError(
        f"{name}: its labels are text, and {other} has them by number or by column (hint: pass "
        f"{argument('labels', kind='FILE')}, with one name per line)"
    )


def is_id(word: str) -> bool:
    """Return whether a word is a label id: ASCII digits, and not too large."""
    return word.isascii() and word.isdigit() and len(word) <= 19 and int(word) <= LARGEST_ID


def unknown_name(name: str, names: Names | None) -> str:
    """Return the message for a name without a label."""
    if names is None:
        return (
            f"{name!r} is a name, not a label id (hint: pass {argument('labels', kind='FILE')}, with one name per line)"
        )
    return f"{name!r} is not in {names.source}, which has {counted(len(names), 'label name')}"
