"""Read files with one line per row or label: counts, weights, row ids and row groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xmceval.errors import DataError
from xmceval.files.arrays.npy import read_array
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import NPY
from xmceval.files.io.streams import check_is_text, quote, read_first_bytes, read_short_lines
from xmceval.files.shards import find_shards
from xmceval.rows.block import Float64
from xmceval.rows.groups import RowGroups
from xmceval.rows.ids import RowIds, join_by_id
from xmceval.rows.shards import Shards, parts_of


def read_numbers(path: str | Path) -> Float64:
    """Read one number per line, or a one-dimensional npy array."""
    path = to_path(path)
    if read_first_bytes(path, len(NPY)) == NPY:
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
    return lines, shards.name if len(files) > 1 else str(files[0])
