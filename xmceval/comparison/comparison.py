"""The Comparison class, a mapping of the differences between systems, and its records for JSON, CSV and frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, overload

from xmceval.comparison.difference import Compared, Difference, Key, RunSpread
from xmceval.comparison.options import MARKS, Testing
from xmceval.comparison.paired import DRAWS
from xmceval.comparison.sheet import build_comparison_sheet, write_verdicts
from xmceval.errors import counted, listed
from xmceval.metrics.names import find_name
from xmceval.report.forms.data import Record, make_frame, pick
from xmceval.report.records import BASIS, record_data, record_gates, record_measure, record_system
from xmceval.report.renderable import Renderable, fit_line, join_facts, shorten
from xmceval.report.result import Result
from xmceval.report.scored import ResultRows, describe_size
from xmceval.report.sheet import Layout, Sheet
from xmceval.scoring.options import specs
from xmceval.version import COMPARE_SCHEMA

if TYPE_CHECKING:
    from pandas import DataFrame


# The columns of CSV, with one line per difference.
DIFFERENCE_COLUMNS = (
    *("system", "baseline", "metric", "k", "bin"),
    *("difference", "low", "high", "p", "p_adjusted", "effect", "detectable", "wins", "ties", "losses", "n", "unit"),
    *("mark", "value", "baseline_value", "higher_is_better", *specs(Testing), *BASIS),
)
# Dtypes of frames; text columns have none.
DIFFERENCE_TYPES = {
    **dict.fromkeys(("difference", "low", "high", "p", "p_adjusted", "effect", "detectable"), "float64"),
    **dict.fromkeys(("wins", "ties", "losses", "n"), "Int64"),
    "unit": "",
}


class Comparison(Compared, Renderable, Mapping[Key, Difference]):
    """Differences by (metric, system, baseline): ``comparison["P@5", "b", "a"].p``; ``str(comparison)`` is the table.

    The name of a system, or of one of its runs, gives its Result: ``comparison["b"]["P@5"]``. The methods
    ``to_json``, ``to_csv``, ``to_markdown``, ``to_latex``, ``to_html``, ``to_dict`` and ``to_frame`` convert
    the comparison to other forms, and ``plot`` draws it.

    Attributes
    ----------
    results : tuple of Result
        One per system or run, in the order in which they were passed.
    differences : tuple of Difference
        Pair by pair, in the order of the metrics; then those within bins of labels.
    testing : Testing
        How they were tested.
    warnings : tuple of str
        Doubts and facts about the differences; the results hold those about the values.
    runs : tuple of RunsOf
        The systems with several runs; each run has its own result.
    source : str
        Where the values come from, if they were not scored here.
    gates : tuple of GateOutcome
        Outcomes of the gates asked for.

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
    >>> comparison["new"]["P@1"]
    1.0
    """

    _columns = DIFFERENCE_COLUMNS

    @overload
    def __getitem__(self, key: Key) -> Difference: ...
    @overload
    def __getitem__(self, key: str) -> Result: ...
    def __getitem__(self, key: Key | str) -> Difference | Result:
        if isinstance(key, tuple) and key in self.by_key:
            return self.by_key[key]
        results = {**{result.name: result for result in self.results}, **self.systems}
        if isinstance(key, str) and key in results:
            return results[key]
        if not isinstance(key, tuple) or len(key) != 3:
            example = next(iter(self.by_key), ("P@5", "b", "a"))
            raise KeyError(
                f"{key!r} is neither one of the systems {listed(results)} nor a metric, a system and its baseline, "
                f"such as {example!r}"
            )
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

    @property
    def rows(self) -> dict[str, ResultRows]:
        """Per-row values by system, or by run of a system: ``comparison.rows["b"]["P@5"]``; see `Result.rows`.

        Raises
        ------
        UsageError
            The per-row values were not kept.
        """
        return {result.name: result.rows for result in self.results}

    def _sheet(self, layout: Layout) -> Sheet:
        return build_comparison_sheet(self, layout)

    def _records(self) -> Record:
        return record_comparison(self)

    def _lines(self) -> Iterator[Record]:
        # One record per difference, with the two values it compares.
        values = {
            (result.name, bin_name, figure.name): figure.estimate.value
            for result in (*self.results, *self.systems.values())
            for bin_name, figures in result.by_bin.items()
            for figure in figures
        }
        data = {**record_data(self.results[0]), **pick(self.testing, specs(Testing))}
        for difference in self.differences:
            place = difference.bin, difference.measure.name
            yield {
                **data,
                **record_measure(difference.measure),
                **record_difference(difference),
                "metric": difference.measure.head,
                "bin": difference.bin,
                "mark": difference.mark,
                "value": values.get((difference.system, *place)),
                "baseline_value": values.get((difference.baseline, *place)),
            }

    def to_frame(self, *, bins: bool = False) -> DataFrame:
        """Return the differences as a pandas DataFrame, indexed by metric, k, system and baseline.

        Parameters
        ----------
        bins : bool
            Include the differences within bins of labels or groups of rows, with the level ``bin``, empty for
            all.

        Returns
        -------
        pandas.DataFrame
            Columns difference, low, high (the 95% interval), p, p_adjusted, effect, detectable, wins, ties, losses, n
            and unit; cells without a value are missing. Differences of shares are fractions of 1.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        return make_frame(self._lines(), ["system", "baseline"], DIFFERENCE_TYPES, bins=bins)

    @property
    def _subject(self) -> tuple[tuple[Result, ...], Comparison]:
        return self.results, self

    def _describe(self) -> tuple[str, str, str]:
        what = counted(len(self.systems), "system")
        if len(self.runs) == len(self.systems):
            what += " with runs"
        elif self.runs:
            what += f", {len(self.runs)} with runs"
        if len(self.pairs) == 1:
            what = " with ".join(map(shorten, self.pairs[0]))
        elif len(self.systems) == 1:
            what = shorten(next(iter(self.systems)))
        words = dict(zip(MARKS, ("better on", "worse on", "no difference detected on", "not tested on"), strict=True))
        lines = []
        for pair in self.pairs:
            marks = Counter(difference.mark for difference in self.of_pair(*pair))
            verdicts = ", ".join(f"{word} {marks[mark]}" for mark, word in words.items() if marks[mark])
            lines.append(f"{' - '.join(map(shorten, pair))}: {verdicts}")
        size = "nothing to compare with"
        if self.pairs:
            size = counted(len(self), "difference")
        return (
            join_facts(f"Comparison of {what}", (size, *describe_size(self.results[0])), self.doubts),
            fit_line(lines, len(self.pairs), "; ") or "no differences",
            "print() shows tables, [metric, system, baseline] one difference, .to_frame() all",
        )


