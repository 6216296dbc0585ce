"""Multiplicity: p values adjusted for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence

LEVEL = 0.05  # p values below it are significant


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Adjust p values by Holm's step-down method (Scandinavian Journal of Statistics 1979); None stays None.

    Examples
    --------
    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, i) for i, p in enumerate(values) if p is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, i) in enumerate(order):
        largest = max(largest, min((len(order) - rank) * p, 1.0))
        adjusted[i] = largest
    return adjusted
