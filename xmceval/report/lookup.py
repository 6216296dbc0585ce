"""Look up metrics by any spelling of their names among those of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse


def find_name(name: Any, measures: Sequence[Measure]) -> str:
    """Return the canonical name of the one measure that a name means."""
    names = dict.fromkeys(measure.name for measure in measures)
    if name in names:
        return str(name)
    meant = [measure.name for measure in find_measures(name, measures)]
    if not meant:
        raise KeyError(f"{name!r} is not one of {', '.join(names)}")
    if len(meant) > 1:
        raise KeyError(f"{name!r} is any of {', '.join(meant)}; expected one of them")
    return meant[0]


def find_measures(name: Any, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that a name means; without a cutoff it means all cutoffs that there are."""
    by_name = {measure.name: measure for measure in measures}
    cutoffs = dict.fromkeys(measure.k for measure in measures if measure.k is not None)
    try:
        meant = dict.fromkeys(measure.name for measure in (*parse(name, cutoffs), *parse(name)))
        return [by_name[canonical] for canonical in meant if canonical in by_name]
    except (ValueError, AttributeError, TypeError):
        return []
