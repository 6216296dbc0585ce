"""Thresholds: the scores from which labels are predicted, chosen so that a metric of decisions is best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.statistics.curves import find_starts, sort_by_score
from xmceval.statistics.exact import exact_sum

Float64 = NDArray[np.float64]
Kind = Literal["microF1", "macroF1", "F1", "precision", "recall"]

KINDS: dict[str, Kind] = {
    "microf1": "microF1", "macrof1": "macroF1", "f1": "F1", "precision": "precision", "recall": "recall"
}  # fmt: skip
EXPECTED = "microF1, macroF1, F1, precision=X or recall=X"


@dataclass(frozen=True)
class Target:
    """What thresholds are chosen for: the best F1 of a kind, or a precision or recall of at least `level`."""

    kind: Kind
    level: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read such as ``microF1`` or ``precision=0.9``.

        Raises
        ------
        UsageError
            Another name, or a level that is not in (0, 1].
        """
        name, has_level, number = str(text).partition("=")
        kind = KINDS.get(name.strip().lower())
        if kind is None or bool(has_level) != (kind in {"precision", "recall"}):
            raise UsageError(f"the target must be {EXPECTED}, got {text!r}")
        if not has_level:
            return cls(kind)
        try:
            level = float(number)
        except ValueError:
            level = math.nan
        if not 0 < level <= 1:
            raise UsageError(f"{kind} must be a number above 0 and at most 1, got {number!r}")
        return cls(kind, level)

    def __str__(self) -> str:
        return f"{self.kind}={self.level!r}" if self.level else self.kind


