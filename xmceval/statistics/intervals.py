"""Totals: the mergeable sums of an evaluation, and the estimates that they come to.

Sums are exact: each row's contribution is rounded once to a multiple of 2^-60 and added as an integer, so that totals
are the same bits for any order of rows, any blocks, any number of threads, any split into shards.
"""

from __future__ import annotations

import math
from statistics import NormalDist

CONFIDENCE = 0.95


def t_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of Student's t distribution.

    From 300 degrees on by its expansion around the normal quantile (Abramowitz, Stegun, 26.7.5), whose error is below
    1e-13 there: importing scipy.special would take a tenth of a small run.
    """
    p = (1 + confidence) / 2
    if degrees < 300:
        from scipy.special import stdtrit

        return float(stdtrit(degrees, p))
    z = NormalDist().inv_cdf(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, 1))
