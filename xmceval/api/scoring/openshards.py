"""Inputs as they are opened: one file or matrix, or several shards as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import DataError, argument, counted
from xmceval.files.arrays.npypairs import find_files
from xmceval.files.io.inputfiles import Stamp, stamp_of
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.pipes import pipe_key
from xmceval.files.io.presence import check_files
from xmceval.files.io.shardfiles import check_pairing, find_shards, is_matrix
from xmceval.files.opened import Opened
from xmceval.files.ranking.judgments import Judgments
from xmceval.files.ranking.recordlines import Records
from xmceval.rows.block import Source
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.readings import Axis, join_frames
from xmceval.rows.shards import Shards, parts_of
from xmceval.rows.sources import ReopenedSource, ShardedSource
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

MOST_FORMATS = 3  # of shards, in a note


def check_inputs(truth: Any, scores: Sequence[Any], options: Options) -> Any:
    """Check that all files exist and shards belong together; return the training labels with their shards found."""
    train = find_shards(options.train)
    others = [find_shards(file) for file in options.files if file is not options.train]
    inputs = truth, *scores, train, *others
    if any(isinstance(whole, (str, Path, Shards)) for whole in inputs):
        parts = [part for whole in inputs for part in parts_of(whole)]
        check_files(parts, [to_path(whole) for whole in (truth, *scores) if isinstance(whole, (str, Path))])
        for system in scores:
            check_pairing(truth, system)
    return train


def find_scores(y_score: Any, y_true: Any) -> Any:
    """Return the shards of predictions; beside a list of matrices as truth, a list of as many is no pair."""
    are_many = isinstance(y_true, list) and isinstance(y_score, list) and len(y_true) == len(y_score) > 1
    are_shards = are_many and all(map(is_matrix, y_true)) and not _are_whole(y_score, y_true)
    return find_shards(y_score, are_scores=not are_shards)


def _are_whole(y_score: Sequence[Any], y_true: Sequence[Any]) -> bool:
    """Return whether each of some matrices has as many rows as all shards of the truth together."""
    lengths = [getattr(part, "shape", (-1,))[0] for part in (*y_true, y_score[0])]
    return -1 not in lengths and lengths[-1] == sum(lengths[:-1])


def take_stamps(inputs: Sequence[Any]) -> dict[Path, Stamp | None]:
    """Return the stamps of all files among inputs, whose shards are found."""
    paths = [to_path(part) for whole in inputs for part in parts_of(whole) if isinstance(part, (str, Path))]
    local = [path for path in paths if not isinstance(path, RemotePath)]
    return {file: stamp_of(file) for path in local for file in find_files(path)}


def open_shards(shards: Shards, open_part: Callable[[Any, int], Opened], *, are_scores: bool) -> Opened:
    """Open shards as one input; `open_part` opens one of them, given its number."""
    parts = tuple(open_part(part, number) for number, part in enumerate(shards.parts))
    for part in parts:
        refuse_judgments(part.judgments, shards)
        if part.documents is not None:
            raise DataError(
                f"{part.source.name}: is a shard, and its labels are text, which each shard would number anew (hint: "
                f"pass {argument('labels', kind='FILE')}, with one name per line)"
            )
    name = shards.name if isinstance(shards.parts[0], (str, Path)) else parts[0].name.rpartition("[")[0]
    rows, by_row = _join_rows(parts, name), None
    tables = [part.by_row for part in parts if part.by_row is not None]
    if len(tables) == len(parts):
        from xmceval.files.tables.rownames import find_rows, join_shards  # not loaded for other files
        from xmceval.files.tables.rownumbers import refuse_numbers_of_all

        if all(table.columns.key is None for table in tables):
            by_row = join_shards(name, tables)
            rows = find_rows(by_row, rows)
        elif all(table.columns.key is not None for table in tables):
            refuse_numbers_of_all(name, tables)
    source = ShardedSource([part.source for part in parts], shards.name, are_scores=are_scores)
    return Opened(
        source,
        facts=(_describe(parts),),
        name=shards.name,
        parts=parts,
        is_ranked=all(part.is_ranked for part in parts),
        rows=rows or Axis(name, "row"),
        labels=parts[0].labels,
        rows_by=parts[0].rows_by,
        labels_by=parts[0].labels_by,
        by_row=by_row,
    )


def _join_rows(parts: Sequence[Opened], name: str) -> Axis | None:
    """Return the rows of all shards, if the index of each names its own."""
    rows = [axis for axis in (part.rows for part in parts) if axis is not None and axis.column is None]
    rows = [axis for axis in rows if axis.names is not None]
    if len(rows) < len(parts) or all(axis.is_numbered for axis in rows):
        return None
    names = list(chain.from_iterable(axis.names for axis in rows if axis.names is not None))
    code = join_frames([axis.code or axis.source for axis in rows])
    return replace(Axis.of(name, "row", names), code=code, is_file=rows[0].is_file)


def open_lean(path: str | Path | Records | Table, open_file: Callable[[], Opened], *, is_shard: bool) -> Opened:
    """Open a file; a shard whose rows are held in memory is opened again when they are needed, and freed then."""
    opened = open_file()
    if not is_shard or not opened.is_held or not isinstance(path, (str, Path)) or pipe_key(to_path(path)) is not None:
        return opened
    files = () if isinstance(to_path(path), RemotePath) else find_files(to_path(path))
    return replace(opened, source=ReopenedSource(opened.source, partial(_open_again, open_file), files))


def _open_again(open_file: Callable[[], Opened]) -> Source:
    return open_file().source


def refuse_judgments(judgments: Judgments | None, shards: Shards) -> None:
    """Refuse shards in the ranking field's formats, whose rows are those of queries in all files."""
    if judgments is not None:
        raise DataError(
            f"{shards.name}: qrels and what is scored against them cannot be shards, as their rows are "
            "joined by query (hint: join the files into one first)"
        )


def check_threshold(threshold: float, scores: Opened) -> None:
    """Refuse a threshold that is another number in the type of one shard's scores than in that of another."""
    if not scores.parts:
        return
    first, *others = (part.source for part in scores.parts)
    for other in others:
        if rounded(threshold, first.dtype) != rounded(threshold, other.dtype):
            kinds = [source.dtype or "text" for source in (first, other)]
            raise DataError(
                f"{first.name} has scores of type {kinds[0]}, {other.name} of type {kinds[1]}: the threshold "
                f"{threshold:g} is not the same number in both (hint: convert the shards to one type)"
            )


def _describe(parts: tuple[Opened, ...]) -> str:
    """Return the formats of shards in words, each with its first file; nothing for arrays."""
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
