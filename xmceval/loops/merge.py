"""The public function `merge`, which combines the states of separate jobs, bit-identical to one job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

from xmceval.api.score import finish_state
from xmceval.errors import DataError, Doubt, UsageError, agreeing, argument, describe_type, listed, warn
from xmceval.files.io.paths import to_path
from xmceval.files.io.write import check_output, write_output
from xmceval.files.shards import check_files, find_shards, natural_key
from xmceval.loops.evaluator import Evaluator
from xmceval.report.result import Result
from xmceval.rows.shards import Shards
from xmceval.scoring.state import State, check_shards
from xmceval.scoring.state_file import load_state, pack_state

MOST_NAMED = 5  # of missing shards


def merge(
    states: str | Path | Iterable[str | Path | Evaluator],
    *,
    name: str | None = None,
    save_state: str | Path | None = None,
    force: bool = False,
) -> Result:
    """Merge the totals of shards, in any order, into the bit-identical result of one `score` over all rows.

    Parameters
    ----------
    states : iterable of path or Evaluator, or str
        Files of ``score(..., save_state=)``, of ``xmceval score --save-state`` or of ``Evaluator.save``; at least one.
        A pattern such as ``"*.state.npz"`` stands for the files that match.
    name : str, optional
        The name of the system; default: the names in the states.
    save_state : path, optional
        Write the merged totals to this file, to merge them with others later: shards may then be missing.
    force : bool
        Overwrite `save_state`.

    Returns
    -------
    Result
        As `score` returns for all rows at once.

    Raises
    ------
    DataError
        A file is not a state; states differ in metrics, options, propensities or versions; a file, Evaluator or
        shard is passed twice; or a shard is missing.
    UsageError
        No state, or a path instead of a list; `save_state` exists without `force`, or is one of the states.

    Warns
    -----
    XmcevalWarning
        Reasons why values may be wrong; see `score`. Rows that several states share cannot be detected: compare
        the number of instances with all shards.

    See Also
    --------
    score : With `save_state`, write the state of one shard.
    Evaluator : Score batch by batch.

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
    shards = states
    if isinstance(states, (str, Path)):
        shards = find_shards(states)
    if isinstance(shards, (str, Path, Evaluator)):
        hint = " (hint: pass a list, or a pattern such as '*.state.npz')"
        raise UsageError(f"states must be a list of paths or Evaluators, got only one{hint}")
    if isinstance(shards, Mapping) or not isinstance(shards, (Iterable, Shards)):  # a Result is a mapping
        raise UsageError(f"states must be a list of paths or Evaluators, got {describe_type(shards)}")
    if isinstance(shards, Shards):
        shards = shards.parts
    result = merge_states(list(shards), name=name, save_state=save_state, force=force)
    warn(result.doubts)
    return result


def merge_states(states: Sequence[Any], *, name: str | None, save_state: str | Path | None, force: bool) -> Result:
    """Merge states without issuing the warnings of the result."""
    if not states:
        raise UsageError("there is nothing to merge: expected at least one state")
    files = [to_path(state) for state in states if isinstance(state, (str, Path))]
    check_files(files)
    if save_state is not None:
        check_output(to_path(save_state), force=force, inputs=files)
    opened = list[State]()
    seen = dict[object, str]()
    for number, state in enumerate(states, 1):
        place = f"state {number}"
        key: object
        if isinstance(state, Evaluator):
            its_state = replace(state._state.without_pairs(), name=place)
            key = id(state)
            noun = "Evaluator"
        elif isinstance(state, (str, Path)):
            its_state = load_state(state)
            key = to_path(state).resolve()
            noun = "file"
        else:
            raise UsageError(f"{place}: expected a path or an Evaluator, got {type(state).__name__}")
        if key in seen:
            raise DataError(f"{seen[key]} and {its_state.name} are the same {noun}")
        seen[key] = its_state.name
        opened.append(its_state)
    check_shards(opened)
    named = [
        system
        for state in opened
        for system in state.systems
        if not any(scores.startswith(system) for scores in state.scores)  # else its file gave it the name
    ]
    if name is None and len(set(named)) > 1:
        raise DataError(
            f"the states are of systems named {listed(dict.fromkeys(named), 'and')}, which may be different ones "
            f"(hint: pass {argument('name', kind='NAME')} if they are parts of one)"
        )
    missing = _find_missing(opened)
    if missing and save_state is None:
        saving = argument("save_state", kind="FILE")
        raise DataError(f"{missing} (hint: merge all of them, or pass {saving} to merge the rest later)")
    in_order = sorted(opened, key=lambda state: (min(state.shards, default=0), natural_key(state.name)))
    merged = reduce(State.merge, in_order)
    if save_state is not None:
        write_output(save_state, pack_state(merged), force=force)
        if missing:
            merged = replace(merged, setup=replace(merged.setup, warnings=(*merged.setup.warnings, missing)))
    result = finish_state(merged)
    if name is None:
        return result
    return replace(result, name=name)


def _find_missing(states: Sequence[State]) -> str:
    """Describe the missing shards; empty if there are none."""
    numbered = [state for state in states if state.n_shards]
    if not numbered:
        return ""
    first = numbered[0]
    n_shards = first.n_shards
    for state in states:
        if state.systems and not state.n_shards:
            raise DataError(
                f"{first.name} is shard {first.shards[0]} of {n_shards}, but {state.name} was saved without "
                f"{argument('shard')}; expected all or none"
            )
    present = {number for state in numbered for number in state.shards}
    n_missing = n_shards - len(present)
    if not n_missing:
        return ""
    missing = islice((number for number in range(1, n_shards + 1) if number not in present), MOST_NAMED)
    more = ""
    if n_missing > MOST_NAMED:
        more = f" and {n_missing - MOST_NAMED:,} more"
    shards = agreeing(n_missing, "shard", "shards")
    verb = agreeing(n_missing, "is", "are")
    return Doubt(f"{shards} {listed(missing)}{more} of {n_shards} {verb} missing")
