"""The F distribution, without scipy, whose loading would take a third of a run that finds everything kept."""

from __future__ import annotations

import math

START = {(1, 1): 2 / math.pi, (1, 2): 1.0, (2, 1): 0.5, (2, 2): 1.0}  # Gamma(a + b) / Gamma(a + 1) / Gamma(b)


def f_tail(f: float, df1: int, df2: int) -> float:
    """Return the probability that an F statistic is at least `f`.

    It consists of products, quotients and square roots alone, and so has the same bits on every machine.

    Examples
    --------
    >>> round(f_tail(3.69, 3, 39), 4)
    0.0197
    """
    return _incomplete_beta(df2 / (df2 + df1 * f), df1 * f / (df2 + df1 * f), df2, df1)


def _incomplete_beta(x: float, rest: float, twice_a: int, twice_b: int) -> float:
    """Return the regularised incomplete beta function of x = 1 - `rest`, a and b.

    By its series x^a (1 - x)^b / (a B(a, b)) sum_n (a + b)_n / (a + 1)_n x^n (Abramowitz, Stegun, 26.5.4), or that of
    its complement where this has fewer terms.
    """
    a, b = twice_a / 2, twice_b / 2
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, twice_b, twice_a)
    total, term, n = 0.0, _first_term(x, rest, twice_a, twice_b), 0
    while total + term > total:
        total += term
        term *= x * (a + b + n) / (a + 1 + n)
        n += 1
    return total


def _first_term(x: float, rest: float, twice_a: int, twice_b: int) -> float:
    """Return x^a (1 - x)^b / (a B(a, b)), from that of a and b of 1/2 or 1 in steps of 1."""
    i, j = 2 - twice_a % 2, 2 - twice_b % 2
    term = START[i, j] * (math.sqrt(x) if i == 1 else x) * (math.sqrt(rest) if j == 1 else rest)
    for each in range(j, twice_b, 2):
        term *= rest * (i + each) / each
    for each in range(i, twice_a, 2):
        term *= x * (each + twice_b) / (each + 2)
    return term
