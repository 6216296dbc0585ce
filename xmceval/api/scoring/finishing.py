"""Finishing: a state becomes a result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from xmceval.api.scoring.weights import check_any_weight, doubt_small_weights
from xmceval.errors import Doubt, UsageError
from xmceval.kernels.metrics.topk import PREDICTIONS
from xmceval.labels.catalogue import Sizes, find_dataset, hint_at_dataset
from xmceval.report.result import Result, make_result
from xmceval.rows.repairs import describe_duplicates
from xmceval.scoring.options import Options
from xmceval.scoring.setup import Setup
from xmceval.scoring.states.state import State, first_of
from xmceval.scoring.totals import Totals


def finish_state(state: State, n_mentioned: int | None = None) -> Result:
    """Finish the totals of a state; where labels are documents, `n_mentioned` is how many truth and runs mention."""
    if not state.systems:
        raise UsageError("no result yet: nothing was scored (hint: call update first)")
    setup, options, totals = state.setup, state.setup.options, state.totals
    state.check_filter()
    sizes, notes = _find_sizes(setup, totals), tuple[str, ...]()
    width = setup.width.or_seen(totals.tally.largest_label, n_mentioned)
    if not setup.width.is_known:
        notes = (*notes, f"no input declares the number of labels: {width.declared_by} {width.n_labels:,}")
    return make_result(
        first_of(state.systems),
        totals,
        setup if width is setup.width else replace(setup, width=width),
        truth=first_of(state.truth),
        scores=first_of(state.scores),
        warnings=(
            *setup.warnings,
            *_check_weights(state),
            *_doubt_decisions(state),
            *_check_dataset(options, sizes, setup),
            *(
                f"{name}: {describe_duplicates(n)}"
                for name, n in zip(("y_true", "y_score"), state.removed, strict=True)
                if n
            ),
        ),
        notes=(*notes, *setup.program.remarks(totals.parts, width.n_labels)),
    )


def _find_sizes(setup: Setup, totals: Totals) -> Sizes:
    """Return the sizes of the data, as far as they are known for certain."""
    propensities = setup.propensities
    return Sizes(
        train=propensities.n if propensities.from_training else None,
        test=totals.tally.n_instances(drop_empty=setup.drop_empty),
        labels=setup.width.or_none,
    )


def _check_dataset(options: Options, sizes: Sizes, setup: Setup) -> Iterator[str]:
    """Report where the data do not fit the data set that was named, or which they fit where none was."""
    is_filtered = setup.filter is not None
    if options.dataset is None:
        propensities = setup.propensities
        yield from hint_at_dataset(sizes, (propensities.a, propensities.b), is_filtered=is_filtered)
    else:
        yield from find_dataset(options.dataset).mismatches(sizes, is_filtered=is_filtered)


def _doubt_decisions(state: State) -> Iterator[Doubt]:
    """Doubt a threshold that no score reaches."""
    threshold = state.setup.options.threshold
    if threshold is None or math.isinf(threshold) or not state.totals.tally["counts"][PREDICTIONS]:
        return
    tasks = zip(state.setup.program.tasks, state.totals.parts, strict=True)
    n_decided = next((n for task, part in tasks if (n := task.n_decided(part)) is not None), None)
    if n_decided == 0:
        question = "is it in percent?" if threshold > 1 else "are the scores on another scale?"
        yield Doubt(f"no score reaches the threshold {threshold:g}, so no label counts as predicted: {question}")


def _check_weights(state: State) -> tuple[str, ...]:
    if state.setup.weights is None:
        return ()
    check_any_weight("sample_weight", state.weight_range[1], state.n_rows)
    program = state.setup.program
    are_counted = len(program.row_tasks) < len(program.tasks)
    return doubt_small_weights(*state.weight_range, are_counted=are_counted)
