"""The fields of gates, which ``score`` and ``compare`` write where they were asked for."""

from __future__ import annotations

from xmceval.report.fields.field import NUMBER, PLAIN, UNLESS_EMPTY, many, optional, record

GATE = record(
    kind=PLAIN,
    system=PLAIN,
    baseline=UNLESS_EMPTY,
    dataset=UNLESS_EMPTY,
    metric=PLAIN.of("measure.name"),
    limit=NUMBER,
    value=NUMBER,
    p_adjusted=NUMBER,
    passed=PLAIN,
)
OUTCOMES = optional(many(GATE))
