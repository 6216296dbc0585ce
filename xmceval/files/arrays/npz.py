"""Read npz files with a scipy.sparse matrix (CSC and COO in memory) or with arrays of labels and scores."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xmceval.errors import DataError, counted, listed, names_flags
from xmceval.files.arrays.npy import Archive, ArrayFile
from xmceval.files.arrays.pairs import open_lists
from xmceval.files.io.streams import is_uncompressed, read_all_bytes
from xmceval.files.opened import FORMATS, Opened, Request
from xmceval.rows.matrices.source import BLOCK_ENTRIES, MatrixSource
from xmceval.rows.matrices.sparse import coo_to_csr, csc_to_csr, early_end_error, indptr_error
from xmceval.rows.matrices.storage import Csr, FilePieces

ROWS_AT_ONCE = 1 << 16

MOST_NAMED = 6  # members named in a message

LONGEST_FORMAT = 1 << 10  # bytes of `format`, which is read at once

# The arrays of each format of scipy.sparse.save_npz, with the dtype kinds that they may have.
_COMMON = {"shape": "iu", "data": "biuf"}
_FORMATS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "csr": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "csc": {**_COMMON, "indices": "iu", "indptr": "iu"},
        "coo": {**_COMMON, "row": "iu", "col": "iu"},
    }
)

_CSR_ARRAYS = ("indptr", "indices", "data")

# Names of the array of labels that goes with scores: as in NAME-labels.npy, and as in pyxclib's dict.
_LISTS = frozenset({"labels", "indices"})


def open_npz(path: Path, request: Request) -> Opened:
    """Open a matrix from ``scipy.sparse.save_npz``, or predictions from ``numpy.savez(labels=, scores=)``."""
    archive = Archive(path, None if is_uncompressed(path) else read_all_bytes(path))
    with archive.open() as opened:
        parts = {name.removesuffix(".npy") for name in opened.namelist()}
        if request.are_scores and not _COMMON.keys() <= parts and parts & _LISTS:
            labels, *others = sorted(parts & _LISTS)
            if others:
                raise DataError(f"{path}: has both {labels!r} and {others[0]!r}; expected labels=, scores=")
            array = ArrayFile(path, archive, labels)
            scores = ArrayFile(path, archive, "scores") if "scores" in parts else None
            form, is_held = FORMATS["npz-arrays"], archive.content is not None
            return open_lists(array, scores, request, form, missing="array 'scores'", is_held=is_held)
        kind, lengths, shape, dtype = _check(archive, opened)
        pieces: FilePieces | list[Csr]
        if kind == "csr":
            n_stored = lengths["data"]
            if lengths["indices"] != n_stored:
                raise DataError(f"{path}: its arrays of indices and data have different lengths")
            if lengths["indptr"] != shape[0] + 1:
                raise indptr_error(str(path), shape[0], n_stored)
            read = partial(_read_csr, archive, shape, n_stored, request.are_scores)
            pieces = FilePieces((path,), read, archive.can_start)
        else:
            arrays = {part: archive.read_array(opened, part) for part in _FORMATS[kind]}
            if kind == "csc":
                csr = csc_to_csr(str(path), arrays["indptr"], arrays["indices"], arrays["data"], shape)
            else:
                csr = coo_to_csr(str(path), arrays["row"], arrays["col"], arrays["data"], shape[0])
            pieces = [Csr(*csr, request.are_scores)]
    return Opened(
        MatrixSource(str(path), *shape, pieces, dtype=dtype),
        FORMATS["npz"],
        (f"{FORMATS['npz'].title} {kind} matrix",),
        request.role,
        is_held=kind != "csr" or archive.content is not None,
        may_have_extra_column=request.are_scores,
    )


def _check(archive: Archive, opened: zipfile.ZipFile) -> tuple[str, dict[str, int], tuple[int, int], np.dtype[Any]]:
    """Check the arrays; return their format and lengths, the matrix's shape and the dtype of its values."""
    path = archive.path
    parts = {name.removesuffix(".npy") for name in opened.namelist()}
    if not _COMMON.keys() <= parts:
        raise DataError(f"{path}: {_describe_other(archive, opened, path)}")
    form = "csr"
    if "format" in parts:
        with archive.open_array(opened, "format") as stream:
            header = stream.header
            if header.shape or header.dtype.kind not in "SU" or header.dtype.itemsize > LONGEST_FORMAT:
                raise DataError(f"{path}: its 'format' is not a word; expected a file of scipy.sparse.save_npz")
            word = stream.read_whole().tolist()
        form = word.decode(errors="replace") if isinstance(word, bytes) else str(word)
    if form not in _FORMATS:
        raise DataError(
            f"{path}: is a sparse matrix of format {form!r}; expected one of {listed(_FORMATS)} "
            "(hint: convert it with .tocsr())"
        )
    missing = _FORMATS[form].keys() - parts
    if missing:
        raise DataError(f"{path}: lacks the array {min(missing)!r}; a {form} matrix has {listed(_FORMATS[form])}")
    lengths, dtypes = dict[str, int](), dict[str, np.dtype[Any]]()
    for part, kinds in _FORMATS[form].items():
        with archive.open_array(opened, part) as stream:
            header = stream.header
        if header.dtype.kind not in kinds or len(header.shape) != 1:
            raise DataError(
                f"{path}: its {part!r} has shape {header.shape} and dtype {header.dtype}; expected "
                f"{'integers' if kinds == 'iu' else 'numbers'} in one dimension"
            )
        lengths[part], dtypes[part] = header.shape[0], header.dtype
    shape = archive.read_array(opened, "shape").tolist() if lengths["shape"] == 2 else []
    if len(shape) != 2 or min(shape) < 0:
        raise DataError(f"{path}: its shape is {tuple(shape)}; expected rows and columns")
    return form, lengths, (shape[0], shape[1]), dtypes["data"]


