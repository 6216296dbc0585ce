"""Unknown cells of the truth that are marked by a value, such as -1: they become pairs of row and label."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import UsageError
from xmceval.rows.matrices.arrays import as_array
from xmceval.rows.shards import Shards
from xmceval.scoring.options import Options


def take_unknown(y_true: Any, options: Options) -> tuple[Any, Options]:
    """Return a truth without the cells that are marked as unknown, and options that have them as pairs.

    Raises
    ------
    UsageError
        A truth without cells, such as a file, or a mark that stands for true or false already.
    """
    mark = options.unknown
    if not isinstance(mark, Real):
        return y_true, options
    if mark in {0, 1}:
        raise UsageError(f"unknown={mark!r}: 0 is false and 1 is true already (hint: mark unknown cells by -1)")
    if mark != mark:  # noqa: PLR0124 - NaN, which no cell equals
        raise UsageError("unknown=nan: NaN marks no cell, as it equals none (hint: mark unknown cells by -1)")
    if isinstance(y_true, (str, Path, Shards)):
        name = y_true.name if isinstance(y_true, Shards) else y_true
        raise UsageError(f"unknown={mark!r} marks cells of one matrix (hint: pass pairs of row and label for {name})")
    if hasattr(y_true, "tocoo"):
        stored = y_true.tocoo()
        is_unknown = stored.data == mark
        pairs = np.stack([stored.row[is_unknown], stored.col[is_unknown]], axis=1)
        kept = type(stored)(
            (stored.data[~is_unknown], (stored.row[~is_unknown], stored.col[~is_unknown])), shape=stored.shape
        )
        return kept.tocsr(), replace(options, unknown=pairs)
    cells = as_array(y_true, "y_true")
    if cells.ndim != 2:
        raise UsageError(f"unknown={mark!r} marks cells of matrices, got a truth of shape {cells.shape}")
    is_unknown = cells == mark
    return np.where(is_unknown, 0, cells), replace(options, unknown=np.argwhere(is_unknown))
