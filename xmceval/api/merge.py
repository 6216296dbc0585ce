"""Merge: one result of totals that separate jobs saved, the same bits as if one job had scored all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

from xmceval.api.evaluator import Evaluator
from xmceval.api.finishing import finish_state
from xmceval.api.states import check_new
from xmceval.errors import DataError, UsageError, counted, listed, warn
from xmceval.files.paths import to_path
from xmceval.files.presence import check_files
from xmceval.files.shards import natural_key
from xmceval.files.states import read_state, to_bytes, write_state
from xmceval.report.result import Result
from xmceval.scoring.joinedfilters import join_filters
from xmceval.scoring.state import Part, State
from xmceval.scoring.statedocument import as_document, restore

MOST_NAMED = 5  # of missing shards


def merge(
    states: Iterable[str | Path | Evaluator], *, name: str | None = None, save_state: str | Path | None = None
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

    Returns
    -------
    Result

    Raises
    ------
    DataError
        A file that is no state; states of other metrics, options, propensities or versions; a shard that is missing or
        given twice; rows that are in two states.
    UsageError
        No state, or one path instead of a list.

    Warns
    -----
    XmcevalWarning
        What a reader must know before trusting the numbers.

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
    result = merge_states(list(states), name=name, save_state=save_state)
    warn(result.warnings)
    return result


def merge_states(states: Sequence[Any], *, name: str | None = None, save_state: str | Path | None = None) -> Result:
    """Merge states without issuing the warnings of the result."""
    if not states:
        raise UsageError("there is nothing to merge: expected at least one state")
    check_files(states)
    _check_distinct(states)
    if save_state is not None:
        check_new(save_state)
    opened = sorted((_open(each, f"state {number}") for number, each in enumerate(states, 1)), key=_order)
    parts = [part for state in opened for part in state.parts]
    missing = check_shards(parts)
    if missing and save_state is None:
        raise DataError(f"{missing} (hint: merge all of them, or pass --save-state FILE to merge the rest later)")
    merged = _add(opened)
    _check_truths(parts)
    if save_state is not None:
        write_state(save_state, to_bytes(*as_document(replace(merged, name=str(save_state)), whole=False)))
        merged = replace(merged, warnings=(*merged.warnings, *([missing] if missing else [])))
    result = finish_state(merged)
    return result if name is None else replace(result, name=name)


def _check_distinct(states: Sequence[Any]) -> None:
    """Refuse the same file or Evaluator twice; the totals of an Evaluator have no digest that would show it."""
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
        opened, name = restore(*read_state(state), str(state)), str(state)
    else:
        raise UsageError(f"{place}: expected a path or an Evaluator, got {type(state).__name__}")
    is_one = len(opened.parts) == 1
    parts = (replace(part, name=name if is_one else f"{name} ({part.name or 'unnamed'})") for part in opened.parts)
    return replace(opened, name=name, parts=tuple(parts))


def _order(state: State) -> tuple[Any, ...]:
    """Return a key that orders states by their shards, or their names."""
    return min((part.shard or (0, 0), natural_key(to_path(part.name))) for part in (*state.parts, Part(state.name)))


def _add(states: Sequence[State]) -> State:
    """Add states, in their order; filters are joined apart, as the rows of each are counted within its state."""
    if len(states) == 1:
        return states[0]
    joined = join_filters(states)
    merged = reduce(State.merge, [replace(state, terms=replace(state.terms, filter=None)) for state in states])
    return replace(merged, terms=replace(merged.terms, filter=joined))


def check_shards(parts: Sequence[Part]) -> str:
    """Check that no shard is given twice, and return what is said of those that are missing; nothing without any.

    Raises
    ------
    DataError
        A shard given twice, shards of several numbers of shards, or with a number beside others without.
    """
    numbered = sorted((part for part in parts if part.shard is not None), key=lambda part: (part.shard, part.name))
    if not numbered:
        return ""
    first = numbered[0]
    number, n_shards = _shard_of(first)
    for part in parts:
        if part.shard is None:
            raise DataError(
                f"{first.name} is shard {number} of {n_shards}, but {part.name} was saved without --shard; expected "
                "all or none"
            )
        if _shard_of(part)[1] != n_shards:
            own = " of ".join(map(str, _shard_of(part)))
            raise DataError(f"{first.name} is shard {number} of {n_shards}, but {part.name} is shard {own}")
    for one, other in pairwise(numbered):
        if one.shard == other.shard:
            raise DataError(f"{one.name} and {other.name} are both shard {_shard_of(one)[0]} of {n_shards}")
    present = {_shard_of(part)[0] for part in numbered}
    missing = [each for each in range(1, n_shards + 1) if each not in present]
    if not missing:
        return ""
    more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
    verb = "is" if len(missing) == 1 else "are"
    shards = "shard" if len(missing) == 1 else "shards"
    found = listed(f"{part.name} is shard {_shard_of(part)[0]}" for part in numbered[:MOST_NAMED])
    return f"{shards} {listed(missing[:MOST_NAMED])}{more} of {n_shards} {verb} missing: {found}"


def _shard_of(part: Part) -> tuple[int, int]:
    return part.shard or (0, 0)


def _check_truths(parts: Sequence[Part]) -> None:
    """Refuse predictions of two systems for the same rows of truth; one state given twice was refused before."""
    seen: dict[str, Part] = {}
    for part in parts:
        other = seen.get(part.truth_digest) if part.truth_digest else None
        if other is not None:
            raise DataError(
                f"{other.name} and {part.name} are of the same truth, {counted(part.n_rows, 'row')} of {part.truth}, "
                f"with other predictions: {other.scores} and {part.scores}; expected the shards of one system"
            )
        seen[part.truth_digest] = part
