"""The fields of what ``score`` and ``merge`` write: the truth, the options, and the systems with their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xmceval.metrics.names import restore_measure
from xmceval.report.fields.collectedfields import GAIN
from xmceval.report.fields.field import (
    Field,
    Schema,
    by,
    choice_of,
    count,
    derived,
    document,
    flag,
    inside,
    itself,
    last,
    many,
    maybe,
    number,
    optional,
    record,
    several,
    share,
    text,
    unless_empty,
    whole,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.scoring.options import Options, specs
from xmceval.scoring.spec import Spec
from xmceval.statistics.intervals import FEW_CLUSTERS, FEW_ROWS, FEWEST_ROWS, ONE_CLUSTER, ONE_ROW
from xmceval.version import SCORE_SCHEMA

if TYPE_CHECKING:
    from xmceval.labels.propensity import Propensities
    from xmceval.labels.standings import Standing, Standings
    from xmceval.report.result import Result
    from xmceval.scoring.summary import Counts, Figure, Slice

UNCOUNTED = "where values of rows of another tool were compared, which come without it"
UNTIED = "where ties are not bounded"
NO_INTERVAL = "where there is no interval"
CAUTION = (
    f"Why the interval may be off: `{FEW_ROWS}`, it is from fewer than {FEWEST_ROWS} instances; "
    f"`{ONE_ROW}`, a single instance carries more than a fifth of the variance; "
    f"`{FEW_CLUSTERS}` and `{ONE_CLUSTER}` are the same of clusters."
)
CAUTIONS = FEW_ROWS, ONE_ROW, FEW_CLUSTERS, ONE_CLUSTER
ROWS = count("Instances.")

# The types of options that their Spec does not tell.
OPTION_TYPES: dict[str, Schema] = {
    "k": many("", whole("A cutoff.", minimum=1)).schema,
    "metrics": many("", text("A canonical name.")).schema,
    "by_frequency": {
        "type": ["integer", "string", "array"],
        "items": {"type": ["integer", "string"], "description": "A bin: its name, or the count at which it begins."},
    },
}
TYPES = {bool: "boolean", int: "integer", float: ["number", "string"]}  # an infinite number is a string


def _describe_option(name: str, spec: Spec) -> Field:
    schema: Schema = {"type": "string" if spec.is_file else TYPES.get(spec.kind, "string")}
    if spec.choices:
        schema = {"type": "string", "enum": list(spec.choices)}
    return Field({**OPTION_TYPES.get(name, schema), "description": spec.help.replace("  [", " [")})


OPTIONS = choice_of(
    "The options of scoring that are not the default; files by name, arrays as `array`.",
    **{name: _describe_option(name, spec) for name, spec in specs(Options).items() if spec.shown != "nowhere"},
)


def _make_propensities(**model: Any) -> Propensities:
    """Make propensities of which the model is known, but not those of the labels."""
    import numpy as np

    from xmceval.labels.propensity import Propensities

    return Propensities(np.ones(1), np.empty(0, dtype=np.uint16), **model)


PROPENSITIES = record(
    "The model of propensities, 1/p = 1 + C (N_l + B)^-A.",
    a=maybe(number("A."), "where 1/p was passed"),
    b=maybe(number("B."), "where 1/p was passed"),
    n=maybe(count("N, the training rows."), "where 1/p was passed"),
    source=text("The file of training labels, counts or 1/p."),
    from_truth=flag("Whether the truth itself was counted: such values are not comparable with published ones."),
).into(_make_propensities)

ESTIMATE = {
    "value": maybe(number("The value: shares are fractions of 1, gains and counts have no unit."), "if infinite").back(
        lambda value: math.inf if value is None else value
    ),
    "low": maybe(number("Lower end of the 95% interval."), NO_INTERVAL),
    "high": maybe(number("Upper end of the 95% interval."), NO_INTERVAL),
    "caution": last(maybe(text(CAUTION, CAUTIONS), "where nothing speaks against it")),
    "tie_low": maybe(number("Least value over all orders of equal scores."), UNTIED),
    "tie_high": maybe(number("Greatest value over all orders of equal scores."), UNTIED),
    "ceiling": maybe(number("Best value that any ranking could reach on this truth."), "where it was not asked for"),
    "undefined": flag("Whether there was nothing to divide by, so that the value is 0 by convention."),
}

FIGURE = {
    **inside("estimate", ESTIMATE),
    "definition": derived(last(text("What the value is, in one line.").of("measure.definition"))),
    "unit": last(text("Of the value: `share`, `gain`, `count` or `cells`.").of("measure.metric.unit", to="unit")),
}

KIND_IN_BIN = (
    "A share, those of all bins add up to the total, the average within the bin, or the value of a group of rows alone."
)
FIGURE_IN_BIN = {
    "kind": text(KIND_IN_BIN, ("share", "average", "group")),
    **{name: FIGURE[name] for name in ("value", "low", "high", "caution", "undefined")},
    **{name: optional(FIGURE[name]) for name in ("tie_low", "tie_high", "ceiling")},
}


def _name_figures(owner: Result | Slice) -> dict[str, Figure]:
    return {figure.name: figure for figure in owner.figures}


def _take_figures(read: dict[str, dict[str, Any]]) -> tuple[Figure, ...]:
    from xmceval.scoring.estimates import Estimate
    from xmceval.scoring.summary import Figure

    return tuple(
        Figure(
            restore_measure(name, each.get("unit", "count")), Estimate(**each["estimate"]), each.get("kind", "total")
        )
        for name, each in read.items()
    )


def _make_slice(bin: dict[str, Any], **fields: Any) -> Slice:  # noqa: A002 - the field's name
    from xmceval.labels.bins import Bin
    from xmceval.rows.rowgroups import Group
    from xmceval.scoring.summary import Slice

    kind: Any = Bin if bin.get("n_instances") is None else Group
    return Slice(kind(**{name: value for name, value in bin.items() if value is not None}), **fields)


def _unless_other(name: str, of: Field) -> Field:
    """Return a field that only bins of labels have, or only groups of rows."""
    return optional(of).of(lambda part: getattr(part, name, None), to=name)


BIN = {
    "name": text("The name of the bin, or of the group of rows."),
    "low": _unless_other("low", count("Fewest training rows of its labels; of a bin.")),
    "high": _unless_other("high", count("Most training rows of its labels; of a bin.")),
    "n_labels": _unless_other("n_labels", count("How many labels it has; of a bin.")),
    "mass": _unless_other("mass", share("Its share of all training positives; of a bin.")),
    "n_instances": _unless_other("n_instances", count("How many instances were scored; of a group.")),
}

SLICE = {
    **inside("bin", BIN),
    "metrics": by("canonical name", "Values.", record("A value.", **FIGURE_IN_BIN))
    .of(_name_figures, to="figures")
    .back(_take_figures),
}


FILTER = record(
    "What the filter of pairs of row and label did.",
    source=text("The file of the pairs, or `filter`."),
    pairs=count("How many distinct pairs there are."),
    rows=count("Rows that have a pair."),
    removed=count("Predictions that were removed."),
    rows_changed=count("Rows that they were in."),
    in_truth=count("Pairs that are true labels."),
    filter_truth=flag("Whether those were removed from the truth too."),
).into("rows.filters:FilterReport")


def _neighbour(side: str, described: str) -> Field:
    """Return the published row with the next value on one side of a rank."""

    def find(standing: Standing) -> dict[str, Any] | None:
        row = getattr(standing, side)
        return row and {"method": row.method, "value": row.values[standing.metric], "suspect": row.suspect}

    found = record(
        f"The row with the next {described} value.",
        method=text("Its method."),
        value=share("Its value."),
        suspect=unless_empty(text("Why some value of the row is probably wrong."), "where nothing is suspect"),
    )
    return maybe(found, "where there is none").of(find)


STANDING = {
    "rank": whole("1 where no published value is higher.", minimum=1),
    "value": share("The value that is ranked."),
    "of": whole("How many published values there are.", minimum=1).of("n_published"),
    "above": _neighbour("above", "higher"),
    "below": _neighbour("below", "lower or equal"),
}


def _make_standings(dataset: str, places: dict[str, dict[str, Any]], not_ranked: str) -> Standings:
    from xmceval.labels.standings import Standing, Standings, restore_row

    def neighbour(metric: str, row: dict[str, Any] | None) -> Any:
        return row and restore_row(dataset, metric, **row)

    return Standings(
        dataset,
        tuple(
            Standing(metric, **{**each, **{side: neighbour(metric, each[side]) for side in ("above", "below")}})
            for metric, each in places.items()
        ),
        not_ranked,
    )


STANDINGS = record(
    "The ranks of the values within published ones.",
    dataset=text("The data set of the catalogue."),
    metrics=by("canonical name", "Ranks.", record("The rank of a value.", **STANDING)).of(
        lambda standings: {standing.metric: standing for standing in standings.places}, to="places"
    ),
    not_ranked=unless_empty(text("Why the values are not comparable."), "where they are"),
).into(_make_standings)


def _known(name: str, description: str) -> Field:
    """Return a count of the input, which values of rows of another tool come without."""
    return maybe(count(description), UNCOUNTED).of(
        lambda result: getattr(result.counts, name) if result.counts.are_known else None, to=f"counts.{name}"
    )


UNSCORED = record(
    "How many there are.",
    number=count("True labels without a score."),
    n_true=count("All true labels."),
).into("scoring.tasks.task:Unscored")
GRADE = count("A grade.")

SYSTEM = {
    "name": text("Its name."),
    "scores": text("The file of its predictions, or `array`."),
    "n_predictions": _known("n_predictions", "Predictions of all instances."),
    "short_rows": by(
        "cutoff", "Instances with fewer than k predictions; the missing ones count as misses.", ROWS, int
    ).of("counts.short_rows"),
    "ties": record(
        "Instances with equal scores that matter.",
        rows_across_cut=by("cutoff", "Instances with equal scores on both sides of the cutoff.", ROWS, int).of(
            "counts.tied_rows"
        ),
        rows_inside_only=_known(
            "inside_ties", "Instances where only the order within the cutoffs depends on equal scores."
        ),
    ).of(itself),
    "left_out_rows": by("metric", "Instances without a value of the metric, which its mean leaves out.", ROWS).of(
        "counts.left_out"
    ),
    "unscored_true": derived(
        maybe(count("True labels without a score."), "where no metric ranks all labels").of("counts.unscored_true")
    ),
    "filter": maybe(FILTER, "without a filter").of("filtered"),
    "metrics": by("canonical name such as P@5", "Values.", record("A value.", **FIGURE))
    .of(_name_figures, to="figures")
    .back(_take_figures),
    "slices": many(
        "Values by bins of labels, the most frequent first, or by groups of rows.",
        record("Values of the labels of one bin by training frequency, or of a group.", **SLICE).into(_make_slice),
    ),
    "published": maybe(STANDINGS, "where published results were not asked for"),
    "gain": GAIN,
    "warnings": many("What a reader must know before trusting the numbers.", text("A warning.")),
    "notes": many("What was inferred from the files.", text("A note.")),
    "unscored": by("lowest grade of a true label", "True labels without a score.", UNSCORED, int).of("counts.unscored"),
}

# What all systems have in common: fields of the result of any of them.
TRUTH = {
    "version": text("The version of xmceval."),
    "truth": text("The file of the truth, or `array`."),
    "options": OPTIONS,
    "n_instances": count("Rows of the truth that were scored.").of("counts.n_instances"),
    "n_labels": _known("n_labels", "How many labels there are."),
    "n_true": _known("n_true", "True labels of all instances."),
    "empty_rows": record(
        "Instances without a true label.",
        number=_known("empty_rows", "How many there are."),
        treated_as=text("They count as 0, or are left out.", ("zero", "drop")).of("empty_rows"),
    ).of(itself),
    "explicit_zeros": _known("explicit_zeros", "Entries of the truth with value 0, which are not true labels."),
    "propensities": maybe(PROPENSITIES, "where no metric needs propensities"),
    "grades": several("The least and the greatest grade of the truth.", GRADE, GRADE).of("counts.grades"),
}


def list_systems(system: Field) -> Field:
    """Return the list of all systems, each with these fields."""
    return many("One per system, in the order in which they were passed.", system)


def make_results(systems: Sequence[dict[str, Any]], counts: dict[str, Any], **shared: Any) -> list[Result]:
    """Make the results of what was read: the fields of each system, and those that all have in common."""
    from xmceval.report.result import Result

    if not systems:
        raise ValueError("systems: expected at least one")
    return [Result(**{**shared, **own, "counts": _make_counts(**counts, **own["counts"])}) for own in systems]


def _make_counts(**counts: Any) -> Counts:
    from xmceval.scoring.summary import Counts

    known: dict[str, Any] = {name: 0 if value is None else value for name, value in counts.items()}
    return Counts(**known, are_known=counts["n_labels"] is not None)


SCORE = document(
    SCORE_SCHEMA,
    "Values of one or more systems that were scored on the same truth.",
    {
        **inside(lambda results: results[0], TRUTH),
        "systems": list_systems(record("A system.", **SYSTEM)).of(itself, to="systems"),
        "gates": derived(OUTCOMES.of(lambda results: [each for result in results for each in result.gates] or None)),
    },
    kind=make_results,
)
