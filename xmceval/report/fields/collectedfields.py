"""The fields of what is collected for pictures, where that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xmceval.report.fields.field import count, flag, last, many, maybe, number, record, several, share, text, whole

if TYPE_CHECKING:
    from xmceval.scoring.comparing.densities import Density
    from xmceval.scoring.per_label.labelgain import LabelGain

PAIR = {"system": text("The system."), "baseline": text("The one that it is compared with.")}
CUTOFF = whole("The cutoff.", minimum=1)
NO_PICTURE = "where the picture was not asked for"


def _list_groups(gain: LabelGain) -> list[dict[str, Any]]:
    """Return the labels of each training frequency as records."""
    columns = {"training_rows": gain.counts, "n_labels": gain.n_labels, "n_true": gain.true, "hits": gain.hits}
    groups = zip(*(each.tolist() for each in columns.values()), strict=True)
    return [dict(zip(columns, group, strict=True)) for group in groups]


LABEL_GROUP = record(
    "All labels with the same number of training rows.",
    training_rows=count("The training rows of each of them."),
    n_labels=count("How many labels these are."),
    n_true=number("Rows in which they are true, each counted once per label; weighted where rows have weights."),
    hits=number("How many of these are hits."),
)

GAIN = maybe(
    record(
        "Hits among the k best labels by training frequency, for the picture `gain`.",
        k=CUTOFF,
        from_truth=flag("Whether the frequencies are those of the truth itself."),
        labels=many("The most frequent first.", LABEL_GROUP).of(_list_groups),
    ),
    NO_PICTURE,
)

SCORE_BIN = record(
    "The predictions with similar scores.",
    low=share("Lower end of their scores."),
    high=share("Upper end of their scores."),
    weight=number("Their number; the sum of weights where rows have weights.", minimum=0),
    mean_score=share("Mean of their scores."),
    hit_rate=share("The share of them that are true."),
)

RELIABILITY = maybe(
    record(
        "How often the k best labels are true, by their scores, for the picture `calibration`.",
        k=CUTOFF,
        ece=last(share("Expected calibration error.")),
        brier=last(share("Brier score.")),
        bins=many("Bins that have predictions, by ascending scores.", SCORE_BIN),
    ),
    NO_PICTURE,
)


def _list_cells(density: Density) -> list[tuple[int, int, int]]:
    return [(i, j, n) for i, line in enumerate(density.counts.tolist()) for j, n in enumerate(line) if n]


DENSITY_CELL = several(
    "Rows whose values are nearest to these steps.",
    count("The step of the baseline's value."),
    count("The step of the system's value."),
    whole("How many rows there are.", minimum=1),
)

DENSITY = record(
    "In how many rows a pair has which values of a metric, for the picture `rows`.",
    **PAIR,
    metric=text("The canonical name of the metric.").of("measure.name"),
    steps=whole("Into how many steps the values from 0 to 1 are divided.", minimum=1).of("n_steps"),
    is_exact=flag("Whether the metric takes no other values than these steps."),
    cells=many("Those that have rows.", DENSITY_CELL).of(_list_cells),
)