def record_comparison(comparison: Compared) -> Record:
    """Return a comparison as a document for JSON."""
    # The runs of a system are compared by their mean.
    of_runs = {name for runs in comparison.runs for name in runs.results}
    return {
        "schema": COMPARE_SCHEMA,
        **record_data(comparison.results[0]),
        "systems": [
            {**record_system(result), "marks": None if result.name in of_runs else comparison.marks(result.name)}
            for result in comparison.results
        ],
        **pick(comparison.testing, specs(Testing)),
        "comparisons": [record_difference(difference) for difference in comparison.differences],
        "verdicts": write_verdicts(comparison),
        "runs": [
            {
                "name": runs.name,
                "systems": runs.results,
                "metrics": _name_spreads(runs.spreads),
                "slices": [
                    {"bin": name, "metrics": _name_spreads(s for s in runs.spreads_in_bins if s.bin == name)}
                    for name in dict.fromkeys(spread.bin for spread in runs.spreads_in_bins)
                ],
                "marks": comparison.marks(runs.name),
            }
            for runs in comparison.runs
        ],
        "doubts": comparison.doubts,
        "notes": comparison.facts,
        "source": comparison.source or None,
        **record_gates(comparison.gates),
    }


def record_difference(difference: Difference) -> Record:
    """Return the record of a difference between two systems."""
    way: Record = {}
    if difference.test:
        way["test"] = difference.test
    if difference.test == "randomization" and difference.n_differing is None:
        way["resamples"] = DRAWS
    return {
        **pick(difference, ("system", "baseline")),
        "metric": difference.measure.name,
        "bin": difference.bin or None,
        **pick(difference, ("difference", "low", "high", "p", "p_adjusted", "effect", "detectable")),
        **pick(difference, ("wins", "ties", "losses", "n", "caution", "unit", "error", "degrees", "n_differing")),
        **way,
    }


def _name_spreads(spreads: Iterable[RunSpread]) -> Record:
    return {spread.measure.name: pick(spread, ("mean", "sd", "lowest", "highest")) for spread in spreads}
