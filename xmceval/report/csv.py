"""CSV: results in long form, one line per value; fractions in full precision."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

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
