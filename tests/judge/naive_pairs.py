"""The judge of a pair of systems of which few rows differ: all exchanges, one by one.

Rows are (numerator, denominator).
"""

import math
from itertools import compress, product


def differ(x, y):
    """Whether a row of two systems differs, beyond rounding."""
    return any(abs(p - q) > 1e-12 * max(abs(p), abs(q)) for p, q in zip(x, y, strict=True))


def ratio_of_sums(rows):
    """Sum of numerators / sum of denominators; 0 where there is nothing to divide by."""
    den = math.fsum(row[1] for row in rows)
    return math.fsum(row[0] for row in rows) / den if den else 0.0


def count_differing(a, b):
    """Return m, the number of rows that differ."""
    return sum(differ(x, y) for x, y in zip(a, b, strict=True))


def exact_p(a, b):
    """Return the share of the 2^m exchanges of differing rows whose |R_a - R_b| is at least the observed one."""
    alike = [(x, y) for x, y in zip(a, b, strict=True) if not differ(x, y)]
    others = [(x, y) for x, y in zip(a, b, strict=True) if differ(x, y)]
    differences = []
    for exchanged in product([False, True], repeat=len(others)):
        pairs = alike + [(y, x) if turn else (x, y) for turn, (x, y) in zip(exchanged, others, strict=True)]
        left, right = zip(*pairs, strict=True)
        differences.append(abs(ratio_of_sums(left) - ratio_of_sums(right)))
    return sum(difference >= differences[0] - 1e-12 for difference in differences) / len(differences)


def exchanged_differences(a, b, value):
    """Return value(a) - value(b) after every exchange of the rows in which they differ, the first without any."""
    differing = [row for row, (one, other) in enumerate(zip(a, b, strict=True)) if one != other]
    differences = []
    for chosen in product((False, True), repeat=len(differing)):
        swapped = set(compress(differing, chosen))
        pairs = [(y, x) if row in swapped else (x, y) for row, (x, y) in enumerate(zip(a, b, strict=True))]
        differences.append(value([x for x, _ in pairs]) - value([y for _, y in pairs]))
    return differences
