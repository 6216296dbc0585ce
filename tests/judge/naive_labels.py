"""The judge of label-wise metrics and decisions: every count by a loop, every rate as its formula says.

`sets` has for each row its true and its predicted labels; counts are (tp, fp, fn, tn).
"""

import math

from judge import naive


def at_cut(truth, scores, k):
    """Return each row's true labels and its k best."""
    return [({t for t in y if y[t] > 0}, set(naive.ranked(s, k))) for y, s in zip(truth, scores, strict=True)]


def at_threshold(truth, scores, threshold=-math.inf):
    """Return each row's true labels and those stored with a score that reaches the threshold."""
    rows = zip(truth, scores, strict=True)
    return [({t for t in y if y[t] > 0}, {t for t in s if s[t] >= threshold}) for y, s in rows]


def counts(cells, weights=None):
    """Count (true, predicted) cells: tp, fp, fn, tn."""
    w = [1] * len(cells) if weights is None else weights
    kinds = (True, True), (False, True), (True, False), (False, False)
    return tuple(sum(x for cell, x in zip(cells, w, strict=True) if cell == kind) for kind in kinds)


def of_label(sets, label, weights=None, filtered=None):
    """Count one column; a row in which the label is filtered but not true has no such cell."""
    w = [1] * len(sets) if weights is None else weights
    if filtered is not None:
        w = [0 if label in out - t else x for x, (t, _), out in zip(w, sets, filtered, strict=True)]
    return counts([(label in t, label in p) for t, p in sets], w)


def of_row(true, predicted, n_labels):
    """Count one row."""
    return counts([(label in true, label in predicted) for label in range(n_labels)])


def of_all(sets, n_labels, weights=None, filtered=None):
    """Count all cells."""
    columns = [of_label(sets, label, weights, filtered) for label in range(n_labels)]
    return tuple(sum(column[i] for column in columns) for i in range(4))


def divide(num, den, zero):
    """Return num / den; 0/0 is what `zero` says, None where it says skip."""
    if den > 0:
        return num / den
    return None if zero == "skip" else float(zero)


def mean(values, weights=None):
    """Return the mean of the values that are not None, or None if there is none."""
    w = [1.0] * len(values) if weights is None else weights
    kept = [(v, x) for v, x in zip(values, w, strict=True) if v is not None]
    below = math.fsum(x for _, x in kept)
    return math.fsum(v * x for v, x in kept) / below if below else None


# Numerator and denominator of each rate; b is the square of beta.
FRACTIONS = {
    "precision": lambda tp, fp, fn, tn, b: (tp, tp + fp),
    "recall": lambda tp, fp, fn, tn, b: (tp, tp + fn),
    "F": lambda tp, fp, fn, tn, b: ((1 + b) * tp, (1 + b) * tp + b * fn + fp),
    "Jaccard": lambda tp, fp, fn, tn, b: (tp, tp + fp + fn),
    "specificity": lambda tp, fp, fn, tn, b: (tn, tn + fp),
    "fall-out": lambda tp, fp, fn, tn, b: (fp, tn + fp),
    "accuracy": lambda tp, fp, fn, tn, b: (tp + tn, tp + fp + fn + tn),
    "hamming": lambda tp, fp, fn, tn, b: (fp + fn, tp + fp + fn + tn),
    "matthews": lambda tp, fp, fn, tn, b: (
        tp * tn - fp * fn,
        math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    ),
}
RATES = {*FRACTIONS, "balanced"}


def rate_of(rate, cells, beta, zero):
    """Return a rate of counts; the balanced accuracy is the mean of recall and specificity."""
    if rate == "balanced":
        return mean([rate_of(half, cells, beta, zero) for half in ("recall", "specificity")])
    return divide(*FRACTIONS[rate](*cells, beta**2), zero)


def f_measure(p, r, beta):
    """Return the F measure of a precision and a recall, in which recall weighs beta^2 times as much."""
    if p is None or r is None:
        return None
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def evaluate(rate, average, sets, n_labels, *, beta=1.0, zero="0", over="all", train=(), weights=None, filtered=None):
    """Return a rate: of all cells (micro), its mean over labels (macro, weighted), or its mean over rows (samples)."""
    if average == "micro":
        return rate_of(rate, of_all(sets, n_labels, weights, filtered), beta, zero)
    if average == "samples":
        values = [rate_of(rate, of_row(t, p, n_labels), beta, zero) for t, p in sets]
        return mean(values, weights) if sets else divide(0, 0, zero)
    columns = [of_label(sets, label, weights, filtered) for label in range(n_labels)]
    values = [rate_of(rate, column, beta, zero) for column in columns]
    if average == "weighted":
        return mean(values, [tp + fn for tp, _, fn, _ in columns])
    seen = [label for label, (tp, fp, fn, _) in enumerate(columns) if tp + fp + fn > 0]
    chosen = {
        "all": range(n_labels),
        "truth": [label for label, (tp, _, fn, _) in enumerate(columns) if tp + fn > 0],
        "seen": seen,
        "train": [label for label in range(n_labels) if label < len(train) and train[label] > 0],
        "largest": range(max(seen, default=-1) + 1),
    }[over]
    return mean([values[label] for label in chosen])


def decision_pairs(rate, average, sets, n_labels, *, beta=1.0, zero="0"):
    """Return (numerator, denominator) of each row: of its own rate (samples), or of its part of all cells (micro)."""
    rows = [of_row(true, predicted, n_labels) for true, predicted in sets]
    if average == "micro":
        return [FRACTIONS[rate](*row, beta**2) for row in rows]
    values = [rate_of(rate, row, beta, zero) for row in rows]
    return [(0.0, 0.0) if value is None else (value, 1.0) for value in values]


def coverage(sets, over, n_labels, ideal=(), of="hits"):
    """Return the share of some labels that have a hit in some row, or are predicted in some (of="recommended")."""
    labels = {
        "all": set(range(n_labels)),
        "truth": {label for true, _ in sets for label in true},
        "ideal": {label for _, best in ideal for label in best},
    }[over]
    reached = {label for true, predicted in sets for label in (true & predicted if of == "hits" else predicted)}
    if of == "recommended":
        reached &= labels
    return len(reached) / len(labels) if labels else None
