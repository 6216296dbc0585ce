"""Array files: scipy's npz matrices and pairs of npy files with labels and their scores."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.blocks import Source
from xmceval.errors import DataError
from xmceval.matrices import csr_source, pairs
from xmceval.readers.streams import GZIP_MAGIC, check_file, open_bytes

LABELS, SCORES = "-labels.npy", "-scores.npy"


def npz_source(path: Path, *, are_scores: bool) -> Source:
    """Read a matrix that ``scipy.sparse.save_npz`` wrote.

    Raises
    ------
    DataError
        Another kind of npz file, or a damaged one.
    """
    arrays = _load(path)
    if isinstance(arrays, np.ndarray) or "shape" not in arrays or "data" not in arrays:
        raise DataError(f"{path}: not a sparse matrix; expected a file of scipy.sparse.save_npz")
    shape = tuple(int(n) for n in arrays["shape"])
    if len(shape) != 2:
        raise DataError(f"{path}: expected a matrix, got {len(shape)} dimension(s)")
    if {"indptr", "indices"} <= arrays.keys() and arrays.get("format", np.array(b"csr")).item() in (b"csr", "csr"):
        return csr_source(
            arrays["indptr"], arrays["indices"], arrays["data"], (shape[0], shape[1]), str(path), are_scores=are_scores
        )
    import scipy.sparse

    try:
        csr = scipy.sparse.load_npz(path).tocsr()
    except (ValueError, NotImplementedError, KeyError) as error:
        raise DataError(f"{path}: {error}") from None
    return csr_source(csr.indptr, csr.indices, csr.data, csr.shape, str(path), are_scores=are_scores)


def is_pair(path: Path) -> bool:
    """Tell whether a path names a pair of npy files: either of them, or their stem."""
    return str(path).endswith((LABELS, SCORES)) or (not path.exists() and all(each.exists() for each in _pair(path)))


def pair_source(path: Path) -> Source:
    """Read a pair ``NAME-labels.npy`` and ``NAME-scores.npy``, named by either file or by NAME; memory-mapped.

    Raises
    ------
    DataError
        One of them missing or of another shape, labels that are no integers.
    """
    labels, scores = _pair(path)
    for each in (labels, scores):
        if not each.exists():
            raise DataError(f"{each}: no such file; a pair needs both {labels.name} and {scores.name}")
    return pairs(_load(labels), _load(scores), str(labels), str(scores))


def _pair(path: Path) -> tuple[Path, Path]:
    stem = str(path)
    for ending in (LABELS, SCORES):
        stem = stem.removesuffix(ending)
    return Path(stem + LABELS), Path(stem + SCORES)


def _load(path: Path) -> Any:
    """Load with numpy, never unpickling."""
    check_file(path)
    try:
        with open_bytes(path) as stream:
            zipped = path.open("rb").read(2) == GZIP_MAGIC
            if zipped:
                loaded = np.load(io.BytesIO(stream.read()), allow_pickle=False)
            else:
                loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: _member(loaded, name) for name in loaded.files}
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read as arrays ({error})") from None


def _member(loaded: Any, name: str) -> NDArray[Any]:
    array: NDArray[Any] = loaded[name]
    return array
