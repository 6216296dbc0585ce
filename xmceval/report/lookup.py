"""Look up a metric by any spelling of its name among those of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse


def find_name(name: Any, measures: Sequence[Measure]) -> str:
    """Return the canonical name of the one measure that a name means.

    Raises
    ------
    KeyError
        A name of none of them, or of several; the message lists them.
    """
    names = dict.fromkeys(measure.name for measure in measures)
    if name in names:
        return str(name)
    cutoffs = dict.fromkeys(measure.k for measure in measures if measure.k is not None)
    try:
        found = [each for each in map(str, parse(name, cutoffs)) if each in names]
    except (ValueError, AttributeError, TypeError):
        found = []
    if not found:
        raise KeyError(f"{name!r} is not one of {', '.join(names)}")
    if len(found) > 1:
        raise KeyError(f"{name!r} is any of {', '.join(found)}; expected one of them")
    return found[0]
