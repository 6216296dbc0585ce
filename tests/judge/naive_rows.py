"""The judge of whole rows: each metric as its formula says, over all labels of a row; slow, meant to be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge.naive import Pair, Row, ranked, ratio

Place = tuple[int, float]  # what is compared: labels below all others have a first element of 0


@dataclass(frozen=True)
class Whole:
    """True labels with their grades, the stored scores, the place of every label, the ranked list, k and options."""

    truth: dict[int, float]
    scores: Row
    places: list[Place]
    k: int = 0
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of true labels."""
        return len(self.truth)

    @property
    def false(self) -> list[int]:
        """Labels that are not true."""
        return [label for label in range(len(self.places)) if label not in self.truth]

    @property
    def hit_ranks(self) -> list[int]:
        """Ranks of the true labels along the list."""
        return [rank for rank, label in enumerate(ranked(self.scores), 1) if label in self.truth]

    def as_high(self, label: int) -> list[int]:
        """Labels scored at least as high as one."""
        return [other for other in range(len(self.places)) if self.places[other] >= self.places[label]]


Metric = Callable[[Whole], "Pair | None"]


def pairs_in_order(true: Sequence[Place], false: Sequence[Place]) -> float:
    """Pairs of a true label scored above one that is not, a tie as one half, over all pairs."""
    return math.fsum((t > f) + (t == f) / 2 for t in true for f in false) / (len(true) * len(false))


def lrap(row: Whole) -> Pair | None:
    """LRAP: mean over true labels of the share of true ones among those scored as high."""
    if not row.truth or not row.false:
        return 1, 1
    shares = [sum(other in row.truth for other in row.as_high(t)) / len(row.as_high(t)) for t in row.truth]
    return math.fsum(shares) / row.n, 1


def coverage_error(row: Whole) -> Pair | None:
    """coverage_error: how far down all true labels are found."""
    return max((len(row.as_high(label)) for label in row.truth), default=0), 1


def ranking_loss(row: Whole) -> Pair | None:
    """ranking_loss: share of pairs not in order, ties among them."""
    if not row.truth or not row.false:
        return 0, 1
    return sum(row.places[t] <= row.places[f] for t in row.truth for f in row.false) / (row.n * len(row.false)), 1


def auc(row: Whole) -> Pair | None:
    """AUC: pairs in order, ties one half; rows of one class have none."""
    if not row.truth or not row.false:
        return None
    return pairs_in_order([row.places[t] for t in row.truth], [row.places[f] for f in row.false]), 1


def gauc(row: Whole) -> Pair | None:
    """GAUC: AUC among the labels with a score, weighted by their number."""
    true = [row.places[label] for label in row.scores if label in row.truth]
    false = [row.places[label] for label in row.scores if label not in row.truth]
    if not true or not false:
        return None
    return len(row.scores) * pairs_in_order(true, false), len(row.scores)


def average_precision(row: Whole) -> Pair | None:
    """AP along the list: sum of P@rank over hits / n."""
    return (math.fsum(i / rank for i, rank in enumerate(row.hit_ranks, 1)) / row.n if row.n else 0), 1


def average_precision_of_hits(row: Whole) -> Pair | None:
    """AP(norm=hits): mean over the hits within k of the precision at their ranks."""
    hits = [rank for rank in row.hit_ranks if rank <= row.k]
    return (math.fsum(i / rank for i, rank in enumerate(hits, 1)) / len(hits) if hits else 0), 1


def whole(metric: Metric) -> Metric:
    """Return a metric of the first k ranks over the whole list."""
    return lambda row: metric(replace(row, k=len(row.scores)))


def reciprocal_rank(row: Whole) -> Pair | None:
    """RR along the list: 1 / rank of the first hit."""
    return next((1 / rank for rank in row.hit_ranks), 0), 1


def recall(row: Whole) -> Pair | None:
    """R along the list: hits / n."""
    return (len(row.hit_ranks) / row.n if row.n else 0), 1


def precision(row: Whole) -> Pair | None:
    """P along the list: hits / its length."""
    return (len(row.hit_ranks) / len(row.scores) if row.scores else 0), 1


def f_measure(row: Whole) -> Pair | None:
    """F1 along the list: harmonic mean of P and R, in which R weighs beta^2 times as much."""
    p, r, b = precision(row)[0], recall(row)[0], row.options.get("beta", 1) ** 2  # type: ignore[index]
    return ((1 + b) * p * r / (b * p + r) if p + r else 0), 1


def interpolated_precision(row: Whole) -> Pair | None:
    """IPrec: greatest precision at a rank from the one on where floor(recall n + 0.9) true labels are found."""
    wanted = math.floor(row.options["recall"] * row.n + 0.9)
    return max((i / rank for i, rank in enumerate(row.hit_ranks, 1) if i >= wanted), default=0), 1


