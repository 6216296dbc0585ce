"""The fields of gates, which ``score`` and ``compare`` write where they were asked for."""

from __future__ import annotations

from xmceval.report.fields.field import flag, many, maybe, number, optional, record, share, text, unless_empty
from xmceval.report.gateoutcomes import GATES

GATE = record(
    "What a gate came to for a system.",
    kind=text(
        "What was checked: that a difference is not worse, or that a value is at least or at most the limit.", GATES
    ),
    system=text("The system."),
    baseline=unless_empty(text("The system that it was compared with."), "where a value was checked"),
    dataset=unless_empty(text("The data set."), "outside of a benchmark"),
    metric=text("The canonical name of the metric.").of("measure.name"),
    limit=number("The limit; a fraction of 1 where the metric is a share."),
    value=maybe(number("The difference, system minus baseline, or the value."), "where there is none"),
    p_adjusted=maybe(share("The p that decided, adjusted where p is."), "where nothing was tested"),
    passed=flag("Whether it was passed; what cannot be decided never is."),
)
OUTCOMES = optional(many("One per gate, metric and system, where gates were asked for.", GATE))
