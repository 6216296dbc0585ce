"""Test differences of label-wise metrics, computed anew for systems exchanged, or for weights drawn, in each row.

At cutoffs, p is the share of random exchanges with at least as large a difference (Yeh, COLING 2000). Systems that
predict different numbers of labels cannot be exchanged where just their values are equal, so p of decisions is from
t, with the standard error of the intervals: the deviation over draws that weight each row by an exponential variate
(Rubin, The Bayesian bootstrap, Annals of Statistics 1981). No weight is 0, so that a label with one positive row
keeps it; and a nonlinear metric is biased in the draws, which is why their quantiles are no interval.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from xmceval.comparison.difference import Difference
from xmceval.comparison.paired import DRAWS, SLACK, PairedT, Resampling, p_value
from xmceval.comparison.pairs import Cost
from xmceval.comparison.sums import Pair
from xmceval.kernels.metrics.labelwise import DECISIONS
from xmceval.kernels.metrics.resampling import (
    DRAWS_PER_WORD,
    LANES,
    N_SPACE,
    ONE_FRACTION,
    TWO_FRACTIONS,
    count_entries,
    draw_bits,
    draw_weights,
    exchange_rows,
    list_entries,
    weigh_rows,
)
from xmceval.kernels.metrics.sums import FEW_DIFFER
from xmceval.labels.propensity import NO_IDS
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATES, Cells
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch, JointRows
from xmceval.scoring.estimates import t_quantile
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.tasks.label_counts import COMPACT_ABOVE, LabelCounters, LabelRows
from xmceval.scoring.tasks.labelwise import Coverage, LabelCells, LabelRate, Labelwise, MacroMean, Means, table_of
from xmceval.scoring.totals import Totals

N_WEIGHTED = 128  # draws of weights: the standard error is then within 12 % of that from any number of them
MOST_ENTRIES = 1 << 22  # listed at once, 4 bytes each
ALL_RANKS = 1 << 62
MOST_ROWS = 1 << 28  # with flags, they fit in the 4 bytes of entries
MOST_IN_4_BYTES = np.iinfo(np.int32).max
ONE = 4096  # the weight 1 in the units of random weights
EXCHANGES, WEIGHTS = 1 << 40, 1 << 41  # the first streams of random numbers, apart from those of other tests


class Lists(NamedTuple):
    """Labels of rows, best first."""

    indptr: Int64  # int64 [n_rows + 1]
    labels: Any  # int32 [n_entries], or int64 where that is too small


class ListedRows(NamedTuple):
    """The true and the predicted labels of the rows of a block."""

    rows: Int64  # [n_rows]; their numbers
    units: Float64  # [n_rows]; their weights, 0 for rows that are dropped
    truth: Lists
    predicted: list[Lists]  # by system

    def by_position(self, labels: Int64) -> ListedRows:
        """Replace labels by their positions among sorted labels."""
        truth, *predicted = (
            Lists(of_rows.indptr, np.searchsorted(labels, of_rows.labels).astype(np.int32))
            for of_rows in (self.truth, *self.predicted)
        )
        return self._replace(truth=truth, predicted=predicted)


class HeldLabels(JointRows):
    """The labels that are true, and that systems predict, in each row, by the number of the task: 4 bytes each.

    Threads may add concurrently.
    """

    def __init__(self, tested: Mapping[int, Sequence[Measure]]) -> None:
        self.tested = tested  # the measures of each task, as `find_tested` returns them
        self._blocks: dict[int, list[ListedRows]] = {number: [] for number in tested}
        self._begun: dict[tuple[int, int], ListedRows] = {}  # by task and first row
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def absorb(self, other: Self) -> None:
        """Add the blocks of other rows."""
        for task, blocks in self._blocks.items():
            blocks.extend(other._blocks[task])

    def add_system(self, number: int, batch: Batch, computed: Sequence[LabelRows]) -> None:
        """Copy the labels of a block."""
        for task in self._blocks:
            key = task, batch.block.first_row
            if number == 0:
                self._begun[key] = _list_truth(computed[task], batch)
            self._begun[key].predicted.append(_list_predicted(computed[task]))

    def add_batch(self, batch: Batch, values: Sequence[Float64], shares: Sequence[Float64]) -> None:  # noqa: ARG002
        """Finish a block, whose labels `add_system` copied."""
        with self._lock:
            for task, blocks in self._blocks.items():
                blocks.append(self._begun.pop((task, batch.block.first_row)))

    def estimate_cost(self, setup: Setup, n_pairs: int) -> Cost:
        """Return what comparing pairs of systems will cost."""
        n_groups = 1 + (0 if setup.groups is None else len(setup.groups.names))
        blocks = [block for of_task in self._blocks.values() for block in of_task]
        n_cutoffs = sum(len({measure.k for measure in measures}) for measures in self.tested.values())
        n_rows = sum(block.rows.size for block in blocks) // len(self._blocks)
        n_bytes = sum(of_rows.labels.nbytes for block in blocks for of_rows in (block.truth, *block.predicted))
        return Cost(n_pairs * n_cutoffs * n_groups, DRAWS, n_rows, n_bytes, setup.nouns.row)

    def join(self) -> Iterator[tuple[int, Int64, list[ListedRows]]]:
        """Yield the number of each task, its labels, and its blocks in order, with labels by position.

        Labels that are small enough are their own positions, and are not listed.
        """
        for task, blocks in self._blocks.items():
            ordered = sorted((block for block in blocks if block.rows.size), key=lambda block: int(block.rows[0]))
            lists = [of_rows.labels for block in ordered for of_rows in (block.truth, *block.predicted)]
            labels = NO_IDS
            if max((int(of_rows.max(initial=0)) for of_rows in lists), default=0) >= COMPACT_ABOVE:
                labels = np.unique(np.concatenate(lists)).astype(np.int64)
                ordered = [block.by_position(labels) for block in ordered]
            yield task, labels, ordered


def _list_truth(rows: LabelRows, batch: Batch) -> ListedRows:
    units = np.ones(batch.n_rows)
    if rows.weights.size:
        units = rows.weights.copy()
    indptr = rows.truth.indptr.copy()
    if rows.drop_empty:
        units[np.diff(indptr) == 0] = 0.0
    truth = Lists(indptr, _narrow(rows.truth.indices[: indptr[-1]]))
    return ListedRows(batch.block.first_row + batch.rows_of_block, units, truth, [])


def _list_predicted(rows: LabelRows) -> Lists:
    if rows.decided is not None:
        lengths = rows.decided.counts[:, DECISIONS]
    else:
        lengths = np.minimum(rows.n_ranked, rows.cutoffs[-1])
    predicted, _ = rows.list_others()
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), _narrow(predicted))


def _narrow(labels: Int64) -> Any:
    """Copy labels, in 4 bytes each if they fit."""
    if labels.max(initial=0) <= MOST_IN_4_BYTES:
        return labels.astype(np.int32)
    return labels.copy()


def find_tested(setup: Setup) -> dict[int, list[Measure]]:
    """Return the label-wise measures that can be tested, by the number of their task."""
    tested = {}
    for number, task in enumerate(setup.program.tasks):
        if isinstance(task, Labelwise):
            measures = [measure for measure in task.measures if _can_test(measure, setup)]
            if measures:
                tested[number] = measures
    return tested


def _can_test(measure: Measure, setup: Setup) -> bool:
    """Return whether a measure is a mean over labels of fractions with linear terms.

    Not over the labels up to the largest one predicted, which depends on the draw; and with a filter, the number of
    true negatives of a label is not known from its rows.
    """
    fold = measure.metric.fold
    if fold == "coverage":
        return True
    if measure.average == "micro" or fold not in RATES or fold == "matthews" or measure.option("over") == "largest":
        return False
    return setup.filter is None or not find_factors(LabelRate(fold))[:, :, 3].any()


def find_factors(rate: LabelRate) -> Float64:
    """Return the factors of tp, fp, fn and tn in numerator and denominator of each fraction, [n_fractions, 2, 4]."""
    return np.array(RATES[rate.rule](Cells(*np.eye(4)), rate.beta))


def _find_covered(mean: Coverage) -> Float64:
    """Return factors of a fraction that is 1 for covered labels, and 0/0 for others."""
    tp, fp, _, _ = np.eye(4)
    covered = tp + fp if mean.of_recommended else tp
    return np.array([[covered, covered]])


class _Rates:
    """The rates that the means of measures at one cutoff sum over labels, as kernels take them."""

    def __init__(self, means: Sequence[MacroMean]) -> None:
        ends = itertools.accumulate((len(mean.rates) for mean in means), initial=0)
        self.places = [slice(*bounds) for bounds in itertools.pairwise(ends)]  # of the rates of each mean
        n_rates = self.places[-1].stop
        self.kinds = np.full(n_rates, ONE_FRACTION)
        self.factors = np.zeros((n_rates, 2, 2, 5))
        self.are_seen = np.zeros(n_rates, dtype=np.bool_)
        self._means = means
        for mean, place in zip(means, self.places, strict=True):
            self.are_seen[place] = mean.over == "seen"
            for number, rate in enumerate(mean.rates, place.start):
                fractions = _find_covered(mean) if isinstance(mean, Coverage) else find_factors(rate)
                if len(fractions) > 1:
                    self.kinds[number] = TWO_FRACTIONS
                self.factors[number, : len(fractions), :, :4] = fractions
                self.factors[number, :, 1, 4] = math.nan if rate.zero == "skip" else float(rate.zero)

    def weigh(self, labels: Int64, find_cells: Callable[[Int64], LabelCells]) -> Float64:
        """Return the weights of labels in each rate, [n_rates, n_labels]; the cells of labels are found if needed."""
        weights = np.ones((self.kinds.size, labels.size))
        for mean, place in zip(self._means, self.places, strict=True):
            if mean.is_weighted or mean.over not in {"all", "seen"}:  # which labels are seen depends on the draw
                of_labels = mean.weigh(find_cells(labels))
                weights[place] = 1.0 if of_labels is None else of_labels
        return weights


class _Part(NamedTuple):
    """Some of the labels that either of two systems predicts, and the rows in which they are true or predicted."""

    labels: Int64
    codes: NDArray[np.int32]  # see `list_entries`
    ends: Int64  # [n_labels + 1]


class _Entries:
    """The rows of each label that either of two systems predicts among its first `k`."""

    def __init__(self, blocks: Sequence[ListedRows], pair: Pair, k: int) -> None:
        self._k = k
        self._starts = list(itertools.accumulate((block.units.size for block in blocks), initial=0))
        self._lists = [(block.truth, *(block.predicted[number] for number in pair)) for block in blocks]
        self._n_labels = 1 + max(int(part.labels.max(initial=-1)) for of_block in self._lists for part in of_block)
        self.differ = np.zeros(self._starts[-1], dtype=np.bool_)  # [n_rows]; whether the systems differ there
        flags = np.zeros(self._n_labels, dtype=np.uint8)
        counts = np.zeros(self._n_labels, dtype=np.int32)
        are_predicted = np.zeros(self._n_labels, dtype=np.bool_)
        for of_block, (first, last) in zip(self._lists, itertools.pairwise(self._starts), strict=True):
            count_entries(*of_block, k, flags, counts, are_predicted, self.differ[first:last])
        self._n_entries = np.where(are_predicted, counts, 0)  # by label; 0 for labels that neither predicts

    @property
    def n_entries(self) -> int:
        """The number of rows of all these labels."""
        return int(self._n_entries.sum())

    def list_parts(self) -> Iterator[_Part]:
        """Yield the labels in parts, with at most MOST_ENTRIES entries each unless a label alone has more."""
        flags = np.zeros(self._n_labels, dtype=np.uint8)
        start = 0
        while start < self._n_labels:
            ends = np.cumsum(self._n_entries[start : start + MOST_ENTRIES], dtype=np.int64)
            n = max(int(np.searchsorted(ends, MOST_ENTRIES, side="right")), 1)
            labels = start + np.flatnonzero(self._n_entries[start : start + n])
            ends = np.concatenate([[0], np.cumsum(self._n_entries[labels], dtype=np.int64)])
            places = np.full(self._n_labels, -1, dtype=np.int32)
            places[labels] = ends[:-1]
            codes = np.empty(int(ends[-1]), dtype=np.int32)
            for of_block, first in zip(self._lists, self._starts, strict=False):
                list_entries(*of_block, self._k, first, flags, places, codes)
            if labels.size:
                yield _Part(labels, codes, ends)
            start += n


@cache
def _find_quantiles() -> NDArray[np.uint16]:
    """Return the 2^16 quantiles of the exponential distribution, in units of 1 / ONE, none of them 0."""
    n = 1 << 16
    return np.array([max(round(-ONE * math.log((i + 0.5) / n)), 1) for i in range(n)], dtype=np.uint16)


class _Draws:
    """Sums of rates over labels: as observed, with systems exchanged in rows, and with weighted rows.

    They are float64 [n_draws, n_bins + 1, 2, n_rates, 2]: for each bin, and for labels in none, of system and
    baseline, the sum of each rate, and the number or weight of the labels where it is defined.
    """

    def __init__(
        self,
        rates: _Rates,
        n_bins: int,
        units: Float64,
        differ: NDArray[np.bool_],
        resampling: Resampling,
        *,
        by_exchange: bool,
    ) -> None:
        self._rates = rates
        self._units = units
        self._resampling = resampling
        self._by_exchange = by_exchange
        self._unequal = units if (units != 1).any() else np.empty(0)  # as kernels take them
        self._differing = np.flatnonzero(differ & (units > 0))
        self.n_rows = int(np.count_nonzero(units))
        self.n_differing = self._differing.size
        self.is_exact = self.n_differing <= FEW_DIFFER
        shape = n_bins + 1, 2, rates.kinds.size, 2
        self.observed = np.zeros((1, *shape))  # of all labels
        self.unexchanged = np.zeros((1, *shape))  # of those that exchanges change
        self.exchanged = np.zeros((1 << self.n_differing if self.is_exact else DRAWS, *shape))
        self.weighted = np.zeros((N_WEIGHTED, *shape))

    def add(self, part: _Part, weights: Float64, bins: Int64) -> None:
        """Add a part of the labels, with their weights [n_rates, n_labels] and bins [n_labels]."""
        rates = self._rates
        means = rates.kinds, rates.factors, rates.are_seen, weights, bins
        units = self._units
        totals = np.full(LANES, units.sum())

        def exchange(words: Any, sums: Float64) -> None:
            space = np.empty(N_SPACE)
            for shift in range(0, len(sums), LANES):
                of_lanes = np.zeros((*sums.shape[1:], LANES))
                exchange_rows((part.codes, part.ends, self._unequal, totals), words, shift, means, space, of_lanes)
                sums[shift : shift + LANES] += np.moveaxis(of_lanes, -1, 0)[: len(sums) - shift]

        def exchange_at_random(first: int, sums: Float64) -> None:
            words = np.zeros(units.size, dtype=np.uint64)
            draw_bits(self._resampling.seed, EXCHANGES + first // DRAWS_PER_WORD, units, words)
            exchange(words, sums)

        def weigh(drawn: Any, totals: Float64, sums: Float64) -> None:
            of_lanes = np.zeros((*sums.shape[1:], LANES))
            entries = part.codes, part.ends, self._unequal, totals
            weigh_rows(entries, drawn, means, np.empty(N_SPACE), of_lanes)
            sums += np.moveaxis(of_lanes, -1, 0)[: len(sums)]

        def weigh_at_random(first: int, sums: Float64) -> None:
            drawn = np.zeros((units.size, LANES), dtype=np.uint16)
            totals = np.empty(LANES)
            for start in range(0, len(sums), LANES):
                group = WEIGHTS + (first + start) // LANES
                draw_weights(self._resampling.seed, group, _find_quantiles(), units, drawn, totals)
                weigh(drawn, totals, sums[start : start + LANES])

        words = np.zeros(units.size, dtype=np.uint64)
        exchange(words, self.unexchanged)
        if self.is_exact:  # all exchanges of the few rows that differ
            for number, row in enumerate(self._differing.tolist()):
                words[row] = sum(1 << draw for draw in range(len(self.exchanged)) if draw >> number & 1)
            exchange(words, self.exchanged)
            return
        quietly = replace(self._resampling, progress=None)  # it is shown by part
        if self._by_exchange:
            quietly.run(exchange_at_random, self.exchanged)
        weigh(np.ones((units.size, LANES), dtype=np.uint16), totals, self.observed)
        quietly.run(weigh_at_random, self.weighted)

    def test(self, sides: Sequence[MacroMean], rates: slice, bins: slice) -> PairedT:
        """Test a difference from the means of system and baseline over all labels, or within a bin."""

        def differ(draws: Float64, observed: Float64) -> Any:
            values = []
            for number, mean in enumerate(sides):
                means = []
                of_mean = draws[:, bins, number, rates].sum(axis=1)  # [n_draws, n_rates, 2]
                gained = of_mean - observed[:, bins, number, rates].sum(axis=1)
                for (total, n), gain in zip(mean.fractions(), np.moveaxis(gained, 1, 0), strict=True):
                    divisor = n + (0.0 if isinstance(mean, Coverage) else gain[:, 1])
                    means.append((total + gain[:, 0]) / np.where(divisor > 0, divisor, 1.0))
                values.append(mean.combine(means))
            return values[0] - values[1]

        observed = float(differ(self.observed, self.observed)[0])
        if not self.n_rows:
            return PairedT(observed)
        p = None
        if self.is_exact or self._by_exchange:
            as_large = np.abs(differ(self.exchanged, self.unexchanged)) >= abs(observed) - SLACK
            if self.is_exact:
                return PairedT(observed, p=float(as_large.mean()), n_differing=self.n_differing)
            p = (1 + int(np.count_nonzero(as_large))) / (1 + DRAWS)
        error = float(np.std(differ(self.weighted, self.observed), ddof=1))
        if isinstance(sides[0], Coverage) or error <= SLACK:  # weighted rows cover the same labels
            if p is None and abs(observed) <= SLACK:
                p = 1.0
            return PairedT(observed, p=p)
        degrees = min(self.n_rows, N_WEIGHTED) - 1
        margin = t_quantile(degrees) * error
        if p is None:
            p = p_value(observed / error, degrees)
        return PairedT(observed, low=observed - margin, high=observed + margin, p=p)


def compare_labels(
    held: HeldLabels,
    totals: Sequence[Totals],
    setup: Setup,
    pairs: Mapping[Pair, tuple[str, str]],
    resampling: Resampling,
) -> Iterator[Difference]:
    """Yield the differences in label-wise measures between pairs of systems, of one run each, by number with names.

    They are over all labels, then within each bin or group of rows. `totals` are those of each system.
    """
    for number, ids, blocks in held.join():
        if not 0 < sum(block.rows.size for block in blocks) <= MOST_ROWS:
            continue
        task: Labelwise = setup.program.tasks[number]
        how = "bootstrap" if task.needs_scores else "randomization"
        units = np.concatenate([block.units for block in blocks])
        rows = np.concatenate([block.rows for block in blocks])
        groups: dict[str, tuple[Float64, Sequence[Totals]]] = {"": (units, totals)}
        if setup.groups is not None:
            for code, name in enumerate(setup.groups.names):
                inside = np.where(setup.groups.codes[rows] == code, units, 0.0)
                groups[name] = inside, [of_system.groups[code] for of_system in totals]
        for pair, names in pairs.items():
            sides = {
                group: [_Side.of(task, of_systems[system].parts[number], setup) for system in pair]
                for group, (_, of_systems) in groups.items()
            }
            for k in dict.fromkeys(measure.k for measure in held.tested[number]):
                measures = [measure for measure in held.tested[number] if measure.k == k]
                entries = _Entries(blocks, pair, k or ALL_RANKS)
                for group, (of_group, _) in groups.items():
                    tests = _test_pair(task, sides[group], measures, entries, ids, of_group, setup, resampling)
                    for measure, bin_name, n, test in tests:
                        yield Difference(
                            measure,
                            *names,
                            **asdict(test),
                            n=n,
                            bin=group or bin_name,
                            test=how,
                            nouns=setup.nouns,
                        )


class _Side(NamedTuple):
    """The counts of a system, and its means by measure over all labels, then within each bin."""

    part: LabelCounters
    means: list[Means]

    @classmethod
    def of(cls, task: Labelwise, part: LabelCounters, setup: Setup) -> _Side:
        """Sum the rates of all measures of a task."""
        return cls(part, [task.find_means(part, setup), *task.find_means_in_bins(part, setup)])


def _test_pair(
    task: Labelwise,
    sides: Sequence[_Side],
    measures: Sequence[Measure],
    entries: _Entries,
    ids: Int64,
    units: Float64,
    setup: Setup,
    resampling: Resampling,
) -> Iterator[tuple[Measure, str, int, PairedT]]:
    """Test measures at one cutoff, or of decisions; yield each with the name of its bin and the number of rows."""
    rates = _Rates([sides[0].means[0][measure] for measure in measures])
    table = table_of(sides[0].part, setup)
    draws = _Draws(rates, setup.n_bins, units, entries.differ, resampling, by_exchange=not task.needs_scores)

    def find_cells(labels: Int64) -> LabelCells:
        return task.cells_of(labels, table.counts_of(labels), table, setup)

    for part in entries.list_parts():
        labels = ids[part.labels] if ids.size else part.labels
        bins = np.full(labels.size, setup.n_bins)
        if setup.bins is not None:
            bins = setup.bins.by_code[setup.propensities.codes_of(labels)]
        weights = rates.weigh(labels, find_cells)
        weights[:, labels >= setup.n_labels] = 0.0  # names that are no label
        draws.add(part, weights, bins)
        if resampling.progress is not None:
            resampling.progress(DRAWS * part.codes.size // entries.n_entries)
    names = ["", *([] if setup.bins is None else [part.name for part in setup.bins.bins])]
    for place, name in enumerate(names):
        inside = slice(place - 1, place) if name else slice(None)
        for measure, of_measure in zip(measures, rates.places, strict=True):
            means = [side.means[place][measure] for side in sides]
            if all(n for mean in means for _, n in mean.fractions()):
                yield measure, name, draws.n_rows, draws.test(means, of_measure, inside)
