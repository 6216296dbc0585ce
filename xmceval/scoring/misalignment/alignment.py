"""Alignment: whether predictions are for the rows and labels of the truth, judged by a sample of rows.

Hits are compared with their expectation and standard deviation when the rows of the predictions are in random order, so
that a ranking that is the same for every row, such as that by popularity, is no reason for a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from xmceval.errors import counted
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.misalignment.sample import DEPTH, SampledRows

USUAL_GRADE = 10  # larger values are likelier scores than grades

MIN_ROWS = 200  # with a true label and a prediction; with fewer, nothing is judged

SAME_FOR_ALL = 0.9  # of the rows; where more have the same best label, rankings hardly differ between rows

CONTRARY = 0.02  # of the pairs of labels that several rows rank; with fewer in both orders, there is one order for all

NEAR_CHANCE = 3.0  # standard deviations above the hits by chance, up to which rows seem to be in random order

FAR_FROM_CHANCE = 8.0  # standard deviations; hits within so many of those by chance prove nothing

MUCH_BETTER = 3.0  # times the hits, from which on shifted labels are likelier than those predicted

CLEAR_DIFFERENCE = 6.0  # standard deviations between two numbers of hits


@dataclass(frozen=True)
class Hits:
    """True labels at one rank.

    Attributes
    ----------
    number, n_rows : int
    expected, deviation : float
        Mean and standard deviation of the number when the rows of the predictions are in random order.
    share : float
        Of the rows that the result counts, those with a true label; the others count as 0.
    """

    number: int = 0
    n_rows: int = 0
    expected: float = 0.0
    deviation: float = 0.0
    share: float = 1.0

    @property
    def precision(self) -> float:
        """P@1, for the first rank."""
        return self.number * self.share / max(self.n_rows, 1)

    @property
    def chance(self) -> float:
        """The expectation of P@1, for the first rank."""
        return self.expected * self.share / max(self.n_rows, 1)

    @property
    def is_chance(self) -> bool:
        """Whether there are no more than by chance, although a perfect ranking could have far more."""
        could_tell = self.n_rows > self.expected + FAR_FROM_CHANCE * (self.deviation + 1)
        return could_tell and self.number <= self.expected + NEAR_CHANCE * self.deviation

    def is_far_below(self, other: Hits) -> bool:
        """Whether `other` has so many more that it is neither chance nor the popularity of a label."""
        return (
            (other.number >= MUCH_BETTER * self.number or self.is_chance)
            and other.number - self.number > CLEAR_DIFFERENCE * (other.number + self.number) ** 0.5
            and other.number > other.expected + FAR_FROM_CHANCE * (other.deviation + 1)
        )


NO_HITS = Hits()


@dataclass(frozen=True)
class Alignment:
    """How the predictions of a system fit the truth.

    Attributes
    ----------
    hits, below, above : Hits
        Of the best labels: as predicted, and with every predicted label decreased or increased by 1.
    is_random : bool
        Whether rankings differ between rows, and yet hit no more than with the rows in random order.
    like_grades : pair of int, optional
        The range of the best scores where all of them are whole numbers from 0 to USUAL_GRADE, as those of a truth are.
    is_whole : bool
        Whether the sample has all rows with a true label.
    precision : float, optional
        P@1 of the result, where it has one.
    """

    hits: Hits = NO_HITS
    below: Hits = NO_HITS
    above: Hits = NO_HITS
    is_random: bool = False
    like_grades: tuple[int, int] | None = None
    is_whole: bool = True
    precision: float | None = None

    def find_swap(self, greatest_grade: int, *, is_truth_larger: bool) -> str:
        """Describe scores that look like grades where the grades of the truth look like scores; empty otherwise.

        Parameters
        ----------
        greatest_grade : int
            Of the truth.
        is_truth_larger : bool
            Whether the truth has more entries than the predictions.
        """
        if self.like_grades is None:
            return ""
        least, greatest = self.like_grades
        is_binary = least == greatest == 1
        if greatest_grade <= (1 if is_binary and is_truth_larger else USUAL_GRADE):
            return ""
        scores = f"all {least}" if least == greatest else f"whole numbers from {least} to {greatest}"
        values = f"the truth has values up to {greatest_grade:,}, and the scores are {scores}"
        return f"{values}: are truth and predictions swapped?"

    def find_mistake(self, place: str = "") -> str:
        """Describe the likely mistake where rows or labels do not fit together; empty where they do.

        Parameters
        ----------
        place : str
            The predictions, for the message: `` of preds.txt``.
        """
        hits, n_rows = self.hits, self.hits.n_rows
        if n_rows < MIN_ROWS:
            return ""
        precision = hits.precision if self.precision is None else self.precision
        sample = "" if self.is_whole else f" (in a sample of {counted(n_rows, 'instance')})"
        readings = (
            (self.below, "decreased", "1-based, and those of the truth 0-based"),
            (self.above, "increased", "0-based, and those of the truth 1-based"),
        )
        for shifted, change, bases in readings:
            if hits.is_far_below(shifted):
                return (
                    f"P@1 is {precision:.2%}, but {shifted.precision:.2%} with every predicted label {change} by "
                    f"1{sample}: are the labels{place} {bases}?"
                )
        if self.is_random:
            return (
                f"P@1 is {precision:.2%}, and {hits.chance:.2%} with the predictions in random order{sample}: "
                f"are the rows{place} shuffled, the labels numbered differently, or low scores the best?"
            )
        return ""


NO_ALIGNMENT = Alignment()  # of no rows: nothing is known, and nothing is wrong


def measure_alignment(rows: SampledRows, n_rows: int, n_empty: int = 0, *, precision: float | None = None) -> Alignment:
    """Judge a sample out of `n_rows` rows with a true label, beside `n_empty` that count without one."""
    rows_of_label = np.unique(rows.labels, return_counts=True)
    best = rows.ranked[:, 0]
    hits = _expect(rows, best, rows_of_label)
    below, above = (_expect(rows, best + shift, rows_of_label, more_than=hits.number) for shift in (-1, 1))
    is_random = hits.is_chance and not _is_one_order(rows.ranked)
    if is_random:  # a model that is hardly trained may show its little skill at the next ranks only
        deeper = (_expect(rows, rows.ranked[:, j], rows_of_label) for j in range(1, DEPTH))
        is_random = all(each.number <= each.expected + NEAR_CHANCE * each.deviation for each in deeper)
    share = n_rows / (n_rows + n_empty) if n_empty else 1.0
    hits, below, above = (replace(each, share=share) for each in (hits, below, above))
    is_whole = hits.n_rows == n_rows
    return Alignment(hits, below, above, is_random, find_grades(rows.scores), is_whole=is_whole, precision=precision)


def _expect(rows: SampledRows, predicted: Int64, rows_of_label: tuple[Int64, Int64], *, more_than: int = -1) -> Hits:
    """Count how many rows have their predicted label, and compute how many would have it with rows in random order.

    Nothing is expected where there are not `more_than` so many, as nobody asks then.
    """
    n = predicted.size
    number = int(np.count_nonzero(rows.labels == np.repeat(predicted, rows.lengths)))
    if number <= more_than:
        return Hits(number, n)
    # Of all n^2 pairs of a predicted label and a row of truth: the hits by predicted label, and by row of truth.
    by_label = _look_up(predicted, *rows_of_label)
    sums = np.concatenate([[0], np.cumsum(_look_up(rows.labels, *np.unique(predicted, return_counts=True)))])
    ends = np.cumsum(rows.lengths)
    by_row = sums[ends] - sums[ends - rows.lengths]
    total = int(by_label.sum())
    # The variance over all permutations of the rows: squares without the effects of the label and of the row.
    squares = total - (_sum_squares(by_label) + _sum_squares(by_row)) / max(n, 1) + (total / max(n, 1)) ** 2
    return Hits(number, n, total / max(n, 1), (max(squares, 0.0) / max(n - 1, 1)) ** 0.5)


def _look_up(labels: Int64, ids: Int64, counts: Int64) -> Int64:
    """Return the count of each label, 0 for those that are not in the ascending `ids`."""
    if ids.size == 0:
        return np.zeros(labels.size, dtype=np.int64)
    places = np.minimum(np.searchsorted(ids, labels), ids.size - 1)
    return np.where(ids[places] == labels, counts[places], 0)


def _sum_squares(numbers: Int64) -> float:
    return float(np.square(numbers.astype(np.float64)).sum())


def _is_one_order(ranked: Int64) -> bool:
    """Whether all rows rank labels in one order, such as that of popularity, of which each row may lack some."""
    most_common = np.unique(ranked[:, 0], return_counts=True)[1].max()
    if most_common > SAME_FOR_ALL * len(ranked):
        return True
    upper, lower = np.triu_indices(DEPTH, 1)
    pairs = np.stack([ranked[:, upper].ravel(), ranked[:, lower].ravel()])
    pairs = pairs[:, pairs[1] >= 0]
    is_ascending = pairs[0] < pairs[1]
    _, kinds = np.unique(np.sort(pairs, axis=0), axis=1, return_inverse=True)
    n_pairs, n_ascending = np.bincount(kinds.ravel()), np.bincount(kinds.ravel(), weights=is_ascending)
    contrary = np.minimum(n_ascending, n_pairs - n_ascending).sum()
    repeated = n_pairs[n_pairs > 1].sum()
    return bool(repeated > len(ranked) and contrary <= CONTRARY * repeated)


def find_grades(scores: Float64) -> tuple[int, int] | None:
    """Return the range of scores, float64 [n_rows, 2], that could as well be grades, or None."""
    if scores.size == 0 or not (scores == np.floor(scores)).all():
        return None
    least, greatest = float(scores.min()), float(scores.max())
    return (int(least), int(greatest)) if 0 <= least <= greatest <= USUAL_GRADE else None
