"""JSON: everything in a result under the versioned schema; fractions in full precision, null where there is none."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from xmceval.version import COMPARE_SCHEMA, SCORE_SCHEMA, VERSION

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison, Difference, RunsOf, Spread
    from xmceval.report.result import Result
    from xmceval.scoring.comparing.densities import Density
    from xmceval.scoring.per_label.labelgain import LabelGain
    from xmceval.scoring.summary import Counts, Figure, Slice


def render(results: Sequence[Result]) -> str:
    """Write results as JSON."""
    return json.dumps(make_document(results), indent=1, allow_nan=False) + "\n"


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison as JSON."""
    return json.dumps(make_comparison_document(comparison), indent=1, allow_nan=False) + "\n"


def make_comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Make the JSON document of a comparison."""
    from xmceval.report.sheet.overlaplists import make_example, make_overlap
    from xmceval.report.sheet.verdicts import write_verdicts

    document = make_document(comparison.results)
    of_runs = {name for each in comparison.runs for name in each.results}
    for system in document["systems"]:
        system["marks"] = None if system["name"] in of_runs else comparison.marks(system["name"])
    return document | {
        "schema": COMPARE_SCHEMA,
        **asdict(comparison.testing),
        "comparisons": [_make_difference(each) for each in comparison.differences],
        "verdicts": write_verdicts(comparison),
        "overlaps": [make_overlap(each) for each in comparison.overlaps],
        "examples": [make_example(each) for each in comparison.examples],
        "runs": [_make_runs(each) | {"marks": comparison.marks(each.name)} for each in comparison.runs],
        "densities": [_make_density(each) for each in comparison.densities],
        "label_wins": [asdict(each) for each in comparison.label_wins],
        "warnings": list(comparison.warnings),
    }


def _make_runs(runs: RunsOf) -> dict[str, Any]:
    by_bin = groupby(runs.spreads_in_bins, lambda each: each.bin)
    return {
        "name": runs.name,
        "systems": list(runs.results),
        "metrics": _make_spreads(runs.spreads),
        "slices": [{"bin": name, "metrics": _make_spreads(spreads)} for name, spreads in by_bin],
    }


def _make_spreads(spreads: Iterable[Spread]) -> dict[str, dict[str, Any]]:
    names = ("mean", "sd", "lowest", "highest")
    return {each.measure.name: {name: _finite(getattr(each, name)) for name in names} for each in spreads}


def _make_difference(difference: Difference) -> dict[str, Any]:
    from xmceval.report.comparison import DIFFERENCE_NUMBERS

    numbers = {name: _finite(getattr(difference, name)) for name in DIFFERENCE_NUMBERS}
    return {
        "system": difference.system,
        "baseline": difference.baseline,
        "metric": difference.measure.name,
        "bin": difference.bin or None,
        **numbers,
        "caution": difference.caution,
        "unit": difference.unit,
    }


def make_document(results: Sequence[Result]) -> dict[str, Any]:
    """Make the JSON document of systems that were scored on the same truth."""
    first = results[0]
    counts = first.counts
    return {
        "schema": SCORE_SCHEMA,
        "version": VERSION,
        "truth": first.truth,
        "options": dict(first.options),
        "n_instances": counts.n_instances,
        "n_labels": _known(counts, counts.n_labels),
        "n_true": _known(counts, counts.n_true),
        "empty_rows": {"number": _known(counts, counts.empty_rows), "treated_as": first.empty_rows},
        "explicit_zeros": _known(counts, counts.explicit_zeros),
        "propensities": first.propensity_model,
        "systems": [_make_system(result) for result in results],
    }


def _make_system(result: Result) -> dict[str, Any]:
    counts = result.counts
    return {
        "name": result.name,
        "scores": result.scores,
        "n_predictions": _known(counts, counts.n_predictions),
        "short_rows": {str(k): rows for k, rows in counts.short_rows.items()},
        "ties": {
            "rows_across_cut": {str(k): rows for k, rows in counts.tied_rows.items()},
            "rows_inside_only": _known(counts, counts.inside_ties),
        },
        "left_out_rows": dict(counts.left_out),
        "unscored_true": counts.unscored_true,
        "filter": None if result.filtered is None else asdict(result.filtered),
        "metrics": {figure.name: _make_metric(figure) for figure in result.figures},
        "slices": [_make_slice(part) for part in result.slices],
        "published": None if result.published is None else result.published.as_dict(),
        "gain": None if result.gain is None else _make_gain(result.gain),
        "reliability": None if result.reliability is None else asdict(result.reliability),
        "warnings": list(result.warnings),
        "notes": list(result.notes),
    }


def _make_gain(gain: LabelGain) -> dict[str, Any]:
    columns = (gain.counts, gain.n_labels, gain.true, gain.hits)
    names = ("training_rows", "n_labels", "n_true", "hits")
    groups = zip(*(each.tolist() for each in columns), strict=True)
    return {
        "k": gain.k,
        "from_truth": gain.from_truth,
        "labels": [dict(zip(names, group, strict=True)) for group in groups],
    }


def _make_density(density: Density) -> dict[str, Any]:
    return {
        "system": density.system,
        "baseline": density.baseline,
        "metric": density.measure.name,
        "steps": density.n_steps,
        "is_exact": density.is_exact,
        "cells": [[i, j, n] for i, line in enumerate(density.counts.tolist()) for j, n in enumerate(line) if n],
    }


def _make_metric(figure: Figure) -> dict[str, Any]:
    names = ("value", "low", "high", "tie_low", "tie_high", "ceiling")
    return {**_make_numbers(figure, names), "caution": figure.estimate.caution, "definition": figure.measure.definition}


def _make_slice(part: Slice) -> dict[str, Any]:
    metrics = {
        figure.name: {
            "kind": figure.kind_in_bin,
            **_make_numbers(figure, ("value", "low", "high")),
            "caution": figure.estimate.caution,
        }
        for figure in part.figures
    }
    return {**asdict(part.bin), "metrics": metrics}


def _make_numbers(figure: Figure, names: Sequence[str]) -> dict[str, Any]:
    """Return numbers of a figure, and whether its value stands for one that is not defined, such as 0/0."""
    numbers = {name: _finite(getattr(figure.estimate, name)) for name in names}
    return {**numbers, "undefined": figure.estimate.undefined}


def _known(counts: Counts, number: int) -> int | None:
    """Return a count, or None where the values of rows came without counts."""
    return number if counts.are_known else None


def _finite(number: Any) -> Any:
    return number if number is not None and math.isfinite(number) else None
