"""State: the totals of some rows and how they were scored, to be added to others, or finished, elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from xmceval.errors import DataError, listed
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.scoring.batch import Terms
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Totals, empty
from xmceval.version import VERSION

NO_RANGE = (np.inf, 0.0)  # of weights
# Options that must be equal for totals to be added; metrics, propensities and weights are compared as such.
RULES = (
    *("duplicates", "empty_rows", "unscored", "ties", "threshold", "by_frequency", "ceiling", "filter_truth"),
    "dataset",
)


@dataclass(frozen=True)
class StatePart:
    """Where some rows of a state come from; what is not known is empty."""

    name: str = ""  # how messages call it, such as the file of a state
    n_rows: int = 0  # also rows of weight 0
    truth: str = "array"  # the names of the files
    scores: str = "array"
    system: str = "y_score"  # the name in reports
    shard: tuple[int, int] | None = None  # its number from 1 on, and how many there are


def join_parts(parts: Iterable[StatePart]) -> tuple[StatePart, ...]:
    """Put parts in their order; those that differ in the number of rows alone become one."""
    n_rows: Counter[StatePart] = Counter()
    for part in parts:
        n_rows[replace(part, n_rows=0)] += part.n_rows
    joined = (replace(part, n_rows=number) for part, number in n_rows.items())
    return tuple(sorted(joined, key=lambda part: (part.shard or (0, 0), part.name, part.truth, part.scores)))


def check_shards(parts: Iterable[StatePart]) -> None:
    """Refuse a shard that is there twice, and shards of different numbers of shards."""
    seen: dict[tuple[int, int], StatePart] = {}
    for part in parts:
        if part.shard is None:
            continue
        number, n_shards = part.shard
        if part.shard in seen:
            raise DataError(f"{seen[part.shard].name} and {part.name} are both shard {number} of {n_shards}")
        seen[part.shard] = part
        (first_number, first_n), first = next(iter(seen.items()))
        if first_n != n_shards:
            raise DataError(
                f"{first.name} is shard {first_number} of {first_n}, but {part.name} is shard {number} of {n_shards}"
            )


@dataclass(frozen=True)
class State:
    """The totals of some rows and how they were scored."""

    name: str  # how messages call it
    options: Options  # as reports record them
    program: Program
    terms: Terms
    totals: Totals
    parts: tuple[StatePart, ...] = ()  # in their order
    warnings: tuple[str, ...] = ()  # known before the totals are finished, each once
    notes: tuple[str, ...] = ()
    weight_range: tuple[float, float] = NO_RANGE  # of the sample weights above 0
    removed: tuple[int, int] = (0, 0)  # entries of truth and scores whose label appeared twice in a row
    max_weight: float | None = None  # the largest sample weight that may come
    version: str = VERSION

    @property
    def n_rows(self) -> int:
        """The rows that were read, also those of weight 0."""
        return sum(part.n_rows for part in self.parts)

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """What must be equal for totals to be added, by its name in messages."""
        changed, propensities = self.options.changed(), self.terms.propensities
        are_counts = propensities.n is not None
        digest = None if propensities is NO_PROPENSITIES else propensities.digest
        return {
            "version of xmceval": self.version,
            "metrics": listed(self.program.measures),
            **{name: changed.get(name) for name in RULES},
            "N": propensities.n,
            "A": propensities.a,
            "B": propensities.b,
            "training counts": digest if are_counts else None,
            "inverse propensities": None if are_counts else digest,
            "scale of sample weights": None if self.terms.weights is None else self.terms.weight_unit,
            "number of labels": self.terms.width.or_none,
        }

    def emptied(self) -> State:
        """Return the state of no rows of the same configuration."""
        return replace(
            self,
            totals=empty(self.program, self.terms),
            parts=(),
            weight_range=NO_RANGE,
            removed=(0, 0),
            version=VERSION,
        )

    def merge(self, other: State) -> State:
        """Return the state of the rows of both; associative, and commutative."""
        self.check_compatible(other)
        width = self.terms.width if self.terms.width.is_known else other.terms.width
        (least, greatest), (other_least, other_greatest) = self.weight_range, other.weight_range
        return replace(
            self,
            terms=replace(self.terms, width=width, bins=self.terms.bins or other.terms.bins),
            totals=self.totals.merge(other.totals),
            parts=join_parts([*self.parts, *other.parts]),
            warnings=_each_once(self.warnings, other.warnings),
            notes=_each_once(self.notes, other.notes),
            weight_range=(min(least, other_least), max(greatest, other_greatest)),
            removed=(self.removed[0] + other.removed[0], self.removed[1] + other.removed[1]),
        )

    def check_compatible(self, other: State) -> None:
        """Refuse a state whose totals cannot be added to these, and name what differs."""
        theirs = other.configuration
        for name, value in self.configuration.items():
            if value != theirs[name] and not (name == "number of labels" and None in {value, theirs[name]}):
                values = " and ".join("none" if one is None else str(one) for one in (value, theirs[name]))
                raise DataError(
                    f"{self.name} and {other.name} differ in {name}: {values}; only totals that were made alike can be "
                    "added"
                )
        for one, two in ((self, other), (other, self)):
            if one.terms.width.is_known and two.totals.tally.largest_label >= one.terms.width.n_labels:
                raise DataError(
                    f"{two.name} has label {two.totals.tally.largest_label}, but {one.name} only "
                    f"{one.terms.width.n_labels:,} labels"
                )
            if one.terms.filter is not None:
                raise DataError(
                    f"{one.name} has a filter, whose pairs refer to rows by their number in the whole: such totals "
                    "cannot be added (hint: score all rows together)"
                )
        check_shards(replace(part, name=part.name or state.name) for state in (self, other) for part in state.parts)


def recorded_options(changed: Mapping[str, Any]) -> Options:
    """Return the options that were recorded so: with the names of files and arrays in their place."""
    numbers = {"threshold": float(changed["threshold"])} if "threshold" in changed else {}
    return Options(**{**changed, **numbers})


def _each_once(texts: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of two states, each once, in an order that does not depend on which comes first."""
    return texts if texts == more else tuple(sorted({*texts, *more}))
