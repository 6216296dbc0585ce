"""The schemas of what is collected for pictures and of values of labels, where that was asked for."""

from __future__ import annotations

from xmceval.report.schemas.words import Schema, count, flag, many, maybe, number, record, several, share, text, whole

PAIR = {"system": text("The system."), "baseline": text("The one that it is compared with.")}
NO_PICTURE = "where the picture was not asked for"


def gain() -> Schema:
    """Return the schema of what the picture ``gain`` shows of a system."""
    group = record(
        "All labels with the same number of training rows.",
        training_rows=count("The training rows of each of them."),
        n_labels=count("How many labels these are."),
        n_true=number("Rows in which they are true, each counted once per label; weighted where rows have weights."),
        hits=number("How many of these are hits."),
    )
    whole_gain = record(
        "Hits among the k best labels by training frequency, for the picture `gain`.",
        k=_cutoff(),
        from_truth=flag("Whether the frequencies are those of the truth itself."),
        labels=many("The most frequent first.", group),
    )
    return maybe(whole_gain, NO_PICTURE)


def reliability() -> Schema:
    """Return the schema of what the picture ``calibration`` shows of a system."""
    score_bin = record(
        "The predictions with similar scores.",
        low=share("Lower end of their scores."),
        high=share("Upper end of their scores."),
        weight=number("Their number; the sum of weights where rows have weights.", minimum=0),
        mean_score=share("Mean of their scores."),
        hit_rate=share("The share of them that are true."),
    )
    whole_reliability = record(
        "How often the k best labels are true, by their scores, for the picture `calibration`.",
        k=_cutoff(),
        ece=share("Expected calibration error."),
        brier=share("Brier score."),
        bins=many("Bins that have predictions, by ascending scores.", score_bin),
    )
    return maybe(whole_reliability, NO_PICTURE)


def density() -> Schema:
    """Return the schema of what the picture ``rows`` shows of a pair."""
    cell = several(
        "Rows whose values are nearest to these steps.",
        count("The step of the baseline's value."),
        count("The step of the system's value."),
        whole("How many rows there are.", minimum=1),
    )
    return record(
        "In how many rows a pair has which values of a metric, for the picture `rows`.",
        **PAIR,
        metric=text("The canonical name of the metric."),
        steps=whole("Into how many steps the values from 0 to 1 are divided.", minimum=1),
        is_exact=flag("Whether the metric takes no other values than these steps."),
        cells=many("Those that have rows.", cell),
    )


def label_wins() -> Schema:
    """Return the schema of the labels that a system wins."""
    return record(
        "The labels that a system wins, ties and loses.",
        **PAIR,
        column=text("The value of labels that decides, such as F1@5."),
        wins=count("Labels for which the value of the system is higher."),
        ties=count("Labels for which they are equal."),
        losses=count("Labels for which that of the baseline is higher."),
    )


def _cutoff() -> Schema:
    return whole("The cutoff.", minimum=1)
