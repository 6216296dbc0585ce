"""A user's own metric: a function of one row's ranked hits, under a name."""

from __future__ import annotations

import math

from xmceval.errors import UsageError
from xmceval.metrics.entry import LARGEST, Metric, RowFunction
from xmceval.metrics.names import add_own, make_own


def metric(
    function: RowFunction,
    *,
    name: str,
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
) -> Metric:
    """Make a metric of your own known by its name, for this process: the mean of a function over rows, at cutoffs.

    Parameters
    ----------
    function : callable
        ``function(hits, n_true)`` returns the value of a row as a number. ``hits`` is a bool array of length k, the
        best label first: whether each is true; places without a prediction are False. ``n_true`` is the number of true
        labels, an int, which may be 0. Plain Python, or compiled by numba; threads may call it at the same time. The
        first line of its docstring is the definition that reports show.
    name : str
        As in ``metrics="Lift@1,5"``; without a cutoff it is at those of `k`. It replaces an own metric of that name.
    bounds : pair of float
        The least and the greatest value of a row; another value, or NaN, is an error.
    higher_is_better : bool

    Returns
    -------
    Metric

    Raises
    ------
    UsageError
        The name of another metric, or bounds that are none.

    Notes
    -----
    Labels with equal scores are in their order by label. `benchmark` does not take it, since what it keeps would not
    notice that a function was changed.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> first = xmceval.metric(lambda hits, n_true: hits[0] / 2 + hits.all() / 2, name="First and all")
    >>> xmceval.score(np.eye(4), np.eye(4), metrics="P,First and all", k=2)["First and all@2"]
    0.5
    """
    if not callable(function):
        raise UsageError(f"expected a function of hits and n_true, got {type(function).__name__}")
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low < high:
        raise UsageError(f"bounds must be two numbers that ascend, got {bounds!r}")
    first_line = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
    formula = first_line or "a function of hits and n_true"
    own = make_own(name, formula, function, (max(low, -LARGEST), min(high, LARGEST)), higher_is_better)
    add_own(own)
    return own
