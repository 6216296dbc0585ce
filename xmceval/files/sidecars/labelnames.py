"""Names of labels: line l of a file names label l, and other files may use the names instead of the ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, argument, counted
from xmceval.files.io.inputfiles import claim_pipe
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY, PICKLE, UTF8_BOM, UTF16_BOMS
from xmceval.files.io.streams import read_all_bytes, read_first_bytes
from xmceval.rows.block import Int64

Bytes = NDArray[np.uint8]

LARGEST_ID = 2**63 - 2  # the number above means that the number of labels is unknown


class Names:
    """The names of labels 0, 1, ..., with a hash table over them.

    Parameters
    ----------
    names : sequence of bytes
        The names, in UTF-8.
    source : str
        Where they come from, for messages.

    Attributes
    ----------
    source : str
        Where they come from, for messages.
    blob, offsets, table : arrays
        All names in UTF-8, one after the other; the offset of each; the slots of the hash table, -1 where free.
    """

    def __init__(self, names: Sequence[bytes], source: str) -> None:
        from xmceval.kernels.text.lists import index_names

        self.source = source
        self.offsets: Int64 = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in names], out=self.offsets[1:])
        self.blob: Bytes = np.frombuffer(bytearray(b"".join(names) + b"\0"), dtype=np.uint8)
        size = 16
        while size < 2 * len(names):
            size *= 2
        self.table: Int64 = np.full(size, -1, dtype=np.int64)
        same = np.full(2, -1, dtype=np.int64)
        index_names(self.blob, self.offsets, self.table, same)
        if same[0] >= 0:
            name = names[int(same[0])].decode(errors="backslashreplace")[:40]
            raise DataError(f"{source}: labels {same[0]} and {same[1]} have the same name, {name!r}; names must differ")

    def __len__(self) -> int:
        return self.offsets.size - 1

    def name_of(self, label: int) -> str | None:
        """Return the name of a label, None where it has none."""
        if label >= len(self):
            return None
        start, stop = self.offsets[label : label + 2]
        return self.blob[start:stop].tobytes().decode(errors="surrogateescape")

    @cached_property
    def labels(self) -> dict[str, int]:
        """The label of each name, for readers that have strings."""
        blob, offsets = self.blob.tobytes(), self.offsets.tolist()
        return {blob[a:b].decode(errors="surrogateescape"): i for i, (a, b) in enumerate(pairwise(offsets))}

    def has_all(self, words: Iterable[bytes]) -> bool:
        """Return whether all words are names."""
        return all(word.decode(errors="surrogateescape") in self.labels for word in words)

    @property
    def arrays(self) -> tuple[Bytes, Int64, Int64]:
        """The arrays that kernels take: uint8 [n_bytes + 1], int64 [n_names + 1] and int64 [n_slots]."""
        return self.blob, self.offsets, self.table


def read_names(path: str | Path) -> Names:
    """Read label names: text with one per line, or an npy array of strings.

    Raises
    ------
    DataError
        A name that appears twice, an empty line between names, or a file that is not text.
    """
    path = to_path(path)
    claim_pipe(path)
    head = read_first_bytes(path, 64)
    if head.startswith(NPY):
        from xmceval.files.arrays.npy import read_header, read_strings

        shape = read_header(path).shape
        if len(shape) != 1:
            raise DataError(
                f"{path}: has shape {shape}; expected one label name per entry of an array of one dimension "
                f"(hint: a pair NAME-labels.npy and NAME-scores.npy is predictions, not {argument('labels')})"
            )
        return Names([name.encode(errors="surrogateescape") for name in read_strings(path)], str(path))
    if b"\0" in head or head.startswith((*UTF16_BOMS, PICKLE)):
        raise DataError(f"{path}: expected text with one label name per line")
    names = [line.strip() for line in read_all_bytes(path).removeprefix(UTF8_BOM).split(b"\n")]
    while names and not names[-1]:
        names.pop()
    empty = [number for number, name in enumerate(names, 1) if not name]
    if empty:
        raise DataError(
            f"{path}:{empty[0]}: {counted(len(empty), 'line')} without a name; expected one label name per line"
        )
    return Names(names, str(path))


def parse_label(word: str, names: Names | None) -> int:
    """Return the label of a name, or the id itself where there are no names.

    Raises
    ------
    ValueError
        An unknown name, or a word that is not an id.
    """
    if names is not None and word in names.labels:
        return names.labels[word]
    if names is None and is_id(word):
        return int(word)
    raise ValueError(unknown_name(word[:40], names))


def is_id(word: str) -> bool:
    """Return whether a word is the id of a label: ASCII digits, and not too large."""
    return word.isascii() and word.isdigit() and len(word) <= 19 and int(word) <= LARGEST_ID


def unknown_name(name: str, names: Names | None) -> str:
    """Return the message for a name that has no label."""
    if names is None:
        return (
            f"{name!r} is a name, not a label id (hint: pass {argument('labels', kind='FILE')}, with one name per line)"
        )
    return f"{name!r} is not in {names.source}, which has {counted(len(names), 'label name')}"
