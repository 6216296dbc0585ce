"""The fields of what is collected for pictures, where that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xmceval.report.fields.field import NUMBER, PLAIN, WHOLE, many, record

if TYPE_CHECKING:
    from xmceval.scoring.comparing.densities import Density
    from xmceval.scoring.per_label.labelgain import LabelGain

PAIR = {"system": PLAIN, "baseline": PLAIN}
METRIC = PLAIN.of("measure.name")


def _list_groups(gain: LabelGain) -> list[dict[str, Any]]:
    """Return the labels of each training frequency as records."""
    columns = {"training_rows": gain.counts, "n_labels": gain.n_labels, "n_true": gain.true, "hits": gain.hits}
    groups = zip(*(each.tolist() for each in columns.values()), strict=True)
    return [dict(zip(columns, group, strict=True)) for group in groups]


LABEL_GROUP = record(training_rows=WHOLE, n_labels=WHOLE, n_true=NUMBER, hits=NUMBER)

GAIN = record(k=WHOLE, from_truth=PLAIN, labels=many(LABEL_GROUP).of(_list_groups))


def _list_cells(density: Density) -> list[tuple[int, int, int]]:
    return [(i, j, n) for i, line in enumerate(density.counts.tolist()) for j, n in enumerate(line) if n]


DENSITY = record(
    **PAIR,
    metric=METRIC,
    steps=WHOLE.of("n_steps"),
    is_exact=PLAIN,
    cells=many(many(WHOLE)).of(_list_cells),
)
