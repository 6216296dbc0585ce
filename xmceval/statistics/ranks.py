"""Ranks: midranks of values, and the exact signed rank test of Wilcoxon."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.totals import TIE

Float64 = NDArray[np.float64]


def midranks(values: NDArray[Any], slack: float | None = None) -> Float64:
    """Return the ranks of values, 1 for the smallest; those that are equal but for rounding share their mean rank.

    Parameters
    ----------
    values : array [n]
        Without NaN; infinite ones are equal.
    slack : float, optional
        By how much neighbours may differ that count as equal; default the share TIE of the larger one.

    Returns
    -------
    float64 array [n]
        Multiples of a half.

    Examples
    --------
    >>> midranks(np.array([0.3, 0.1, 0.1 + 0.2]))
    array([2.5, 1. , 2.5])
    """
    order = np.argsort(values, kind="stable")
    left, right = values[order][:-1], values[order][1:]
    is_infinite = np.isinf(left) | np.isinf(right)
    gaps = np.subtract(right, left, out=np.full(left.shape, np.inf), where=~is_infinite)
    allowed = TIE * np.maximum(np.abs(left), np.abs(right)) if slack is None else slack
    starts = np.append(True, np.where(is_infinite, left != right, gaps > allowed))[: values.size]
    groups, first = np.cumsum(starts) - 1, np.flatnonzero(starts)
    ends = np.append(first[1:], values.size)
    ranks = np.empty(values.size)
    ranks[order] = ((first + 1 + ends) / 2)[groups]
    return ranks


def signed_rank_p(differences: Float64, slack: float = 0.0) -> tuple[float, float]:
    """Test paired differences by Wilcoxon's signed ranks (Biometrics Bulletin 1945), exactly.

    Parameters
    ----------
    differences : float64 array [n]
        Zeros are dropped, as Wilcoxon does; the sizes of others may tie.
    slack : float
        By how much the sizes of differences may differ that count as equal.

    Returns
    -------
    p : float
        Two-sided: twice the smaller share of all signs of the differences with a sum of positive ranks at most as
        large, or at least as large, as the one observed; 1 where nothing differs.
    balance : float
        The sum of the ranks of positive differences minus that of negative ones.

    Examples
    --------
    >>> signed_rank_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.0]))
    (0.0625, 15.0)
    """
    differing = differences[differences != 0]
    doubled = np.rint(2 * midranks(np.abs(differing), slack)).astype(np.int64)
    positive, total = int(doubled[differing > 0].sum()), int(doubled.sum())
    shares = np.zeros(total + 1)  # of all signs, by twice the sum of positive ranks
    shares[0] = 1.0
    for rank in doubled.tolist():
        shares[rank:] = (shares[rank:] + shares[: total + 1 - rank]) / 2
        shares[:rank] /= 2
    tails = float(shares[: positive + 1].sum()), float(shares[positive:].sum())
    return min(2 * min(tails), 1.0), (2 * positive - total) / 2
