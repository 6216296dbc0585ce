"""Read npz files with a scipy.sparse matrix (CSC and COO in memory) or with arrays of labels and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np

from xmceval.errors import DataError, argument, counted, listed
from xmceval.files.arrays.npy import ArrayFile, open_archive
from xmceval.files.arrays.pairs import can_start, open_lists
from xmceval.files.formats import FORMATS
from xmceval.files.io.streams import is_uncompressed, read_all_bytes
from xmceval.files.opened import Opened, Request
from xmceval.rows.matrices.source import BLOCK_ENTRIES, read_matrix
from xmceval.rows.matrices.sparse import coo_to_csr, csc_to_csr, early_end_error, indptr_error
from xmceval.rows.matrices.storage import Csr
from xmceval.rows.progress import phase
from xmceval.rows.source import Source

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

# Names of the array of labels that goes with scores: as in NAME-labels.npy, and as in pyxclib's dict.
_LISTS = frozenset({"labels", "indices"})

# Other programs' zip archives: the member that shows it, what they are, and what to do.
_CONTAINERS = (
    ("/data.pkl", "was written by torch.save, as a pickle", "save the tensor's .numpy() with numpy.save"),
    ("xl/workbook.xml", "is a spreadsheet", "save it as CSV"),  # xlsx
    ("content.xml", "is a spreadsheet", "save it as CSV"),  # ods
)


def open_npz(path: Path, request: Request) -> Opened:
    """Open a matrix from ``scipy.sparse.save_npz``, or predictions from ``numpy.savez(labels=, scores=)``."""
    content = None
    if not is_uncompressed(path):
        content = read_all_bytes(path)
    with open_archive(path, content) as archive:
        names = archive.namelist()
    arrays = {part: ArrayFile(path, part, content) for part in (name.removesuffix(".npy") for name in names)}
    if not _COMMON.keys() <= arrays.keys():
        if not request.are_scores or not arrays.keys() & _LISTS:
            raise DataError(f"{path}: {_describe_other(names, arrays)}")
        labels, *others = sorted(arrays.keys() & _LISTS)
        if others:
            raise DataError(f"{path}: has both {labels!r} and {others[0]!r}; expected labels=, scores=")
        form = FORMATS["npz-arrays"]
        is_held = content is not None
        return open_lists(
            arrays[labels], arrays.get("scores"), request, form, missing="array 'scores'", is_held=is_held
        )
    kind = _find_format(path, arrays)
    headers = {part: arrays[part].header() for part in _FORMATS[kind]}
    for part, kinds in _FORMATS[kind].items():
        shape, _, dtype = headers[part]
        if dtype.kind not in kinds or len(shape) != 1:
            numbers = "integers" if kinds == "iu" else "numbers"
            raise DataError(
                f"{path}: its {part!r} has shape {shape} and dtype {dtype}; expected {numbers} in one dimension"
            )
    sizes = []
    if headers["shape"].shape == (2,):
        sizes = arrays["shape"].read().tolist()
    if len(sizes) != 2 or min(sizes) < 0:
        raise DataError(f"{path}: its shape is {tuple(sizes)}; expected rows and columns")
    n_rows, n_columns = sizes
    if kind == "csr":
        n_stored = headers["data"].shape[0]
        if headers["indices"].shape[0] != n_stored:
            raise DataError(f"{path}: its arrays of indices and data have different lengths")
        if headers["indptr"].shape[0] != n_rows + 1:
            raise indptr_error(str(path), n_rows, n_stored)
        of_csr = [arrays[part] for part in ("indptr", "indices", "data")]
        source = Source(
            str(path),
            read_matrix,
            n_rows,
            n_columns,
            dtype=headers["data"].dtype,
            files=(path,),
            stored=partial(_read_csr, of_csr, (n_rows, n_columns), n_stored, request.are_scores),
            can_start=partial(can_start, of_csr),
        )
    else:
        whole = {part: arrays[part].read() for part in _FORMATS[kind]}
        if kind == "csc":
            csr = csc_to_csr(str(path), whole["indptr"], whole["indices"], whole["data"], (n_rows, n_columns))
        else:
            csr = coo_to_csr(str(path), whole["row"], whole["col"], whole["data"], n_rows)
        stored = Csr(*csr, request.are_scores)
        source = Source(str(path), read_matrix, n_rows, n_columns, dtype=headers["data"].dtype, stored=stored)
    return Opened(
        source,
        FORMATS["npz"],
        (f"{FORMATS['npz'].title} {kind} matrix",),
        request.role,
        is_held=kind != "csr" or content is not None,
        may_have_extra_column=request.are_scores,
    )


def _find_format(path: Path, arrays: Mapping[str, ArrayFile]) -> str:
    """Return the format of a sparse matrix, all of whose arrays are there."""
    form = "csr"
    if "format" in arrays:
        with arrays["format"].open() as array:
            header = array.header
            if header.shape or header.dtype.kind not in "SU" or header.dtype.itemsize > LONGEST_FORMAT:
                raise DataError(f"{path}: its 'format' is not a word; expected a file of scipy.sparse.save_npz")
            word = array.read_whole().tolist()
        form = word.decode(errors="replace") if isinstance(word, bytes) else str(word)
    if form not in _FORMATS:
        raise DataError(
            f"{path}: is a sparse matrix of format {form!r}; expected one of {listed(_FORMATS)} "
            "(hint: convert it with .tocsr())"
        )
    missing = _FORMATS[form].keys() - arrays.keys()
    if missing:
        raise DataError(f"{path}: lacks the array {min(missing)!r}; a {form} matrix has {listed(_FORMATS[form])}")
    return form


def _describe_other(names: Sequence[str], arrays: Mapping[str, ArrayFile]) -> str:
    """Describe the contents of an archive that is not a matrix."""
    expected = "expected a file of scipy.sparse.save_npz"
    more = ""
    if len(names) > MOST_NAMED:
        more = f" and {len(names) - MOST_NAMED:,} more"
    for member, what, hint in _CONTAINERS:
        if any(name.endswith(member) for name in names):
            return f"{what}; {expected} (hint: {hint})"
    if list(arrays) == names:
        return f"is a zip archive of {listed(names[:MOST_NAMED])}{more}; {expected} (hint: unzip it)"
    if {"meta", "rows", "values"} <= arrays.keys():
        saved = f"has per-instance values that {argument('save_rows')} wrote"
        return f"{saved}; {expected} (hint: compare_rows and xmceval compare read them)"
    if {"header", "tally.counts"} <= arrays.keys():
        return f"is a state of xmceval, which {argument('save_state')} wrote; {expected} (hint: merge shows its values)"
    described = list[str]()
    for part in list(arrays)[:MOST_NAMED]:
        try:
            shape, _, dtype = arrays[part].header()
            described.append(f"{part} ({' x '.join(f'{n:,}' for n in shape) or 'one value'}, {dtype})")
        except DataError:
            described.append(part)
    what = "the array"
    hint = "save it as .npy"
    if len(arrays) > 1:
        what = "arrays"
        hint = "save each matrix in a file of its own"
    return f"is not a sparse matrix but has {what} {listed(described)}{more}; {expected} (hint: {hint})"


def _read_csr(
    arrays: Sequence[ArrayFile], shape: tuple[int, int], n_stored: int, are_scores: bool, first_row: int
) -> Iterator[Csr]:
    """Yield rows from `first_row` on, in pieces of about BLOCK_ENTRIES entries, whose pointers are checked first."""
    name = str(arrays[0].path)
    n_rows = shape[0]
    with ExitStack() as stack:
        streams = [stack.enter_context(array.open()) for array in arrays]
        add_progress = stack.enter_context(phase(name, n_rows - first_row))
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
            lengths = np.diff(indptr)
            longest = max(shape[1], BLOCK_ENTRIES)
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
                add_progress(stop - start)
                start = stop
            last = int(indptr[-1])
        if not first_row:
            for stream in streams:
                stream.check_end()
