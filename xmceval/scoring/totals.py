"""Totals: a tally of rows and the parts of the tasks, which add up exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.kernels.metrics.topk import EMPTY_ROWS, FIRST_CUTOFF, ROWS, count_rows
from xmceval.rows.block import Int64, Rows, SortedRows
from xmceval.rows.checks import LARGEST_GRADE
from xmceval.rows.locked import Locked
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.limbs import first_mark, join, last_mark, mark, split, split_like
from xmceval.scoring.misalignment.sample import Sample
from xmceval.scoring.program import Program
from xmceval.scoring.states.sketch import Sketch
from xmceval.scoring.states.stored import MOST_LABELS, MOST_ROWS, fill_part, take

if TYPE_CHECKING:
    from xmceval.scoring.states.rowdigests import RowDigests


@dataclass(frozen=True)
class Filtered:
    """What a filter did to some rows: predictions removed, rows they were in, and true labels that are pairs of it."""

    removed: int = 0
    rows_changed: int = 0
    in_truth: int = 0

    def __add__(self, other: Filtered) -> Filtered:
        return Filtered(
            self.removed + other.removed, self.rows_changed + other.rows_changed, self.in_truth + other.in_truth
        )


class Tally(Locked):
    """Counts of rows, labels, predictions and ties, and a sample of the rows; threads may add at the same time.

    Attributes
    ----------
    counts : int64 array
        By the slots of kernels/topk.py: rows, rows without truth, true labels, predictions, rows with ties inside the
        cutoffs only; then for each cutoff the rows with fewer predictions and the rows with a tie across it.
    explicit_zeros : int
        Stored zeros of the truth, which are not labels.
    largest_label : int
        The largest label seen, where no input declares the number of labels; -1 without any.
    grades : pair of float
        The least and the greatest grade of the truth; infinity and -infinity without any.
    longest_row : int
        The most predictions of a row.
    filtered : Filtered
    sample : Sample
    sketch : Sketch
    digests : RowDigests, optional
        They and the sketch are for totals that are saved or merged; without them the sketch is of no rows.
    """

    def __init__(self, n_cutoffs: int, digests: RowDigests | None = None) -> None:
        super().__init__()
        self.counts: Int64 = np.zeros(FIRST_CUTOFF + 2 * n_cutoffs, dtype=np.int64)
        self.explicit_zeros = 0
        self.largest_label = -1
        self.grades = (np.inf, -np.inf)
        self.longest_row = 0
        self.filtered = Filtered()
        self.sample, self.sketch, self.digests = Sample(), Sketch(), digests

    def add(self, batch: Batch, cutoffs: Int64, explicit_zeros: int, filtered: Filtered, largest_label: int) -> None:
        """Count the rows of a batch."""
        counts = np.zeros(self.counts.size, dtype=np.int64)
        truth, ends = batch.truth, batch.score_ends
        count_rows(truth.indptr, ends, batch.ranking.arrays, cutoffs, batch.terms.drop_empty, counts)
        self._add(counts, explicit_zeros, filtered, largest_label)
        self._extend(_grades(truth), int((ends[1:] - ends[:-1]).max(initial=1)))
        self.sample.add(batch)
        if self.digests is not None:
            self.sketch.add(self.digests.add(batch))

    def _extend(self, grades: tuple[float, float], longest_row: int) -> None:
        with self._lock:
            self.grades = (min(self.grades[0], grades[0]), max(self.grades[1], grades[1]))
            self.longest_row = max(self.longest_row, longest_row)

    def _add(self, counts: Int64, explicit_zeros: int, filtered: Filtered, largest_label: int) -> None:
        with self._lock:
            self.counts += counts
            self.explicit_zeros += explicit_zeros
            self.filtered += filtered
            self.largest_label = max(self.largest_label, largest_label)

    @property
    def n_rows(self) -> int:
        """Rows that are not left out."""
        return int(self.counts[ROWS])

    def n_instances(self, *, drop_empty: bool) -> int:
        """Return the rows read, those that are left out for having no true label too."""
        return self.n_rows + (int(self.counts[EMPTY_ROWS]) if drop_empty else 0)

    def merge(self, other: Tally) -> Tally:
        """Return the counts of the rows of both."""
        merged = Tally((self.counts.size - FIRST_CUTOFF) // 2)
        for each in (self, other):
            merged._add(each.counts, each.explicit_zeros, each.filtered, each.largest_label)
            merged._extend(each.grades, each.longest_row)
        merged.sample, merged.sketch = self.sample.merge(other.sample), self.sketch.merge(other.sketch)
        digests = [each.digests for each in (self, other) if each.digests is not None]
        merged.digests = digests[0].merge(digests[1]) if len(digests) == 2 else next(iter(digests), None)
        return merged

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them."""
        filtered = self.filtered.removed, self.filtered.rows_changed, self.filtered.in_truth
        whole = [self.explicit_zeros, self.largest_label, self.longest_row, *filtered]
        return {
            "counts": self.counts,
            "whole": np.array(whole, dtype=np.int64),
            "grades": np.array(self.grades).view(np.int64),
            **{f"sample.{name}": array for name, array in self.sample.arrays().items()},
            **{f"sketch.{name}": array for name, array in self.sketch.arrays().items()},
        }

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state."""
        self.counts = take(arrays, "counts", self.counts.shape, 0, MOST_ROWS)
        whole = take(arrays, "whole", (6,), -1, MOST_LABELS).tolist()
        least, greatest = take(arrays, "grades", (2,)).view(np.float64).tolist()
        self.explicit_zeros, self.largest_label, self.longest_row, *filtered = whole
        if min(self.explicit_zeros, self.longest_row, *filtered) < 0:
            raise ValueError("whole has a count below 0")
        if not 0 <= least <= greatest <= LARGEST_GRADE and (least, greatest) != (np.inf, -np.inf):
            raise ValueError(f"grades from {least} to {greatest}")
        self.filtered, self.grades = Filtered(*filtered), (least, greatest)
        fill_part(self.sample, "sample", arrays)
        fill_part(self.sketch, "sketch", arrays)

    def limbs(self) -> Int64:
        """Return the counts as limbs, without the longest row and the sample of rows.

        A grade up to GRADES is kept; above, the power of two below it.
        """
        counts = np.append(self.counts, self.explicit_zeros)
        least, greatest = ((_grade_place(grade) if self.grades[0] < np.inf else None) for grade in self.grades)
        return np.concatenate([split(counts), mark(least, GRADE_PLACES), mark(greatest, GRADE_PLACES)])

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the counts that sums of limbs stand for."""
        sizes = [2 * (self.counts.size + 1), GRADE_PLACES, GRADE_PLACES]
        counts, least, greatest = split_like(limbs, sizes)
        self.counts, self.explicit_zeros = join(counts)[:-1].copy(), int(join(counts)[-1])
        if least.any():
            self.grades = _grade_at(first_mark(least)), _grade_at(last_mark(greatest))


