"""The fields of what ``score`` and ``merge`` write: the truth, the options, and the systems with their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xmceval.report.fields.field import (
    MAPPING,
    NUMBER,
    PLAIN,
    WHOLE,
    Field,
    by,
    document,
    inside,
    itself,
    many,
    optional,
    record,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.version import SCORE_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.result import Result
    from xmceval.scoring.summary import Figure, Slice

PROPENSITIES = record(a=NUMBER, b=NUMBER, n=WHOLE, source=PLAIN, from_truth=PLAIN)

ESTIMATE = {
    "value": NUMBER,
    "low": NUMBER,
    "high": NUMBER,
    "tie_low": NUMBER,
    "tie_high": NUMBER,
    "ceiling": NUMBER,
    "undefined": PLAIN,
    "caution": PLAIN,
}

FIGURE = {
    **inside("estimate", ESTIMATE),
    "definition": PLAIN.of("measure.definition"),
    "unit": PLAIN.of("measure.metric.unit"),
}

FIGURE_IN_BIN = {
    "kind": PLAIN,
    **{name: FIGURE[name] for name in ("value", "low", "high", "undefined")},
    **{name: optional(FIGURE[name]) for name in ("tie_low", "tie_high", "ceiling")},
    "caution": FIGURE["caution"],
}


def _name_figures(owner: Result | Slice) -> dict[str, Figure]:
    return {figure.name: figure for figure in owner.figures}


def _unless_other(name: str, of: Field) -> Field:
    """Return a field that only bins of labels have, or only groups of rows."""
    return optional(of).of(lambda part: getattr(part, name, None))


BIN = {
    "name": PLAIN,
    "low": _unless_other("low", WHOLE),
    "high": _unless_other("high", WHOLE),
    "n_labels": _unless_other("n_labels", WHOLE),
    "mass": _unless_other("mass", NUMBER),
    "n_instances": _unless_other("n_instances", WHOLE),
}

SLICE = {
    **inside("bin", BIN),
    "metrics": by(record(**FIGURE_IN_BIN)).of(_name_figures),
}


FILTER = record(
    source=PLAIN, pairs=WHOLE, rows=WHOLE, removed=WHOLE, rows_changed=WHOLE, in_truth=WHOLE, filter_truth=PLAIN
)


def _known(name: str) -> Field:
    """Return a count of the input, which values of rows of another tool come without."""
    return WHOLE.of(lambda result: getattr(result.counts, name) if result.counts.are_known else None)


UNSCORED = record(number=WHOLE, n_true=WHOLE)

SYSTEM = {
    "name": PLAIN,
    "scores": PLAIN,
    "n_predictions": _known("n_predictions"),
    "short_rows": by(WHOLE).of("counts.short_rows"),
    "ties": record(
        rows_across_cut=by(WHOLE).of("counts.tied_rows"),
        rows_inside_only=_known("inside_ties"),
    ).of(itself),
    "left_out_rows": by(WHOLE).of("counts.left_out"),
    "unscored_true": WHOLE.of("counts.unscored_true"),
    "filter": FILTER.of("filtered"),
    "metrics": by(record(**FIGURE)).of(_name_figures),
    "slices": many(record(**SLICE)),
    "warnings": many(PLAIN),
    "notes": many(PLAIN),
    "unscored": by(UNSCORED).of("counts.unscored"),
}

# What all systems have in common: fields of the result of any of them.
TRUTH = {
    "version": PLAIN,
    "truth": PLAIN,
    "options": MAPPING,
    "n_instances": WHOLE.of("counts.n_instances"),
    "n_labels": _known("n_labels"),
    "n_true": _known("n_true"),
    "empty_rows": record(number=_known("empty_rows"), treated_as=PLAIN.of("empty_rows")).of(itself),
    "explicit_zeros": _known("explicit_zeros"),
    "propensities": PROPENSITIES,
    "grades": many(WHOLE).of("counts.grades"),
}


SCORE = document(
    SCORE_SCHEMA,
    {
        **inside(lambda results: results[0], TRUTH),
        "systems": many(record(**SYSTEM)).of(itself),
        "gates": OUTCOMES.of(lambda results: [each for result in results for each in result.gates] or None),
    },
)
