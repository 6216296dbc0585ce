"""Writers: a source of rows as a file of another form, streamed; what is read back is the same bit for bit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmceval.blocks import UNKNOWN, Block, Rows, Scratch, Source, Width, checked_scores, settled_truth
from xmceval.errors import DataError, UsageError, listed
from xmceval.evaluate import each_block
from xmceval.mended import without_extra_column
from xmceval.sinks import NpzSink, PairSink, Sink, TextSink

NUMBERS = 1 << 16  # so many are formatted at a time
ORDERS = ("score", "label")
LABELS, SCORES = "-labels.npy", "-scores.npy"
# Endings that promise a form which is not written.
FOREIGN = frozenset(
    {
        *(".mat", ".zip", ".tar", ".tgz", ".7z", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5", ".parquet", ".feather"),
        *(".arrow", ".pt", ".pth", ".bin", ".safetensors"),
    }
)
Payload = TypeVar("Payload")


@dataclass(frozen=True)
class Form:
    """One form of file; text has `colon` between label and value and `blank` between entries.

    Without a colon only labels are written.
    """

    name: str
    summary: str
    colon: bytes = b""
    blank: bytes = b""
    has_header: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is text, which may be compressed."""
        return bool(self.blank)


_FORMS = (
    Form("xmc", "XMLRepository's text: header 'rows cols', rows of idx:value", b":", b" ", has_header=True),
    Form("plain", "the same without a header, as napkinXC writes it", b":", b" "),
    Form("omikuji", "rows of 'label value' with tabs between", b" ", b"\t"),
    Form("lists", "truth only: rows of labels with commas between", b"", b","),
    Form("npz", "scipy.sparse.save_npz, CSR"),
    Form("npy", "predictions only: the pair NAME-labels.npy and NAME-scores.npy"),
)
FORMS: Mapping[str, Form] = MappingProxyType({form.name: form for form in _FORMS})


def _zstd(text: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise UsageError("writing .zst needs the package zstandard (mend: pip install 'xmceval[zstd]')") from None
    compressed: bytes = zstandard.compress(text)
    return compressed


# Each block becomes a member of its own, in its thread: all four formats are read as their members one after the other.
COMPRESSIONS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        ".gz": lambda text: gzip.compress(text, 6, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": _zstd,
    }
)


@dataclass(frozen=True)
class Written:
    """What was written."""

    n_rows: int
    n_labels: int
    n_entries: int
    notes: tuple[str, ...] = ()


def form_of(dst: str | Path, name: str | None = None) -> Form:
    """Find the form by its name, or by the ending of the file's name.

    Raises
    ------
    UsageError
        An unknown name, an ending of some other binary form, or a compression where there is none.
    """
    if name is not None and name not in FORMS:
        raise UsageError(f"unknown form {name!r}; known: {listed(FORMS)}")
    ending = Path(dst).suffix
    inner = Path(Path(dst).stem).suffix if ending in COMPRESSIONS else ending
    form = FORMS[name or inner.removeprefix(".")] if name or inner in {".npz", ".npy"} else FORMS["xmc"]
    if name is None and inner.lower() in FOREIGN:
        raise UsageError(
            f"{dst}: {inner} is not among what is written (mend: a name in .npz or .txt, or --to {listed(FORMS)})"
        )
    if ending in COMPRESSIONS and not form.is_text:
        raise UsageError(f"{dst}: {form.name} is written as it is, not compressed")
    if form.name == "npy" and name is None and not str(dst).endswith((LABELS, SCORES)):
        raise UsageError(f"{dst}: predictions are written as a pair of npy files: expected NAME{LABELS}")
    return form


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
            raise UsageError(f"{kind.name} is not written to a stream (mend: xmc, plain, omikuji)")
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
        raise UsageError("lists of labels cannot hold scores (mend: --truth if these are true labels)")
    if kind.name == "npy" and not are_scores:
        raise UsageError("a pair of npy files holds predictions, not truth (mend: npz)")
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


