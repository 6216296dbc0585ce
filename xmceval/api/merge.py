"""Merge: one result of totals that separate jobs saved, the same bits as if one job had scored all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from xmceval.api.loops.evaluator import Evaluator
from xmceval.api.scoring.finishing import check_filter, finish_state
from xmceval.errors import DataError, UsageError, argument, listed, warn
from xmceval.files.io.outputs import check_output, write_output
from xmceval.files.io.paths import to_path
from xmceval.files.io.presence import check_files
from xmceval.files.io.shardfiles import natural_key
from xmceval.report.result import Result
from xmceval.rows.filters import Filter
from xmceval.scoring.states.file import load_state, pack_state
from xmceval.scoring.states.state import State, StatePart

MOST_NAMED = 5  # of missing shards


def merge(
    states: Iterable[str | Path | Evaluator],
    *,
    name: str | None = None,
    save_state: str | Path | None = None,
    force: bool = False,
) -> Result:
    """Merge the totals of shards: the result of one `score` over all rows, to the same bits, in any order.

    Parameters
    ----------
    states : iterable of path or Evaluator
        Files of ``score(..., save_state=)``, of ``xmceval score --save-state`` or of ``Evaluator.save``; at least one.
    name : str, optional
        Of the system; default the names that it had.
    save_state : path, optional
        Write the merged totals there, to merge them with others later: shards may then be missing.
    force : bool
        Overwrite `save_state`.

    Returns
    -------
    Result

    Raises
    ------
    DataError
        A file that is no state; states of other metrics, options, propensities or versions; a file, an Evaluator or a
        shard that is given twice, or a shard that is missing.
    UsageError
        No state, or one path instead of a list; a `save_state` that exists without `force`, or is one of the states.

    Warns
    -----
    XmcevalWarning
        What puts the numbers in doubt, see `score`. Whether states have rows in common is not known: compare the
        number of instances with that of all shards.

    See Also
    --------
    score : With `save_state`, a state of one shard.
    Evaluator : Batch by batch.

    Examples
    --------
    >>> import numpy as np
    >>> from xmceval import Evaluator, merge
    >>> first, second = Evaluator(metrics="P", k=1), Evaluator(metrics="P", k=1)
    >>> first.update(np.array([[1, 0]]), np.array([[0.9, 0.2]]))
    >>> second.update(np.array([[1, 0]]), np.array([[0.1, 0.3]]))
    >>> merge([first, second])["P@1"]
    0.5
    """
    if isinstance(states, (str, Path, Evaluator)):
        raise UsageError("states must be a list of paths or Evaluators, got only one")
    result = merge_states(list(states), name=name, save_state=save_state, force=force)
    warn(result.doubts)
    return result


def merge_states(
    states: Sequence[Any],
    *,
    name: str | None = None,
    save_state: str | Path | None = None,
    force: bool = False,
) -> Result:
    """Merge states without issuing the warnings of the result."""
    if not states:
        raise UsageError("there is nothing to merge: expected at least one state")
    check_files(states)
    _check_distinct(states)
    if save_state is not None:
        files = [state for state in states if isinstance(state, (str, Path))]
        check_output(to_path(save_state), force=force, inputs=files)
    opened = sorted((_open(state, f"state {number}") for number, state in enumerate(states, 1)), key=_order)
    merged = _add(opened)
    missing = find_missing(merged.parts)
    if missing and save_state is None:
        saving = argument("save_state", kind="FILE")
        raise DataError(f"{missing} (hint: merge all of them, or pass {saving} to merge the rest later)")
    if save_state is not None:
        write_output(save_state, pack_state(replace(merged, name=str(save_state))), force=force)
        merged = replace(merged, warnings=(*merged.warnings, *([missing] if missing else [])))
    check_filter(merged)
    result = finish_state(merged)
    return result if name is None else replace(result, name=name)


def _check_distinct(states: Sequence[Any]) -> None:
    """Refuse the same file or Evaluator twice."""
    seen: dict[object, str] = {}
    for number, state in enumerate(states, 1):
        is_path = isinstance(state, (str, Path))
        name = str(state) if is_path else f"state {number}"
        key = to_path(state).resolve() if is_path else id(state)
        if key in seen:
            raise DataError(f"{seen[key]} and {name} are the same {'file' if is_path else 'Evaluator'}")
        seen[key] = name


def _open(state: Any, place: str) -> State:
    """Return a state whose parts are named after it."""
    if isinstance(state, Evaluator):
        opened, name = state._state, place
    elif isinstance(state, (str, Path)):
        opened, name = load_state(state), str(state)
    else:
        raise UsageError(f"{place}: expected a path or an Evaluator, got {type(state).__name__}")
    is_one = len(opened.parts) == 1
    parts = (replace(part, name=name if is_one else f"{name} ({part.name or 'unnamed'})") for part in opened.parts)
    return replace(opened, name=name, parts=tuple(parts))


def _order(state: State) -> tuple[Any, ...]:
    """Return a key that orders states by their shards, or their names."""
    return min(
        (part.shard or (0, 0), natural_key(to_path(part.name))) for part in (*state.parts, StatePart(state.name))
    )


def _add(states: Sequence[State]) -> State:
    """Add states, in their order; filters are joined apart, as the rows of each are counted within its state."""
    if len(states) == 1:
        return states[0]
    pairs = _join_filters(states)
    merged = reduce(State.merge, [replace(state, terms=replace(state.terms, filter=None)) for state in states])
    return replace(merged, terms=replace(merged.terms, filter=pairs))


def _join_filters(states: Sequence[State]) -> Filter | None:
    """Return the pairs of all states, with their rows counted from one state to the next; None where none has any."""
    filtered = [(state, state.terms.filter) for state in states if state.terms.filter is not None]
    if not filtered:
        return None
    if len(filtered) < len(states):
        without = next(state for state in states if state.terms.filter is None)
        raise DataError(f"{filtered[0][0].name} has a filter, and {without.name} none; expected one for each shard")
    for (first, pairs), (second, others) in combinations(filtered, 2):
        if pairs.rows.size and pairs.has_pairs_of(others):
            raise DataError(
                f"{first.name} and {second.name} have the same filter, whose rows are those of one shard (hint: pass "
                "each job the pairs of its own rows, counted from 0)"
            )
    joined, n_rows = filtered[0][1], states[0].n_rows
    for state, pairs in filtered[1:]:
        joined = joined.followed_by(pairs, n_rows)
        n_rows += state.n_rows
    return joined


def find_missing(parts: Sequence[StatePart]) -> str:
    """Return what is said of shards that are missing; nothing without any."""
    numbered = sorted(((part.shard, part) for part in parts if part.shard is not None), key=itemgetter(0))
    if not numbered:
        return ""
    (number, n_shards), first = numbered[0]
    for part in parts:
        if part.shard is None:
            raise DataError(
                f"{first.name} is shard {number} of {n_shards}, but {part.name} was saved without "
                f"{argument('shard')}; expected all or none"
            )
    n_missing = n_shards - len(numbered)
    if not n_missing:
        return ""
    present = {shard[0] for shard, _ in numbered}
    missing = islice((number for number in range(1, n_shards + 1) if number not in present), MOST_NAMED)
    more = f" and {n_missing - MOST_NAMED:,} more" if n_missing > MOST_NAMED else ""
    shards, verb = ("shard", "is") if n_missing == 1 else ("shards", "are")
    known = listed(f"{part.name} is shard {shard[0]}" for shard, part in numbered[:MOST_NAMED])
    return f"{shards} {listed(missing)}{more} of {n_shards} {verb} missing: {known}"
