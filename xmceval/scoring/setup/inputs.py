"""Open truth, predictions, training labels, weights and filters from matrices, files or shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xmceval.errors import AmbiguousError, DataError, argument, counted
from xmceval.files.io.paths import RemotePath, find_files, to_path
from xmceval.files.io.streams import Stamp, pipe_key, stamp_of
from xmceval.files.open import open_source
from xmceval.files.opened import Opened, Request
from xmceval.files.ranking.dicts import find_records, is_record
from xmceval.files.ranking.queries import Judgments, QuerySource
from xmceval.files.shards import check_files, check_pairing, find_shards, is_matrix
from xmceval.files.sidecars.values import Names, names_beside_ids, read_numbers
from xmceval.rows.block import Float64
from xmceval.rows.matrices.frames import is_frame, read_wide, rows_of
from xmceval.rows.matrices.source import (
    as_scores,
    as_truth,
    count_columns,
    is_sparse,
    ordered,
)
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.matrices.tensors import as_array
from xmceval.rows.names import (
    Axis,
    are_both_named,
    find_order,
    first_named,
    say_how,
    unnamed_error,
)
from xmceval.rows.progress import in_turn
from xmceval.rows.shards import Shards
from xmceval.rows.source import Source, reopened, repaired, sharded
from xmceval.rows.width import Width
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import UNKNOWN_WIDTH

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

Stamps: TypeAlias = Mapping[Path, Stamp | None]

MOST_FORMATS = 3  # formats of shards in a note


def check_inputs(truth: Any, scores: Sequence[Any], options: Options) -> tuple[Any, Stamps]:
    """Check that all files exist and shards belong together.

    Return the training labels with resolved shards, and the stamps of the files of truth and scores.
    """
    train = None if options.train is None else find_shards(options.train)
    others = [find_shards(file) for file in options.files if file is not options.train]
    paths, more = _list_paths([truth, *scores]), _list_paths([train, *others])
    if paths or more:
        check_files([*paths, *more], [to_path(whole) for whole in (truth, *scores) if isinstance(whole, (str, Path))])
    for system in scores if isinstance(truth, Shards) else ():
        check_pairing(truth, system)
    local = [path for path in paths if not isinstance(path, RemotePath)]
    return train, {file: stamp_of(file) for path in local for file in find_files(path)}


def _list_paths(inputs: Sequence[Any]) -> list[Path]:
    """Return the paths among inputs with resolved shards."""
    parts = chain.from_iterable(each.parts if isinstance(each, Shards) else (each,) for each in inputs)
    return [to_path(part) for part in parts if isinstance(part, (str, Path))]


def find_scores(y_score: Any, y_true: Any) -> Any:
    """Find the shards in a list of predictions; it is not a pair if the truth is an equally long list."""
    if not isinstance(y_score, list):
        return y_score
    are_many = isinstance(y_true, list) and len(y_true) == len(y_score) > 1 and all(map(is_matrix, y_true))
    if not are_many:
        return find_shards(y_score, are_scores=True)
    lengths = [getattr(part, "shape", (-1,))[0] for part in (*y_true, y_score[0])]
    are_whole = -1 not in lengths and lengths[-1] == sum(lengths[:-1])  # both cover all rows of the truth
    return find_shards(y_score, are_scores=are_whole)


def open_truth(
    value: Any,
    options: Options,
    name: str = "y_true",
    *,
    first: Opened | None = None,
    names: Names | None = None,
    n_columns: int | None = None,
    kept: Judgments | None = None,
    labels: Axis | None = None,
    unnamed: str = "",
    width: Width = UNKNOWN_WIDTH,
) -> Opened:
    """Open a truth, or training labels after the truth, `first`; shards are already resolved.

    `n_columns` is the number of labels of predictions in memory, `kept` are the queries to keep; `labels` and `width`
    come from earlier batches, of which those called `unnamed` share the order of the labels without naming them.
    """
    if first is not None:
        names, n_columns, labels = first.names, first.n_columns, first_named(None, first.labels)

    def open_part(value: Any, name: str, *, is_shard: bool = False) -> Opened:
        """Open a matrix, file or shard in the order of labels that were named before."""
        stored = find_stored(value, name, "grade")
        if stored is None:
            _refuse_ids(first, name)
            values, rows, own_labels = _split_names(value, name)
            n_labels = width.or_none or options.n_labels or n_columns
            source = as_truth(values, name, n_labels, has_grades=options.grades)
            known = known_labels(labels, names, own_labels, first)
            return _in_known_order(source, rows, own_labels, known, options, unnamed=unnamed)
        by_row, are_ids = None if first is None else first.by_row, bool(options.sources)
        request = Request(
            "truth",
            names,
            n_labels=width.or_none or options.n_labels,
            judgments=kept,
            by_row=by_row,
            are_ids=are_ids,
            max_line=options.max_line,
        )
        opened = _open_stored(stored, request, is_shard=is_shard)
        if name == "train" and opened.by_row is not None:
            from xmceval.files.tables.by_row import doubt_numbers  # not loaded for other files

            opened.source.notes.extend(doubt_numbers(opened.by_row))
            if opened.by_row.labels is not None and (first is None or first.documents is None):
                raise names_beside_ids(name, "y_true" if first is None else first.name)
        return _join_rows(opened, options)

    value = _join_tables(value, name)
    if isinstance(value, Shards):
        parts = list[Opened]()
        for number, part in enumerate(in_turn(value.name, value.parts)):
            parts.append(open_part(part, f"{name}[{number}]", is_shard=True))
            labels = first_named(labels, parts[-1].labels)
            unnamed = unnamed if names is not None or are_both_named(parts[-1].labels) else parts[-1].name
        opened = _join_shards(value, parts, are_scores=False)
    else:
        opened = open_part(value, name)
    return replace(opened, names=names, n_columns=n_columns)


def open_scores(
    value: Any,
    truth: Opened,
    options: Options,
    width: Width,
    *,
    labels: Axis | None = None,
    unnamed: str = "",
) -> Opened:
    """Open predictions with resolved shards, in the order of the rows and labels of the truth.

    `labels` are the labels that another input has named; an `unnamed` one shares their order.
    """
    labels = first_named(labels, truth.labels)

    def open_part(value: Any, name: str, truth: Opened, n_rows: int | None, *, is_shard: bool = False) -> Opened:
        """Open a matrix, file or shard with an expected number of rows."""
        if hasattr(value, "iloc"):
            from xmceval.files.tables.objects import refuse_columns_of_sets  # not loaded for other matrices

            refuse_columns_of_sets(value, name)
        stored = find_stored(value, name, "score")
        if stored is not None:
            request = Request(
                "scores",
                truth.names,
                n_rows,
                width.or_none,
                truth.judgments,
                truth.by_row,
                options.ties,
                options.max_line,
                missing=options.missing,
            )
            opened = _open_stored(stored, request, is_shard=is_shard)
            _check_beside_truth(stored, opened, truth, width)
            return _join_rows(replace(opened, source=opened.fit_width(width.or_none)), options, truth)
        if truth.judgments is not None:
            raise DataError(
                f"{name}: is an array, and {truth.judgments.name} has grades by query and document, whose order it "
                "cannot follow (hint: pass {query: {document: score}})"
            )
        _refuse_ids(truth, name)
        values, rows, own_labels = _split_names(value, name)
        n_labels = len(own_labels.listed) if own_labels.is_named else width.or_none
        source = as_scores(values, name, n_labels)
        own_labels = Axis(name, "label") if source.n_labels is None else own_labels  # columns are ranks
        known = known_labels(labels, truth.names, own_labels, truth)
        return _in_known_order(source, rows, own_labels, known, options, truth, unnamed=unnamed)

    value = _join_tables(value, "y_score", truth)
    if isinstance(value, Shards):
        _refuse_judgments(truth.judgments, value)
        is_paired, parts = len(truth.parts) == len(value), list[Opened]()
        for number, part in enumerate(in_turn(value.name, value.parts)):
            # With a single truth file, the number of rows of a shard is not known.
            partner, n_rows = replace(truth, rows=None, by_row=None, columns={}), None
            if is_paired:
                partner = replace(truth.parts[number], names=truth.names)
                n_rows = partner.source.n_rows
            parts.append(open_part(part, f"y_score[{number}]", partner, n_rows, is_shard=True))
            labels = first_named(labels, parts[-1].labels)
        opened = _join_shards(value, parts, are_scores=True)
        if not is_paired:
            opened = _check_row_order(truth, opened)
        elif opened.rows is not None and opened.rows.names is not None and opened.rows_by.startswith("position"):
            _check_row_order(truth, opened)  # shards in another order, if an index shows it
    else:
        opened = open_part(value, "y_score", truth, truth.source.n_rows)
    if options.threshold is not None and opened.parts:
        _check_threshold(options.threshold, opened)
    return opened


def _open_stored(matrix: str | Path | QuerySource | Table, request: Request, *, is_shard: bool) -> Opened:
    """Open a file; a shard that holds rows in memory is reopened when they are needed, and then freed."""
    opened = replace(open_source(matrix, request), name=str(matrix))
    if is_shard and opened.is_held and isinstance(matrix, (str, Path)) and pipe_key(path := to_path(matrix)) is None:
        files = () if isinstance(path, RemotePath) else find_files(path)
        source = reopened(opened.source, partial(_open_again, matrix, request), files)
        opened = replace(opened, source=source)
    return opened


def _open_again(matrix: str | Path, request: Request) -> Source:
    return open_source(matrix, request).source


def _check_beside_truth(matrix: Any, opened: Opened, truth: Opened, width: Width) -> None:
    """Refuse predictions in a file, a table or records that do not fit the truth."""
    judgments = truth.judgments
    if judgments is not None and not opened.is_joined:
        raise DataError(
            f"{matrix}: has rows without queries, and {judgments.name} has grades by query and document, "
            "whose order they cannot follow (hint: pass a TREC run, or a table or JSON lines of query_id, doc_id and "
            "score)"
        )
    n_mentioned = None if judgments is None else judgments.n_mentioned
    if n_mentioned is not None and width.is_known and n_mentioned > width.n_labels:
        raise DataError(f"{truth.name} and what is scored mention {counted(n_mentioned, 'document')}, but {width}")


def _check_row_order(truth: Opened, shards: Opened) -> Opened:
    """Refuse shards whose row names are in another order than in an unsharded truth; return how rows are joined."""
    ours, rows = _named_rows(truth, shards)
    if find_order(ours, rows) is not None:
        raise DataError(
            f"{rows.source}: its shards have the rows of {truth.source.name} in another order; expected the same order"
        )
    return replace(shards, rows_by=say_how(ours, rows, "position"))


def count_scored_labels(systems: Sequence[Any]) -> int | None:
    """Return the number of labels of matrices of scores in memory; None if it is not known, or they differ."""
    widths = {n_columns for system in systems if (n_columns := count_columns(system)) is not None}
    return widths.pop() if len(widths) == 1 else None


def _in_known_order(
    source: Source,
    rows: Axis,
    labels: Axis,
    known: Axis | None,
    options: Options,
    truth: Opened | None = None,
    *,
    unnamed: str = "",
) -> Opened:
    """Return a matrix in the order of the rows and labels that were named before."""
    if truth is not None and not truth.names_labels:
        unnamed = truth.name
    order = None if known is None else find_order(known, labels, unnamed)
    moved = None if truth is None or truth.names is not None else truth.reordered
    if moved is not None and known is not None and not labels.is_named:
        raise unnamed_error(known, moved, labels.source)
    opened = Opened(
        source if order is None else ordered(source, None, order),
        facts=(source.reading if labels.names is None else source.reading.replace("dense array", "data frame"),),
        name=source.name,
        is_ranked=source.is_ranked,
        rows=rows,
        labels=labels if order is None else known,
        labels_by=say_how(known, labels, "number"),
        reordered=None if order is None else labels,
    )
    return _join_rows(opened, options, truth)


def _join_rows(opened: Opened, options: Options, truth: Opened | None = None) -> Opened:
    """Return an input in the order of rows that were named before."""
    source = opened.source
    ours, rows = None, opened.rows or Axis(opened.name, "row")
    is_by_query = opened.judgments is not None or opened.is_joined
    if truth is not None and not is_by_query:
        ours, rows = _named_rows(truth, opened)
        order = find_order(ours, rows)
        if order is not None:
            if source.stored is None:
                raise DataError(
                    f"{opened.name}: its {rows.holder} has the ids of {truth.name} in another order; a text file is "
                    "read in its own order (hint: sort the lines of both by it)"
                )
            source = ordered(source, order)
    return replace(
        opened,
        source=repaired(source) if options.duplicates == "max" else source,
        rows=rows,
        rows_by="query" if is_by_query else say_how(ours, rows, "position"),
        labels_by="name" if is_by_query else opened.labels_by,
    )


def known_labels(labels: Axis | None, names: Names | None, own: Axis, truth: Opened | None) -> Axis | None:
    """Return the labels in the order of ``labels=``, or else as another input names them, or those of the truth."""
    if names is not None:
        are_names = own.are_text and names.are_other_numbers  # columns "0" to "4" beside names such as "4" to "0"
        return None if own.is_numbered and not are_names else names.axis
    if labels is not None or truth is None:
        return labels
    return truth.labels or Axis(truth.name, "label")


def check_numbers(first: Opened | None, other: Opened) -> None:
    """Refuse labels by number if the names in ``labels=`` are whole numbers in another order: they may be these names.

    Lines of idx:value have column numbers, as matrices have, unless the labels of the other input are names.
    """
    names = None if first is None else first.names
    if names is None or first is None:
        return
    kinds = {_labels_are(first), _labels_are(other)}
    if len(kinds) == 1:
        is_doubtful = kinds == {"number"} and _in_memory(first) and _in_memory(other) and names.are_other_numbers
    else:
        is_doubtful = names.are_other_numbers if "number" in kinds else names.are_reordered
    if is_doubtful:
        is_first = _labels_are(first) == "number" or _labels_are(other) == "name"
        numbered = first if is_first else other
        raise AmbiguousError(
            f"{numbered.name}: has numbers, and the names in {names.source} are other numbers: are these names too, or "
            "do they count the names from 0? (hint: write the labels of both as names, or of both as numbers without "
            "a list of names)"
        )


def _labels_are(opened: Opened) -> str:
    """Return whether labels are written as a ``"number"`` or a ``"name"``, or are a ``"column"`` of a matrix."""
    if opened.labels_by != "number":
        return "name"
    is_matrix = _in_memory(opened) and opened.source.n_labels is not None
    return "column" if is_matrix else "number"


def _in_memory(opened: Opened) -> bool:
    """Return whether the rows are those of a matrix, of lists or of a table."""
    return opened.source.parts[0].stored is not None


def find_width(options: Options, truth: Opened | None, names: Names | None = None) -> Width:
    """Return the number of labels declared by the truth, the caller and the label names."""
    n_labels = options.n_labels
    names = names if truth is None else truth.names
    if truth is None or truth.source.n_labels is None:
        width = Width() if n_labels is None else Width(n_labels, f"{argument('n_labels')} is")
    else:
        width = Width(truth.source.n_labels, f"{truth.source.name} has")
        width = width if n_labels is None else width.agree(n_labels, argument("n_labels"))
    return width if names is None else width.agree(len(names), names.source)


def find_stored(value: Any, name: str, noun: str) -> str | Path | QuerySource | Table | None:
    """Return a path, or a value as grades or scores by query or as a table; None for a matrix, which loads nothing."""
    if isinstance(value, (str, Path)):
        return value
    if isinstance(value, np.ndarray) or hasattr(value, "tocsr"):
        return None
    if isinstance(value, (list, tuple)):
        return find_records(value, name, noun) if value and is_record(value[0]) else None
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


def _named_rows(truth: Opened, opened: Opened) -> tuple[Axis, Axis]:
    """Return the rows of the truth and of predictions: by name if both name them, in a column or an index.

    Else a column beside the labels that both have must have the same values, since it may name the rows.
    """
    if truth.names_rows and opened.names_rows:
        return truth.named_rows, opened.named_rows
    for name in truth.columns.keys() & opened.columns.keys():
        if truth.columns[name]().listed != opened.columns[name]().listed:
            raise DataError(
                f"{opened.name}: its {name!r} differs from that of {truth.name}, and nothing else names the rows of "
                "both (hint: name it id to join the rows by it, or leave it out of one)"
            )
    for named, other in ((truth, opened), (opened, truth)):
        if named.names_rows and named.named_rows.column is None:  # columns of two names may be of two things
            refuse_reordered(named.named_rows, other)
    return truth.rows or Axis(truth.name, "row"), opened.rows or Axis(opened.name, "row")


def refuse_reordered(rows: Axis, other: Opened) -> None:
    """Refuse an input that does not name its rows, but has a column with the names of `rows` in another order."""
    for name, read in other.columns.items():
        listed = read().listed
        if listed != rows.listed and set(listed) == set(rows.listed):
            raise DataError(
                f"{other.name}: its {name!r} has the names of {rows.source} in another order (hint: rename {name!r} to "
                "id to join the rows by it)"
            )


def _refuse_ids(truth: Opened | None, name: str) -> None:
    """Refuse label numbers if the truth is by row and its labels are text."""
    if truth is not None and truth.judgments is None and truth.documents is not None:
        raise names_beside_ids(truth.name, name)


def _join_tables(value: Any, name: str, truth: Opened | None = None) -> Any:
    """Return shards as one table if their lines name queries, or rows of all shards; return others unchanged."""
    if not isinstance(value, Shards):
        return value
    from xmceval.files.tables.open import join_tables  # not loaded for other files

    table = join_tables(value, name, truth)
    return value if table is None else table


def _join_shards(shards: Shards, parts: Sequence[Opened], *, are_scores: bool) -> Opened:
    """Join opened shards into one input."""
    for part in parts:
        _refuse_judgments(part.judgments, shards)
        if part.documents is not None:
            raise DataError(
                f"{part.source.name}: is a shard, and its labels are text, which each shard would number anew (hint: "
                f"pass {argument('labels', kind='FILE')}, with one name per line)"
            )
    name = shards.name if isinstance(shards.parts[0], (str, Path)) else parts[0].name.rpartition("[")[0]
    rows, first = _join_named_rows(parts, name), parts[0]
    shared = [column for column in first.columns if all(column in part.columns for part in parts)]
    source = sharded([part.source for part in parts], shards.name, are_scores=are_scores)
    return Opened(
        source,
        facts=(_describe(parts),),
        name=shards.name,
        parts=tuple(parts),
        is_ranked=all(part.is_ranked for part in parts),
        has_grades=any(part.has_grades for part in parts),
        rows=rows or Axis(name, "row"),
        labels=next((part.labels for part in parts if are_both_named(part.labels)), parts[0].labels),
        reordered=next((part.reordered for part in parts if part.reordered is not None), None),
        rows_by=parts[0].rows_by,
        labels_by=parts[0].labels_by,
        columns={column: partial(_join_column, parts, name, column) for column in shared},
    )


def _join_column(parts: Sequence[Opened], name: str, column: str) -> Axis:
    """Return the rows of all shards as a column beside the labels names them."""
    values = chain.from_iterable(part.columns[column]().listed for part in parts)
    return Axis.of(name, "row", list(values), column=column)


def _join_named_rows(parts: Sequence[Opened], name: str) -> Axis | None:
    """Return the rows of all shards, if each shard's index names its rows."""
    rows = [axis for axis in (part.rows for part in parts) if axis is not None and axis.names is not None]
    if len(rows) < len(parts) or all(axis.is_numbered for axis in rows):
        return None
    return Axis.of(name, "row", list(chain.from_iterable(axis.listed for axis in rows)))


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
    more = [f"{counted(len(formats) - MOST_FORMATS, 'other format')}"] if len(formats) > MOST_FORMATS else []
    return f"{counted(len(parts), 'shard')}; {'; '.join([*formats[:MOST_FORMATS], *more])}"


def are_same(first: Source, second: Source) -> bool:
    """Return whether two sources have the same files, shard by shard."""
    return len(first.parts) == len(second.parts) and all(map(_are_same_file, first.parts, second.parts))


def _are_same_file(first: Source, second: Source) -> bool:
    """Return whether two files are the same; remote names lack the query strings that may distinguish them."""
    path, other = to_path(first.name), to_path(second.name)
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
