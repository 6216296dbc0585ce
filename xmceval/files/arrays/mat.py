"""MATLAB files of version 5 to 7: one matrix, points x labels or labels x points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from xmceval.errors import DataError, listed
from xmceval.files.arrays.mat5 import Columns, Variable, read_variables
from xmceval.files.arrays.npz import by_rows
from xmceval.files.streams import all_bytes
from xmceval.rows.block import Source
from xmceval.rows.matrices import Csr, Dense, MatrixSource, csr_source

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
    found = _chosen(path, _load(path), are_scores)
    name, shape = found.name, (found.shape[0], found.shape[1])
    is_turned, doubt = _is_turned(shape, hints)
    source = _source(path, found, is_turned, are_scores)
    if doubt:
        source.warnings.append(
            f"{path}: its matrix {name!r} of {shape[0]:,} x {shape[1]:,} is read as points x labels, nothing else "
            "tells (hint: --n-labels)"
        )
    order = "labels x points, turned" if is_turned else "points x labels"
    return source, f"MATLAB file, matrix {name!r} of {shape[0]:,} x {shape[1]:,}, {order}, held whole"


def _load(path: Path) -> list[Variable]:
    held = all_bytes(path)
    if held[:10] == b"MATLAB 7.3":
        raise DataError(
            f"{path}: this is a MATLAB file of version 7.3, which is HDF5; save it with -v7, or with "
            "scipy.sparse.save_npz"
        )
    try:
        return list(read_variables(held))
    except ValueError as error:
        raise DataError(f"{path}: cannot be read as a MATLAB file; is it damaged or cut short? ({error})") from None


def _chosen(path: Path, variables: list[Variable], are_scores: bool) -> Variable:
    """Take the only matrix that is no list, or the one that is called like scores or labels."""
    large = [each for each in variables if len(each.shape) == 2 and min(each.shape) > 1] or variables
    if len(large) > 1:
        called = [each for each in large if any(word in each.name.lower() for word in _WORDS[are_scores])]
        large = called if len(called) == 1 else large
    if len(large) != 1 or len(large[0].shape) != 2:
        found = listed(sorted(each.name for each in large)) or "none"
        raise DataError(f"{path}: expected one matrix of numbers, found {found} (hint: save it alone)")
    return large[0]


def _is_turned(shape: tuple[int, int], hints: Hints) -> tuple[bool, bool]:
    """Tell whether rows are labels, and whether nothing settles it."""
    wanted = [(n, known) for n, known in zip((0, 1), hints, strict=True) if known is not None]
    if not wanted:
        return False, shape[0] != shape[1]
    straight = all(shape[axis] == known for axis, known in wanted)
    turned = all(shape[1 - axis] == known for axis, known in wanted)
    return turned and not straight, False


def _source(path: Path, found: Variable, is_turned: bool, are_scores: bool) -> MatrixSource:
    name, shape = str(path), [int(n) for n in found.shape]
    if found.full is not None:
        values = found.full.T if is_turned else found.full
        return MatrixSource(name, values.shape[0], values.shape[1], Dense(values, are_scores))
    columns = found.columns or Columns(*3 * (np.empty(0),))
    if is_turned:
        source = csr_source(*columns, shape=(shape[1], shape[0]), name=name, are_scores=are_scores)
        return replace(cast(MatrixSource, source), may_have_extra=are_scores)
    matrix = Csr(*by_rows(name, "csc", columns._asdict(), shape), are_scores=are_scores)
    return MatrixSource(name, shape[0], shape[1], matrix, may_have_extra=are_scores)
