"""The judge of columns: each metric as its formula says, by loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from judge.naive import Row
from judge.naive_rows import Place, pairs_in_order

Rows = Sequence[Row]
Weights = Sequence[float] | None


def kept(truth: Rows, scores: Rows, weights: Weights, rel: float, empty_rows: str) -> list[tuple[set[int], Row, float]]:
    """Return (true labels, scores, weight) of each row that is not left out."""
    rows = zip(truth, scores, weights or [1.0] * len(truth), strict=True)
    sets = [({label for label, grade in y.items() if grade >= rel}, s, w) for y, s, w in rows]
    return [row for row in sets if row[0] or empty_rows == "zero"]


def cells_of(rows: Sequence[tuple[set[int], Row, float]], label: int, unscored: str) -> list[tuple[Place, bool, float]]:
    """Return (place, truth, weight) of all cells of a label."""
    missing = (0, 0.0) if unscored == "bottom" else (1, 0.0)
    return [((1, s[label]) if label in s else missing, label in y, w) for y, s, w in rows]


def auc(cells: Sequence[tuple[Place, bool, float]]) -> float:
    """Pairs of a true cell above a false one, ties one half, over all pairs; a weight of 2 is two cells."""
    true, false = ([(place, w) for place, is_true, w in cells if is_true == which] for which in (True, False))
    if all(w == 1 for *_, w in cells):
        return pairs_in_order([place for place, _ in true], [place for place, _ in false])
    ordered = math.fsum(w * v * ((t > f) + (t == f) / 2) for t, w in true for f, v in false)
    return ordered / (math.fsum(w for _, w in true) * math.fsum(v for _, v in false))


def average_precision(cells: Sequence[tuple[Place, bool, float]]) -> float:
    """Sum over distinct places, from the highest, of precision times the step in recall."""
    total, n_true = 0.0, math.fsum(w for _, is_true, w in cells if is_true)
    for place in {place for place, *_ in cells}:
        above = [(is_true, w) for other, is_true, w in cells if other >= place]
        precision = math.fsum(w for is_true, w in above if is_true) / math.fsum(w for _, w in above)
        total += precision * math.fsum(w for other, is_true, w in cells if is_true and other == place) / n_true
    return total


def recall_at_precision(cells: Sequence[tuple[Place, bool, float]], least: float) -> float:
    """The largest recall of the cells from some place up whose precision is at least so much."""
    n_true, best = math.fsum(w for _, is_true, w in cells if is_true), 0.0
    for place in {place for place, *_ in cells}:
        above = [(is_true, w) for other, is_true, w in cells if other >= place]
        hits, all_above = math.fsum(w for is_true, w in above if is_true), math.fsum(w for _, w in above)
        if Fraction(hits) >= Fraction(repr(float(least))) * Fraction(all_above):
            best = max(best, hits / n_true)
    return best


RULES = {"macroAUC": auc, "microAUC": auc, "macroAP": average_precision}


def column(
    name: str,
    rows: Sequence[tuple[set[int], Row, float]],
    labels: Sequence[int],
    unscored: str = "bottom",
    precision: float = 0.9,
) -> float | None:
    """Return a metric of columns: of all cells of these labels, or its mean over those with both classes."""
    rule = RULES.get(name, lambda cells: recall_at_precision(cells, precision))
    columns: list[list[tuple[Place, bool, float]]] = [cells_of(rows, label, unscored) for label in labels]
    if name.startswith("micro"):
        columns = [[cell for each in columns for cell in each]]
    mixed = [each for each in columns if len({is_true for _, is_true, _ in each}) == 2]
    return math.fsum(rule(each) for each in mixed) / len(mixed) if mixed else None


def recommended(sets: Sequence[tuple[set[int], set[int]]], over: set[int]) -> float | None:
    """coverage(of=recommended): share of some labels that are predicted in some row."""
    predicted: set[int] = set().union(*(each for _, each in sets))
    return len(predicted & over) / len(over) if over else None
