"""Result: the figures of one system, with all that a reader needs to trust them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from xmceval.errors import UsageError, counted, split_doubts
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.names import find_name
from xmceval.report.gateoutcomes import GateOutcome
from xmceval.report.renderable import Renderable, fit_line, join_facts, load
from xmceval.report.sheet.cautions import find_cautions
from xmceval.rows.filters import FilterReport
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.setup import Setup
from xmceval.scoring.summary import Counts, Figure, Slice, finish_totals
from xmceval.scoring.totals import Totals
from xmceval.version import VERSION

if TYPE_CHECKING:
    from pandas import DataFrame

    from xmceval.report.resultrows import ResultRows


@dataclass(frozen=True, eq=False, repr=False)
class Result(Renderable, Mapping[str, float]):
    """Metric values of one system by name: ``result["P@5"]`` is a fraction; ``str(result)`` is the table.

    It is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``, ``to_latex``, ``to_html``, ``to_dict`` and
    ``to_frame``, and drawn by ``plot``; ``xmceval.Results`` puts several into one table.

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
        The doubts, then the facts.
    inputs : tuple of str
        What each input was read as and on what evidence, and how its rows and labels were joined to those of the truth.
    notes : tuple of str
        Further notes, such as on the number of labels.
    filtered : FilterReport or None
        What a filter removed.
    slices : tuple of Slice
        By bins of labels: their shares of metrics at a cutoff, and label-wise metrics within them. Or by groups of
        rows: all metrics of their rows alone.
    options : mapping of str to object
        The options of scoring that were not the default; files are recorded by their names, arrays as ``array``.
    truth, scores : str
        The names of the files of truth and predictions, or ``array``.
    gates : tuple of GateOutcome
        What gates came to, where they were asked for.
    version : str
        The version of xmceval that computed it.
    held_rows : ResultRows or None
        What `rows` has, where ``rows=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> result = xmceval.score(np.eye(4), np.eye(4), k=(1, 3), metrics=["P", "nDCG"])
    >>> result
    <Result of y_score: 4 values, 4 instances, 4 labels
     P@3 0.3333, nDCG@3 1.0000, and 2 more
     print() shows the table, ["P@3"] one value, .to_frame() all>
    >>> result["P@1"], result.interval("P@1")
    (1.0, (0.39763536438352554, 1.0))
    """

    name: str
    figures: tuple[Figure, ...]
    counts: Counts
    propensities: Propensities | None = None
    empty_rows: str = "zero"
    warnings: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    filtered: FilterReport | None = None
    slices: tuple[Slice, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    truth: str = "array"
    scores: str = "array"
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION
    held_rows: ResultRows | None = None

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
    def rows(self) -> ResultRows:
        """The values of every row by metric: ``result.rows["P@5"]`` is float64 [n_rows], NaN where it is left out.

        Raises
        ------
        UsageError
            They were not held.
        """
        if self.held_rows is None:
            raise UsageError(
                f"{self.name}: the values of rows were not held (hint: score with rows=True; the means over the runs "
                "of a system have none, each run has its own)"
            )
        return self.held_rows

    @property
    def propensity_model(self) -> dict[str, Any] | None:
        """Constants and source of the propensities, as the JSON report has them."""
        model: dict[str, Any] | None = load("records").record_propensities(self.propensities)
        return model

    def __getitem__(self, name: str) -> float:
        return self._find_estimate(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.figures)

    def __eq__(self, other: object) -> bool:
        """Compare the numbers, names, doubts and facts of two reports, not options or notes on how files were read."""
        return self._content() == other._content() if isinstance(other, Result) else NotImplemented

    __hash__: ClassVar[None]  # type: ignore[assignment]
    # An array compares itself with a result as with any other object: they are not equal.
    __array_ufunc__: ClassVar[None] = None

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95% confidence interval of a metric.

        Parameters
        ----------
        name : str
            In any spelling; without its cutoff where there is one only.

        Returns
        -------
        low, high : float
            NaN where there is none: ``math.isnan(low)``.

        Raises
        ------
        KeyError
            A name of no metric of the result, or of several.

        Examples
        --------
        >>> import numpy as np
        >>> import xmceval
        >>> low, high = xmceval.score(np.eye(9), np.eye(9), k=1, metrics="P").interval("P@1")
        >>> round(low, 3), high
        (0.664, 1.0)
        """
        return self._find_estimate(name).interval

    def tie_bounds(self, name: str) -> tuple[float, float]:
        """Return the least and the greatest value of a metric over all orders of equally scored labels.

        Parameters
        ----------
        name : str
            As in `interval`.

        Returns
        -------
        low, high : float
            NaN where they are not known.

        Raises
        ------
        KeyError
            A name of no metric of the result, or of several.
        """
        return self._find_estimate(name).tie_bounds

    def flat(self, *, sep: str = "@") -> dict[str, float]:
        """Return all values by names that loggers take, those of bins of labels after the name of the bin and a slash.

        Parameters
        ----------
        sep : str
            What stands for the ``@``. MLflow refuses that sign, and so does not take the parentheses of options: with
            another `sep` than ``"@"`` they become underscores.

        Raises
        ------
        UsageError
            A `sep` with which two names are the same.

        Examples
        --------
        >>> import numpy as np
        >>> import xmceval
        >>> xmceval.score(np.eye(4), np.eye(4), metrics=["P@1", "nDCG(gain=exp)@1"]).flat(sep="_at_")
        {'P_at_1': 1.0, 'nDCG_gain_exp_at_1': 1.0}
        """
        figures = [("", figure) for figure in self.figures]
        figures += [(f"{part.bin.name}/", figure) for part in self.slices for figure in part.figures]
        values = {where + _plain_name(figure.name, sep): figure.estimate.value for where, figure in figures}
        if len(values) < len(figures):
            raise UsageError(f"sep={sep!r} gives two metrics the same name (hint: pass '_at_')")
        return values

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the values as a pandas DataFrame, one line per value, indexed by metric, k and system.

        So ``frame.loc["P", 5]`` are the lines of P@5, and ``frame["value"].unstack(["metric", "k"])`` is the table of
        papers: a line per system, a column per metric and cutoff. Metrics keep their order.

        Parameters
        ----------
        bins : bool
            Also the values of bins of labels or groups of rows, with the level ``bin``, empty for all, and the column
            ``kind``: total, share (those of all bins add up to the total), average (within the bin) or group.

        Returns
        -------
        pandas.DataFrame
            Columns value, low, high (the 95% interval), tie_low, tie_high (bounds over orders of equal scores) and
            ceiling; NaN where there is none. Shares are fractions of 1.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        frame: DataFrame = load("forms.frame").make_frame(self._subject, bins=bins)
        return frame

    def _find_estimate(self, name: str) -> Estimate:
        if name in self.estimates:
            return self.estimates[name]
        return self.estimates[find_name(name, [figure.measure for figure in self.figures])]

    @property
    def _subject(self) -> list[Result]:
        return [self]

    def _describe(self) -> tuple[str, str, str]:
        last = {figure.measure.head: figure for figure in self.figures}  # at the deepest cutoff of each metric
        values = [f"{figure.name} {figure.estimate.value:.4f}" for figure in last.values()]
        example = next(iter(last.values())).name
        doubts = counted(len(self.doubts), "doubt") if self.doubts else ""
        facts = (counted(len(self), "value"), *describe_size(self.counts), doubts)
        return (
            join_facts("Result of {}", facts, self.name),
            fit_line(values, len(self)),
            f'print() shows the table, ["{example}"] one value, .to_frame() all',
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the values may be wrong, such as rows that seem shuffled: the Python functions issue them as warnings."""
        return split_doubts(self.warnings)[0]

    @property
    def facts(self) -> tuple[str, ...]:
        """How the input was counted, such as instances without a true label: the lines below the table."""
        return split_doubts(self.warnings)[1]

    def _content(self) -> tuple[object, ...]:
        numbers = self.figures, self.counts, self.slices, self.filtered
        return self.name, *numbers, self.propensity_model, self.empty_rows, self.warnings


def _plain_name(name: str, sep: str) -> str:
    """Return the name of a metric with another sign than ``@``, and then without parentheses."""
    if sep == "@":
        return name
    return re.sub(r"[(=,]+", "_", name.replace(")", "")).replace("@", sep)


def describe_size(counts: Counts) -> tuple[str, ...]:
    """Describe how much was scored; a CSV of values of rows has no labels."""
    instances = counted(counts.n_instances, "instance")
    return (instances, counted(counts.n_labels, "label")) if counts.n_labels else (instances,)


def make_result(
    name: str,
    totals: Totals,
    setup: Setup,
    *,
    truth: str,
    scores: str,
    warnings: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Result:
    """Make the result of a system from its totals."""
    summary, options = finish_totals(totals, setup), setup.options
    cautions = find_cautions(
        summary,
        empty_rows=options.empty_rows,
        has_threshold=options.threshold is not None,
        ties=options.ties,
        ceiling=options.ceiling,
        zeros_are_judged=setup.zeros_are_judged,
    )
    doubts, facts = split_doubts((*warnings, *cautions))
    return Result(
        name,
        summary.figures,
        summary.counts,
        None if setup.propensities is NO_PROPENSITIES else setup.propensities,
        options.empty_rows,
        (*doubts, *facts),
        setup.inputs,
        notes,
        _report_filter(totals, setup),
        slices=summary.slices,
        options=options.changed(),
        truth=truth,
        scores=scores,
    )


def _report_filter(totals: Totals, setup: Setup) -> FilterReport | None:
    pairs, filtered = setup.filter, totals.tally.filtered
    if pairs is None:
        return None
    removed = filtered.removed, filtered.rows_changed, filtered.in_truth
    return FilterReport(pairs.name, pairs.n_pairs, pairs.n_rows, *removed, setup.options.filter_truth)


def shared_lines(results: Sequence[Result], kind: str) -> Iterator[str]:
    """Yield what systems have of a kind, such as warnings, each once; where not all share it, with their names before.

    A line that begins with a name or with the path that it is the ending of needs no other.
    """
    systems: dict[str, list[Result]] = {}
    for result in results:
        for line in getattr(result, kind):
            systems.setdefault(line, []).append(result)
    for line, having in systems.items():
        names = [result.name for result in having]
        files = [result.scores for result in having]
        is_named = line.partition(": ")[0].endswith((*names, *files)) or line.startswith(tuple(names))
        yield line if len(having) == len(results) or is_named else f"{', '.join(names)}: {line}"
