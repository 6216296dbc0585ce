"""Worker: one thread's way of blocks through the kernels into totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import Fault, counted
from xmceval.labels.bins import Bins
from xmceval.labels.propensity import NOT_NEEDED, Propensities
from xmceval.metrics.names import parse
from xmceval.metrics.table import DEFAULT_NAMES
from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch
from xmceval.rows.checks import LARGEST, LARGEST_EXPONENT, validated_scores, validated_truth
from xmceval.rows.filters import Filter
from xmceval.rows.width import UNKNOWN, Width
from xmceval.scoring.decisions import compute_decisions
from xmceval.scoring.labelwise import LabelCounters
from xmceval.scoring.program import (
    GAINS,
    MOMENTS,
    SLOTS,
    Decisions,
    Labelwise,
    Program,
    TopK,
    WholeRow,
    compile_program,
)
from xmceval.scoring.totals import empty, merge


@dataclass(frozen=True)
class Terms:
    """On what terms rows are scored.

    Attributes
    ----------
    drop_empty : bool
        Leave rows without truth out instead of counting them as 0.
    weights : float64 array [n_rows], optional
        Sample weights, the largest in [1, 2); a row of weight 0 is as good as absent.
    zero_unscored : bool
        Labels without a score have score 0, instead of standing below all that have one.
    filter : Filter, optional
        Pairs taken out of the scores.
    filter_truth : bool
        Take them out of the truth too.
    threshold : float
        Stored labels whose score reaches it are decisions.
    ties : str
        What counts where labels have equal scores: the order by label, the mean over all orders, the best or the worst.
    bins : Bins, optional
        Bins of labels of which each has its share of every number.
    """

    drop_empty: bool = False
    weights: Float64 | None = None
    zero_unscored: bool = False
    filter: Filter | None = None
    filter_truth: bool = False
    threshold: float = -np.inf
    ties: str = "label"
    bins: Bins | None = None


class Ranking(NamedTuple):
    """The best labels of each row, one more than the deepest cut."""

    labels: Int64
    scores: Float64
    n_ranked: Int64


class Worker:
    """One thread's scratch arrays and totals."""

    def __init__(
        self,
        program: Program,
        propensities: Propensities | None,
        width: Width,
        terms: Terms,
        counters: Sequence[LabelCounters] = (),
    ) -> None:
        self._program, self._width, self._terms = program, width, terms
        self._truth, self._scores, self._kept = Scratch(), Scratch(), (Scratch(), Scratch())
        known = propensities or NOT_NEEDED
        self._propensities, self._counters = known, counters
        self._inverse = (known.ids, known.codes, known.inverse)
        self._spaces = [part.working_space() if isinstance(part, TopK) else () for part in program.parts]
        self._ones, self._moments = np.empty(0), np.empty(MOMENTS)
        self._kept_at: NDArray[np.intp] | None = None  # rows that are left of the block, where some have weight 0
        is_exp = any(measure.option("gain") == "exp" for measure in program.measures)
        self._largest = LARGEST_EXPONENT if is_exp else LARGEST
        self._n_bins = 0 if terms.bins is None else len(terms.bins)
        self._by_code = np.zeros(1, dtype=np.int64) if terms.bins is None else terms.bins.by_code
        self.totals = empty(program, self._n_bins)
        self.n_labels = 0

    def add(self, truth: Block, scores: Block, rows_width: int | None, announced: str) -> None:
        """Add the rows of two blocks."""
        from xmceval.kernels import topk as rows
        from xmceval.kernels.totals import add_values

        true, zeros = validated_truth(truth, self._truth, self._width, self._largest)
        given = validated_scores(scores, self._scores, self._width)
        if rows_width is not None:
            _check_length(scores, given, rows_width, announced)
        if self._width.n_labels == UNKNOWN:
            self._see(true)
            self._see(given)
        filtered = self._filter(truth.first_row, true, given)
        true, given, weights = self._weighed(truth, true, given)
        n_rows, depth = given.indptr.size - 1, self._program.deepest + 1
        ranking = Ranking(
            self._scores.array("ranked", n_rows * depth, np.int64).reshape(n_rows, depth),
            self._scores.array("ranked_scores", n_rows * depth, np.float64).reshape(n_rows, depth),
            self._scores.array("n_ranked", n_rows, np.int64),
        )
        rows.top_k(*given, *ranking)
        drop_empty, block = self._terms.drop_empty, empty(self._program, self._n_bins)
        rows.count_rows(true.indptr, given.indptr, *ranking[1:], self._program.cutoffs, drop_empty, block.counts)
        start, unlisted = 0, 0
        for part, space in zip(self._program.parts, self._spaces, strict=True):
            stop = start + len(part.measures)
            relevant, n_dropped = self._relevant(true, part.rel)
            block.left_out[start:stop] = n_dropped
            values = self._slots("outputs", n_rows, stop - start)
            if isinstance(part, TopK):
                shares = self._slots("shares", n_rows if self._n_bins else 0, (stop - start) * self._n_bins)
                self._value_top_k(part, space, relevant, given, ranking, values, shares)
                at = slice(start * self._n_bins, stop * self._n_bins)
                add_values(shares, weights, self._moments, block.shares[at])
            elif isinstance(part, Decisions):
                values.fill(0.0)  # neither these nor whole rows have a ceiling
                self._value_decisions(part, relevant, given, values)
            else:
                values.fill(0.0)
                found = self._value_whole_rows(part, truth, relevant, given, block.left_out[start:stop], values)
                unlisted = max(unlisted, found)
            if self._terms.ties in {"best", "worst"}:
                moved = values[:, :, 2 if self._terms.ties == "best" else 3].copy()
                values[:, :, 0] += moved
                values[:, :, 2:4] -= moved[:, :, None]
            add_values(values, weights, self._moments, block.sums[start:stop])
            start = stop
        for by_label, counters in zip(self._program.labelwise, self._counters, strict=True):
            relevant, _ = self._relevant(true, by_label.rel)
            self._count_labels(by_label, counters, relevant, given, ranking, None if weights is self._ones else weights)
        self.totals = merge(self.totals, replace(block, explicit_zeros=zeros, unlisted=unlisted, filtered=filtered))

    def _filter(self, first_row: int, true: Rows, given: Rows) -> tuple[int, int, int]:
        """Take the pairs of the filter out: return how many predictions, of how many rows, and how many true labels."""
        known = self._terms.filter
        if known is None:
            return 0, 0, 0
        removed, changed = known.apply(first_row, given)
        return removed, changed, known.apply(first_row, true, remove=self._terms.filter_truth)[0]

    def _weighed(self, block: Block, true: Rows, given: Rows) -> tuple[Rows, Rows, Float64]:
        """Return the block's weights, and the rows without those of weight 0."""
        self._kept_at = None
        if self._terms.weights is None:
            return true, given, self._ones
        n_rows = true.indptr.size - 1
        weights = self._terms.weights[block.first_row : block.first_row + n_rows]
        kept = weights > 0
        if kept.all():
            return true, given, weights
        self._kept_at = np.flatnonzero(kept)
        return _rows_where(true, kept, self._kept[0]), _rows_where(given, kept, self._kept[1]), weights[kept]

    def _relevant(self, true: Rows, rel: int) -> tuple[Rows, int]:
        """Return the labels that are true from grade `rel` on, and how many rows are dropped for having none."""
        if rel == 1:
            return true, 0
        n_entries = true.indptr[-1]
        kept = true.values[:n_entries] >= rel
        ends = np.concatenate([[0], np.cumsum(kept)])[true.indptr]
        emptied = np.count_nonzero((np.diff(ends) == 0) & (np.diff(true.indptr) > 0)) if self._terms.drop_empty else 0
        return Rows(ends, true.indices[:n_entries][kept], true.values[:n_entries][kept]), int(emptied)

    def _slots(self, name: str, n_rows: int, n_outputs: int) -> Float64:
        """Return an array for the numbers of rows, whose content does not matter."""
        return self._scores.array(name, n_rows * n_outputs * SLOTS, np.float64).reshape(n_rows, n_outputs, SLOTS)

    def _value_top_k(
        self,
        part: TopK,
        space: tuple[NDArray[Any], ...],
        true: Rows,
        given: Rows,
        ranking: Ranking,
        values: Float64,
        shares: Float64,
    ) -> None:
        from xmceval.kernels import topk as rows

        keys = self._truth.array("keys", _longest(true), np.int64)
        expected = self._expected(part, true, given, ranking)
        rows.compute_rows(
            *(*true, *given, *ranking, *self._inverse),
            *(part.curves, part.discounts, part.outputs, part.slopes, part.levels),
            *(self._terms.drop_empty, expected, self._by_code, *space, keys, values, shares),
        )
        for o, of_true, of_predicted in part.micro:
            n_true, n_predicted = np.diff(true.indptr), np.minimum(ranking.n_ranked, part.outputs[o, 1])
            values[:, o, 1] = (of_true * n_true + of_predicted * n_predicted) * self._kept_rows(true)
            shares[:, o * self._n_bins : (o + 1) * self._n_bins, 1] = values[: len(shares), o, 1:2]

    def _expected(self, part: TopK, true: Rows, given: Rows, ranking: Ranking) -> Float64:
        """Return the mean running sums over the orders of tied labels, or no rows where their order by label counts."""
        if self._terms.ties != "expected":
            return np.empty((0, 1, 1))
        from xmceval.kernels.ties import expect_rows

        expected = np.empty((ranking.n_ranked.size, len(part.curves), part.discounts.shape[1]))
        gain_sums = np.empty(len(GAINS))
        expect_rows(*true, *given, *ranking, *self._inverse, part.curves, part.discounts, gain_sums, expected)
        return expected

    def _kept_rows(self, true: Rows) -> NDArray[np.bool_]:
        """Which rows are not left out."""
        return (np.diff(true.indptr) > 0) | (not self._terms.drop_empty)

    def _value_decisions(self, part: Decisions, true: Rows, given: Rows, values: Float64) -> None:
        from xmceval.kernels.labelwise import count_decisions

        found = self._scores.array("found", 2 * len(values), np.int64).reshape(-1, 2)
        nothing = np.empty((0, 3), dtype=np.int32)
        count_decisions(
            *(*true[:2], *given, self._terms.threshold, np.empty(0, dtype=np.int64), self._terms.drop_empty),
            *(found, nothing),
        )
        compute_decisions(part, found, np.diff(true.indptr), self._width.n_labels, self._kept_rows(true), values)

    def _count_labels(
        self,
        part: Labelwise,
        counters: LabelCounters,
        true: Rows,
        given: Rows,
        ranking: Ranking,
        weights: Float64 | None,
    ) -> None:
        drop_empty = self._terms.drop_empty
        if part.cutoffs.size:
            reach = self._propensities if part.reach else None
            counters.add_ranked(true, ranking.labels, ranking.n_ranked, part.cutoffs, weights, drop_empty, reach)
        else:
            counters.add_decisions(true, given, self._terms.threshold, weights, drop_empty)

    def _value_whole_rows(
        self, part: WholeRow, block: Block, true: Rows, given: Rows, left_out: Int64, values: Float64
    ) -> int:
        """Write values of whole rows; return how many true labels have no score."""
        from xmceval.kernels import wholerow as ranking

        longest = _longest(true)
        found = np.zeros(3, dtype=np.int64)
        space = [self._truth.array(f"hit_{name}", longest, np.int64) for name in ranking.WHOLE_SPACE]
        more = [self._truth.array(f"hit_{name}", longest, np.float64) for name in ranking.REAL_SPACE]
        ranking.compute_whole_rows(
            *(*true, *given, self._width.n_labels, self._terms.zero_unscored, self._terms.drop_empty),
            *(part.specs, part.params, *space, *more, left_out, found, values),
        )
        if found[ranking.FAULT]:
            row = int(found[ranking.ROW] if self._kept_at is None else self._kept_at[found[ranking.ROW]])
            raise Fault(
                block.first_row + row,
                f"{block.place(row)}: a grade is above the greatest of ERR; expected at most its max "
                "(hint: the greatest grade of the scale, such as ERR(max=4)@5)",
            )
        return int(found[ranking.UNLISTED])

    def _see(self, rows: Rows) -> None:
        used = rows.indices[: rows.indptr[-1]]
        if used.size:
            self.n_labels = max(self.n_labels, int(used.max()) + 1)


