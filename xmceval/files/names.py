"""Names of labels: label l is line l of a file, and predictions or truth may say the name instead of the number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.files.streams import first_bytes, open_bytes
from xmceval.rows.block import Int64

Bytes = NDArray[np.uint8]


class Names:
    """The names of labels 0, 1, ..., and a hash table over them.

    Attributes
    ----------
    source : str
        What messages call them.
    blob, offsets, table : arrays
        All names in UTF-8, one after the other; where each begins; places of a hash table, -1 where free.
    """

    def __init__(self, names: Sequence[bytes], source: str) -> None:
        from xmceval.kernels.lists import index_names

        self.source = source
        self.offsets: Int64 = np.zeros(len(names) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in names], out=self.offsets[1:])
        self.blob: Bytes = np.frombuffer(bytearray(b"".join(names) + b"\0"), dtype=np.uint8)
        size = 16
        while size < 2 * len(names):
            size *= 2
        self.table: Int64 = np.full(size, -1, dtype=np.int64)
        found = np.full(2, -1, dtype=np.int64)
        index_names(self.blob, self.offsets, self.table, found)
        if found[0] >= 0:
            shown = names[int(found[0])].decode(errors="backslashreplace")[:40]
            raise DataError(
                f"{source}: label {found[0]} and label {found[1]} have the same name, {shown!r}; names must differ"
            )

    def __len__(self) -> int:
        return self.offsets.size - 1

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Each name's label, for readers that have strings."""
        blob, offsets = self.blob.tobytes(), self.offsets.tolist()
        return {blob[a:b].decode(errors="surrogateescape"): i for i, (a, b) in enumerate(pairwise(offsets))}

    def has_all(self, words: Iterable[bytes]) -> bool:
        """Whether every word is a name."""
        return all(word.decode(errors="surrogateescape") in self.numbers for word in words)

    @property
    def arrays(self) -> tuple[Bytes, Int64, Int64]:
        """What kernels take."""
        return self.blob, self.offsets, self.table


def read_names(path: str | Path) -> Names:
    """Read a file of label names: one a line, or a npy array of strings.

    Raises
    ------
    DataError
        A name that appears twice, an empty line between names, or no text.
    """
    path = Path(path)
    head = first_bytes(path, 64)
    if head.startswith(b"\x93NUMPY"):
        from xmceval.files.arrays.npy import read_strings

        return Names([each.encode(errors="surrogateescape") for each in read_strings(path)], str(path))
    if b"\0" in head or head[:2] in {b"\xff\xfe", b"\xfe\xff"} or head.startswith(b"\x80"):
        raise DataError(f"{path}: expected text with one name of a label a line")
    with open_bytes(path) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 20), b""))
    names = [line.strip() for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    while names and not names[-1]:
        names.pop()
    empty = [i for i, name in enumerate(names) if not name]
    if empty:
        raise DataError(
            f"{path}:{empty[0] + 1}: {counted(len(empty), 'line')} without a name; line l names label l, from 0 on"
        )
    return Names(names, str(path))


def unknown_name(name: str, names: Names | None) -> str:
    """Say that a name is not among those given, or that none were given."""
    if names is None:
        return f"{name!r} is a name, not a number of a label (hint: --labels FILE, labels=, with one name a line)"
    return f"{name!r} is not among the {counted(len(names), 'name')} of {names.source}"
