"""The judge of label-wise metrics and decisions: every count by a loop, every rate as its formula says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from judge import naive

Row = Mapping[int, float]
Sets = list[tuple[set[int], set[int]]]  # of each row: true labels, predicted labels
Counts = tuple[float, float, float, float]  # tp, fp, fn, tn


def at_cut(truth: Sequence[Row], scores: Sequence[Row], k: int) -> Sets:
    """Return each row's true labels and its k best."""
    return [({t for t in y if y[t] > 0}, set(naive.ranked(s, k))) for y, s in zip(truth, scores, strict=True)]


def at_threshold(truth: Sequence[Row], scores: Sequence[Row], threshold: float = -math.inf) -> Sets:
    """Return each row's true labels and those stored with a score that reaches the threshold."""
    return [
        ({t for t in y if y[t] > 0}, {t for t in s if s[t] >= threshold}) for y, s in zip(truth, scores, strict=True)
    ]


def counts(cells: Sequence[tuple[bool, bool]], weights: Sequence[float] | None = None) -> Counts:
    """Count (true, predicted) cells: tp, fp, fn, tn."""
    w = [1] * len(cells) if weights is None else weights
    return (
        sum(x for (t, p), x in zip(cells, w, strict=True) if t and p),
        sum(x for (t, p), x in zip(cells, w, strict=True) if not t and p),
        sum(x for (t, p), x in zip(cells, w, strict=True) if t and not p),
        sum(x for (t, p), x in zip(cells, w, strict=True) if not t and not p),
    )


def of_label(sets: Sets, label: int, weights: Sequence[float] | None = None) -> Counts:
    """Count one column."""
    return counts([(label in t, label in p) for t, p in sets], weights)


def of_row(true: set[int], predicted: set[int], n_labels: int) -> Counts:
    """Count one row."""
    return counts([(label in true, label in predicted) for label in range(n_labels)])


def divide(num: float, den: float, zero: str) -> float | None:
    """Return num / den; 0/0 is what `zero` says, None where it says skip."""
    if den > 0:
        return num / den
    return None if zero == "skip" else float(zero)


def mean(values: Sequence[float | None], weights: Sequence[float] | None = None) -> float | None:
    """Return the mean of the values that there are."""
    w = [1.0] * len(values) if weights is None else weights
    kept = [(v, x) for v, x in zip(values, w, strict=True) if v is not None]
    below = math.fsum(x for _, x in kept)
    return math.fsum(v * x for v, x in kept) / below if below else None


Rate = Callable[[Counts, float, str], "float | None"]


def precision(c: Counts, beta: float, zero: str) -> float | None:
    """tp / (tp + fp)."""
    return divide(c[0], c[0] + c[1], zero)


def recall(c: Counts, beta: float, zero: str) -> float | None:
    """tp / (tp + fn)."""
    return divide(c[0], c[0] + c[2], zero)


def f_measure(c: Counts, beta: float, zero: str) -> float | None:
    """Weighted harmonic mean of precision and recall."""
    b = beta**2
    return divide((1 + b) * c[0], (1 + b) * c[0] + b * c[2] + c[1], zero)


def jaccard(c: Counts, beta: float, zero: str) -> float | None:
    """tp / (tp + fp + fn)."""
    return divide(c[0], c[0] + c[1] + c[2], zero)


def specificity(c: Counts, beta: float, zero: str) -> float | None:
    """tn / (tn + fp)."""
    return divide(c[3], c[3] + c[1], zero)


def fall_out(c: Counts, beta: float, zero: str) -> float | None:
    """fp / (tn + fp)."""
    return divide(c[1], c[3] + c[1], zero)


def accuracy(c: Counts, beta: float, zero: str) -> float | None:
    """(tp + tn) / all."""
    return divide(c[0] + c[3], sum(c), zero)


def hamming(c: Counts, beta: float, zero: str) -> float | None:
    """(fp + fn) / all."""
    return divide(c[1] + c[2], sum(c), zero)