def recall_at_n(row: Whole) -> Pair | None:
    """R@n: hits among the first n / n."""
    return (sum(rank <= row.n for rank in row.hit_ranks) / row.n if row.n else 0), 1


def micro_recall_at_n(row: Whole) -> Pair | None:
    """microR@n: hits among the first n, over n."""
    return sum(rank <= row.n for rank in row.hit_ranks), row.n


def dcg(row: Whole) -> Pair | None:
    """DCG along the list."""
    order = ranked(row.scores)
    return math.fsum(row.truth.get(label, 0) / math.log2(r + 1) for r, label in enumerate(order, 1)), 1


def ndcg(row: Whole) -> Pair | None:
    """nDCG along the list: over the DCG of all true labels in the best order."""
    best = sorted(row.truth.values(), reverse=True)
    ideal = math.fsum(grade / math.log2(r + 1) for r, grade in enumerate(best, 1))
    return (dcg(row)[0] / ideal if row.n else 0), 1  # type: ignore[index]


def err(row: Whole) -> Pair | None:
    """ERR: the user goes down the ranks and stops at each with probability (2^grade - 1) / 2^max."""
    value, going_on = 0.0, 1.0
    for rank, label in enumerate(ranked(row.scores, row.k), 1):
        stop = (2 ** row.truth.get(label, 0) - 1) / 2 ** row.options["max"]
        value += going_on * stop / rank
        going_on *= 1 - stop
    return value, 1


def rbp(row: Whole) -> Pair | None:
    """RBP: (1 - p) sum of p^(rank - 1) over hits."""
    p = row.options.get("p", 0.8)
    return (1 - p) * math.fsum(p ** (rank - 1) for rank in row.hit_ranks if rank <= row.k), 1


def auc_at_k(row: Whole) -> Pair | None:
    """AUC@k: pairs of a hit before a miss among k ranks over all such pairs; missing predictions are misses."""
    hits = [rank for rank in row.hit_ranks if rank <= row.k]
    misses = [rank for rank in range(1, row.k + 1) if rank not in hits]
    ordered = sum(hit < miss for hit in hits for miss in misses)
    return (ordered / (len(hits) * len(misses)) if hits and misses else 0), 1


METRICS: dict[str, Metric] = {
    "LRAP": lrap,
    "coverage_error": coverage_error,
    "ranking_loss": ranking_loss,
    "AUC": auc,
    "GAUC": gauc,
    "AP@all": average_precision,
    "RR@all": reciprocal_rank,
    "R@all": recall,
    "P@all": precision,
    "F1@all": f_measure,
    "IPrec": interpolated_precision,
    "R@n": recall_at_n,
    "microR@n": micro_recall_at_n,
    "DCG@all": dcg,
    "nDCG@all": ndcg,
    "ERR": err,
    "RBP": rbp,
    "ERR@all": whole(err),
    "RBP@all": whole(rbp),
    "AP(norm=hits)": average_precision_of_hits,
    "AP(norm=hits)@all": whole(average_precision_of_hits),
    "AUC@k": auc_at_k,
}


def places(scores: Row, n_labels: int, unscored: str) -> list[Place]:
    """Return where each label stands: those without a score below all others, or at 0."""
    missing = (0, 0.0) if unscored == "bottom" else (1, 0.0)
    return [(1, scores[label]) if label in scores else missing for label in range(n_labels)]


def row_pairs(
    name: str,
    truth: Sequence[Row],
    scores: Sequence[Row],
    n_labels: int,
    *,
    unscored: str = "bottom",
    empty_rows: str = "zero",
    k: int = 0,
    rel: float = 1,
    weights: Sequence[float] | None = None,
    options: Mapping[str, float] | None = None,
) -> list[Pair]:
    """Return the weighted (numerator, denominator) of each row that has a value; rows of weight 0 have none."""
    pairs = []
    for y, s, weight in zip(truth, scores, weights or [1] * len(truth), strict=True):
        true = {label: grade for label, grade in y.items() if grade >= rel}
        pair = METRICS[name](Whole(true, s, places(s, n_labels, unscored), k, options or {}))
        if pair is not None and weight and (true or empty_rows == "zero"):
            pairs.append((weight * pair[0], weight * pair[1]))
    return pairs


def evaluate(name: str, truth: Sequence[Row], scores: Sequence[Row], n_labels: int, **rules: Any) -> float:
    """Return a metric over all rows; `rules` are those of `row_pairs`."""
    return ratio(row_pairs(name, truth, scores, n_labels, **rules))
