"""The schemas of what ``metrics``, ``datasets`` and ``formats`` write."""

from __future__ import annotations

from xmceval.labels.catalogue import FILTERS
from xmceval.metrics.entry import FAMILIES
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
)
from xmceval.version import DATASETS_SCHEMA, FORMATS_SCHEMA, METRICS_SCHEMA


def make_metrics_schema() -> Schema:
    """Make the schema of the table of metrics."""
    norm = record(
        "A norm.",
        formula=text("How the value is computed with it."),
        over=text("How rows or labels are combined."),
    )
    metric = record(
        "A metric.",
        name=text("The canonical name."),
        title=text("What it is in a few words."),
        family=text("What it is computed from.", FAMILIES),
        cut=text("Whether its name has @k.", ("required", "optional", "none")),
        definition=text("The formula."),
        norms=by("name", "The choices of the option norm.", norm),
        options=by("name", "The options.", _metric_option()),
        range=many("Least and greatest value.", maybe(number("A bound."), "without a bound")),
        higher_is_better=flag("Whether higher values are better."),
        unit=text("Of its values: tables for people show a share in percent.", ("share", "gain", "count", "cells")),
        needs_propensities=flag("Whether hits are weighted by inverse propensities."),
        needs_labels=flag("Whether the number of labels is needed."),
        mergeable=flag("Whether its sums have a fixed size, so that loops and clusters can merge them."),
        cost=text("Memory beyond that of the default metrics; empty where there is none to speak of."),
        no_true_label=text("The effect of a row without a true label."),
        ties=text("The effect of equal scores."),
        note=text("Which tools agree, and where others differ."),
        aliases=many("Other tools' names.", text("A name, or a name and what it means.")),
        source=text("Where the definition is from."),
    )
    return document(METRICS_SCHEMA, "Definitions of metrics.", metrics=many("One per metric.", metric))


def _metric_option() -> Schema:
    return choice_of(
        "An option: its choices, or as a number its default and its bounds.",
        choices=many("The choices, the default first.", text("A choice.")),
        default=number("The default."),
        whole=flag("Whether it is a whole number."),
        low=number("Least value."),
        high=number("Greatest value."),
        open=flag("Whether the bounds themselves are excluded."),
    )


def make_datasets_schema() -> Schema:
    """Make the schema of the catalogue of data sets."""
    none_known = "where it is not known"
    dataset = record(
        "A public data set.",
        name=text("As XMLRepository writes it."),
        train=count("Training instances."),
        test=count("Test instances."),
        labels=count("Labels."),
        features=maybe(count("Features."), none_known),
        points_per_label=number("Mean number of instances per label."),
        labels_per_point=number("Mean number of labels per instance."),
        a=maybe(number("A of the propensity model."), "where there is no agreed value"),
        b=maybe(number("B of the propensity model."), "where there is no agreed value"),
        filter=text("Whether reciprocal pairs are removed from the predictions.", tuple(FILTERS)),
        disagreements=many(
            "Other values of A and B.",
            record("Values.", a=number("A."), b=number("B."), who=text("Who uses them.")),
        ),
        variants=many(
            "Other splits under the same name.",
            record(
                "A split.",
                train=count("Training instances."),
                test=count("Test instances."),
                labels=count("Labels."),
                who=text("Who uses it."),
            ),
        ),
        aliases=many("Other names.", text("A name.")),
        notes=text("What else is to know."),
        published=many("Published results, only where single data sets are asked for.", _published()),
    )
    dataset["required"].remove("published")
    return document(
        DATASETS_SCHEMA,
        "The catalogue of public data sets.",
        source=text("Where sizes and results are from."),
        datasets=many("One per data set.", dataset),
    )


def _published() -> Schema:
    missing = "where it was not published"
    return record(
        "A published result.",
        method=text("The method."),
        mark=maybe(text("The footnote sign in the source."), "without one"),
        metrics=by("canonical name", "Values.", share("A fraction of 1.")),
        model_gb=maybe(number("Size of the model in GB.", minimum=0), missing),
        train_hours=maybe(number("Hours of training.", minimum=0), missing),
        suspect=maybe(text("Why some value is probably wrong."), "where nothing is suspect"),
    )


def make_formats_schema() -> Schema:
    """Make the schema of the listing of formats."""
    example = record(
        "An example.",
        about=text("What the example is of; empty where there is only one kind."),
        file=text("How such a file may be called."),
        content=text("The lines of the file, or Python that writes it."),
        is_python=flag("Whether the content is Python that writes the file."),
        beside=maybe(text("The format of the truth that such predictions need."), "where it may be any"),
    )
    form = record(
        "A format of files.",
        name=text("Its name in this listing."),
        title=maybe(text("How inspect calls it."), "where inspect does not read it"),
        holds=many("What such files are passed as.", text("Truth, predictions, an option or a command.")),
        summary=text("What it is, in one line."),
        samples=many("Examples.", example),
        tools=by("tool", "Who writes such files, and what of them.", text("Which files.")),
        recognized=text("How it is recognized."),
        checked=text("What is checked."),
        converted=many("The forms of xmceval convert that write it.", text("A form.")),
    )
    return document(FORMATS_SCHEMA, "Formats of files.", formats=many("One per format.", form))
