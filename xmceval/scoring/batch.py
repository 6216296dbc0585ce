"""A batch: the rows of one system in one block, checked, filtered, weighted and ranked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault
from xmceval.kernels.metrics import ranking
from xmceval.kernels.metrics.labelwise import find_decisions, match_cells
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch
from xmceval.scoring.setup.setup import Setup

NONE_OMITTED = np.empty(0, dtype=np.int64)


class Ranking(NamedTuple):
    """The best labels of each row, one more than the deepest cutoff."""

    labels: Int64  # int64 [n_rows, depth]
    scores: Float64  # float64 [n_rows, depth]
    n_ranked: Int64  # int64 [n_rows]; the number of labels per row
    n_tied: int  # the number of rows with a tie among them

    @property
    def arrays(self) -> tuple[Int64, Float64, Int64]:
        """The arrays, for kernels."""
        return self.labels, self.scores, self.n_ranked


Pairs = tuple[Int64, Int64]  # indices of rows, ascending, and their labels; int64 arrays [n_pairs]
NO_PAIRS: Pairs = (NONE_OMITTED, NONE_OMITTED)


class Decided(NamedTuple):
    """The decisions in a batch of rows."""

    counts: Int64  # int64 array [n_rows, 2]; hits and decisions per row; dropped rows have none
    # int64 array [at least the number of decisions]; twice the label of each decision, plus 1 for a hit
    labels: Int64
    largest: int  # the largest label with a score, or -1


class Whole(NamedTuple):
    """Counts over whole rows, in the order of `Tally["whole"]`."""

    explicit_zeros: int  # stored zeros of the truth, which are not labels
    largest_label: int  # the largest label seen, if no input declares the number of labels, or -1
    longest_row: int  # the largest number of predictions in a row
    unpredicted: int  # scores of -inf, which are not predictions
    binary_rows: int  # dense rows of 0 and 1, whose ones are decisions
    removed: int  # predictions removed by a filter, their rows, and true labels that are filtered pairs
    rows_changed: int
    in_truth: int


EMPTY_WHOLE = Whole(0, -1, 0, 0, 0, 0, 0, 0)


@dataclass
class Batch:
    """Rows of truth and of one system's scores, ready for the tasks."""

    setup: Setup
    block: Block  # the block of the truth, for places
    truth: Rows  # without rows of weight 0 and filtered pairs
    scores: Rows
    ranking: Ranking
    weights: Float64  # float64 array [n_rows]; empty if all rows count 1
    whole: Whole  # counts over whole rows of the block, but for the longest row
    kept: NDArray[np.intp] | None  # the indices of these rows in the block, if some have weight 0
    scratch: Scratch
    # int64 array [n_rows + 1], optional; the cumulative numbers of labels with a score, if `scores` has only
    # the labels that count
    ends: Int64 | None = None
    # int64 array [n_rows], in this case; the number of labels, none of them true, that tie with the last of the
    # ranking and are missing from `scores`. Otherwise empty.
    omitted: Int64 = field(default_factory=lambda: NONE_OMITTED)
    threshold: float = -np.inf  # labels with at least this score are decisions
    _relevant: dict[float, tuple[Rows, int]] = field(default_factory=dict)
    _decided: dict[tuple[float, bool], Decided] = field(default_factory=dict)

    @cached_property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.truth.indptr.size - 1

    def where(self, kept: NDArray[np.bool_], name: str) -> Batch:
        """Copy the rows selected by `kept`, bool [n_rows], into arrays of the scratch space with this name."""
        ranking = self.ranking
        ends = self.ends
        if ends is not None:
            ends = np.concatenate([[0], np.cumsum(np.diff(ends)[kept])])
        return replace(
            self,
            truth=rows_where(self.truth, kept, self.scratch, f"{name} truth"),
            scores=rows_where(self.scores, kept, self.scratch, f"{name} scores"),
            ranking=Ranking(ranking.labels[kept], ranking.scores[kept], ranking.n_ranked[kept], ranking.n_tied),
            weights=self.weights[kept] if self.weights.size else self.weights,
            kept=self.rows_of_block[kept],
            ends=ends,
            omitted=self.omitted[kept] if self.omitted.size else self.omitted,
            _relevant={},
            _decided={},
        )

    @property
    def rows_of_block(self) -> Int64:
        """The numbers of the rows in their block, int64 [n_rows]."""
        if self.kept is None:
            return np.arange(self.n_rows)
        return self.kept

    @property
    def score_ends(self) -> Int64:
        """0, and the cumulative numbers of labels with a score, int64 [n_rows + 1]."""
        return self.scores.indptr if self.ends is None else self.ends

    def relevant(self, rel: float) -> tuple[Rows, int]:
        """Return the labels with a grade of at least `rel`, and the number of rows dropped for lack of them."""
        if rel == 0:
            return self.truth, 0
        if rel not in self._relevant:
            indptr, indices, grades = self.truth
            n_entries = indptr[-1]
            kept = grades[:n_entries] >= rel
            ends = np.concatenate([[0], np.cumsum(kept)])[indptr]
            n_emptied = 0
            if self.setup.drop_empty:
                n_emptied = int(np.count_nonzero((np.diff(ends) == 0) & (np.diff(indptr) > 0)))
            self._relevant[rel] = Rows(ends, indices[:n_entries][kept], grades[:n_entries][kept]), n_emptied
        return self._relevant[rel]

    def decided(self, rel: float, *, is_at_n: bool = False) -> Decided:
        """Return the decisions, and which of them are hits for true labels of at least grade `rel`.

        With `is_at_n` they are the best labels of each row, as many as it has true labels.
        """
        key = rel, is_at_n
        if key not in self._decided:
            truth, _ = self.relevant(rel)
            scores = self.scores
            threshold = self.threshold
            if is_at_n:
                scores = take_best(scores, np.diff(truth.indptr))
                threshold = -np.inf
            self._decided[key] = find_decided(
                truth, scores, threshold, self.scratch, name=f"{key}", drop_empty=self.setup.drop_empty
            )
        return self._decided[key]

    def filtered(self, rel: float) -> tuple[Pairs, Pairs]:
        """Return the filtered pairs that are true, with a grade of at least `rel`, and all others, which are left out.

        Pairs in dropped rows, and pairs with a label beyond the number of labels, have no effect.
        """
        pairs = self.setup.filter
        if pairs is None:
            return NO_PAIRS, NO_PAIRS
        truth, _ = self.relevant(rel)
        first_row = self.block.first_row
        numbers = first_row + self.rows_of_block
        rows, labels = pairs.between(first_row, first_row + self.block.n_rows)
        counts = np.isin(rows, numbers[self.is_counted(truth)]) & (labels < self.setup.n_labels)
        rows = np.searchsorted(numbers, rows[counts])
        labels = labels[counts]
        ends = np.searchsorted(rows, np.arange(self.n_rows + 1))
        is_true = np.empty(rows.size, dtype=np.bool_)
        is_filtered = np.empty(truth.indices.size, dtype=np.bool_)
        match_cells(*truth[:2], ends, labels, is_true, is_filtered)
        return (rows[is_true], labels[is_true]), (rows[~is_true], labels[~is_true])

    def n_labels(self, rel: float) -> Int64:
        """Return the number of labels that count in each row, int64 [n_rows], or [1] if all rows have the same.

        A predicted name that is no label is one more label of its row, which is not true.
        """
        n_labels = np.array([self.setup.n_labels], dtype=np.int64)
        if self.setup.options.unknown_labels == "miss":
            n_before = np.cumsum(np.append(0, self.scores.indices >= n_labels))
            n_labels = n_labels + np.diff(n_before[self.scores.indptr])
        if self.setup.filter is None:
            return n_labels
        _, (rows, _) = self.filtered(rel)
        return n_labels - np.bincount(rows, minlength=self.n_rows)

    def is_counted(self, truth: Rows) -> NDArray[np.bool_]:
        """Return which rows are not dropped for lack of true labels, bool [n_rows]."""
        return (np.diff(truth.indptr) > 0) | (not self.setup.drop_empty)

    def values(self, name: str, n_rows: int, n_outputs: int) -> Float64:
        """Return an uninitialised array [n_rows, n_outputs, SLOTS] for the values of rows."""
        return self.scratch.held(name, (name, n_rows, n_outputs), _make_values)

    def fault(self, row: int, problem: str) -> Fault:
        """Make a fault for a row of this batch."""
        if self.kept is not None:
            row = int(self.kept[row])
        return Fault(self.block.first_row + row, f"{self.block.place(row)}: {problem}")


