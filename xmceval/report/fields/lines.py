"""Lines of tables for programs, one per value or difference, and their columns: those of CSV, some of them of frames.

The columns follow from the fields of figures and differences, and add what each value depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from xmceval.metrics.measure import Measure
from xmceval.report.fields.comparefields import DIFFERENCE, TESTING
from xmceval.report.fields.field import NUMBER, PLAIN, WHOLE, Field, Fields, find_numbers, inside
from xmceval.report.fields.scorefields import FIGURE, SYSTEM, TRUTH

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison, Difference
    from xmceval.report.result import Result
    from xmceval.scoring.summary import Figure


def _find_cutoff(measure: Measure) -> int | str:
    return measure.cutoff if measure.k is None else measure.k


def _choose(source: str, fields: Fields, *names: str) -> dict[str, Field]:
    return inside(source, {name: fields[name] for name in names})


MEASURE = {
    "metric": PLAIN.of("head"),
    "k": PLAIN.of(_find_cutoff),
    "unit": PLAIN.of("metric.unit"),
    "higher_is_better": PLAIN.of("metric.higher_is_better"),
}

VALUES = {
    "system": SYSTEM["name"].of("result.name"),
    **_choose("figure.measure", MEASURE, "metric", "k"),
    "bin": PLAIN,
    "kind": PLAIN.of("figure.kind"),
    **_choose("figure", FIGURE, "value", "low", "high", "ceiling", "tie_low", "tie_high", "undefined"),
    **_choose("figure.measure", MEASURE, "unit", "higher_is_better"),
    "n_instances": WHOLE,
    **_choose("result", TRUTH, "n_labels", "truth"),
    **_choose("result", SYSTEM, "scores"),
    **_choose("result", TRUTH, "propensities", "options", "version"),
}

DIFFERENCES = {
    **_choose("difference", DIFFERENCE, "system", "baseline"),
    **_choose("difference.measure", MEASURE, "metric", "k"),
    **_choose("difference", DIFFERENCE, "bin", *find_numbers(DIFFERENCE), "unit"),
    "mark": PLAIN.of("difference.mark"),
    "value": NUMBER,
    "baseline_value": NUMBER,
    **_choose("difference.measure", MEASURE, "higher_is_better"),
    **inside("comparison.testing", TESTING),
    **_choose("result", TRUTH, "truth", "propensities", "options", "version"),
}


class ValueLine(NamedTuple):
    """A value of a system, over all labels or, as its kind says, in a bin of labels or a group of rows."""

    result: Result
    figure: Figure
    bin: str = ""
    n_in_group: int | None = None

    @property
    def n_instances(self) -> int:
        """How many rows were scored for it."""
        return self.result.counts.n_instances if self.n_in_group is None else self.n_in_group


class DifferenceLine(NamedTuple):
    """A difference, and the two values that it is between."""

    comparison: Comparison
    difference: Difference
    value: float | None
    baseline_value: float | None

    @property
    def result(self) -> Result:
        """Any result: what all have in common."""
        return self.comparison.results[0]


def list_values(results: Iterable[Result]) -> Iterator[ValueLine]:
    """Yield a line for each value of each system: first those of all labels, then those of each bin or group."""
    for result in results:
        yield from (ValueLine(result, figure) for figure in result.figures)
        for part in result.slices:
            n = getattr(part.bin, "n_instances", None)
            yield from (ValueLine(result, figure, part.bin.name, n) for figure in part.figures)


def list_differences(comparison: Comparison) -> Iterator[DifferenceLine]:
    """Yield a line for each difference."""
    values = _find_values(comparison)
    for each in comparison.differences:
        own, other = (values.get((name, each.bin, each.measure.name)) for name in (each.system, each.baseline))
        yield DifferenceLine(comparison, each, own, other)


def _find_values(comparison: Comparison) -> dict[tuple[str, str, str], float]:
    """Return the values of systems by system, bin and metric; of a system with several runs their means."""
    lines = list_values((*comparison.results, *comparison.systems.values()))
    return {(line.result.name, line.bin, line.figure.name): line.figure.estimate.value for line in lines}
