"""The judge of columns: each metric as its formula says, by loops.

A row is (true labels, scores, weight, filtered labels); a cell is (place, truth, weight), its place as in
naive_rows.py.
"""

import math
from fractions import Fraction

from judge import naive
from judge.naive_rows import pairs_in_order


def kept(truth, scores, weights, rel, empty_rows, filtered=None):
    """Return (true labels, scores, weight, filtered labels) of each row that is not left out."""
    rows = zip(truth, scores, weights or [1.0] * len(truth), filtered or [set()] * len(truth), strict=True)
    sets = [(set(naive.at_least(y, rel)), s, w, out) for y, s, w, out in rows]
    return [row for row in sets if row[0] or empty_rows == "zero"]


def cells_of(rows, label, unscored):
    """Return (place, truth, weight) of all cells of a label, but those that are filtered and not true."""
    missing = (0, 0.0) if unscored == "bottom" else (1, 0.0)
    inside = [row for row in rows if label not in row[3] - row[0]]
    return [((1, s[label]) if label in s else missing, label in y, w) for y, s, w, _ in inside]


def auc(cells):
    """Pairs of a true cell above a false one, ties one half, over all pairs; a weight of 2 is two cells."""
    true, false = ([(place, w) for place, is_true, w in cells if is_true == which] for which in (True, False))
    if all(w == 1 for *_, w in cells):
        return pairs_in_order([place for place, _ in true], [place for place, _ in false])
    ordered = math.fsum(w * v * ((t > f) + (t == f) / 2) for t, w in true for f, v in false)
    return ordered / (math.fsum(w for _, w in true) * math.fsum(v for _, v in false))


def steps(cells):
    """Yield for each distinct place the weights of the true cells from it up, of all from it up, of the true at it."""
    for place in {place for place, *_ in cells}:
        above = [(other, is_true, w) for other, is_true, w in cells if other >= place]
        hits = math.fsum(w for _, is_true, w in above if is_true)
        yield hits, math.fsum(w for *_, w in above), math.fsum(w for other, true, w in above if true and other == place)


def average_precision(cells):
    """Sum over distinct places of precision times the step in recall."""
    n_true = math.fsum(w for _, is_true, w in cells if is_true)
    return math.fsum(hits / predicted * step / n_true for hits, predicted, step in steps(cells))


def recall_at_precision(cells, least):
    """The largest recall of the cells from some place up whose precision is at least so much."""
    n_true, least = math.fsum(w for _, is_true, w in cells if is_true), Fraction(repr(float(least)))
    reached = [hits for hits, predicted, _ in steps(cells) if Fraction(hits) >= least * Fraction(predicted)]
    return max(reached, default=0.0) / n_true


def global_average_precision(rows):
    """Average precision of all stored cells; a true label without a score is never found."""
    stored = [((1, score), label in y, w) for y, s, w, _ in rows for label, score in s.items()]
    n_true, n_found = math.fsum(len(y) * w for y, _, w, _ in rows), math.fsum(w for _, is_true, w in stored if is_true)
    return average_precision(stored) * n_found / n_true if n_found else 0.0 if n_true else None


RULES = {"macroAUC": auc, "microAUC": auc, "macroAP": average_precision}


def column(name, rows, labels, unscored="bottom", precision=0.9):
    """Return a metric of columns: of all cells of these labels, or its mean over those with both classes."""
    if name == "microAP":
        return global_average_precision(rows)
    rule = RULES.get(name, lambda cells: recall_at_precision(cells, precision))
    columns = [cells_of(rows, label, unscored) for label in labels]
    if name.startswith("micro"):
        columns = [[cell for cells in columns for cell in cells]]
    mixed = [cells for cells in columns if len({is_true for _, is_true, _ in cells}) == 2]
    return math.fsum(rule(cells) for cells in mixed) / len(mixed) if mixed else None
