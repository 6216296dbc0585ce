"""The judge of thresholds: every candidate is tried, and its value is a fraction."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

Row = Mapping[int, float]
Value = Callable[[Sequence[float]], Fraction]


def f1(hits: int, decided: int, true: int) -> Fraction:
    """2 hits / (decided + true), 0 for 0/0."""
    return Fraction(2 * hits, decided + true) if decided + true else Fraction(0)


def count(label: int, sets: Sequence[set[int]]) -> int:
    """Return how many sets have a label."""
    return sum(label in each for each in sets)


def judge(kind: str, level: str, truth: Sequence[set[int]], scores: Sequence[Row], n_labels: int) -> Value:
    """Return what thresholds, one per label, are worth: the higher, the better."""

    def value(thresholds: Sequence[float]) -> Fraction:
        decided = [{label for label, score in row.items() if score >= thresholds[label]} for row in scores]
        if kind == "F1":
            groups = [(len(d & t), len(d), len(t)) for d, t in zip(decided, truth, strict=True)]
        else:
            hit = [d & t for d, t in zip(decided, truth, strict=True)]
            groups = [(count(label, hit), count(label, decided), count(label, truth)) for label in range(n_labels)]
        if kind in {"F1", "macroF1"}:
            return sum((f1(*group) for group in groups), Fraction(0)) / len(groups)
        hits, n_decided, n_true = (sum(numbers) for numbers in zip(*groups, strict=True))
        if kind == "microF1":
            return f1(hits, n_decided, n_true)
        precision = Fraction(hits, n_decided) if n_decided else Fraction(0)
        recall = Fraction(hits, n_true) if n_true else Fraction(0)
        if kind == "precision":
            return recall if n_decided == 0 or precision >= Fraction(level) else Fraction(-1)
        return 2 + precision if recall >= Fraction(level) else recall

    return value


def candidates(scores: Sequence[Row], labels: Sequence[int]) -> list[float]:
    """Return +inf and the stored scores of labels, in descending order."""
    return sorted({math.inf, *(row[label] for row in scores for label in labels if label in row)}, reverse=True)


def best_of_all(value: Value, scores: Sequence[Row], n_labels: int) -> float:
    """Return the highest of the best thresholds for all labels."""
    return max(candidates(scores, range(n_labels)), key=lambda threshold: value([threshold] * n_labels))


def best_value(value: Value, scores: Sequence[Row], n_labels: int) -> Fraction:
    """Return the best value of any thresholds per label."""
    return max(map(value, itertools.product(*(candidates(scores, [label]) for label in range(n_labels)))))
