"""Comparison: the differences between systems on the same truth, with the tests that they passed or failed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xmceval.errors import counted, split_doubts
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_name
from xmceval.report.forms.layout import Layout
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.renderable import Displayed, Renderable, fit_line, join_facts, load, shorten
from xmceval.report.result import Result, describe_size, shared_lines
from xmceval.scoring.comparing.testoptions import BETTER, NONE, UNTESTED, WORSE, Testing
from xmceval.scoring.estimates import Estimate, as_bounds
from xmceval.scoring.summary import Figure, Slice
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS
from xmceval.statistics.paired import LEVEL, PairedT, mean_of_runs

if TYPE_CHECKING:
    from pandas import DataFrame


ROUNDING = 1e-9  # of the middle of an interval, as a share of its width

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
        The bin of labels that it is of; empty for all labels.
    difference : float
    low, high : float or None
        The 95% interval; None where the test gives none.
    p, p_adjusted : float or None
        Two-sided, and adjusted for the number of pairs.
    effect : float or None
        t / sqrt(n).
    detectable : float or None
        The smallest difference that tests by t of as many pairs find with a power of 80% on so many rows.
    wins, ties, losses : int or None
        Rows in which the system is better, as good, and worse; none of them where one of the two has no
        value.
    n : int
        The rows that have a value in at least one of the two, or the runs, that were compared.
    unit : str
        What was resampled or averaged: ``row`` or ``run``.
    error : float or None
        The standard error that t divides by.
    degrees : float or None
        The degrees of freedom of t.
    n_differing : int or None
        The rows that differ, where they are fewer than 6 or all of them differ alike: then p is exact, the share of
        exchanges of the two systems in these rows that make the difference at least as large.
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

    @classmethod
    def of(
        cls,
        measure: Measure,
        pair: tuple[str, str],
        tested: PairedT,
        *,
        n: int,
        bin: str = "",  # noqa: A002 - the JSON's word
        unit: str = "row",
        record: tuple[int | None, int | None, int | None] = (None, None, None),
    ) -> Difference:
        """Take a test of a system and its baseline; a record is its wins, ties and losses."""
        wins, ties, losses = record
        return cls(
            measure,
            *pair,
            tested.difference,
            low=tested.low,
            high=tested.high,
            p=tested.p,
            effect=tested.effect,
            wins=wins,
            ties=ties,
            losses=losses,
            n=n,
            bin=bin,
            unit=unit,
            error=tested.error,
            degrees=tested.degrees,
            n_differing=tested.n_differing,
        )

    @property
    def key(self) -> Key:
        """Metric, system and baseline."""
        return self.measure.name, self.system, self.baseline

    @property
    def pair(self) -> tuple[str, str]:
        """System and baseline."""
        return self.system, self.baseline

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, `low` and `high`; NaN where the test gives none."""
        return as_bounds(self.low, self.high)

    @property
    def is_detected(self) -> bool:
        """Whether the difference is significant at 5%, after adjustment where there is one."""
        p = self.p if self.p_adjusted is None else self.p_adjusted
        return p is not None and p < LEVEL and self.difference != 0

    @property
    def is_better(self) -> bool:
        """Whether the system's value is the better one."""
        return (self.difference > 0) == self.measure.metric.higher_is_better

    @property
    def mark(self) -> str:
        """One of MARKS: whether the system was found to be better or worse than the baseline."""
        if self.p is None:
            return UNTESTED
        return NONE if not self.is_detected else BETTER if self.is_better else WORSE

    @property
    def is_symmetric(self) -> bool:
        """Whether the difference is in the middle of its interval, but for rounding."""
        if self.low is None or self.high is None:
            return False
        return abs(self.high + self.low - 2 * self.difference) <= ROUNDING * (self.high - self.low)

    @property
    def caution(self) -> str | None:
        """Why the interval may be off: ``few_rows`` below 30 rows."""
        is_doubtful = self.low is not None and self.unit == "row" and self.n < FEWEST_ROWS
        return FEW_ROWS if is_doubtful else None

    def _render(self, form: str, layout: Layout) -> str:
        listing = load("sheet.comparesheet").list_difference(self, layout)
        return str(load("forms.registry").render_listings(form, [listing], layout))

    def _describe(self) -> tuple[str, ...]:
        pair = f"{shorten(self.system)} - {shorten(self.baseline)}"
        in_bin = f" in {self.bin}" if self.bin else ""
        tested = load("sheet.verdicts").describe_p(self) if self.p is not None else "not tested"
        interval = f"{self.low:.4f} to {self.high:.4f}, " if self.low is not None and self.high is not None else ""
        return (
            f"Difference of {pair} on {self.measure}{in_bin}: {self.difference:.4f}",
            f"{interval}{tested}",
            "print() shows a table",
        )


