"""The Difference class: how much two systems differ in one metric, with its interval and p; data of a Comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from xmceval.comparison.options import BETTER, NONE, UNTESTED, WORSE, Testing
from xmceval.comparison.paired import LEVEL
from xmceval.errors import counted, plural, split_doubts
from xmceval.metrics.measure import Measure
from xmceval.report.forms.plain import draw_listing
from xmceval.report.renderable import Displayed, shorten
from xmceval.report.result import Result
from xmceval.report.scored import GateOutcome, shared_lines
from xmceval.report.sheet import DEFAULT, MINUS, Layout, Listing, is_symmetric
from xmceval.rows.nouns import OF_LABELS, Nouns
from xmceval.scoring.estimates import FEW_ROWS, FEWEST_ROWS, Estimate, as_bounds
from xmceval.scoring.summary import Slice

LEAST_P = 0.0001
ADJUSTED = "p (Holm)"
DETECTABLE = "smallest difference detectable with 80% power"

Key = tuple[str, str, str]


@dataclass(frozen=True, repr=False)
class Difference(Displayed):
    """The difference of one metric between two systems: system minus baseline.

    Attributes
    ----------
    measure : Measure
    system, baseline : str
        Their names.
    bin : str
        The bin of labels; empty for all labels.
    difference : float
    low, high : float or None
        The 95% interval; None if the test gives none.
    p, p_adjusted : float or None
        Two-sided, and adjusted for the number of pairs.
    effect : float or None
        t / sqrt(n).
    detectable : float or None
        The smallest difference that a t test detects with a power of 80%, given the number of pairs and rows.
    wins, ties, losses : int or None
        The numbers of rows in which the system is better, equal and worse; a row counts as none of these if
        either system has no value in it.
    n : int
        The number of rows compared, which have a value in at least one of the systems; or the number of runs.
    unit : str
        What was resampled or averaged: ``row`` or ``run``.
    error : float or None
        The standard error that t divides by.
    degrees : float or None
        The degrees of freedom of t.
    n_differing : int or None
        The number of rows that differ, if fewer than 6 do or all by the same amount: then p is exact, namely
        the share of exchanges of the two systems in these rows that make the difference at least as large.
    test : str
        The test of a label-wise metric, whose values are computed anew for each draw: ``randomization`` or, for
        decisions, ``bootstrap``; empty for other metrics.
    nouns : Nouns
        What tables call rows and labels, as in `Result`.
    """

    measure: Measure
    system: str
    baseline: str
    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    effect: float | None = None
    detectable: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    n: int = 0
    bin: str = ""
    unit: str = "row"
    error: float | None = None
    degrees: float | None = None
    n_differing: int | None = None
    test: str = ""
    nouns: Nouns = field(default=OF_LABELS, compare=False)  # a CSV of values of rows has none

    @cached_property
    def key(self) -> Key:
        """Metric, system and baseline."""
        return self.measure.name, self.system, self.baseline

    @cached_property
    def pair(self) -> tuple[str, str]:
        """System and baseline."""
        return self.system, self.baseline

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, `low` and `high`; NaN if the test gives none."""
        return as_bounds(self.low, self.high)

    @cached_property
    def is_detected(self) -> bool:
        """Whether the difference is significant at 5%, after any adjustment."""
        p = self.p_that_decides
        return p is not None and p < LEVEL and self.difference != 0

    @property
    def is_better(self) -> bool:
        """Whether the system's value is the better one."""
        return (self.difference > 0) == self.measure.metric.higher_is_better

    @cached_property
    def mark(self) -> str:
        """One of MARKS: whether the system is significantly better or worse than the baseline."""
        if self.p is None:
            return UNTESTED
        if not self.is_detected:
            return NONE
        if self.is_better:
            return BETTER
        return WORSE

    @property
    def is_symmetric(self) -> bool:
        """Whether the difference is in the middle of its interval, up to rounding."""
        if self.low is None or self.high is None:
            return False
        return is_symmetric(self.difference, self.low, self.high)

    @property
    def caution(self) -> str | None:
        """Why the interval may be inaccurate: ``few_rows`` below 30 rows."""
        if self.low is not None and self.unit == "row" and self.n < FEWEST_ROWS:
            return FEW_ROWS
        return None

    @property
    def loser(self) -> str:
        """The name of the system with the worse value."""
        if self.is_better:
            return self.baseline
        return self.system

    @property
    def p_that_decides(self) -> float | None:
        """The adjusted p if there is one, else p."""
        if self.p_adjusted is None:
            return self.p
        return self.p_adjusted

    def describe_p(self) -> str:
        """Format the p that decides."""
        text = format_p(self.p_that_decides)
        if text.startswith("<"):
            return f"p < {text[1:]}"
        return f"p = {text}"

    def __str__(self) -> str:
        pair = f"{self.system} {MINUS} {self.baseline}"
        adjusted = None
        if self.p_adjusted is not None:
            adjusted = ADJUSTED
        layout = DEFAULT.settle(self.nouns)
        return draw_listing(list_lines(pair, [self.measure.name], [self], layout, adjusted), layout)

    def _describe(self) -> tuple[str, ...]:
        what = f"Difference of {shorten(self.system)} - {shorten(self.baseline)} on {self.measure}"
        if self.bin:
            what += f" in {self.bin}"
        facts = []
        if self.low is not None:
            facts.append(f"{self.low:.4f} to {self.high:.4f}")
        if self.p is None:
            facts.append("not tested")
        else:
            facts.append(self.describe_p())
        return f"{what}: {self.difference:.4f}", ", ".join(facts), "print() shows a table"


