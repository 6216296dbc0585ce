"""The fields of what is collected for pictures, where that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from xmceval.metrics.measure import Measure
from xmceval.metrics.names import restore_measure
from xmceval.report.fields.field import (
    Field,
    count,
    flag,
    many,
    maybe,
    number,
    record,
    several,
    text,
    whole,
)

if TYPE_CHECKING:
    from xmceval.scoring.comparing.densities import Density
    from xmceval.scoring.per_label.labelgain import LabelGain

MOST_STEPS = 1000  # of a density that is read

PAIR = {"system": text("The system."), "baseline": text("The one that it is compared with.")}
CUTOFF = whole("The cutoff.", minimum=1)
NO_PICTURE = "where the picture was not asked for"


def metric(description: str) -> Field:
    """Return the measure of a record by its canonical name."""
    return replace(text(description), write=attrgetter("name"), read=_read_measure).of("measure")


def _read_measure(value: Any) -> Measure:
    name: str = _read_name(value)
    return restore_measure(name)


_read_name = text("").read or str


def _list_groups(gain: LabelGain) -> list[dict[str, Any]]:
    """Return the labels of each training frequency as records."""
    columns = {"training_rows": gain.counts, "n_labels": gain.n_labels, "n_true": gain.true, "hits": gain.hits}
    groups = zip(*(each.tolist() for each in columns.values()), strict=True)
    return [dict(zip(columns, group, strict=True)) for group in groups]


def _make_gain(k: int, from_truth: bool, labels: Sequence[dict[str, Any]]) -> LabelGain:
    import numpy as np

    from xmceval.scoring.per_label.labelgain import LabelGain

    def column(name: str, kind: Any) -> Any:
        return np.array([group[name] for group in labels], dtype=kind)

    numbers = column("training_rows", np.int64), column("n_labels", np.int64)
    return LabelGain(k, *numbers, column("n_true", np.float64), column("hits", np.float64), from_truth)


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
    ).into(_make_gain),
    NO_PICTURE,
)


def _list_cells(density: Density) -> list[tuple[int, int, int]]:
    return [(i, j, n) for i, line in enumerate(density.counts.tolist()) for j, n in enumerate(line) if n]


def _make_density(n_steps: int, cells: Sequence[tuple[int, int, int]], **fields: Any) -> Density:
    import numpy as np

    from xmceval.scoring.comparing.densities import Density

    if n_steps > MOST_STEPS or any(max(i, j) > n_steps for i, j, _ in cells):
        raise ValueError(f"its cells are not within {n_steps:,} steps")
    counts = np.zeros((n_steps + 1, n_steps + 1), dtype=np.int64)
    for i, j, n in cells:
        counts[i, j] = n
    return Density(**fields, counts=counts)


DENSITY_CELL = several(
    "Rows whose values are nearest to these steps.",
    count("The step of the baseline's value."),
    count("The step of the system's value."),
    whole("How many rows there are.", minimum=1),
)

DENSITY = record(
    "In how many rows a pair has which values of a metric, for the picture `rows`.",
    **PAIR,
    metric=metric("The canonical name of the metric."),
    steps=whole("Into how many steps the values from 0 to 1 are divided.", minimum=1).of("n_steps"),
    is_exact=flag("Whether the metric takes no other values than these steps."),
    cells=many("Those that have rows.", DENSITY_CELL).of(_list_cells),
).into(_make_density)
