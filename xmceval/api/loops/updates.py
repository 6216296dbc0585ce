"""Updates: the state that an Evaluator begins with, and batches that are opened, checked and added to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.scoring.inputs import Opener, table_of, take_numbers
from xmceval.api.scoring.openshards import Input, check_inputs
from xmceval.api.scoring.setup import find_rules
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.ranking.recordlines import find_records
from xmceval.rows.block import Float64
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.matrices.matrices import check_narrow, hint_at_lists
from xmceval.rows.readings import are_both_named, first_named
from xmceval.rows.sources import BatchSource
from xmceval.rows.width import Width
from xmceval.scoring.evaluate import select_scores
from xmceval.scoring.options import SOURCES, Options, recorded_options
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.states.accumulator import Accumulator
from xmceval.scoring.states.state import State
from xmceval.scoring.totals import empty
from xmceval.version import VERSION

WHAT = "Evaluator"
NAME = "this Evaluator"


def begin_state(options: Options, max_weight: float | None = None) -> State:
    """Find propensities and filter, and return the state of no rows."""
    train = check_inputs(None, (), options)
    program = compile_program(options.measures)
    options.refuse_groups(WHAT)
    program.check_mergeable(WHAT)
    program.check_ties(options.ties)
    _check_sources(options, program)
    rules = find_rules(Opener(options, train=train), program, max_weight=max_weight)
    terms = rules.terms
    if terms.width.is_known:
        terms = terms.with_width(terms.width, options.by_frequency)
    return State(
        NAME,
        recorded_options(options.changed()),
        rules.program,
        terms,
        empty(rules.program, terms),
        warnings=rules.warnings,
        inputs=rules.inputs,
        labels=rules.labels,
        max_weight=max_weight,
    )


def add_batch(
    to: Accumulator, y_true: Any, y_score: Any, sample_weight: Any, *, number: int, first_row: int | None = None
) -> None:
    """Add a batch, whose number from 1 on is for messages; after an error nothing of it was added."""
    state = to.base
    _check_growing(state)
    for name, matrix, noun in (("y_true", y_true, "grade"), ("y_score", y_score, "score")):
        if isinstance(matrix, (str, Path)):
            raise UsageError(f"{name} is a path; an {WHAT} takes matrices (hint: xmceval.score takes files)")
        if find_records(matrix, name, noun) is not None:
            raise UsageError(
                f"{name} has {noun}s by query and document, which each batch would number anew; an {WHAT} takes "
                "matrices (hint: gather the batches in two dicts, with qrels.update(...) and run.update(...), and pass "
                "these to xmceval.score)"
            )
        if table_of(matrix, name) is not None:
            raise UsageError(f"{name} is a table; an {WHAT} takes matrices (hint: pass whole tables to xmceval.score)")
    opener = Opener(state.options, labels=state.labels, in_batch=True, were_ids=to.were_ids).beside(
        y_true, [y_score], to.ids
    )
    width = state.terms.width
    opened = opener.truth(find_shards(y_true), "y_true", width)
    opener = opener.naming(opened.labels)
    width = width if width.is_known else Width.of(opened.source)
    predicted = opener.scores(find_shards(y_score, are_scores=True), opened, width)
    scores = predicted.source
    first_row = to.n_rows if first_row is None else first_row
    truth = BatchSource(opened.source, first_row, number)
    weights = _read_weights(state, sample_weight, truth, opened, predicted)
    if state.options.threshold is not None:
        check_narrow(scores, "with a threshold")
    predictions = BatchSource(select_scores(state.program, state.terms, scores), first_row, number)
    to.add(truth, predictions, weights, hint_at_lists(opened.source))
    opener = opener.naming(predicted.labels).knowing(predicted)
    to.describe((opened, predicted), opener.labels, opener.ids, were_ids=opener.were_ids)


def _check_growing(state: State) -> None:
    """Refuse to add rows to totals that another version made, or to a filter or weights that are not known."""
    if state.version != VERSION:
        raise UsageError(
            f"{state.name} was saved by xmceval {state.version}, and this is {VERSION}: no rows can be added, as "
            "their values may differ (hint: score all rows with one version)"
        )
    if state.terms.filter is not None and state.terms.filter.has_lost_pairs:
        raise UsageError(
            f"{state.name} has a filter, whose pairs are not kept with the totals, so no rows can be added (hint: "
            f"update another {WHAT} with the pairs of these rows, and merge the two files)"
        )
    if state.terms.weights is not None and state.max_weight is None:
        raise UsageError(
            f"{state.name} has sample weights, whose largest is known only of its own rows, so no rows can be added "
            f"(hint: update another {WHAT} with max_weight, and merge it with this one)"
        )


def _read_weights(
    state: State, sample_weight: Any, truth: BatchSource, opened: Input, predicted: Input
) -> Float64 | None:
    """Check the sample weights of a batch."""
    greatest, name = state.max_weight, f"sample_weight of batch {truth.number}"
    if greatest is None or sample_weight is None:
        if sample_weight is not None:
            raise UsageError(f"{name}: pass max_weight to the {WHAT}, the largest weight that may come")
        if greatest is not None:
            raise UsageError(f"batch {truth.number} has no sample_weight, but max_weight was passed")
        return None
    if hasattr(sample_weight, "to_numpy"):
        from xmceval.api.scoring.perrow import in_order  # not loaded for weights without an index

        if not are_both_named(opened.rows):
            first_named(predicted.rows, rows_of(sample_weight, name), opened.source.name, in_batch=True)
        sample_weight, _ = in_order(sample_weight, name, "weight", lambda: None, opened.rows, in_batch=True)
    weights, _ = take_numbers(sample_weight, name, "row")
    if weights.size != truth.n_rows:
        raise DataError(
            f"{name} has {counted(weights.size, 'number')}, but {truth.name} has {counted(truth.n_rows or 0, 'row')}; "
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