@dataclass(frozen=True)
class RunSpread:
    """The spread of a metric over the runs of a system; `sd` divides by n - 1.

    `bin` is empty for all labels.
    """

    measure: Measure
    mean: float
    sd: float
    lowest: float
    highest: float
    bin: str = ""


@dataclass(frozen=True)
class RunsOf:
    """A system that is the mean of several runs.

    Attributes
    ----------
    name : str
    results : tuple of str
        The names of the results of its runs.
    spreads : tuple of RunSpread
        One per metric.
    spreads_in_bins : tuple of RunSpread
        One per bin of labels and metric.
    """

    name: str
    results: tuple[str, ...]
    spreads: tuple[RunSpread, ...]
    spreads_in_bins: tuple[RunSpread, ...] = ()

    def average(self, first: Result) -> Result:
        """Return a copy of the first run's result with means over the runs as its values."""
        means = {(spread.bin, spread.measure): spread.mean for spread in (*self.spreads, *self.spreads_in_bins)}
        figures = {
            name: tuple(replace(figure, estimate=Estimate(means[name, figure.measure])) for figure in figures)
            for name, figures in first.by_bin.items()
        }
        slices = tuple(Slice(part.bin, figures[part.bin.name]) for part in first.slices)
        return replace(first, name=self.name, figures=figures[""], slices=slices, held_rows=None)


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """The data of a Comparison, for tables, records and pages; see Comparison for the fields."""

    results: tuple[Result, ...]
    differences: tuple[Difference, ...]
    testing: Testing
    warnings: tuple[str, ...] = ()
    runs: tuple[RunsOf, ...] = ()
    source: str = ""
    gates: tuple[GateOutcome, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the differences or the values of its results may be wrong; see `Result.doubts`."""
        return tuple(dict.fromkeys([*split_doubts(self.warnings)[0], *shared_lines(self.results, "doubts")]))

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts about the comparison, such as metrics without a test; results hold their own facts."""
        return split_doubts(self.warnings)[1]

    @cached_property
    def by_key(self) -> dict[Key, Difference]:
        """The differences over all labels."""
        return {difference.key: difference for difference in self.differences if not difference.bin}

    @cached_property
    def systems(self) -> dict[str, Result]:
        """The result of each system by name; several runs give one result of means, without intervals."""
        runs = {name: of_system for of_system in self.runs for name in of_system.results}
        systems = {}
        for result in self.results:
            of_system = runs.get(result.name)
            if of_system is None:
                systems[result.name] = result
            elif result.name == of_system.results[0]:
                systems[of_system.name] = of_system.average(result)
        return systems

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """System and baseline of each pair."""
        return list(dict.fromkeys(difference.pair for difference in self.differences))

    def marks(self, system: str, bin: str = "") -> dict[str, str] | None:  # noqa: A002 - the JSON's word
        """Return by metric how a system compares with the common baseline; None for or without a baseline.

        Each mark is ``better`` or ``worse`` if that is significant, otherwise ``none``, or ``untested``.

        Parameters
        ----------
        system : str
            The name of a system.
        bin : str
            A bin of labels; empty for all labels.
        """
        against = self.testing.against
        if against is None or system == against:
            return None
        marks = {figure.name: UNTESTED for figure in self.results[0].figures}
        for difference in self.differences:
            if (difference.system, difference.bin) == (system, bin):
                marks[difference.measure.name] = difference.mark
        return marks

    def of_pair(self, system: str, baseline: str, bin: str = "") -> list[Difference]:  # noqa: A002 - the JSON's word
        """Return the differences of one pair.

        Parameters
        ----------
        system, baseline : str
            Their names.
        bin : str
            A bin of labels; empty for all labels.
        """
        place = system, baseline, bin
        return [difference for difference in self.differences if (*difference.pair, difference.bin) == place]


def format_p(p: float | None) -> str:
    """Format a p value with three digits, or more if it is small."""
    if p is None:
        return ""
    if p < LEAST_P:
        return f"<{LEAST_P:g}"
    if p < LEVEL <= float(f"{p:.3f}"):  # 0.050 would not look significant
        return f"{math.floor(p * 10_000) / 10_000:.4f}"
    if p < 10 * LEAST_P:
        return f"{p:.4f}"
    return f"{p:.3f}"


def list_lines(
    pair: str, heads: Sequence[str], differences: Sequence[Difference], layout: Layout, adjusted: str | None
) -> Listing:
    """List differences with intervals and tests, one per line; `adjusted` is the heading of adjusted p."""
    columns = ["", "difference", "95% interval", "p"]
    numeric = {1, 3}
    if adjusted:
        numeric.add(len(columns))
        columns.append(adjusted)
    has_counts = any(difference.wins is not None for difference in differences)
    if has_counts:
        columns.append("wins/ties/losses")
    rows = []
    sizes = []
    for name, difference in zip(heads, differences, strict=True):
        size = signed(difference, difference.difference, layout)
        interval = ""
        if difference.low is not None and difference.high is not None:
            interval = f"{signed(difference, difference.low, layout)}..{signed(difference, difference.high, layout)}"
        row = [name, size, interval, format_p(difference.p)]
        if adjusted:
            row.append(format_p(difference.p_adjusted))
        if difference.wins is not None:
            row.append(f"{difference.wins}/{difference.ties}/{difference.losses}")
        elif has_counts:
            row.append("")
        rows.append(tuple(row))
        if difference.detectable:
            sizes.append(f"{name} {layout.format(difference.measure, difference.detectable)}")
    lines = []
    if sizes:
        lines.append(f"{DETECTABLE}: {', '.join(sizes)}")
    if any(difference.caution == FEW_ROWS for difference in differences):
        noun = plural(differences[0].nouns.row)
        lines.append(f"caution: the intervals are from fewer than {FEWEST_ROWS} {noun}")
    title = " · ".join([pair, *describe_pairs(differences, layout)])
    detected = frozenset(i for i, difference in enumerate(differences) if difference.is_detected)
    return Listing(title, tuple(columns), tuple(rows), frozenset(numeric), tuple(lines), detected)


def describe_pairs(differences: Sequence[Difference], layout: Layout) -> Iterator[str]:
    """Describe the systems compared, the unit, and the bin."""
    first = differences[0]
    n = max(difference.n for difference in differences)  # 0 if nothing was tested
    if n and first.unit == "run":
        yield f"Welch's t test of {counted(n, 'run')}"
    elif n:
        yield f"paired over {counted(n, first.nouns.row)}"
    if layout.is_in_percent:
        are_shares = all(difference.measure.metric.unit == "share" for difference in differences)
        yield "points" if are_shares else "points or units"
    if first.bin:
        yield first.bin


def signed(difference: Difference, value: float, layout: Layout) -> str:
    """Format a difference, or an end of its interval, with its sign."""
    text = layout.format(difference.measure, value)
    if text.startswith("-"):
        return f"{MINUS}{text[1:]}"
    return f"+{text}"
