"""Plain arrays of numpy: of its matrices too, and never of a masked array whose masked cells would count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted

BY_NAME = " (hint: labels by name are {row: {name: value}} in memory, or files with labels=FILE)"


def as_plain(values: Any, name: str) -> NDArray[Any]:
    """Return what numpy makes of values, as an array of its base class; masked cells are refused."""
    if isinstance(values, np.ma.MaskedArray):
        n_masked = int(np.count_nonzero(values.mask))
        if n_masked:
            raise DataError(
                f"{name}: is an array with {counted(n_masked, 'masked cell')}, whose value is not known "
                "(hint: fill masked cells; in scores .filled(-numpy.inf) means not predicted)"
            )
    elif isinstance(values, (list, tuple)) and np.ma.MaskedArray in set(map(type, values)):
        values = [as_plain(row, f"{name}[{i}]") for i, row in enumerate(values)]
    return np.asarray(values)