def balanced(c: Counts, beta: float, zero: str) -> float | None:
    """Mean of recall and specificity."""
    return mean([recall(c, beta, zero), specificity(c, beta, zero)])


def matthews(c: Counts, beta: float, zero: str) -> float | None:
    """Correlation of true and predicted."""
    tp, fp, fn, tn = c
    return divide(tp * tn - fp * fn, math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)), zero)


RATES: dict[str, Rate] = {
    "precision": precision,
    "recall": recall,
    "F": f_measure,
    "Jaccard": jaccard,
    "specificity": specificity,
    "fall-out": fall_out,
    "accuracy": accuracy,
    "hamming": hamming,
    "balanced": balanced,
    "matthews": matthews,
}


def evaluate(
    rate: str,
    average: str,
    sets: Sets,
    n_labels: int,
    *,
    beta: float = 1.0,
    zero: str = "0",
    over: str = "all",
    train: Sequence[int] = (),
    weights: Sequence[float] | None = None,
) -> float | None:
    """Return a rate: of all cells (micro), its mean over labels (macro, weighted), or its mean over rows (samples)."""
    function = RATES[rate]
    columns = [of_label(sets, label, weights) for label in range(n_labels)]
    if average == "micro":
        tp, fp, fn, tn = (sum(column[i] for column in columns) for i in range(4))
        return function((tp, fp, fn, tn), beta, zero)
    if average == "samples":
        return mean([function(of_row(t, p, n_labels), beta, zero) for t, p in sets], weights)
    values = [function(column, beta, zero) for column in columns]
    if average == "weighted":
        return mean(values, [column[0] + column[2] for column in columns])
    seen = [label for label, (tp, fp, fn, _) in enumerate(columns) if tp + fp + fn > 0]
    chosen = {
        "all": range(n_labels),
        "truth": [label for label, (tp, _, fn, _) in enumerate(columns) if tp + fn > 0],
        "seen": seen,
        "train": [label for label in range(n_labels) if label < len(train) and train[label] > 0],
        "largest": range(max(seen, default=-1) + 1),
    }[over]
    return mean([values[label] for label in chosen])


def decision_pairs(
    rate: str, average: str, sets: Sets, n_labels: int, *, beta: float = 1.0, zero: str = "0"
) -> list[tuple[float, float]]:
    """Return (numerator, denominator) of each row: of its own rate (samples), or of its part of all cells (micro)."""
    rows = [of_row(true, predicted, n_labels) for true, predicted in sets]
    if average == "samples":
        values = [RATES[rate](row, beta, zero) for row in rows]
        return [(0.0, 0.0) if value is None else (value, 1.0) for value in values]
    b = beta**2
    parts: dict[str, Callable[[float, float, float, float], tuple[float, float]]] = {
        "precision": lambda tp, fp, fn, tn: (tp, tp + fp),
        "recall": lambda tp, fp, fn, tn: (tp, tp + fn),
        "F": lambda tp, fp, fn, tn: ((1 + b) * tp, (1 + b) * tp + b * fn + fp),
        "Jaccard": lambda tp, fp, fn, tn: (tp, tp + fp + fn),
        "specificity": lambda tp, fp, fn, tn: (tn, tn + fp),
        "fall-out": lambda tp, fp, fn, tn: (fp, tn + fp),
        "accuracy": lambda tp, fp, fn, tn: (tp + tn, tp + fp + fn + tn),
        "hamming": lambda tp, fp, fn, tn: (fp + fn, tp + fp + fn + tn),
    }
    return [parts[rate](*row) for row in rows]


def coverage(sets: Sets, over: str, n_labels: int, ideal: Sets | None = None) -> float | None:
    """Return the share of labels that have a hit in some row."""
    hit = {label for true, predicted in sets for label in true & predicted}
    below = {
        "all": n_labels,
        "truth": len({label for true, _ in sets for label in true}),
        "ideal": len({label for _, best in ideal or [] for label in best}),
    }[over]
    return len(hit) / below if below else None
