"""Files of groups of rows: one per line, or an id and its group."""

from __future__ import annotations

from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.sidecars.rowidfile import read_lines
from xmceval.rows.rowgroups import RowGroups
from xmceval.rows.rowids import RowIds, join_by_id
from xmceval.rows.shards import Shards, parts_of


def read_row_groups(path: str | Path | Shards, ids: RowIds | None, named: RowIds | None) -> tuple[RowGroups, bool]:
    """Read the group of each row, one per line; where rows have ids and each line two words, those are id and group.

    Whether they are is returned too. A tab between id and group allows for spaces in the group, and says that rows are
    meant by the names of an index.
    """
    shards = find_shards(path)
    files = [to_path(part) for part in parts_of(shards)]
    lines = [(f"{file}:{i}", line) for file in files for i, line in enumerate(read_lines(file), start=1)]
    source = shards.name if len(files) > 1 else str(files[0])
    pairs = [_split(line) for _, line in lines]
    if pairs and all(len(each) == 2 for each in pairs) and (ids is not None or all("\t" in line for _, line in lines)):
        groups: dict[str, str] = {}
        for (place, _), (name, group) in zip(lines, pairs, strict=True):
            if groups.setdefault(name, group) != group:
                raise DataError(f"{place}: the group of {name[:40]!r} is {group!r}, but {groups[name]!r} above")
        names = join_by_id(groups, ids or named, source, "group")
        return RowGroups.of_names(names, [source] * len(names), source), True
    return RowGroups.of_names([line for _, line in lines], (place for place, _ in lines), source), False


def _split(line: str) -> list[str]:
    """Return the id and the group of a line, if it has both."""
    return line.split("\t") if "\t" in line else line.split()
