"""Plausibility: what in a row of published results cannot be right, or hardly is, by the definitions of its metrics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xmceval.statistics.powers import log2

IMPOSSIBLE, UNLIKELY = "impossible", "unlikely"
COPIED = 3  # equal values in as many columns, in two rows that are not of one method and data set
ROUNDING = 1e-9  # of sums and differences of printed values
FAR_APART = 0.2  # PSP@k and PSnDCG@k this far apart are hardly right


@dataclass(frozen=True)
class Printed:
    """A value as printed.

    Attributes
    ----------
    value : float
        A fraction.
    half : float
        Half a unit of its last digit.
    """

    value: float
    half: float


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a row.

    Attributes
    ----------
    row : str
        The name of the row, with its place.
    severity : str
        ``impossible`` by definition, or ``unlikely``.
    text : str
    """

    row: str
    severity: str
    text: str


Values = Mapping[str, Printed]


def check_row(row: str, values: Values, ceilings: Mapping[str, float] | None = None) -> Iterator[Finding]:
    """Yield what is wrong with the values of one row, by canonical name of the metric.

    Parameters
    ----------
    row : str
    values : mapping of str to Printed
    ceilings : mapping of str to float, optional
        Values that no ranking can exceed on the data set.

    Notes
    -----
    At rank 1 nDCG is P and PSnDCG is PSP. The hits within k never decrease with k, and grow by at most one per rank, so
    k P@k neither falls nor grows faster than k. h hits within k are worth the least at the last ranks, so that
    nDCG@k is at least 1 - D(k (1 - P@k)) / D(k), D being the sum of discounts, piecewise linear between ranks.
    """
    for name, printed in values.items():
        if not -printed.half <= printed.value <= 1 + printed.half:
            yield Finding(row, IMPOSSIBLE, f"{_show(name, printed)} is outside 0..100")
        ceiling = (ceilings or {}).get(name)
        if ceiling is not None and printed.value > ceiling + printed.half:
            yield Finding(row, IMPOSSIBLE, f"{_show(name, printed)} exceeds {100 * ceiling:.2f}, its ceiling")
    yield from _check_equal(row, values)
    yield from _check_growth(row, values)
    yield from _check_ndcg(row, values)
    yield from _check_propensity_scored(row, values)


def _check_equal(row: str, values: Values) -> Iterator[Finding]:
    """At rank 1 a discounted metric is the plain one: some value must round to both, whatever their precision."""
    for name, other in (("P@1", "nDCG@1"), ("PSP@1", "PSnDCG@1")):
        if name in values and other in values:
            a, b = values[name], values[other]
            gap = abs(a.value - b.value)
            if gap > ROUNDING and gap > a.half + b.half - ROUNDING:  # where only ends meet, one rule rounds to one
                yield Finding(row, IMPOSSIBLE, f"{_show(name, a)} is not {_show(other, b)}")


def _check_growth(row: str, values: Values) -> Iterator[Finding]:
    """The number of hits neither falls with k, nor grows by more than one per rank."""
    for (k, name), (k_next, other) in _neighbours("P", values):
        a, b = values[name], values[other]
        hits, hits_next = k * a.value, k_next * b.value
        slack = k * a.half + k_next * b.half + ROUNDING
        if hits_next < hits - slack:
            yield Finding(row, IMPOSSIBLE, f"{k_next} x {_show(other, b)} is less than {k} x {_show(name, a)}")
        if hits_next > hits + (k_next - k) + slack:
            yield Finding(row, IMPOSSIBLE, f"{_show(other, b)} has more hits than ranks beyond {_show(name, a)}")


def _check_ndcg(row: str, values: Values) -> Iterator[Finding]:
    """So many hits are worth at least as much as at the last ranks; below P@k is unlikely."""
    for k, name in _cutoffs("nDCG", values):
        precision = values.get(f"P@{k}")
        if precision is None or k == 1:
            continue
        ndcg = values[name]
        least = 1 - _discounts(k * (1 - min(precision.value - precision.half, 1.0))) / _discounts(k)
        if ndcg.value + ndcg.half < least - ROUNDING:
            text = f"{_show(name, ndcg)} is less than {100 * least:.2f}, the least for {_show(f'P@{k}', precision)}"
            yield Finding(row, IMPOSSIBLE, text)
        elif ndcg.value + ndcg.half < precision.value - precision.half:
            yield Finding(row, UNLIKELY, f"{_show(name, ndcg)} is below {_show(f'P@{k}', precision)}")


def _check_propensity_scored(row: str, values: Values) -> Iterator[Finding]:
    """PSnDCG follows PSP, and both rise with k where they are normalised."""
    for k, name in _cutoffs("PSnDCG", values):
        other = values.get(f"PSP@{k}")
        if other is not None and abs(values[name].value - other.value) > FAR_APART:
            yield Finding(row, UNLIKELY, f"{_show(name, values[name])} is far from {_show(f'PSP@{k}', other)}")
    for (_, name), (_, other_name) in _neighbours("PSnDCG", values):
        a, b = values[name], values[other_name]
        psp = [values.get(each.replace("PSnDCG", "PSP")) for each in (name, other_name)]
        is_rising = psp[0] is not None and psp[1] is not None and psp[1].value > psp[0].value
        if b.value + b.half < a.value - a.half and is_rising:
            yield Finding(row, UNLIKELY, f"{_show(other_name, b)} is below {_show(name, a)}, though PSP rises")


def find_copies(rows: Sequence[tuple[str, Values]]) -> Iterator[Finding]:
    """Yield rows that share several values with an earlier row."""
    for i, (row, values) in enumerate(rows):
        for earlier, others in rows[:i]:
            equal = [name for name, each in values.items() if name in others and others[name].value == each.value]
            equal = [name for name in equal if name not in {"nDCG@1", "PSnDCG@1"}]
            if len(equal) >= COPIED:
                yield Finding(row, UNLIKELY, f"{', '.join(equal)} are those of {earlier}")
                break


def _cutoffs(head: str, values: Values) -> list[tuple[int, str]]:
    """Return the cutoffs of a metric, ascending, with their names."""
    found = [(int(k), name) for name in values for at, _, k in [name.partition("@")] if at == head and k.isdigit()]
    return sorted(found)


def _neighbours(head: str, values: Values) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
    cutoffs = _cutoffs(head, values)
    yield from itertools.pairwise(cutoffs)


def _discounts(depth: float) -> float:
    """Return D, the sum of the first discounts, linear between ranks."""
    whole = math.floor(depth)
    discounts: list[float] = (1 / log2(np.arange(2, whole + 3))).tolist()  # those of the whole ranks, and the next one
    return math.fsum(discounts[:-1]) + (depth - whole) * discounts[-1]


def _show(name: str, printed: Printed) -> str:
    places = max(round(-math.log10(200 * printed.half)), 0) if printed.half else 2
    return f"{name} {100 * printed.value:.{places}f}"
