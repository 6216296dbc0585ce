"""Shapes: tables with a column per label, and lists written as text; refused with the lines that write what is read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, listed, names_flags
from xmceval.files.io.lines import NUMBER
from xmceval.files.tables.arrays import is_text_type
from xmceval.files.tables.columns import INDEX, find_roles, plain
from xmceval.files.tables.rownames import index_columns
from xmceval.files.tables.table import LOOKED_AT, Table, split_fields
from xmceval.rows.readings import write_frame


def refuse_other_shape(table: Table, lists: Collection[str]) -> None:
    """Refuse a table that has no known column of labels: with a column per label, or with text in place of lists."""
    index = index_columns(table)
    names = [name for name in table.names if name not in lists and name not in index]
    _refuse_text(table, names)
    if not _are_unknown(names):
        return
    numbers = [name for name in names if table.has_numbers(name) and not _is_index(name)]
    others = [name for name in table.names if name in lists or (name in names and name not in numbers)]
    if len(numbers) > 1:
        ids = [name for name in others if name not in lists and _are_ids(table.head([name])[0].array.to_pylist())]
        raise _wide_error(table.name, names, others, ids, table.pandas, table.path, has_index=bool(index))


def refuse_wide_text(path: Path, line: int, names: Sequence[str], below: Iterable[bytes], delimiter: bytes) -> None:
    """Refuse lines with a number per label below a header of names, which may be 0, 1, 2, ... after a first one."""
    names = [names[0] or "Unnamed: 0", *names[1:]]  # as pandas names it
    rows = [split_fields(row, delimiter) for row in below if row.strip()]
    if len(names) < 3 or not rows or any(len(row) != len(names) for row in rows) or not _are_unknown(names):
        return
    if any(map(_is_number, names)) and names[1:] != _count(len(names) - 1):
        return
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    numbers = [name for name in names if not _is_index(name) and all(map(_is_number, cells[name]))]
    if len(numbers) > 1:
        others = [name for name in names if name not in numbers]
        between = "" if delimiter == b"," else f", sep={json.dumps(delimiter.decode())}"
        code = f"pandas.read_csv({json.dumps(str(path))}{between})"
        raise _wide_error(f"{path}:{line}", names, others, [n for n in others if _are_ids(cells[n])], code, path)


def _refuse_text(table: Table, names: Sequence[str]) -> None:
    """Refuse columns whose names are those of lists, and which have text."""
    known = {name for role in find_roles(names).values() for name in role}
    roles = find_roles(names, names)
    texts = [
        name
        for role in roles.values()
        for name in role
        if name not in known and is_text_type(table.schema.field(name).type)
    ]
    head = table.head(texts)
    if not head or not {*texts} & {*roles["document"], *roles["label"]}:
        return
    word = next((str(word) for word in head[0].array[:LOOKED_AT].to_pylist() if word), "")
    split = '.str.strip("[]").str.split(" *, *")' if "," in word else ".str.split()"
    code = "".join(f".assign(**{{{name}: lambda x: x[{name}]{split}}})" for name in map(json.dumps, texts))
    raise DataError(
        f"{table}: {listed(map(repr, texts), 'and')} {'have' if len(texts) > 1 else 'has'} text such as {word[:40]!r}; "
        f"expected lists (hint: {table.changed(code)})"
    )


def _are_unknown(names: Iterable[str]) -> bool:
    """Return whether no name is known from long tables, but for that of a row."""
    return not any(found for role, found in find_roles(names).items() if role != "row")


def _is_index(name: str) -> bool:
    """Return whether a column has the name of an index or of rows."""
    return plain(name) in INDEX | {"id"} or bool(find_roles([name])["row"])


def _is_number(word: str) -> bool:
    return NUMBER.fullmatch(word.encode()) is not None


def _count(n: int) -> list[str]:
    return list(map(str, range(n)))


def _are_ids(values: Sequence[Any]) -> bool:
    """Return whether values all differ, and are not the numbers of lines."""
    return len(set(values)) == len(values) and list(map(str, values)) != _count(len(values))


def _wide_error(
    place: str,
    names: Sequence[str],
    others: list[str],
    ids: Sequence[str],
    code: str,
    path: Path | None,
    *,
    has_index: bool = False,
) -> DataError:
    """Return the error for a table with a column per label, and `others` besides, of which `ids` may name the rows."""
    found = f"{place}: looks like a matrix with a column per label, found the columns {', '.join(names)[:60]}"
    if path is None or not names_flags():
        others = [name for name in others if path is None or name not in ids[:1]]
        return DataError(f"{found} (hint: pass {code}{_without(others)})")
    new = json.dumps(f"{path.name.partition('.')[0]}-new.npy")
    save = f"import numpy, pandas; numpy.save({new}, {code}{_without(others)}.to_numpy())"
    hint = f"run python -c {shlex.quote(save)}"
    if ids or has_index:
        rest = _without([name for name in others if name not in ids[:1]])
        keys = f".set_index({json.dumps(ids[0])})" if ids else ""
        stacked = f'{keys}{rest}.stack().rename_axis(["query_id", "doc_id"]).to_frame("value")'
        by = ids[0] if ids else "the index"
        hint += f" if rows are in order; run {write_frame(code + stacked, str(path))} to join them by {by}"
    return DataError(f"{found} (hint: {hint})")


def _without(names: Sequence[str]) -> str:
    """Return the change that drops columns, if there are any."""
    return f".drop(columns={json.dumps(names)})" if names else ""
