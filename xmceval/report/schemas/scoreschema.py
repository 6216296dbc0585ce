"""The schema of what ``score`` writes."""

from __future__ import annotations

from xmceval.report.schemas.collected import gain, reliability
from xmceval.report.schemas.words import (
    Schema,
    by,
    choice_of,
    count,
    document,
    flag,
    many,
    maybe,
    number,
    record,
    share,
    text,
    whole,
)
from xmceval.scoring.options import Options, specs
from xmceval.scoring.spec import Spec
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS, ONE_ROW
from xmceval.version import SCORE_SCHEMA

# The types of options that their Spec does not tell.
OPTION_TYPES: dict[str, Schema] = {
    "k": many("", whole("A cutoff.", minimum=1)),
    "metrics": many("", text("A canonical name.")),
    "by_frequency": {
        "type": ["integer", "string", "array"],
        "items": {"type": ["integer", "string"], "description": "A bin: its name, or the count at which it begins."},
    },
}
UNCOUNTED = "where values of rows of another tool were compared, which come without it"
TYPES = {bool: "boolean", int: "integer", float: ["number", "string"]}  # an infinite number is a string


def make_schema() -> Schema:
    """Make the schema of a document with the values of one or more systems."""
    return document(SCORE_SCHEMA, "Values of one or more systems that were scored on the same truth.", **spine())


def spine(**of_system: Schema) -> dict[str, Schema]:
    """Return the fields of the truth and of the systems that were scored on it; `of_system` adds to those of each."""
    return {
        "version": text("The version of xmceval."),
        "truth": text("The file of the truth, or `array`."),
        "options": make_options(),
        "n_instances": count("Rows of the truth that were scored."),
        "n_labels": maybe(count("How many labels there are."), UNCOUNTED),
        "n_true": maybe(count("True labels of all instances."), UNCOUNTED),
        "empty_rows": record(
            "Instances without a true label.",
            number=maybe(count("How many there are."), UNCOUNTED),
            treated_as=text("They count as 0, or are left out.", ("zero", "drop")),
        ),
        "explicit_zeros": maybe(count("Entries of the truth with value 0, which are not true labels."), UNCOUNTED),
        "propensities": maybe(_propensities(), "where no metric needs propensities"),
        "systems": many("One per system, in the order in which they were passed.", _system(**of_system)),
    }


def make_options() -> Schema:
    """Make the schema of the options that are recorded."""
    fields = {name: _option(name, spec) for name, spec in specs(Options).items() if spec.shown != "nowhere"}
    return choice_of("The options of scoring that are not the default; files by name, arrays as `array`.", **fields)


def _option(name: str, spec: Spec) -> Schema:
    described = {"description": spec.help.replace("  [", " [")}
    if name in OPTION_TYPES:
        return {**OPTION_TYPES[name], **described}
    if spec.choices:
        return {"type": "string", "enum": list(spec.choices), **described}
    return {"type": "string" if spec.is_file else TYPES.get(spec.kind, "string"), **described}


def _propensities() -> Schema:
    return record(
        "The model of propensities, 1/p = 1 + C (N_l + B)^-A.",
        a=maybe(number("A."), "where 1/p was passed"),
        b=maybe(number("B."), "where 1/p was passed"),
        n=maybe(count("N, the training rows."), "where 1/p was passed"),
        source=text("The file of training labels, counts or 1/p."),
        from_truth=flag("Whether the truth itself was counted: such values are not comparable with published ones."),
    )


