"""MATLAB files of version 5 to 7, through scipy.io: one matrix, points x labels or labels x points."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmceval.blocks import Source
from xmceval.errors import DataError, listed
from xmceval.matrices import Csr, Dense, MatrixSource
from xmceval.readers.npz import by_rows
from xmceval.readers.streams import all_bytes

_WORDS = {True: ("score", "pred"), False: ("lbl", "label", "y", "gt", "truth")}


class Hints(NamedTuple):
    """What is known of the matrix from elsewhere: it tells labels x points from points x labels."""

    n_rows: int | None = None
    n_labels: int | None = None


def mat_source(path: Path, *, are_scores: bool, hints: Hints) -> tuple[Source, str]:
    """Read the one matrix of a MATLAB file, or the one that is called like scores or labels; held whole.

    Raises
    ------
    DataError
        A file of version 7.3, a damaged one, or several matrices.
    """
    name, matrix = _chosen(path, _load(path), are_scores)
    shape = (int(matrix.shape[0]), int(matrix.shape[1]))
    is_turned, doubt = _is_turned(shape, hints)
    source = _source(path, matrix.T if is_turned else matrix, are_scores)
    if doubt:
        source.warnings.append(
            f"{path}: its matrix {name!r} of {shape[0]:,} x {shape[1]:,} is read as points x labels, nothing else tells "
            "(mend: --n-labels)"
        )
    order = "labels x points, turned" if is_turned else "points x labels"
    return source, f"MATLAB file, matrix {name!r} of {shape[0]:,} x {shape[1]:,}, {order}, held whole"


def _load(path: Path) -> dict[str, Any]:
    import scipy.io

    held = all_bytes(path)
    if held[:10] == b"MATLAB 7.3":
        raise DataError(
            f"{path}: this is a MATLAB file of version 7.3, which is HDF5; save it with -v7, or with scipy.sparse.save_npz"
        )
    try:
        loaded: dict[str, Any] = scipy.io.loadmat(io.BytesIO(held), verify_compressed_data_integrity=True)
    except Exception as error:  # scipy raises nearly anything over damaged bytes
        raise DataError(f"{path}: cannot be read as a MATLAB file; is it damaged or cut short? ({error})") from None
    return loaded


def _chosen(path: Path, loaded: dict[str, Any], are_scores: bool) -> tuple[str, Any]:
    found = {
        name: value
        for name, value in loaded.items()
        if not name.startswith("__") and getattr(value, "ndim", 0) == 2 and value.dtype.kind in "biuf"
    }
    large = {name: value for name, value in found.items() if min(value.shape) > 1} or found
    if len(large) > 1:
        called = {name for name in large if any(word in name.lower() for word in _WORDS[are_scores])}
        large = {name: large[name] for name in called} if len(called) == 1 else large
    if len(large) != 1:
        raise DataError(
            f"{path}: expected one matrix of numbers, found {listed(sorted(large)) or 'none'} (mend: save it alone)"
        )
    return next(iter(large.items()))


def _is_turned(shape: tuple[int, int], hints: Hints) -> tuple[bool, bool]:
    """Tell whether rows are labels, and whether nothing settles it."""
    wanted = [(n, known) for n, known in zip((0, 1), hints, strict=True) if known is not None]
    if not wanted:
        return False, shape[0] != shape[1]
    straight = all(shape[axis] == known for axis, known in wanted)
    turned = all(shape[1 - axis] == known for axis, known in wanted)
    return turned and not straight, False


def _source(path: Path, matrix: Any, are_scores: bool) -> MatrixSource:
    n_rows, n_labels = (int(n) for n in matrix.shape)
    if not hasattr(matrix, "tocoo"):
        return MatrixSource(str(path), n_rows, n_labels, Dense(np.asarray(matrix), are_scores))
    parts = matrix.tocoo()
    arrays = {"row": parts.row, "col": parts.col, "data": parts.data}
    sizes = [int(each.max(initial=-1)) for each in (parts.row, parts.col)]
    if sizes[0] >= n_rows or sizes[1] >= n_labels:
        raise DataError(f"{path}: its sparse matrix has an entry outside of its {n_rows:,} x {n_labels:,}")
    indptr, indices, values = by_rows(str(path), "coo", arrays, [n_rows, n_labels])
    return MatrixSource(
        str(path), n_rows, n_labels, Csr(indptr, indices, values, are_scores), may_have_extra=are_scores
    )
