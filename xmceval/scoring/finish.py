"""Turn the totals of an evaluation into figures, counts and slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xmceval.labels.bins import Bin, Bins
from xmceval.labels.propensity import NOT_NEEDED, Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
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
class Figure:
    """One number of a report: what was measured, and its estimate."""

    measure: Measure
    estimate: Estimate

    @property
    def name(self) -> str:
        """Canonical name of the measure."""
        return self.measure.name

    def __reduce__(self) -> tuple[object, tuple[str, Estimate]]:
        # The entries of the table of metrics cannot be pickled; names of measures say the same.
        return restore_figure, (self.name, self.estimate)


def restore_figure(name: str, estimate: Estimate) -> Figure:
    """Rebuild a pickled figure from the canonical name of its measure."""
    return Figure(parse(name)[0], estimate)


@dataclass(frozen=True)
class Counts:
    """Counts of the input, which show whether the right files were scored.

    ``short_rows`` and ``tied_rows`` are by cutoff: rows with fewer predictions than k, rows with a tie across it.
    ``left_out`` is by metric: rows without a value. ``unscored_true`` is the number of true labels without a score,
    None where no metric needs whole rows.
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
    """The figures of one bin of labels."""

    bin: Bin
    figures: tuple[Figure, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Estimates by canonical name."""
        return {figure.name: figure.estimate for figure in self.figures}


@dataclass(frozen=True)
class Summary:
    """All numbers of one system: its figures, its counts, and its slices by bins of labels."""

    figures: tuple[Figure, ...]
    counts: Counts
    slices: tuple[Slice, ...] = ()


def finish_totals(
    program: Program,
    totals: Totals,
    n_labels: int,
    propensities: Propensities | None,
    *,
    weight_unit: float = 1.0,
    bins: Bins | None = None,
    ceiling: bool = False,
) -> Summary:
    """Compute the numbers of a system from its totals.

    Parameters
    ----------
    program : Program
    totals : Totals
    n_labels : int
    propensities : Propensities or None
    weight_unit : float
        The sample weight that the totals count as 1.
    bins : Bins or None
        Bins of labels for which slices are computed.
    ceiling : bool
        Whether figures keep the best value that any ranking could have.
    """
    context = Surroundings(n_labels, propensities or NOT_NEEDED, weight_unit)
    return Summary(
        _compute_figures(program, totals, context, ceiling=ceiling),
        _count_input(program, totals, n_labels),
        () if bins is None else tuple(_compute_slices(program, totals, context, bins)),
    )


def _count_input(program: Program, totals: Totals, n_labels: int) -> Counts:
    slots = {int(k): FIRST_CUTOFF + 2 * i for i, k in enumerate(program.cutoffs)}
    counts = [int(count) for count in totals.counts]
    return Counts(
        n_instances=counts[ROWS],
        n_labels=n_labels,
        n_true=counts[TRUE_LABELS],
        n_predictions=counts[PREDICTIONS],
        empty_rows=counts[EMPTY_ROWS],
        inside_ties=counts[INSIDE_TIES],
        explicit_zeros=totals.explicit_zeros,
        short_rows={k: counts[slot] for k, slot in slots.items()},
        tied_rows={k: counts[slot + 1] for k, slot in slots.items()},
        left_out={str(m): int(n) for m, n in zip(program.outputs, totals.left_out, strict=True) if n},
        unscored_true=totals.unlisted if any(isinstance(part, WholeRow) for part in program.parts) else None,
    )


def _compute_figures(program: Program, totals: Totals, context: Surroundings, *, ceiling: bool) -> tuple[Figure, ...]:
    """Compute the figures, in the order in which their measures were asked for."""
    estimates = _compute_estimates(program, totals, context)
    with_ceiling = {str(measure) for measure in program.top_k_outputs if _has_ceiling(measure)} if ceiling else set()
    return tuple(
        Figure(measure, _with_ceiling(estimates[str(measure)], keep=str(measure) in with_ceiling))
        for measure in program.measures
    )


def _has_ceiling(measure: Measure) -> bool:
    return measure.norm.over != "micro" or measure.norm.divisor == "n"


def _with_ceiling(estimate: Estimate, *, keep: bool) -> Estimate:
    return estimate if keep else replace(estimate, ceiling=None)


def _compute_estimates(program: Program, totals: Totals, context: Surroundings) -> dict[str, Estimate]:
    """Finish every part of the totals: estimates by name."""
    estimates = dict(zip(map(str, program.outputs), finish(totals), strict=True))
    for part, counts in zip(program.labelwise, totals.labels, strict=True):
        for name, value in label_values(part, counts, context).items():
            estimates[name] = _estimate_of(value)
    for measure, kind in program.whole_row_outputs:
        if kind == "AUC@k":
            estimates[str(measure)] = replace(estimates[str(measure)], tie_low=None, tie_high=None)
    for measure in program.outputs:
        if estimates[str(measure)].undefined and measure.option("zero") == "1":
            estimates[str(measure)] = _estimate_of(1.0)
    return estimates


def _estimate_of(value: float | None) -> Estimate:
    """Return a value without any bounds; None is undefined."""
    return Estimate(value or 0.0, None, None, None, None, undefined=value is None)


def _compute_slices(program: Program, totals: Totals, context: Surroundings, bins: Bins) -> Iterator[Slice]:
    """Compute the figures of each bin of labels."""
    shares = dict(zip(map(str, program.top_k_outputs), finish_shares(totals, len(bins)), strict=True))
    label_wise: list[dict[str, Estimate]] = [{} for _ in bins.bins]
    for part, counts in zip(program.labelwise, totals.labels, strict=True):
        for estimates, values in zip(label_wise, bin_values(part, counts, context, bins), strict=True):
            estimates.update({name: _estimate_of(value) for name, value in values.items()})
    measures = [measure for measure in program.measures if not measure.metric.complement]
    for number, bin_ in enumerate(bins.bins):
        estimates = {name: replace(by_bin[number], ceiling=None) for name, by_bin in shares.items()}
        estimates |= label_wise[number]
        yield Slice(bin_, tuple(Figure(m, estimates[str(m)]) for m in measures if str(m) in estimates))
