"""The Result class, a mapping of one system's values, and Results of several, which many formats can show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from xmceval.errors import UsageError, counted, listed
from xmceval.metrics.names import find_name
from xmceval.report.forms.data import Record, make_frame
from xmceval.report.records import VALUE_COLUMNS, VALUE_TYPES, list_values, record_propensities, record_results
from xmceval.report.renderable import Renderable, fit_line, join_facts, shorten
from xmceval.report.score_sheet import build_sheet
from xmceval.report.scored import ResultRows, Scored, describe_size
from xmceval.report.sheet import Layout, Sheet
from xmceval.scoring.estimates import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

    from xmceval.report.labels import ResultLabels


class OfResults(Renderable):
    """The forms of one result, or of several on the same truth."""

    __slots__ = ()

    _columns = VALUE_COLUMNS

    def _sheet(self, layout: Layout) -> Sheet:
        return build_sheet(self._subject[0], layout)

    def _records(self) -> Record:
        return record_results(self._subject[0])

    def _lines(self) -> Iterator[Record]:
        return list_values(self._subject[0])

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the values as a pandas DataFrame, one line per value, indexed by metric, k and system.

        So ``frame.loc["P", 5]`` are the lines of P@5, and ``frame["value"].unstack(["metric", "k"])`` is the table of
        papers: a line per system, a column per metric and cutoff. Metrics keep their order.

        Parameters
        ----------
        bins : bool
            Also the values of bins of labels or groups of rows, with the level ``bin``, empty for all, and the column
            ``kind``: total, share (the shares of all bins add up to the total), average (within the bin) or group.

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
        columns = VALUE_TYPES
        if bins:
            columns = {"kind": "", **VALUE_TYPES}
        return make_frame(self._lines(), ["system"], columns, bins=bins)


class Result(Scored, OfResults, Mapping[str, float]):
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
        How each input was read and on what evidence, and how its rows and labels were matched to the
        truth.
    notes : tuple of str
        Further notes, such as on the number of labels.
    filtered : FilterReport or None
        What a filter removed.
    slices : tuple of Slice
        By bins of labels: their shares of metrics at a cutoff, and label-wise metrics within them. Or by groups of
        rows: all metrics of their rows alone.
    options : mapping of str to object
        The scoring options that differ from the default; files are recorded by name, arrays as ``array``.
    truth, scores : str
        The names of the files of truth and predictions, or ``array``.
    gates : tuple of GateOutcome
        Outcomes of the gates asked for.
    version : str
        The version of xmceval that computed it.
    held_rows : ResultRows or None
        What `rows` has, where ``rows=True``.
    held_labels : sequence of tuple
        What `labels` is computed from: 4 bytes per count and label.
    label_names : object
        What has the names of all labels as its ``listed``.
    label_ids : array of int [n_labels], optional
        The ids of the labels that count, if not all do.
    nouns : Nouns
        What its tables call rows and labels: ``nouns.row`` is ``instance``, or ``query`` where the truth is qrels.

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

    @property
    def definitions(self) -> dict[str, str]:
        """The definition of each number in one line, by canonical name."""
        return {figure.name: self.nouns.name_rows(figure.measure.definition) for figure in self.figures}

    @property
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
                f"{self.name}: the values of rows were not held (hint: score with rows=True, all rows at once; an "
                "Evaluator and merge have only totals, and of a system with several runs each run has its own)"
            )
        return self.held_rows

    @property
    def labels(self) -> ResultLabels:
        """Counts, precision, recall and F1 of each label by column: ``result.labels["F1@5"]`` is float64 [n].

        They are computed anew each time. Only labels that are true, or predicted within the largest cutoff, are
        listed, in ascending order. A saved state has names of labels only if an Evaluator or data frames had them.

        Raises
        ------
        UsageError
            No metric counts by label, or some count at cutoffs and some of decisions; or an Evaluator has counted more
            rows since.
        """
        # Not loaded by a result that is not asked for them.
        from xmceval.report.labels import check_counted, list_labels

        check_counted([task for task, _, _ in self.held_labels], f"labels of {self.name}")
        return next(list_labels(self, self.counts.n_labels + 1))

    @property
    def propensity_model(self) -> dict[str, Any] | None:
        """Constants and source of the propensities, as the JSON report has them."""
        return record_propensities(self.propensities)

    def __getitem__(self, name: str) -> float:
        return self._find_estimate(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.figures)

    def __eq__(self, other: object) -> bool:
        """Compare the numbers, names, doubts and facts of two reports, not options or notes on how files were read."""
        if not isinstance(other, Result):
            return NotImplemented
        names = ("name", "figures", "counts", "slices", "filtered", "propensity_model", "empty_rows", "warnings")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__: ClassVar[None]  # type: ignore[assignment]
    # An array compares a result like any other object: they are not equal.
    __array_ufunc__: ClassVar[None] = None

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95% confidence interval of a metric.

        Parameters
        ----------
        name : str
            In any spelling; the cutoff may be omitted if there is only one.

        Returns
        -------
        low, high : float
            NaN if there is no interval: ``math.isnan(low)``.

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
            NaN if unknown.

        Raises
        ------
        KeyError
            A name of no metric of the result, or of several.
        """
        return self._find_estimate(name).tie_bounds

    def flat(self, *, sep: str = "@") -> dict[str, float]:
        """Return all values by names that loggers take; within a bin, its name and a slash come first.

        Parameters
        ----------
        sep : str
            Replaces the ``@``, which MLflow refuses. It refuses the parentheses of options too: with a `sep` other than
            ``"@"`` they become underscores.

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
        values = dict[str, float]()
        n_values = 0
        for bin_name, figures in self.by_bin.items():
            n_values += len(figures)
            for figure in figures:
                name = figure.name
                if sep != "@":
                    name = re.sub(r"[(=,]+", "_", name.replace(")", "")).replace("@", sep)
                if bin_name:
                    name = f"{bin_name}/{name}"
                values[name] = figure.estimate.value
        if len(values) < n_values:
            raise UsageError(f"sep={sep!r} gives two metrics the same name (hint: pass '_at_')")
        return values

    def _find_estimate(self, name: str) -> Estimate:
        if name in self.estimates:
            return self.estimates[name]
        return self.estimates[find_name(name, [figure.measure for figure in self.figures])]

    @property
    def _subject(self) -> tuple[list[Result], None]:
        return [self], None

    def _describe(self) -> tuple[str, str, str]:
        last = {figure.measure.head: figure for figure in self.figures}  # at the deepest cutoff of each metric
        values = [f"{figure.name} {figure.estimate.value:.4f}" for figure in last.values()]
        example = next(iter(last.values())).name
        facts = (counted(len(self), "value"), *describe_size(self))
        return (
            join_facts("Result of {}", facts, self.doubts, self.name),
            fit_line(values, len(self)),
            f'print() shows the table, ["{example}"] one value, .to_frame() all',
        )


class Results(OfResults, Mapping[str, Result]):
    """Results of several systems on the same truth, by name; ``str(results)`` is one table of all of them.

    It is written in other forms by ``to_json``, ``to_csv``, ``to_markdown``, ``to_latex``, ``to_html``, ``to_dict`` and
    ``to_frame``, and drawn by ``plot``.

    Parameters
    ----------
    results : iterable of Result, or mapping of str to Result
        Results of `score`, or of a loop; a mapping gives the systems its own names.

    Raises
    ------
    UsageError
        No result, two of the same name, or results on another truth or under other options.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> scored = [xmceval.score(np.eye(6), y_score, k=1, metrics="P") for y_score in (np.eye(6)[::-1], np.eye(6))]
    >>> results = xmceval.Results({"old": scored[0], "new": scored[1]})
    >>> results
    <Results of 2 systems: 6 instances, 6 labels
     P@1: new 1.0000, old 0.0000
     print() shows the table, ["old"] one Result, .to_frame() all>
    >>> results["new"]["P@1"]
    1.0
    """

    __slots__ = ("_results",)

    def __init__(self, results: Iterable[Result] | Mapping[str, Result]) -> None:
        if isinstance(results, Mapping) and not isinstance(results, Result):
            named = [
                replace(result, name=name) for name, result in zip(results, _iterate(results.values()), strict=True)
            ]
        else:
            named = list(_iterate(results))
        _check_together(named)
        self._results: dict[str, Result] = {result.name: result for result in named}

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"{name!r} is not one of the systems {listed(self._results)}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def _subject(self) -> tuple[list[Result], None]:
        return list(self.values()), None

    def _describe(self) -> tuple[str, str, str]:
        first = next(iter(self.values()))
        measure = first.figures[0].measure
        name = measure.name
        is_higher = measure.metric.higher_is_better
        having = [result for result in self.values() if name in result.estimates]
        ranked = sorted(having, key=lambda result: result[name], reverse=is_higher)
        values = [f"{shorten(result.name)} {result[name]:.4f}" for result in ranked]
        doubts = {line for result in self.values() for line in result.doubts}
        key = "name"
        if shorten(first.name) == first.name == repr(first.name)[1:-1]:
            key = f'"{first.name}"'
        return (
            join_facts(f"Results of {counted(len(self), 'system')}", describe_size(first), doubts),
            f"{name}: {fit_line(values, len(self))}",
            f"print() shows the table, [{key}] one Result, .to_frame() all",
        )


def _iterate(results: Any) -> Iterator[Result]:
    if isinstance(results, Result):  # itself a mapping
        results = [results]
    for result in results:
        if not isinstance(result, Result):
            raise UsageError(f"expected results, such as score returns, got {type(result).__name__}")
        yield result


def _check_together(results: list[Result]) -> None:
    """Refuse results that do not belong in one table."""
    if not results:
        raise UsageError("expected at least one result, got none")
    names = [result.name for result in results]
    repeated = listed(dict.fromkeys(name for name in names if names.count(name) > 1))
    if repeated:
        raise UsageError(f"several results have the name {repeated} (hint: pass a dict of results by name)")
    first = results[0]
    for result in results[1:]:
        # Not the number of labels: if no input declares it, labels seen in predictions count too.
        sizes = {(other.counts.n_instances, other.counts.n_true) for other in (first, result)}
        if len(sizes) > 1:
            one, two = (
                f"{listed(describe_size(other))} and {counted(other.counts.n_true, other.nouns.true_label)}"
                for other in (first, result)
            )
            raise UsageError(f"{first.name} has {one}, but {result.name} {two}; expected results on the same truth")
        names = list(dict.fromkeys([*first.options, *result.options]))
        differing = [name for name in names if first.options.get(name) != result.options.get(name)]
        if differing:
            raise UsageError(
                f"{first.name} and {result.name} were scored with different {listed(differing)}; expected the same "
                "options"
            )
