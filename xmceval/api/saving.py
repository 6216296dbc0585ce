"""Save per-row values, values of labels, and states for `merge`, in addition to returning a result."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, UsageError, argument, arguments
from xmceval.files.io.paths import to_path
from xmceval.files.io.write import check_output, csv_writer, open_output, write_output
from xmceval.files.saved_rows import ENDINGS, RowTable, check_values_file, write_row_file
from xmceval.files.shards import find_shards
from xmceval.report.labels import check_counted, list_labels
from xmceval.report.result import Result
from xmceval.report.scored import NO_NAMES, ResultRows
from xmceval.rows.shards import parts_of
from xmceval.scoring.compile import compile_program
from xmceval.scoring.held_rows import HeldRows
from xmceval.scoring.options import Options, Saving
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.setup import OpenedSystem
from xmceval.scoring.setup.truth import OpenedTruth
from xmceval.scoring.state import MOST_SHARDS, State

# Options that change per-row values but not the digests of truth or propensities.
RULES = frozenset(
    {"empty_rows", "unscored", "ties", "threshold", "filter", "filter_truth", "missing", "unknown_labels"}
)
SHARD = re.compile(r"([0-9]+)/([0-9]+)")


def check_saving(options: Options, systems: Sequence[System], saving: Saving) -> None:
    """Refuse output options that cannot be honoured, before reading."""
    save_state = saving.save_state
    is_used = saving.holds_rows or options.by_group is not None or options.sample_weight is not None
    if options.row_ids is not None and not is_used:
        ways = arguments(["rows", "save_rows", "sample_weight", "by_group"], "or")
        raise UsageError(f"{argument('row_ids')} has no effect without {ways}")
    is_shard = parse_shard(saving.shard) is not None
    if save_state is None:
        if is_shard:
            raise UsageError(f"{argument('shard')} has no effect without {argument('save_state')}")
        return
    check_output(to_path(save_state), force=saving.force)
    if len(systems) != 1:
        raise UsageError(
            f"{save_state}: takes the totals of one system, got {len(systems)} systems (hint: score each separately)"
        )
    options.refuse_groups("states", "score whole files")
    compile_program(options.measures).check_mergeable("states")
    if options.metrics is not None:  # the default ones depend on the truth
        _check_sources(options)


def _check_sources(options: Options) -> None:
    """Refuse a state with propensities that would be estimated from a shard."""
    if options.needs_sources:
        raise UsageError(
            f"{options.needs_sources} propensities, which cannot be estimated from one shard "
            f"(hint: pass {argument('train', kind='FILE')} with all training labels, or other metrics, such as "
            "P,nDCG)"
        )


def parse_shard(value: Any) -> tuple[int, int] | None:
    """Parse ``"2/3"``, or a pair: the number of a shard, counted from 1, and the number of shards."""
    if value is None:
        return None
    numbers = value
    if isinstance(value, str) and (match := SHARD.fullmatch(value.strip())):
        numbers = match.groups()
    number = 0
    n_shards = 0
    if isinstance(numbers, (tuple, list)) and len(numbers) == 2:
        with suppress(TypeError, ValueError):
            number, n_shards = map(int, numbers)
    if n_shards < 1:
        raise UsageError(f"{argument('shard')}: expected its number and the number of all, such as 2/3, got {value!r}")
    if not 1 <= number <= n_shards:
        raise UsageError(
            f"{argument('shard')}: there is no shard {number} of {n_shards} (hint: they are 1/{n_shards} to "
            f"{n_shards}/{n_shards})"
        )
    if n_shards > MOST_SHARDS:
        raise UsageError(f"shard: expected at most {MOST_SHARDS:,} shards, got {value!r}")
    return number, n_shards


def check_outputs(truth: OpenedTruth, systems: Sequence[OpenedSystem], saving: Saving) -> None:
    """Refuse files that would overwrite an input, and metrics without per-row values, before scoring."""
    if saving.holds_rows and not truth.setup.program.columns:
        raise UsageError(f"{saving.save_rows or 'rows'}: none of the metrics has per-instance values")
    if saving.save_labels is not None:
        check_counted([task for task in truth.setup.program.tasks if task.counts_labels], str(saving.save_labels))
    for path, endings in ((saving.save_rows, ENDINGS), (saving.save_labels, (".csv",))):
        if path is not None:
            check_values_file(path, endings, force=saving.force, inputs=_list_files(truth, systems))
    if saving.save_state is None:
        return
    _check_sources(truth.setup.options)
    opened = truth.input
    if opened.documents is not None:
        noun = truth.setup.nouns.label
        raise DataError(
            f"{opened.source.name}: its {noun}s are only numbered by their places in it, so its totals "
            f"cannot be added to others (hint: pass {argument('labels', kind='FILE')}, with one {noun} per line)"
        )
    check_output(to_path(saving.save_state), force=saving.force, inputs=_list_files(truth, systems))


def _list_files(truth: OpenedTruth, systems: Sequence[OpenedSystem]) -> Iterator[Path]:
    """Yield the input files, which no output may overwrite."""
    for source in (truth.input.source, *(system.scores for system in systems)):
        yield from source.files
    for value in truth.setup.options.files:
        for part in parts_of(find_shards(value)):
            if isinstance(part, (str, Path)):
                yield to_path(part)


def write_labels(results: Sequence[Result], saving: Saving) -> None:
    """Write the values of labels as CSV, system by system, if a path was passed."""
    if saving.save_labels is None:
        return
    with open_output(to_path(saving.save_labels), force=saving.force) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="")
        writer = csv_writer(text)
        head = list[str]()
        names = next((result.label_names for result in results if result.label_names.listed), NO_NAMES)
        for result in results:
            for labels in list_labels(replace(result, label_names=names)):
                if not head:
                    head = ["system", *labels]
                    writer.writerow(head)
                writer.writerows(zip(repeat(result.name), *(column.tolist() for column in labels.values())))
        text.detach()


def write_state(state: State, saving: Saving) -> None:
    """Write the state of a system, if a path was passed."""
    if saving.save_state is None:
        return
    from xmceval.scoring.state_file import pack_state  # not loaded by a score that saves no state

    numbers = parse_shard(saving.shard)
    if numbers is not None:
        state = replace(state, shards=numbers[:1], n_shards=numbers[1])
    write_output(saving.save_state, pack_state(state), force=saving.force)


def keep_rows(
    held_rows: HeldRows, truth: OpenedTruth, results: tuple[Result, ...], saving: Saving
) -> tuple[Result, ...]:
    """Save per-row values if a path was passed, and attach them to the results if `rows` is true."""
    ids = truth.row_ids
    if ids is not None:
        ids.check_number(held_rows.n_rows)
    by_measure = truth.setup.program.columns
    measures = tuple(by_measure)
    columns = [*by_measure.values()]
    held = held_rows.join()
    values = held.values[:, :, columns]
    values[~held.counts[:, :, columns], 0] = np.nan
    # In a ratio of sums each row has its own denominator.
    has_ideal = tuple(measure.norm.over in {"ratio", "micro", "cells"} for measure in measures)
    if saving.save_rows is not None:
        first = results[0]
        # Digests and rules that must match between compared files, and the counts of each system.
        digest = held_rows.digest
        if truth.setup.subset is not None:
            digest ^= truth.setup.subset.digest
        meta: dict[str, Any] = {
            "truth": f"{digest:016x}",
            "rules": {name: value for name, value in first.options.items() if name in RULES},
        }
        if first.propensities is not None:
            meta["propensities"] = first.propensities.digest
        meta["counts"] = [asdict(result.counts) for result in results]
        if truth.setup.nouns.are_of_queries:
            meta["has_queries"] = True
        names: Sequence[Any] = range(held_rows.n_rows)
        if ids is not None:
            names = ids.ids
        table = RowTable(
            str(saving.save_rows),
            systems=tuple(result.name for result in results),
            metrics=tuple(measure.name for measure in measures),
            rows=tuple(names[row] for row in held.rows.tolist()),
            values=values,
            weights=held.weights,
            has_ideal=has_ideal,
            meta=meta,
        )
        write_row_file(saving.save_rows, table, force=saving.force)
    if not saving.rows:
        return results
    with_rows = list[Result]()
    row_ids = None
    if ids is not None:
        row_ids = tuple(ids.ids)
    weights = np.zeros(held_rows.n_rows)
    weights[held.rows] = held.weights
    for number, result in enumerate(results):
        every_row = np.full((weights.size, len(measures), 2), np.nan)
        every_row[held.rows] = values[:, number]
        every_row[np.isnan(every_row[..., 0]), 1] = np.nan
        ideals = {measure.name: every_row[:, m, 1] for m, measure in enumerate(measures) if has_ideal[m]}
        of_system = ResultRows(measures, every_row[..., 0], ideals, weights, row_ids)
        with_rows.append(replace(result, held_rows=of_system))
    return tuple(with_rows)
