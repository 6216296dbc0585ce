"""The public function `convert`, which writes truth or predictions as text, npz or npy without loss of precision."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from xmceval.conversion.read import collect_rows, open_rows
from xmceval.errors import DataError, UsageError, argument, missing_package
from xmceval.files.formats import BOTH
from xmceval.files.io.paths import MAX_LINE, RemotePath, to_path
from xmceval.files.io.signatures import LABELS_ENDING, SCORES_ENDING
from xmceval.files.io.write import open_output
from xmceval.files.opened import Role
from xmceval.rows.progress import phase

CELLS = 1 << 18  # entries, or cells of a dense array, to write at once


@dataclass(frozen=True)
class Conversion:
    """Summary of a conversion: what was read and written.

    Attributes
    ----------
    description : str
        The format in which the source was read.
    n_rows, n_labels, n_entries : int
        The size of the output.
    warnings : tuple of str
        Problems noticed during the conversion.
    """

    description: str
    n_rows: int
    n_labels: int
    n_entries: int
    warnings: tuple[str, ...] = ()


def convert(
    src: str | Path,
    dst: str | Path | BinaryIO,
    *,
    kind: Role | None = None,
    top: int | None = None,
    n_labels: int | None = None,
    labels: ArrayLike | str | Path | None = None,
    force: bool = False,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> Conversion:
    """Convert truth or predictions to another format.

    The matrix is held in memory as CSR. Text has the header ``rows cols`` and the shortest numbers that read
    back to the same double; npz is what `scipy.sparse.save_npz` writes; npy is a dense array, in which 0 means
    not true and -inf not predicted. Arrays are float32 if that holds all values exactly, otherwise float64.

    Parameters
    ----------
    src : path
        Any file that `score` reads, except TREC runs.
    dst : path or binary stream
        The file to write. Its name ends in .npz, .npy, or for text in .txt or without a suffix; text may be
        compressed, with .gz, .bz2, .xz or .zst appended. Streams receive text.
    kind : {"truth", "scores"}, optional
        What `src` holds; by default its content decides. Lists of labels and npy require it.
    top : int, optional
        Keep only this number of best labels per row, best first; equal scores are ordered by label.
    n_labels : int, optional
        The number of labels, if `src` does not declare it; default the number of `labels`, else the largest label +
        1.
    labels : sequence of str or path, optional
        As in `read`.
    force : bool
        Overwrite `dst`.
    max_line, threads : int, optional
        As in `read`. The output is bit-identical for any number of threads.

    Returns
    -------
    Conversion
        Its ``description``, ``n_rows``, ``n_labels``, ``n_entries`` and ``warnings`` say what was read and written.

    Raises
    ------
    DataError
        `src` is invalid; `dst` is then not written.
    UsageError
        `dst` has an unknown suffix, exists without `force`, or is an input.
    """
    if top is not None and top < 1:
        raise UsageError(f"top must be at least 1, got {top}")
    path = None
    form = ".txt"
    compression = ""
    if isinstance(dst, (str, Path)):
        path = to_path(dst)
        form, compression = _find_form(path)
    opened, width = open_rows(src, kind=kind, n_labels=n_labels, labels=labels, max_line=max_line)
    source = opened.fit_width(width.or_none)
    are_scores = opened.role == "scores"
    if form == ".npy" and kind is None and opened.format.holds == BOTH:
        raise UsageError(
            f"{dst}: a dense array has 0 for what is not true, but -inf for what is not predicted (hint: pass "
            f"{argument('kind', 'truth')} or {argument('kind', 'scores')})"
        )

    inputs: list[str | Path] = [*source.files, src]
    if isinstance(labels, (str, Path)):
        inputs.append(labels)
    output: Any = nullcontext(dst)
    if path is not None:
        output = open_output(path, force=force, inputs=inputs)
    with output as file:
        matrix = collect_rows(source, width, are_scores=are_scores, top=top, threads=threads)
        if form == ".npz":
            parts = (_narrowed(matrix.data), matrix.indices, matrix.indptr)
            # A scipy matrix, not an array: older versions of scipy cannot load arrays.
            sparse.save_npz(file, sparse.csr_matrix(parts, shape=matrix.shape), compressed=False)
        elif form == ".npy":
            _write_npy(file, matrix, str(path), are_scores=are_scores)
        else:
            with COMPRESSORS[compression](file) as stream, phase(str(dst), matrix.shape[0]) as add:
                for text, n_rows in _format_rows(matrix):
                    stream.write(text)
                    add(n_rows)
    notes = list(source.warnings)
    n_rows, n_columns = matrix.shape
    if not width.is_known and source.n_labels != n_columns:
        notes.append(
            f"the number of labels is not declared; using the largest label + 1, {n_columns:,} "
            f"(hint: pass {argument('n_labels')})"
        )
    return Conversion(opened.description, n_rows, n_columns, matrix.nnz, tuple(notes))


def _find_form(path: Path) -> tuple[str, str]:
    """Return the suffix of the format, .txt, .npz or .npy, and the suffix of the compression, which may be empty."""
    compression = path.suffix.lower()
    ending = Path(path.stem).suffix.lower() or ".txt"
    if compression not in COMPRESSORS:
        ending = compression or ".txt"
        compression = ""
    if ending not in {".txt", ".npz", ".npy"}:
        raise UsageError(f"{path}: cannot write {ending} (hint: use a name ending in .txt, .npz or .npy)")
    if compression and ending != ".txt":
        raise UsageError(f"{path}: {ending[1:]} cannot be compressed; only text can")
    if str(path).endswith((LABELS_ENDING, SCORES_ENDING)):
        raise UsageError(f"{path}: would be read as one of a pair of npy files (hint: choose another name)")
    return ending, compression


def _open_zstd(file: BinaryIO) -> Any:
    try:
        import zstandard
    except ImportError:
        raise missing_package("writing .zst", "zstandard") from None
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


# Compressing streams on top of a file, which stays open.
COMPRESSORS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "": nullcontext,
        ".gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
        ".bz2": lambda file: bz2.BZ2File(file, "wb"),
        ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 - its user closes it
        ".zst": _open_zstd,
    }
)


def _format_rows(matrix: sparse.csr_array[np.float64]) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of text, the header first, with the number of rows in each."""
    n_rows, _ = matrix.shape
    indptr = matrix.indptr
    start = 0
    yield b"%d %d\n" % matrix.shape, 0
    while start < n_rows:  # rows with about CELLS entries in all
        stop = max(int(np.searchsorted(indptr, indptr[start] + CELLS, side="right")) - 1, start + 1)
        ends = indptr[start : stop + 1]
        labels, values = (array[ends[0] : ends[-1]].tolist() for array in (matrix.indices, matrix.data))
        entries = [f"{label}:{value!r}" for label, value in zip(labels, values, strict=True)]
        text = "".join(" ".join(entries[i:j]) + "\n" for i, j in pairwise((ends - ends[0]).tolist()))
        # repr() is the shortest text that reads back the same, except for ".0" after whole numbers.
        yield text.replace(".0 ", " ").replace(".0\n", "\n").encode(), stop - start
        start = stop