def _system(**more: Schema) -> Schema:
    return record(
        "A system.",
        name=text("Its name."),
        scores=text("The file of its predictions, or `array`."),
        n_predictions=maybe(count("Predictions of all instances."), UNCOUNTED),
        short_rows=by("cutoff", "Instances with fewer than k predictions; the missing ones count as misses.", _rows()),
        ties=record(
            "Instances with equal scores that matter.",
            rows_across_cut=by("cutoff", "Instances with equal scores on both sides of the cutoff.", _rows()),
            rows_inside_only=maybe(
                count("Instances where only the order within the cutoffs depends on equal scores."), UNCOUNTED
            ),
        ),
        left_out_rows=by("metric", "Instances without a value of the metric, which its mean leaves out.", _rows()),
        unscored_true=maybe(count("True labels without a score."), "where no metric ranks all labels"),
        filter=maybe(_filter(), "without a filter"),
        metrics=by("canonical name such as P@5", "Values.", _metric()),
        slices=many("Values by bins of labels, the most frequent first.", _slice()),
        published=maybe(_published(), "where published results were not asked for"),
        gain=gain(),
        reliability=reliability(),
        warnings=many("What a reader must know before trusting the numbers.", text("A warning.")),
        notes=many("What was inferred from the files.", text("A note.")),
        **more,
    )


def _rows() -> Schema:
    return count("Instances.")


def _filter() -> Schema:
    return record(
        "What the filter of pairs of row and label did.",
        source=text("The file of the pairs, or `filter`."),
        pairs=count("How many distinct pairs there are."),
        rows=count("Rows that have a pair."),
        removed=count("Predictions that were removed."),
        rows_changed=count("Rows that they were in."),
        in_truth=count("Pairs that are true labels."),
        filter_truth=flag("Whether those were removed from the truth too."),
    )


def _value() -> dict[str, Schema]:
    return {
        "value": maybe(number("The value: shares are fractions of 1, gains and counts have no unit."), "if infinite"),
        "low": maybe(number("Lower end of the 95% interval."), "where there is no interval"),
        "high": maybe(number("Upper end of the 95% interval."), "where there is no interval"),
        "caution": maybe(
            text(
                f"Why the interval may be off: `{FEW_ROWS}`, it is from fewer than {FEWEST_ROWS} instances; "
                f"`{ONE_ROW}`, a single instance carries more than a fifth of the variance.",
                (FEW_ROWS, ONE_ROW),
            ),
            "where nothing speaks against it",
        ),
    }


def _undefined() -> Schema:
    return flag("Whether there was nothing to divide by, so that the value is 0 by convention.")


def _metric() -> Schema:
    when = "where ties are not bounded"
    return record(
        "A value.",
        **_value(),
        tie_low=maybe(number("Least value over all orders of equal scores."), when),
        tie_high=maybe(number("Greatest value over all orders of equal scores."), when),
        ceiling=maybe(number("Best value that any ranking could reach on this truth."), "where it was not asked for"),
        undefined=_undefined(),
        definition=text("What the value is, in one line."),
    )


def _slice() -> Schema:
    kind = "A share, those of all bins add up to the total, or the average within the bin."
    return record(
        "Values of the labels of one bin by training frequency.",
        name=text("The name of the bin."),
        low=count("Fewest training rows of its labels."),
        high=count("Most training rows of its labels."),
        n_labels=count("How many labels it has."),
        mass=share("Its share of all training positives."),
        metrics=by(
            "canonical name",
            "Values.",
            record("A value.", kind=text(kind, ("share", "average")), **_value(), undefined=_undefined()),
        ),
    )


def _published() -> Schema:
    def row(side: str) -> Schema:
        return maybe(
            record(
                f"The row with the next {side} value.",
                method=text("Its method."),
                value=share("Its value."),
                suspect=maybe(text("Why some value of the row is probably wrong."), "where nothing is suspect"),
            ),
            "where there is none",
        )

    rank = record(
        "The rank of a value.",
        rank=whole("1 where no published value is higher.", minimum=1),
        of=whole("How many published values there are.", minimum=1),
        above=row("higher"),
        below=row("lower or equal"),
    )
    return record(
        "The ranks of the values within published ones.",
        dataset=text("The data set of the catalogue."),
        metrics=by("canonical name", "Ranks.", rank),
        not_ranked=maybe(text("Why the values are not comparable."), "where they are"),
    )
