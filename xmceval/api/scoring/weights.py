"""Sample weights: read, checked, and divided by a power of two that is the scale of exact sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xmceval.api.scoring.inputs import take_numbers
from xmceval.errors import DataError, Doubt, UsageError, argument, counted
from xmceval.rows.block import Float64, Source

# The least weight, of the largest, of which enough digits are left: in sums, and in counts by label.
LEAST_WEIGHT, LEAST_COUNTED = 2.0**-30, 2.0**-20


def range_of(weights: Float64, unit: float) -> tuple[float, float]:
    """Return the least and the greatest of weights [n_rows] above 0, times `unit`; infinity and 0 without any."""
    used = weights[weights > 0] * unit
    return float(used.min(initial=math.inf)), float(used.max(initial=0.0))


def doubt_small_weights(least: float, greatest: float, *, are_counted: bool) -> tuple[str, ...]:
    """Warn where the least weight above 0 leaves the range of sums, or of counts by label; infinity where none is."""
    if least >= (LEAST_COUNTED if are_counted else LEAST_WEIGHT) * greatest:
        return ()
    doubt = Doubt(
        f"the smallest weight is {least / greatest:.1g} of the largest: sums are exact to 2^-60 of the "
        "largest (counts by label to 2^-40), which leaves few digits of small weights, and too narrow an interval"
    )
    return (doubt,)


def check_any_weight(name: str, greatest: float, n_rows: int) -> None:
    """Refuse rows of which none has a weight above 0."""
    if n_rows and not greatest:
        raise DataError(f"{name}: every weight is 0, so no instance is left")


def read_weights(
    values: Any, truth: Source | None = None, max_weight: float | None = None, left: str = ""
) -> tuple[Float64 | None, float]:
    """Take sample weights, one per row of the truth, and divide them by a power of two, which is returned too.

    `left` says in messages which rows of the truth are left.

    It is that of `max_weight`, or of the largest weight, which then lies in [1, 2): so the values that are summed do
    not depend on the unit of the weights, and no precision is lost.
    """
    unit = None if max_weight is None else unit_of(max_weight)
    if values is None:
        if unit is not None:
            raise UsageError(f"{argument('max_weight')} has no effect without {argument('sample_weight')}")
        return None, 1.0
    weights, name = take_numbers(values, "sample_weight", "row")
    if truth is not None and truth.n_rows is not None and weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} has {counted(truth.n_rows, 'row')}{left}; "
            "expected one weight per row"
        )
    wrong = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{name}:{row + 1}: the weight of row {row} is {weights[row]:g}; expected a number of at least 0"
        )
    greatest = float(weights.max(initial=0.0))
    check_any_weight(name, greatest, weights.size)
    if max_weight is not None and greatest > max_weight:
        row = int(np.argmax(weights))
        limit = f"{argument('max_weight')}, {max_weight:g}"
        raise DataError(f"{name}:{row + 1}: the weight of row {row} is {greatest:g}, above {limit}")
    unit = unit or unit_of(greatest or 1.0)
    return weights / unit, unit


def unit_of(max_weight: Any) -> float:
    """Return the power of two below the largest weight that may come."""
    is_number = isinstance(max_weight, (int, float, np.number)) and not isinstance(max_weight, bool)
    if not is_number or not 0 < max_weight < math.inf:
        raise UsageError(f"{argument('max_weight')} must be a number above 0, got {max_weight!r}")
    return math.ldexp(1.0, math.frexp(float(max_weight))[1] - 1)
