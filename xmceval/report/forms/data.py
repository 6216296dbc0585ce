"""Write records as JSON, CSV or pandas data frames in full precision; pandas is imported only here."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from xmceval.errors import missing_package
from xmceval.files.io.write import csv_writer

if TYPE_CHECKING:
    from pandas import DataFrame

Record: TypeAlias = dict[str, Any]


def write_document(document: Mapping[str, Any], *, is_ascii: bool = True) -> str:
    """Write a document as JSON."""
    return json.dumps(to_plain(document), indent=1, ensure_ascii=is_ascii, allow_nan=False) + "\n"


def to_plain(value: Any) -> Any:
    """Convert a value for JSON: dataclasses to objects, and numbers that are not finite to null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value


def pick(owner: Any, names: Iterable[str]) -> Record:
    """Return some attributes of an object."""
    return {name: getattr(owner, name) for name in names}


def write_lines(columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> str:
    """Write these columns of lines as CSV below a head; missing keys and None are empty cells.

    Cells are for programs and not altered, even names that begin with =, +, - or @, which a spreadsheet would
    read as a formula.
    """
    text = io.StringIO()
    rows = ([_write_cell(line.get(name)) for name in columns] for line in lines)
    csv_writer(text).writerows([columns, *rows])
    return text.getvalue()


def _write_cell(value: Any) -> str:
    """Write a value; lists and objects as JSON."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, (bool, list, tuple, Mapping)):
        return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False)
    return value if isinstance(value, str) else repr(value)


def import_pandas() -> Any:
    """Return pandas, for a method `to_frame`."""
    try:
        import pandas
    except ImportError:
        raise missing_package("to_frame()", "pandas") from None
    return pandas


def make_frame(
    lines: Iterable[Mapping[str, Any]],
    systems: Sequence[str],
    columns: Mapping[str, str],
    *,
    bins: bool,
    outer: Sequence[str] = (),
) -> DataFrame:
    """Make a frame with typed columns, sorted by its index: metrics and systems in the order they were passed.

    Cutoffs ascend. Index levels have the same order, so that pandas finds lines quickly, and preserves the
    order when it turns levels into columns.
    """
    pandas = import_pandas()
    names = [*outer, "metric", "k", *(["bin"] if bins else []), *systems]
    shown = [line for line in lines if bins or not line["bin"]]
    levels = [list(dict.fromkeys(line[name] for line in shown)) for name in names]
    levels[names.index("k")].sort(key=lambda k: (isinstance(k, str), k))
    codes = []
    for name, level in zip(names, levels, strict=True):
        code_of = {value: code for code, value in enumerate(level)}
        codes.append([code_of[line[name]] for line in shown])
    index = pandas.MultiIndex(levels, codes, names=names)
    cells = [{name: line[name] for name in columns} for line in shown]
    types = {name: dtype for name, dtype in columns.items() if dtype}
    frame: DataFrame = pandas.DataFrame(cells, index=index, columns=list(columns)).astype(types)
    in_order = sorted(range(len(shown)), key=lambda row: [column[row] for column in codes])
    return frame.iloc[in_order]
