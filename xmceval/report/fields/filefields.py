"""The fields of what ``auc`` writes."""

from __future__ import annotations

from xmceval.report.fields.field import (
    count,
    document,
    itself,
    many,
    maybe,
    record,
    share,
    text,
    unless_empty,
)
from xmceval.version import AUC_SCHEMA

VALUE = maybe(share("A fraction of 1."), "where no group has both classes").of(itself)

LOG_AUC = document(
    AUC_SCHEMA,
    "AUC of a file of group, label and score.",
    {
        "name": text("The name of the file."),
        "header": unless_empty(text("The names of the three columns in its first line."), "without a header"),
        "columns": unless_empty(
            many("The columns that were asked for.", text("A name or number.")), "without --columns"
        ),
        "n_rows": count("Rows."),
        "n_positive": count("Rows with label 1."),
        "n_groups": count("Groups."),
        "n_groups_left_out": count("Groups with only one class, which have no AUC."),
        "n_rows_left_out": count("Their rows."),
        "metrics": record(
            "Values.",
            GAUC=record("Mean AUC of the groups, weighted by their rows.", value=VALUE).of("gauc"),
            AUC=record("AUC of all rows together.", value=VALUE).of("auc"),
        ).of(itself),
    },
    indent=2,
)
