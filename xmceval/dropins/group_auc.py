"""AUC of one-dimensional arrays, overall and within groups."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xmceval.errors import DataError, counted, warn
from xmceval.rows.block import AnyArray, Float64
from xmceval.rows.matrices.frames import aligned, check_rows, rows_of
from xmceval.rows.matrices.storage import comparable
from xmceval.rows.matrices.tensors import as_array
from xmceval.rows.names import Axis
from xmceval.scoring.tasks.curves import RankedGroups, find_starts, roc_areas, sort_by_score


@dataclass(frozen=True, eq=False)
class GroupAUC:
    """AUC of each group, in the order of the sorted groups.

    Attributes
    ----------
    groups : array [n_groups]
        The groups.
    values : float64 array [n_groups]
        AUC; NaN if a group has only one class.
    sizes : int64 array [n_groups]
        The numbers of entries.
    positive, negative : array [n_groups]
        The numbers of entries of each class, or the sums of their weights.
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
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, n), getattr(other, n), equal_nan=n == "values") for n in names)

    __hash__: ClassVar[None]  # type: ignore[assignment]
    __array_ufunc__: ClassVar[None] = None

    @property
    def n_left_out(self) -> int:
        """The number of groups with only one class, which the mean leaves out."""
        return int(np.isnan(self.values).sum())

    @property
    def value(self) -> float:
        """The mean weighted by the size (or weight) of the groups; NaN if no group has both classes."""
        kept = ~np.isnan(self.values)
        weights = (self.positive + self.negative)[kept].astype(np.float64)
        if not kept.any():
            return math.nan
        return float(np.sum(weights * self.values[kept]) / np.sum(weights))


def roc_auc(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the area under the ROC curve: the share of correctly ordered pairs of a positive and a negative.

    Ties count one half. Takes O(n log n) time. Pairs are counted exactly: without weights the value is correct
    to the last bit.

    Parameters
    ----------
    y_true : array [n]
        0 and 1, -1 and 1, or bool.
    y_score : array [n]
        Scores; infinities are ordered like numbers.
    sample_weight : array [n], optional
        Weights, not negative; 0 removes an entry, 2 repeats it.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if there is only one class.

    Raises
    ------
    DataError
        Arrays that differ in length, or invalid values.

    See Also
    --------
    roc_auc_score : The function of scikit-learn, also for matrices.
    group_auc : The AUC within groups.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    values = _compute(y_true, y_score, None, sample_weight).values
    if not values.size or math.isnan(values[0]):  # without values, no entry has a weight
        _warn("y_true has only one class: AUC")
        return math.nan
    return float(values[0])


def group_auc(
    y_true: ArrayLike, y_score: ArrayLike, groups: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute group AUC (GAUC): the mean of the AUC within each group, weighted by the groups' sizes.

    Groups with only one class have no AUC and are left out; `group_aucs` returns their number and the value of every
    group.

    Parameters
    ----------
    y_true, y_score : array [n]
        As in `roc_auc`.
    groups : array [n]
        The group of each entry, such as a user: integers or strings, in any order.
    sample_weight : array [n], optional
        As in `roc_auc`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no group has both classes.

    Examples
    --------
    >>> group_auc([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.3], [7, 7, 7, 7, 8, 8])
    0.6666666666666666
    """
    aucs = group_aucs(y_true, y_score, groups, sample_weight=sample_weight)
    if aucs.n_left_out == aucs.groups.size:
        _warn("no group has both classes: group AUC")
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
        As in `roc_auc`.

    Returns
    -------
    GroupAUC
        ``aucs.groups`` and ``aucs.values``; ``aucs.value`` is their mean.

    Examples
    --------
    >>> aucs = group_aucs([0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"])
    >>> aucs.values.tolist(), aucs.value, aucs.n_left_out
    ([1.0, nan], 1.0, 1)
    """
    return _compute(y_true, y_score, groups, sample_weight)


def _compute(y_true: Any, y_score: Any, groups: Any, sample_weight: Any) -> GroupAUC:
    """Check arrays [n], sort by group and descending score, and count ordered pairs; None means one group."""
    check_rows(y_true, y_score=y_score, groups=groups, sample_weight=sample_weight)
    rows = rows_of(y_true, "y_true")
    truth = _take(y_true, "y_true", rows)
    if not truth.size:
        raise DataError("y_true: has no entries; expected at least one")
    scores = _take(y_score, "y_score", rows, truth.size)
    keys = np.zeros(truth.size, dtype=np.int64)
    if groups is not None:
        keys = _take(groups, "groups", rows, truth.size)
    weights = None
    if sample_weight is not None:
        weights = _take(sample_weight, "sample_weight", rows, truth.size)
    negative = 0
    if truth.dtype.kind != "u" and truth.min() < 0:
        negative = -1
    _check_entries("y_true", truth, np.isin(truth, (negative, 1)), "0 and 1, -1 and 1, or bool")
    _check_entries("y_score", scores, ~np.isnan(scores), "a number")
    if weights is not None:
        is_valid = np.isfinite(weights) & (weights >= 0)
        _check_entries("sample_weight", weights, is_valid, "a finite number of at least 0")
    scores = comparable(scores).astype(np.float64)
    order = sort_by_score(scores, keys)  # equal scores are counted together, so their order is irrelevant
    if weights is not None:
        order = order[weights[order] > 0]
    keys = keys[order]
    starts = find_starts(keys)
    ranked_weights = np.ones(order.size)
    if weights is not None:
        ranked_weights = weights[order].astype(np.float64)
    areas = roc_areas(RankedGroups(starts, truth[order] > 0, scores[order], ranked_weights, np.zeros(starts.size - 1)))
    positive: AnyArray = areas.positive
    negatives: AnyArray = areas.negative
    if weights is None:  # numbers of entries
        positive = positive.astype(np.int64)
        negatives = negatives.astype(np.int64)
    return GroupAUC(keys[starts[:-1]], areas.values, np.diff(starts), positive, negatives)


def _take(values: Any, name: str, rows: Axis, size: int | None = None) -> AnyArray:
    """Return numbers, or the keys of groups, in the order of the rows of the truth."""
    array = as_array(aligned(rows, values, rows_of(values, name)), name)
    noun = "number"
    kinds = "biuf"
    if name == "groups":
        noun = "integer or string"
        kinds = "biuSU"
        if array.dtype == object and all(isinstance(key, str) for key in array.flat):
            array = array.astype(str)
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise DataError(f"{name}: expected one {noun} per entry, got shape {array.shape} of {array.dtype}")
    if size not in {None, array.size}:
        raise DataError(f"{name} has {counted(array.size, 'entry')}, but y_true has {size:,}")
    return array


def _check_entries(name: str, array: AnyArray, is_valid: AnyArray, expected: str) -> None:
    """Refuse an array with an invalid entry, naming the first."""
    if not is_valid.all():
        first = int(np.argmin(is_valid))
        value = str(array[first]).replace("nan", "NaN")
        raise DataError(f"{name}: is {value} at entry {first}; expected {expected}")


def _warn(reason: str) -> None:
    from xmceval.dropins.inputs import UndefinedMetricWarning  # imports scipy

    warn([f"{reason} is not defined and was set to NaN"], UndefinedMetricWarning)
