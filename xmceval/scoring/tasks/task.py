"""Tasks: the one interface of all kinds of work that a program consists of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xmceval.errors import listed
from xmceval.kernels.metrics.topk import SLOTS
from xmceval.kernels.metrics.totals import add_values
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Batch, Terms
from xmceval.scoring.estimates import Estimate, estimate
from xmceval.scoring.sums import OUT_OF_RANGE, Pending, Sums

Estimates = dict[str, Estimate]  # by the name of the measure


class Unscored(NamedTuple):
    """True labels without a score, and all true labels."""

    number: int
    n_true: int


class Task(ABC):
    """Measures that are computed together, from the labels that are true from one grade on.

    Attributes
    ----------
    measures : tuple of Measure
    rel : int
        The grade from which on a label is true.
    """

    measures: tuple[Measure, ...]
    rel: int
    counts_in_place = False  # whether a part is too large to be copied for each batch of a loop

    @property
    def needs_scores(self) -> bool:
        """Whether the task looks at the scores of all labels, not only at the ranking and the ties at its end."""
        return True

    @staticmethod
    @abstractmethod
    def takes(measure: Measure) -> bool:
        """Whether this kind of task computes a measure."""

    @classmethod
    @abstractmethod
    def compile(cls, measures: Iterable[Measure]) -> list[Any]:
        """Return the tasks that compute these measures."""

    @abstractmethod
    def workspace(self) -> Any:
        """Return the working space of one thread."""

    def numbers_per_row(self, terms: Terms) -> int:  # noqa: ARG002
        """Return how many numbers this task makes of a row, beside its ranking."""
        return 0

    @abstractmethod
    def empty(self, terms: Terms) -> Any:
        """Return the part of the totals that this task adds to, for no rows."""

    @abstractmethod
    def add(self, batch: Batch, space: Any, part: Any) -> RowValues | None:
        """Add the rows of a batch to a part; threads may do so at the same time.

        Returns the values of the rows, valid until the next call in this thread, where the task has any.
        """

    @staticmethod
    @abstractmethod
    def merge(left: Any, right: Any) -> Any:
        """Add two parts of this task; associative, and commutative."""

    @abstractmethod
    def finish(self, part: Any, n_rows: int, n_labels: int, terms: Terms) -> Estimates:
        """Return the estimate of each measure from the totals of `n_rows` rows."""

    def finish_bins(self, part: Any, n_rows: int, terms: Terms) -> Sequence[Estimates]:  # noqa: ARG002
        """Return the estimates for each bin of labels, of those measures that have any."""
        return [{} for _ in range(terms.n_bins)]

    def left_out(self, part: Any) -> dict[str, int]:  # noqa: ARG002
        """Return the rows without a value, by the name of the measure."""
        return {}

    def unscored(self, part: Any) -> Unscored | None:  # noqa: ARG002
        """Return the true labels without a score, where they were counted."""
        return None

    def tied_by_label(self, ties: str) -> Iterable[Measure]:  # noqa: ARG002
        """Return the measures that follow the order by label and cannot follow `ties`."""
        return ()

    def remarks(self, part: Any, n_labels: int) -> Sequence[str]:  # noqa: ARG002
        """Return what a reader may want to know of how the values came about, such as the memory that they took."""
        return ()


def by_rel(measures: Iterable[Measure]) -> Iterator[tuple[int, tuple[Measure, ...]]]:
    """Yield the measures with the same `rel`, ascending."""
    groups: dict[int, list[Measure]] = {}
    for measure in measures:
        groups.setdefault(measure.rel, []).append(measure)
    for rel in sorted(groups):
        yield rel, tuple(groups[rel])


def look_up(table: Collection[str], name: str, what: str, measure: Measure) -> Any:
    """Return an entry of a table of rules, or a name of a set of rules.

    Raises
    ------
    LookupError
        No such entry: METRICS names a rule that is not implemented.
    """
    if name not in table:
        raise LookupError(f"{measure}: there is no {what} {name!r}; known: {listed(table)}")
    return table[name] if isinstance(table, Mapping) else name


class RowValues(NamedTuple):
    """The values of some rows.

    Attributes
    ----------
    values : float64 array [n_rows, n_measures, SLOTS]
        Numerator, denominator, how far ties could move the numerator up and down, and the ideal's numerator.
    shares : float64 array [n_rows, n_measures * n_bins, SLOTS]
        The parts of bins of labels in them, or no rows.
    left_out : int64 array [n_measures]
        Rows without a value.
    unscored_true : int
        True labels without a score, where whole rows are looked at.
    n_true : int
        True labels, there.
    """

    values: Float64
    shares: Float64
    left_out: Int64
    unscored_true: int = 0
    n_true: int = 0


@dataclass
class RowSpace:
    """Working space of a task whose measures come from values of rows."""

    own: tuple[Any, ...]
    sums: Int64


class RowTask(Task):
    """A task whose measures are sums over rows: a subclass computes the values of rows."""

    has_ceiling = False

    @abstractmethod
    def compute(self, batch: Batch, own: tuple[Any, ...]) -> RowValues:
        """Compute the values of the rows of a batch; `own` is this task's working space."""

    def own_space(self) -> tuple[Any, ...]:
        """Return what `compute` writes between rows."""
        return ()

    def workspace(self) -> RowSpace:
        """Return the working space of one thread."""
        n = len(self.measures)
        return RowSpace(self.own_space(), Sums.zeros(n))

    def numbers_per_row(self, terms: Terms) -> int:
        """Return how many numbers the values of a row are, and the shares of bins in them."""
        return SLOTS * len(self.measures) * (1 + (terms.n_bins if self.has_ceiling else 0))

    def empty(self, terms: Terms) -> Sums:
        """Return sums of no rows."""
        n_shares = len(self.measures) * terms.n_bins if self.has_ceiling else 0
        return Sums(len(self.measures), n_shares, keeps_rows=True)

    def add(self, batch: Batch, space: RowSpace, part: Sums | Pending) -> RowValues:
        """Add the values of the rows of a batch, and return them."""
        rows = self.compute(batch, space.own)
        fold_ties(rows.values, batch.terms.ties)
        shares, extremes, n = part.begin(space.sums), part.begin_extremes(), len(self.measures)
        wrong = add_values(rows.values, batch.weights, space.sums, extremes[:n])
        if rows.shares.size and wrong < 0:
            wrong = add_values(rows.shares, batch.weights, shares, extremes[n:])
        if wrong >= 0:
            raise batch.fault(int(wrong), OUT_OF_RANGE)
        part.add(space.sums, shares, rows.left_out, rows.unscored_true, rows.n_true)
        part.keep(extremes)
        return rows

    @staticmethod
    def merge(left: Sums, right: Sums) -> Sums:
        """Add two sums."""
        return left.merge(right)

    def finish(self, part: Sums, n_rows: int, n_labels: int, terms: Terms) -> Estimates:  # noqa: ARG002
        """Divide."""
        n_counted = n_rows - part.left_out
        rows = zip(self.measures, part.sums, n_counted, part.extremes[: len(self.measures)], strict=True)
        return {
            str(measure): self.finish_one(measure, estimate(measure, sums, int(n), extremes))
            for measure, sums, n, extremes in rows
        }

    def left_out(self, part: Sums) -> dict[str, int]:
        """Return the rows without a value, by the name of the measure."""
        return {str(measure): int(n) for measure, n in zip(self.measures, part.left_out, strict=True)}

    def finish_one(self, measure: Measure, finished: Estimate) -> Estimate:  # noqa: ARG002
        """Return the estimate of a measure without what does not apply to it."""
        return finished.without_ceiling()


def fold_ties(values: Float64, ties: str) -> None:
    """Move values to the best or worst order of tied labels, in place."""
    if ties in {"best", "worst"}:
        moved = values[:, :, 2 if ties == "best" else 3].copy()
        values[:, :, 0] += moved
        values[:, :, 2:4] -= moved[:, :, None]
