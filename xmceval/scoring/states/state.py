"""State: the totals of some rows with all that is needed to add them to others, and to finish them elsewhere."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from xmceval.errors import DataError, UsageError, listed
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.rows.block import Int64
from xmceval.scoring.batch import Terms
from xmceval.scoring.limbs import MOST_STATES, first_mark, join, last_mark, mark, split, split_like
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program
from xmceval.scoring.states.stateparts import StatePart, check_parts, join_parts
from xmceval.scoring.totals import Totals, empty
from xmceval.version import VERSION

WHAT = "a state"
# Options that must be equal for totals to be added, beside the metrics; propensities and weights are compared as such.
RULES = (
    *("duplicates", "empty_rows", "unscored", "ties", "threshold", "by_frequency", "ceiling", "filter_truth"),
    "dataset",
)
NAMES = {
    "version": "version of xmceval",
    "n_labels": "number of labels",
    "weights": "scale of sample weights",
}
NO_RANGE = (np.inf, 0.0)  # of weights
WEIGHT_PLACES = 64  # powers of two of weights
COUNTS = 6  # limbs of the rows, and of the entries that were dropped
HEAD = 3  # numbers before the limbs: how many states were added, and the limbs of a fingerprint


@cache
def own_version() -> str:
    """Return the version of this package."""
    return VERSION


@dataclass(frozen=True)
class State:
    """The totals of some rows and how they were scored.

    Attributes
    ----------
    name : str
        How messages call it.
    options : Options
        As reports record them.
    program : Program
    terms : Terms
    totals : Totals
    parts : tuple of StatePart
        In their order.
    warnings, notes : tuple of str
        What is known before the totals are finished, each once.
    weight_range : pair of float
        The least and the greatest sample weight above 0; infinity and 0 without any.
    removed : pair of int
        The entries of truth and of scores that were dropped because their label appeared twice in a row.
    max_weight : float, optional
        The largest sample weight that may come.
    version : str
        Of xmceval.
    is_whole : bool
        Whether propensities and filter are all here, so that more rows can be scored.
    """

    name: str
    options: Options
    program: Program
    terms: Terms
    totals: Totals
    parts: tuple[StatePart, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weight_range: tuple[float, float] = NO_RANGE
    removed: tuple[int, int] = (0, 0)
    max_weight: float | None = None
    version: str = field(default_factory=own_version)
    is_whole: bool = True

    @property
    def n_rows(self) -> int:
        """The rows that were read, also those of weight 0."""
        return sum(part.n_rows for part in self.parts)

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """What must be equal for totals to be added, as JSON has it."""
        changed, propensities = self.options.changed(), self.terms.propensities
        return {
            "version": self.version,
            "metrics": [str(measure) for measure in self.program.measures],
            **{name: changed.get(name) for name in RULES},
            "propensities": None if propensities is NO_PROPENSITIES else propensities.digest,
            "weights": None if self.terms.weights is None else self.terms.weight_unit,
            "n_labels": self.terms.width.or_none,
        }

    def emptied(self) -> State:
        """Return the state of no rows of the same configuration."""
        return replace(
            self,
            totals=empty(self.program, self.terms),
            parts=(),
            weight_range=NO_RANGE,
            removed=(0, 0),
            version=own_version(),
        )

    def merge(self, other: State) -> State:
        """Return the state of the rows of both; associative, and commutative."""
        self.check_compatible(other)
        width = self.terms.width if self.terms.width.is_known else other.terms.width
        first, second = (each.weight_range for each in (self, other))
        return replace(
            self if self.is_whole else other,
            name=self.name,
            terms=replace((self if self.is_whole else other).terms, width=width),
            totals=self.totals.merge(other.totals),
            parts=join_parts(self.parts, other.parts),
            warnings=_each_once(self.warnings, other.warnings),
            notes=_each_once(self.notes, other.notes),
            weight_range=(min(first[0], second[0]), max(first[1], second[1])),
            removed=(self.removed[0] + other.removed[0], self.removed[1] + other.removed[1]),
        )

    def check_compatible(self, other: State) -> None:
        """Refuse a state whose totals cannot be added to these; see `merge`."""
        theirs = other.configuration
        for name, own in self.configuration.items():
            if own != theirs[name] and not (name == "n_labels" and None in {own, theirs[name]}):
                values = " and ".join(map(_shown, (own, theirs[name])))
                raise DataError(
                    f"{self.name} and {other.name} differ in {NAMES.get(name, name)}: {values}; only totals that were "
                    "made alike can be added"
                )
        for one, two in ((self, other), (other, self)):
            if one.terms.width.is_known and two.totals.tally.largest_label >= one.terms.width.n_labels:
                raise DataError(
                    f"{two.name} has label {two.totals.tally.largest_label}, but {one.name} only "
                    f"{one.terms.width.n_labels:,} labels"
                )
        for each in (self, other):
            if each.terms.filter is not None:
                raise DataError(
                    f"{each.name} has a filter, whose pairs refer to rows by their number in the whole: such totals "
                    "cannot be added (hint: score all rows together)"
                )
        check_parts([replace(part, name=part.name or each.name) for each in (self, other) for part in each.parts])

    def vector(self) -> Int64:
        """Return the totals as numbers, int64 [n_numbers], that may be added element by element over 2^20 states.

        Lost are the digits of grades above 31 beyond their power of two, of which a warning tells.
        """
        self.program.check_mergeable(WHAT)
        if not self.terms.width.is_known:
            raise UsageError("a state of fixed size needs the number of labels (hint: pass n_labels)")
        if self.terms.filter is not None:
            raise UsageError("a state with a filter, whose pairs refer to rows by their number, cannot be added")
        head = np.append(np.ones(1, dtype=np.int64), split(self._fingerprint))
        counts = split(np.array([self.n_rows, *self.removed], dtype=np.int64))
        return np.concatenate([head, counts, *self._weight_marks(), self.totals.limbs()])

    def _weight_marks(self) -> list[Int64]:
        """Return marks of the powers of two of the least and the greatest weight, below that of the scale."""
        least, greatest = self.weight_range
        if not greatest:
            return [mark(None, WEIGHT_PLACES)] * 2
        unit = math.frexp(self.terms.weight_unit)[1]
        places = (min(max(unit - math.frexp(each)[1], 0), WEIGHT_PLACES - 1) for each in (least, greatest))
        return [mark(place, WEIGHT_PLACES) for place in places]

    def with_vector(self, numbers: Any) -> State:
        """Return a state of this configuration with the totals that such numbers, or sums of them, stand for."""
        vector = self._check_vector(numbers)
        totals = empty(self.program, self.terms)
        sizes = [HEAD, COUNTS, WEIGHT_PLACES, WEIGHT_PLACES]
        _, counts, least, greatest, of_totals = split_like(vector, [*sizes, vector.size - sum(sizes)])
        totals.fill_limbs(of_totals)
        n_rows, from_truth, from_scores = map(int, join(counts))
        unit, weight_range = self.terms.weight_unit, NO_RANGE
        if least.any():
            weight_range = math.ldexp(unit, -last_mark(least)), math.ldexp(unit, -first_mark(greatest))
        parts = (replace(self.parts[0] if self.parts else StatePart(), n_rows=n_rows),)
        return replace(
            self,
            totals=totals,
            parts=parts,
            weight_range=weight_range,
            removed=(from_truth, from_scores),
        )

    def _check_vector(self, numbers: Any) -> Int64:
        vector, expected = np.asarray(numbers), self.vector().shape
        if vector.shape != expected or vector.dtype.kind not in "iu":
            raise DataError(
                f"state: expected {expected[0]:,} integers, as state() returns them, got shape {vector.shape} of "
                f"{vector.dtype}; was it of an Evaluator with other metrics, options or labels?"
            )
        vector = vector.astype(np.int64)
        n = int(vector[0])
        if not 1 <= n <= MOST_STATES:
            raise DataError(f"state: a sum of {n:,} states; expected 1 to {MOST_STATES:,} (2^20)")
        if not np.array_equal(vector[1:HEAD], n * split(self._fingerprint)):
            raise DataError(
                "state: these sums are not all of the configuration of this Evaluator: versions of xmceval, metrics, "
                "options, propensities, max_weight and n_labels must be the same everywhere"
            )
        return vector

    @property
    def _fingerprint(self) -> Int64:
        """A hash of the configuration, below 2^63."""
        text = json.dumps(self.configuration, sort_keys=True).encode()
        number = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1
        return np.array([number], dtype=np.int64)


def _each_once(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of two states, each once, in an order that does not depend on which comes first."""
    return texts[0] if len(set(texts)) == 1 else tuple(sorted({text for each in texts for text in each}))


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return listed(value)
    return "none" if value is None else str(value)
