"""AUC of one-dimensional arrays, whole and within groups."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xmceval.errors import DataError, counted, warn
from xmceval.rows.block import Float64
from xmceval.rows.matrices.storage import comparable
from xmceval.statistics.curves import RankedGroups, find_starts, roc_areas, sort_by_score

AnyArray = NDArray[Any]


@dataclass(frozen=True, eq=False)
class GroupAUC:
    """AUC of each group, in the order of the sorted groups.

    Attributes
    ----------
    groups : array [n_groups]
        The groups.
    values : float64 array [n_groups]
        AUC; NaN where a group has only one class.
    sizes : int64 array [n_groups]
        Numbers of entries.
    positive, negative : array [n_groups]
        Numbers of entries of each class, or the sums of their weights.
    """

    groups: AnyArray
    values: Float64
    sizes: NDArray[np.int64]
    positive: AnyArray
    negative: AnyArray

    def __eq__(self, other: object) -> bool:
        """Compare all arrays; undefined values are equal."""
        if not isinstance(other, GroupAUC):
            return NotImplemented
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return all(np.array_equal(own, its, equal_nan=own.dtype.kind == "f") for own, its in pairs)

    __hash__: ClassVar[None]  # type: ignore[assignment]
    __array_ufunc__: ClassVar[None] = None

    @property
    def n_left_out(self) -> int:
        """The number of groups with only one class, which the mean leaves out."""
        return int(np.isnan(self.values).sum())

    @property
    def n_entries_left_out(self) -> int:
        """The number of entries in groups with only one class."""
        return int(self.sizes[np.isnan(self.values)].sum())

    @property
    def value(self) -> float:
        """The mean weighted by the size (or weight) of the groups; NaN where no group has both classes."""
        kept = ~np.isnan(self.values)
        weights = (self.positive + self.negative)[kept].astype(np.float64)
        return float(np.sum(weights * self.values[kept]) / np.sum(weights)) if kept.any() else math.nan


def roc_auc(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the area under the ROC curve: the share of (positive, negative) pairs in order, a tie being one half.

    Takes O(n log n). Pairs are counted exactly: without weights the value is right to its last bit.

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
        NaN, with an UndefinedMetricWarning, where there is only one class.

    Raises
    ------
    DataError
        Arrays of different lengths, or other values than these.

    See Also
    --------
    roc_auc_score : The function of scikit-learn, for matrices too.
    group_auc : Within groups.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    truth, scores, weight = _validated_entries(y_true, y_score, sample_weight)
    value = float(_count_sorted(truth, scores, weight, None).values[0])
    if math.isnan(value):
        _warn("y_true has only one class: AUC is not defined and was set to NaN")
    return value


def group_auc(
    y_true: ArrayLike, y_score: ArrayLike, groups: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute group AUC (GAUC): the mean of the AUC within each group, weighted by the groups' sizes.

    Groups with only one class have no AUC and are left out; `group_aucs` returns their number and the value of every
    group.

    Parameters
    ----------
    y_true : array [n]
        0 and 1, -1 and 1, or bool.
    y_score : array [n]
        Scores; infinities are ordered as numbers.
    groups : array [n]
        The group of each entry, such as a user: integers or strings, in any order.
    sample_weight : array [n], optional
        Weights, not negative; 0 removes an entry, 2 repeats it.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, where no group has both classes.

    Raises
    ------
    DataError
        Arrays of different lengths, or other values than these.

    See Also
    --------
    group_aucs : The value of each group.
    roc_auc : Without groups.

    Examples
    --------
    >>> group_auc([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.3], [7, 7, 7, 7, 8, 8])
    0.6666666666666666
    """
    aucs = group_aucs(y_true, y_score, groups, sample_weight=sample_weight)
    if aucs.n_left_out == aucs.groups.size:
        _warn("no group has both classes: group AUC is not defined and was set to NaN")
    return aucs.value


