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
    found = [measure.name for measure in find_measures(name, measures)]
    if not found:
        raise KeyError(f"{name!r} is not one of {', '.join(names)}")
    if len(found) > 1:
        raise KeyError(f"{name!r} is any of {', '.join(found)}; expected one of them")
    return found[0]


def find_measures(name: Any, measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that a name means; without a cutoff it means all cutoffs that there are."""
    by_name = {measure.name: measure for measure in measures}
    cutoffs = dict.fromkeys(measure.k for measure in measures if measure.k is not None)
    try:
        meant = dict.fromkeys(each.name for each in (*parse(name, cutoffs), *parse(name)))
        return [by_name[each] for each in meant if each in by_name]
    except (ValueError, AttributeError, TypeError):
        return []
