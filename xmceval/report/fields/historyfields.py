"""The fields of the history of a benchmark."""

from __future__ import annotations

from xmceval.report.fields.field import by, document, inside, many, maybe, number, record, text, whole
from xmceval.version import HISTORY_SCHEMA

RUN = {
    "time": text("When, in UTC."),
    "version": text("Of xmceval."),
    "digest": text("Of the file that describes the benchmark."),
}

VALUE = maybe(number("The value; that of several runs is their mean."), "where it is undefined")

HISTORY = document(
    HISTORY_SCHEMA,
    "The runs of a benchmark in which a value changed.",
    {
        "file": text("The name of the file that describes the benchmark."),
        "runs": many(
            "The runs, in their order.",
            record(
                "A run.",
                **RUN,
                values=by(
                    "data set",
                    "The cells in which a value changed.",
                    by("system", "Those of a data set.", by("metric", "The values of a cell.", VALUE)),
                ),
                why=by(
                    "data set",
                    "What had changed.",
                    by("system", "In the cells of a data set.", text("What, in words.")),
                ),
            ),
        ).of("shown"),
    },
)

MOVE = record(
    "A value that a run has.",
    **inside("run", {"time": RUN["time"]}),
    run=whole("The number of the run, from 1 on.").of("number"),
    dataset=text("The data set."),
    system=text("The system."),
    metric=text("The metric."),
    value=VALUE,
    **inside("run", {name: RUN[name] for name in ("digest", "version")}),
)
