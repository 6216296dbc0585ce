"""Updates: the state that an Evaluator begins with, and batches that are opened, checked and added to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.scoring.inputs import (
    check_inputs,
    find_stored,
    first_labels,
    look_at_columns,
    open_scores,
    open_truth,
    take_numbers,
    were_they_ids,
)
from xmceval.api.scoring.setup import find_setup
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.ranking.recordlines import Records
from xmceval.rows.block import Float64, Source
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.matrices.matrices import check_narrow, hint_at_lists, open_pair
from xmceval.rows.readings import Axis, are_both_named, first_named
from xmceval.rows.sources import BatchSource
from xmceval.rows.width import Width
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import select_scores
from xmceval.scoring.options import SOURCES, Options, recorded_options
from xmceval.scoring.setup import Program
from xmceval.scoring.states.accumulator import Accumulator
from xmceval.scoring.states.state import State
from xmceval.scoring.totals import empty
from xmceval.version import VERSION

WHAT = "Evaluator"
NAME = "this Evaluator"


def begin_state(options: Options, max_weight: float | None = None) -> State:
    """Find propensities and filter, and return the state of no rows."""
    train, _ = check_inputs(None, (), options)
    program = compile_program(options.measures)
    options.refuse_groups(WHAT)
    program.check_mergeable(WHAT)
    program.check_ties(options.ties)
    _check_sources(options, program)
    setup = find_setup(options, program, train, max_weight=max_weight, sample_weight=options.sample_weight)
    if setup.width.is_known:
        setup = setup.with_width(setup.width)
    setup = replace(setup, options=recorded_options(options.changed()))
    return State(NAME, setup, empty(setup), max_weight=max_weight)


def add_batch(to: Accumulator, y_true: Any, y_score: Any, sample_weight: Any, *, number: int) -> None:
    """Add a batch, whose number from 1 on is for messages; after an error nothing of it was added."""
    state = to.base
    _check_growing(state)
    options, width = state.setup.options, state.setup.width
    plain, has_no_names = None, state.setup.labels is None and not to.ids
    if to.n_rows and has_no_names and options.duplicates == "error":  # like earlier batches
        are_all_ids = True if options.n_labels is not None and to.were_ids is None else to.were_ids
        plain = open_pair(y_true, y_score, width.or_none, are_all_ids=are_all_ids)
    if plain is None:
        _add_other(to, y_true, y_score, sample_weight, number)
        return
    truth, scores = plain
    weights = _read_weights(state, sample_weight, number, truth)
    _add(to, truth, scores, weights, number)
    to.were_ids = scores.were_ids if to.were_ids is None else to.were_ids


def _add_other(to: Accumulator, y_true: Any, y_score: Any, sample_weight: Any, number: int) -> None:
    """Add a batch whose rows or labels may have names, and note those for later ones."""
    state = to.base
    for name, matrix, noun in (("y_true", y_true, "grade"), ("y_score", y_score, "score")):
        if isinstance(matrix, (str, Path)):
            raise UsageError(f"{name} is a path; an {WHAT} takes matrices (hint: xmceval.score takes files)")
        stored = find_stored(matrix, name, noun)
        if isinstance(stored, Records):
            raise UsageError(
                f"{name} has {noun}s by query and document, which each batch would number anew; an {WHAT} takes "
                "matrices (hint: gather the batches in two dicts, with qrels.update(...) and run.update(...), and pass "
                "these to xmceval.score)"
            )
        if stored is not None:
            raise UsageError(f"{name} is a table; an {WHAT} takes matrices (hint: pass whole tables to xmceval.score)")
    options, width = state.setup.options, state.setup.width
    columns = look_at_columns(y_true, [y_score], to.ids)
    truth = open_truth(find_shards(y_true), options, columns=columns, labels=state.setup.labels, width=width)
    width = width if width.is_known else Width.of(truth.source)
    y_score = find_shards(y_score, are_scores=True)
    scores = open_scores(y_score, truth, options, width, labels=state.setup.labels, were_ids=to.were_ids, in_batch=True)
    weights = _read_weights(state, sample_weight, number, truth.source, truth.rows, scores.rows)
    _add(to, truth.source, scores.source, weights, number)
    labels = first_labels(first_labels(state.setup.labels, truth.labels), scores.labels)
    to.describe((truth, scores), labels, truth.ids, were_ids=were_they_ids(to.were_ids, scores))


def _add(to: Accumulator, truth: Source, scores: Source, weights: Float64 | None, number: int) -> None:
    """Add opened rows."""
    state = to.base
    if state.setup.options.threshold is not None:
        check_narrow(scores, "with a threshold")
    scores = select_scores(state.setup, scores)
    to.add(BatchSource(truth, to.n_rows, number), BatchSource(scores, to.n_rows, number), weights, hint_at_lists(truth))


def _check_growing(state: State) -> None:
    """Refuse to add rows to totals that another version made, or to a filter or weights that are not known."""
    if state.version != VERSION:
        raise UsageError(
            f"{state.name} was saved by xmceval {state.version}, and this is {VERSION}: no rows can be added, as "
            "their values may differ (hint: score all rows with one version)"
        )
    if state.setup.filter is not None and state.setup.filter.has_lost_pairs:
        raise UsageError(
            f"{state.name} has a filter, whose pairs are not kept with the totals, so no rows can be added (hint: "
            f"update another {WHAT} with the pairs of these rows, and merge the two files)"
        )
    if state.setup.weights is not None and state.max_weight is None:
        raise UsageError(
            f"{state.name} has sample weights, whose largest is known only of its own rows, so no rows can be added "
            f"(hint: update another {WHAT} with max_weight, and merge it with this one)"
        )


def _read_weights(
    state: State,
    sample_weight: Any,
    number: int,
    truth: Source,
    rows: Axis | None = None,
    scored_rows: Axis | None = None,
) -> Float64 | None:
    """Check the sample weights of a batch, whose index may name the rows as those of truth and scores may."""
    greatest, name = state.max_weight, f"sample_weight of batch {number}"
    if greatest is None or sample_weight is None:
        if sample_weight is not None:
            raise UsageError(f"{name}: pass max_weight to the {WHAT}, the largest weight that may come")
        if greatest is not None:
            raise UsageError(f"batch {number} has no sample_weight, but max_weight was passed")
        return None
    if hasattr(sample_weight, "to_numpy"):
        from xmceval.api.scoring.per_row import join_values  # not loaded for weights without an index

        if not are_both_named(rows):
            first_named(scored_rows, rows_of(sample_weight, name), truth.name, in_batch=True)
        sample_weight, _ = join_values(sample_weight, name, "weight", None, rows, in_batch=True)
    weights, _ = take_numbers(sample_weight, name, "row")
    if weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} of batch {number} has "
            f"{counted(truth.n_rows or 0, 'row')}; "
            "expected one weight per row"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= greatest)))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"{name}: the weight of row {row} is {weights[row]:g}; expected a number from 0 to {greatest:g} "
            "(max_weight)"
        )
    return weights


def _check_sources(options: Options, program: Program) -> None:
    """Refuse metrics that need propensities where there is no source of them."""
    asking = [measure for measure in program.measures if measure.needs_propensities]
    is_needed = program.needs_propensities or options.by_frequency is not None
    if is_needed and not options.sources:
        what = f"{listed(asking)} need" if len(asking) > 1 else f"{asking[0]} needs" if asking else "by_frequency needs"
        raise UsageError(
            f"{what} {', '.join(SOURCES[:-1])} or {SOURCES[-1]}: an {WHAT} never estimates propensities from batches "
            "(hint: pass one of them, or other metrics)"
        )
