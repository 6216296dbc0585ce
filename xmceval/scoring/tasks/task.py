"""Base classes of scoring tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from xmceval.errors import listed
from xmceval.kernels.metrics.sums import add_values
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch
from xmceval.scoring.estimates import Estimate, estimate
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.totals import OUT_OF_RANGE, Sums

Estimates = dict[str, Estimate]  # by the name of the measure

TREATMENTS = ("expected", "best", "worst")  # treatments of ties other than the order by label
NO_SHARES: Float64 = np.empty((0, 0, SLOTS))  # for rows without shares of label bins


class Unscored(NamedTuple):
    """True labels without a score, and all true labels."""

    number: int
    n_true: int


class Task(ABC):
    """Measures that are computed together, for the same lowest grade of a true label."""

    place: ClassVar[int]  # of this kind among the tasks of a program
    counts_labels: ClassVar[bool] = False  # whether its parts of the totals are counts by label
    measures: tuple[Measure, ...]
    rel: float  # the lowest grade of a true label

    @property
    def is_at_n(self) -> bool:
        """Whether the best labels of a row are decisions, as many as it has true labels."""
        return self.measures[0].metric.cuts_at_n

    @property
    def needs_scores(self) -> bool:
        """Whether the scores of all labels are needed, beyond the ranking and the ties at its end."""
        return True

    @property
    def tied_by_label(self) -> Mapping[str, Sequence[Measure]]:
        """The measures that depend on the order by label, for each treatment of ties that they lack."""
        if not self.is_at_n:
            return {}
        return dict.fromkeys(TREATMENTS, self.measures)

    @classmethod
    @abstractmethod
    def compile(cls, measures: tuple[Measure, ...], rel: float) -> Task:
        """Return the task that computes these measures, which have the same `rel`."""

    @abstractmethod
    def empty(self, setup: Setup) -> Any:
        """Return an empty part of the totals for this task."""

    @abstractmethod
    def compute(self, batch: Batch) -> Any:
        """Return what `add` adds for the rows of a batch, valid until the next batch of this thread."""

    @abstractmethod
    def add(self, batch: Batch, computed: Any, part: Any) -> None:
        """Add the rows of a batch to a part that no other thread uses, or that has a lock."""

    @abstractmethod
    def finish(self, part: Any, setup: Setup, n_rows: int) -> Estimates:
        """Return the estimate of each measure over `n_rows` rows that count; the number of labels is known."""

    def finish_bins(self, part: Any, setup: Setup, n_rows: int) -> Sequence[Estimates]:  # noqa: ARG002 - most have none
        """Return the estimates within each bin of labels, for measures that have them."""
        return [{} for _ in range(setup.n_bins)]

    def n_decided(self, part: Any) -> int | None:  # noqa: ARG002 - most decide on none
        """Return the number of decisions; None if ranked labels are counted."""
        return None

    def unscored(self, part: Any) -> Unscored | None:  # noqa: ARG002 - most do not look at whole rows
        """Count the true labels without a score, and all true labels; None unless whole rows are needed."""
        return None

    def remarks(self, part: Any, n_labels: int) -> Sequence[str]:  # noqa: ARG002 - most have none
        """Return remarks on how the values were computed, such as the memory they took."""
        return ()


def rule_of(rules: Collection[str], name: str, what: str, measure: Measure) -> Any:
    """Return a rule from a table of rules, or a name from a set of names."""
    if name not in rules:
        raise LookupError(f"{measure}: there is no {what} {name!r}; known: {listed(rules)}")
    return rules[name] if isinstance(rules, Mapping) else name


class RowValues(NamedTuple):
    """The values of a batch of rows."""

    # float64 array [n_rows, n_measures, SLOTS]; numerator, denominator, how far ties could move the numerator up and
    # down, and the ideal's numerator
    values: Float64
    # float64 array [n_rows, n_measures * n_bins, SLOTS]; the shares of label bins in them, or without rows
    shares: Float64
    left_out: Int64 | int  # int64 array [n_measures]; rows without a value; one number if they are equal
    # int64 array [2], optional; true labels without a score, and all true labels, where whole rows are looked at; or
    # twice the labels that are decided on
    true: Int64 | None = None


class RowTask(Task):
    """A task whose measures are sums over rows: a subclass computes the values of rows."""

    @property
    def has_shares(self) -> bool:
        """Whether the values include the shares of label bins."""
        return self.is_at_n

    def has_ideal(self, measure: Measure) -> bool:  # noqa: ARG002 - it depends on the measure in one task
        """Return whether the values include that of the ideal ranking."""
        return False

    @abstractmethod
    def compute(self, batch: Batch) -> RowValues:
        """Compute the values of the rows of a batch."""

    def numbers_per_row(self, setup: Setup) -> int:
        """Return the number of values and shares of bins per row."""
        return SLOTS * len(self.measures) * (1 + (setup.n_bins if self.has_shares else 0))

    def empty(self, setup: Setup) -> Sums:
        """Return empty sums."""
        n_shares = len(self.measures) * setup.n_bins if self.has_shares else 0
        return Sums(len(self.measures), n_shares)

    def add(self, batch: Batch, computed: RowValues, part: Sums) -> None:
        """Add the values of the rows of a batch."""
        rows = computed
        n = len(self.measures)
        ties = batch.setup.options.ties
        if ties in {"best", "worst"}:  # replace values by those for this order of tied labels
            moved = rows.values[:, :, 2 if ties == "best" else 3].copy()
            rows.values[:, :, 0] += moved
            rows.values[:, :, 2:4] -= moved[:, :, None]
        extremes = part["extremes"]
        weights = batch.weights
        wrong = add_values(rows.values, weights, part["sums"], extremes[:n])
        if rows.shares.size and wrong < 0:
            wrong = add_values(rows.shares, weights, part["shares"], extremes[n:])
        if wrong >= 0:
            raise batch.fault(int(wrong), OUT_OF_RANGE)
        part["left_out"] = part["left_out"] + rows.left_out
        if rows.true is not None:
            part["true"] = part["true"] + rows.true

    def finish(self, part: Sums, setup: Setup, n_rows: int) -> Estimates:
        """Divide."""
        unbounded = self.tied_by_label.get("best", ())
        ceiling = setup.options.ceiling
        has_ceiling = [ceiling and self.has_ideal(measure) for measure in self.measures]
        n_counted = (n_rows - part["left_out"]).tolist()
        values = estimate(self.measures, part["sums"], n_counted, part["extremes"], has_ceiling)
        return {
            measure.name: value.without_tie_bounds() if measure in unbounded else value
            for measure, value in zip(self.measures, values, strict=True)
        }

    def finish_bins(self, part: Sums, setup: Setup, n_rows: int) -> Sequence[Estimates]:
        """Return the shares of each bin; complements have no shares."""
        bins: list[Estimates] = [{} for _ in range(setup.n_bins)]
        if not self.has_shares:
            return bins
        measures = [measure for measure in self.measures for _ in range(setup.n_bins)]
        n_counted = (n_rows - part["left_out"]).repeat(setup.n_bins).tolist()
        shares = estimate(measures, part["shares"], n_counted, part["extremes"][len(self.measures) :])
        for i, (measure, share) in enumerate(zip(measures, shares, strict=True)):
            if not measure.metric.complement:
                bins[i % setup.n_bins][measure.name] = share.without_tie_bounds()
        return bins