def find_decided(
    truth: Rows, scores: Rows, threshold: float, scratch: Scratch, *, name: str = "", drop_empty: bool = False
) -> Decided:
    """Find the decisions in rows: the labels whose score is at least the threshold, in arrays of this name."""
    n_stored = int(scores.indptr[-1])
    counts = scratch.array(f"decisions of rows {name}", 2 * (truth.indptr.size - 1), np.int64).reshape(-1, 2)
    labels = scratch.array(f"decisions {name}", n_stored, np.int64)
    find_decisions(*truth[:2], *scores, threshold, drop_empty, counts, labels)
    return Decided(counts, labels, int(scores.indices[:n_stored].max(initial=-1)))


def take_best(scores: Rows, n: Int64) -> Rows:
    """Return the `n` best labels of each row, best first; `n` is int64 [n_rows] or [1]."""
    lengths = np.diff(scores.indptr)
    row = np.repeat(np.arange(lengths.size), lengths)
    order = np.lexsort((scores.indices[: row.size], -scores.values[: row.size], row))
    kept = np.minimum(lengths, n)
    best = order[np.arange(row.size) - scores.indptr[row] < kept[row]]
    return Rows(np.concatenate([[0], np.cumsum(kept)]), scores.indices[best], scores.values[best])


def rank(scores: Rows, depth: int, scratch: Scratch) -> Ranking:
    """Return the `depth` best labels of each row."""
    arrays, space = scratch.held("ranking", (scores.indptr.size - 1, depth), _make_ranking)
    if depth > ranking.SHALLOW:
        return Ranking(*arrays, ranking.top_many(tuple(scores), arrays, space))
    return Ranking(*arrays, ranking.top_k(tuple(scores), arrays, space[1]))


