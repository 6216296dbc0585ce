"""Type aliases and protocols for the arguments of public functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from xmceval.rows.shards import Shards


class SupportsTocsr(Protocol):
    """A matrix or array of scipy.sparse, in any format."""

    def tocsr(self) -> Any:
        """Convert to CSR."""


class SupportsDLPack(Protocol):
    """A tensor of PyTorch, JAX, CuPy and others."""

    def __dlpack__(self) -> Any: ...


class SupportsColumns(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    def to_numpy(self) -> Any:
        """Convert to a numpy array."""


class SupportsArrow(Protocol):
    """A table of Arrow, or of a library that exports its stream, such as DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class SupportsToDict(Protocol):
    """A ``Qrels`` or ``Run`` of ranx."""

    def to_dict(self) -> Any:
        """Return ``{query: {document: value}}``."""

    def get_doc_ids_and_scores(self) -> Any:
        """Return the arrays of document ids and of values."""


TableLike: TypeAlias = SupportsColumns | SupportsArrow
ByQuery: TypeAlias = Mapping[str, Mapping[str, Any] | AbstractSet[str]] | TableLike | SupportsToDict

# Truth or scores: arrays, sparse matrices, tensors, lists of labels, pairs of arrays, paths, and lists of these; or
# grades and scores by query and document.
MatrixLike: TypeAlias = ArrayLike | SupportsTocsr | SupportsDLPack | Sequence[Any] | Path | Shards | ByQuery

ClassLike: TypeAlias = str | float | np.generic  # one label per row, as in scikit-learn
