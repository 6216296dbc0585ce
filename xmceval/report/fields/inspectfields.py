"""The fields of what ``inspect`` writes."""

from __future__ import annotations

from xmceval.files.formats.formattable import FORMATS
from xmceval.report.fields.field import (
    Field,
    count,
    document,
    flag,
    many,
    maybe,
    number,
    record,
    several,
    share,
    text,
    whole,
)
from xmceval.report.fields.scorefields import OPTIONS
from xmceval.version import INSPECT_SCHEMA

UNREAD_ROWS = "where no row could be read"
UNREAD = "where it cannot be read"
UNCOMPARED = "where the rows were not compared"
INSPECTED = [name for name, each in FORMATS.items() if each.title]


def _spread(noun: str) -> Field:
    bar = several(
        "A bar.",
        count("Fewest entries."),
        count("Most entries."),
        count(f"How many {noun}s there are."),
        share("Their share of all entries."),
    )
    return record(
        f"How entries spread over {noun}s.",
        least=count(f"Fewest entries of a {noun}."),
        median=number(f"Median of the entries per {noun}.", minimum=0),
        mean=number(f"Mean of the entries per {noun}.", minimum=0),
        most=count(f"Most entries of a {noun}."),
        bins=many(f"A histogram: {noun}s with 0, 1, 2-3, 4-7 ... entries.", bar),
    )


FILE = record(
    "A file.",
    path=text("Its name."),
    description=text("The format in which it was read, with what was inferred of it."),
    kind=text("What it is.", ("truth", "scores")),
    why=text("The reason why it was read as that."),
    n_rows=count("Rows."),
    n_labels=count("Labels: as passed or declared, else the largest + 1."),
    is_declared=flag("Whether the file itself declares its number of labels."),
    n_entries=count("Stored entries."),
    labels_seen=count("Labels with an entry."),
    largest_label=whole("The largest of them; -1 if there is none.", minimum=-1),
    per_row=maybe(_spread("row"), UNREAD_ROWS),
    per_label=maybe(_spread("label"), "without entries"),
    head_share=share("Share of the entries that belong to the most frequent 1% of the labels seen."),
    tail_share=share("Share of the entries that belong to their less frequent half."),
    empty_rows=count("Rows without an entry."),
    rows_by_label=count("Rows whose labels ascend."),
    rows_by_score=count("Rows whose scores descend."),
    tied_rows=count("Rows with equal scores."),
    zeros=count("Entries with value 0."),
    ones=count("Entries with value 1."),
    negative=count("Entries with a value below 0."),
    fractions=count("Entries whose value is not a whole number."),
    nans=count("Entries with value NaN."),
    infinite=count("Entries with an infinite value."),
    duplicates=count("Entries whose label appears before in the same row."),
    outside=count("Entries whose label is below 0 or beyond the number of labels."),
    least=maybe(number("Least finite value."), "without one"),
    greatest=maybe(number("Greatest finite value."), "without one"),
    faults=many("Why score would refuse the file: the first ten reasons.", text("A reason.")),
    warnings=many("What else was noticed while reading.", text("A warning.")),
    are_ranks=flag("Whether the values are ranks, made from the order of a list."),
    format=text("The name of its format, which xmceval formats explains.", INSPECTED),
    is_sound=flag("Whether score would accept the file."),
)

PAIR = record(
    "How predictions fit a truth.",
    truth=text("The file of the truth."),
    scores=text("The file of the predictions."),
    precision=maybe(share("P@5."), UNCOMPARED),
    precision_at_1=maybe(share("P@1."), UNCOMPARED),
    chance=maybe(share("Expected P@1 with the rows in random order, in a sample of the rows."), UNCOMPARED),
    shifted=maybe(
        several(
            "P@1 with the predicted labels shifted by -1 and by +1, in a sample of the rows.",
            share("By -1."),
            share("By +1."),
        ),
        UNCOMPARED,
    ),
    filter_pairs=maybe(count("Predictions that the filter excludes."), "without a filter"),
    faults=many("Why score would refuse the two files together.", text("A reason.")),
    mistakes=many("Why they clearly do not belong together.", text("A reason.")),
    warnings=many("What is likely a mistake.", text("A warning.")),
    is_sound=flag("Whether nothing shows that they do not belong together."),
)

PROPENSITIES = record(
    "Propensities.",
    digest=text("A digest of 1/p of all labels."),
    source=text("The file that they come from."),
    a=maybe(number("A of the model."), "where 1/p was passed"),
    b=maybe(number("B of the model."), "where 1/p was passed"),
    n=maybe(count("Training rows."), "where 1/p was passed"),
    from_truth=flag("Whether they were estimated from the truth itself."),
)

PART = record(
    "Some rows.",
    name=text("The file that their totals were first saved to."),
    n_rows=count("How many there are."),
    truth=text("The file of the truth."),
    scores=text("The file of the predictions."),
    system=text("The name of the system."),
    truth_digest=text("A digest of their true labels; empty where it is not known."),
    scores_digest=text("A digest of their best labels; empty where it is not known."),
    shard=maybe(many("The number of the shard, and how many there are.", count("A number.")), "without --shard"),
)

STATE = record(
    "A file of saved totals.",
    path=text("Its name."),
    version=text("The version of xmceval that saved it."),
    n_rows=count("Rows."),
    n_labels=maybe(count("Labels."), "where no input declared the number"),
    metrics=many("The metrics, with their options and cutoffs.", text("A metric.")),
    options=maybe(OPTIONS, UNREAD),
    propensities=maybe(PROPENSITIES, "without metrics that need them"),
    parts=many("The rows that were added, by where they come from.", PART),
    fault=text("Why merge would refuse it; empty where it would not."),
    is_sound=flag("Whether merge would accept it."),
)

INSPECTION = document(
    INSPECT_SCHEMA,
    "What files are, and whether they are sound.",
    {
        "is_sound": flag(
            "Whether score, or merge, would accept all files, and nothing shows that two do not belong together."
        ),
        "files": many("One per file, in the order in which they were passed.", FILE),
        "together": many("The first truth with each other file.", PAIR).of("pairs"),
        "states": many("One per file of saved totals.", STATE),
    },
)
