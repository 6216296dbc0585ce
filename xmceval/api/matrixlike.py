"""The types of what public functions take: one for matrices, one for the classes of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from xmceval.rows.shards import Shards


class SupportsTocsr(Protocol):
    """A matrix or array of scipy.sparse, in any format."""

    def tocsr(self) -> Any:
        """Return it as CSR."""


class SupportsDLPack(Protocol):
    """A tensor of PyTorch, JAX, CuPy and others."""

    def __dlpack__(self) -> Any: ...


class SupportsDask(Protocol):
    """An array, a bag or a value of Dask."""

    def __dask_graph__(self) -> Any: ...


# Truth or scores: arrays, sparse matrices, tensors, lists of labels, pairs of arrays, paths, and lists of these.
MatrixLike: TypeAlias = ArrayLike | SupportsTocsr | SupportsDLPack | Sequence[Any] | Path | Shards

ClassLike: TypeAlias = str | float | np.generic  # of one label per row, as scikit-learn has it
