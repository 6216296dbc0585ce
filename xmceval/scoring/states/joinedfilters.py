"""Joined filters: those of shards, whose rows are counted within each, as one filter of all rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xmceval.errors import DataError
from xmceval.rows.filters import Filter, Largest
from xmceval.scoring.states.state import State


def join_filters(states: Sequence[State]) -> Filter | None:
    """Return the pairs of all states, with their rows counted from one state to the next; None where none has any."""
    filters = [(state, state.terms.filter) for state in states if state.terms.filter is not None]
    if not filters:
        return None
    with_filter, pairs_of_all, seen = filters[0][0], list[Filter](), dict[str, State]()
    first_row = 0
    for state in states:
        pairs = state.terms.filter
        if pairs is None:
            raise DataError(f"{with_filter.name} has a filter, and {state.name} none; expected one for each shard")
        digest = hashlib.blake2b(pairs.rows.tobytes() + pairs.labels.tobytes()).hexdigest()
        if pairs.rows.size and digest in seen:
            raise DataError(
                f"{seen[digest].name} and {state.name} have the same filter, whose rows are those of one shard (hint: "
                "pass each job the pairs of its own rows, counted from 0)"
            )
        seen[digest] = state
        last = Largest(pairs.last_row.value + first_row, pairs.last_row.place)
        pairs_of_all.append(replace(pairs, rows=pairs.rows + first_row, last_row=last))
        first_row += state.n_rows
    return _concatenate(pairs_of_all)


def _concatenate(filters: Sequence[Filter]) -> Filter:
    """Return one filter of the pairs of several, whose rows ascend."""
    names = list(dict.fromkeys(each.name for each in filters))
    return Filter(
        names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more",
        np.concatenate([each.rows for each in filters]),
        np.concatenate([each.labels for each in filters]),
        sum(each.repeated for each in filters),
        max((each.last_row for each in filters), key=lambda last: last.value),
        max((each.last_label for each in filters), key=lambda last: last.value),
    )
