"""Totals: a tally of rows and the parts of the tasks, which add up exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.topk import EMPTY_ROWS, FIRST_CUTOFF, ROUNDED, ROWS, count_rows
from xmceval.rows.block import Float64, Int64, Rows, SortedRows, read_only
from xmceval.rows.checks import LARGEST_GRADE
from xmceval.rows.matrices.storage import count_rounded
from xmceval.scoring.batch import Batch
from xmceval.scoring.parts import MOST_LABELS, MOST_ROWS, Field, Part
from xmceval.scoring.setup import Setup


class Filtered(NamedTuple):
    """What a filter did to some rows: predictions removed, rows they were in, and true labels that are pairs of it."""

    removed: int = 0
    rows_changed: int = 0
    in_truth: int = 0


# Places in `whole`; the last three are as `Filtered` has them.
EXPLICIT_ZEROS, LARGEST_LABEL, LONGEST_ROW, UNPREDICTED, BINARY_ROWS, REMOVED, ROWS_CHANGED, IN_TRUTH = range(8)
ONES = np.ones(2)  # the range of the grades of binary truth


def empty_whole() -> Int64:
    """Return the counts of no rows."""
    return np.array([0, -1, 0, 0, 0, 0, 0, 0], dtype=np.int64)


def _add_whole(left: Int64, right: Int64) -> Int64:
    """Add counts; of the largest label and the longest row, take the larger one."""
    both: Int64 = left + right
    largest = slice(LARGEST_LABEL, LONGEST_ROW + 1)
    np.maximum(left[largest], right[largest], out=both[largest])
    return both


def _check_whole(name: str, whole: Int64) -> None:
    if min(int(each) for place, each in enumerate(whole) if place != LARGEST_LABEL) < 0:
        raise ValueError(f"{name} has a count below 0")


def _widen(left: Float64, right: Float64) -> Float64:
    """Return the range of the grades of both; `left` itself where it has that of the other."""
    if left[0] <= right[0] and right[1] <= left[1]:
        return left
    return np.array([min(left[0], right[0]), max(left[1], right[1])])


def _check_grades(name: str, grades: Float64) -> None:
    least, greatest = grades.tolist()
    if not 0 <= least <= greatest <= LARGEST_GRADE and (least, greatest) != (np.inf, -np.inf):
        raise ValueError(f"{name} from {least} to {greatest}")


class Tally(Part):
    """Counts of rows, labels, predictions and ties.

    `counts` is an int64 array by the slots of kernels/topk.py: rows, rows without truth, true labels, predictions, rows
    with ties inside the cutoffs only, with the lowest float within a cutoff, with ties of rounded scores; then for each
    cutoff the rows with fewer predictions and the rows with a tie across it.

    `whole` is an int64 array [8]: the stored zeros of the truth, which are not labels; the largest label seen, where no
    input declares the number of labels, or -1; the most predictions of a row; the scores of -inf, which are no
    predictions; the dense rows of 0 and 1, which are decisions; then as `Filtered` has it.

    `grades` is a float64 array [2]: the least and the greatest grade of the truth; infinity and -infinity without any.
    """

    fields = MappingProxyType(
        {
            "counts": Field(np.add, 0, MOST_ROWS),
            "whole": Field(_add_whole, -1, MOST_LABELS, _check_whole),
            "grades": Field(_widen, check=_check_grades),
        }
    )

    def __init__(self, n_cutoffs: int) -> None:
        super().__init__(
            {
                "counts": np.zeros(FIRST_CUTOFF + 2 * n_cutoffs, dtype=np.int64),
                "whole": empty_whole(),
                "grades": np.array([np.inf, -np.inf]),
            }
        )

    def begin(self) -> Tally:
        """Return counts of no rows."""
        return Tally((self["counts"].size - FIRST_CUTOFF) // 2)

    def add(self, batch: Batch, cutoffs: Int64, whole: Int64) -> None:
        """Count the rows of a batch, and their predictions and ties at `cutoffs`, int64 [n_cutoffs].

        `whole` are the other counts of the batch, but for the longest row.
        """
        truth, ends, counts = batch.truth, batch.score_ends, self["counts"]
        whole[LONGEST_ROW] = count_rows(
            truth.indptr, ends, batch.ranking.arrays, read_only(cutoffs), batch.setup.drop_empty, counts
        )
        if not cutoffs.size:  # then no ranked scores are looked at
            counts[ROUNDED] += count_rounded(batch.scores.indptr, batch.scores.values[: batch.scores.indptr[-1]])
        self.values["whole"] = _add_whole(self["whole"], whole)
        self.values["grades"] = _widen(self["grades"], _grades(truth))

    @property
    def explicit_zeros(self) -> int:
        """Stored zeros of the truth."""
        return int(self["whole"][EXPLICIT_ZEROS])

    @property
    def largest_label(self) -> int:
        """The largest label seen."""
        return int(self["whole"][LARGEST_LABEL])

    @property
    def longest_row(self) -> int:
        """The most predictions of a row."""
        return int(self["whole"][LONGEST_ROW])

    @property
    def unpredicted(self) -> int:
        """The scores of -inf, which are no predictions."""
        return int(self["whole"][UNPREDICTED])

    @property
    def binary_rows(self) -> int:
        """The dense rows of 0 and 1 whose ones are decisions."""
        return int(self["whole"][BINARY_ROWS])

    @property
    def filtered(self) -> Filtered:
        """What the filter did."""
        return Filtered(*self["whole"][REMOVED:].tolist())

    @property
    def n_rows(self) -> int:
        """Rows that are not left out."""
        return int(self["counts"][ROWS])

    def n_instances(self, *, drop_empty: bool) -> int:
        """Return the rows read, those that are left out for having no true label too."""
        return self.n_rows + (int(self["counts"][EMPTY_ROWS]) if drop_empty else 0)


@dataclass(frozen=True)
class Totals:
    """What the rows of a system amount to: a tally, one part per task, the same of each group of rows."""

    tally: Tally
    parts: tuple[Any, ...]
    groups: tuple[Totals, ...] = ()

    def begin(self) -> Totals:
        """Return totals to which the rows of one block are added, before these absorb them."""
        return Totals(self.tally.begin(), tuple([part.begin() for part in self.parts]))

    def absorb(self, other: Totals) -> None:
        """Add the rows of totals of the same program, but for those of groups; threads may do so at the same time."""
        self.tally.absorb(other.tally)
        for part, its_part in zip(self.parts, other.parts, strict=True):
            part.absorb(its_part)

    def spare(self) -> Totals:
        """Return totals to which rows are added; these are as they were until they adopt them."""
        return Totals(self.tally.spare(), tuple([part.spare() for part in self.parts]))

    def adopt(self, spare: Totals) -> Totals:
        """Return the totals with the rows that were added to their spare ones."""
        parts = [part.adopt(its_part) for part, its_part in zip(self.parts, spare.parts, strict=True)]
        return Totals(spare.tally, tuple(parts))

    def merge(self, other: Totals) -> Totals:
        """Return the totals of the rows of both, of the same program; associative, and commutative."""
        parts = (one.merge(two) for one, two in zip(self.parts, other.parts, strict=True))
        groups = (one.merge(two) for one, two in zip(self.groups, other.groups, strict=True))
        return Totals(self.tally.merge(other.tally), tuple(parts), tuple(groups))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all parts, as a state holds them: under the name of a part, and that of its field."""
        return {f"{prefix}.{name}": array for prefix, part in self._named for name, array in part.arrays().items()}

    def fill(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take the arrays of a state, which are removed from it."""
        for prefix, part in self._named:
            names = [name for name in arrays if name.startswith(f"{prefix}.")]
            of_part = {name.removeprefix(f"{prefix}."): arrays.pop(name) for name in names}
            try:
                part.fill(of_part)
            except ValueError as error:
                raise ValueError(f"{prefix}: {error}") from None
            for name in of_part:
                raise ValueError(f"there is no array {prefix}.{name}")

    @property
    def _named(self) -> list[tuple[str, Part]]:
        return [("tally", self.tally), *((str(number), part) for number, part in enumerate(self.parts))]


def empty(setup: Setup) -> Totals:
    """Return totals of no rows."""
    groups: tuple[Totals, ...] = ()
    if setup.groups is not None:
        alone = replace(setup, groups=None)
        groups = tuple(empty(alone) for _ in setup.groups.names)
    program = setup.program
    return Totals(Tally(len(program.cutoffs)), tuple([task.empty(setup) for task in program.tasks]), groups)


def largest_label(rows: Rows) -> int:
    """Return the largest label of some rows, -1 without any."""
    if isinstance(rows, SortedRows):
        return rows.largest_label
    return int(rows.indices[: rows.indptr[-1]].max(initial=-1))


def _grades(truth: Rows) -> Float64:
    """Return the least and the greatest grade, infinity and -infinity without any."""
    if isinstance(truth, SortedRows) and truth.has_only_ones and truth.largest_label >= 0:
        return ONES
    grades = truth.values[: truth.indptr[-1]]
    return np.array([grades.min(initial=np.inf), grades.max(initial=-np.inf)])