@dataclass(frozen=True)
class Totals:
    """What the rows of a system amount to: a tally, and one part per task."""

    tally: Tally
    parts: tuple[Any, ...]


def empty(program: Program, terms: Terms) -> Totals:
    """Return totals of no rows."""
    digests = None
    if terms.digests_rows:
        from xmceval.scoring.states.rowdigests import (  # at each start, they cost time to load
            DEPTH_OF_WHOLE_ROWS,
            RowDigests,
        )

        digests = RowDigests(DEPTH_OF_WHOLE_ROWS if program.needs_scores else 0)
    return Totals(Tally(len(program.cutoffs), digests), tuple(task.empty(terms) for task in program.tasks))


def merge(program: Program, left: Totals, right: Totals) -> Totals:
    """Add two totals of the same program; associative, and commutative."""
    parts = zip(program.tasks, left.parts, right.parts, strict=True)
    return Totals(left.tally.merge(right.tally), tuple(task.merge(*pair) for task, *pair in parts))


GRADES = 32  # from 0 on: kept as they are where states are added element by element
GRADE_PLACES = GRADES + 64


def _grade_place(grade: float) -> int:
    """Return the place of a grade: its own up to GRADES, above that of the power of two below it."""
    return int(grade) if grade < GRADES else GRADES + math.frexp(grade / GRADES)[1] - 1


def _grade_at(place: int) -> float:
    """Return the grade of a place."""
    return float(place) if place < GRADES else math.ldexp(GRADES, place - GRADES)


def largest_label(rows: Rows) -> int:
    """Return the largest label of some rows, -1 without any."""
    if isinstance(rows, SortedRows):
        return rows.largest_label
    return int(rows.indices[: rows.indptr[-1]].max(initial=-1))


def _grades(truth: Rows) -> tuple[float, float]:
    """Return the least and the greatest grade, infinity and -infinity without any."""
    grades = truth.values[: truth.indptr[-1]]
    if isinstance(truth, SortedRows) and truth.has_only_ones:
        grades = grades[:1]
    return float(grades.min(initial=np.inf)), float(grades.max(initial=-np.inf))
