"""Open truth, predictions and training labels: matrices, tables, files, or shards of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.errors import DataError, argument, counted
from xmceval.files.io.paths import RemotePath, find_files, to_path
from xmceval.files.io.streams import pipe_key
from xmceval.files.open import open_source
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.dicts import find_records, is_record
from xmceval.files.ranking.queries import Judgments, QuerySource
from xmceval.files.sidecars.values import names_beside_ids, read_numbers
from xmceval.rows.block import Float64
from xmceval.rows.matrices.frames import is_frame, read_wide, rows_of
from xmceval.rows.matrices.source import as_scores, as_truth, is_sparse
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.matrices.tensors import as_array
from xmceval.rows.names import Axis, first_named
from xmceval.rows.progress import in_turn
from xmceval.rows.shards import Shards
from xmceval.rows.source import Source, reopened, sharded
from xmceval.rows.width import Width
from xmceval.scoring.options import Options
from xmceval.scoring.setup.joins import (
    KnownLabels,
    join_columns,
    join_matrix,
    join_named_rows,
    join_rows,
    refuse_order_of_shards,
)

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

MOST_FORMATS = 3  # formats of shards in a note


def open_truth(
    value: Any,
    options: Options,
    known: KnownLabels,
    *,
    name: str = "y_true",
    first: Opened | None = None,
    kept: Judgments | None = None,
) -> Opened:
    """Open a truth, or training labels after the truth `first`; shards are already resolved.

    `kept` are the queries of the truth to keep.
    """
    request = Request(
        "truth",
        known.listed,
        n_labels=known.width.or_none or options.n_labels,
        judgments=kept,
        by_row=None if first is None else first.by_row,
        max_line=options.max_line,
        are_ids=bool(options.sources),
    )
    if isinstance(value, Shards):
        value = _join_tables(value, name)
    if not isinstance(value, Shards):
        return _open_true_part(value, name, options, known, request, first)
    of_shard = replace(request, is_shard=True)
    parts = list[Opened]()
    for number, part in enumerate(in_turn(value.name, value.parts)):
        opened = _open_true_part(part, f"{name}[{number}]", options, known, of_shard, first)
        known = known.after(opened)
        parts.append(opened)
    return _join_shards(value, parts, are_scores=False)


def _open_true_part(
    value: Any, name: str, options: Options, known: KnownLabels, request: Request, first: Opened | None
) -> Opened:
    """Open a truth that is no shards, or one of its shards."""
    stored = find_stored(value, name, "grade")
    if stored is None:
        if first is not None and first.judgments is None and first.documents is not None:
            raise names_beside_ids(first.name, name)
        values, rows, labels = _split_names(value, name)
        source = as_truth(values, name, request.n_labels or known.n_columns, has_grades=options.grades)
        return join_rows(join_matrix(source, rows, labels, known), options)
    opened = _open_stored(stored, request)
    if name == "train" and opened.by_row is not None:
        from xmceval.files.tables.by_row import doubt_numbers  # not loaded for other files

        opened.source.notes.extend(doubt_numbers(opened.by_row))
        if opened.by_row.labels is not None and (first is None or first.documents is None):
            raise names_beside_ids(name, "y_true" if first is None else first.name)
    return join_rows(opened, options)


def open_scores(value: Any, truth: Opened, options: Options, known: KnownLabels) -> Opened:
    """Open predictions with resolved shards, in the order of the rows of the truth and of the known labels."""
    if isinstance(value, Shards):
        value = _join_tables(value, "y_score", truth)
    if not isinstance(value, Shards):
        return _open_scored_part(value, "y_score", truth, options, known, truth.source.n_rows)
    _refuse_judgments(truth.judgments, value)
    is_paired = len(truth.parts) == len(value)
    partners: Sequence[Opened] = truth.parts
    if not is_paired:  # with a single truth file, the rows of a shard are not known
        partners = [replace(truth, rows=None, by_row=None, columns={})] * len(value)
    parts = list[Opened]()
    for number, part in enumerate(in_turn(value.name, value.parts)):
        partner = partners[number]
        n_rows = None
        of_part = known
        if is_paired:
            n_rows = partner.source.n_rows
            of_part = replace(known, moved=partner.reordered)
        opened = _open_scored_part(part, f"y_score[{number}]", partner, options, of_part, n_rows, is_shard=True)
        known = known.named_by(opened.labels)
        parts.append(opened)
    whole = _join_shards(value, parts, are_scores=True)
    if not is_paired:
        whole = refuse_order_of_shards(truth, whole)
    elif whole.rows is not None and whole.rows.names is not None and whole.rows_by.startswith("position"):
        refuse_order_of_shards(truth, whole)  # shards in another order, if an index shows it
    if options.threshold is not None:
        _check_threshold(options.threshold, whole)
    return whole


def _open_scored_part(
    value: Any,
    name: str,
    truth: Opened,
    options: Options,
    known: KnownLabels,
    n_rows: int | None,
    *,
    is_shard: bool = False,
) -> Opened:
    """Open predictions that are no shards, or one of their shards, with an expected number of rows."""
    if hasattr(value, "iloc"):
        from xmceval.files.tables.objects import refuse_columns_of_sets  # not loaded for other matrices

        refuse_columns_of_sets(value, name)
    stored = find_stored(value, name, "score")
    n_labels = known.width.or_none
    if stored is not None:
        names = known.listed
        if names is not None:
            names = names.for_predictions(options.unknown_labels)
        request = Request(
            "scores",
            names,
            n_rows,
            n_labels,
            truth.judgments,
            truth.by_row,
            options.ties,
            options.max_line,
            missing=options.missing,
            is_shard=is_shard,
        )
        opened = _open_stored(stored, request)
        if names is not None:
            opened.source.unknown = names.others
        if truth.judgments is not None:
            _check_beside_judgments(opened, truth.judgments, known.width)
        return join_rows(replace(opened, source=opened.fit_width(n_labels)), options, truth)
    if truth.judgments is not None:
        raise DataError(
            f"{name}: is an array, and {truth.judgments.name} has grades by query and document, whose order it "
            "cannot follow (hint: pass {query: {document: score}})"
        )
    if truth.documents is not None:
        raise names_beside_ids(truth.name, name)
    values, rows, labels = _split_names(value, name)
    if labels.is_named:
        n_labels = len(labels.listed)
    source = as_scores(values, name, n_labels)
    if source.n_labels is None:  # columns are ranks
        labels = Axis(name, "label")
    return join_rows(join_matrix(source, rows, labels, known), options, truth)


def _open_stored(stored: Path | QuerySource | Table, request: Request) -> Opened:
    """Open a file; a shard that holds rows in memory is reopened when they are needed, and then freed."""
    opened = replace(open_source(stored, request), name=str(stored))
    if not (request.is_shard and opened.is_held and isinstance(stored, Path)) or pipe_key(stored) is not None:
        return opened
    files = () if isinstance(stored, RemotePath) else find_files(stored)
    return replace(opened, source=reopened(opened.source, partial(_open_again, stored, request), files))


def _open_again(path: Path, request: Request) -> Source:
    return open_source(path, request).source


def _check_beside_judgments(opened: Opened, judgments: Judgments, width: Width) -> None:
    """Refuse predictions in a file, a table or records that do not fit grades by query."""
    if opened.rows_by != "query":
        raise DataError(
            f"{opened.name}: has rows without queries, and {judgments.name} has grades by query and document, "
            "whose order they cannot follow (hint: pass a TREC run, or a table or JSON lines of query_id, doc_id and "
            "score)"
        )
    n_mentioned = judgments.n_mentioned
    if n_mentioned is not None and width.is_known and n_mentioned > width.n_labels:
        raise DataError(f"{judgments.name} and what is scored mention {counted(n_mentioned, 'document')}, but {width}")


def find_stored(value: Any, name: str, noun: str) -> Path | QuerySource | Table | None:
    """Return a path, or a value as grades or scores by query or as a table; None for a matrix, which loads nothing."""
    if isinstance(value, Path):
        return value
    if isinstance(value, np.ndarray) or hasattr(value, "tocsr"):
        return None
    if isinstance(value, (list, tuple)):
        if not value or not is_record(value[0]):
            return None
        return find_records(value, name, noun)
    records = find_records(value, name, noun)
    if records is not None:
        return records
    from xmceval.files.tables.objects import find_table

    return find_table(value, name)


def _split_names(matrix: Any, name: str) -> tuple[Any, Axis, Axis]:
    """Return the numbers of a matrix in memory, and its rows and labels, named by data frames."""
    if is_sparse(matrix) or isinstance(matrix, np.ndarray):
        return matrix, Axis(name, "row"), Axis(name, "label")
    if is_frame(matrix):  # missing numbers become NaN
        return read_wide(matrix, name)
    rows = rows_of(matrix, name)
    if isinstance(matrix, (list, tuple)) and len(matrix) == 2 and is_frame(matrix[0]):  # labels and their scores
        rows = rows_of(matrix[0], f"{name}[0]")
        first_named(rows, rows_of(matrix[1], f"{name}[1]"), name)
    return matrix, rows, Axis(name, "label")


def _join_tables(shards: Shards, name: str, truth: Opened | None = None) -> Any:
    """Return shards as one table if their lines name queries, or rows of all shards, else as they are."""
    from xmceval.files.tables.open import join_tables  # not loaded for other files

    table = join_tables(shards, name, truth)
    if table is None:
        return shards
    return table


def _join_shards(shards: Shards, parts: Sequence[Opened], *, are_scores: bool) -> Opened:
    """Join opened shards into one input."""
    for part in parts:
        _refuse_judgments(part.judgments, shards)
        if part.documents is not None:
            raise DataError(
                f"{part.source.name}: is a shard, and its labels are text, which each shard would number anew (hint: "
                f"pass {argument('labels', kind='FILE')}, with one name per line)"
            )
    first = parts[0]
    name = shards.name
    if not isinstance(shards.parts[0], Path):  # y_true[0] is of y_true
        name = first.name.rpartition("[")[0]
    return Opened(
        sharded([part.source for part in parts], shards.name, are_scores=are_scores),
        facts=(_describe(parts),),
        name=shards.name,
        parts=tuple(parts),
        is_ranked=all(part.is_ranked for part in parts),
        has_grades=any(part.has_grades for part in parts),
        rows=join_named_rows(parts, name) or Axis(name, "row"),
        labels=next((part.labels for part in parts if part.names_labels), first.labels),
        reordered=next((part.reordered for part in parts if part.reordered is not None), None),
        rows_by=first.rows_by,
        labels_by=first.labels_by,
        columns=join_columns(parts, name),
    )


def _refuse_judgments(judgments: Judgments | None, shards: Shards) -> None:
    """Refuse shards in ranking formats, where rows are queries of all files."""
    if judgments is not None:
        raise DataError(
            f"{shards.name}: qrels, runs and records by query cannot be shards, as their rows are joined by query "
            "(hint: join the files into one first)"
        )


def _check_threshold(threshold: float, scores: Opened) -> None:
    """Refuse a threshold that rounds differently in the types of the shards' scores."""
    first, *others = (part.source for part in scores.parts)
    for other in others:
        if rounded(threshold, first.dtype) != rounded(threshold, other.dtype):
            kinds = [source.dtype or "text" for source in (first, other)]
            raise DataError(
                f"{first.name} has scores of type {kinds[0]}, {other.name} of type {kinds[1]}: the threshold "
                f"{threshold:g} is not the same number in both (hint: convert the shards to one type)"
            )


