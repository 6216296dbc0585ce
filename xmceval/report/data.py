"""The forms for programs: JSON with everything, CSV in long form; fractions in full precision."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from xmceval.labels.propensity import Propensities
from xmceval.metrics.measure import split
from xmceval.report.result import Result

SCHEMA = "xmceval/1"


def as_json(results: Sequence[Result], places: int = 0) -> str:  # noqa: ARG001 - forms share one signature
    """Write results as JSON under the versioned schema; no NaN, nulls where there is no number."""
    first = results[0]
    document = {
        "schema": SCHEMA,
        "version": version("xmceval"),
        "n_instances": first.counts.n_instances,
        "n_labels": first.counts.n_labels,
        "n_true": first.counts.n_true,
        "empty_rows": {"number": first.counts.empty_rows, "treated_as": first.empty_rows},
        "explicit_zeros": first.counts.explicit_zeros,
        "propensities": _propensities(first.propensities),
        "systems": [_system(result) for result in results],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _propensities(known: Propensities | None) -> dict[str, Any] | None:
    if known is None:
        return None
    return {"a": known.a, "b": known.b, "n": known.n, "source": known.source, "from_truth": known.from_truth}


def _system(result: Result) -> dict[str, Any]:
    counts = result.counts
    return {
        "name": result.name,
        "n_predictions": counts.n_predictions,
        "short_rows": {str(k): number for k, number in counts.short_rows.items()},
        "ties": {
            "rows_across_cut": {str(k): number for k, number in counts.tied_rows.items()},
            "rows_inside_only": counts.inside_ties,
        },
        "left_out_rows": dict(counts.left_out),
        "unscored_true": counts.unscored_true,
        "filter": None if result.filtered is None else asdict(result.filtered),
        "metrics": {
            name: {
                "value": _finite(estimate.value),
                "low": _finite(estimate.low),
                "high": _finite(estimate.high),
                "tie_low": _finite(estimate.tie_low),
                "tie_high": _finite(estimate.tie_high),
                "ceiling": _finite(estimate.ceiling),
                "definition": result.definitions[name],
            }
            for name, estimate in result.estimates.items()
        },
        "slices": [
            {
                **asdict(each.bin),
                "metrics": {
                    name: {"value": _finite(e.value), "low": _finite(e.low), "high": _finite(e.high)}
                    for name, e in each.estimates.items()
                },
            }
            for each in result.slices
        ],
        "published": None if result.published is None else result.published.as_dict(),
        "warnings": list(result.warnings),
        "notes": list(result.notes),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def as_csv(results: Sequence[Result], places: int = 0) -> str:  # noqa: ARG001 - forms share one signature
    """Write results as CSV in long form: system, metric, k, value, low, high."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "metric", "k", "value", "low", "high"])
    for result in results:
        for name, estimate in result.estimates.items():
            head, k = split(name)
            ends = ["" if end is None else repr(end) for end in (estimate.low, estimate.high)]
            writer.writerow([result.name, head, k, repr(estimate.value), *ends])
    return text.getvalue()