class StoredCells(NamedTuple):
    """Stored scores by descending score, and the true cells, stored or not.

    Attributes
    ----------
    rows, labels : int array [n]
    scores : float64 array [n]
    is_true : bool array [n]
    true_rows, true_labels : int array [n_true]
    n_rows, n_labels : int
    """

    rows: NDArray[Any]
    labels: NDArray[Any]
    scores: Float64
    is_true: NDArray[np.bool_]
    true_rows: NDArray[Any]
    true_labels: NDArray[Any]
    n_rows: int
    n_labels: int

    def half(self, number: int) -> StoredCells:
        """Return the cells of the even rows (0) or of the odd ones (1)."""
        mine, true = self.rows % 2 == number, self.true_rows % 2 == number
        n_rows = (self.n_rows + 1 - number) // 2
        stored = self.rows[mine] // 2, self.labels[mine], self.scores[mine], self.is_true[mine]
        return StoredCells(*stored, self.true_rows[true] // 2, self.true_labels[true], n_rows, self.n_labels)


class Points(NamedTuple):
    """Distinct scores of groups in descending order, and how many cells with at least each score are true, and are.

    Group g has ``starts[g] : starts[g + 1]``.
    """

    starts: NDArray[np.int64]
    scores: Float64
    hits: NDArray[np.int64]
    decided: NDArray[np.int64]

    def first_best(self, gains: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the first place in each group with the largest gain, and that gain; no group is empty."""
        best = np.maximum.reduceat(gains, self.starts[:-1])
        places = np.flatnonzero(gains == np.repeat(best, np.diff(self.starts)))
        return places[np.searchsorted(places, self.starts[:-1])], best


def find_points(scores: Float64, is_true: NDArray[np.bool_], starts: NDArray[np.int64]) -> Points:
    """Return the points of groups of entries that descend by score; a point of +inf without cells begins each."""
    hits = np.concatenate([[0], np.cumsum(is_true)])
    is_last = np.ones(scores.size, dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=is_last[:-1])
    is_last[starts[1:] - 1] = True
    ends = np.flatnonzero(is_last)
    numbers = np.diff(np.searchsorted(ends, starts))
    at = np.repeat(starts[:-1], numbers)
    found = scores[ends], hits[ends + 1] - hits[at], ends + 1 - at
    # Where the highest score is +inf itself, no threshold decides nothing.
    is_open = scores[starts[:-1]] < np.inf
    own = np.concatenate([[0], np.cumsum(numbers + is_open)]).astype(np.int64)
    is_found = np.ones(own[-1], dtype=np.bool_)
    is_found[own[:-1][is_open]] = False
    values = [np.full(is_found.size, nothing) for nothing in (np.inf, 0, 0)]
    for value, each in zip(values, found, strict=True):
        value[is_found] = each
    return Points(own, values[0], values[1].astype(np.int64), values[2].astype(np.int64))


def choose(target: Target, cells: StoredCells, *, per_label: bool) -> Float64:
    """Choose thresholds, float64 [n_labels] or [1]; a label is predicted where its score is at least its threshold.

    Each is a stored score, or +inf for none; of equally good ones it is the highest.
    """
    if per_label:
        return _choose_per_label(target, cells)
    if not cells.scores.size:
        return np.array([np.inf])
    points = find_points(cells.scores, cells.is_true, np.array([0, cells.scores.size]))
    n_true = np.array([cells.true_labels.size])
    if target.kind in {"macroF1", "F1"}:
        place = _best_mean(points, *_groups_of(target, cells), cells)
    else:
        place = int(_best_places(target, points, n_true)[0])
    return points.scores[[place]]


def _groups_of(target: Target, cells: StoredCells) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the group of each cell, and the number of true cells of each group."""
    if target.kind == "macroF1":
        return cells.labels, np.bincount(cells.true_labels, minlength=cells.n_labels)
    return cells.rows, np.bincount(cells.true_rows, minlength=cells.n_rows)


def _choose_per_label(target: Target, cells: StoredCells) -> Float64:
    chosen = np.full(cells.n_labels, np.inf)
    if not cells.scores.size:
        return chosen
    order = sort_by_score(cells.scores, cells.labels, stable=True)  # linear where they are sorted already
    labels = cells.labels[order]
    starts = find_starts(labels)
    points, groups = find_points(cells.scores[order], cells.is_true[order], starts), labels[starts[:-1]]
    if target.kind == "microF1":
        places = _best_micro(points, cells.true_labels.size)
    else:
        n_true = np.bincount(cells.true_labels, minlength=cells.n_labels)[groups]
        places = _best_places(target, points, n_true)
    chosen[groups] = points.scores[places]
    return chosen


def _best_places(target: Target, points: Points, n_true: NDArray[Any]) -> NDArray[np.int64]:
    """Return the best point of each group by itself."""
    hits, decided = points.hits, points.decided
    true = np.repeat(n_true, np.diff(points.starts))
    if target.kind == "precision":
        gains = np.where(divide(hits, decided) >= target.level, hits, -1)
        gains[decided == 0] = 0
        return points.first_best(gains)[0]
    if target.kind == "recall":
        precision = divide(hits, decided)
        # Beyond the precision of all that reach it is a recall that does not: the highest of those is the nearest.
        gains = np.where(divide(hits, true) >= target.level, 2 + precision, divide(hits, true))
        return points.first_best(gains)[0]
    return points.first_best(divide(2 * hits, decided + true))[0]


def _best_micro(points: Points, n_true: int) -> NDArray[np.int64]:
    """Return the point of each group with which the ratio of sums 2 hits / (decided + true) is best.

    Dinkelbach, On nonlinear fractional programming, Management Science 1967: with the ratio of the last choice as price
    each group is chosen by itself, until the ratio stays. In whole numbers, so that ties are ties.
    """
    above, below = 0, 1
    while True:
        places, _ = points.first_best(2 * below * points.hits - above * points.decided)
        hits, decided = int(points.hits[places].sum()), int(points.decided[places].sum())
        if 2 * hits * below <= above * (decided + n_true):
            return places
        shared = math.gcd(2 * hits, decided + n_true)
        above, below = 2 * hits // shared, (decided + n_true) // shared


def _best_mean(points: Points, groups: NDArray[Any], n_true: NDArray[Any], cells: StoredCells) -> int:
    """Return the point with which the mean of F1 over groups of cells is best.

    The values of groups are rounded to units of a power of two and added as whole numbers, so that no sum depends on
    the order; sums that differ by less than this rounding are equally good.
    """
    n, n_groups = groups.size, n_true.size
    order = sort_by_score(cells.scores, groups, stable=True)
    starts = find_starts(groups[order])
    at = np.repeat(starts[:-1], np.diff(starts))
    hits = np.concatenate([[0], np.cumsum(cells.is_true[order])])
    hits, decided, true = hits[1:] - hits[at], np.arange(1, n + 1) - at, n_true[groups[order]]
    bits = min(52, 61 - n_groups.bit_length())
    values = np.rint(np.ldexp(divide(2 * hits, decided + true), bits)).astype(np.int64)
    steps = np.diff(values, prepend=0)
    steps[starts[:-1]] = values[starts[:-1]]
    by_score = np.empty(n, dtype=np.int64)
    by_score[order] = steps
    sums = np.concatenate([[0], np.cumsum(by_score)])[points.decided]
    return int(np.argmax(sums >= sums.max() - 2 * min(n_groups, n)))


def measure(target: Target, cells: StoredCells, thresholds: Float64) -> dict[str, float]:
    """Return the metrics that a target is about, with 0 for 0/0: the one it names, or micro precision and recall."""
    limits = thresholds if thresholds.size == 1 else thresholds[cells.labels]
    is_decided = cells.scores >= limits
    is_hit = is_decided & cells.is_true
    if target.kind in {"macroF1", "F1"}:
        groups, true = _groups_of(target, cells)
        hits, decided = (np.bincount(groups[each], minlength=true.size) for each in (is_hit, is_decided))
        return {target.kind: exact_sum(divide(2 * hits, decided + true)) / max(true.size, 1)}
    n_hits, n_decided, n_true = int(is_hit.sum()), int(is_decided.sum()), cells.true_labels.size
    if target.kind == "microF1":
        return {"microF1": 2 * n_hits / max(n_decided + n_true, 1)}
    return {"microP": n_hits / max(n_decided, 1), "microR": n_hits / max(n_true, 1)}


def check_halves(target: Target, cells: StoredCells, *, per_label: bool) -> dict[str, float] | None:
    """Choose on even rows and measure on odd ones, and the reverse; return the means, or None for one row."""
    if cells.n_rows < 2:
        return None
    even, odd = cells.half(0), cells.half(1)
    values = [
        measure(target, other, choose(target, one, per_label=per_label)) for one, other in ((even, odd), (odd, even))
    ]
    return {name: (values[0][name] + values[1][name]) / 2 for name in values[0]}


def divide(above: NDArray[Any], below: NDArray[Any]) -> Float64:
    """Divide counts; 0/0 is 0."""
    values: Float64 = above / np.maximum(below, 1)
    return values
