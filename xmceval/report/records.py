"""Convert results to records: JSON documents, CSV lines and rows of data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from xmceval.labels.propensity import Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.metric import format_number
from xmceval.report.forms.data import Record, pick
from xmceval.report.scored import GateOutcome, Scored
from xmceval.rows.nouns import Nouns
from xmceval.scoring.summary import Counts, Value
from xmceval.version import SCORE_SCHEMA

PROPENSITIES = ("a", "b", "n", "source", "from_truth")
BASIS = ("truth", "propensities", "options", "version")  # what a value depends on

# The columns of CSV, with one line per value.
VALUE_COLUMNS = (
    *("system", "metric", "k", "bin", "kind"),
    *("value", "low", "high", "ceiling", "tie_low", "tie_high", "undefined"),
    *("unit", "higher_is_better", "n_instances", "n_labels", "truth", "scores", *BASIS[1:]),
)
# Dtypes of frames; text columns have none.
VALUE_TYPES = dict.fromkeys(("value", "low", "high", "tie_low", "tie_high", "ceiling"), "float64")


def record_results(results: Sequence[Scored]) -> Record:
    """Return results as a document for JSON."""
    return {
        "schema": SCORE_SCHEMA,
        **record_data(results[0]),
        "systems": [record_system(result) for result in results],
        **record_gates([outcome for result in results for outcome in result.gates]),
    }


def record_data(result: Scored) -> Record:
    """Return the facts that all systems share, taken from one result; unknown counts are None."""
    counts = result.counts
    return {
        **pick(result, ("version", "truth", "options")),
        "n_instances": counts.n_instances,
        "n_labels": _if_known(counts, "n_labels"),
        "n_true": _if_known(counts, "n_true"),
        "empty_rows": {"number": _if_known(counts, "empty_rows"), "treated_as": result.empty_rows},
        "explicit_zeros": _if_known(counts, "explicit_zeros"),
        "propensities": record_propensities(result.propensities),
        "grades": counts.grades,
    }


def record_propensities(propensities: Propensities | None) -> Record | None:
    """Return the constants and the source of propensities."""
    if propensities is None:
        return None
    return pick(propensities, PROPENSITIES)


def record_system(result: Scored) -> Record:
    """Return the record of one system."""
    counts = result.counts
    default = float(1.0 not in counts.unscored)  # any grade above 0 is 1 or above, unless there are fractions
    slices = []
    for part in result.slices:
        metrics = {}
        for figure in part.figures:
            others = pick(figure.estimate, ("tie_low", "tie_high", "ceiling"))
            metrics[figure.name] = {
                "kind": figure.kind,
                **pick(figure.estimate, ("value", "low", "high", "undefined")),
                **{name: value for name, value in others.items() if value is not None},
                "caution": figure.estimate.caution,
            }
        slices.append({**asdict(part.bin), "metrics": metrics})
    return {
        **pick(result, ("name", "scores")),
        "n_predictions": _if_known(counts, "n_predictions"),
        "n_unpredicted": _if_known(counts, "unpredicted"),
        "short_rows": counts.short_rows,
        "ties": {"rows_across_cut": counts.tied_rows, "rows_inside_only": _if_known(counts, "inside_ties")},
        "left_out_rows": counts.left_out,
        "unscored_true": counts.unscored_true,
        "filter": result.filtered,
        "metrics": {figure.name: record_figure(figure, result.nouns) for figure in result.figures},
        "slices": slices,
        "inputs": result.inputs,
        "doubts": result.doubts,
        "notes": (*result.facts, *result.notes),
        "unscored": {
            format_number(grade or default): unscored._asdict() for grade, unscored in counts.unscored.items()
        },
    }


def _if_known(counts: Counts, name: str) -> int | None:
    """Return a count of the input, or None: saved values of rows may come without it."""
    if not counts.are_known:
        return None
    count: int = getattr(counts, name)
    return count


def record_figure(figure: Value, nouns: Nouns) -> Record:
    """Return a value over all labels."""
    names = ("value", "low", "high", "tie_low", "tie_high", "ceiling", "undefined", "caution")
    measure = figure.measure
    definition = nouns.name_rows(measure.definition)
    return {**pick(figure.estimate, names), "definition": definition, "unit": measure.metric.unit}


def record_gates(outcomes: Sequence[GateOutcome]) -> Record:
    """Return the outcomes of gates, if any."""
    gates = [
        {
            **pick(outcome, ("kind", "system")),
            "baseline": outcome.baseline or None,
            "dataset": outcome.dataset or None,
            "metric": outcome.measure.name,
            **pick(outcome, ("limit", "value", "p_adjusted", "passed")),
        }
        for outcome in outcomes
    ]
    if not gates:
        return {}
    return {"gates": gates}


def list_values(results: Iterable[Scored]) -> Iterator[Record]:
    """Yield a record for each value of each system: first over all labels, then in each bin or group."""
    for result in results:
        data = {**record_data(result), "system": result.name, "scores": result.scores}
        yield from ({**data, **_line_of(figure, result.nouns), "bin": ""} for figure in result.figures)
        for part in result.slices:
            n_instances = getattr(part.bin, "n_instances", data["n_instances"])
            of_part = {**data, "bin": part.bin.name, "n_instances": n_instances}
            yield from ({**of_part, **_line_of(figure, result.nouns)} for figure in part.figures)


def _line_of(figure: Value, nouns: Nouns) -> Record:
    measure = record_measure(figure.measure)
    values = {**record_figure(figure, nouns), "sd": figure.estimate.sd}
    return {**values, "name": figure.name, "kind": figure.kind, **measure}


def record_measure(measure: Measure) -> Record:
    """Return the columns of a metric."""
    return {
        "metric": measure.head,
        "k": measure.cutoff if measure.k is None else measure.k,
        "unit": measure.metric.unit,
        "higher_is_better": measure.metric.higher_is_better,
    }