def _narrowed(values: NDArray[np.float64]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not np.array_equal(single, values):
        return values
    return single


def _write_npy(file: BinaryIO, matrix: sparse.csr_array[np.float64], name: str, *, are_scores: bool) -> None:
    """Write a dense array, some rows at a time."""
    n_rows, n_labels = matrix.shape
    values = _narrowed(matrix.data)
    is_missing = np.isneginf(values)
    if are_scores and is_missing.any():
        row = int(np.searchsorted(matrix.indptr, np.argmax(is_missing), side="right")) - 1
        raise DataError(
            f"{name}: row {row} has a score of -inf, which in a dense array is no prediction (hint: write .npz)"
        )
    n_bytes = n_rows * n_labels * values.itemsize
    if not isinstance(to_path(name), RemotePath) and n_bytes > shutil.disk_usage(to_path(name).resolve().parent).free:
        raise DataError(
            f"{name}: a dense array of {n_rows:,} x {n_labels:,} numbers takes {n_bytes / 1e9:,.0f} GB, more than is "
            "free (hint: write .npz)"
        )
    header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": matrix.shape}
    np.lib.format.write_array_header_1_0(file, header)
    step = max(CELLS // max(n_labels, 1), 1)
    for start in range(0, n_rows, step):
        ends = matrix.indptr[start : start + step + 1]
        stored = slice(ends[0], ends[-1])
        cells = np.zeros((ends.size - 1, n_labels), dtype=values.dtype)
        if are_scores:
            cells.fill(-np.inf)
        cells[np.repeat(np.arange(ends.size - 1), np.diff(ends)), matrix.indices[stored]] = values[stored]
        file.write(cells.tobytes())
