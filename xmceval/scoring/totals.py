"""Running totals of scored rows: named arrays for each task, merged by addition.

Sums are exact, and so bit-identical for any order, block size, number of threads or split into shards. The contribution
of each row is rounded once to a multiple of 2^-60 and added as an integer; its square is exact. The rows furthest from
any ratio of the sums are also kept, unrounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError
from xmceval.kernels.metrics.sums import KEPT, LARGEST_TOP, MASK, MOMENTS, WORD, WORDS, add_values
from xmceval.kernels.metrics.topk import EMPTY_ROWS, FIRST_CUTOFF, ROUNDED, ROWS, SLOTS, count_rows
from xmceval.rows.block import Float64, Int64, Rows, SortedRows
from xmceval.rows.checks import LARGEST_GRADE
from xmceval.rows.matrices.storage import count_rounded
from xmceval.scoring.batch import EMPTY_WHOLE, Batch, Whole

if TYPE_CHECKING:
    from xmceval.scoring.setup.setup import Setup

P = TypeVar("P", bound="Part")

MOST_ROWS = 1 << 53
MOST_LABELS = (1 << 63) - 2
LARGEST_ROW = float(1 << 62)  # limit for a row's gain or loss, below which squares can be summed
ROWS_AT_ONCE = 65_536  # rows whose values are copied together
OUT_OF_RANGE = "a sum of squares left the range of exact sums: are the weights or grades too large?"


class Field(NamedTuple):
    """How arrays of one name are added, and which values a state may contain."""

    # ``add(left, right)`` returns the array for the rows of both, new or one of the two; associative and
    # commutative
    add: Callable[[Any, Any], Any]
    low: int | None = None  # the range of the numbers
    high: int | None = None
    # raises ValueError for impossible numbers in a state; called with the name and the array
    check: Callable[[str, Any], None] | None = None


class Part(dict[str, Any]):
    """Named arrays for a set of rows; threads may concurrently `absorb` parts from `begin`."""

    fields: ClassVar[Mapping[str, Field]] = {}
    changed: ClassVar[tuple[str, ...]] = ()  # arrays to which rows are added in place; others are replaced

    def __init__(self, **arrays: Any) -> None:
        super().__init__(arrays)
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __copy__(self: P) -> P:
        part = self.__class__.__new__(self.__class__)
        part.update(self)
        part.__dict__.update(self.__dict__)
        part._lock = threading.Lock()
        return part

    def begin(self) -> Any:
        """Return an empty part for the rows of one block, which this part absorbs later."""
        raise NotImplementedError

    def spare(self: P) -> P:
        """Return a copy to which rows can be added."""
        part = self.__copy__()
        for name in self.changed:
            part[name] = self[name].copy()
        return part

    def absorb(self, other: Any) -> None:
        """Add the rows of another part to this one."""
        with self._lock:
            self.update({name: field.add(self[name], other[name]) for name, field in self.fields.items()})

    def merge(self: P, other: P) -> P:
        """Return the part for the rows of both; associative and commutative."""
        both = copy(self)
        both.absorb(other)
        return both

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store in a state."""
        return dict(self)

    def fill(self, arrays: dict[str, NDArray[Any]], prefix: str) -> None:
        """Remove the arrays of this part from a state and use them; they must have the same shapes."""
        for field_name, field in self.fields.items():
            name = f"{prefix}.{field_name}"
            present = self[field_name]
            array = take(arrays, name, present.dtype.kind, present.shape, field.low, field.high)
            if field.check is not None:
                field.check(name, array)
            self[field_name] = array


def take(
    arrays: dict[str, NDArray[Any]],
    name: str,
    kind: str,
    shape: tuple[int, ...],
    low: float | None = None,
    high: float | None = None,
) -> NDArray[Any]:
    """Remove an array from a file's, and check kind (``"i"``, ``"f"``), shape (-1: of any length) and range."""
    if name not in arrays:
        raise DataError(f"the array {name} is missing")
    array = arrays.pop(name)
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(expected not in {size, -1} for size, expected in sizes):
        raise DataError(f"{name} has shape {array.shape}, expected {shape}")
    if array.dtype.kind != kind:
        raise DataError(f"{name} has numbers of type {array.dtype}")
    if not ((low is None or (array >= low).all()) and (high is None or (array <= high).all())):
        raise DataError(f"{name} has numbers out of their range")
    return array


