"""RowsToWrite: a source of rows is written in another format, block by block; it reads back bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xmceval.errors import UsageError, argument, listed
from xmceval.files.io.paths import sibling, to_path
from xmceval.files.io.signatures import LABELS_ENDING, SCORES_ENDING
from xmceval.files.writing.sinks import NpzSink, PairSink, Sink, TextSink
from xmceval.files.writing.targets import open_targets, spool_folder
from xmceval.files.writing.writtenformats import COMPRESSORS, WrittenFormat, find_format, split_endings
from xmceval.rows.block import Block, Rows, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.progress import phase
from xmceval.rows.threads import in_order
from xmceval.rows.width import UNKNOWN, Width

ORDERS = ("score", "label")


@dataclass(frozen=True)
class Written:
    """The size of the rows that were written, and notes about them."""

    n_rows: int
    n_labels: int
    n_entries: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowsToWrite:
    """The rows to write, and the options.

    Attributes
    ----------
    source : Source
        The rows.
    are_scores : bool
        Whether they are predictions.
    top : int or None
        The number of best labels of each row to keep.
    order : {"score", "label", None}
        The order within each row.
    n_labels : int or None
        The number of labels.
    threads : int or None
        The number of threads.
    """

    source: Source
    are_scores: bool
    top: int | None
    order: str | None
    n_labels: int | None
    threads: int | None


def convert(
    source: Source,
    dst: str | Path | BinaryIO,
    *,
    to: str | None = None,
    are_scores: bool = True,
    top: int | None = None,
    order: str | None = None,
    n_labels: int | None = None,
    force: bool = False,
    inputs: Iterable[str | Path] = (),
    threads: int | None = None,
) -> Written:
    """Write a source of rows as a file, or as text to an open stream.

    Parameters
    ----------
    source : Source
        Truth or predictions.
    dst : path or binary stream
        The name of a text file may end in .gz, .bz2, .xz or .zst.
    to : str, optional
        One of WRITTEN_FORMATS; default by the ending of `dst`, else text with a header. An ending of another format,
        such as .csv, is refused unless this is passed.
    are_scores : bool
        Whether these are predictions: then stored zeros are kept.
    top : int, optional
        Keep this number of best labels of each row, best first; equal scores are ordered by label.
    order : {"score", "label"}, optional
        Order within each row; default unchanged.
    n_labels : int, optional
        The number of labels; default the number that the source declares, else the largest label + 1.
    force : bool
        Overwrite `dst`.
    inputs : iterable of path
        What else was read, beside the files of the source; none of them is overwritten.
    threads : int, optional
        Default: one per processor; the bytes are the same for any number.

    Returns
    -------
    Written
    """
    path = to_path(dst) if isinstance(dst, (str, Path)) else None
    target = find_format(path or "-", to)
    _check_options(target, are_scores, top, order)
    job = RowsToWrite(source, are_scores, top, order, n_labels, threads)
    if path is not None:
        return _write_file(path, target, job, force=force, inputs=[*source.files(), *inputs])
    if not target.is_text:
        raise UsageError(
            f"{target.name} cannot be written to a stream (hint: pass {argument('to')} as xmc, plain or omikuji)"
        )
    with tempfile.TemporaryFile() as file:
        sink = _make_text_sink(target, file, job)
        written = _write_rows(job, sink)
        sink.copy_to(dst)  # type: ignore[arg-type]
    return written


def _check_options(target: WrittenFormat, are_scores: bool, top: int | None, order: str | None) -> None:
    """Refuse a format that cannot hold the rows, and wrong values."""
    if target.name == "lists" and are_scores:
        raise UsageError(
            f"lists of labels cannot hold scores (hint: pass {argument('kind', 'truth')} if these are true labels)"
        )
    if target.name == "npy" and not are_scores:
        raise UsageError(f"a pair of npy files holds predictions, not truth (hint: pass {argument('to', 'npz')})")
    if order not in {None, *ORDERS}:
        raise UsageError(f"order must be one of {listed(ORDERS)}, got {order!r}")
    if top is not None and top < 1:
        raise UsageError(f"top must be at least 1, got {top}")


def _write_file(
    path: Path, target: WrittenFormat, job: RowsToWrite, *, force: bool, inputs: Iterable[str | Path]
) -> Written:
    paths = [path]
    if target.name == "npy":
        stem = str(path).removesuffix(LABELS_ENDING).removesuffix(SCORES_ENDING)
        paths = [sibling(path, stem + LABELS_ENDING), sibling(path, stem + SCORES_ENDING)]
    with open_targets(paths, force=force, inputs=inputs) as files:
        sink: Sink
        if target.is_text:
            sink = _make_text_sink(target, files[0], job, split_endings(path)[1])
        else:
            folder = spool_folder(path)
            sink = NpzSink(files[0], folder) if target.name == "npz" else PairSink(files, folder)
        try:
            return _write_rows(job, sink)
        finally:
            sink.close()


def _make_text_sink(target: WrittenFormat, file: BinaryIO, job: RowsToWrite, compression: str = "") -> TextSink:
    """Begin a text file with the sizes that the source declares."""
    size = (job.source.n_rows or 0, job.source.n_labels or 0) if target.has_header else None
    return TextSink(file, target.colon, target.blank, size, COMPRESSORS.get(compression))


@dataclass
class _Totals:
    """The size of the rows written so far."""

    n_rows: int = 0
    n_entries: int = 0
    largest: int = -1


def _write_rows(job: RowsToWrite, sink: Sink) -> Written:
    """Write all rows: blocks are parsed and formatted in threads, and written in order."""
    totals = _Totals()
    width = Width.of(job.source, job.n_labels)

    def prepare(scratch: Scratch, block: Block) -> tuple[int, int, int, object]:
        if job.are_scores:
            rows = validated_scores(block, scratch, width)
        else:
            rows, _ = validated_truth(block, scratch, width)
        if job.top is not None or job.order is not None:
            _order_rows(rows, job.top, job.order)
        labels = rows.indices[: rows.indptr[-1]]
        largest = int(labels.max()) if labels.size else -1
        return rows.indptr.size - 1, labels.size, largest, sink.prepare(block, rows, scratch)

    def write(prepared: tuple[int, int, int, object]) -> None:
        n_rows, n_entries, largest, payload = prepared
        totals.n_rows += n_rows
        totals.n_entries += n_entries
        totals.largest = max(totals.largest, largest)
        sink.write(payload)
        add(n_rows)

    with phase(job.source.name, job.source.n_rows) as add:
        in_order(job.source.blocks(), prepare, write, job.threads)
    notes = list(job.source.warnings)
    n_labels, declared = width.n_labels, job.source.n_labels
    if n_labels == UNKNOWN and declared is not None and declared > totals.largest:
        n_labels = declared
    if n_labels == UNKNOWN:
        n_labels = totals.largest + 1
        notes.append(
            f"the number of labels is not declared; using the largest label + 1, {n_labels:,} "
            f"(hint: pass {argument('n_labels')})"
        )
    sink.finish(totals.n_rows, n_labels)
    return Written(totals.n_rows, n_labels, totals.n_entries, tuple(notes))


def _order_rows(rows: Rows, top: int | None, order: str | None) -> None:
    from xmceval.kernels.text.writing import order_rows

    by_score = order == "score" or (order is None and top is not None)
    order_rows(*rows, UNKNOWN if top is None else top, by_score, order == "label")
