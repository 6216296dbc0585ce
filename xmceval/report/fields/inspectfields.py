"""The fields of what ``inspect`` writes."""

from __future__ import annotations

from xmceval.report.fields.field import MAPPING, NUMBER, PLAIN, WHOLE, document, many, record
from xmceval.version import INSPECT_SCHEMA

SPREAD = record(least=WHOLE, median=NUMBER, mean=NUMBER, most=WHOLE, bins=many(many(NUMBER)))

FILE = record(
    path=PLAIN,
    description=PLAIN,
    kind=PLAIN,
    why=PLAIN,
    n_rows=WHOLE,
    n_labels=WHOLE,
    is_declared=PLAIN,
    n_entries=WHOLE,
    labels_seen=WHOLE,
    largest_label=WHOLE,
    per_row=SPREAD,
    per_label=SPREAD,
    head_share=NUMBER,
    tail_share=NUMBER,
    empty_rows=WHOLE,
    rows_by_label=WHOLE,
    rows_by_score=WHOLE,
    tied_rows=WHOLE,
    zeros=WHOLE,
    ones=WHOLE,
    negative=WHOLE,
    fractions=WHOLE,
    nans=WHOLE,
    infinite=WHOLE,
    duplicates=WHOLE,
    outside=WHOLE,
    least=NUMBER,
    greatest=NUMBER,
    faults=many(PLAIN),
    warnings=many(PLAIN),
    are_ranks=PLAIN,
    format=PLAIN,
    is_sound=PLAIN,
)

PAIR = record(
    truth=PLAIN,
    scores=PLAIN,
    precision=NUMBER,
    precision_at_1=NUMBER,
    filter_pairs=WHOLE,
    faults=many(PLAIN),
    mistakes=many(PLAIN),
    warnings=many(PLAIN),
    is_sound=PLAIN,
)

PROPENSITIES = record(digest=PLAIN, source=PLAIN, a=NUMBER, b=NUMBER, n=WHOLE, from_truth=PLAIN)

PART = record(
    name=PLAIN,
    n_rows=WHOLE,
    truth=PLAIN,
    scores=PLAIN,
    system=PLAIN,
    shard=many(WHOLE),
)

STATE = record(
    path=PLAIN,
    version=PLAIN,
    n_rows=WHOLE,
    n_labels=WHOLE,
    metrics=many(PLAIN),
    options=MAPPING,
    propensities=PROPENSITIES,
    parts=many(PART),
    fault=PLAIN,
    is_sound=PLAIN,
)

INSPECTION = document(
    INSPECT_SCHEMA,
    {
        "is_sound": PLAIN,
        "files": many(FILE),
        "together": many(PAIR).of("pairs"),
        "states": many(STATE),
    },
)
