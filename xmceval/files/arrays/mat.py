"""MATLAB files of version 5 to 7: one matrix, points x labels or labels x points."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from xmceval.errors import DataError, argument, listed
from xmceval.files.arrays.csr import csc_to_csr
from xmceval.files.arrays.mat5 import CscArrays, Variable, read_variables
from xmceval.files.formats.formattable import FORMATS
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.opened import Opened, Request
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.matrices import MatrixSource, csr_source
from xmceval.rows.matrices.storage import Csr

# Parts of the names by which a matrix is chosen from several, by role.
_USUAL_NAMES = {"scores": ("score", "pred"), "truth": ("lbl", "label", "y", "gt", "truth")}


def open_mat(path: Path, request: Request) -> Opened:
    """Read the one matrix of a MATLAB file, or the one whose name suggests scores or labels, into memory.

    Raises
    ------
    DataError
        A file of version 7.3, a damaged one, or several matrices.
    """
    variable = _choose_variable(path, _read_variables(path), request)
    n_rows, n_columns = variable.shape[0], variable.shape[1]
    is_transposed, is_unclear = _find_orientation((n_rows, n_columns), request)
    source = _make_source(path, variable, is_transposed, request.are_scores)
    size = f"{n_rows:,} x {n_columns:,}"
    if is_unclear:
        source.warnings.append(
            f"{path}: matrix {variable.name!r} of {size} may be points x labels or labels x points; it was read as "
            f"points x labels (hint: pass {argument('n_labels')})"
        )
    order = "labels x points, transposed" if is_transposed else "points x labels"
    facts = FORMATS["mat"].title, f"matrix {variable.name!r} of {size}", order
    has_extra = request.are_scores and variable.full is None
    return Opened(source, FORMATS["mat"], facts, request.role, is_held=True, may_have_extra_column=has_extra)


def _read_variables(path: Path) -> list[Variable]:
    content = read_all_bytes(path)
    if content[:10] == b"MATLAB 7.3":
        raise DataError(
            f"{path}: is a MATLAB file of version 7.3, which is HDF5; expected version 5 to 7 (hint: save it with -v7, "
            "or with scipy.sparse.save_npz)"
        )
    try:
        return list(read_variables(content))
    except ValueError as error:
        raise DataError(f"{path}: cannot be read as a MATLAB file; is it damaged or truncated? ({error})") from None


def _choose_variable(path: Path, variables: list[Variable], request: Request) -> Variable:
    """Return the only matrix with more than one row and column, or the one whose name suggests the role."""
    matrices = [each for each in variables if len(each.shape) == 2 and min(each.shape) > 1] or variables
    if len(matrices) > 1:
        usual = _USUAL_NAMES[request.role]
        named = [each for each in matrices if any(part in each.name.lower() for part in usual)]
        matrices = named if len(named) == 1 else matrices
    if len(matrices) != 1 or len(matrices[0].shape) != 2:
        names = listed(sorted(each.name for each in matrices)) or "none"
        raise DataError(f"{path}: expected one matrix of numbers, found {names} (hint: save it alone)")
    return matrices[0]


def _find_orientation(shape: tuple[int, int], request: Request) -> tuple[bool, bool]:
    """Return whether rows are labels, and whether that is unclear."""
    sizes = [(axis, size) for axis, size in enumerate((request.n_rows, request.n_labels)) if size is not None]
    if not sizes:
        return False, shape[0] != shape[1]
    fits = all(shape[axis] == size for axis, size in sizes)
    fits_transposed = all(shape[1 - axis] == size for axis, size in sizes)
    return fits_transposed and not fits, False


def _make_source(path: Path, variable: Variable, is_transposed: bool, are_scores: bool) -> MatrixSource:
    name, shape = str(path), (int(variable.shape[0]), int(variable.shape[1]))
    if variable.full is not None:
        values = variable.full.T if is_transposed else variable.full
        return MatrixSource(name, values.shape[0], values.shape[1], [Dense(values, are_scores)], dtype=values.dtype)
    columns = variable.columns or CscArrays(*3 * (np.empty(0),))
    if is_transposed:
        return csr_source(*columns, shape=(shape[1], shape[0]), name=name, are_scores=are_scores)
    csr = Csr(*csc_to_csr(name, columns.indptr, columns.indices, columns.data, shape), are_scores)
    return MatrixSource(name, *shape, [csr], dtype=csr.values.dtype)
