"""Result: the numbers of one system, with all that a reader needs to trust them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xmceval.errors import counted, listed
from xmceval.labels.bins import Bin, Bins
from xmceval.labels.propensity import NOT_NEEDED, Propensities
from xmceval.labels.standings import Standings
from xmceval.metrics.names import parse
from xmceval.rows.filters import FilterReport
from xmceval.scoring.labelmeans import Surroundings, bin_values, label_values
from xmceval.scoring.program import Program, WholeRow
from xmceval.scoring.totals import (
    EMPTY_ROWS,
    FIRST_CUTOFF,
    INSIDE_TIES,
    PREDICTIONS,
    ROWS,
    TRUE_LABELS,
    Estimate,
    Totals,
    finish,
    finish_shares,
)


@dataclass(frozen=True)
class Counts:
    """What was read: so that one sees at once whether these are the right files.

    ``short_rows`` and ``tied_rows`` are by cut: rows with fewer predictions than k, rows with a tie across it.
    ``left_out`` is by metric: rows without a value. ``unscored_true`` are true labels without a score, None where no
    metric looks at whole rows.
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
    left_out: Mapping[str, int] = field(default_factory=dict)
    unscored_true: int | None = None


@dataclass(frozen=True)
class Slice:
    """The numbers of one bin of labels."""

    bin: Bin
    estimates: Mapping[str, Estimate]


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
    units : mapping of str to str
        ``share`` or ``count`` by canonical name: people's reports show shares in percent.
    warnings : tuple of str
        What a reader must know before trusting the numbers.
    notes : tuple of str
        What was inferred from the files.
    filtered : FilterReport or None
        What a filter took out.
    slices : tuple of Slice
        By bins of labels: their shares of metrics at a cutoff, and label-wise metrics within them.
    published : Standings or None
        Where the values would stand among published ones.
    """

    name: str
    estimates: Mapping[str, Estimate]
    definitions: Mapping[str, str]
    counts: Counts
    propensities: Propensities | None = None
    empty_rows: str = "zero"
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    units: Mapping[str, str] = field(default_factory=dict)
    filtered: FilterReport | None = None
    published: Standings | None = None
    slices: tuple[Slice, ...] = ()

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

    def tie_bounds(self, name: str) -> tuple[float, float] | None:
        """Return the least and greatest value over all orders of equally scored labels, or None where not known."""
        estimate = self.estimates[self._canonical(name)]
        return None if estimate.tie_low is None or estimate.tie_high is None else (estimate.tie_low, estimate.tie_high)

    def _canonical(self, name: str) -> str:
        if name in self.estimates:
            return name
        try:
            return next(str(measure) for measure in parse(name) if str(measure) in self.estimates)
        except (ValueError, StopIteration):
            raise KeyError(f"{name!r} is not among {', '.join(self.estimates)}") from None

    def __str__(self) -> str:
        from xmceval.report.plain import as_table

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
    has_threshold: bool = True,
    weight_unit: float = 1.0,
    filtered: FilterReport | None = None,
    bins: Bins | None = None,
    ceiling: bool = False,
) -> Result:
    """Finish totals into a result."""
    around = Surroundings(n_labels, propensities or NOT_NEEDED, weight_unit)
    finished = _estimates(program, totals, around)
    estimates = {str(measure): finished[str(measure)] for measure in program.measures}
    at_cuts = {str(measure) for measure in program.top_k_outputs} if ceiling else set()
    at_cuts -= {
        str(measure) for measure in program.measures if measure.norm.over == "micro" and measure.norm.divisor != "n"
    }
    estimates = {name: each if name in at_cuts else replace(each, ceiling=None) for name, each in estimates.items()}
    definitions = {str(measure): measure.definition for measure in program.measures}
    slots = {int(k): FIRST_CUTOFF + 2 * i for i, k in enumerate(program.cutoffs)}
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
        left_out={str(m): int(n) for m, n in zip(program.outputs, totals.left_out, strict=True) if n},
        unscored_true=totals.unlisted if any(isinstance(part, WholeRow) for part in program.parts) else None,
    )
    told = _decision_warnings(program, has_threshold)
    every = (*warnings, *_warnings(counts, estimates, empty_rows), *_row_warnings(counts, program), *told)
    units = {str(measure): measure.metric.unit for measure in program.measures}
    slices = () if bins is None else tuple(_slices(program, totals, around, bins))
    lacking = [name for name in estimates if slices and name not in slices[0].estimates]
    lacking = [f"there is no share by frequency of {listed(lacking)}"] if lacking else []
    without = [name for name, each in estimates.items() if ceiling and each.ceiling is None]
    every = (*every, *lacking, *([f"there is no ceiling of {listed(without)}"] if without else []))
    return Result(
        *(name, estimates, definitions, counts, propensities, empty_rows, every, notes, units, filtered), slices=slices
    )


def _estimates(program: Program, totals: Totals, around: Surroundings) -> dict[str, Estimate]:
    """Finish every part of the totals: estimates by name."""
    finished = dict(zip(map(str, program.outputs), finish(totals), strict=True))
    for part, counts in zip(program.labelwise, totals.labels, strict=True):
        for name, value in label_values(part, counts, around).items():
            finished[name] = Estimate(value or 0.0, None, None, None, None, undefined=value is None)
    for measure, kind in program.whole_row_outputs:
        if kind == "AUC@k":
            finished[str(measure)] = replace(finished[str(measure)], tie_low=None, tie_high=None)
    for measure in program.outputs:
        if finished[str(measure)].undefined and measure.option("zero") == "1":
            finished[str(measure)] = Estimate(1.0, None, None, None, None)
    return finished


def _slices(program: Program, totals: Totals, around: Surroundings, bins: Bins) -> Iterator[Slice]:
    """Finish what each bin of labels has."""
    shares = dict(zip(map(str, program.top_k_outputs), finish_shares(totals, len(bins)), strict=True))
    by_label: list[dict[str, Estimate]] = [{} for _ in bins.bins]
    for part, counts in zip(program.labelwise, totals.labels, strict=True):
        for found, values in zip(by_label, bin_values(part, counts, around, bins), strict=True):
            for name, value in values.items():
                found[name] = Estimate(value or 0.0, None, None, None, None, undefined=value is None)
    for number, each in enumerate(bins.bins):
        found = {name: replace(estimates[number], ceiling=None) for name, estimates in shares.items()} | by_label[
            number
        ]
        names = [str(measure) for measure in program.measures if not measure.metric.complement]
        yield Slice(each, {name: found[name] for name in names if name in found})


def _warnings(counts: Counts, estimates: Mapping[str, Estimate], empty_rows: str) -> Iterator[str]:
    """What the counts say against the numbers."""
    deepest = max(counts.short_rows, default=0)
    short = counts.short_rows.get(deepest, 0)
    if short:
        yield (
            f"{short:,} of {counted(counts.n_instances, 'instance')} {_have(short)} fewer than "
            f"{counted(deepest, 'prediction')}: the missing ones count as misses"
        )
    if counts.empty_rows:
        treated = "count as 0" if empty_rows == "zero" else "are left out"
        yield f"{counted(counts.empty_rows, 'instance')} {_have(counts.empty_rows)} no true label: they {treated}"
    if counts.n_true == 0:
        yield "no instance has a true label: is this the right truth file?"
    if counts.explicit_zeros:
        yield f"{counts.explicit_zeros:,} stored zeros of the truth are no labels: they are ignored"
    undefined = [name for name, estimate in estimates.items() if estimate.undefined]
    ideal = [name for name in undefined if parse(name)[0].needs_propensities]
    if ideal and counts.n_true:
        yield f"the ideal of {', '.join(ideal)} sums to 0: given as 0"
    other = [name for name in undefined if name not in ideal]
    if other and counts.n_true:
        yield f"nothing to divide by in {', '.join(other)}: given as 0"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _decision_warnings(program: Program, has_threshold: bool) -> Iterator[str]:
    """What speaks against taking all stored labels for decisions."""
    decided = [str(measure) for measure in program.measures if measure.metric.family == "confusion"]
    if decided and not has_threshold:
        yield f"{listed(decided)}: all labels with a score are taken for decisions (hint: threshold=, --threshold)"


def _row_warnings(counts: Counts, program: Program) -> Iterator[str]:
    """What metrics of whole rows could not see."""
    for measure in program.outputs:
        rows = counts.left_out.get(str(measure), 0)
        if rows:
            why = measure.metric.left_out or f"no label is of grade {measure.rel} or above"
            yield f"{measure}: {rows:,} of {counts.n_instances:,} instances are left out, {why}"
    if counts.unscored_true:
        names = listed(
            measure for measure in program.measures if measure.metric.needs_labels and measure.metric.family == "row"
        )
        if names:
            yield (
                f"{counts.unscored_true / counts.n_true:.1%} of the true labels have no score: "
                f"for {names} they are tied with all other labels without one"
            )