def _describe(parts: Sequence[Opened]) -> str:
    """Describe the formats of shards, each with its first file; empty for arrays."""
    files: dict[str, list[str]] = {}
    for part in parts:
        if part.description:
            files.setdefault(part.description, []).append(to_path(part.source.name).name)
    if not files:
        return counted(len(parts), "shard")
    formats = [
        f"{names[0]}{f' and {len(names) - 1:,} more' * (len(names) > 1)}: {form}" for form, names in files.items()
    ]
    n_more = len(formats) - MOST_FORMATS
    if n_more > 0:
        formats[MOST_FORMATS:] = [counted(n_more, "other format")]
    return f"{counted(len(parts), 'shard')}; {'; '.join(formats)}"


def are_same(first: Source, second: Source) -> bool:
    """Return whether two sources have the same files, shard by shard."""
    parts, others = first.parts, second.parts
    return len(parts) == len(others) and all(map(_are_same_file, parts, others))


def _are_same_file(first: Source, second: Source) -> bool:
    """Return whether two files are the same; remote names lack the query strings that may distinguish them."""
    path = to_path(first.name)
    other = to_path(second.name)
    if isinstance(path, RemotePath) or isinstance(other, RemotePath):
        return str(path) == str(other) and first.files == second.files
    return other.exists() and path.exists() and path.samefile(other)


def take_numbers(values: Any, name: str, per: str = "label") -> tuple[Float64, str]:
    """Read one number per label, or per row, from a file or an array; also return its name for messages."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), to_path(values).name
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number per {per}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name
