"""The judge of tests across data sets: formulas as Demšar prints them, and all signs of differences, one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

# Demšar, JMLR 2006, table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf. On voting the last two print alike, but rank
# 2 and 3.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.9749],
    [0.957, 0.978, 0.946, 0.970],
]


def rank(values: Sequence[float]) -> list[float]:
    """Return midranks, 1 for the largest value: one more than what is above, and half of what is equal beside."""
    return [1 + sum(y > x for y in values) + (sum(y == x for y in values) - 1) / 2 for x in values]


def mean_ranks(values: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean rank of each system (column)."""
    return [sum(column) / len(values) for column in zip(*map(rank, values), strict=True)]


def friedman(values: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return chi2 and F without a correction for ties, as in section 3.2.2 of the paper."""
    n, k = len(values), len(values[0])
    chi2 = 12 * n / (k * (k + 1)) * (sum(r**2 for r in mean_ranks(values)) - k * (k + 1) ** 2 / 4)
    return chi2, (n - 1) * chi2 / (n * (k - 1) - chi2)


def signed_rank_p(differences: Sequence[float]) -> float:
    """Return Wilcoxon's exact two-sided p from all signs of the differences that are not 0."""
    sizes = [abs(each) for each in differences if each]
    ranks = rank([-size for size in sizes])
    observed = sum(r for r, each in zip(ranks, [each for each in differences if each], strict=True) if each > 0)
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in product([0, 1], repeat=len(ranks))
    ]
    tails = sum(each <= observed for each in sums), sum(each >= observed for each in sums)
    return min(1.0, 2 * min(tails) / len(sums))


def wins(values: Sequence[Sequence[float]], a: int, b: int) -> tuple[int, int, int]:
    """Return on how many data sets a is above b, equal, and below, of those that have both."""
    pairs = [(row[a], row[b]) for row in values if not math.isnan(row[a]) and not math.isnan(row[b])]
    return sum(x > y for x, y in pairs), sum(x == y for x, y in pairs), sum(x < y for x, y in pairs)
