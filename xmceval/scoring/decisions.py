"""Decisions: what the labels decided on in each row come to, as numerators and denominators that add up over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from xmceval.metrics.rates import RATES, Cells, rate_values
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.program import Decisions

# Values of rows that are no rate.
ROW_VALUES: Mapping[str, Callable[[Cells], Float64]] = MappingProxyType(
    {
        "subset": lambda of: ((of.fp == 0) & (of.fn == 0)).astype(np.float64),
        "hamming": lambda of: of.fp + of.fn,
    }
)


def compute_decisions(
    part: Decisions, found: Int64, n_true: Int64, n_labels: int, counted: NDArray[np.bool_], values: Float64
) -> None:
    """Write numerator and denominator of every measure for each row.

    Parameters
    ----------
    part : Decisions
    found : int64 array [n_rows, 2]
        Hits and decisions.
    n_true : int64 array [n_rows]
    n_labels : int
    counted : bool array [n_rows]
        Rows that are not left out.
    values : float64 array [n_rows, n_outputs, 4]
        Of which the last two, how far ties could move the value, are 0: decisions do not depend on them.
    """
    cells = Cells.of(found[:, 0], found[:, 1], n_true, n_labels)
    values[:, :, 2:] = 0.0
    for o, measure in enumerate(part.measures):
        fold, beta = measure.metric.fold, measure.number("beta")
        if measure.average == "rows":
            values[:, o, 0], values[:, o, 1] = ROW_VALUES[fold](cells), 1.0
        elif measure.average == "samples":
            rates, known = rate_values(RATES[fold], cells, beta, measure.option("zero", "0"))
            values[:, o, 0], values[:, o, 1] = np.where(known, rates, 0.0), known
        else:
            ((values[:, o, 0], values[:, o, 1]),) = RATES[fold](cells, beta)
        values[:, o, :2] *= counted[:, None]
