"""Result: the figures of one system, with all that a reader needs to trust them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xmceval.labels.catalogue import UNKNOWN_SIZES, Dataset, Sizes
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.labels.standings import Standings, find_comparable_metrics, rank_among_published
from xmceval.metrics.names import parse
from xmceval.report.cautions import Case, find_cautions
from xmceval.report.forms import render
from xmceval.rows.filters import FilterReport
from xmceval.scoring.batch import Terms
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.finish import Counts, Figure, Slice, finish_totals
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program
from xmceval.scoring.totals import Totals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

    from xmceval.scoring.labelgain import LabelGain
    from xmceval.scoring.reliability import Reliability


@dataclass(frozen=True, eq=False)
class Result(Mapping[str, float]):
    """Metric values of one system by name: ``result["P@5"]`` is a fraction; ``str(result)`` is the table.

    Attributes
    ----------
    name : str
        Name of the system.
    figures : tuple of Figure
        Every number: a measure and its estimate, in the order in which the metrics were asked for.
    counts : Counts
        Counts of the input.
    propensities : Propensities or None
    empty_rows : str
        How rows without truth were treated: ``zero`` or ``drop``.
    warnings : tuple of str
        What a reader must know before trusting the numbers.
    notes : tuple of str
        What was inferred from the files.
    filtered : FilterReport or None
        What a filter removed.
    published : Standings or None
        The ranks of the values within published ones.
    slices : tuple of Slice
        By bins of labels: their shares of metrics at a cutoff, and label-wise metrics within them.
    options : mapping of str to object
        The options of scoring that were not the default; files are recorded by their names, arrays as ``array``.
    truth, scores : str
        The names of the files of truth and predictions, or ``array``.
    sizes : Sizes
        Of the data, as far as they are known for certain.
    gain : LabelGain or None
        Hits by training frequency of their labels, where the picture ``gain`` was asked for.
    reliability : Reliability or None
        Hits by score, where the picture ``calibration`` was asked for.
    """

    name: str
    figures: tuple[Figure, ...]
    counts: Counts
    propensities: Propensities | None = None
    empty_rows: str = "zero"
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    filtered: FilterReport | None = None
    published: Standings | None = None
    slices: tuple[Slice, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    truth: str = "array"
    scores: str = "array"
    sizes: Sizes = UNKNOWN_SIZES
    gain: LabelGain | None = None
    reliability: Reliability | None = None

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Values with intervals and tie bounds, by canonical name."""
        return {figure.name: figure.estimate for figure in self.figures}

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The definition of each number in one line, by canonical name."""
        return {figure.name: figure.measure.definition for figure in self.figures}

    @cached_property
    def units(self) -> dict[str, str]:
        """``share``, ``gain``, ``count`` or ``cells`` by canonical name: tables for people show shares in percent."""
        return {figure.name: figure.measure.metric.unit for figure in self.figures}

    @property
    def propensity_model(self) -> dict[str, Any] | None:
        """Constants and source of the propensities, as the JSON report has them."""
        if self.propensities is None:
            return None
        return {name: getattr(self.propensities, name) for name in ("a", "b", "n", "source", "from_truth")}

    def __getitem__(self, name: str) -> float:
        return self._find_estimate(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.figures)

    def __eq__(self, other: object) -> bool:
        """Compare the numbers, names and warnings of two reports, not the options or notes on how files were read."""
        return self._content() == other._content() if isinstance(other, Result) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # an array compares itself with a result as with any other object: they are not equal

    def __str__(self) -> str:
        return render("table", [self])

    def plot(
        self,
        kind: str | None = None,
        *,
        metrics: str | Iterable[str] | None = None,
        size: str | None = None,
        ax: Axes | None = None,
    ) -> Drawn:
        """Draw a picture; needs matplotlib.

        Parameters
        ----------
        kind : {"curves", "bins", "gain", "calibration"}, optional
            Default: bins where there are any, else curves. The last two need data that `score` collects with `plots`.
        metrics : str or iterable of str, optional
            Only these, such as ``"P,PSP"`` or ``["P@5"]``.
        size : {"column", "page"}, optional
            As wide as a column of a paper (3.3 inches) or its page (6.9 inches); default a page for several panels.
        ax : Axes, optional
            Draw there, for pictures of one panel.

        Returns
        -------
        matplotlib.figure.Figure
            ``figure.axes`` are the panels; `xmceval.report.pictures.save` writes files that are the same each time.

        Raises
        ------
        UsageError
            What the kind cannot show.
        DataError
            matplotlib is not installed.
        """
        from xmceval.report.pictures import default_kind, draw

        return draw(kind or default_kind([self]), [self], metrics=metrics, size=size, ax=ax)

    def interval(self, name: str) -> tuple[float, float] | None:
        """Return the 95 % confidence interval of a metric, or None where there is none."""
        estimate = self._find_estimate(name)
        return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)

    def tie_bounds(self, name: str) -> tuple[float, float] | None:
        """Return the least and greatest value over all orders of equally scored labels, or None where not known."""
        estimate = self._find_estimate(name)
        return None if estimate.tie_low is None or estimate.tie_high is None else (estimate.tie_low, estimate.tie_high)

    def _find_estimate(self, name: str) -> Estimate:
        if name in self.estimates:
            return self.estimates[name]
        cutoffs = dict.fromkeys(figure.measure.k for figure in self.figures if figure.measure.k is not None)
        try:
            found = [each for each in map(str, parse(name, cutoffs)) if each in self.estimates]
        except (ValueError, AttributeError):
            found = []
        if not found:
            raise KeyError(f"{name!r} is not one of {', '.join(self.estimates)}")
        if len(found) > 1:
            raise KeyError(f"{name!r} is any of {', '.join(found)}; expected one of them")
        return self.estimates[found[0]]

    def _content(self) -> tuple[object, ...]:
        numbers = self.figures, self.counts, self.slices, self.published, self.filtered
        return self.name, *numbers, self.propensity_model, self.empty_rows, self.warnings


def make_result(
    name: str,
    program: Program,
    totals: Totals,
    terms: Terms,
    options: Options,
    *,
    truth: str,
    scores: str,
    warnings: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    sizes: Sizes = UNKNOWN_SIZES,
) -> Result:
    """Make the result of a system from its totals."""
    summary = finish_totals(program, totals, terms, ceiling=options.ceiling)
    has_threshold = options.threshold is not None
    case = Case(summary, empty_rows=options.empty_rows, has_threshold=has_threshold, ceiling=options.ceiling)
    return Result(
        name,
        summary.figures,
        summary.counts,
        None if terms.propensities is NO_PROPENSITIES else terms.propensities,
        options.empty_rows,
        (*warnings, *find_cautions(case)),
        notes,
        _report_filter(totals, terms),
        slices=summary.slices,
        options=options.changed(),
        truth=truth,
        scores=scores,
        sizes=sizes,
    )


def _report_filter(totals: Totals, terms: Terms) -> FilterReport | None:
    pairs, filtered = terms.filter, totals.tally.filtered
    if pairs is None:
        return None
    removed = filtered.removed, filtered.rows_changed, filtered.in_truth
    return FilterReport(pairs.name, pairs.rows.size, pairs.n_rows, *removed, terms.filter_truth)


def with_standings(result: Result, entry: Dataset) -> Result:
    """Return a result with the ranks of its values within the published results of a data set.

    Nothing is ranked where the sizes are not those of the published split; values weighted by other propensities than
    those of the data set are not ranked either.
    """
    reason = entry.forbids_ranking(result.sizes)
    if reason:
        return replace(result, published=Standings(entry.name, (), reason))
    metrics = find_comparable_metrics(result.propensities, entry)
    return replace(result, published=rank_among_published(result, entry.name, metrics))
