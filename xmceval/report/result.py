"""Result: the numbers of one system, with all that a reader needs to trust them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xmceval.metrics import parse
from xmceval.program import Program
from xmceval.propensity import Propensities
from xmceval.totals import EMPTY_ROWS, FIRST_CUT, INSIDE_TIES, PREDICTIONS, ROWS, TRUE_LABELS, Estimate, Totals, finish


@dataclass(frozen=True)
class Counts:
    """What was read: so that one sees at once whether these are the right files.

    ``short_rows`` and ``tied_rows`` are by cut: rows with fewer predictions than k, rows with a tie across it.
    """

    n_instances: int
    n_labels: int
    n_true: int
    n_predictions: int
    empty_rows: int
    inside_ties: int
    explicit_zeros: int
    short_rows: Mapping[int, int]
    tied_rows: Mapping[int, int]


@dataclass(frozen=True)
class Result(Mapping[str, float]):
    """Metric values of one system by name: ``result["P@5"]`` is a fraction; ``str(result)`` is the table.

    Attributes
    ----------
    name : str
        The system's name.
    estimates : mapping of str to Estimate
        Values with intervals and tie bounds, by canonical name.
    definitions : mapping of str to str
        What each number is, in one line.
    counts : Counts
    propensities : Propensities or None
    empty_rows : str
        How rows without truth were treated: ``zero`` or ``drop``.
    warnings : tuple of str
        What a reader must know before trusting the numbers.
    notes : tuple of str
        What was inferred from the files.
    """

    name: str
    estimates: Mapping[str, Estimate]
    definitions: Mapping[str, str]
    counts: Counts
    propensities: Propensities | None = None
    empty_rows: str = "zero"
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __getitem__(self, name: str) -> float:
        return self.estimates[self._canonical(name)].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def interval(self, name: str) -> tuple[float, float] | None:
        """Return the 95 % confidence interval of a metric, or None where there is none."""
        estimate = self.estimates[self._canonical(name)]
        return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)

    def tie_bounds(self, name: str) -> tuple[float, float]:
        """Return the least and greatest value over all orders of equally scored labels."""
        estimate = self.estimates[self._canonical(name)]
        return estimate.tie_low, estimate.tie_high

    def _canonical(self, name: str) -> str:
        if name in self.estimates:
            return name
        try:
            return next(str(measure) for measure in parse(name) if str(measure) in self.estimates)
        except (ValueError, StopIteration):
            raise KeyError(f"{name!r} is not among {', '.join(self.estimates)}") from None

    def __str__(self) -> str:
        from xmceval.report.table import as_table

        return as_table([self])


def make_result(
    name: str,
    program: Program,
    totals: Totals,
    n_labels: int,
    propensities: Propensities | None,
    *,
    empty_rows: str = "zero",
    warnings: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Result:
    """Finish totals into a result."""
    measures = [str(measure) for measure in program.measures]
    estimates = dict(zip(measures, finish(totals), strict=True))
    definitions = {str(measure): measure.definition for measure in program.measures}
    slots = {int(k): FIRST_CUT + 2 * i for i, k in enumerate(program.cuts)}
    of = [int(count) for count in totals.counts]
    counts = Counts(
        n_instances=of[ROWS],
        n_labels=n_labels,
        n_true=of[TRUE_LABELS],
        n_predictions=of[PREDICTIONS],
        empty_rows=of[EMPTY_ROWS],
        inside_ties=of[INSIDE_TIES],
        explicit_zeros=totals.explicit_zeros,
        short_rows={k: of[slot] for k, slot in slots.items()},
        tied_rows={k: of[slot + 1] for k, slot in slots.items()},
    )
    every = warnings + tuple(_warnings(counts, estimates, empty_rows))
    return Result(name, estimates, definitions, counts, propensities, empty_rows, every, notes)


def _warnings(counts: Counts, estimates: Mapping[str, Estimate], empty_rows: str) -> Iterator[str]:
    """What the counts say against the numbers."""
    deepest = max(counts.short_rows)
    short = counts.short_rows[deepest]
    if short:
        yield (
            f"{short:,} of {counts.n_instances:,} instances have fewer than {deepest} predictions: "
            "the missing ones count as misses"
        )
    if counts.empty_rows:
        treated = "count as 0" if empty_rows == "zero" else "are left out"
        yield f"{counts.empty_rows:,} instances have no true label: they {treated}"
    if counts.n_true == 0:
        yield "no instance has a true label: is this the right truth file?"
    if counts.explicit_zeros:
        yield f"{counts.explicit_zeros:,} stored zeros of the truth are no labels: they are ignored"
    void = [name for name, estimate in estimates.items() if estimate.void]
    if void and counts.n_true:
        yield f"the ideal of {', '.join(void)} sums to 0: given as 0"
