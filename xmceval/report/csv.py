"""CSV: results in long form, one line per value; fractions in full precision."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from xmceval.report.comparison import DIFFERENCE_NUMBERS, Comparison
from xmceval.report.result import Result


def render(results: Sequence[Result], places: int = 0) -> str:  # noqa: ARG001 - forms share one signature
    """Write results as CSV in long form: system, metric, k, value, low, high."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "metric", "k", "value", "low", "high"])
    for result in results:
        for figure in result.figures:
            measure, estimate = figure.measure, figure.estimate
            bounds = ["" if bound is None else repr(bound) for bound in (estimate.low, estimate.high)]
            writer.writerow([result.name, measure.head, measure.cutoff, repr(estimate.value), *bounds])
    return text.getvalue()


def render_comparison(comparison: Comparison, places: int = 0) -> str:  # noqa: ARG001 - forms share one signature
    """Write a comparison as CSV in long form, one line per difference."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "baseline", "metric", "k", "bin", *DIFFERENCE_NUMBERS])
    for each in comparison.differences:
        numbers = (getattr(each, name) for name in DIFFERENCE_NUMBERS)
        cells = ("" if number is None else repr(number) for number in numbers)
        writer.writerow([each.system, each.baseline, each.measure.head, each.measure.cutoff, each.bin, *cells])
    return text.getvalue()
