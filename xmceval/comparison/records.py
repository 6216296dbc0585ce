"""Convert a comparison to records for JSON, CSV and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xmceval.comparison.difference import Compared, Difference, RunSpread
from xmceval.comparison.options import Testing
from xmceval.comparison.sheet import write_verdicts
from xmceval.report.forms.data import Record, pick
from xmceval.report.records import BASIS, record_data, record_gates, record_measure, record_system
from xmceval.scoring.options import specs
from xmceval.version import COMPARE_SCHEMA

# The columns of CSV, which has one line per difference.
DIFFERENCE_COLUMNS = (
    *("system", "baseline", "metric", "k", "bin"),
    *("difference", "low", "high", "p", "p_adjusted", "effect", "detectable", "wins", "ties", "losses", "n", "unit"),
    *("mark", "value", "baseline_value", "higher_is_better", *specs(Testing), *BASIS),
)
# Of frames; text has no type.
DIFFERENCE_TYPES = {
    **dict.fromkeys(("difference", "low", "high", "p", "p_adjusted", "effect", "detectable"), "float64"),
    **dict.fromkeys(("wins", "ties", "losses", "n"), "Int64"),
    "unit": "",
}


def record_comparison(comparison: Compared) -> Record:
    """Return the document of a comparison."""
    # Runs of one system are compared together, by their means.
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
    """Return a difference between two systems."""
    return {
        **pick(difference, ("system", "baseline")),
        "metric": difference.measure.name,
        "bin": difference.bin or None,
        **pick(difference, ("difference", "low", "high", "p", "p_adjusted", "effect", "detectable")),
        **pick(difference, ("wins", "ties", "losses", "n", "caution", "unit", "error", "degrees", "n_differing")),
    }


def _name_spreads(spreads: Iterable[RunSpread]) -> Record:
    return {spread.measure.name: pick(spread, ("mean", "sd", "lowest", "highest")) for spread in spreads}


def list_differences(comparison: Compared) -> Iterator[Record]:
    """Yield a line for each difference, with the two values that it is between."""
    values = {
        (result.name, bin_name, figure.name): figure.estimate.value
        for result in (*comparison.results, *comparison.systems.values())
        for bin_name, figures in result.by_bin.items()
        for figure in figures
    }
    data = {**record_data(comparison.results[0]), **pick(comparison.testing, specs(Testing))}
    for difference in comparison.differences:
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
