"""Saving the totals of a system, so that `merge` adds them to those of other shards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.api.scoring.setup import Named, OpenedTruth
from xmceval.errors import DataError, UsageError, argument, listed
from xmceval.files.io.outputs import check_output, write_output
from xmceval.files.io.paths import to_path
from xmceval.scoring.options import Options
from xmceval.scoring.program import compile_program
from xmceval.scoring.states.file import MOST_SHARDS, pack_state
from xmceval.scoring.states.state import State

Shard = tuple[int, int]  # its number from 1 on, and how many there are

_SHARD = re.compile(r"([0-9]+)/([0-9]+)")


def parse_shard(value: Any) -> Shard | None:
    """Return a shard from ``"2/3"``, or a pair of numbers."""
    if value is None:
        return None
    match = _SHARD.fullmatch(value.strip()) if isinstance(value, str) else None
    numbers = match.groups() if match else value
    is_pair = isinstance(numbers, (tuple, list)) and len(numbers) == 2
    try:
        number, n_shards = (int(each) for each in numbers) if is_pair else (0, 0)
    except (TypeError, ValueError):
        number, n_shards = 0, 0
    if not 1 <= number <= n_shards:
        raise UsageError(f"shard must be its number of how many, such as 2/3, got {value!r}")
    if n_shards > MOST_SHARDS:
        raise UsageError(f"shard: expected at most {MOST_SHARDS:,} shards, got {value!r}")
    return number, n_shards


def check_state(path: str | Path | None, options: Options, systems: Sequence[Named], *, force: bool) -> None:
    """Refuse what cannot be saved, before anything is read."""
    if path is None:
        raise UsageError(f"{argument('shard')} has no effect without {argument('save_state')}")
    check_output(to_path(path), force=force)
    if len(systems) != 1:
        raise UsageError(
            f"{path}: takes the totals of one system, got {len(systems)} systems (hint: score each separately)"
        )
    options.refuse_groups("states", "score whole files")
    compile_program(options.measures).check_mergeable("states")
    asking = [measure for measure in options.measures if measure.needs_propensities]
    if not options.sources and (asking or options.by_frequency is not None):
        names = f"{listed(asking)} need" if asking else f"{argument('by_frequency')} needs"
        raise UsageError(
            f"{names} propensities, which cannot be estimated from one shard "
            f"(hint: pass {argument('train', kind='FILE')} with all training labels, or other metrics, such as "
            "P,nDCG)"
        )


def check_documents(opened: OpenedTruth) -> None:
    """Refuse a truth whose documents have no numbers that other shards share."""
    truth = opened.input
    if truth.documents is not None:
        noun = "label" if truth.judgments is None else "document"
        raise DataError(
            f"{truth.source.name}: its {noun}s are only numbered by their places in it, so no other totals can "
            f"be added to those of it (hint: pass {argument('labels', kind='FILE')}, with one {noun} per line)"
        )


def write_state(path: str | Path, shard: Shard | None, state: State, *, force: bool) -> None:
    """Write the state of a system."""
    if shard is not None:
        state = replace(state, shards=shard[:1], n_shards=shard[1])
    write_output(path, pack_state(state), force=force)