def _make_ranking(
    scratch: Scratch, n_rows: int, depth: int
) -> tuple[tuple[Int64, Float64, Int64], tuple[Int64, Float64]]:
    """Return the arrays of a ranking, and its scratch space."""
    labels = scratch.array("ranked", n_rows * depth, np.int64).reshape(n_rows, depth)
    scores = scratch.array("ranked_scores", n_rows * depth, np.float64).reshape(n_rows, depth)
    room = max(4 * depth, ranking.LANES)
    space = scratch.array("candidates", room, np.int64), scratch.array("candidate_scores", room, np.float64)
    return (labels, scores, scratch.array("n_ranked", n_rows, np.int64)), space


def _make_values(scratch: Scratch, name: str, n_rows: int, n_outputs: int) -> Float64:
    return scratch.array(name, n_rows * n_outputs * SLOTS, np.float64).reshape(n_rows, n_outputs, SLOTS)


class JointRows(ABC):
    """Collects the values of several systems on the same rows, as sums of their differences or in full."""

    has_sums: ClassVar[bool] = True  # or labels, which can be sent to other processes, instead of values

    def add_system(self, number: int, batch: Batch, computed: Sequence[Any]) -> None:  # noqa: B027 - most need no more
        """Add what tasks computed for a block of one system, before the next system overwrites it."""

    @abstractmethod
    def add_batch(self, batch: Batch, values: Sequence[Float64], shares: Sequence[Float64]) -> None:
        """Add the values of a block, by system [n_rows, n_columns, 2], and the shares of bins, if any."""

    def absorb(self, other: Self) -> None:
        """Add the sums of other rows, except the sums of groups."""
        raise NotImplementedError


def longest(rows: Rows) -> int:
    """Return the number of entries in the longest row, at least 1."""
    return int((rows.indptr[1:] - rows.indptr[:-1]).max(initial=1))


def rows_where(rows: Rows, kept: NDArray[np.bool_], scratch: Scratch, name: str) -> Rows:
    """Copy the rows selected by `kept`, bool [n_rows]."""
    lengths = np.diff(rows.indptr)
    entries = np.repeat(kept, lengths)
    copy = scratch.rows(int(np.count_nonzero(kept)), int(np.count_nonzero(entries)), f"{name} ")
    copy.indptr[0] = 0
    np.cumsum(lengths[kept], out=copy.indptr[1:])
    copy.indices[:] = rows.indices[: entries.size][entries]
    copy.values[:] = rows.values[: entries.size][entries]
    return copy