def _longest(rows: Rows) -> int:
    return int(np.max(np.diff(rows.indptr), initial=1))


def _rows_where(rows: Rows, kept: NDArray[np.bool_], scratch: Scratch) -> Rows:
    """Copy the rows that are kept."""
    lengths = np.diff(rows.indptr)
    entries = np.repeat(kept, lengths)
    n_entries = int(np.count_nonzero(entries))
    some = scratch.rows(int(np.count_nonzero(kept)), n_entries)
    some.indptr[0] = 0
    np.cumsum(lengths[kept], out=some.indptr[1:])
    some.indices[:] = rows.indices[: entries.size][entries]
    some.values[:] = rows.values[: entries.size][entries]
    return some


def _check_length(block: Block, rows: Rows, most: int, announced: str) -> None:
    lengths = np.diff(rows.indptr)
    if lengths.size and lengths.max() > most:
        row = int(np.argmax(lengths > most))
        raise Fault(
            block.first_row + row,
            f"{block.place(row)}: {announced}, and this row has {counted(int(lengths[row]), 'prediction')}: "
            "the header's second number is neither the number of labels nor of predictions a row",
        )


def compile_ahead() -> None:
    """Compile the row kernels of the default metrics into numba's cache, by a run over no rows."""
    from xmceval.kernels import topk as kernels
    from xmceval.kernels.totals import add_values

    program = compile_program(parse(DEFAULT_NAMES))
    worker = Worker(program, None, Width(), Terms())
    [part], [space], block = program.parts, worker._spaces, empty(program)
    nothing = Rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    depth = program.deepest + 1
    ranking = Ranking(np.empty((0, depth), dtype=np.int64), np.empty((0, depth)), np.empty(0, dtype=np.int64))
    values, shares = np.empty((0, len(part.measures), SLOTS)), np.empty((0, 0, SLOTS))
    if isinstance(part, TopK):
        worker._value_top_k(part, space, nothing, nothing, ranking, values, shares)
    add_values(values, np.empty(0), np.empty(MOMENTS), block.sums)
    kernels.count_rows(nothing.indptr, nothing.indptr, *ranking[1:], program.cutoffs, False, block.counts)
