"""ResultRows: the values of the rows of one system, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_name


@dataclass(frozen=True, eq=False)
class ResultRows(Mapping[str, NDArray[np.float64]]):
    """Values of rows by metric: ``result.rows["P@5"]`` is float64 [n_rows], NaN where the metric leaves a row out.

    The metric is the mean of its rows, with sample weights the weighted one. A metric in `ideals` is a ratio of sums
    instead, such as PSP: a row has its numerator here and its denominator there, as ``save_rows`` has both.

    Attributes
    ----------
    measures : sequence of Measure
    array : float64 array [n_rows, n_metrics]
    ideals : mapping of str to float64 array [n_rows]
        The denominators of metrics that are ratios of sums, by name.
    weights : float64 array [n_rows]
        Sample weights, 1 without them; rows of weight 0 have no values.
    ids : sequence of str, optional
        By row, where there are any.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> options = {"metrics": ["P", "PSP"], "k": 1, "inverse_propensities": [1, 2, 5]}
    >>> result = xmceval.score(np.eye(3), np.eye(3)[[0, 2, 1]], rows=True, **options)
    >>> result.rows["P@1"]
    array([1., 0., 0.])
    >>> result.rows["PSP@1"].sum() / result.rows.ideals["PSP@1"].sum(), result["PSP@1"]
    (np.float64(0.125), 0.125)
    """

    measures: Sequence[Measure]
    array: NDArray[np.float64]
    ideals: Mapping[str, NDArray[np.float64]]
    weights: NDArray[np.float64]
    ids: Sequence[str] | None = None

    # A mapping would compare arrays as if each were a number.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.array[:, [*self].index(find_name(name, self.measures))]

    def __iter__(self) -> Iterator[str]:
        return (measure.name for measure in self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __repr__(self) -> str:
        return f"<ResultRows of {len(self.array):,} rows: {', '.join(self)}>"
