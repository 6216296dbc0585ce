"""CSV: results in long form, one line per value; fractions in full precision."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from xmceval.report.comparison import DIFFERENCE_NUMBERS, Comparison
from xmceval.report.layout import DEFAULT, Layout
from xmceval.report.result import Result
from xmceval.scoring.finish import Figure

# The bin is empty for all labels. The kind is total, or for a bin of labels share (those of all bins add up to the
# total) or average (within the bin).
HEAD = ("system", "metric", "k", "bin", "kind", "value", "low", "high", "ceiling")


def render(results: Sequence[Result], layout: Layout = DEFAULT) -> str:  # noqa: ARG001 - forms share one signature
    """Write results as CSV in long form, with the columns of HEAD."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for result in results:
        writer.writerows([result.name, *line] for line in _lines(result))
    return text.getvalue()


def _lines(result: Result) -> Iterator[list[str]]:
    """Yield a line for each value of a system: first those of all labels, then those of each bin of labels."""
    for figure in result.figures:
        yield _line(figure, "", "total")
    for part in result.slices:
        for figure in part.figures:
            yield _line(figure, part.bin.name, figure.kind_in_bin)


def _line(figure: Figure, bin_name: str, kind: str) -> list[str]:
    estimate = figure.estimate
    numbers = estimate.value, estimate.low, estimate.high, estimate.ceiling
    texts = ["" if number is None or not math.isfinite(number) else repr(number) for number in numbers]
    return [figure.measure.head, figure.measure.cutoff, bin_name, kind, *texts]


def render_comparison(comparison: Comparison, layout: Layout = DEFAULT) -> str:  # noqa: ARG001 - forms share one signature
    """Write a comparison as CSV in long form, one line per difference."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "baseline", "metric", "k", "bin", *DIFFERENCE_NUMBERS])
    for each in comparison.differences:
        numbers = (getattr(each, name) for name in DIFFERENCE_NUMBERS)
        cells = ("" if number is None else repr(number) for number in numbers)
        writer.writerow([each.system, each.baseline, each.measure.head, each.measure.cutoff, each.bin, *cells])
    return text.getvalue()