def _targets(path: Path, kind: Form) -> list[Path]:
    if kind.name != "npy":
        return [path]
    stem = str(path).removesuffix(LABELS).removesuffix(SCORES)
    return [Path(stem + LABELS), Path(stem + SCORES)]


@contextmanager
def _beside(targets: list[Path], *, force: bool) -> Iterator[list[BinaryIO]]:
    """Open files beside the targets, which take their names if all goes well, and go away if not."""
    there = [each for each in targets if each.exists()]
    for each in there:
        if not each.is_file():
            raise UsageError(f"{each}: is no file that could be overwritten (standard output is -)")
    if there and not force:
        raise UsageError(f"{' and '.join(map(str, there))}: is there already (mend: --force)")
    targets = [each.resolve() for each in targets]  # what a link points to is overwritten, not the link
    names = [each.with_name(f".{each.name}.{os.getpid()}.part") for each in targets]
    files: list[BinaryIO] = []
    try:
        files.extend(name.open("w+b") for name in names)
        yield files
        for file in files:
            file.close()
        for name, target in zip(names, targets, strict=True):
            name.replace(target)
    except OSError as error:
        raise DataError(f"{targets[0]}: {error.strerror or error}") from None
    finally:
        for file in files:
            file.close()
        for name in names:
            name.unlink(missing_ok=True)


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
        rows = checked_scores(block, scratch, width) if are_scores else settled_truth(block, scratch, width)[0]
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
        notes.append(f"nothing announces the number of labels: the largest label + 1 is {known:,} (mend: --n-labels)")
    sink.finish(seen.n_rows, known)
    return Written(seen.n_rows, known, seen.n_entries, tuple(notes))


def in_order(
    blocks: Generator[Block, None, None],
    ready: Callable[[Scratch, Block], Payload],
    put: Callable[[Payload], None],
    threads: int | None,
) -> None:
    """Make blocks ready in threads, and put what comes of it one after the other, in their order."""
    turn, state = threading.Condition(), {"next": 0, "failed": 0}

    def work(scratch: Scratch, item: tuple[int, Block]) -> None:
        try:
            payload = ready(scratch, item[1])
            with turn:
                turn.wait_for(lambda: state["next"] == item[0] or state["failed"])
            if state["failed"]:
                return
            put(payload)
            with turn:
                state["next"] += 1
                turn.notify_all()
        except BaseException:
            with turn:
                state["failed"] = 1
                turn.notify_all()
            raise

    each_block(_numbered(blocks), Scratch, work, threads)


def _numbered(blocks: Generator[Block, None, None]) -> Generator[tuple[int, Block], None, None]:
    with closing(blocks):
        yield from enumerate(blocks)


def _order(rows: Rows, top: int | None, order: str | None) -> None:
    from xmceval.kernels.write import order_rows

    by_score = order == "score" or (order is None and top is not None)
    order_rows(*rows, UNKNOWN if top is None else top, by_score, order == "label")


def write_numbers(dst: str | Path | BinaryIO, values: NDArray[Any], *, force: bool = False) -> None:
    """Write one number a line, or an npy array where the name ends in .npy: the shortest text that reads back the same.

    Raises
    ------
    UsageError
        A file that is there already, or an ending of another form.
    """
    if not isinstance(dst, (str, Path)):
        dst.writelines(_lines(values))
        return
    path = Path(dst)
    if path.suffix.lower() in FOREIGN | {".npz"}:
        raise UsageError(f"{path}: numbers are not written as {path.suffix} (mend: a name in .txt or .npy)")
    with _beside([path], force=force) as files:
        if path.suffix == ".npy":
            np.save(files[0], values)
            return
        compress = COMPRESSIONS.get(path.suffix)
        for text in _lines(values):
            files[0].write(compress(text) if compress else text)


def _lines(values: NDArray[Any]) -> Iterator[bytes]:
    """Yield lines of one number, many at a time."""
    for start in range(0, values.size, NUMBERS):
        yield "".join(f"{value!r}\n" for value in values[start : start + NUMBERS].tolist()).encode()
