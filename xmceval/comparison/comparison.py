"""The Comparison class, a mapping of the differences between systems that can be written in many formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xmceval.comparison.difference import Compared, Difference, Key
from xmceval.comparison.options import MARKS
from xmceval.comparison.records import DIFFERENCE_COLUMNS, DIFFERENCE_TYPES, list_differences, record_comparison
from xmceval.comparison.sheet import build_comparison_sheet
from xmceval.errors import counted
from xmceval.metrics.names import find_name
from xmceval.report.displayed import fit_line, join_facts, shorten
from xmceval.report.forms.data import Record, make_frame
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.renderable import Renderable
from xmceval.report.result import Result
from xmceval.report.scored import describe_size
from xmceval.report.sheet import Sheet

if TYPE_CHECKING:
    from pandas import DataFrame


class Comparison(Compared, Renderable, Mapping[Key, Difference]):
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
        Outcomes of the gates that were asked for.

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

    _columns = DIFFERENCE_COLUMNS

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

    def _sheet(self, layout: Layout = DEFAULT) -> Sheet:
        return build_comparison_sheet(self, layout)

    def _records(self) -> Record:
        return record_comparison(self)

    def _lines(self) -> Iterator[Record]:
        return list_differences(self)

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
        return make_frame(self._lines(), ["system", "baseline"], DIFFERENCE_TYPES, bins=bins)

    @property
    def _subject(self) -> tuple[tuple[Result, ...], Comparison]:
        return self.results, self

    def _describe(self) -> tuple[str, str, str]:
        what, n_with_runs = counted(len(self.systems), "system"), len(self.runs)
        if n_with_runs:
            what += " with runs" if n_with_runs == len(self.systems) else f", {n_with_runs} with runs"
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
