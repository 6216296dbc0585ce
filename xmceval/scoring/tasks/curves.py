"""Sort scored entries, and compute curves and the areas under them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Float64, Int64

Bools = NDArray[np.bool_]

# Sample weights, the largest in [1, 2), are counted in units of 2^-40, exact for sums below 2^22.
WEIGHT_BITS = 40
CLOSE = 1e-12  # relative; precisions this close are compared exactly
EXACT = 2.0**53  # below this, whole numbers are exact in float64


def sort_by_score(scores: Float64, groups: NDArray[Any] | None = None, *, stable: bool = False) -> NDArray[np.intp]:
    """Return the positions of entries, sorted by ascending group and by descending score within a group.

    `scores` are float64 [n], `groups` [n] of any sortable type, and positions intp [n]. NaN comes last. Equal
    scores are in any order, or with `stable` in the order of their positions.
    """
    order = np.argsort(-scores, kind="stable" if stable else None)
    if groups is None:
        return order
    if not groups.size or groups.dtype.kind not in "iu" or groups.min() < 0 or groups.max() >= 1 << 32:
        return order[np.argsort(groups[order], kind="stable")]
    # numpy sorts 16-bit keys by radix, in linear time
    order = order[np.argsort(groups[order].astype(np.uint16), kind="stable")]
    upper = (groups >> 16).astype(np.uint16)
    if not upper.any():
        return order
    return order[np.argsort(upper[order], kind="stable")]


def find_starts(groups: NDArray[Any]) -> Int64:
    """Return the start of each run of equal values [n], and the end of the last run, int64 [n_runs + 1]."""
    is_first = np.ones(groups.size, dtype=np.bool_)
    is_first[1:] = groups[1:] != groups[:-1]
    return np.append(np.flatnonzero(is_first), groups.size)


class RankedGroups(NamedTuple):
    """Entries of groups, by descending score: group g is ``starts[g] : starts[g + 1]``."""

    starts: NDArray[Any]  # int array [n_groups + 1]
    is_true: Bools  # bool array [n]
    scores: Float64  # float64 arrays [n]
    weights: Float64
    spare: Float64  # float64 array [n_groups]; the weight of unlisted entries per group: negatives with score 0

    @classmethod
    def of_classes(cls, positive: Float64, negative: Float64, n_zeros: float = 0) -> RankedGroups:
        """Return one group, given the scores of positives and negatives, and `n_zeros` negatives of score 0.

        Negatives between the same two positives become one entry, which no area can distinguish: sorting the
        scores per class is many times faster than sorting all entries. The new scores only preserve the order.
        """
        distinct, counts = np.unique(positive, return_counts=True)
        ordered = np.sort(negative)
        below = np.searchsorted(ordered, distinct) + n_zeros * (distinct > 0)
        up_to = np.searchsorted(ordered, distinct, side="right") + n_zeros * (distinct >= 0)
        is_true = np.zeros(3 * distinct.size + 1, dtype=np.bool_)
        weights = np.empty(3 * distinct.size + 1)
        is_true[1::3] = True
        weights[1::3] = counts
        weights[2::3] = up_to - below
        weights[::3] = np.append(below, ordered.size + n_zeros) - np.concatenate([[0], up_to])
        scores = np.floor((2.0 * np.arange(weights.size) + 1) / 3)  # ties keep one score
        starts = np.array([0, weights.size])
        return cls(starts, is_true[::-1].copy(), scores[::-1].copy(), weights[::-1].copy(), np.zeros(1))


class GroupAreas(NamedTuple):
    """Areas of groups, and the weights of their positives and negatives; all arrays are [n_groups]."""

    values: Float64
    positive: Float64
    negative: Float64

    @property
    def has_both(self) -> Bools:
        """Whether each group has positives and negatives, bool [n_groups]."""
        return np.logical_and(self.positive, self.negative)


def roc_areas(groups: RankedGroups) -> GroupAreas:
    """Compute the area under the ROC curve of each group: the share of correctly ordered pairs.

    A tie is half a pair; a group with only one class has NaN. If all weights are whole numbers, the value is
    exact to its last bit as long as a group has fewer than 2^53 entries and 2^105 pairs.
    """
    from xmceval.kernels.metrics.curves import sum_ordered_pairs  # at each start, kernels cost time to load

    n_groups = groups.spare.size
    doubled = np.zeros((n_groups, 2))
    positive, negative = np.zeros((2, n_groups))
    sum_ordered_pairs(*groups, doubled, positive, negative)
    areas = GroupAreas(np.full(n_groups, np.nan), positive, negative)
    has_both = areas.has_both
    pairs = 2 * positive * negative
    areas.values[has_both] = doubled.sum(axis=1)[has_both] / pairs[has_both]
    for group in np.flatnonzero(has_both & (pairs >= EXACT) & (pairs < np.inf)).tolist():
        numerator = Fraction(doubled[group, 0]) + Fraction(doubled[group, 1])
        areas.values[group] = float(numerator / (2 * Fraction(positive[group]) * Fraction(negative[group])))
    return areas._replace(values=np.minimum(areas.values, 1.0))


def partial_roc_areas(groups: RankedGroups, max_fpr: float) -> GroupAreas:
    """Compute the area under the ROC curve up to a false positive rate, standardised: 0.5 is chance, 1 is best.

    A group with only one class has NaN.
    """
    _, inside, positive, negative = _follow_curves(groups, max_fpr)
    least = max_fpr**2 / 2
    areas = GroupAreas(0.5 * (1 + (inside - least) / (max_fpr - least)), positive, negative)
    areas.values[~areas.has_both] = np.nan
    return areas


def recalls_at_precision(groups: RankedGroups, least: float) -> GroupAreas:
    """Find the largest recall of each group at a distinct score from which on the precision is at least `least`.

    A group without positives has 0, and so has a group that never reaches that precision. Weights are multiples
    of 2^-40, with sums per group below 2^22. They are added as integers, and precisions are compared with the
    exact decimal fraction `least`.
    """
    starts, is_true, scores, weights, spare = groups
    bits = 0 if (weights == np.floor(weights)).all() else WEIGHT_BITS
    units = np.rint(np.ldexp(weights, bits)).astype(np.int64)
    is_last = np.ones(scores.size, dtype=np.bool_)
    is_last[:-1] = scores[1:] != scores[:-1]
    is_last[starts[1:] - 1] = True
    ends = np.flatnonzero(is_last)
    of_end = np.searchsorted(starts, ends, side="right") - 1
    # Sums over several groups may overflow, which is undone when the sums of earlier groups are subtracted.
    true, every = (np.concatenate([[0], np.cumsum(terms)]) for terms in (np.where(is_true, units, 0), units))
    hits, above = (sums[ends + 1] - sums[starts[of_end]] for sums in (true, every))
    further = np.where(scores[ends] <= 0, spare[of_end], 0.0)  # entries with score 0
    positive, total = (np.ldexp((sums[starts[1:]] - sums[starts[:-1]]).astype(float), -bits) for sums in (true, every))
    further = np.ldexp(further, bits)
    # Whether hits / (above + further) is at least `least`, exactly; all are whole numbers.
    margin = hits - float(least) * (above + further)
    limit = Fraction(repr(float(least)))
    reached = margin > 0
    for i in np.flatnonzero(np.abs(margin) <= CLOSE * (above + further)).tolist():
        reached[i] = int(hits[i]) * limit.denominator >= (int(above[i]) + int(further[i])) * limit.numerator
    recalls = np.zeros(spare.size)
    reached = reached & (hits > 0)
    groups_reached = of_end[reached]
    true_reached = np.ldexp(hits[reached].astype(np.float64), -bits)
    np.maximum.at(recalls, groups_reached, true_reached / positive[groups_reached])
    return GroupAreas(recalls, positive, total - positive + spare)


def average_precisions(groups: RankedGroups) -> GroupAreas:
    """Compute the average precision of each group: the sum over thresholds of precision times recall step.

    A group without positives has 0.
    """
    values, _, positive, negative = _follow_curves(groups, 1.0)
    return GroupAreas(values, positive, negative)


def _follow_curves(groups: RankedGroups, max_fpr: float) -> Float64:
    """Return average precision, area up to `max_fpr`, weight of positives and of negatives: [4, n_groups]."""
    from xmceval.kernels.metrics.curves import follow_curves  # at each start, kernels cost time to load

    values = np.empty((groups.spare.size, 4))
    follow_curves(*groups, max_fpr, values)
    return values.T


def add_up_steps(
    is_true: Bools, scores: NDArray[Any], weights: Float64 | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Add up the weights of both classes down to each distinct score; entries are sorted by descending score.

    Entries are arrays [n]; return the sums of true and of false entries, and the scores, [n_thresholds]. Sums
    are int64, or float64 if there are weights, float64 [n].
    """
    last = find_starts(scores)[1:] - 1
    if weights is None:
        tps = np.cumsum(is_true, dtype=np.int64)[last]
        return tps, last + 1 - tps, scores[last]
    tps, fps = (np.cumsum(np.where(mask, weights, 0.0))[last] for mask in (is_true, ~is_true))
    return tps, fps, scores[last]
