"""The judge of whole rows: each metric as its formula says, over all labels of a row; slow, meant to be read.

The place of a label is what is compared, a pair: labels below all others have a first element of 0.
"""

import math
from dataclasses import dataclass, field, replace

from judge import naive
from judge.naive import ranked, ratio


@dataclass(frozen=True)
class Whole:
    """True labels with their grades, the stored scores, the place of every label, k and options.

    A filtered label that is not true has no place: None.
    """

    truth: dict
    scores: dict
    places: list
    k: int = 0
    options: dict = field(default_factory=dict)

    @property
    def n(self):
        """Number of true labels."""
        return len(self.truth)

    @property
    def false(self):
        """Labels that are not true."""
        return [label for label, place in enumerate(self.places) if place is not None and label not in self.truth]

    @property
    def hit_ranks(self):
        """Ranks of the true labels along the list."""
        return [rank for rank, label in enumerate(ranked(self.scores), 1) if label in self.truth]

    def as_high(self, label):
        """Labels scored at least as high as one."""
        return [other for other, place in enumerate(self.places) if place is not None and place >= self.places[label]]


def pairs_in_order(true, false):
    """Pairs of a true label scored above one that is not, a tie as one half, over all pairs."""
    return math.fsum((t > f) + (t == f) / 2 for t in true for f in false) / (len(true) * len(false))


def lrap(row):
    """LRAP: mean over true labels of the share of true ones among those scored as high."""
    if not row.truth or not row.false:
        return 1, 1
    shares = [sum(other in row.truth for other in row.as_high(t)) / len(row.as_high(t)) for t in row.truth]
    return math.fsum(shares) / row.n, 1


def coverage_error(row):
    """coverage_error: how far down all true labels are found."""
    return max((len(row.as_high(label)) for label in row.truth), default=0), 1


def ranking_loss(row):
    """ranking_loss: share of pairs not in order, ties among them."""
    if not row.truth or not row.false:
        return 0, 1
    return sum(row.places[t] <= row.places[f] for t in row.truth for f in row.false) / (row.n * len(row.false)), 1


def auc(row):
    """AUC: pairs in order, ties one half; rows of one class have none."""
    if not row.truth or not row.false:
        return None
    return pairs_in_order([row.places[t] for t in row.truth], [row.places[f] for f in row.false]), 1


def gauc(row):
    """GAUC: AUC among the labels with a score, weighted by their number."""
    true = [row.places[label] for label in row.scores if label in row.truth]
    false = [row.places[label] for label in row.scores if label not in row.truth]
    if not true or not false:
        return None
    return len(row.scores) * pairs_in_order(true, false), len(row.scores)


def interpolated_precision(row):
    """IPrec: greatest precision at a rank from the one on where floor(recall n + 0.9) true labels are found."""
    wanted = math.floor(row.options["recall"] * row.n + 0.9)
    return max((i / rank for i, rank in enumerate(row.hit_ranks, 1) if i >= wanted), default=0), 1


def recall_at_n(row):
    """R@n: hits among the first n / n."""
    return (sum(rank <= row.n for rank in row.hit_ranks) / row.n if row.n else 0), 1


def micro_recall_at_n(row):
    """microR@n: hits among the first n, over n."""
    return sum(rank <= row.n for rank in row.hit_ranks), row.n


def err(row):
    """ERR: the user goes down the ranks and stops at each with probability (2^grade - 1) / 2^max."""
    value, going_on = 0.0, 1.0
    for rank, label in enumerate(ranked(row.scores, row.k), 1):
        stop = (2 ** row.truth.get(label, 0) - 1) / 2 ** row.options["max"]
        value += going_on * stop / rank
        going_on *= 1 - stop
    return value, 1


def rbp(row):
    """RBP: (1 - p) sum of p^(rank - 1) over hits."""
    p = row.options.get("p", 0.8)
    return (1 - p) * math.fsum(p ** (rank - 1) for rank in row.hit_ranks if rank <= row.k), 1


def auc_at_k(row):
    """AUC@k: pairs of a hit before a miss among k ranks over all such pairs; missing predictions are misses."""
    hits = [rank for rank in row.hit_ranks if rank <= row.k]
    misses = [rank for rank in range(1, row.k + 1) if rank not in hits]
    ordered = sum(hit < miss for hit in hits for miss in misses)
    return (ordered / (len(hits) * len(misses)) if hits and misses else 0), 1


def whole(metric):
    """Return a metric of the first k ranks over the whole list, with a k that no list nor ideal reaches."""
    return lambda row: metric(replace(row, k=len(row.scores) + row.n))


def ranking(name, **options):
    """Return a metric of naive.py over the first k ranks, as one of whole rows."""
    return lambda row: naive.METRICS[name](naive.Seen(row.truth, ranked(row.scores, row.k), row.k, None, options, True))


METRICS = {
    "LRAP": lrap,
    "coverage_error": coverage_error,
    "ranking_loss": ranking_loss,
    "AUC": auc,
    "GAUC": gauc,
    **{f"{name}@all": whole(ranking(name)) for name in ("AP", "RR", "R", "P", "F1", "DCG", "nDCG")},
    "IPrec": interpolated_precision,
    "R@n": recall_at_n,
    "microR@n": micro_recall_at_n,
    "ERR": err,
    "RBP": rbp,
    "ERR@all": whole(err),
    "RBP@all": whole(rbp),
    "AP(norm=hits)": ranking("AP", norm="hits"),
    "AP(norm=hits)@all": whole(ranking("AP", norm="hits")),
    "AUC@k": auc_at_k,
}


def places(scores, n_labels, unscored):
    """Return where each label stands: those without a score below all others, or at 0."""
    missing = (0, 0.0) if unscored == "bottom" else (1, 0.0)
    return [(1, scores[label]) if label in scores else missing for label in range(n_labels)]


def row_pairs(
    name, truth, scores, n_labels, *,
    unscored="bottom", empty_rows="zero", k=0, rel=0, weights=None, options=None, filtered=None,
):  # fmt: skip
    """Return the weighted (numerator, denominator) of each row that has a value; rows of weight 0 have none."""
    pairs = []
    n_rows = len(truth)
    for y, s, weight, out in zip(truth, scores, weights or [1] * n_rows, filtered or [()] * n_rows, strict=True):
        true = naive.at_least(y, rel)
        of_labels = [
            None if label in out and label not in true else place
            for label, place in enumerate(places(s, n_labels, unscored))
        ]
        pair = METRICS[name](Whole(true, s, of_labels, k, options or {}))
        if pair is not None and weight and (true or empty_rows == "zero"):
            pairs.append((weight * pair[0], weight * pair[1]))
    return pairs


def evaluate(name, truth, scores, n_labels, **rules):
    """Return a metric over all rows; `rules` are those of `row_pairs`."""
    return ratio(row_pairs(name, truth, scores, n_labels, **rules))
