"""Inputs: arrays or paths in; truth, scores, propensities, weights and filters out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.api.scoring.openshards import (
    Input,
    check_threshold,
    open_lean,
    open_shards,
    refuse_judgments,
)
from xmceval.errors import AmbiguousError, DataError, argument, counted, names_flags
from xmceval.files.io.addresses import is_address
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.opened import Opened
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.recordlines import find_records
from xmceval.files.sidecars.labelnames import Names, names_beside_ids, read_names
from xmceval.files.sidecars.numbers import read_numbers
from xmceval.files.tables.columns import has_known_columns
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter
from xmceval.rows.matrices.arrays import as_array
from xmceval.rows.matrices.frames import (
    IdColumn,
    as_frame,
    find_id_columns,
    is_frame,
    refuse_lone_ids,
    refuse_mixed,
    rows_of,
    split_ids,
)
from xmceval.rows.matrices.matrices import (
    MatrixSource,
    as_scores,
    as_truth,
    check_pair,
    check_triples,
    count_columns,
    unrepaired,
)
from xmceval.rows.readings import (
    EARLIER,
    Axis,
    are_both_named,
    are_triples,
    find_order,
    first_named,
    say_how,
    unnamed_error,
)
from xmceval.rows.repairs import merge_duplicate_labels
from xmceval.rows.shards import Shards
from xmceval.rows.sources import shards_of
from xmceval.rows.width import Width
from xmceval.scoring.batch import UNKNOWN_WIDTH
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.files.tables.rownumbers import ByRow
    from xmceval.files.tables.table import Table


@dataclass(frozen=True)
class Opener:
    """Opens truth and scores as the options ask: names of labels, duplicates, number of labels."""

    options: Options
    names: Names | None = None
    train: Any = None
    kept: Judgments | None = None
    labels: Axis | None = None  # the labels that an input has named: others are put into their order
    ids: Sequence[IdColumn] = ()  # columns of the truth whose values name the rows
    n_columns: int | None = None  # of predictions in memory, whose columns can only be the labels
    in_batch: bool = False  # whether the rows are those of a batch
    were_ids: bool | None = None  # what an earlier batch or shard has shown: arrays are of ids of labels, or of scores
    first: Input | None = None  # the truth, beside which others are opened

    @classmethod
    def of(cls, options: Options, train: Any = None) -> Opener:
        """Read the names of the labels, if they are passed; the shards of the training labels are found."""
        names = None if options.labels is None else read_names(options.labels)
        return cls(options, names, train)

    def beside(self, truth: Any, systems: Sequence[Any], known: Sequence[IdColumn] = ()) -> Opener:
        """Return an opener that knows the predictions in memory: columns of ids in both, and the number of columns.

        `known` are columns of ids in earlier batches.
        """
        if isinstance(truth, (str, Path, Shards)):
            return self
        is_long = is_frame(truth) and has_known_columns(truth)
        ids = () if is_long or _may_be_triples(truth, systems) else find_id_columns(truth, systems, known=known)
        for system in systems:
            refuse_mixed(truth, system)
            if is_long or isinstance(truth, (list, tuple)):
                refuse_lone_ids(system, "y_true")
        widths = {n_columns for system in systems if (n_columns := count_columns(system)) is not None}
        if not ids and len(widths) != 1:
            return self
        return replace(self, ids=ids, n_columns=widths.pop() if len(widths) == 1 else None)

    def truth(self, matrix: Any, name: str, width: Width = UNKNOWN_WIDTH, *, is_shard: bool = False) -> Input:
        """Open a truth, or training labels, whose shards are found."""
        if isinstance(matrix, Shards):
            opener = self

            def open_part(part: Any, number: int) -> Input:
                nonlocal opener
                opened = opener.truth(part, f"{name}[{number}]", width, is_shard=True)
                opener = opener.naming(opened.labels)
                return opened

            return open_shards(matrix, open_part, are_scores=False)
        if not isinstance(matrix, (str, Path)):
            matrix, ids = split_ids(matrix, self.ids, name)
            table = table_of(matrix, name) or find_records(matrix, name, "grade")
            if table is None:
                _refuse_ids(self.first, name)
                values, rows, labels = _split_names(matrix, name)
                source = as_truth(values, name, width.or_none or self.options.n_labels, self.n_columns)
                return self._as_input(_as_frame(source, matrix), ids or rows, labels)
            matrix = table
        kept = None if name == "train" else self.kept
        open_file = partial(
            open_truth,
            matrix,
            names=self.names,
            kept=kept,
            are_ids=bool(self.options.sources),
            by_row=None if self.first is None else self.first.by_row,
            max_line=self.options.max_line,
        )
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        lists = to_path(matrix) if opened.are_lists else None
        if name == "train" and opened.by_row is not None:
            from xmceval.files.tables.rownumbers import check_numbers  # not loaded for other files

            opened.source.warnings.extend(check_numbers(opened.by_row))
            if opened.by_row.labels is not None and (self.first is None or self.first.documents is None):
                raise names_beside_ids(name, "y_true" if self.first is None else self.first.name)
        return replace(self._of_file(matrix, opened, opened.source), judgments=opened.judgments, lists=lists)

    def scores(self, matrix: Any, truth: Input, width: Width) -> Input:
        """Open predictions, whose shards are found."""
        opener = self.naming(truth.labels)
        if not isinstance(matrix, Shards):
            opened = opener._scores(matrix, truth, width, truth.source.n_rows)
            _check_json(truth, opened)
            return opened
        refuse_judgments(truth.judgments, matrix)
        # Beside one file of truth, nobody knows how many rows a shard should have.
        is_paired = len(truth.parts) == len(matrix)
        n_rows = [part.source.n_rows for part in truth.parts] if is_paired else [None] * len(matrix)

        def open_part(part: Any, number: int) -> Input:
            nonlocal opener
            own = truth.parts[number] if is_paired else replace(truth, rows=None, by_row=None)
            whole = replace(truth, rows=own.rows, by_row=own.by_row)
            opened = opener._scores(part, whole, width, n_rows[number], f"y_score[{number}]", is_shard=True)
            opener = opener.naming(opened.labels).knowing(opened)
            return opened

        opened = open_shards(matrix, open_part, are_scores=True)
        if not is_paired and opened.rows is not None:
            ours, rows = _named_rows(truth, opened.rows, opened.by_row)
            if ours is not None and find_order(ours, rows) is not None:
                raise DataError(
                    f"{rows.source}: its shards have the rows of {truth.source.name} in another order (hint: "
                    f"{'run' if rows.is_file and names_flags() else 'pass'} {rows.after('')})"
                )
            opened = replace(opened, rows_by=say_how(ours, rows, "position"))
        _check_json(truth, opened)
        if self.options.threshold is not None:
            check_threshold(self.options.threshold, opened)
        return opened

    def _scores(
        self,
        matrix: Any,
        truth: Input,
        width: Width,
        n_rows: int | None,
        name: str = "y_score",
        *,
        is_shard: bool = False,
    ) -> Input:
        """Open one file or matrix of predictions."""
        n_seen, are_all_ids = truth.n_seen, self.were_ids
        if are_all_ids is None and self.options.n_labels is not None:
            are_all_ids = True
        if not isinstance(matrix, (str, Path)):
            if hasattr(matrix, "iloc"):
                from xmceval.files.tables.objects import refuse_columns_of_sets  # not loaded for other matrices

                refuse_columns_of_sets(matrix, name)
            matrix, ids = split_ids(matrix, self.ids, name)
            table = table_of(matrix, name) or find_records(matrix, name, "score")
            if table is None:
                _refuse_array(truth, name)
                _refuse_ids(truth, name)
                values, rows, labels = _split_names(matrix, name)
                source = as_scores(values, name, width.or_none, are_all_ids=are_all_ids, n_seen=n_seen)
                self._check_reading(source)
                labels = Axis(name, "label") if source.n_labels is None else labels  # columns of ids are ranks
                check_pair(truth.source, source)
                return self._as_input(_as_frame(source, matrix), ids or rows, labels, truth)
            matrix = table
        open_file = partial(
            open_scores,
            matrix,
            names=self.names,
            n_rows=n_rows,
            n_labels=width.or_none,
            judgments=truth.judgments,
            by_row=truth.by_row,
            max_line=self.options.max_line,
            ties=self.options.ties,
            missing=self.options.missing,
            are_all_ids=are_all_ids,
            n_seen=n_seen,
        )
        opened = open_lean(matrix, open_file, is_shard=is_shard)
        if truth.judgments is not None and not opened.is_joined:
            raise DataError(
                f"{matrix}: has rows without queries, and {truth.judgments.name} has grades by query and document, "
                "whose order they cannot follow (hint: pass a TREC run, or a table of query_id, doc_id and score)"
            )
        _check_documents(truth, width)
        if opened.are_lists and truth.lists is not None:
            from xmceval.files.tables.headerless import check_lists  # not loaded for rows of idx:value

            check_lists(truth.lists, to_path(matrix))
        check_triples(truth.source, opened.source)
        self._check_reading(opened.source)
        return replace(self._of_file(matrix, opened, opened.fit_width(width.or_none), truth), lacking=opened.lacking)

    def _as_input(self, source: MatrixSource, rows: Axis, labels: Axis, truth: Input | None = None) -> Input:
        """Return a matrix in the order of the rows and labels that were named before."""
        known = self._known_labels(labels, truth or self.first)
        label_order = None if known is None else find_order(known, labels)
        ours = None if truth is None else truth.rows
        row_order = None if ours is None else find_order(ours, rows, in_batch=self.in_batch)
        if truth is not None and known is not None and truth.labels is not None:
            if label_order is not None and truth.labels.is_numbered:
                raise unnamed_error(known, labels, truth.source.name)
            if truth.is_reordered and labels.is_numbered:
                raise unnamed_error(known, replace(truth.labels, source=truth.source.name), labels.source)
        if label_order is not None or row_order is not None:
            source = source.ordered(row_order, label_order)
        return Input(
            self._repaired(source),
            source.reading,
            source.name,
            is_ranked=source.is_ranked,
            rows=rows,
            labels=labels if label_order is None else known,
            is_reordered=label_order is not None,
            rows_by=say_how(ours, rows, "position"),
            labels_by=say_how(known, labels, "number"),
        )

    def _known_labels(self, labels: Axis, truth: Input | None) -> Axis | None:
        """Return the labels that an input or a list of names has named, or else those of the truth, without names."""
        if self.labels is not None:
            return self.labels
        if self.names is not None and not labels.is_numbered:
            return Axis.of(self.names.source, "label", list(self.names.labels))
        return None if truth is None else truth.labels

    def _of_file(self, matrix: Any, opened: Opened, source: Source, truth: Input | None = None) -> Input:
        """Return an opened file or table; an index may name the rows of one without a column of keys."""
        rows, ours = opened.rows or Axis(str(matrix), "row"), None
        is_by_query = opened.judgments is not None or opened.is_joined
        if truth is not None:
            ours, rows = _named_rows(truth, rows, opened.by_row)
        order = None if ours is None or is_by_query else find_order(ours, rows)
        if order is not None and isinstance(source, MatrixSource):
            source = source.ordered(order)
        return Input(
            self._repaired(source),
            opened.description,
            str(matrix),
            is_ranked=opened.is_ranked,
            rows=rows,
            rows_by="query" if is_by_query else say_how(ours, rows, "position"),
            labels_by="name" if is_by_query else opened.labels_by,
            by_row=opened.by_row,
            value=opened.value,
        )

    def check_numbers(self, other: Input) -> None:
        """Refuse names and numbers of labels beside a list of names that are the numbers in another order."""
        first, names = self.first, self.names
        if names is None or first is None or first.labels_by == other.labels_by or not names.are_reordered:
            return
        named, numbered = (first, other) if other.labels_by == "number" else (other, first)
        kind, labels = "truth" if named is first else "scores", names.source
        columns = (
            f"pass xmceval.read({named.name!r}, kind={kind!r}, labels={labels!r}) for {named.name}, without labels="
        )
        if names_flags():
            columns = f"xmceval convert {named.name} x.npz --as {kind} --labels {labels}, then x.npz without --labels"
        hint = f"if they count, {columns}; if they are names, so too, with the place of each in {labels} instead"
        if "JSON" in numbered.description:
            hint = f"of names, put the labels of {numbered.name} between quotes; if they count, {columns}"
        elif numbered.description.startswith("text"):
            sed = r"sed -E 's/(^|[ \t])([0-9]+)[: ]([^ \t]+)/\1__label__\2 \3/g'"
            hint = f"of names, {sed} {numbered.name} > names.txt; if they count, {columns}"
        raise AmbiguousError(
            f"{numbered.name}: has numbers, and the names in {labels} are numbers in another order: are these names "
            f"too, as in {named.name}, or do they count the names from 0? (hint: {hint})"
        )

    def naming(self, labels: Axis | None) -> Opener:
        """Return an opener that puts others into the order of these labels, if they are the first that have names."""
        return replace(self, labels=labels) if self.labels is None and are_both_named(labels) else self

    def knowing(self, scores: Input) -> Opener:
        """Return an opener that reads others as these predictions were read, where they may be ids or scores."""
        source = unrepaired(scores.source)
        if self.were_ids is not None or not isinstance(source, MatrixSource):
            return self
        return replace(self, were_ids=source.were_ids)

    def _check_reading(self, source: Source) -> None:
        """Refuse scores after what was read as ids of labels, and may have been scores."""
        if self.were_ids and isinstance(source, MatrixSource) and source.is_dense:
            earlier = EARLIER if self.in_batch else "an earlier shard"
            raise AmbiguousError(
                f"{source.name}: has scores of {source.n_labels:,} labels, and the whole numbers of {earlier} were "
                "read as ids of labels, best first (hint: of scores pass 0.5 + y_score from the first on)"
            )

    def _repaired(self, source: Source) -> Source:
        return merge_duplicate_labels(source) if self.options.duplicates == "max" else source

    def width(self, truth: Source | None) -> Width:
        """Return the number of labels that the truth, the caller and the names of labels declare."""
        n_labels = self.options.n_labels
        if truth is None or truth.n_labels is None:
            width = Width() if n_labels is None else Width(n_labels, f"{argument('n_labels')} is")
        else:
            width = Width(truth.n_labels, f"{truth.name} has")
            width = width if n_labels is None else width.agree(n_labels, argument("n_labels"))
        return width if self.names is None else width.agree(len(self.names), self.names.source)


def table_of(matrix: Any, name: str) -> Table | None:
    """Return the table that a matrix is, if it is one; most are none, for which nothing is loaded."""
    if isinstance(matrix, (np.ndarray, list, tuple, dict)) or hasattr(matrix, "tocsr"):
        return None
    from xmceval.files.tables.objects import find_table

    return find_table(matrix, name)


def _split_names(matrix: Any, name: str) -> tuple[Any, Axis, Axis]:
    """Return the numbers of a matrix in memory, and its rows and labels, which data frames name."""
    if is_frame(matrix):
        frame = as_frame(matrix, name)
        return frame.values, frame.rows, frame.labels
    rows = rows_of(matrix, name)
    if isinstance(matrix, (list, tuple)) and len(matrix) == 2 and is_frame(matrix[0]):  # labels and their scores
        rows = rows_of(matrix[0], f"{name}[0]")
        first_named(rows, rows_of(matrix[1], f"{name}[1]"), name)
    return matrix, rows, Axis(name, "label")


def _named_rows(truth: Input, rows: Axis, by_row: ByRow | None) -> tuple[Axis | None, Axis]:
    """Return the rows of the truth and of predictions, as columns of ids name them that both tables have."""
    if truth.by_row is None or by_row is None:
        return truth.rows, rows
    from xmceval.files.tables.rownames import name_rows  # not loaded for other files

    ours = truth.rows if rows.column is None else Axis(truth.name, "row")  # other ids are none
    return name_rows(truth.by_row, by_row) or (ours, rows)


def _check_json(truth: Input, scores: Input) -> None:
    """Refuse JSON lines that name their rows in another order than those of the truth."""
    inputs = [each.parts or (each,) for each in (truth, scores)]
    if all("JSON lines" in part.description for parts in inputs for part in parts):
        from xmceval.files.text.jsonlines import check_ids  # not loaded for other files

        check_ids(*([part.name for part in parts] for parts in inputs))


def _as_frame(source: MatrixSource, matrix: Any) -> MatrixSource:
    """Return a matrix that says if it was read from a data frame."""
    return replace(source, reading=source.reading.replace("dense array", "data frame")) if is_frame(matrix) else source


def _refuse_array(truth: Input, name: str) -> None:
    """Refuse scores by row beside grades by query and document: neither rows nor columns name what they are of."""
    if truth.judgments is not None:
        raise DataError(
            f"{name}: is an array, and {truth.judgments.name} has grades by query and document, whose order it cannot "
            "follow (hint: pass {query: {document: score}})"
        )


def _refuse_ids(truth: Input | None, name: str) -> None:
    """Refuse numbers of labels beside a truth by row whose labels are text."""
    if truth is not None and truth.judgments is None and truth.documents is not None:
        raise names_beside_ids(truth.name, name)


def _check_documents(truth: Input, width: Width) -> None:
    """Refuse more documents than there are labels."""
    n_mentioned = None if truth.judgments is None else truth.judgments.n_mentioned
    if n_mentioned is not None and width.is_known and n_mentioned > width.n_labels:
        raise DataError(f"{truth.name} and what is scored mention {counted(n_mentioned, 'document')}, but {width}")


def _may_be_triples(truth: Any, systems: Sequence[Any]) -> bool:
    """Return whether arrays may have a row, a label and a value in each line, which is asked when they are read."""
    if not isinstance(truth, np.ndarray) or truth.shape[1:] != (3,):
        return False
    return any(isinstance(each, np.ndarray) and are_triples(truth, each) for each in systems)


def is_same(path: str | Path, source: Source) -> bool:
    """Return whether a path is that of the file of a source."""
    addresses = _addresses_of(source)
    return _have_same_name(path, source.name) and (not addresses or to_path(path) in addresses)


def are_same(first: Source, second: Source) -> bool:
    """Return whether two sources are of the same files."""
    names = [[shard.name for shard in shards_of(source)] for source in (first, second)]
    if len(names[0]) != len(names[1]) or not all(map(_have_same_name, *names)):
        return False
    return _addresses_of(first) == _addresses_of(second)


def _have_same_name(first: str | Path, second: str) -> bool:
    """Return whether two names are of the same file, as far as names without credentials show it."""
    path, other = to_path(first), to_path(second)
    if isinstance(path, RemotePath) or isinstance(other, RemotePath):
        return str(path) == str(other)
    return other.exists() and path.exists() and path.samefile(other)


def _addresses_of(source: Source) -> list[Path]:
    """Return the addresses of remote files: names do not have their query strings, which may tell files apart."""
    shards = [shard for shard in shards_of(source) if is_address(shard.name)]
    paths = dict.fromkeys(path for shard in shards for path in shard.files())
    return [path for path in paths if isinstance(path, RemotePath)]


def take_numbers(values: Any, name: str, per: str = "label") -> tuple[Float64, str]:
    """Take one number per label, or per row, from a file or an array; also return the name for messages."""
    if isinstance(values, (str, Path)):
        return read_numbers(values), to_path(values).name
    array = as_array(values, name)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise DataError(f"{name}: expected one number per {per}, got shape {array.shape} of {array.dtype}")
    return array.astype(np.float64), name


def find_filter(pairs: Any, truth: Source | None, width: Width) -> Filter | None:
    """Take the pairs of a filter, and check them against the size of the truth, where known."""
    if pairs is None:
        return None
    from xmceval.files.sidecars.filterfile import take_filter  # not loaded by a score without it

    checked = take_filter(pairs)
    if truth is not None and truth.n_rows is not None:
        checked.check_rows(truth.n_rows, truth.name)
    checked.check_labels(width)
    return checked
