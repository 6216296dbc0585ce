"""Writers: a source of rows as a file of another form, streamed; what is read back is the same bit for bit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xmceval.errors import UsageError, listed
from xmceval.files.writing.forms import COMPRESSIONS, Form, form_of
from xmceval.files.writing.sinks import NpzSink, PairSink, Sink, TextSink
from xmceval.files.writing.targets import _beside, _targets
from xmceval.rows.block import Block, Rows, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.repairs import without_extra_column
from xmceval.rows.threads import in_order
from xmceval.rows.width import UNKNOWN, Width

ORDERS = ("score", "label")


@dataclass(frozen=True)
class Written:
    """What was written."""

    n_rows: int
    n_labels: int
    n_entries: int
    notes: tuple[str, ...] = ()


def convert(
    source: Source,
    dst: str | Path | BinaryIO,
    *,
    form: str | None = None,
    are_scores: bool = True,
    top: int | None = None,
    order: str | None = None,
    n_labels: int | None = None,
    force: bool = False,
    threads: int | None = None,
) -> Written:
    """Write a source of rows as a file, or as text into an open stream.

    Parameters
    ----------
    source : Source
        Truth or predictions.
    dst : path or binary stream
        A text may end in .gz, .bz2, .xz or .zst.
    form : str, optional
        One of FORMS; default by the ending of `dst`, text with a header where it says nothing.
    are_scores : bool
        Whether these are predictions: then stored zeros are kept.
    top : int, optional
        Only so many best labels of each row, best first; equal scores in the order of the labels.
    order : {"score", "label"}, optional
        Order within each row; default as it was.
    n_labels : int, optional
        The number of labels; default what the source announces, else the largest label + 1.
    force : bool
        Overwrite `dst`.
    threads : int, optional
        Default: one per processor; the bytes are the same for any number.

    Returns
    -------
    Written

    Raises
    ------
    DataError
        Anything wrong with the source; nothing is left at `dst` then.
    UsageError
        A form that cannot hold it, or a file that is there already.
    """
    if are_scores and n_labels is not None and getattr(source, "may_have_extra", False):
        source = without_extra_column(source, n_labels) if source.n_labels == n_labels + 1 else source
    to_path = isinstance(dst, (str, Path))
    kind = form_of(dst if to_path else "-", form)  # type: ignore[arg-type]
    _check(kind, are_scores, top, order)
    if not to_path:
        if not kind.is_text:
            raise UsageError(f"{kind.name} is not written to a stream (hint: xmc, plain, omikuji)")
        with tempfile.TemporaryFile() as spool:
            text = _text(kind, spool, source)
            written = _stream(source, text, are_scores, top, order, n_labels, threads)
            text.copy(dst)  # type: ignore[arg-type]
        return written
    path = Path(dst)  # type: ignore[arg-type]
    with _beside(_targets(path, kind), force=force) as files:
        sink = _sink(kind, path, files, source)
        try:
            return _stream(source, sink, are_scores, top, order, n_labels, threads)
        finally:
            sink.close()


def _check(kind: Form, are_scores: bool, top: int | None, order: str | None) -> None:
    """Refuse what cannot be."""
    if kind.name == "lists" and are_scores:
        raise UsageError("lists of labels cannot hold scores (hint: --truth if these are true labels)")
    if kind.name == "npy" and not are_scores:
        raise UsageError("a pair of npy files holds predictions, not truth (hint: npz)")
    if order not in {None, *ORDERS}:
        raise UsageError(f"order must be one of {listed(ORDERS)}, got {order!r}")
    if top is not None and top < 1:
        raise UsageError(f"top must be at least 1, got {top}")


def _sink(kind: Form, path: Path, files: list[BinaryIO], source: Source) -> Sink:
    if kind.is_text:
        return _text(kind, files[0], source, COMPRESSIONS.get(path.suffix))
    return NpzSink(files[0], path.parent) if kind.name == "npz" else PairSink(files, path.parent)


def _text(form: Form, file: BinaryIO, source: Source, compress: Callable[[bytes], bytes] | None = None) -> TextSink:
    """Begin a text with what is announced."""
    header = (source.n_rows or 0, source.n_labels or 0) if form.has_header else None
    return TextSink(file, form.colon, form.blank, header, compress)


class _Seen:
    """What has gone by, added up in order."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = 0
        self.largest = -1


def _stream(
    source: Source,
    sink: Sink,
    are_scores: bool,
    top: int | None,
    order: str | None,
    n_labels: int | None,
    threads: int | None,
) -> Written:
    """Take every block through the sink: in threads, but put in order."""
    seen = _Seen()
    width = Width(n_labels, "n_labels is") if n_labels is not None else Width()
    if width.n_labels == UNKNOWN and source.is_exact and source.n_labels is not None:
        width = Width(source.n_labels, f"{source.name} has")

    def ready(scratch: Scratch, block: Block) -> tuple[int, int, int, object]:
        rows = validated_scores(block, scratch, width) if are_scores else validated_truth(block, scratch, width)[0]
        if top is not None or order is not None:
            _order(rows, top, order)
        used = rows.indices[: rows.indptr[-1]]
        largest = int(used.max()) if used.size else -1
        return rows.indptr.size - 1, used.size, largest, sink.ready(block, rows, scratch)

    def put(payload: tuple[int, int, int, object]) -> None:
        seen.n_rows += payload[0]
        seen.n_entries += payload[1]
        seen.largest = max(seen.largest, payload[2])
        sink.put(payload[3])

    in_order(source.blocks(), ready, put, threads)
    notes = list(source.warnings)
    known = width.n_labels
    if known == UNKNOWN and source.n_labels is not None and source.n_labels > seen.largest:
        known = source.n_labels
    if known == UNKNOWN:
        known = seen.largest + 1
        notes.append(f"nothing announces the number of labels: the largest label + 1 is {known:,} (hint: --n-labels)")
    sink.finish(seen.n_rows, known)
    return Written(seen.n_rows, known, seen.n_entries, tuple(notes))


def _order(rows: Rows, top: int | None, order: str | None) -> None:
    from xmceval.kernels.writing import order_rows

    by_score = order == "score" or (order is None and top is not None)
    order_rows(*rows, UNKNOWN if top is None else top, by_score, order == "label")