LARGEST_LABEL, LONGEST_ROW = 1, 2  # places in `Whole`, which follow each other
ONES = np.ones(2)  # the range of the grades of binary truth
EMPTY_RANGE = np.array([np.inf, -np.inf])


def _add_whole(left: Int64, right: Int64) -> Int64:
    """Add counts, but take the maximum of the largest label and the longest row."""
    both: Int64 = left + right
    largest = slice(LARGEST_LABEL, LONGEST_ROW + 1)
    np.maximum(left[largest], right[largest], out=both[largest])
    return both


def _check_whole(name: str, whole: Int64) -> None:
    if np.delete(whole, LARGEST_LABEL).min() < 0:
        raise DataError(f"{name} has a count below 0")


def _widen(left: Float64, right: Float64) -> Float64:
    """Return the range of both; `left` itself if it includes the other."""
    if left is EMPTY_RANGE or left is right:
        return right
    if left[0] <= right[0] and right[1] <= left[1]:
        return left
    return np.array([min(left[0], right[0]), max(left[1], right[1])])


def _range_of(rows: Rows) -> Float64:
    """Return the least and the greatest value in rows, with 0 for -0, which would differ in their bits."""
    values = rows.values[: rows.indptr[-1]]
    return np.array([values.min(initial=np.inf), values.max(initial=-np.inf)]) + 0.0


def _check_range(name: str, values: Float64) -> None:
    least, greatest = values.tolist()
    if not least <= greatest and (least, greatest) != (np.inf, -np.inf):
        raise DataError(f"{name} from {least} to {greatest}")


def _check_grades(name: str, grades: Float64) -> None:
    _check_range(name, grades)
    if grades[0] < 0 or grades[1] > LARGEST_GRADE:
        raise DataError(f"{name} from {grades[0]} to {grades[1]}")