def _describe_other(archive: Archive, opened: zipfile.ZipFile, path: Path) -> str:
    """Describe the contents of an archive that is not a matrix."""
    names = opened.namelist()
    parts = [name.removesuffix(".npy") for name in names]
    expected = "expected a file of scipy.sparse.save_npz"
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    if any(name.endswith("/data.pkl") for name in names):
        load, new = f"torch.load({json.dumps(str(path))}).numpy()", f"{path.name.partition('.')[0]}-new.npy"
        save = f"run python -c {shlex.quote(f'import numpy, torch; numpy.save({json.dumps(new)}, {load})')}"
        return f"was written by torch.save, as a pickle; {expected} (hint: {save if names_flags() else f'pass {load}'})"
    if parts == names:
        return f"is a zip archive of {listed(names[:MOST_NAMED])}{more}; {expected} (hint: unzip it)"
    if {"meta", "rows", "values"} <= {*parts}:
        tool = "xmceval compare, as NAME.rows.npz" if names_flags() else "compare_rows"
        return f"is not a sparse matrix; {expected} (hint: per-instance values are compared with {tool})"
    arrays = list[str]()
    for part in parts[:MOST_NAMED]:
        try:
            with archive.open_array(opened, part) as stream:
                shape, _, dtype = stream.header
            arrays.append(f"{part} ({' x '.join(f'{n:,}' for n in shape) or 'one value'}, {dtype})")
        except DataError:
            arrays.append(part)
    what, hint = "the array", "save it as .npy"
    if len(parts) > 1:
        what, hint = "arrays", "save each matrix in a file of its own"
    return f"is not a sparse matrix but has {what} {listed(arrays)}{more}; {expected} (hint: {hint})"


def _read_csr(
    archive: Archive, shape: tuple[int, int], n_stored: int, are_scores: bool, first_row: int
) -> Iterator[Csr]:
    """Yield the rows of a CSR matrix from `first_row` on, in pieces of about BLOCK_ENTRIES entries.

    Its three arrays are read in parallel, and row pointers are checked before the entries are read.
    """
    name, n_rows = str(archive.path), shape[0]
    with ExitStack() as stack:
        opened = stack.enter_context(archive.open())
        streams = [stack.enter_context(archive.open_array(opened, part)) for part in _CSR_ARRAYS]
        ends, indices, values = streams
        if first_row:
            ends.skip(first_row)
        last = int(ends.read(1)[0])
        if not (0 <= last <= n_stored if first_row else last == 0):
            raise indptr_error(name, n_rows, n_stored)
        if last:
            indices.skip(last)
            values.skip(last)
        for row in range(first_row, n_rows, ROWS_AT_ONCE):
            n = min(ROWS_AT_ONCE, n_rows - row)
            # A uint64 beyond int64, from a damaged file, becomes negative and is refused.
            indptr = np.concatenate([[last], ends.read(n).astype(np.int64)])
            if np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > n_stored:
                raise indptr_error(name, n_rows, n_stored)
            if row + n == n_rows and indptr[-1] < n_stored:
                raise early_end_error(name, int(indptr[-1]), n_stored)
            lengths, longest = np.diff(indptr), max(shape[1], BLOCK_ENTRIES)
            longer = int(np.argmax(lengths > longest))
            if lengths[longer] > longest:  # the rest is not read
                raise DataError(
                    f"{name} row {row + longer}: has {counted(int(lengths[longer]), 'entry')}, but the matrix has "
                    f"{counted(shape[1], 'column')}; a label appears at most once in a row"
                )
            start = 0
            while start < n:
                stop = int(np.searchsorted(indptr, indptr[start] + BLOCK_ENTRIES, side="right")) - 1
                stop = min(max(stop, start + 1), n)
                n_entries = int(indptr[stop] - indptr[start])
                part = indptr[start : stop + 1] - indptr[start]
                yield Csr(part, indices.read(n_entries), values.read(n_entries), are_scores)
                start = stop
            last = int(indptr[-1])
        if not first_row:
            for stream in streams:
                stream.check_end()
