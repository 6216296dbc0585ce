"""Flat data: the AUC of one-dimensional arrays, whole and within groups, such as a recommender's log."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted

AnyArray = NDArray[Any]

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class GroupAUC:
    """AUC of each group, in the order of the sorted groups; NaN where a group has one class only.

    Parameters
    ----------
    groups : array [n_groups]
        The groups.
    values : float64 array [n_groups]
        Their AUC.
    sizes : int64 array [n_groups]
        Their numbers of entries.
    positive, negative : array [n_groups]
        Numbers of entries of each class, or the sums of their weights.
    """

    groups: AnyArray
    values: Float64
    sizes: NDArray[np.int64]
    positive: AnyArray
    negative: AnyArray

    @property
    def n_left_out(self) -> int:
        """The number of groups of one class, which the mean leaves out."""
        return int(np.isnan(self.values).sum())

    @property
    def n_entries_left_out(self) -> int:
        """The number of entries in groups of one class."""
        return int(self.sizes[np.isnan(self.values)].sum())

    @property
    def value(self) -> float:
        """The mean, weighted by the size (or weight) of groups; NaN where no group has both classes."""
        kept = ~np.isnan(self.values)
        weights = (self.positive + self.negative)[kept].astype(np.float64)
        return float(np.sum(weights * self.values[kept]) / np.sum(weights)) if kept.any() else math.nan


def roc_auc(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Compute the share of (positive, negative) pairs in order, a tie being one half: the area under the ROC curve.

    O(n log n); the pairs are counted in integers, so the value is exact to its last bit where there are no weights.

    Parameters
    ----------
    y_true : array [n]
        0 and 1, -1 and 1, or bool.
    y_score : array [n]
        Scores; infinities are ordered as numbers.
    sample_weight : array [n], optional
        Weights, not negative; 0 removes an entry, 2 repeats it.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, where there is one class only.

    Raises
    ------
    DataError
        Arrays that do not fit, or values that are none of these.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    truth, scores, weight = _checked(y_true, y_score, sample_weight)
    value = float(_of_sorted(truth, scores, weight, None).values[0])
    if math.isnan(value):
        _warn("y_true has one class only: AUC is not defined and was set to NaN")
    return value


def group_auc(y_true: Any, y_score: Any, groups: Any, *, sample_weight: Any = None) -> float:
    """Compute AUC within each group, and its mean weighted by the groups' sizes (GAUC).

    Groups of one class have no AUC and are left out; `group_aucs` gives their number and the value of every group.

    Parameters
    ----------
    y_true, y_score, sample_weight
        See `roc_auc`.
    groups : array [n]
        The group of each entry, such as a user: integers or strings, in any order.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, where no group has both classes.

    Examples
    --------
    >>> group_auc([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.3], [7, 7, 7, 7, 8, 8])
    0.6666666666666666
    """
    found = group_aucs(y_true, y_score, groups, sample_weight=sample_weight)
    if found.n_left_out == found.groups.size:
        _warn("no group has both classes: AUC within groups is not defined and was set to NaN")
    return found.value


def group_aucs(y_true: Any, y_score: Any, groups: Any, *, sample_weight: Any = None) -> GroupAUC:
    """Compute the AUC of every group; see `group_auc` for the arguments.

    Examples
    --------
    >>> found = group_aucs([0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"])
    >>> found.values.tolist(), found.value, found.n_left_out
    ([1.0, nan], 1.0, 1)
    """
    truth, scores, weight = _checked(y_true, y_score, sample_weight)
    keys = np.asarray(groups)
    if keys.dtype == object and all(isinstance(each, str) for each in keys.flat):
        keys = keys.astype(str)
    if keys.ndim != 1 or keys.dtype.kind not in "biuSU":
        raise DataError(f"groups: expected one integer or string an entry, got shape {keys.shape} of {keys.dtype}")
    if keys.size != truth.size:
        raise DataError(f"groups has {counted(keys.size, 'entry')[:-1]}ies, but y_true {truth.size:,}")
    return _of_sorted(truth, scores, weight, keys)


def _of_sorted(truth: AnyArray, scores: Float64, weight: Float64 | None, keys: AnyArray | None) -> GroupAUC:
    """Sort by group and descending score, and count pairs."""
    from xmceval.kernels import grouped as kernels

    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
        keys = None if keys is None else keys[kept]
    order = np.argsort(-scores)  # equal scores count as one: their order is free
    if keys is None:
        starts, names = np.array([0, order.size]), np.zeros(1, dtype=np.int64)
    else:
        sorted_keys = keys[order]
        by_group = np.argsort(sorted_keys, kind="stable")
        order, sorted_keys = order[by_group], sorted_keys[by_group]
        first = np.ones(sorted_keys.size, dtype=bool)
        first[1:] = sorted_keys[1:] != sorted_keys[:-1]
        starts = np.append(np.flatnonzero(first), sorted_keys.size)
        names = sorted_keys[starts[:-1]]
    n_groups = starts.size - 1
    weights = np.ones(order.size, dtype=np.int64) if weight is None else weight[order]
    doubled, positive, negative, spare = np.zeros((4, n_groups), dtype=weights.dtype)
    if order.size:
        kernels.add_pairs(starts, truth[order], scores[order], weights, spare, doubled, positive, negative)
    values = np.full(n_groups, np.nan)
    both = (positive != 0) & (negative != 0)
    values[both] = doubled[both] / (2 * positive[both] * negative[both])
    return GroupAUC(names, values, np.diff(starts), positive, negative)


def _checked(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[AnyArray, Float64, Float64 | None]:
    """Take truth as bool, scores whose order float64 holds, and weights."""
    true, scores = np.asarray(y_true), np.asarray(y_score)
    for name, array in (("y_true", true), ("y_score", scores)):
        if array.ndim != 1 or array.dtype.kind not in "biuf":
            raise DataError(f"{name}: expected one number an entry, got shape {array.shape} of {array.dtype}")
    if true.size != scores.size:
        raise DataError(f"y_score has {scores.size:,} entries, but y_true {true.size:,}")
    if not true.size:
        raise DataError("y_true: has no entries; expected one at least")
    wrong = ~np.isin(true, (0, 1) if true.dtype.kind == "u" or true.min() >= 0 else (-1, 1))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(f"y_true: is {true[at]} at entry {at}; expected 0 and 1, -1 and 1, or bool")
    if scores.dtype.kind == "f" and np.isnan(scores).any():
        raise DataError(f"y_score: is NaN at entry {int(np.argmax(np.isnan(scores)))}; expected a number")
    if scores.dtype.itemsize >= 8 and scores.dtype != np.float64:
        scores = np.unique(scores, return_inverse=True)[1].reshape(-1)  # wider than float64: their order is enough
    if sample_weight is None:
        return true > 0, scores.astype(np.float64), None
    weight = np.asarray(sample_weight)
    if weight.shape != true.shape or weight.dtype.kind not in "biuf":
        raise DataError(f"sample_weight: expected {true.size:,} numbers, got shape {weight.shape} of {weight.dtype}")
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(f"sample_weight: is {weight[at]} at entry {at}; expected a finite number, not negative")
    return true > 0, scores.astype(np.float64), weight.astype(np.float64)


def _warn(message: str) -> None:
    from xmceval.api.dropins.targets import UndefinedMetricWarning

    warnings.warn(message, UndefinedMetricWarning, stacklevel=3)