@dataclass(frozen=True)
class RunSpread:
    """How far the values of a metric lie apart over the runs of a system; `sd` divides by n - 1.

    The bin of labels is empty for all labels.
    """

    measure: Measure
    mean: float
    sd: float
    lowest: float
    highest: float
    bin: str = ""

    @classmethod
    def of(cls, measure: Measure, values: Sequence[float], bin: str = "") -> RunSpread:  # noqa: A002 - the JSON's word
        """Summarise the values of at least two runs."""
        return cls(measure, mean_of_runs(values), statistics.stdev(values), min(values), max(values), bin)


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
        """Return a result with the means over the runs, of which `first` is the first, as its values."""
        slices = tuple(Slice(part.bin, self._list_means(part.figures, part.bin.name)) for part in first.slices)
        means = self._list_means(first.figures)
        return replace(first, name=self.name, figures=means, slices=slices, held_rows=None)

    def _list_means(self, figures: Sequence[Figure], bin_name: str = "") -> tuple[Figure, ...]:
        spreads = (spread for spread in (*self.spreads, *self.spreads_in_bins) if spread.bin == bin_name)
        means = {spread.measure.name: spread.mean for spread in spreads}
        return tuple(replace(figure, estimate=Estimate(means[figure.name])) for figure in figures)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Renderable, Mapping[Key, Difference]):
    """Differences by (metric, system, baseline): ``comparison["P@5", "b", "a"].p``; ``str(comparison)`` is the table.

    It is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``, ``to_latex``, ``to_html``, ``to_dict`` and
    ``to_frame``, and drawn by ``plot``.

    Attributes
    ----------
    results : tuple of Result
        One per system or run, in the order in which they were passed.
    differences : tuple of Difference
        Pair by pair, each in the order of the metrics; those of bins of labels follow.
    testing : Testing
        How they were tested.
    warnings : tuple of str
        Doubts and facts about the differences; those about the values are with the results.
    runs : tuple of RunsOf
        The systems with several runs, each of which has a result of its own.
    source : str
        Where the values come from, if not from scoring.
    gates : tuple of GateOutcome
        What gates came to, where they were asked for.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scores = {"old": np.eye(6)[::-1], "new": np.eye(6)}
    >>> comparison = xmceval.compare(np.eye(6), scores, k=1, metrics="P")
    >>> comparison
    <Comparison of new with old: 1 difference, 6 instances, 6 labels
     new - old: better on 1
     print() shows tables, [metric, system, baseline] one difference, .to_frame() all>
    >>> comparison["P@1", "new", "old"].wins
    6
    """

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
        """How systems were compared, such as metrics without a test; those of its results are theirs."""
        return split_doubts(self.warnings)[1]

    @cached_property
    def by_key(self) -> dict[Key, Difference]:
        """The differences over all labels."""
        return {difference.key: difference for difference in self.differences if not difference.bin}

    @cached_property
    def systems(self) -> dict[str, Result]:
        """The result of each system by name; of several runs one with their means, which have no intervals."""
        runs = {name: of_system for of_system in self.runs for name in of_system.results}
        systems = {}
        for result in self.results:
            of_system = runs.get(result.name)
            if of_system is None:
                systems[result.name] = result
            elif result.name == of_system.results[0]:
                systems[of_system.name] = of_system.average(result)
        return systems

    def __getitem__(self, key: Key) -> Difference:
        if key in self.by_key:
            return self.by_key[key]
        example = next(iter(self.by_key), ("P@5", "b", "a"))
        if not isinstance(key, tuple) or len(key) != 3:
            raise KeyError(f"{key!r} is not a metric, a system and its baseline, such as {example!r}")
        metric, system, baseline = key
        measures = [difference.measure for difference in self.of_pair(system, baseline)]
        if not measures:
            pairs = ", ".join(f"{a!r} and {b!r}" for a, b in self.pairs)
            order = " (system first, then baseline)" if (baseline, system) in self.pairs else ""
            raise KeyError(f"{system!r} and {baseline!r} are not one of the pairs {pairs}{order}")
        return self.by_key[find_name(metric, measures), system, baseline]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.by_key)

    def __len__(self) -> int:
        return len(self.by_key)

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the differences as a pandas DataFrame, indexed by metric, k, system and baseline.

        Parameters
        ----------
        bins : bool
            Also the differences within bins of labels or groups of rows, with the level ``bin``, empty for all.

        Returns
        -------
        pandas.DataFrame
            Columns difference, low, high (the 95% interval), p, p_adjusted, effect, detectable, wins, ties, losses, n
            and unit; missing where there is none. Differences of shares are fractions of 1.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        frame: DataFrame = load("forms.frame").make_comparison_frame(self, bins=bins)
        return frame

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """System and baseline of each pair."""
        return list(dict.fromkeys(difference.pair for difference in self.differences))

    def marks(self, system: str, bin: str = "") -> dict[str, str] | None:  # noqa: A002 - the JSON's word
        """Return by metric how a system compares with the common baseline; None of the baseline, or without one.

        Each is ``better`` or ``worse`` where that was detected, else ``none``, or ``untested``.

        Parameters
        ----------
        system : str
        bin : str
            A bin of labels; empty for all labels.
        """
        against = self.testing.against
        if against is None or system == against:
            return None
        of_system = [
            difference for difference in self.differences if (difference.system, difference.bin) == (system, bin)
        ]
        untested = {figure.name: UNTESTED for figure in self.results[0].figures}
        return untested | {difference.measure.name: difference.mark for difference in of_system}

    def of_pair(self, system: str, baseline: str, bin: str = "") -> list[Difference]:  # noqa: A002 - the JSON's word
        """Return the differences of one pair.

        Parameters
        ----------
        system, baseline : str
            Their names.
        bin : str
            A bin of labels; empty for all labels.
        """
        return [
            difference
            for difference in self.differences
            if (*difference.pair, difference.bin) == (system, baseline, bin)
        ]

    def _render(self, form: str, layout: Layout) -> str:
        return str(load("forms.registry").render_comparison(form, self, layout))

    def _draw_page(self, title: str | None, layout: Layout) -> str:
        return str(load("page").render_page(self.results, self, title=title, layout=layout))

    @property
    def _subject(self) -> Comparison:
        return self

    def _describe(self) -> tuple[str, str, str]:
        what, n_with_runs = counted(len(self.systems), "system"), len(self.runs)
        if n_with_runs:
            what += " with runs" if n_with_runs == len(self.systems) else f", {n_with_runs} with runs"
        if len(self.pairs) == 1:
            what = " with ".join(map(shorten, self.pairs[0]))
        elif len(self.systems) == 1:
            what = shorten(next(iter(self.systems)))
        lines = (f"{shorten(a)} - {shorten(b)}: {_count_verdicts(self.of_pair(a, b))}" for a, b in self.pairs)
        return (
            join_facts(
                f"Comparison of {what}",
                (
                    counted(len(self), "difference") if self.pairs else "nothing to compare with",
                    *describe_size(self.results[0].counts),
                    counted(len(self.doubts), "doubt") if self.doubts else "",
                ),
            ),
            fit_line(lines, len(self.pairs), "; ") or "no differences",
            "print() shows tables, [metric, system, baseline] one difference, .to_frame() all",
        )


def _count_verdicts(differences: Sequence[Difference]) -> str:
    """Count on how many metrics a system is better and worse."""
    numbers = {
        "better on": sum(difference.is_detected and difference.is_better for difference in differences),
        "worse on": sum(difference.is_detected and not difference.is_better for difference in differences),
        "no difference detected on": sum(
            difference.p is not None and not difference.is_detected for difference in differences
        ),
        "not tested on": sum(difference.p is None for difference in differences),
    }
    return ", ".join(f"{words} {number}" for words, number in numbers.items() if number)
