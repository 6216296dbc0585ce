"""The State class: totals of rows and how they were scored, which can be merged or finished elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from xmceval.errors import DataError, listed, plural
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.rows.names import Axis, find_order
from xmceval.scoring.setup.setup import Setup
from xmceval.scoring.totals import Totals, empty
from xmceval.version import VERSION

NO_RANGE = (np.inf, 0.0)  # of weights
MOST_SHARDS = 1 << 20
# Options that must be equal to add totals; metrics, propensities and weights are compared separately.
RULES = (
    "duplicates",
    "unknown_labels",
    "empty_rows",
    "unscored",
    "ties",
    "threshold",
    "by_frequency",
    "ceiling",
    "filter_truth",
    "dataset",
)


@dataclass(frozen=True)
class State:
    """The totals of some rows and how they were scored."""

    name: str  # its name in messages
    setup: Setup
    totals: Totals
    n_rows: int = 0  # rows read, including rows of weight 0
    truth: tuple[str, ...] = ()  # the names of files or arrays, without repeats
    scores: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()  # the names in reports; empty if nothing was scored
    shards: tuple[int, ...] = ()  # the numbers of its shards, counted from 1
    n_shards: int = 0  # the total number of shards; 0 if saved without a shard number
    weight_range: tuple[float, float] = NO_RANGE  # of the positive sample weights
    removed: tuple[int, int] = (0, 0)  # dropped duplicate labels in truth and scores
    max_weight: float | None = None  # the largest possible sample weight
    n_mentioned: int | None = None  # the number of documents in all inputs, if labels are documents
    names: Any = None  # has the names of all labels as `listed`, if the truth or ``labels=`` has them; never saved
    version: str = VERSION

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The settings that must be equal to add totals, by name in messages."""
        changed = self.setup.options.changed()
        propensities = self.setup.propensities
        subset = self.setup.subset
        counts = None
        inverse = None
        if propensities.n is not None:
            counts = propensities.digest
        elif propensities is not NO_PROPENSITIES:
            inverse = propensities.digest
        return {
            "version of xmceval": self.version,
            "rows": plural(self.setup.nouns.row),
            "metrics": listed(self.setup.program.measures),
            **{name: changed.get(name) for name in RULES},
            "filter": None if self.setup.filter is None else "pairs to remove",
            "labels that count": None if subset is None else f"{subset.ids.size:,} (digest {subset.digest:016x})",
            "N": propensities.n,
            "A": propensities.a,
            "B": propensities.b,
            "training counts": counts,
            "inverse propensities": inverse,
            "scale of sample weights": None if self.setup.weights is None else self.setup.weight_unit,
            "number of labels": self.setup.width.or_none,
        }

    def emptied(self) -> State:
        """Return a state without rows, with the same configuration."""
        setup = replace(self.setup, labels_by="")
        return State(self.name, setup, empty(setup), max_weight=self.max_weight)

    def check_filter(self) -> None:
        """Refuse pairs of a filter that exceed the rows or labels."""
        if self.setup.filter is not None:
            self.setup.filter.check_rows(self.n_rows, first_of(self.truth))
            self.setup.filter.check_labels(self.setup.width)

    def without_pairs(self) -> State:
        """Return the state for saving, with the effect of its filter but without its pairs."""
        self.check_filter()
        pairs = self.setup.filter
        if pairs is None:
            return self
        return replace(self, setup=replace(self.setup, filter=pairs.without_pairs()))

    def merge(self, other: State) -> State:
        """Return the state of the rows of both; associative, and commutative except for the order of names."""
        check_shards([self, other])
        self.check_compatible(other)
        setup = self.setup
        theirs = other.setup
        width = setup.width
        if not width.is_known:
            width = theirs.width
        pairs = None
        if setup.filter is not None and theirs.filter is not None:
            pairs = setup.filter.merge(theirs.filter)
        least, greatest = self.weight_range
        other_least, other_greatest = other.weight_range
        return replace(
            self,
            setup=replace(
                setup,
                width=width,
                bins=setup.bins or theirs.bins,
                filter=pairs,
                warnings=_in_fixed_order(setup.warnings, theirs.warnings),
                inputs=_in_fixed_order(setup.inputs, theirs.inputs),
                labels=setup.labels or theirs.labels,
                labels_by=max(setup.labels_by, theirs.labels_by),
            ),
            totals=self.totals.merge(other.totals),
            n_rows=self.n_rows + other.n_rows,
            truth=each_once(self.truth, other.truth),
            scores=each_once(self.scores, other.scores),
            systems=each_once(self.systems, other.systems),
            shards=tuple(sorted({*self.shards, *other.shards})),
            n_shards=self.n_shards or other.n_shards,
            weight_range=(min(least, other_least), max(greatest, other_greatest)),
            removed=(self.removed[0] + other.removed[0], self.removed[1] + other.removed[1]),
        )

    def check_compatible(self, other: State) -> None:
        """Refuse a state whose totals cannot be added to this one, naming the differences."""
        theirs = other.configuration
        for name, value in self.configuration.items():
            if value != theirs[name] and not (name == "number of labels" and None in {value, theirs[name]}):
                values = " and ".join("none" if one is None else str(one) for one in (value, theirs[name]))
                raise DataError(f"{self.name} and {other.name} differ in {name}: {values}")
        ours, its = (replace(one.setup.labels or Axis("", "label"), source=one.name) for one in (self, other))
        if find_order(ours, its) is not None:
            raise DataError(
                f"{self.name} and {other.name} have the same labels in another order: score both in one order"
            )
        for one, two in ((self, other), (other, self)):
            if one.setup.width.is_known and two.totals.tally.whole.largest_label >= one.setup.width.n_labels:
                raise DataError(
                    f"{two.name} has label {two.totals.tally.whole.largest_label}, but {one.name} only "
                    f"{one.setup.width.n_labels:,} labels"
                )
            if one.setup.filter is not None and one.setup.filter.rows.size:
                raise DataError(
                    f"{one.name} has a filter, whose pairs refer to rows by their number in the whole: such totals "
                    "cannot be added (hint: score all rows together)"
                )


def check_shards(states: Iterable[State]) -> None:
    """Refuse repeated shards, and shards out of different totals."""
    numbered = [state for state in states if state.n_shards]
    owners: dict[int, State] = {}
    for state in numbered:
        first = numbered[0]
        if state.n_shards != first.n_shards:
            raise DataError(
                f"{first.name} is shard {first.shards[0]} of {first.n_shards}, but {state.name} is shard "
                f"{state.shards[0]} of {state.n_shards}"
            )
        for number in state.shards:
            if number in owners:
                raise DataError(f"{owners[number].name} and {state.name} are both shard {number} of {state.n_shards}")
            owners[number] = state


def each_once(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of both without repeats, in order of appearance."""
    return tuple(dict.fromkeys((*names, *more)))


def first_of(names: Iterable[str]) -> str:
    """Return the first of several names, and the number of others."""
    first, *others = names
    if not others:
        return first
    return f"{first} and {len(others):,} more"


def _in_fixed_order(texts: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of two states without repeats, in an order independent of the order of the states."""
    if texts == more:
        return texts
    return tuple(sorted({*texts, *more}))
