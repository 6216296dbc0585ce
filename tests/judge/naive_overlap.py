"""The judge of overlap: sets and sums as the definitions say, on lists of labels, best first."""

from __future__ import annotations

import math
from collections.abc import Sequence

Labels = Sequence[int]


def jaccard(a: Labels, b: Labels, k: int) -> float:
    """Labels of both / labels of either, of the k best; 1 where both lists are empty."""
    union = {*a[:k], *b[:k]}
    return len({*a[:k]} & {*b[:k]}) / len(union) if union else 1.0


def rank_biased(a: Labels, b: Labels, depth: int, p: float = 0.9, terms: int = 1000) -> float:
    """(1 - p) sum p^(d-1) A_d over so many depths that the rest is nothing, with agreement A_d extrapolated.

    Beyond the end of the shorter list its agreement is assumed to go on, and beyond the longer one A_d stays (Webber,
    Moffat and Zobel, 2010, section 4.3).
    """
    shorter, longer = sorted((a[:depth], b[:depth]), key=len)
    s, n = len(shorter), len(longer)
    if s == 0:
        return 1.0 if n == 0 else 0.0

    def agreement(d: int) -> float:
        d = min(d, n)
        common = len({*a[:depth][:d]} & {*b[:depth][:d]})
        at_end = len({*shorter} & {*longer[:s]})
        return (common + (at_end / s * (d - s) if d > s else 0)) / d

    agreements = [agreement(d) for d in range(1, n + 1)]
    return (1 - p) * math.fsum(p ** (d - 1) * agreements[min(d, n) - 1] for d in range(1, terms))


def row(a: Labels, b: Labels, true: set[int], k: int) -> dict[str, float]:
    """What one row adds at a cutoff."""
    hits_a, hits_b = ({*labels[:k]} & true for labels in (a, b))
    union, hits = {*a[:k], *b[:k]}, hits_a | hits_b
    return {
        "jaccard": jaccard(a, b, k),
        "hits_both": len(hits_a & hits_b),
        "hits_system": len(hits_a - hits_b),
        "hits_baseline": len(hits_b - hits_a),
        "union_precision": len(hits) / len(union) if union else 0,
        "union_recall": len(hits) / len(true) if true else 0,
        "oracle_precision": min(len(hits), k) / k,
    }


def overlap(
    a: Sequence[Labels], b: Sequence[Labels], truth: Sequence[set[int]], k: int, weights: Sequence[float]
) -> dict[str, float]:
    """The overlap of a system and its baseline at a cutoff: means, and shares of the hits of all rows."""
    rows = [row(*each, k) for each in zip(a, b, truth, strict=True)]
    sums = {
        name: math.fsum(w * each[name] for w, each in zip(weights, rows, strict=True)) for name in row([], [], set(), 1)
    }
    hits = sum(value for name, value in sums.items() if name.startswith("hits"))
    total = math.fsum(weights)
    return {
        name: value / (hits if name.startswith("hits") else total) if hits or not name.startswith("hits") else 0.0
        for name, value in sums.items()
    }
