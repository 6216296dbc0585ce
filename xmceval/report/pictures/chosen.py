"""The kinds of pictures, and the choice of the measures that each of them shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xmceval.errors import UsageError, argument, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_measures, split_names
from xmceval.report.result import Result


def _has_bins(measure: Measure) -> bool:
    is_of_labels = measure.metric.family in {"top-k", "label", "column"} or measure.average == "predicted"
    return is_of_labels and measure.metric.unit != "cells"


# The kinds of pictures: which measures each can draw, and these in words.
KINDS: dict[str, tuple[Callable[[Measure], bool], str]] = {
    "curves": (lambda measure: measure.k is not None, "metrics at a cutoff"),
    "bins": (_has_bins, "metrics that have values of bins of labels"),
    "differences": (lambda _: True, "differences between systems"),
}


def choose_measures(
    kind: str, results: Sequence[Result], comparison: Any = None, metrics: str | Iterable[str] | None = None
) -> list[Measure]:
    """Choose the measures that a picture of results, or of their comparison, shows; refuse what it cannot show."""
    if kind not in KINDS:
        raise UsageError(f"the kind of picture must be one of {listed(KINDS)}, got {kind!r}")
    if kind == "differences":
        if comparison is None:
            raise UsageError(f"the picture {kind!r} needs a comparison (hint: use compare)")
        measures = [difference.measure for difference in comparison.differences if not difference.bin]
        computed = list(dict.fromkeys(measures))
    elif not results:
        raise UsageError("there are no results to draw")
    else:
        computed = [figure.measure for figure in results[0].figures]
    if kind == "bins":
        require_bins(has_bins=bool(results[0].slices))
        in_bins = {figure.measure for figure in results[0].slices[0].figures}
        computed = [measure for measure in computed if measure in in_bins or not _has_bins(measure)]
    possible = require_any(kind, computed)
    if metrics is None:
        return possible
    chosen: list[Measure] = []
    for name in (name for text in ([metrics] if isinstance(metrics, str) else metrics) for name in split_names(text)):
        whole = [measure for measure in computed if measure.head == name.strip()]
        meant = whole or find_measures(name, computed)
        if not meant:
            raise UsageError(f"metrics: {name.strip()} was not computed; expected any of {listed(computed)}")
        shown = [measure for measure in meant if measure in possible]
        if not shown:
            raise UsageError(f"the picture {kind!r} shows {KINDS[kind][1]}, not {name}; it can show {listed(possible)}")
        chosen += shown
    return list(dict.fromkeys(chosen))


def require_any(kind: str, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that a kind of picture can show."""
    shows, words = KINDS[kind]
    possible = [measure for measure in measures if shows(measure)]
    if not possible:
        raise UsageError(f"the picture {kind!r} shows {words}, such as P@5; there are only {listed(measures)}")
    return possible


def require_bins(*, has_bins: bool) -> None:
    """Refuse a picture of bins without any."""
    if not has_bins:
        need, other = argument("by_frequency", "head,torso,tail"), argument("by_group", kind="FILE")
        raise UsageError(
            "the picture 'bins' needs values of bins of labels or of groups of instances "
            f"(hint: pass {need} or {other})"
        )


def keep_deepest(measures: Sequence[Measure]) -> list[Measure]:
    """Return one measure for each metric: that of the largest cutoff."""
    heads = dict.fromkeys(measure.head for measure in measures)
    return [max((m for m in measures if m.head == head), key=lambda measure: measure.k or 0) for head in heads]