def group_aucs(
    y_true: ArrayLike, y_score: ArrayLike, groups: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> GroupAUC:
    """Compute the AUC of every group.

    Parameters
    ----------
    y_true, y_score, groups : array [n]
        As in `group_auc`.
    sample_weight : array [n], optional
        As in `group_auc`.

    Returns
    -------
    GroupAUC
        ``aucs.groups`` and ``aucs.values``; ``aucs.value`` is their mean.

    Raises
    ------
    DataError
        Arrays of different lengths, or other values than these.

    See Also
    --------
    group_auc : Their mean weighted by size.

    Examples
    --------
    >>> aucs = group_aucs([0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"])
    >>> aucs.values.tolist(), aucs.value, aucs.n_left_out
    ([1.0, nan], 1.0, 1)
    """
    truth, scores, weight = _validated_entries(y_true, y_score, sample_weight)
    keys = np.asarray(groups)
    if keys.dtype == object and all(isinstance(key, str) for key in keys.flat):
        keys = keys.astype(str)
    if keys.ndim != 1 or keys.dtype.kind not in "biuSU":
        raise DataError(f"groups: expected one integer or string per entry, got shape {keys.shape} of {keys.dtype}")
    _check_length("groups", keys, truth)
    return _count_sorted(truth, scores, weight, keys)


def _count_sorted(truth: AnyArray, scores: Float64, weight: Float64 | None, keys: AnyArray | None) -> GroupAUC:
    """Sort by group and descending score, and count ordered pairs."""
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        truth, scores, weight = truth[kept], scores[kept], weight[kept]
        keys = None if keys is None else keys[kept]
    order = sort_by_score(scores, keys)  # equal scores are counted together, so their order does not matter
    if keys is None:
        starts, groups = np.array([0, order.size]), np.zeros(1, dtype=np.int64)
    else:
        sorted_keys = keys[order]
        starts = find_starts(sorted_keys)
        groups = sorted_keys[starts[:-1]]
    ranked = RankedGroups.unweighted(starts, truth[order], scores[order])
    areas = roc_areas(ranked if weight is None else ranked._replace(weights=weight[order]))
    sums = (each.astype(np.int64) if weight is None else each for each in (areas.positive, areas.negative))
    return GroupAUC(groups, areas.values, np.diff(starts), *sums)


def _validated_entries(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[AnyArray, Float64, Float64 | None]:
    """Return truth as bool, scores as float64 in the same order, and weights."""
    truth, scores = np.asarray(y_true), np.asarray(y_score)
    for name, array in (("y_true", truth), ("y_score", scores)):
        if array.ndim != 1 or array.dtype.kind not in "biuf":
            raise DataError(f"{name}: expected one number per entry, got shape {array.shape} of {array.dtype}")
    _check_length("y_score", scores, truth)
    if not truth.size:
        raise DataError("y_true: has no entries; expected at least one")
    negative = 0 if truth.dtype.kind == "u" or truth.min() >= 0 else -1
    _check_entries("y_true", truth, np.isin(truth, (negative, 1)), "0 and 1, -1 and 1, or bool")
    _check_entries("y_score", scores, ~np.isnan(scores), "a number")
    weight = None if sample_weight is None else _validated_weight(sample_weight, truth)
    return truth > 0, comparable(scores).astype(np.float64), weight


def _validated_weight(sample_weight: Any, truth: AnyArray) -> Float64:
    weight = np.asarray(sample_weight)
    if weight.shape != truth.shape or weight.dtype.kind not in "biuf":
        raise DataError(f"sample_weight: expected {truth.size:,} numbers, got shape {weight.shape} of {weight.dtype}")
    _check_entries("sample_weight", weight, np.isfinite(weight) & (weight >= 0), "a finite number of at least 0")
    return weight.astype(np.float64)


def _check_entries(name: str, array: AnyArray, is_valid: AnyArray, expected: str) -> None:
    """Refuse an array with an invalid entry, naming the first."""
    if not is_valid.all():
        first = int(np.argmin(is_valid))
        value = str(array[first]).replace("nan", "NaN")
        raise DataError(f"{name}: is {value} at entry {first}; expected {expected}")


def _check_length(name: str, array: AnyArray, truth: AnyArray) -> None:
    if array.size != truth.size:
        raise DataError(f"{name} has {counted(array.size, 'entry')}, but y_true has {truth.size:,}")


def _warn(message: str) -> None:
    from xmceval.api.dropins.indicators import UndefinedMetricWarning

    warn([message], UndefinedMetricWarning)
