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
from xmceval.scoring.batch import Terms
from xmceval.scoring.options import Options
from xmceval.scoring.states.state import State, first_of
from xmceval.scoring.totals import Totals


def finish_state(state: State, n_mentioned: int | None = None) -> Result:
    """Finish the totals of a state; where labels are documents, `n_mentioned` is how many truth and runs mention."""
    if not state.systems:
        raise UsageError("no result yet: nothing was scored (hint: call update first)")
    terms, options, totals = state.terms, state.options, state.totals
    state.check_filter()
    sizes, notes = _find_sizes(terms, totals), tuple[str, ...]()
    width = terms.width.or_seen(totals.tally.largest_label, n_mentioned)
    if not terms.width.is_known:
        notes = (*notes, f"no input declares the number of labels: {width.declared_by} {width.n_labels:,}")
    return make_result(
        first_of(state.systems),
        state.program,
        totals,
        terms if width is terms.width else replace(terms, width=width),
        options,
        truth=first_of(state.truth),
        scores=first_of(state.scores),
        warnings=(
            *state.warnings,
            *_check_weights(state),
            *_doubt_decisions(state),
            *_check_dataset(options, sizes, terms),
            *(
                f"{name}: {describe_duplicates(n)}"
                for name, n in zip(("y_true", "y_score"), state.removed, strict=True)
                if n
            ),
        ),
        inputs=state.inputs,
        notes=(*notes, *state.program.remarks(totals.parts, width.n_labels)),
    )


def _find_sizes(terms: Terms, totals: Totals) -> Sizes:
    """Return the sizes of the data, as far as they are known for certain."""
    propensities = terms.propensities
    return Sizes(
        train=propensities.n if propensities.from_training else None,
        test=totals.tally.n_instances(drop_empty=terms.drop_empty),
        labels=terms.width.or_none,
    )


def _check_dataset(options: Options, sizes: Sizes, terms: Terms) -> Iterator[str]:
    """Report where the data do not fit the data set that was named, or which they fit where none was."""
    is_filtered = terms.filter is not None
    if options.dataset is None:
        propensities = terms.propensities
        yield from hint_at_dataset(sizes, (propensities.a, propensities.b), is_filtered=is_filtered)
    else:
        yield from find_dataset(options.dataset).mismatches(sizes, is_filtered=is_filtered)


def _doubt_decisions(state: State) -> Iterator[Doubt]:
    """Doubt a threshold that no score reaches."""
    threshold = state.options.threshold
    if threshold is None or math.isinf(threshold) or not state.totals.tally.counts[PREDICTIONS]:
        return
    tasks = zip(state.program.tasks, state.totals.parts, strict=True)
    n_decided = next((n for task, part in tasks if (n := task.n_decided(part)) is not None), None)
    if n_decided == 0:
        question = "is it in percent?" if threshold > 1 else "are the scores on another scale?"
        yield Doubt(f"no score reaches the threshold {threshold:g}, so no label counts as predicted: {question}")


def _check_weights(state: State) -> tuple[str, ...]:
    if state.terms.weights is None:
        return ()
    check_any_weight("sample_weight", state.weight_range[1], state.n_rows)
    are_counted = len(state.program.row_tasks) < len(state.program.tasks)
    return doubt_small_weights(*state.weight_range, are_counted=are_counted)
