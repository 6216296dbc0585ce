"""Values of rows as one table, of whichever file they were read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.rowids import RowIds


@dataclass(frozen=True)
class RowHead:
    """What the values of rows are of.

    Attributes
    ----------
    systems, metrics : tuple of str
    has_ideal : tuple of bool
        By metric: whether its value is a ratio of sums, so that each row has an ideal as denominator.
    ids : RowIds, optional
        Without them, rows are called by their numbers.
    """

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    has_ideal: tuple[bool, ...]
    ids: RowIds | None = None

    def name_rows(self, rows: NDArray[np.int64]) -> list[Any]:
        """Return what rows [n_rows] are called: by their ids, where they have any, else by their numbers."""
        return rows.tolist() if self.ids is None else self.ids.of_rows(rows.tolist())


@dataclass(frozen=True)
class RowTable:
    """Values of rows of one or more systems.

    Attributes
    ----------
    name : str
        The file.
    systems, metrics : tuple of str
    rows : tuple of str
        Names of the rows.
    values : float64 array [n_rows, n_systems, n_metrics, 2]
        Numerator and denominator; the numerator is NaN where a row does not count.
    weights : float64 array [n_rows]
    has_ideal : tuple of bool
        By metric: whether it is a ratio of sums.
    meta : dict
        What the writer knew: digest of the truth, counts, options; empty for other tools' files.
    """

    name: str
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    has_ideal: tuple[bool, ...]
    meta: dict[str, Any] = field(default_factory=dict)