class Tally(Part):
    """Counts of rows, labels, predictions and ties.

    `counts` is an int64 array with the slots of kernels/topk.py: rows, rows without truth, true labels,
    predictions, rows with ties only inside cutoffs, with the lowest float within a cutoff, with ties of rounded
    scores; then for each cutoff the rows with fewer predictions and with a tie across it.

    `whole` is an int64 array [8], as `Whole` has it.

    `grades` is a float64 array [2]: the least and the greatest grade of the truth; infinity and -infinity without any.
    `scores` is the same of the scores, where a threshold is compared with them, but not of labels without scores.
    """

    fields = MappingProxyType(
        {
            "counts": Field(np.add, 0, MOST_ROWS),
            "whole": Field(_add_whole, -1, MOST_LABELS, _check_whole),
            "grades": Field(_widen, check=_check_grades),
            "scores": Field(_widen, check=_check_range),
        }
    )

    changed = ("counts", "whole")

    def __init__(self, n_cutoffs: int) -> None:
        counts = np.zeros(FIRST_CUTOFF + 2 * n_cutoffs, dtype=np.int64)
        super().__init__(counts=counts, whole=np.array(EMPTY_WHOLE), grades=EMPTY_RANGE, scores=EMPTY_RANGE)

    def begin(self) -> Tally:
        """Return counts of no rows."""
        return Tally((self["counts"].size - FIRST_CUTOFF) // 2)

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch, with ties at the cutoffs."""
        truth = batch.truth
        setup = batch.setup
        counts = self["counts"]
        cutoffs = setup.program.cutoffs
        ranked = batch.ranking.arrays
        longest = count_rows(truth.indptr, batch.score_ends, ranked, cutoffs, setup.drop_empty, counts)
        if not cutoffs.size:  # then no ranked scores are looked at
            counts[ROUNDED] += count_rounded(batch.scores.indptr, batch.scores.values[: batch.scores.indptr[-1]])
        whole = self["whole"]
        if batch.whole != EMPTY_WHOLE:
            whole[:] = _add_whole(whole, np.array(batch.whole))
        whole[LONGEST_ROW] = max(whole[LONGEST_ROW], longest)
        grades = ONES
        if not (isinstance(truth, SortedRows) and truth.has_only_ones and truth.largest_label >= 0):
            grades = _range_of(truth)
        self["grades"] = _widen(self["grades"], grades)
        if setup.options.threshold is not None:
            self["scores"] = _widen(self["scores"], _range_of(batch.scores))

    @property
    def whole(self) -> Whole:
        """Counts of whole rows."""
        return Whole(*self["whole"].tolist())

    @property
    def n_rows(self) -> int:
        """The number of rows that count."""
        return int(self["counts"][ROWS])

    def n_instances(self, *, drop_empty: bool) -> int:
        """Return the number of rows read, including rows dropped for lack of true labels."""
        n_instances = int(self["counts"][ROWS])
        if drop_empty:
            n_instances += int(self["counts"][EMPTY_ROWS])
        return n_instances


def no_sums(n: int) -> Int64:
    """Return `n` empty sums, int64 [n, MOMENTS, WORDS]."""
    return np.zeros((n, MOMENTS, WORDS), dtype=np.int64)


def no_extremes(n: int) -> Float64:
    """Return the empty extremes of `n` outputs, [n, 2, KEPT, 2]."""
    extremes = np.empty((n, 2, KEPT, 2))
    extremes.fill(-np.inf)
    return extremes


def merge_extremes(left: Float64, right: Float64) -> Float64:
    """Return the most extreme rows of both, float64 [n, 2, KEPT, 2]; `left` itself if they are all in it."""
    if (left[:, :, 0, 0] == -np.inf).all():  # of no rows
        return right
    if (right[:, :, 0] == left[:, :, -1]).all():
        return left
    both = np.concatenate([left, right], axis=2)
    order = np.lexsort((both[..., 1], -both[..., 0]), axis=-1)[..., :KEPT, None]
    return np.take_along_axis(both, order, axis=2)


def add_words(left: Int64, right: Int64) -> Int64:
    """Add exact sums, int64 [..., WORDS], and carry the bits above 60 into the next word."""
    if not right.size:
        return left
    if not left.any():  # of no rows
        return right
    sums: Int64 = left + right
    carries = sums[..., :-1] >> WORD
    while carries.any():
        sums[..., :-1] &= MASK
        sums[..., 1:] += carries
        carries = sums[..., :-1] >> WORD
    tops = sums[..., -1]
    if tops.max() >= LARGEST_TOP or tops.min() <= -LARGEST_TOP:
        raise DataError(OUT_OF_RANGE)
    return sums


def check_words(name: str, words: Int64) -> None:
    """Refuse exact sums, int64 [..., WORDS], unless they are words of 60 bits with the sign in the last."""
    if words.size and not 0 <= int(words[..., :-1].min()) <= int(words[..., :-1].max()) <= MASK:
        raise DataError(f"{name} has words of more than {WORD} bits")
    if words.size and not -LARGEST_TOP < int(words[..., -1].min()) <= int(words[..., -1].max()) < LARGEST_TOP:
        raise DataError(f"{name} has sums out of range")


def check_true(name: str, true: Int64) -> None:
    """Refuse `true`, int64 [2], with more unscored true labels than true labels."""
    if true[0] > true[1]:
        raise DataError(f"{name} has {true[0]:,} labels of {true[1]:,}")


def check_extremes(name: str, extremes: Float64) -> None:
    """Refuse extreme rows, float64 [n, 2, KEPT, 2], that are out of order; missing rows must come last."""
    first = extremes[..., 0]
    second = extremes[..., 1]
    is_missing = np.isneginf(first) & np.isneginf(second)
    is_in_order = (first[..., :-1] > first[..., 1:]) | (
        (first[..., :-1] == first[..., 1:]) & (second[..., :-1] <= second[..., 1:])
    )
    if not (is_missing | (np.isfinite(first) & np.isfinite(second))).all() or not is_in_order.all():
        raise DataError(f"{name} has rows that are not finite, or not in their order")
    if extremes.max(initial=0) >= LARGEST_ROW or extremes[np.isfinite(extremes)].min(initial=0) <= -LARGEST_ROW:
        raise DataError(f"{name} has rows out of range")


class Sums(Part):
    """Sums of per-row values: of `n_outputs` measures, and of the shares of label bins in them.

    The int64 arrays are `sums` and `shares` [n, MOMENTS, WORDS], bin by bin for each output; `left_out`
    [n_outputs], the number of rows without a value; and `true` [2], the numbers of unscored and of all true
    labels if whole rows are scored, or for decisions, twice the number of decisions. The float64 array
    `extremes` [n_outputs + n_shares, 2, KEPT, 2] has the rows of each output, then of each share, that gain and
    lose most, as kept by `add_values`, and minus infinity for missing rows.
    """

    fields = MappingProxyType(
        {
            "sums": Field(add_words, check=check_words),
            "shares": Field(add_words, check=check_words),
            "left_out": Field(np.add, 0, MOST_ROWS),
            "true": Field(np.add, 0, check=check_true),
            "extremes": Field(merge_extremes, check=check_extremes),
        }
    )

    changed = ("sums", "shares", "extremes")

    def __init__(self, n_outputs: int, n_shares: int = 0) -> None:
        super().__init__(
            sums=no_sums(n_outputs),
            shares=no_sums(n_shares),
            left_out=np.zeros(n_outputs, dtype=np.int64),
            true=np.zeros(2, dtype=np.int64),
            extremes=no_extremes(n_outputs + n_shares),
        )

    def begin(self) -> Sums:
        """Return empty sums, to be added to these later."""
        sums = Sums(len(self["sums"]), len(self["shares"]))
        # Rows less extreme than the last one kept here need not be kept: merging them would change nothing.
        sums["extremes"] = self["extremes"][:, :, -1:].repeat(KEPT, axis=2)
        return sums


def add_rows(values: Float64, weights: Float64) -> tuple[Int64, Float64]:
    """Return the sums and extremes, as in `Sums`, of values [n_rows, n_outputs, 2], optionally weighted."""
    n_rows, n_outputs, n_slots = values.shape
    sums = no_sums(n_outputs)
    extremes = no_extremes(n_outputs)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        padded = np.zeros((len(values[some]), n_outputs, SLOTS))
        padded[:, :, :n_slots] = values[some]
        if add_values(padded, weights[some], sums, extremes) >= 0:
            raise DataError(OUT_OF_RANGE)
    return sums, extremes


@dataclass(frozen=True)
class Totals:
    """The totals of the rows of a system: a tally, one part per task, and the same for each group of rows."""

    tally: Tally
    parts: tuple[Any, ...]
    groups: tuple[Totals, ...] = ()

    def begin(self) -> Totals:
        """Return empty totals for the rows of one block, which these totals absorb later."""
        return Totals(self.tally.begin(), tuple([part.begin() for part in self.parts]))

    def absorb(self, other: Totals) -> None:
        """Add the rows of totals of the same program, except groups; threads may do so concurrently."""
        self.tally.absorb(other.tally)
        for part, its_part in zip(self.parts, other.parts, strict=True):
            part.absorb(its_part)

    def spare(self) -> Totals:
        """Return a copy to which rows can be added; it shares the counters by label, which are too large to copy."""
        return Totals(self.tally.spare(), tuple([part.spare() for part in self.parts]))

    def merge(self, other: Totals) -> Totals:
        """Return the totals over the rows of both, for the same program; associative and commutative."""
        parts = (one.merge(two) for one, two in zip(self.parts, other.parts, strict=True))
        groups = (one.merge(two) for one, two in zip(self.groups, other.groups, strict=True))
        return Totals(self.tally.merge(other.tally), tuple(parts), tuple(groups))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all parts for a state, keyed by the names of part and field."""
        return {f"{prefix}.{name}": array for prefix, part in self._named for name, array in part.arrays().items()}

    def fill(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Remove the arrays of these totals from a state and use them."""
        for prefix, part in self._named:
            part.fill(arrays, prefix)

    @property
    def _named(self) -> list[tuple[str, Part]]:
        return [("tally", self.tally), *((str(number), part) for number, part in enumerate(self.parts))]


def empty(setup: Setup) -> Totals:
    """Return empty totals."""
    groups: tuple[Totals, ...] = ()
    if setup.groups is not None:
        alone = replace(setup, groups=None)
        groups = tuple(empty(alone) for _ in setup.groups.names)
    program = setup.program
    return Totals(Tally(len(program.cutoffs)), tuple([task.empty(setup) for task in program.tasks]), groups)


def largest_label(rows: Rows) -> int:
    """Return the largest label in rows, or -1."""
    if isinstance(rows, SortedRows):
        return rows.largest_label
    return int(rows.indices[: rows.indptr[-1]].max(initial=-1))
