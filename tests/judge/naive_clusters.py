"""Intervals by cluster, in plain Python: sums over clusters of what each row is off its ratio."""

import math


def clustered_error(rows, clusters):
    """Return (ratio, standard error, number of clusters) of rows (numerator, denominator) in clusters."""
    total = math.fsum(den for _, den in rows)
    ratio = math.fsum(num for num, _ in rows) / total
    return ratio, clustered_spread([num - ratio * den for num, den in rows], clusters) / total, len(set(clusters))


def clustered_spread(errors, clusters):
    """Return the square root of G / (G - 1) times the sum of squares of the sums of errors in each of G clusters."""
    sums = {}
    for error, cluster in zip(errors, clusters, strict=True):
        sums.setdefault(cluster, []).append(error)
    g = len(sums)
    return math.sqrt(g / (g - 1) * math.fsum(math.fsum(each) ** 2 for each in sums.values()))
