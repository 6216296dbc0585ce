"""Align ids, groups and sample weights with the rows of the truth, and handle queries that runs lack.

Loaded only if an option needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Doubt, UsageError, agreeing, argument, counted
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import pipe_key
from xmceval.files.opened import Opened
from xmceval.files.ranking.queries import Judgments, name_queries
from xmceval.files.sidecars.values import read_row_groups, read_row_ids
from xmceval.files.tables.columns import UNUSED, explain_keys, find_roles
from xmceval.files.tables.open import table_at
from xmceval.files.tables.table import Table, memory_table
from xmceval.rows.block import Float64
from xmceval.rows.groups import RowGroups
from xmceval.rows.ids import RowIds, join_by_id
from xmceval.rows.matrices.frames import is_frame, rows_of
from xmceval.rows.names import Axis, find_order, first_named, naming_columns, plain, say_how
from xmceval.rows.shards import Shards
from xmceval.rows.source import Source
from xmceval.scoring.options import Options
from xmceval.scoring.setup.inputs import open_scores, take_numbers
from xmceval.scoring.setup.joins import KnownLabels, find_width, refuse_reordered
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.setup import Setup

# The smallest weight, relative to the largest, that keeps enough digits in sums, and in counts by label.
LEAST_WEIGHT = 2.0**-30
LEAST_COUNTED = 2.0**-20


@dataclass(frozen=True)
class PerRow:
    """Ids, weights and groups of rows, in the order of the truth."""

    truth: Opened  # with its rows named by the ids passed
    ids: RowIds | None = None  # those passed, or the queries of the truth
    rows: Axis | None = None  # the rows as weights or groups name them, if the truth does not
    weights: Any = None
    groups: RowGroups | None = None
    lines: tuple[str, ...] = ()  # how weights and groups were read


def read_per_row(options: Options, truth: Opened) -> PerRow:
    """Read the ids, weights and groups of rows in the options."""
    n_rows = truth.source.n_rows
    ids: RowIds | None = None
    if truth.judgments is not None:
        ids = truth.judgments.row_ids
    if isinstance(options.row_ids, RowIds):
        ids = options.row_ids
    elif options.row_ids is not None:
        ids = read_row_ids(options.row_ids)
    if ids is not None and options.row_ids is not None:
        truth = _name_rows(truth, ids)
    weights = options.sample_weight
    rows = None
    if truth.judgments is None and not truth.names_rows:
        of_groups = rows_of(options.by_group, "by_group")
        rows = first_named(rows_of(weights, "sample_weight"), of_groups, truth.source.name)
        if rows is not None and rows.is_named:
            refuse_reordered(rows, truth)
    lines = list[str]()
    if weights is not None:
        weights, line = join_values(weights, "sample_weight", "weight", ids, truth.named_rows)
        lines.append(line)
    groups = None
    if options.by_group is not None:
        joined, line = join_values(options.by_group, "by_group", "group", ids, truth.named_rows)
        if isinstance(joined, (str, Path, Shards)):
            groups, are_by_id = read_row_groups(joined, ids, RowIds.of_rows(truth.named_rows))
            line = f"{joined}: a group per row; rows by {'name' if are_by_id else 'position'}"
        elif isinstance(joined, RowGroups):
            groups = joined
        else:
            groups = RowGroups.of(joined)
        if n_rows is not None:
            groups.check_number(n_rows, describe_left(options))
        lines.append(line)
    return PerRow(truth, ids, rows, weights, groups, tuple(lines))


def _name_rows(truth: Opened, ids: RowIds) -> Opened:
    """Return the truth with its rows named by the ids passed; refuse names of its own in another order."""
    if truth.judgments is not None:
        raise UsageError(f"{argument('row_ids')}: the rows of {truth.judgments.name} have ids already, its queries")
    if truth.source.n_rows is not None:
        ids.check_number(truth.source.n_rows)
    named = replace(Axis.of("row_ids", "row", ids.ids), are_passed=True)
    if truth.names_rows and find_order(named, truth.named_rows) is not None:
        raise DataError(
            f"{truth.name}: its {truth.named_rows.holder} has the ids of row_ids in another order (hint: leave out "
            f"{argument('row_ids')} or the names: {truth.named_rows.without})"
        )
    refuse_reordered(named, truth)
    # The ids passed replace a column with a known name; any other column must still agree with the predictions.
    others = {name: column for name, column in truth.columns.items() if not naming_columns([name])}
    return replace(truth, rows=named, columns=others)


def describe_left(options: Options) -> str:
    """Describe the remaining rows of the truth, in messages about their number."""
    return f" that {argument('missing', 'drop')} leaves" if options.missing == "drop" else ""


def join_values(values: Any, name: str, noun: str, ids: RowIds | None, rows: Axis | None) -> tuple[Any, str]:
    """Return one value per row, joined by name if values name rows, and a description of how they were read.

    Values are an array or sequence, a Series, a mapping by id, a table of two columns, or a path; in messages
    they are called `name`, and a single one `noun`. `rows` are the rows of the truth, to which a Series may be
    aligned.
    """
    joined = values
    how = "position"
    is_file = isinstance(values, (str, Path))
    index = getattr(values, "index", None)
    has_index = index is not None and not callable(index)
    if has_index and hasattr(values, "to_numpy") and not is_frame(values):
        joined, how = _of_series(values, name, noun, ids, rows or Axis("y_true", "row"))
    elif isinstance(values, Mapping):
        by_id = {str(key): value for key, value in values.items()}
        joined = join_by_id(by_id, ids or RowIds.of_rows(rows), name, noun)
        how = "name"
    elif is_file or hasattr(values, "to_numpy"):
        table = None
        if is_file:
            table = table_at(to_path(values))
        elif is_frame(values) or hasattr(values, "to_batches"):
            table = memory_table(values, name)
        if table is not None:
            joined = _of_table(table, noun, ids or RowIds.of_rows(rows))
            how = "name"
    return joined, f"{values if is_file else name}: a {noun} per row; rows by {how}"


def _of_series(series: Any, name: str, noun: str, ids: RowIds | None, rows: Axis) -> tuple[Any, str]:
    """Return the values of a pandas Series, whose index may name the rows, and how they were joined."""
    axis = rows_of(series, name)
    if ids is not None and axis.is_numbered and Axis.of(ids.source, "row", ids.ids).is_reordered:
        raise DataError(
            f"{name}: its index has the names of the rows, in another order: are its lines by name? "
            f"(hint: if so, pass {name}.to_dict(), else {name}.to_numpy())"
        )
    if ids is not None and not axis.is_numbered:
        if not series.index.is_unique:
            twice = str(series.index[series.index.duplicated()][0])
            raise DataError(f"{name}: its index has {twice[:40]!r} twice; expected the {noun} of a row once")
        return join_by_id(dict(zip(map(str, series.index), series.tolist(), strict=True)), ids, name, noun), "name"
    numbers = series.to_numpy()
    if ids is None:
        order = find_order(rows, axis)
        if order is not None:
            numbers = numbers[order]
    return numbers, say_how(rows, axis, "position")


def _of_table(table: Table, noun: str, ids: RowIds | None) -> Any:
    """Return the values of a table of two columns, one with queries or rows and one with values."""
    roles = find_roles(table.names)
    keys = roles["query"] or roles["row"] or naming_columns(table.names)[:1]
    values = [column for column in table.names if column not in keys and plain(column) not in UNUSED]
    if len(keys) != 1 or len(values) != 1:
        names = [name for name in table.names if not name.startswith("__index_level_")]  # unnamed, of pandas
        raise DataError(
            f"{table}: found the columns {', '.join(names[:10])}; expected {explain_keys()}, and one of {noun}s "
            "(hint: leave out other columns)"
        )
    by_name: dict[Any, Any] = {}
    for key, value in table.batches([keys[0], values[0]]):
        names = key.to_whole().tolist() if keys == roles["row"] else key.to_text().tolist()
        numbers = value.to_numbers().tolist() if noun == "weight" else value.to_text().tolist()
        for line, pair in enumerate(zip(names, numbers, strict=True)):
            if by_name.setdefault(*pair) != pair[1]:
                raise key.refuse(line, f"the {noun} of {pair[0]!r} is {pair[1]!r}, but {by_name[pair[0]]!r} above")
    if keys == roles["row"]:
        ids = RowIds([str(row) for row in range(len(by_name))], str(table))
        by_name = {str(row): value for row, value in by_name.items()}
    return join_by_id(by_name, ids, str(table), noun)


def range_of(weights: Float64, unit: float) -> tuple[float, float]:
    """Return the smallest and largest positive weight [n_rows], times `unit`; infinity and 0 if none."""
    used = weights[weights > 0] * unit
    return float(used.min(initial=math.inf)), float(used.max(initial=0.0))


def doubt_small_weights(least: float, greatest: float, *, are_counted: bool) -> tuple[str, ...]:
    """Warn if the smallest positive weight (infinity if none) is too small for sums, or for counts by label."""
    smallest_share = LEAST_WEIGHT
    if are_counted:
        smallest_share = LEAST_COUNTED
    if least >= smallest_share * greatest:
        return ()
    doubt = Doubt(
        f"the smallest weight is {least / greatest:.1g} of the largest: sums are exact to 2^-60 of the "
        "largest (counts by label to 2^-40), which leaves few digits of small weights, and too narrow an interval"
    )
    return (doubt,)


def check_any_weight(name: str, greatest: float, n_rows: int) -> None:
    """Refuse rows that all have weight 0."""
    if n_rows and not greatest:
        raise DataError(f"{name}: every weight is 0, so no instance is left")


def add_weights(setup: Setup, values: Any, truth: Source | None, max_weight: float | None) -> Setup:
    """Add sample weights, one per row of the truth, divided by a power of two.

    The power comes from `max_weight`, or the largest weight, which is then in [1, 2): thus the summed values
    do not depend on the unit of the weights, and no precision is lost.
    """
    unit = None if max_weight is None else unit_of(max_weight)
    if values is None:
        raise UsageError(f"{argument('max_weight')} has no effect without {argument('sample_weight')}")
    weights, name = take_numbers(values, "sample_weight", "row")
    if truth is not None and truth.n_rows is not None and weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} has "
            f"{counted(truth.n_rows, 'row')}{describe_left(setup.options)}; expected one weight per row"
        )
    wrong = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{name}:{row + 1}: the weight of row {row} is {weights[row]:g}; expected a number of at least 0"
        )
    greatest = float(weights.max(initial=0.0))
    check_any_weight(name, greatest, weights.size)
    if max_weight is not None and greatest > max_weight:
        row = int(np.argmax(weights))
        limit = f"{argument('max_weight')}, {max_weight:g}"
        raise DataError(f"{name}:{row + 1}: the weight of row {row} is {greatest:g}, above {limit}")
    unit = unit or unit_of(greatest or 1.0)
    return replace(setup, weights=weights / unit, weight_unit=unit)


def unit_of(max_weight: Any) -> float:
    """Return the power of two at or below the largest possible weight."""
    is_number = isinstance(max_weight, (int, float, np.number)) and not isinstance(max_weight, bool)
    if not is_number or not 0 < max_weight < math.inf:
        raise UsageError(f"{argument('max_weight')} must be a number above 0, got {max_weight!r}")
    return math.ldexp(1.0, math.frexp(float(max_weight))[1] - 1)


def check_missing(options: Options, truth: Opened, inputs: Sequence[Any]) -> None:
    """Refuse the option if rows are not joined by name, or if it cannot be combined with another input."""
    missing = argument("missing", options.missing)
    if truth.judgments is None:
        raise UsageError(
            f"{missing} is for TREC runs and other predictions by query; here no row could be missing, as rows are "
            "joined by their order"
        )
    pipes = [path for path in inputs if isinstance(path, Path) and pipe_key(path) is not None]
    if options.missing == "drop" and pipes:
        raise UsageError(f"{pipes[0]}: is a pipe, and {missing} reads all files twice (hint: save it as a file)")


def keep_common(
    options: Options, truth: Opened, known: KnownLabels, runs: Sequence[System]
) -> tuple[Judgments, tuple[str, ...]]:
    """Return the judgments without queries that any run lacks, and warnings about these.

    The runs are read here only for their queries.
    """
    judgments = truth.judgments
    if judgments is None:
        raise ValueError("there are no queries")
    n_queries = counted(len(judgments.queries), "query")
    known = replace(known.after(truth), width=find_width(options, truth, known.listed))
    opened = [(run.name, open_scores(run.input, truth, options, known)) for run in runs]
    left_out = frozenset(query for _, run in opened for query in run.lacking)
    kept = [query for query in judgments.queries if query not in left_out]
    if not kept:
        raise DataError(f"{judgments.name}: none of the {n_queries} is in all runs, so there is nothing to score")
    warnings = [
        f"{name or run.name}: lacks {len(run.lacking):,} of the {n_queries} of {judgments.name}, "
        f"{name_queries(run.lacking)}"
        for name, run in opened
        if run.lacking
    ]
    if left_out:
        are = agreeing(len(left_out), "is", "are")
        warnings.append(f"{counted(len(left_out), 'query')} that a run lacks {are} left out, for all systems")
    queries = {query: row for row, query in enumerate(kept)}
    return replace(judgments, queries=queries, left_out=left_out), tuple(warnings)
