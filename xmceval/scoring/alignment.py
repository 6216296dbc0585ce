"""Judge from the first rows, and the result, whether predictions match the rows and labels of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Doubt, argument, counted
from xmceval.rows.block import Block, Float64, Int64, Rows
from xmceval.rows.nouns import Nouns
from xmceval.scoring.batch import Batch, find_decided
from xmceval.scoring.setup.setup import Setup

if TYPE_CHECKING:
    from xmceval.scoring.summary import Counts, Value

N_ROWS = 1000  # number of first rows to examine
MIN_ROWS = 200  # rows with a true label and a prediction; below, only low and high scores are compared
NO_LABEL = -9  # neither a label nor next to one
LEAST_ROWS = 3  # rows needed to doubt the order of scores
LEAST_LISTS = 40  # rows of lists, to doubt that they are ranked
NEARLY_ALL = 0.95  # the share of these rows in which labels ascend
LEAST_LABELED = 20  # rows, in which labels or grades are alike by more than chance

NEAR_CHANCE = 3.0  # standard deviations above chance; below this, rows look shuffled
FAR_FROM_CHANCE = 8.0  # standard deviations above chance; below this, nothing is proven
MUCH_BETTER = 3.0  # ratio of hits
CLEAR_DIFFERENCE = 6.0  # standard deviations between two numbers of hits
OF_FEW = 4.0  # standard deviations required with fewer than MIN_ROWS rows
N_PAIRINGS = 20  # pairings with labels of other rows
LEAST_PAIRS = 20  # pairs of labels that are true together
LEAST_EXPECTED = 3.0  # hits of labels at random; where fewer are expected, none is no surprise
LEAST_MISSED = 10  # the same for a whole result, whose values are 0
_OF_HITS = "P@1 is"  # begins doubts of hits; others end with the question below
_BELONG = "do truth and predictions belong together?"

QUESTIONS = (
    ("every predicted label decreased by 1", "are the labels{} 1-based, and the truth's 0-based?"),
    ("every predicted label increased by 1", "are the labels{} 0-based, and the truth's 1-based?"),
    ("the predictions moved up by one row", "do the predictions{} have a row too many at the start?"),
    ("the predictions moved down by one row", "do the predictions{} lack their first row?"),
    ("the lowest score of each row as the best", "are low scores{} the best?"),
)


# Kinds of scores in a row: all equal or infinite; three or more distinct ones, stored in ascending order, or
# not.
UNKNOWN, EQUAL, ORDERED, RISING = range(4)


class FirstRows(NamedTuple):
    """The first rows of a block, up to N_ROWS of all rows: their true labels, and the predictions of one system."""

    first_row: int
    system: int  # its number
    lengths: Int64  # int64 [n_rows]; the number of true labels
    labels: Int64  # int64 [n_true]; the true labels, row by row
    grades: Float64  # float64 [n_true]
    best: Int64  # int64 [n_rows, 2]; the two best labels, or NO_LABEL
    last: Int64  # int64 [n_rows]; the label with the lowest score, or NO_LABEL if none or unknown
    ends: Float64  # float64 [n_rows, 2]; the scores of the first and the last ranked label
    n_scored: Int64  # int64 [n_rows]; the number of labels with a score
    kinds: Int64  # int64 [n_rows]; the kinds of the scores
    ascends: NDArray[np.bool_]  # bool [n_rows]; whether at least two labels are stored in ascending order
    n_hits: Int64  # int64 [n_rows]; the number of scored labels that are true; 0 where a best label is true

    @classmethod
    def join(cls, pieces: Sequence[FirstRows]) -> FirstRows:
        """Return the first rows of all blocks, of one system, in order."""
        if len(pieces) == 1:
            return pieces[0]
        ordered = sorted(pieces, key=lambda piece: piece.first_row)
        return cls(*ordered[0][:2], *map(np.concatenate, zip(*(piece[2:] for piece in ordered), strict=True)))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.lengths.size

    def count_hits(self, predicted: Int64) -> int:
        """Count the true labels that equal the label predicted in their row, int64 [n_rows]."""
        return int(np.count_nonzero(self.labels == np.repeat(predicted, self.lengths)))


@dataclass(frozen=True)
class FirstPrecision:
    """P@1 of the first rows, and what it would be if rows or labels did not match.

    `precision_at_1` is of the `n_rows` first rows, at most 1,000, where rows without a true label count as 0.
    `random_order` is expected of the same predictions in random order, `labels_shifted` is reached by them with every
    label one more, or less if that is better; None where labels are documents. `is_clearly_better` says whether P@1
    is above both, and above the first one by more than chance explains.
    """

    n_rows: int
    precision_at_1: float
    random_order: float
    labels_shifted: float | None
    is_clearly_better: bool


def copy_first_rows(system: int, batch: Batch, block: Block | None, pieces: list[FirstRows]) -> None:
    """Copy the rows of a batch that are among the first rows, if any, and describe their scores.

    `block` is the block of scores; None if there are too few rows to detect that low scores are best.
    """
    first_row = batch.block.first_row
    n = N_ROWS - first_row
    if batch.kept is None:
        n = min(n, batch.n_rows)
    else:
        n = int(np.searchsorted(batch.kept, n))
    if n <= 0:
        return
    indptr = batch.truth.indptr[: n + 1]
    true = batch.truth.indices[: indptr[-1]]
    grades = batch.truth.values[: indptr[-1]]
    labels, scores, n_ranked = (array[:n] for array in batch.ranking.arrays)
    best = np.full((n, 2), NO_LABEL)
    depth = min(2, labels.shape[1])
    best[:, :depth] = np.where(np.arange(depth) < n_ranked[:, None], labels[:, :depth], NO_LABEL)
    ends = np.stack([scores[:, 0], scores[np.arange(n), n_ranked - 1]], axis=1)
    lengths = np.diff(indptr)
    n_scored = np.diff(batch.score_ends[: n + 1])
    n_best_hits = int(np.count_nonzero(true == np.repeat(best[:, 0], lengths)))
    n_hits = np.zeros(n, dtype=np.int64)
    if batch.ends is None:
        last, kinds, ascends = _describe_scores(batch.scores, n)
        if n_best_hits == 0:
            first_scores = Rows(batch.scores.indptr[: n + 1], batch.scores.indices, batch.scores.values)
            n_hits = find_decided(Rows(indptr, true, grades), first_scores, -np.inf, batch.scratch).counts[:, 0].copy()
    else:
        # Selected labels of a dense row: all scores are equal if every label is selected or ties with the last
        # one.
        n_equal = np.diff(batch.scores.indptr[: n + 1]) + batch.omitted[:n]
        kinds = np.where((n_scored > 1) & (n_equal == n_scored) & (ends[:, 0] == ends[:, 1]), EQUAL, UNKNOWN)
        last = np.full(n, NO_LABEL)
        ascends = np.zeros(n, dtype=np.bool_)
        # If a third of the best labels are hits, low scores are not best.
        if block is not None and MUCH_BETTER * n_best_hits < n:
            kept = batch.rows_of_block[:n]
            lowest = block.stored.lowest_labels(int(kept[-1]) + 1)
            if lowest is not None:
                last = np.where(best[:, 0] >= 0, lowest[kept], NO_LABEL)
    arrays = best, last, ends, n_scored, kinds, ascends, n_hits
    pieces.append(FirstRows(first_row, system, lengths, true.copy(), grades.copy(), *arrays))


def find_doubts(
    pieces: Sequence[FirstRows],
    system: int = 0,
    place: str = "",
    *,
    setup: Setup,
    n_labels: int,
    are_lists: bool = False,
) -> tuple[str, Sequence[Doubt]]:
    """Return the likely mistake shown by the first rows of a system, and reasons to doubt its labels and scores.

    `pieces` are from all systems and blocks, in any order; `place` names the predictions, such as `` of
    preds.txt``. With `are_lists`, labels are ranked only by their order. Scores are doubted if a metric ranks by
    them, and there is no mistake that would explain them. Lines of queries may be in any order.
    """
    of_system = [piece for piece in pieces if piece.system == system]
    if not of_system:
        return "", ()
    rows = FirstRows.join(of_system)
    n_rows = rows.lengths.size
    sample = ""
    if n_rows == N_ROWS:
        sample = f" (in the first {counted(n_rows, 'instance')})"
    n_counted = n_rows
    if setup.drop_empty:
        n_counted = int(np.count_nonzero(rows.lengths))
    order_counts = not setup.nouns.are_of_queries
    doubts = list[Doubt]()
    if n_rows >= LEAST_LABELED:
        if order_counts and setup.subset is None:  # else these are not the ids
            doubts += _doubt_labels(rows, place, are_lists=are_lists)
        if setup.options.grades:
            doubts += _doubt_grades(rows)
    mistake = ""
    number = -1
    if n_rows > OF_FEW**2:  # else there are too few hits for a clear difference
        number = rows.count_hits(rows.best[:, 0])
        mistake = _find_mistake(rows, number, n_counted, place, sample)
    if not mistake and any(measure.needs_order for measure in setup.program.measures):
        if number == 0:
            doubts += _doubt_hits(rows, n_labels, place, sample)
        doubts += _doubt_scores(rows, place, sample, order_counts=order_counts, are_lists=are_lists)
    return mistake, doubts


def compare_with_chance(pieces: Sequence[FirstRows], *, are_documents: bool = False) -> FirstPrecision:
    """Compare P@1 of the first rows of one system (at least one) with unrelated predictions."""
    rows = FirstRows.join(pieces)
    best = rows.best[:, 0]
    n_rows = rows.n_rows
    number = rows.count_hits(best)
    chance = _Chance.of(rows, best)
    is_clear = number > chance.expected + NEAR_CHANCE * (chance.deviation + 1)
    if are_documents:  # whose numbers mean nothing
        return FirstPrecision(n_rows, number / n_rows, chance.expected / n_rows, None, is_clear)
    shifted = max(rows.count_hits(best - 1), rows.count_hits(best + 1))
    is_best = is_clear and number > shifted
    return FirstPrecision(n_rows, number / n_rows, chance.expected / n_rows, shifted / n_rows, is_best)


def _find_mistake(rows: FirstRows, number: int, n_counted: int, place: str, sample: str) -> str:
    """Describe the wrong order that rows, labels or scores seem to have; empty if they look correct.

    `number` best labels are hits; P@1 is over ``n_counted`` rows. Labels or rows seem to be shifted by one, or low
    scores to be best, if three conditions hold: P@1 read in this way is three times as large, or P@1 read normally is
    no better than for a random order of rows; the difference is at least 6 standard deviations; and the larger P@1 is
    at least 8 standard deviations above P@1 of a random order, so that popular labels cannot explain it. With fewer
    than MIN_ROWS rows only low scores may seem to be best, if both numbers are at least 4 standard deviations.

    Rows seem to be shuffled if the two best labels of a row hit no more often than in a random order of rows,
    although the model is not weak: its two best labels of a row are true together (in any row) far more often
    than its best label and the second label of another row. A weak model has not learned which labels belong
    together, a model that ranks by popularity has no such pairs, and one label per row proves nothing.
    """
    best, second = rows.best.T
    are_many = np.count_nonzero((rows.lengths > 0) & (best >= 0)) >= MIN_ROWS
    up = np.append(best[1:], NO_LABEL)
    down = np.append(NO_LABEL, best[:-1])
    clear = CLEAR_DIFFERENCE
    far = FAR_FROM_CHANCE
    lowest = np.where(rows.kinds == EQUAL, NO_LABEL, rows.last)
    changes = list(zip((best - 1, best + 1, up, down, lowest), QUESTIONS, strict=True))
    if not are_many:
        clear = OF_FEW
        far = OF_FEW
        changes = changes[-1:]  # only low scores
    for other, (change, question) in changes:
        others = rows.count_hits(other)
        if others - number > clear * (others + number) ** 0.5:
            chance = _Chance.of(rows, other)
            is_better = others >= MUCH_BETTER * number or _Chance.of(rows, best).explains(number)
            if is_better and others > chance.expected + far * (chance.deviation + 1):
                values = f"{_OF_HITS} {number / n_counted:.2%}, but {others / n_counted:.2%} with {change}"
                return f"{values}{sample}: {question.format(place)}"
    if not are_many:
        return ""
    n_alike = np.unique(best, return_counts=True)[1].max()
    most = n_alike * rows.labels.size / best.size  # upper bound on hits by chance
    if number > most + NEAR_CHANCE * (2 * most) ** 0.5:  # the usual case, without the slower tests
        return ""
    chance, deeper = (_Chance.of(rows, predicted) for predicted in (best, second))
    is_chance = chance.explains(number) and deeper.explains(rows.count_hits(second))
    if is_chance and _are_true_together(rows):
        values = f"{_OF_HITS} {number / n_counted:.2%}, and {chance.expected / n_counted:.2%} with the predictions in"
        return f"{values} random order{sample}: are the rows{place} shuffled?"
    return ""


def _doubt_labels(rows: FirstRows, place: str, *, are_lists: bool) -> Iterator[Doubt]:
    """Yield doubts about a label of every row that counts up or is the same, as row numbers and constants do.

    In a truth with one label per row, each row may well have its own. A label that is true in every row is one of the
    best of any model, and a best label that is the same in every row is true in some. In rows of one length, first
    labels that always hit and never are second, while second ones miss, are a column of ids rather than rankings.
    """
    best = rows.best[:, 0]
    n_rows = best.size
    numbers = "are these row numbers, read as labels?"
    constant = "is it a constant, read as a label?"
    sample = f"each of the first {n_rows:,} instances"
    if 2 * np.count_nonzero(rows.lengths > 1) > n_rows:
        for label in _find_in_every_row(rows, step=1):
            is_found = (rows.best == (label + np.arange(n_rows))[:, None]).any(axis=1)
            if are_lists or 2 * np.count_nonzero(is_found) < n_rows:  # item i may be the best match of row i
                yield Doubt(f"the truth has {_count_from(label)}, one in {sample}: {numbers}")
        for label in _find_in_every_row(rows, step=0):
            if not (rows.best == label).any():
                yield Doubt(
                    f"label {label} is true in {sample}, and none of the two best predictions{place}: {constant}"
                )
            elif are_lists and (best == label).all():
                yield Doubt(f"label {label} is true in {sample}, and the first prediction{place}: {constant}")
    first = int(best[0])
    n_hits = rows.count_hits(best)
    width = rows.lengths[0]
    second = rows.best[:, 1]
    are_even = width > 1 and (rows.lengths == width).all() and (rows.n_scored == width).all()
    is_key = n_hits == n_rows > rows.count_hits(second) and not np.isin(second, best).any()
    if are_lists and are_even and is_key:
        yield Doubt(
            f"the first prediction{place} is true in {sample}, and never the second in any: are these columns, such as "
            "user, item and rating, read as labels? (hint: name the columns)"
        )
    if first < 0 or 2 * n_hits >= n_rows:
        return
    if (best == first + np.arange(n_rows)).all():
        yield Doubt(f"the first predictions{place} are {_count_from(first)}, one in {sample}: {numbers}")
    if are_lists and n_hits == 0 and (best == first).all() and (rows.best[:, 1] != rows.best[0, 1]).any():
        yield Doubt(f"label {first} is the first prediction{place} in {sample}, and true in none: {constant}")


def _count_from(label: int) -> str:
    return f"the labels {label}, {label + 1}, {label + 2} and so on"


def _find_in_every_row(rows: FirstRows, *, step: int) -> list[int]:
    """Return the label that is true in every row, larger by `step` from each row to the next, if it is the only one."""
    shared = set(rows.labels[: rows.lengths[0]].tolist())
    for row, (start, end) in enumerate(pairwise([0, *np.cumsum(rows.lengths).tolist()])):
        shared.intersection_update((rows.labels[start:end] - step * row).tolist())
        if not shared:
            break
    if len(shared) > 1:
        return []
    return list(shared)


def _doubt_grades(rows: FirstRows) -> Iterator[Doubt]:
    """Yield the doubt that declared grades are ids, if they all differ within each row.

    There are then more values than a row has, unlike where rows hold grades 1 to n, each once.
    """
    row_of = np.repeat(np.arange(rows.n_rows), rows.lengths)
    order = np.lexsort((rows.grades, row_of))
    is_repeated = (np.diff(rows.grades[order]) == 0) & (np.diff(row_of) == 0)
    are_several = np.count_nonzero(rows.lengths > 1) >= LEAST_LABELED and not (rows.grades % 1).any()
    if are_several and not is_repeated.any() and np.unique(rows.grades).size > rows.lengths.max():
        yield Doubt(
            f"the grades of the truth all differ within each of the first {rows.n_rows:,} instances, as ids do: are "
            f"they ids of labels? (hint: pass lists of ids, without {argument('grades')})"
        )


def _doubt_hits(rows: FirstRows, n_labels: int, place: str, sample: str) -> Iterator[Doubt]:
    """Yield the doubt that, like the best labels, the others hit no more often than labels at random.

    A weak model may have no hit among the best labels of many, but its lists are better than random ones.
    """
    n_scored = rows.n_scored
    is_used = (rows.lengths > 0) & (n_scored > 0)
    if np.count_nonzero(is_used) < MIN_ROWS:
        return
    hits = int(rows.n_hits.sum())
    expected = float(n_scored @ rows.lengths) / n_labels
    deviation = expected**0.5
    possible = int(np.minimum(n_scored, rows.lengths).sum())
    could_tell = expected >= LEAST_EXPECTED and possible > expected + FAR_FROM_CHANCE * (deviation + 1)
    if could_tell and hits == 0:
        yield Doubt(f"no prediction{place} is true{sample}, and about {expected:,.0f} would be by chance: {_BELONG}")
    elif could_tell and hits <= expected + NEAR_CHANCE * deviation:
        shown = f"{hits:,} of {counted(int(n_scored.sum()), 'prediction')}{place} {'is' if hits == 1 else 'are'} true"
        yield Doubt(f"{_OF_HITS} 0.00%, and {shown}{sample}, no more than by chance: {_BELONG}")


def doubt_misses(
    counts: Counts, figures: Sequence[Value], nouns: Nouns, warnings: Sequence[str] = ()
) -> Iterator[Doubt]:
    """Yield the doubt that no label within a cutoff is true, although random labels would have some hits.

    Not if `find_doubts` already doubted the hits of the first rows in one of the `warnings`.
    """
    if any(line.startswith(_OF_HITS) or line.endswith(_BELONG) for line in warnings):
        return
    zeros = [
        figure.measure
        for figure in figures
        if figure.measure.metric.counts_hits and figure.measure.rel == 0 and figure.estimate.value == 0
    ]
    if not zeros or counts.n_true == 0:
        return
    per_row = counts.n_predictions / counts.n_instances
    deepest = max(zeros, key=lambda measure: min(per_row, measure.k or per_row))
    expected = min(per_row, deepest.k or per_row) * counts.n_true / counts.n_labels
    if expected >= LEAST_MISSED:
        missed = f"no {nouns.prediction}"
        if deepest.k == 1:
            missed = f"no {nouns.label} at rank 1"
        elif deepest.k is not None:
            missed = f"no {nouns.label} at ranks 1 to {deepest.k}"
        yield Doubt(
            f"{missed} is {'relevant' if nouns.are_of_queries else 'true'} in "
            f"{counted(counts.n_instances, nouns.row)}, and about {expected:,.0f} would be by chance: {_BELONG}"
        )


def _doubt_scores(rows: FirstRows, place: str, sample: str, *, order_counts: bool, are_lists: bool) -> Iterator[Doubt]:
    """Yield the doubt that low scores are best, or that scores rank nothing, if most rows give reason for it.

    Rows with three or more distinct scores that are stored in ascending order are suspicious, unless labels
    ascend too, or the highest score hits more often than the lowest. Rows with a single prediction prove
    nothing. Lists seem to be unranked if nearly all rows ascend, unless all rows have the same list.
    """
    n_equal, n_ordered, n_rising = (int(np.count_nonzero(rows.kinds == kind)) for kind in (EQUAL, ORDERED, RISING))
    n_distinct = n_rising + n_ordered
    n_several = int(np.count_nonzero(rows.n_scored > 1))
    is_rising = order_counts and 2 * n_rising > n_distinct >= LEAST_ROWS
    if is_rising and rows.count_hits(rows.best[:, 0]) <= rows.count_hits(rows.last):
        where = f"{n_rising:,} of {counted(n_distinct, 'instance')} with three or more distinct scores{sample}"
        yield Doubt(f"the scores{place} are stored in ascending order in {where}: are low scores the best?")
    if 2 * n_equal > n_several >= LEAST_ROWS:
        where = f"{n_equal:,} of {counted(n_several, 'instance')} with two or more predictions{sample}"
        yield Doubt(f"all scores{place} are equal or infinite in {where}: they rank no label above another")
    n_ascending = int(np.count_nonzero(rows.ascends))
    are_one = are_lists and bool((rows.best == rows.best[:1]).all())  # such as the most popular labels
    if are_lists and not are_one and n_several >= LEAST_LISTS and n_ascending >= NEARLY_ALL * n_several:
        yield Doubt(
            f"the predicted labels{place} ascend in {n_ascending:,} of {counted(n_several, 'instance')} with two or "
            f"more{sample}: are they sets, whose order means nothing? (hint: for sets, use "
            "P(norm=returned)@all or metrics of decisions)"
        )


class _Chance(NamedTuple):
    """Mean and deviation of the number of hits in `n_rows` rows, over all permutations of the predictions."""

    expected: float
    deviation: float
    n_rows: int

    @classmethod
    def of(cls, rows: FirstRows, predicted: Int64) -> _Chance:
        """Compute chance for predicted labels, int64 [n_rows]."""
        ids, n_predicted = np.unique(predicted, return_counts=True)
        places = np.minimum(np.searchsorted(ids, rows.labels), ids.size - 1)
        weights = np.where(ids[places] == rows.labels, n_predicted[places], 0)  # rows that predict each true label
        n = predicted.size
        n_true = np.bincount(places[weights > 0], minlength=ids.size)
        of_entry = np.repeat(np.arange(n), rows.lengths)
        by_row = np.bincount(of_entry, weights, minlength=n)
        total = float(weights.sum())
        # The variance over all permutations of rows: squares without the main effects of label and row.
        squares = total - (float((n_predicted * n_true**2).sum()) + float((by_row**2).sum())) / n + (total / n) ** 2
        return cls(total / n, (max(squares, 0.0) / max(n - 1, 1)) ** 0.5, n)

    def explains(self, number: int) -> bool:
        """Whether there are no more hits than by chance, although a perfect ranking would have far more."""
        could_tell = self.n_rows > self.expected + FAR_FROM_CHANCE * (self.deviation + 1)
        return could_tell and number <= self.expected + NEAR_CHANCE * self.deviation


def _are_true_together(rows: FirstRows) -> bool:
    """Return whether a row's two best labels are true together far more often than labels of different rows.

    A row where both are true has less weight the more frequent its labels are, so that rare pairs count most.
    """
    order = np.argsort(rows.labels, kind="stable")
    n = rows.n_rows
    row_of = np.repeat(np.arange(n), rows.lengths)[order]
    is_true = np.zeros((2, n, n))  # for both labels of a row, whether they are true in each row
    for of_rank, predicted in zip(is_true, rows.best.T, strict=True):
        starts, stops = (np.searchsorted(rows.labels, predicted, side, order) for side in ("left", "right"))
        for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
            of_rank[row, row_of[start:stop]] = 1 / max(stop - start, 1)
    together = is_true[0] * is_true[1]
    others = [(is_true[0] * np.roll(is_true[1], by, axis=0)).sum() for by in range(1, N_PAIRINGS + 1)]
    is_far_above = together.sum() > np.mean(others) + FAR_FROM_CHANCE * np.std(others)
    return bool(is_far_above and np.count_nonzero(together.any(axis=1)) >= LEAST_PAIRS)


def _describe_scores(scores: Rows, n: int) -> tuple[Int64, Int64, NDArray[np.bool_]]:
    """Return `last`, `kinds` and `ascends`, as in `FirstRows`, of the first scores, which are not selected."""
    starts = scores.indptr[:n]
    lengths = np.diff(scores.indptr[: n + 1])
    labels, values = (array[: scores.indptr[n]] for array in scores[1:])
    last = np.full(lengths.size, NO_LABEL)
    kinds = np.full(lengths.size, UNKNOWN)
    ascends = np.zeros(lengths.size, dtype=np.bool_)
    has_any = lengths > 0
    if not has_any.any():
        return last, kinds, ascends
    starts = starts[has_any]
    lengths = lengths[has_any]
    low = np.minimum.reduceat(values, starts)
    high = np.maximum.reduceat(values, starts)
    all_low = np.repeat(low, lengths)
    lowest = np.flatnonzero(values == all_low)
    last[has_any] = labels[lowest[np.searchsorted(lowest, starts)]]
    is_between = (values > all_low) & (values < np.repeat(high, lengths))
    has_three = np.logical_or.reduceat(is_between, starts)
    falls, is_back = np.zeros((2, values.size), dtype=bool)
    np.less(values[1:], values[:-1], out=falls[1:])
    np.less(labels[1:], labels[:-1], out=is_back[1:])
    falls[starts] = is_back[starts] = False  # the first of a row has no predecessor
    has_fall, has_back = (np.logical_or.reduceat(steps, starts) for steps in (falls, is_back))
    kinds_of_any = np.where(has_three, np.where(has_back & ~has_fall, RISING, ORDERED), UNKNOWN)
    kinds_of_any[(low == high) | np.isinf(low) & np.isinf(high) & ~has_three] = EQUAL
    kinds_of_any[lengths < 2] = UNKNOWN
    kinds[has_any] = kinds_of_any
    ascends[has_any] = ~has_back & (lengths > 1)
    return last, kinds, ascends
