"""CSV: results in long form, one line per value, each with all that it depends on; fractions in full precision.

Programs read it, so cells are what they are: a name that begins with =, +, - or @, which a spreadsheet takes for a
formula, is not altered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xmceval.report.comparison import DIFFERENCE_NUMBERS, Comparison, Difference
from xmceval.report.forms.csvlines import write_lines
from xmceval.report.result import Result
from xmceval.scoring.summary import Figure
from xmceval.version import VERSION

# The bin is empty for all labels. The kind is total, or for a bin of labels share (those of all bins add up to the
# total) or average (within the bin). Propensities and options are JSON.
NUMBERS = ("value", "low", "high", "ceiling", "tie_low", "tie_high")
HEAD = (
    *("system", "metric", "k", "bin", "kind", *NUMBERS, "undefined"),
    *("unit", "higher_is_better", "n_instances", "n_labels", "truth", "scores", "propensities", "options", "version"),
)
# The unit is what was resampled or averaged: row or run. The mark is better, worse, none (detected) or untested.
COMPARISON_HEAD = (
    *("system", "baseline", "metric", "k", "bin", *DIFFERENCE_NUMBERS),
    *(
        "unit",
        "mark",
        "value",
        "baseline_value",
        "higher_is_better",
        "against",
        "test",
        "adjust",
        "adjust_over",
        "resamples",
    ),
    *("seed", "truth", "propensities", "options", "version"),
)


def render(results: Sequence[Result]) -> str:
    """Write results as CSV in long form, with the columns of HEAD."""
    return write_lines(HEAD, (line for result in results for line in _list_values(result)))


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison as CSV in long form, one line per difference, with the columns of COMPARISON_HEAD."""
    first = comparison.results[0]
    common = {**asdict(comparison.testing), **_describe_result(first)}
    values = _find_values(comparison)
    return write_lines(COMPARISON_HEAD, (_make_difference(each, values) | common for each in comparison.differences))


def _list_values(result: Result) -> Iterator[dict[str, Any]]:
    """Yield a line for each value of a system: first those of all labels, then those of each bin of labels."""
    common = {
        "system": result.name,
        "n_instances": result.counts.n_instances,
        "n_labels": result.counts.n_labels if result.counts.are_known else None,
        "scores": result.scores,
        **_describe_result(result),
    }
    for figure in result.figures:
        yield {**_make_value(figure), "kind": "total", **common}
    for part in result.slices:
        for figure in part.figures:
            yield {**_make_value(figure), "bin": part.bin.name, "kind": figure.kind_in_bin, **common}


def _describe_result(result: Result) -> dict[str, Any]:
    """Return what all values of a result depend on."""
    return {
        "truth": result.truth,
        "propensities": result.propensity_model,
        "options": dict(result.options),
        "version": VERSION,
    }


def _make_value(figure: Figure) -> dict[str, Any]:
    estimate, metric = figure.estimate, figure.measure.metric
    return {
        "metric": figure.measure.head,
        "k": figure.measure.cutoff,
        **{name: getattr(estimate, name) for name in (*NUMBERS, "undefined")},
        "unit": metric.unit,
        "higher_is_better": metric.higher_is_better,
    }


def _find_values(comparison: Comparison) -> dict[tuple[str, str, str], float]:
    """Return the values of systems by system, bin and metric; of a system with several runs their means."""
    values = {}
    for result in comparison.results:
        parts = [("", result.figures), *((part.bin.name, part.figures) for part in result.slices)]
        for bin_name, figures in parts:
            values.update({(result.name, bin_name, each.name): each.estimate.value for each in figures})
    for runs in comparison.runs:
        spreads = (*runs.spreads, *runs.spreads_in_bins)
        values.update({(runs.name, each.bin, each.measure.name): each.mean for each in spreads})
    return values


def _make_difference(each: Difference, values: Mapping[tuple[str, str, str], float]) -> dict[str, Any]:
    return {
        "system": each.system,
        "baseline": each.baseline,
        "metric": each.measure.head,
        "k": each.measure.cutoff,
        "bin": each.bin,
        **{name: getattr(each, name) for name in DIFFERENCE_NUMBERS},
        "unit": each.unit,
        "mark": each.mark,
        "value": values.get((each.system, each.bin, each.measure.name)),
        "baseline_value": values.get((each.baseline, each.bin, each.measure.name)),
        "higher_is_better": each.measure.metric.higher_is_better,
    }
